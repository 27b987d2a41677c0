//! The `grep` query: lines that match a pattern in the files of the workspace, found with ripgrep's
//! engine.
//!
//! [`search`](super::search) finds every occurrence, for callers that need positions; this finds
//! lines, with context, for readers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ignore::{DirEntry, WalkState};
use parking_lot::Mutex;

use super::first_findings::FirstFindings;
use super::walk::select::{PreparedWalk, SelectError, Selection};
use super::walk::{WalkStart, walk_threads};
use super::{ReadError, WorkDeadline, Workspace, WorkspacePath};
use crate::text::{Position, column_in_excerpt, line_excerpt};

mod bounded;
mod file;
mod pattern;

pub(super) use bounded::BoundedMatcher;
pub use pattern::{CaseMode, GrepPattern};
pub(crate) use pattern::{LineMatcher, PatternError};

/// The parameters of a text search.
#[derive(Debug, Clone)]
pub struct GrepQuery {
    /// The pattern of a matching line.
    pub pattern: GrepPattern,
    /// The directory to search in, or the one file; the root for everything.
    pub under: WorkspacePath,
    /// The files to search.
    pub select: Selection,
    /// The wanted output.
    pub wanted: GrepWanted,
    /// The maximum number of matches, or of files if files are asked for: the first ones by path
    /// and line.
    pub max: usize,
    /// The time at which the search ends in any case, also in the middle of a file.
    pub deadline: WorkDeadline,
}

/// The wanted output for files with matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrepWanted {
    /// The lines, each with some lines of context.
    Lines {
        /// Lines before each match.
        before: usize,
        /// Lines after each match.
        after: usize,
    },
    /// The names of the files only; each is read up to its first match.
    Files,
    /// The number of matching lines in each file.
    Counts,
}

/// A matching line; several lines if the match, or adjoining ones, reach over line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMatch {
    /// The position of the first match: 0-based line, 0-based character in Unicode scalar values.
    /// In an inverted search, the line's start.
    pub start: Position,
    /// The last line, 0-based.
    pub(crate) end_line: u32,
    /// The line without its line break; lines between them keep theirs. If it is very long, it is
    /// cut around the match, with `…`.
    pub text: String,
    /// The requested lines before it that do not belong to an earlier match.
    pub(crate) before: Vec<String>,
    /// The lines after it up to the next match.
    pub(crate) after: Vec<String>,
}

impl LineMatch {
    /// Creates a match from the line `text`, or an excerpt of it, with `start` as its position. If
    /// it is very long, it is cut around that position.
    pub(crate) fn from_line(start: Position, text: &str) -> Self {
        let text = line_excerpt(text, column_in_excerpt(text, start.character));
        Self { start, end_line: start.line, text, before: Vec::new(), after: Vec::new() }
    }
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    /// The path of the file.
    pub path: WorkspacePath,
    /// The number of matching lines. If only names are wanted or a limit was reached, only the
    /// lines examined count.
    pub count: usize,
    /// The lines, by position; empty if they are not wanted.
    pub lines: Vec<LineMatch>,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// By path; none without matches.
    pub files: Vec<FileMatches>,
    /// True if there are more than `max`.
    pub has_more: bool,
    /// True if the deadline ended the search; there may be more, also before those found.
    pub timed_out: bool,
    /// The number of searched files.
    pub searched: usize,
    /// The number of files with a NUL byte near their start, in which the pattern matches or which
    /// are large and were named explicitly.
    pub(crate) binary: usize,
    /// Files that were searched only up to the NUL byte at the offset.
    pub(crate) cut: BTreeMap<WorkspacePath, u64>,
    /// The number of lines that are too long for the pattern.
    pub(crate) skipped_lines: usize,
    /// The number of files that could not be searched: a line (or, for patterns over several lines,
    /// the file) is too long, or reading failed.
    pub(crate) unsearchable: usize,
    /// The number of files left out because they are hidden.
    pub(crate) hidden: usize,
    /// The omitted or unknown parts with the reasons; in sentences.
    pub(crate) gaps: Vec<String>,
}

