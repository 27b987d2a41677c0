//! Search for the places where a pattern occurs in the files of the workspace.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::{DirEntry, WalkState};
use parking_lot::Mutex;

use self::watched::SearchInput;
use super::first_findings::FirstFindings;
use super::walk::rules::walker;
use super::walk::{WalkStart, walk_threads};
use super::{
    CaseMode, GrepPattern, LineMatcher, PatternError, ReadError, WorkDeadline, Workspace, WorkspacePath,
};
use crate::text::Range;

mod file;
pub(super) mod watched;

/// The maximum memory, in bytes, of one line during its search; a file with a longer one is not
/// searched.
const MAX_SEARCH_HEAP_BYTES: usize = 64 * 1024 * 1024;

/// The parameters of a search.
#[derive(Debug, Clone)]
pub(crate) struct SearchQuery {
    /// Text, or a regular expression (the syntax of the crate `regex`); matches do not reach over
    /// line ends.
    pub(crate) pattern: String,
    /// True if `pattern` is plain text.
    pub(crate) literal: bool,
    /// True to match only whole words.
    pub(crate) whole_word: bool,
    /// True to ignore case.
    pub(crate) case_insensitive: bool,
    /// The directory to search in, or the one file; the root for everything.
    pub(crate) under: WorkspacePath,
    /// Only files with one of these extensions (with or without the dot, in any case), "" for files
    /// that have none; `None` for all.
    pub(crate) extensions: Option<Vec<String>>,
    /// The maximum number of hits: the first ones, by path and position.
    pub(crate) max_hits: usize,
    /// The time at which the search ends in any case, also in the middle of a file.
    pub(crate) deadline: Instant,
}

/// One occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The range: 0-based lines, 0-based characters in Unicode scalar values.
    pub(crate) range: Range,
    /// The line, without its line break; if it is very long, an excerpt around the hit, with `…` at
    /// each cut.
    pub(crate) line: String,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SearchResult {
    /// By path, then by position; several on one line are separate hits.
    pub(crate) hits: Vec<Hit>,
    /// True if there are more hits than the limit, folders that are too deep, lines too long for the
    /// pattern, or files that cannot be read or have a line too long to hold.
    pub(crate) truncated: bool,
    /// True if the deadline ended the search; there may be more hits, also before those found.
    pub(crate) timed_out: bool,
    /// The number of files searched to their end or to the last wanted hit; binary ones do not
    /// count.
    pub(crate) files_searched: usize,
}

/// The reasons why a search could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The pattern is not usable.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The place to search does not exist.
    #[error(transparent)]
    Place(#[from] ReadError),
}

impl Workspace {
    /// Searches the files that [`files`](Self::files) lists for `query`, in parallel. Binary files
    /// are left out.
    ///
    /// # Errors
    /// [`SearchError`] if the pattern is not usable or the place to search is missing or outside.
    pub(crate) fn search(&self, query: &SearchQuery) -> Result<SearchResult, SearchError> {
        let matcher = build_matcher(query)?;
        let start = WalkStart::new(self, &query.under)?;
        let search = WorkspaceSearchRun {
            workspace: self,
            query,
            start,
            until: WorkDeadline::new(query.deadline),
            found: Mutex::new(FirstFindings::new(query.max_hits.saturating_add(1))),
            timed_out: AtomicBool::new(false),
            has_gaps: AtomicBool::new(false),
            files_searched: AtomicUsize::new(0),
        };
        let (mut walk, gaps) = walker(self, &search.start.directory);
        walk.threads(walk_threads()).build_parallel().run(|| {
            let mut searcher = build_searcher();
            let matcher = matcher.clone();
            let search = &search;
            Box::new(move |entry| search.visit(entry, &mut searcher, &matcher))
        });
        let mut result = search.finish();
        result.truncated |= gaps.is_cut();
        Ok(result)
    }
}

