//! The transaction manager: commit, preview, undo and recovery.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::change::{CommittedTransaction, HistoryEntry, RecoveredTransaction};
use super::check::{CheckedPlan, check_plan};
use super::disk::apply::{EditStepFailure, apply, remove_leftovers};
use super::disk::atomic::Obstacle;
use super::disk::folders::FolderHandleCache;
use super::disk::inspect::{SeenObject, inspect_object};
use super::disk::locate::WorkspaceTree;
use super::disk::lock::{EditLockGuard, EditLockQueue};
use super::error::{Conflict, ConflictExpectation, ConflictFinding};
use super::guard::WorkspaceGuard;
use super::history::journal::{Journal, JournalEntry, JournalProgress};
use super::history::record::{TRANSACTION_FORMAT_VERSION, TransactionRecord};
use super::history::retrace::{RetracedChange, retrace};
use super::history::rollback::roll_back;
use super::history::undo;
use super::refusal::failed_at;
use super::report::{PlanReport, path_of, report, summarize_changes};
use super::{EditError, EditId, EditPlan, FileChange, text};
use crate::workspace::Workspace;

/// The number of transactions between two prunings of the journal.
const TRANSACTIONS_PER_JOURNAL_PRUNE: u64 = 16;

/// The size of old contents, in bytes, from which a transaction prunes the journal by itself.
const PRUNE_BYTES: u64 = 1024 * 1024;

/// The edits of one workspace: commits plans and undoes them. Cheap to clone. Its methods block:
/// asynchronous code must call them on a thread that may block.
#[derive(Debug, Clone)]
pub(crate) struct TransactionManager(Arc<TransactionManagerInner>);

#[derive(Debug)]
struct TransactionManagerInner {
    workspace: Workspace,
    guard: WorkspaceGuard,
    journal: Journal,
    lock_queue: EditLockQueue,
    limits: EditLimits,
}

/// The parameters of a workspace's edits.
#[derive(Debug, Clone)]
pub(crate) struct EditOptions {
    /// The user's state folder; the journal is kept below it. It is created when the first
    /// transaction needs it.
    pub state: PathBuf,
    /// Absolute paths of the user's own that no edit may change, if they lie inside the workspace:
    /// folders of settings and state. `state` is always one of them.
    pub protected: Vec<PathBuf>,
    /// The size limits of edits and of the journal.
    pub limits: EditLimits,
}

/// The size limits of one edit, and of the journal that can undo it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EditLimits {
    /// The largest file that is written or deleted, before and after, in bytes.
    pub file_bytes: u64,
    /// The maximum size of the old content that one transaction replaces or deletes, in bytes.
    pub transaction_bytes: u64,
    /// The maximum number of files that one transaction writes, and of entries of a folder that it
    /// deletes.
    pub transaction_files: usize,
    /// The maximum number of files and folders in a renamed folder.
    pub moved_entries: usize,
    /// The maximum number of transactions in the journal.
    pub journal_entries: usize,
    /// The maximum number of bytes of records and old contents in the journal. The newest
    /// transaction stays in any case.
    pub journal_bytes: u64,
}

const BYTES_PER_MIB: u64 = 1024 * 1024;

impl Default for EditLimits {
    fn default() -> Self {
        Self {
            file_bytes: 64 * BYTES_PER_MIB,
            transaction_bytes: 256 * BYTES_PER_MIB,
            transaction_files: 10_000,
            moved_entries: 200_000,
            journal_entries: 500,
            journal_bytes: 512 * BYTES_PER_MIB,
        }
    }
}

impl EditOptions {
    /// The usual limits, with the journal below `state`.
    pub(crate) fn new(state: impl Into<PathBuf>) -> Self {
        Self { state: state.into(), protected: Vec::new(), limits: EditLimits::default() }
    }
}

impl TransactionManager {
    /// Creates the manager of `workspace`'s edits. Nothing is read or created yet; every commit
    /// first recovers the transactions of processes that died.
    pub(crate) fn new(workspace: Workspace, options: EditOptions) -> Self {
        let mut protected = options.protected;
        protected.push(options.state.clone());
        let guard = WorkspaceGuard::new(&workspace, &protected);
        let journal = Journal::new(&options.state, workspace.root());
        let turn = EditLockQueue::default();
        Self(Arc::new(TransactionManagerInner {
            workspace,
            guard,
            journal,
            lock_queue: turn,
            limits: options.limits,
        }))
    }

