//! The one way in which files of the workspace are changed: planned, checked, committed, journaled.
//!
//! What lives here: [`EditPlan`]s of operations on paths, and [`TransactionManager`], which carries them out as transactions: all or
//! nothing, against exactly the contents they were made from, with a way back. May use: the rest of `workspace`.
//!
//! How data passes: a caller reads a file ([`Workspace::read_text`](crate::workspace::Workspace::read_text)), makes a new text of it and puts bytes and
//! [`PathPrecondition::Hash`] into an [`EditPlan`]. [`TransactionManager::commit`] waits for its turn among all processes (`lock`), settles what a
//! process that died has left (`rollback`), and checks the whole plan against the disk without touching anything: where each
//! path really is (`locate`), whether it may be changed (`guard`, by the list in `control`), what is there (`inspect`), what the workspace looks like
//! after each operation (`overlay`, `check`). Then the record of all steps and the old contents go into the journal
//! (`record`, `journal`) in the user's state folder; the steps are done (`apply`, each one atomic: `atomic`) or, should one
//! fail, taken back; and the caller hears what has changed (`change`, `report`). Undo (`undo`) is a plan like any other.
//!
//! What holds at every moment, also when the process is killed: each file is wholly old or wholly new. What is left beside
//! the files has names that begin with `.lsp-tools-tmp-` and is gone after the next commit.
//!
//! Every step happens beneath the descriptor of a folder that was reached name by name without following links
//! (`locate`), so that a folder that becomes a link in the meantime cannot lead out. A file with several names (hard links)
//! is not edited: replacing it would part it from its other names, and writing into it could not be done in one step and
//! might change a file outside. It can be deleted and renamed.

mod apply;
mod atomic;
mod change;
mod check;
mod control;
mod error;
mod folders;
mod guard;
mod hexadecimal;
mod inspect;
mod journal;
mod leftover;
mod locate;
mod lock;
mod overlay;
mod plan;
mod record;
mod refusal;
mod report;
mod retrace;
mod rollback;
#[cfg(test)]
mod tests;
mod text;
mod transaction;
mod trees;
mod undo;
mod xattr;

pub(super) use atomic::is_temporary;

pub(crate) use change::ChangedEntryKind;
pub(crate) use change::EditId;
pub(crate) use change::FileOperation;
pub(crate) use change::{CommittedTransaction, FileChange, HistoryEntry};
pub(crate) use control::approval_reason;
pub(crate) use error::EditError;
pub(crate) use plan::ContentHash;
pub(crate) use plan::EditPlan;
pub(crate) use plan::PathPrecondition;
pub(crate) use text::LineEnds;
pub(crate) use transaction::{EditLimits, EditOptions, TransactionManager};