/// One search while it runs, shared by its threads.
struct WorkspaceSearchRun<'a> {
    workspace: &'a Workspace,
    query: &'a SearchQuery,
    start: WalkStart,
    until: WorkDeadline,
    found: Mutex<FirstFindings<Vec<Hit>>>,
    timed_out: AtomicBool,
    has_gaps: AtomicBool,
    files_searched: AtomicUsize,
}

impl WorkspaceSearchRun<'_> {
    /// The limit plus one, to find out whether there are more.
    fn hit_limit(&self) -> usize {
        self.query.max_hits.saturating_add(1)
    }

    fn visit(
        &self,
        entry: Result<DirEntry, ignore::Error>,
        searcher: &mut Searcher,
        matcher: &LineMatcher,
    ) -> WalkState {
        if self.timed_out.load(Ordering::Relaxed) || self.until.is_over() {
            self.timed_out.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        let Ok(entry) = entry else { return WalkState::Continue };
        if self.found.lock().is_beyond(entry.path()) {
            return WalkState::Skip;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) && self.is_wanted(entry.path()) {
            self.search_file(entry.path(), searcher, matcher);
        }
        WalkState::Continue
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let Some(extensions) = &self.query.extensions else { return true };
        let Some(extension) = path.extension().unwrap_or_default().to_str() else { return false };
        extensions.iter().any(|wanted| wanted.trim_start_matches('.').eq_ignore_ascii_case(extension))
    }

    fn search_file(&self, absolute: &Path, searcher: &mut Searcher, matcher: &LineMatcher) {
        let Some(path) = self.start.path_of(absolute) else { return };
        let opened = match self.workspace.open_regular(path.as_path()) {
            Ok((opened, _)) => opened,
            Err(ReadError::Denied { .. } | ReadError::Io { .. }) => {
                return self.has_gaps.store(true, Ordering::Relaxed);
            }
            // Hidden, gone or swapped for a link since it was listed: then it is none of the files
            // to search.
            Err(_) => return,
        };
        let bytes = match self.workspace.unsaved.get(&path) {
            Some(text) => SearchInput::Text(text.as_bytes(), Cell::new(0)),
            None => SearchInput::File(&opened),
        };
        let outcome = file::search(bytes, &path, searcher, matcher, self.hit_limit(), &self.until);
        match outcome {
            file::SearchFileOutcome::Searched { hits, has_gaps } => {
                self.has_gaps.fetch_or(has_gaps, Ordering::Relaxed);
                self.files_searched.fetch_add(1, Ordering::Relaxed);
                if !hits.is_empty() {
                    self.found.lock().add(absolute, hits.len(), hits);
                }
            }
            file::SearchFileOutcome::TimedOut(hits) => {
                self.timed_out.store(true, Ordering::Relaxed);
                if !hits.is_empty() {
                    self.found.lock().add(absolute, hits.len(), hits);
                }
            }
            file::SearchFileOutcome::NotText => {}
            file::SearchFileOutcome::Unsearchable => self.has_gaps.store(true, Ordering::Relaxed),
        }
    }

    fn finish(self) -> SearchResult {
        let found = self.found.into_inner();
        let mut hits: Vec<Hit> = found.into_items().flatten().collect();
        let truncated = hits.len() > self.query.max_hits || self.has_gaps.into_inner();
        hits.truncate(self.query.max_hits);
        let files_searched = self.files_searched.into_inner();
        SearchResult { hits, truncated, timed_out: self.timed_out.into_inner(), files_searched }
    }
}

fn build_matcher(query: &SearchQuery) -> Result<LineMatcher, PatternError> {
    LineMatcher::new(&GrepPattern {
        text: query.pattern.clone(),
        fixed: query.literal,
        case: if query.case_insensitive { CaseMode::Insensitive } else { CaseMode::Sensitive },
        whole_word: query.whole_word,
        multiline: false,
        invert: false,
    })
}

fn build_searcher() -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        // No server reads UTF-16; its NUL bytes make it binary.
        .bom_sniffing(false)
        // The input ends at the first NUL byte.
        .binary_detection(BinaryDetection::none())
        .heap_limit(Some(MAX_SEARCH_HEAP_BYTES))
        .build()
}

#[cfg(test)]
mod tests;