    /// Carries out `plan`: all of it, or nothing.
    ///
    /// # Errors
    /// [`EditError::Conflict`] if something is not as expected, with the present state; otherwise
    /// the obstacle. Nothing has been changed then, unless [`EditError::Unfinished`] is returned.
    pub(crate) fn commit(&self, plan: &EditPlan) -> Result<CommittedTransaction, EditError> {
        let _held = self.acquire_locks()?;
        self.0.commit(plan)
    }

    /// Returns the changes that [`commit`](Self::commit) would make at this moment. Touches nothing
    /// and does not wait.
    ///
    /// # Errors
    /// The errors of [`commit`](Self::commit), as far as they can be known without the change.
    pub(crate) fn preview(&self, plan: &EditPlan) -> Result<Vec<FileChange>, EditError> {
        let checked =
            check_plan(plan, WorkspaceTree::open(&self.0.workspace), &self.0.guard, &self.0.limits)?;
        Ok(report(&checked).files)
    }

    /// Undoes the transaction `id`, as a transaction of its own in `group`.
    ///
    /// # Errors
    /// [`EditError::UndoConflict`] if a file has been changed since; nothing is changed then.
    pub(crate) fn undo(&self, id: EditId, group: Option<&str>) -> Result<CommittedTransaction, EditError> {
        let _held = self.acquire_locks()?;
        self.0.undo(&[id], group)
    }

    /// Undoes the newest transaction that is still in effect and is not an undo itself.
    ///
    /// # Errors
    /// The errors of [`undo`](Self::undo), and [`EditError::NothingToUndo`].
    pub(crate) fn undo_latest(&self, group: Option<&str>) -> Result<CommittedTransaction, EditError> {
        let _held = self.acquire_locks()?;
        let history = self.0.history()?;
        let latest = history.iter().find(|entry| entry.is_in_effect() && entry.undoes.is_empty());
        let id = latest.ok_or(EditError::NothingToUndo { group: None })?.id;
        self.0.undo(&[id], group)
    }

    /// Undoes everything of `of` that is still in effect, in one transaction of the group `group`:
    /// all of it, or nothing.
    ///
    /// # Errors
    /// The errors of [`undo`](Self::undo), and [`EditError::NothingToUndo`].
    pub(crate) fn undo_group(
        &self,
        of: &str,
        group: Option<&str>,
    ) -> Result<CommittedTransaction, EditError> {
        let _held = self.acquire_locks()?;
        let history = self.0.history()?;
        let in_group: Vec<&HistoryEntry> =
            history.iter().filter(|entry| entry.group.as_deref() == Some(of)).collect();
        // An undo of something in the group has already done its part of it.
        let own = |id: &EditId| in_group.iter().any(|entry| entry.id == *id);
        let settled = |entry: &HistoryEntry| !entry.undoes.is_empty() && entry.undoes.iter().all(own);
        let open = in_group.iter().filter(|entry| entry.is_in_effect() && !settled(entry));
        let ids: Vec<EditId> = open.map(|entry| entry.id).collect();
        if ids.is_empty() {
            return Err(EditError::NothingToUndo { group: Some(of.to_owned()) });
        }
        self.0.undo(&ids, group)
    }

    /// Returns the transactions of the journal, newest first.
    ///
    /// # Errors
    /// [`EditError::Journal`] if it cannot be read.
    pub(crate) fn history(&self) -> Result<Vec<HistoryEntry>, EditError> {
        self.0.history()
    }

    /// Returns the effect of the transaction `id` on each file, with the texts before and after if
    /// they are still available.
    ///
    /// # Errors
    /// [`EditError::UnknownEdit`], or [`EditError::Journal`] if the journal cannot be read.
    pub(crate) fn retrace(&self, id: EditId) -> Result<Vec<RetracedChange>, EditError> {
        retrace(&self.0.journal, &self.0.workspace, id)
    }

    /// Completes or reverses the transactions of processes that died in the middle. The cost is
    /// negligible if there are none.
    ///
    /// # Errors
    /// A transaction cannot be recovered now; it is tried again the next time.
    #[cfg(any(all(test, unix), feature = "fuzzing"))]
    pub(crate) fn recover(&self) -> Result<Vec<RecoveredTransaction>, EditError> {
        if !self.0.journal.exists() {
            return Ok(Vec::new());
        }
        let _held = self.acquire_locks()?;
        self.0.recover(&self.0.journal.entries()?)
    }

