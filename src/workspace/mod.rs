//! The only code that touches the user's files: paths, reading, searching, noticing changes,
//! editing.
//!
//! Contents: the workspace's root and the paths inside it, reading text, walking, searching,
//! noticing changes on disk, and the one way of editing ([`edit`]). May use: `text`.
//!
//! Data flow: every path from a caller becomes a [`WorkspacePath`] first ([`Workspace::path`],
//! lexical, no file is touched). Only such a path can be opened, and every opening goes through one
//! function that lets the kernel resolve it beneath the root's file descriptor, so that symlinks
//! and races cannot lead out. The results are text with the [`FileStamp`] it was read at, lists of
//! paths, [`Hit`]s, or a [`ChangeBatch`]. A [`Workspace::with_path_filter`] one hides some of the
//! files.

mod changes;
mod deadline;
pub(crate) mod edit;
mod first_findings;
mod glob;
mod grep;
mod list;
mod missing_paths;
#[cfg(test)]
mod parity_tests;
mod path;
mod path_filter;
#[cfg(all(test, unix))]
mod path_tests;
mod read;
mod resolve_links;
mod root;
mod search;
mod tree_digest;
mod walk;

pub(crate) use changes::ChangeBatch;
pub(crate) use changes::ChangeFeed;
pub(crate) use changes::ChangeKind;
pub(crate) use changes::SourceNames;
pub use deadline::WorkDeadline;
pub(crate) use glob::GlobOrder;
pub(crate) use glob::GlobQuery;
pub use grep::{CaseMode, GrepPattern, GrepQuery, GrepResult, GrepWanted};
pub(crate) use grep::{GrepError, LineMatch, LineMatcher, PatternError};
pub(crate) use list::EntryKind;
pub(crate) use list::ListQuery;
pub(crate) use list::{DirectoryEntry, LinkTarget};
pub(crate) use missing_paths::MissingPaths;
pub(crate) use path::PathError;
pub use path::WorkspacePath;
pub(crate) use path::{escape_unprintable, normalise};
pub(crate) use read::ReadError;
pub(crate) use read::{FilePage, FileStamp, PageQuery, TextFile};
pub use root::Workspace;
pub(crate) use search::{Hit, SearchError, SearchQuery, SearchResult};
pub(crate) use tree_digest::{DigestError, FileAspect, TreeDigest, folder_digest};
pub use walk::WalkLimits;
pub(crate) use walk::select::SelectError;
pub use walk::select::Selection;
pub(crate) use walk::spare_threads;
