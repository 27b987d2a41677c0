//! The only code that touches the user's files.
//!
//! What lives here: the workspace's root and the paths inside it, reading text, walking, searching, and noticing
//! changes on disk. May use: `text`.
//!
//! How data passes: whatever a caller gives becomes a [`WorkspacePath`] first ([`Workspace::path`], lexical, no file
//! is touched); only such a path can be opened, and every opening goes through one function that lets the kernel
//! resolve it beneath the root's file descriptor, so that symlinks and races cannot lead out. What comes back is
//! text with the [`Stamp`] it was read at, lists of paths, [`Hit`]s, or [`Changes`].

mod changes;
mod jail;
mod names;
mod path;
mod read;
mod root;
mod rules;
mod search;
mod walk;

pub use changes::{ChangeFeed, ChangeKind, Changes};
pub use names::Names;
pub use path::{PathError, WorkspacePath};
pub use read::{DEFAULT_READ_LIMIT, ReadError, Stamp, TextFile};
pub use root::{Workspace, WorkspaceError};
pub use search::{Hit, SearchError, SearchQuery, SearchResult};
pub use walk::{Walk, WalkLimits};
