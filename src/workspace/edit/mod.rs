//! The one way in which files of the workspace are changed: planned, checked, committed, journaled.
//!
//! Contents: [`EditPlan`]s of operations on paths, and [`TransactionManager`], which executes them
//! as transactions: all or nothing, against exactly the contents they were made from, and
//! reversibly. May use: the rest of `workspace`.
//!
//! Data flow: a caller reads a file
//! ([`Workspace::read_text`](crate::workspace::Workspace::read_text)), makes a new text of it and
//! adds bytes and [`PathPrecondition::Hash`] to an [`EditPlan`]. [`TransactionManager::commit`]
//! takes the lock among all processes (`lock`) and completes or reverses the transactions of
//! processes that died (`rollback`). It then checks the whole plan against the disk without
//! touching anything: the real place of each path (`locate`), its permission (`guard`, by the list
//! in `control`), the present object (`inspect`), and the workspace after each operation
//! (`overlay`, `check`). Then the record of all steps and the old contents go into the journal
//! (`record`, `journal`) in the user's state folder. The steps are done (`apply`, each one atomic:
//! `atomic`) or, if one fails, reversed; and the caller gets the changes (`change`, `report`). Undo
//! (`undo`) is a plan like any other.
//!
//! At every moment, also when the process is killed, each file is wholly old or wholly new.
//! Temporary files have names that begin with `.lsp-tools-tmp-` and are removed by the next commit
//! at the latest.
//!
//! Every step happens beneath the descriptor of a folder that was reached name by name without
//! following links (`locate`), so that a folder that becomes a link in the meantime cannot lead
//! out. A file with several names (hard links) is not edited: replacing it would separate it from
//! its other names, and writing into it would not be atomic and might change a file outside. It can
//! be deleted and renamed.

mod change;
mod check;
mod control;
pub(crate) mod disk;
mod error;
mod guard;
pub(crate) mod history;
mod overlay;
mod plan;
mod refusal;
mod report;
#[cfg(all(test, unix))]
mod tests;
mod text;
mod transaction;

pub(super) use disk::atomic::is_temporary;

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
