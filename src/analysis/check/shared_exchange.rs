//! The exchange of the workspace's stored reports with a shared store, at the user's command.

use super::answer_store::shared::SharedStore;
use super::answer_store::signature::{NewWriterKey, WriterKey};
use super::checked_files::whole_check;
use super::stored_reports::{SharedExchange, StoredReports};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::is_writer_name;

/// The variable with the secret key of a writer.
const SECRET_KEY: &str = "LSP_TOOLS_STORE_KEY";

/// The direction of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExchangeDirection {
    /// To the shared store.
    Push,
    /// From it.
    Pull,
}

/// Exchanges the reports of the workspace as it is now. Starts no server.
///
/// # Errors
/// `invalid_args` without a shared store in the settings, its writers, or the key of a writer in
/// `LSP_TOOLS_STORE_KEY`; `server_failed` and `timeout` if the store fails or is late.
pub(crate) async fn exchange(
    context: &Context,
    direction: ExchangeDirection,
) -> Result<SharedExchange, ToolError> {
    let settings = &context.config.settings.shared_answers;
    let shared = SharedStore::of(settings)?;
    let shared = shared.ok_or_else(|| invalid("the settings name no shared store; set `url` under `[shared-answers]` in your own lsp-tools.toml"))?;
    match direction {
        ExchangeDirection::Push => {
            let key = secret_key()?;
            Ok(stored_reports(context).await?.push(&shared, &key).await?)
        }
        ExchangeDirection::Pull if settings.writers.is_empty() => Err(invalid(
            "the settings trust no writer; set `writers` under `[shared-answers]` in your own lsp-tools.toml",
        )),
        ExchangeDirection::Pull => stored_reports(context).await?.pull(context, &shared).await,
    }
}

/// The reports on the workspace in the user's own store.
async fn stored_reports(context: &Context) -> Result<StoredReports, ToolError> {
    let (subjects, options) = whole_check(context)?;
    let subjects = subjects.iter().map(|subject| (subject, options.servers(context, subject)));
    Ok(StoredReports::of_workspace(context, subjects).await)
}

/// Creates a key for a writer of shared stores.
///
/// # Errors
/// `invalid_args` for a name with other characters than letters, digits, `-`, `_`, `.` and `/`.
pub(crate) fn create_key(name: &str) -> Result<NewWriterKey, ToolError> {
    if !is_writer_name(name) {
        return Err(invalid(&format!(
            "`{}` is no name of a writer; use 1 to 64 letters, digits, `-`, `_`, `.` and `/`",
            name.escape_debug()
        )));
    }
    WriterKey::generate(name).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the system has no random numbers: {error}"))
    })
}

fn secret_key() -> Result<WriterKey, ToolError> {
    let text = std::env::var(SECRET_KEY).ok().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| {
        invalid(&format!("{SECRET_KEY} is not set; `lsp-tools store key NAME` creates a key"))
    })?;
    // The value is a secret.
    WriterKey::parse(&text)
        .ok_or_else(|| invalid(&format!("{SECRET_KEY} is no secret key of `lsp-tools store key`")))
}

fn invalid(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, what)
}
