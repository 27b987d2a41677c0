//! Files of the project that the command of a trusted program names.

use std::path::Path;

use super::pin::{Pin, paths_in};
use super::trust::Trust;
use crate::workspace::Workspace;

/// What the files of the project must be that `words` of a command name, from one of the folders `bases`: what runs, reads or runs them.
///
/// # Errors
/// The first word that names a file for which there is no `pin`: one that its owner has not trusted as it is now.
pub fn pins_among<'a>(
    words: impl IntoIterator<Item = &'a str>,
    bases: &[&Path],
    workspace: &Workspace,
    trust: &Trust,
    pin: impl Fn(&Path) -> Option<Pin>,
) -> Result<Vec<Pin>, &'a str> {
    let mut pins: Vec<Pin> = Vec::new();
    for word in words.into_iter().flat_map(paths_in) {
        for path in bases.iter().map(|base| base.join(word)) {
            let is_known = pins.iter().any(|pin| pin.path == path);
            if !is_known && is_pinned(&path, workspace, trust) {
                pins.push(pin(&path).ok_or(word)?);
            }
        }
    }
    Ok(pins)
}

/// Whether what a command names must be as its owner trusted it: a file of the project, what else can be read like one, and what has taken
/// the place of a file that was trusted (interpreters run folders as well).
pub fn is_pinned(path: &Path, workspace: &Workspace, trust: &Trust) -> bool {
    let is_readable = || path.metadata().is_ok_and(|metadata| !metadata.is_dir());
    workspace.inside(path).is_some() && (is_readable() || trust.names_program(workspace.root(), path))
}
