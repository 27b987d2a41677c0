//! Which files count: the same rules for walking, searching and noticing changes.

use std::ffi::OsStr;
use std::path::Path;

use ignore::{IncrementalIgnore, WalkBuilder};

use super::Workspace;

/// A walk that begins at the absolute directory or file `start`, inside the workspace, and sees the tree as git does:
/// `.gitignore`, `.ignore`, the repository's and the user's excludes. Hidden files are left out, links not followed.
pub(super) fn walker(workspace: &Workspace, start: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    builder
        .standard_filters(true)
        .require_git(false)
        .follow_links(false)
        .current_dir(workspace.root())
        // Above a root that is in no repository, ignore files of others must not count (a home directory may hold
        // one that ignores everything); below the root, those between it and `start` must.
        .parents(workspace.in_git() || start != workspace.root())
        .filter_entry(|entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || !is_dir || !is_litter(entry.path())
        });
    builder
}

/// Whether the absolute directory `dir` holds what tools put there (dependencies, caches, build output), whatever
/// the ignore files say. A name that projects use for sources too counts only with evidence.
pub(super) fn is_litter(dir: &Path) -> bool {
    let Some(name) = dir.file_name().and_then(OsStr::to_str) else { return false };
    match name {
        ".git" | ".hg" | ".svn" | ".jj" | "node_modules" | "__pycache__" | "bower_components" => true,
        ".venv" | "venv" | "env" => dir.join("pyvenv.cfg").exists(),
        "target" => BUILT_BESIDE.iter().any(|file| dir.with_file_name(file).exists()),
        _ => false,
    }
}

/// Files beside which a directory `target` is build output.
const BUILT_BESIDE: [&str; 3] = ["Cargo.toml", "pom.xml", "build.sbt"];

/// The ignore rules for single paths relative to the root, as [`walker`] applies them, but without leaving out
/// hidden files: settings of tools are among them.
pub(super) fn watch_rules(workspace: &Workspace) -> Option<IncrementalIgnore> {
    walker(workspace, workspace.root()).hidden(false).build_matchers().pop()
}
