//! Files of the project that the command of a trusted program names.

use std::path::Path;

use super::command_files::files_named;
use super::pin::Pin;
use super::trust::Trust;
use crate::workspace::Workspace;

/// What the files of the project must be that `words` of a command name, from one of the folders `bases`: what runs, reads or runs them.
///
/// # Errors
/// The path in the workspace of the first file for which there is no `pin`: one that its owner has not trusted as it is now.
pub fn pins_among<'a>(
    words: impl IntoIterator<Item = &'a str>,
    bases: &[&Path],
    workspace: &Workspace,
    trust: &Trust,
    pin: impl Fn(&Path) -> Option<Pin>,
) -> Result<Vec<Pin>, String> {
    let mut pins: Vec<Pin> = Vec::new();
    for word in words {
        for path in bases.iter().flat_map(|base| files_named(word, base)) {
            let is_known = pins.iter().any(|pin| pin.path == path);
            if !is_known && is_pinned(&path, workspace, trust) {
                let name = || path.strip_prefix(workspace.root()).unwrap_or(&path).display().to_string();
                pins.push(pin(&path).ok_or_else(name)?);
            }
        }
    }
    Ok(pins)
}

/// Whether what a command names must be as its owner trusted it: a file of the project, what else can be read like one, and what has taken
/// the place of a file that was trusted (interpreters run folders as well).
fn is_pinned(path: &Path, workspace: &Workspace, trust: &Trust) -> bool {
    let is_readable = || path.metadata().is_ok_and(|metadata| !metadata.is_dir());
    workspace.inside(path).is_some() && (is_readable() || trust.names_program(workspace.root(), path))
}
