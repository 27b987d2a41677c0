//! The difference between two trees of a git repository, and what it breaks.
//!
//! How data passes: the name of a commit → [`compared_texts`] (which files differ, with both texts) → [`judge`] (what is new in the later
//! tree, which is on disk, against the earlier one) → `lsp_changes` and the command line. The earlier tree is shown to servers as unsaved
//! text; where files came or went, or a project's own configuration is another, [`other_tree`] writes it out and looks at it with servers
//! of its own. [`interfaces`] names the declarations that changed, and who uses them; [`merge_check`] does the same for a merge that
//! nobody has made yet.
//!
//! Uses `tools/git`, and the comparison of `diagnostics_baseline`; the repository is not changed.

pub(crate) mod compared_texts;
pub(crate) mod interfaces;
pub(crate) mod judge;
pub(crate) mod merge_check;
pub(crate) mod other_tree;
pub(crate) mod output;
