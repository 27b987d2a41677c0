//! The trusted files that the command of a trusted program names.

use std::collections::BTreeSet;
use std::path::Path;

use super::command_files::files_named;
use super::pin::FilePin;
use crate::config::trust::TrustStore;
use crate::platform::files::is_socket;
use crate::workspace::Workspace;

/// Returns the pins of the project files that the `words` of a `program` name, from one of the
/// folders `bases`. Such a file is run or read by the program, or runs it.
///
/// # Errors
/// The workspace path of the first file without a `pin`: its present content is not trusted.
pub(crate) fn pins_among<'a>(
    program: &str,
    words: impl IntoIterator<Item = &'a str>,
    bases: &[&Path],
    workspace: &Workspace,
    trust: &TrustStore,
    pin: impl Fn(&Path) -> Option<FilePin>,
) -> Result<Vec<FilePin>, String> {
    let mut pins: Vec<FilePin> = Vec::new();
    let words: Vec<&str> = words.into_iter().collect();
    let recorded = trust.recorded_programs(workspace.root());
    let mut paths = BTreeSet::new();
    for base in bases {
        let named = files_named(program, words.iter().copied(), base);
        paths.extend(named.map_err(|too_many| too_many.to_string())?);
    }
    for path in paths {
        let is_readable =
            || path.metadata().is_ok_and(|metadata| !metadata.is_dir() && !is_socket(&metadata));
        let is_known = pins.iter().any(|pin| pin.path == path);
        // A replacement of a trusted file, or one that is missing at this very moment, counts too;
        // interpreters also run folders.
        if !is_known && workspace.workspace_path(&path).is_some() && (is_readable() || recorded.has(&path)) {
            let name = || path.strip_prefix(workspace.root()).unwrap_or(&path).display().to_string();
            pins.push(pin(&path).ok_or_else(name)?);
        }
    }
    Ok(pins)
}
