//! The only code that touches the user's files.
//!
//! What lives here: the workspace's root and the paths inside it, reading text, walking, searching, and noticing
//! changes on disk. May use: `text`. Paths are resolved beneath the root by the kernel; a [`WorkspacePath`] is a
//! relative path that cannot name anything outside.

mod path;

pub use path::WorkspacePath;
