//! The rules that decide which files count, shared by walking, searching and noticing changes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;
use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{Match, WalkBuilder};

use super::ignore_files::{IgnoreFiles, IgnoreVerdict};
use super::walk_gaps::WalkGaps;
use crate::workspace::Workspace;
use crate::workspace::path::MAX_PATH_DEPTH;

/// The files that a walk includes beyond those that git would track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WalkVisibility {
    /// Files and directories whose names begin with a dot.
    pub(crate) hidden: bool,
    /// Files that ignore files exclude, and generated folders.
    pub(crate) ignored: bool,
}

/// The caller's selection of files.
#[derive(Debug)]
pub(crate) struct FileFilter {
    /// By name; overrides ignore files.
    pub(crate) globs: Override,
    /// By kind.
    pub(crate) types: Types,
    /// The hidden names that the globs spell, which count like names that are not hidden.
    pub(crate) spelled: GlobSet,
}

impl Default for FileFilter {
    fn default() -> Self {
        Self { globs: Override::empty(), types: Types::empty(), spelled: GlobSet::empty() }
    }
}

/// Creates a walk over everything at and below the absolute path `start`, inside the workspace,
/// with the rules of `.gitignore`, `.ignore`, and the repository's and the user's excludes.
///
/// Hidden files and generated folders are left out, and links are not followed. `start` itself may
/// be any of these, and then only its content is filtered. Directories between the root and `start`
/// may be among the entries. Entries deeper than paths may be are left out and recorded among the
/// gaps.
pub(crate) fn walker(workspace: &Workspace, start: &Path) -> (WalkBuilder, Arc<WalkGaps>) {
    walker_seeing(workspace, start, WalkVisibility::default(), FileFilter::default())
}

/// Like [`walker`], with more files included; the stores of version control are left out in any
/// case.
pub(crate) fn walker_seeing(
    workspace: &Workspace,
    start: &Path,
    sight: WalkVisibility,
    wanted: FileFilter,
) -> (WalkBuilder, Arc<WalkGaps>) {
    if workspace.in_git() || sight.ignored {
        // The ignore files above belong to the repository, be they above the root too.
        return walker_from(workspace, start, start, true, (sight, wanted));
    }
    // Above a root that is in no repository, ignore files are others' (a home directory may hold
    // one that ignores everything). Those between the root and `start` count, and are only met on
    // the way from the root.
    let from = if is_excluded(workspace, start) { start } else { workspace.root() };
    walker_from(workspace, from, start, false, (sight, wanted))
}

fn walker_from(
    workspace: &Workspace,
    from: &Path,
    start: &Path,
    inherited: bool,
    (sight, wanted): (WalkVisibility, FileFilter),
) -> (WalkBuilder, Arc<WalkGaps>) {
    let gaps = Arc::new(WalkGaps::default());
    let to_start = (from != start).then(|| start.to_owned());
    let is_left_out = if sight.ignored { is_store } else { is_generated_folder };
    let ignored = (!sight.ignored).then(|| IgnoreFiles::below(workspace, from, inherited, Arc::clone(&gaps)));
    let above = from.strip_prefix(workspace.root()).map_or(0, |path| path.components().count());
    let deepest = MAX_PATH_DEPTH.saturating_sub(above);
    let noted = Arc::clone(&gaps);
    let mut builder = WalkBuilder::new(from);
    builder
        // All that the library would read for itself is judged here.
        .standard_filters(false)
        .follow_links(false)
        .current_dir(workspace.root())
        .max_depth(Some(deepest))
        .filter_entry(move |entry| {
            let (path, is_dir) = (entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()));
            let verdict = || ignored.as_ref().map_or(Match::None, |ignored| ignored.verdict(path, is_dir));
            let is_on_the_way = to_start
                .as_ref()
                .is_none_or(|start| path.starts_with(start) || (is_dir && start.starts_with(path)));
            let is_seen = is_on_the_way
                && (!is_dir || !is_left_out(path))
                && !is_unwanted(path, is_dir, verdict, sight, &wanted);
            if is_seen && is_dir && entry.depth() >= deepest {
                noted.record_too_deep();
            }
            is_seen
        });
    (builder, gaps)
}