/// The reasons why a search could not begin.
#[derive(Debug, thiserror::Error)]
pub enum GrepError {
    /// The pattern is not usable.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The selection of files is not valid.
    #[error(transparent)]
    Select(#[from] SelectError),
}

impl Workspace {
    /// Searches for matching lines, in parallel. Binary files are skipped, UTF-16 with a byte order
    /// mark is decoded; links are not followed.
    ///
    /// # Errors
    /// [`GrepError`] if the pattern, a glob, a type or the place is not usable.
    pub fn grep(&self, query: &GrepQuery) -> Result<GrepResult, GrepError> {
        let matcher = LineMatcher::new(&query.pattern)?;
        let PreparedWalk { start, mut walk, gaps } = query.select.prepare_walk(self, &query.under)?;
        let grep = GrepRun {
            workspace: self,
            query,
            start,
            found: Mutex::new(FirstFindings::new(query.max.saturating_add(1))),
            is_full: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            searched: AtomicUsize::new(0),
            binary: AtomicUsize::new(0),
            cut: Mutex::default(),
            skipped_lines: AtomicUsize::new(0),
            unsearchable: AtomicUsize::new(0),
            hidden: AtomicUsize::new(0),
        };
        walk.threads(walk_threads()).build_parallel().run(|| {
            let mut files = file::GrepFileSearcher::new(matcher.clone(), query);
            let grep = &grep;
            Box::new(move |entry| grep.visit(entry, &mut files))
        });
        Ok(GrepResult { gaps: gaps.notes(), ..grep.finish() })
    }
}

/// One search while it runs, shared by its threads.
struct GrepRun<'a> {
    workspace: &'a Workspace,
    query: &'a GrepQuery,
    start: WalkStart,
    found: Mutex<FirstFindings<FileMatches>>,
    /// True once the wanted number is reached. Only then is it useful to check whether a file is
    /// beyond the wanted ones.
    is_full: AtomicBool,
    timed_out: AtomicBool,
    searched: AtomicUsize,
    binary: AtomicUsize,
    cut: Mutex<BTreeMap<WorkspacePath, u64>>,
    skipped_lines: AtomicUsize,
    unsearchable: AtomicUsize,
    hidden: AtomicUsize,
}

impl GrepRun<'_> {
    fn visit(&self, entry: Result<DirEntry, ignore::Error>, files: &mut file::GrepFileSearcher) -> WalkState {
        if self.timed_out.load(Ordering::Relaxed) || self.query.deadline.is_over() {
            self.timed_out.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        let Ok(entry) = entry else { return WalkState::Continue };
        if self.is_full.load(Ordering::Relaxed) && self.found.lock().is_beyond(entry.path()) {
            return WalkState::Skip;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            self.search(entry.path(), files);
        }
        WalkState::Continue
    }

    fn search(&self, absolute: &std::path::Path, files: &mut file::GrepFileSearcher) {
        let Some(relative) = self.start.relative(absolute) else { return };
        let (file, stamp) = match self.workspace.open_regular(&relative) {
            Ok(opened) => opened,
            Err(ReadError::Hidden { .. }) => {
                self.hidden.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Err(ReadError::Denied { .. } | ReadError::Io { .. }) => {
                self.unsearchable.fetch_add(1, Ordering::Relaxed);
                return;
            }
            // Gone or swapped for a link since it was listed: then it is none of the files to
            // search.
            Err(_) => return,
        };
        let outcome = files.search(&file, stamp.size);
        let path = WorkspacePath::new(relative.into_owned());
        let counter = match outcome.ending {
            file::GrepFileEnding::Whole => &self.searched,
            file::GrepFileEnding::Binary { matched } if matched || path == self.query.under => &self.binary,
            file::GrepFileEnding::Binary { .. } => return,
            file::GrepFileEnding::Unsearchable => &self.unsearchable,
            file::GrepFileEnding::Late => {
                self.timed_out.store(true, Ordering::Relaxed);
                &self.searched
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.skipped_lines.fetch_add(outcome.skipped_lines, Ordering::Relaxed);
        if let Some(at) = outcome.cut_at {
            self.cut.lock().insert(path.clone(), at);
        }
        if outcome.count == 0 {
            return;
        }
        let weight = match self.query.wanted {
            GrepWanted::Lines { .. } => outcome.count,
            GrepWanted::Files | GrepWanted::Counts => 1,
        };
        let mut found = self.found.lock();
        found.add(absolute, weight, FileMatches { path, count: outcome.count, lines: outcome.lines });
        if found.is_full() {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    fn finish(self) -> GrepResult {
        let found = self.found.into_inner();
        let (mut files, mut left, mut has_more) = (Vec::new(), self.query.max, false);
        for mut file in found.into_items() {
            if left == 0 {
                has_more = true;
                break;
            }
            if matches!(self.query.wanted, GrepWanted::Lines { .. }) {
                has_more = file.lines.len() > left;
                file.lines.truncate(left);
                file.count = file.lines.len();
                left -= file.count;
            } else {
                left -= 1;
            }
            files.push(file);
            if has_more {
                break;
            }
        }
        GrepResult {
            files,
            has_more,
            timed_out: self.timed_out.into_inner(),
            searched: self.searched.into_inner(),
            binary: self.binary.into_inner(),
            cut: self.cut.into_inner(),
            skipped_lines: self.skipped_lines.into_inner(),
            unsearchable: self.unsearchable.into_inner(),
            hidden: self.hidden.into_inner(),
            gaps: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