    fn acquire_locks(&self) -> Result<EditLockGuard<'_>, EditError> {
        self.0.lock_queue.acquire(&self.0.journal.prepare()?)
    }
}

// All of these run while the caller holds the lock.
impl TransactionManagerInner {
    fn commit(&self, plan: &EditPlan) -> Result<CommittedTransaction, EditError> {
        let entries = self.journal.entries()?;
        self.recover(&entries)?;
        let tree = WorkspaceTree::open(&self.workspace);
        let checked = check_plan(plan, tree.clone(), &self.guard, &self.limits)?;
        let PlanReport { files, created_dirs, removed_dirs } = report(&checked);
        let CheckedPlan { structure, puts, prunes, images, .. } = checked;
        if structure.is_empty() && puts.is_empty() && prunes.is_empty() {
            return Ok(CommittedTransaction { id: None, files, created_dirs, removed_dirs });
        }
        let record = TransactionRecord {
            version: TRANSACTION_FORMAT_VERSION,
            id: self.journal.next_id(&entries)?,
            title: plan.title.clone(),
            group: plan.group.clone(),
            time_ms: now_ms(),
            undoes: plan.undoes.clone(),
            structure,
            puts,
            prunes,
            summary: summarize_changes(&files),
        };
        let entry = self.journal.begin(&record, &images.contents)?;
        let mut folders = FolderHandleCache::new(tree);
        if let Err(failure) = apply(&mut folders, &record, &self.limits) {
            return Err(self.roll_back_failed(&mut folders, &record, &entry, failure));
        }
        let entry = match self.journal.mark_done(entry.clone()) {
            Ok(entry) => entry,
            Err(error) => {
                let failure = EditStepFailure { place: PathBuf::new(), obstacle: Obstacle::Changed };
                self.roll_back_failed(&mut folders, &record, &entry, failure);
                return Err(error);
            }
        };
        // The transaction is committed: a cleanup that fails now is repeated before the next
        // transaction.
        if let Err(error) = self.finish_transaction(&mut folders, &record, entry, images.length) {
            tracing::warn!("after the edit {}: {error}", record.id);
        }
        Ok(CommittedTransaction { id: Some(record.id), files, created_dirs, removed_dirs })
    }

    fn finish_transaction(
        &self,
        folders: &mut FolderHandleCache,
        record: &TransactionRecord,
        entry: JournalEntry,
        bytes: u64,
    ) -> Result<(), EditError> {
        remove_leftovers(folders, record)
            .map_err(|(place, errno)| failed_at(path_of(place).display(), errno))?;
        self.journal.mark_tidy(entry)?;
        if record.id.0.is_multiple_of(TRANSACTIONS_PER_JOURNAL_PRUNE) || bytes >= PRUNE_BYTES {
            self.journal.prune(&self.limits)?;
        }
        Ok(())
    }

    /// Restores the state before the transaction; returns the error with the reason.
    fn roll_back_failed(
        &self,
        folders: &mut FolderHandleCache,
        record: &TransactionRecord,
        entry: &JournalEntry,
        failure: EditStepFailure,
    ) -> EditError {
        let back = roll_back(folders, record, &|image| self.journal.read_image(entry, image));
        let path = path_of(failure.place.clone());
        if let Err((place, obstacle)) = back {
            let reason = match failure.obstacle {
                Obstacle::Changed => "it was changed at the same time".to_owned(),
                Obstacle::System(errno) => errno.to_string(),
            };
            let obstacle = format!("`{}`: {obstacle}", path_of(place).display());
            return EditError::Unfinished { path: path.display(), reason, obstacle };
        }
        if let Err(error) = self.journal.remove_entry(entry) {
            return error;
        }
        match failure.obstacle {
            Obstacle::System(errno) => failed_at(path.display(), errno),
            Obstacle::Changed => {
                let found = self.finding_at(folders, &failure);
                EditError::Conflict(vec![Conflict { path, expected: ConflictExpectation::Unchanged, found }])
            }
        }
    }

