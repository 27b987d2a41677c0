//! The user's own answer store: a private folder of entries in the cache, bounded in size.

use std::time::Duration;

use serde::Serialize;

use super::entry::{MAX_ENTRY_BYTES, ReportEntry};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::{from_state_error, run_blocking};
use crate::config::{StateError, StateFolder, StateName};

/// The largest size of all entries together, in bytes; the oldest are removed first.
const MAX_STORE_BYTES: u64 = 256 << 20;
/// The longest wait for the disk of the store.
const STORE_TIMEOUT: Duration = Duration::from_millis(300);

/// The content of the answer store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AnswerStoreStatus {
    /// Always true.
    ok: bool,
    /// The folder, absolute.
    pub(crate) folder: String,
    /// The number of checks whose reports are stored.
    pub(crate) checks: usize,
    /// The size of all of them, in bytes.
    pub(crate) bytes: u64,
    /// The age of the oldest, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_seconds: Option<u64>,
}

/// Returns the content of the answer store.
///
/// # Errors
/// Its folder cannot be read.
pub(crate) async fn status(context: &Context) -> Result<AnswerStoreStatus, ToolError> {
    let folder = report_folder(context);
    run_blocking(move || status_of(&folder).map_err(from_state_error)).await
}

/// Empties the answer store, and returns its content before.
///
/// # Errors
/// Its files cannot be removed.
pub(crate) async fn forget(context: &Context) -> Result<AnswerStoreStatus, ToolError> {
    let folder = report_folder(context);
    run_blocking(move || {
        let status = status_of(&folder).map_err(from_state_error)?;
        if status.checks > 0 {
            let locked = folder.lock().map_err(from_state_error)?;
            for name in folder.names().map_err(from_state_error)? {
                locked.remove(&name).map_err(from_state_error)?;
            }
        }
        Ok(status)
    })
    .await
}

fn status_of(folder: &StateFolder) -> Result<AnswerStoreStatus, StateError> {
    let files = folder.usage()?;
    Ok(AnswerStoreStatus {
        ok: true,
        folder: folder.path().display().to_string(),
        checks: files.len(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        oldest_seconds: files.first().and_then(|file| file.changed.elapsed().ok()).map(|age| age.as_secs()),
    })
}

/// The folder of the entries.
fn report_folder(context: &Context) -> StateFolder {
    StateFolder::in_cache(&context.folders, "reports", "stored reports")
}

/// Returns true if nothing is stored, or the store does not answer.
pub(in crate::analysis::check) async fn is_empty(context: &Context) -> bool {
    let folder = report_folder(context);
    let names = run_blocking(move || folder.names().map_err(from_state_error));
    let names = tokio::time::timeout(STORE_TIMEOUT, names).await;
    !names.is_ok_and(|names| names.is_ok_and(|names| !names.is_empty()))
}

/// Reads an entry; `None` if there is none that can be used.
pub(in crate::analysis::check) async fn read_entry(
    context: &Context,
    name: &StateName,
) -> Option<ReportEntry> {
    let (folder, name) = (report_folder(context), name.clone());
    let read = run_blocking(move || {
        let content = folder.read(&name, MAX_ENTRY_BYTES).map_err(from_state_error)?;
        let text = content.and_then(|content| String::from_utf8(content).ok());
        Ok(text.and_then(|text| ReportEntry::parse(&text)))
    });
    tokio::time::timeout(STORE_TIMEOUT, read).await.ok()?.ok()?
}

/// Writes an entry. A slow disk is not waited for; the entry may be missing then.
///
/// # Errors
/// The entry cannot be written in time.
pub(in crate::analysis::check) async fn write_entry(
    context: &Context,
    name: &StateName,
    content: String,
) -> Result<(), ToolError> {
    let (folder, name) = (report_folder(context), name.clone());
    let write = run_blocking(move || {
        let locked = folder.lock().map_err(from_state_error)?;
        locked
            .write(&name, content.as_bytes())
            .and_then(|()| locked.remove_oldest(MAX_STORE_BYTES))
            .map_err(from_state_error)
    });
    tokio::time::timeout(STORE_TIMEOUT, write).await.unwrap_or_else(|_| {
        let what = format!("the answer store was not written within {} ms", STORE_TIMEOUT.as_millis());
        Err(ToolError::new(ErrorCode::Timeout, what))
    })
}
