//! The difference between two trees of a git repository, and the new findings that it causes.
//!
//! The name of a commit is resolved to the differing files with both texts ([`compared_texts`]).
//! [`judge`] finds the new findings in the later tree, which is on disk, for `lsp_changes` and the
//! command line. Servers see the earlier tree as unsaved texts. If files were added or removed, or
//! a project's own configuration differs, [`other_tree`] writes it out and checks it with servers
//! of its own. [`interfaces`] lists the changed declarations and their users; [`merge_check`]
//! checks a merge before it is made.
//!
//! The module uses [`process::git`](crate::process::git), and the comparison of
//! [`diagnostics_baseline`](crate::analysis::breakage::diagnostics_baseline); the repository is not
//! changed.

pub(crate) mod compared_texts;
mod configuration;
pub(crate) mod interfaces;
pub(crate) mod judge;
mod lent_files;
pub(crate) mod merge_check;
pub(crate) mod other_tree;
pub(crate) mod output;