    fn finding_at(&self, folders: &mut FolderHandleCache, failure: &EditStepFailure) -> ConflictFinding {
        let seen = folders
            .folder_of(&failure.place)
            .and_then(|(folder, name)| inspect_object(&folder, name, self.limits.file_bytes));
        match seen {
            Ok(SeenObject::Absent) => ConflictFinding::Absent,
            Ok(SeenObject::File(file)) => file.content.map_or(ConflictFinding::Other, |content| {
                ConflictFinding::File { hash: content.hash, text: text::text_of(&content.bytes) }
            }),
            _ => ConflictFinding::Other,
        }
    }

    fn recover(&self, entries: &[JournalEntry]) -> Result<Vec<RecoveredTransaction>, EditError> {
        let mut recovered = Vec::new();
        // The newest comes first: it was made on the result of those before it.
        for entry in entries.iter().rev().filter(|entry| entry.progress != JournalProgress::Tidy) {
            match self.journal.read_record(entry) {
                Ok(record) => recovered.push(self.recover_one(entry, &record)?),
                Err(error) => {
                    tracing::error!("the interrupted edit {} is kept for inspection: {error}", entry.id);
                    self.journal.quarantine(entry)?;
                }
            }
        }
        Ok(recovered)
    }

    fn recover_one(
        &self,
        entry: &JournalEntry,
        record: &TransactionRecord,
    ) -> Result<RecoveredTransaction, EditError> {
        let mut folders = FolderHandleCache::new(WorkspaceTree::open(&self.workspace));
        let id = record.id;
        if entry.progress == JournalProgress::Done {
            self.finish_transaction(&mut folders, record, entry.clone(), 0)?;
            tracing::info!("the interrupted edit {id} was finished");
            return Ok(RecoveredTransaction { id, finished: true, left_alone: Vec::new() });
        }
        let back = roll_back(&mut folders, record, &|image| self.journal.read_image(entry, image));
        let left_alone = back.map_err(|(place, reason)| EditError::Unfinished {
            path: path_of(place).display(),
            reason: format!("the edit {id} was interrupted"),
            obstacle: reason,
        })?;
        self.journal.remove_entry(entry)?;
        tracing::info!("the interrupted edit {id} was rolled back");
        Ok(RecoveredTransaction {
            id,
            finished: false,
            left_alone: left_alone.into_iter().map(path_of).collect(),
        })
    }

    /// Undoes the transactions `ids`, newest first.
    fn undo(&self, ids: &[EditId], group: Option<&str>) -> Result<CommittedTransaction, EditError> {
        self.recover(&self.journal.entries()?)?;
        let entries = self.journal.entries()?;
        let history = self.history()?;
        let mut plan = EditPlan::new(undo::title(ids)).in_group(group);
        for id in ids {
            let unknown = || EditError::UnknownEdit { id: *id };
            let entry = entries.iter().find(|entry| entry.id == *id).ok_or_else(unknown)?;
            let record = history.iter().find(|entry| entry.id == *id).ok_or_else(unknown)?;
            if let Some(by) = record.undone_by {
                return Err(EditError::AlreadyUndone { id: *id, by });
            }
            undo::add_inverse(&mut plan, &self.journal, entry, &self.journal.read_record(entry)?)?;
        }
        self.commit(&plan).map_err(|error| match error {
            EditError::Conflict(found) => EditError::UndoConflict(found),
            error => error,
        })
    }

    fn history(&self) -> Result<Vec<HistoryEntry>, EditError> {
        let mut history = Vec::new();
        for entry in
            self.journal.entries()?.iter().rev().filter(|entry| entry.progress != JournalProgress::Begun)
        {
            // An unreadable record does not prevent the undo of the others.
            let record = match self.journal.read_record(entry) {
                Ok(record) => record,
                Err(error) => {
                    tracing::warn!("the edit {} can no longer be undone: {error}", entry.id);
                    continue;
                }
            };
            history.push(HistoryEntry {
                id: record.id,
                title: record.title,
                group: record.group,
                time: UNIX_EPOCH + Duration::from_millis(record.time_ms),
                files: record
                    .summary
                    .into_iter()
                    .map(super::history::record::FileChangeSummary::into_operation)
                    .collect(),
                undoes: record.undoes,
                undone_by: None,
            });
        }
        undo::mark_undone(&mut history);
        Ok(history)
    }
}

impl HistoryEntry {
    /// Returns true if the transaction has not been undone.
    pub(crate) fn is_in_effect(&self) -> bool {
        self.undone_by.is_none()
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
