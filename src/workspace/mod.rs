//! The only code that touches the user's files.
//!
//! What lives here: the workspace's root and the paths inside it, reading text, walking, searching, noticing changes on
//! disk, and the one way of editing ([`edit`]). May use: `text`.
//!
//! How data passes: whatever a caller gives becomes a [`WorkspacePath`] first ([`Workspace::path`], lexical, no file
//! is touched); only such a path can be opened, and every opening goes through one function that lets the kernel
//! resolve it beneath the root's file descriptor, so that symlinks and races cannot lead out. What comes back is
//! text with the [`Stamp`] it was read at, lists of paths, [`Hit`]s, or [`Changes`]. A [`Workspace::veiled`] one shows
//! less of the same files.

mod changes;
pub mod edit;
mod excerpt;
mod first;
mod git_config;
mod glob;
mod grep;
mod ignored;
mod jail;
mod list;
mod path;
pub mod private;
mod read;
mod real;
mod root;
mod rules;
mod search;
mod select;
mod unseen;
mod until;
mod veil;
mod walk;

pub use changes::{ChangeFeed, ChangeKind, Changes};
pub use glob::{GlobOrder, GlobQuery, GlobResult};
pub use grep::{
    CaseMode, FileMatches, GrepError, GrepPattern, GrepQuery, GrepResult, GrepWanted, LineMatch, LineMatcher,
    PatternError,
};
pub use list::{Entry, EntryKind, LinkTarget, ListQuery, Listing};
pub(crate) use path::normalise;
pub use path::{PathError, WorkspacePath};
pub use read::{CutLine, DEFAULT_READ_LIMIT, Page, PageQuery, ReadError, Stamp, TextFile};
pub use root::{Workspace, WorkspaceError};
pub use search::{Hit, SearchError, SearchQuery, SearchResult};
pub use select::{SelectError, Selection};
pub use until::{GiveUp, Until};
pub use veil::Hides;
pub use walk::{Walk, WalkLimits, spare_threads};