/// Returns true if the file at `path` is not selected. Globs decide first, then ignore files (whose
/// verdict is `verdict`), then types; a hidden file counts if one of these names it.
fn is_unwanted(
    path: &Path,
    is_dir: bool,
    verdict: impl FnOnce() -> IgnoreVerdict,
    sight: WalkVisibility,
    wanted: &FileFilter,
) -> bool {
    let by_glob = wanted.globs.matched(path, is_dir).map(|_| ());
    if !by_glob.is_none() {
        return by_glob.is_ignore();
    }
    let by_file = verdict();
    let by_type = wanted.types.matched(path, is_dir).map(|_| ());
    if by_file.is_ignore() || by_type.is_ignore() {
        return true;
    }
    let is_spelled = || path.file_name().is_some_and(|name| wanted.spelled.is_match(name));
    by_file.is_none() && by_type.is_none() && !sight.hidden && is_hidden(path) && !is_spelled()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns true if a walk from the root would not reach `start`.
fn is_excluded(workspace: &Workspace, start: &Path) -> bool {
    let root = workspace.root();
    if start == root {
        return false;
    }
    if !start.starts_with(root) {
        return true;
    }
    let ignored = IgnoreFiles::below(workspace, root, false, Arc::default());
    let is_out =
        |path: &Path, verdict: &IgnoreVerdict| verdict.is_ignore() || (verdict.is_none() && is_hidden(path));
    let verdict = ignored.verdict_from_top(start, start.is_dir(), &is_out);
    is_out(start, &verdict)
        || start
            .ancestors()
            .take_while(|dir| *dir != root)
            .any(|dir| dir.is_dir() && is_generated_folder(dir))
}

/// Returns true if the absolute directory `dir` is generated by tools (dependencies, caches, build
/// output), regardless of the ignore files. A name that projects also use for sources counts only
/// with evidence.
pub(crate) fn is_generated_folder(dir: &Path) -> bool {
    let Some(name) = dir.file_name().and_then(OsStr::to_str) else { return false };
    match name {
        // CMake's own files; some end in `.ts` and are no TypeScript.
        "node_modules" | "__pycache__" | "bower_components" | "CMakeFiles" => true,
        ".venv" | "venv" | "env" => dir.join("pyvenv.cfg").exists(),
        "target" => BUILT_BESIDE.iter().any(|file| dir.with_file_name(file).exists()),
        _ => is_store(dir),
    }
}

/// Returns true if the absolute directory `dir` is a store of version control.
pub(crate) fn is_store(dir: &Path) -> bool {
    matches!(dir.file_name().and_then(OsStr::to_str), Some(".git" | ".hg" | ".svn" | ".jj"))
}

/// Files that mark a directory `target` beside them as build output.
const BUILT_BESIDE: [&str; 3] = ["Cargo.toml", "pom.xml", "build.sbt"];

/// The ignore rules for single paths relative to the root, as in [`walker`], but including hidden
/// files, because settings of tools are among them.
#[derive(Debug)]
pub(crate) struct WatchRules {
    root: PathBuf,
    ignored: IgnoreFiles,
}

impl WatchRules {
    /// Starts with the present ignore files; each is read when a path is checked that it may
    /// concern.
    pub(crate) fn new(workspace: &Workspace) -> Self {
        let root = workspace.root();
        let ignored = IgnoreFiles::below(workspace, root, workspace.in_git(), Arc::default());
        Self { root: root.to_owned(), ignored }
    }

    /// Returns true if `path`, relative to the root, is ignored, or lies in a folder that is.
    pub(crate) fn is_ignored(&self, path: &Path, is_dir: bool) -> bool {
        let is_out = |_: &Path, verdict: &IgnoreVerdict| verdict.is_ignore();
        self.ignored.verdict_from_top(&self.root.join(path), is_dir, &is_out).is_ignore()
    }
}
