//! The `glob` query: files by the pattern of their paths.

use std::path::Path;

use globset::GlobSet;

use super::walk::select::{SelectError, Selection, check_glob};
use super::{ReadError, WorkDeadline, Workspace, WorkspacePath};
use crate::text::{build_glob_set, read_glob};

/// The maximum number of files that are compared when the newest are wanted.
const MAX_COMPARED_GLOB_FILES: usize = 200_000;

/// The parameters of a search for files by name.
#[derive(Debug, Clone)]
pub(crate) struct GlobQuery {
    /// The pattern in shell syntax, relative to `under`: `*` and `?` stay within one name, `**`
    /// stands for any number of directories, `{a,b}` for one of them, `[a-z]` for one character.
    ///
    /// A directory that its fixed beginning names is searched even if it is hidden or ignored. A
    /// hidden name counts wherever the pattern spells its dot (`**/.github/*`).
    pub pattern: String,
    /// The directory to search.
    pub under: WorkspacePath,
    /// True to include hidden files and the content of hidden directories that the pattern does not
    /// spell.
    pub hidden: bool,
    /// True to include ignored files, and directories like `node_modules`.
    pub no_ignore: bool,
    /// The order of the files; it also selects them if there are more than `max`.
    pub order: GlobOrder,
    /// The maximum number of files.
    pub max: usize,
    /// The time at which the search ends in any case.
    pub deadline: WorkDeadline,
}

/// The order of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GlobOrder {
    /// By path, name by name.
    #[default]
    Path,
    /// The files with the latest change come first; by path if the times are equal.
    Newest,
}

/// The matching files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GlobResult {
    /// Regular files, relative to the workspace's root.
    pub paths: Vec<WorkspacePath>,
    /// True if there are more than `max`.
    pub(crate) has_more: bool,
    /// True if the deadline, or the limit of compared files, ended the walk; there may be others.
    pub(crate) cut_short: bool,
    /// The number of files left out because they are hidden.
    pub(crate) hidden: usize,
    /// The omitted or unknown parts with the reasons; in sentences.
    pub(crate) gaps: Vec<String>,
}

impl Workspace {
    /// Returns the regular files whose paths match; links are not followed.
    ///
    /// # Errors
    /// [`SelectError`] if the pattern is not valid, is absolute or has `..`, or the place is
    /// missing or outside.
    pub(crate) fn glob(&self, query: &GlobQuery) -> Result<GlobResult, SelectError> {
        let matcher = compile_glob(&query.pattern)?;
        self.stat_directory(&query.under)?;
        let fixed = fixed_beginning(&query.pattern);
        let from = query.under.join(&fixed).map_err(|_| outside_error(&query.pattern))?;
        let select = Selection { hidden: query.hidden, no_ignore: query.no_ignore, ..Selection::default() };
        let selected = match select.prepare_walk_for(self, &from, [query.pattern.as_str()]) {
            Err(SelectError::Place(ReadError::NotFound { .. })) => return Ok(GlobResult::default()),
            other => other?,
        };
        let mut walk = selected.walk;
        walk.sort_by_file_name(|a, b| a.cmp(b));
        let most = match query.order {
            GlobOrder::Path => query.max.saturating_add(1),
            GlobOrder::Newest => MAX_COMPARED_GLOB_FILES,
        };
        let mut result = GlobResult::default();
        for entry in walk.build() {
            if query.deadline.is_over() || result.paths.len() >= most {
                result.cut_short = true;
                break;
            }
            // An entry that cannot be listed (permissions, or deleted since) has no files for any
            // caller.
            let Ok(entry) = entry else { continue };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let Some(path) = selected.start.path_of(entry.path()) else { continue };
            let below = path.as_path().strip_prefix(query.under.as_path()).unwrap_or(path.as_path());
            if !matcher.is_match(below) {
                continue;
            }
            if self.hides_entry(path.as_path(), entry.path()) {
                result.hidden += 1;
                continue;
            }
            result.paths.push(path);
        }
        if query.order == GlobOrder::Newest {
            self.sort_newest_first(&mut result.paths);
        }
        result.has_more = result.paths.len() > query.max;
        result.cut_short &= !(query.order == GlobOrder::Path && result.has_more);
        result.paths.truncate(query.max);
        result.gaps = selected.gaps.notes();
        Ok(result)
    }

    fn sort_newest_first(&self, paths: &mut [WorkspacePath]) {
        let changed = |path: &WorkspacePath| self.stamp(path).map_or(i64::MIN, |stamp| stamp.mtime_ns);
        paths.sort_by_cached_key(|path| (std::cmp::Reverse(changed(path)), path.clone()));
    }
}

fn outside_error(pattern: &str) -> SelectError {
    SelectError::Outside { glob: pattern.to_owned() }
}

fn compile_glob(pattern: &str) -> Result<GlobSet, SelectError> {
    check_glob(pattern)?;
    if Path::new(pattern).has_root() {
        return Err(outside_error(pattern));
    }
    // A leading `./` means the directory itself, which paths do not spell.
    let spelled = pattern.trim_start_matches("./");
    let glob = read_glob(spelled, |builder| {
        builder.literal_separator(true).backslash_escape(true);
    });
    let bad = |problem| SelectError::BadGlob { glob: pattern.to_owned(), problem };
    glob.and_then(|glob| build_glob_set([glob])).map_err(bad)
}

/// Returns the literal names at the beginning of `pattern`.
fn fixed_beginning(pattern: &str) -> String {
    let is_fixed = |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\']);
    // An alternative may contain a slash, so the text in braces is not a single name.
    let names: Vec<&str> = pattern.split('/').take_while(is_fixed).collect();
    names.join("/")
}

#[cfg(test)]
mod tests;
