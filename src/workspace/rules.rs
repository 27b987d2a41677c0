//! Which files count: the same rules for walking, searching and noticing changes.

use std::ffi::OsStr;
use std::path::Path;

use ignore::{IncrementalIgnore, WalkBuilder};

use super::Workspace;

/// What a walk sees beyond what git would track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sight {
    /// Files and directories whose names begin with a dot.
    pub hidden: bool,
    /// What ignore files exclude, and litter.
    pub ignored: bool,
}

/// A walk over what is at and below the absolute path `start`, inside the workspace, as git sees the tree:
/// `.gitignore`, `.ignore`, the repository's and the user's excludes. Hidden files and litter are left out, links not
/// followed; but `start` itself may be any of these, and then only what is in it decides. Directories between the
/// root and `start` may be among the entries.
pub(super) fn walker(workspace: &Workspace, start: &Path) -> WalkBuilder {
    walker_seeing(workspace, start, Sight::default())
}

/// As [`walker`], with more in sight; the stores of version control are left out all the same.
pub(super) fn walker_seeing(workspace: &Workspace, start: &Path, sight: Sight) -> WalkBuilder {
    if workspace.in_git() || sight.ignored {
        // The ignore files above belong to the repository, be they above the root too.
        return walker_from(workspace, start, start, true, sight);
    }
    // Above a root that is in no repository, ignore files are others' (a home directory may hold one that ignores
    // everything). Those between the root and `start` count, and are only met on the way from the root.
    let from = if is_excluded(workspace, start) { start } else { workspace.root() };
    walker_from(workspace, from, start, false, sight)
}

fn walker_from(workspace: &Workspace, from: &Path, start: &Path, parents: bool, sight: Sight) -> WalkBuilder {
    let to_start = (from != start).then(|| start.to_owned());
    let is_left_out = if sight.ignored { is_store } else { is_litter };
    let mut builder = WalkBuilder::new(from);
    builder
        .standard_filters(!sight.ignored)
        .hidden(!sight.hidden)
        .require_git(false)
        .follow_links(false)
        .current_dir(workspace.root())
        .parents(parents && !sight.ignored)
        .filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_on_the_way = to_start.as_ref().is_none_or(|start| {
                entry.path().starts_with(start) || (is_dir && start.starts_with(entry.path()))
            });
            is_on_the_way && (entry.depth() == 0 || !is_dir || !is_left_out(entry.path()))
        });
    builder
}

/// Whether a walk from the root would not come to `start`.
fn is_excluded(workspace: &Workspace, start: &Path) -> bool {
    let root = workspace.root();
    let Ok(relative) = start.strip_prefix(root) else { return true };
    let is_dir = start.is_dir();
    let mut rules = walker_from(workspace, root, root, false, Sight::default()).build_matchers();
    rules.iter_mut().any(|rules| rules.matched(relative, is_dir).is_ignore())
        || start.ancestors().take_while(|dir| *dir != root).any(|dir| dir.is_dir() && is_litter(dir))
}

/// Whether the absolute directory `dir` holds what tools put there (dependencies, caches, build output), whatever
/// the ignore files say. A name that projects use for sources too counts only with evidence.
pub(super) fn is_litter(dir: &Path) -> bool {
    let Some(name) = dir.file_name().and_then(OsStr::to_str) else { return false };
    match name {
        "node_modules" | "__pycache__" | "bower_components" => true,
        ".venv" | "venv" | "env" => dir.join("pyvenv.cfg").exists(),
        "target" => BUILT_BESIDE.iter().any(|file| dir.with_file_name(file).exists()),
        _ => is_store(dir),
    }
}

/// Whether the absolute directory `dir` is where version control keeps its own files.
fn is_store(dir: &Path) -> bool {
    matches!(dir.file_name().and_then(OsStr::to_str), Some(".git" | ".hg" | ".svn" | ".jj"))
}

/// Files beside which a directory `target` is build output.
const BUILT_BESIDE: [&str; 3] = ["Cargo.toml", "pom.xml", "build.sbt"];

/// The ignore rules for single paths relative to the root, as [`walker`] applies them, but without leaving out
/// hidden files: settings of tools are among them.
pub(super) fn watch_rules(workspace: &Workspace) -> Option<IncrementalIgnore> {
    walker(workspace, workspace.root()).hidden(false).build_matchers().pop()
}
