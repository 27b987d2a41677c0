//! The inverse plan of a transaction. It is executed like any other: checked, journaled, all or
//! nothing.

use std::path::Path;
use std::sync::Arc;

use super::journal::{Journal, JournalEntry};
use super::record::{
    ContentWrite, LeafKind, RemovedItem, StoredContentRange, StructureStep, TransactionRecord, join_relative,
};
use crate::workspace::edit::plan::{ModeChange, PlanOperation};
use crate::workspace::edit::report::path_of;
use crate::workspace::edit::{EditError, EditId, EditPlan, HistoryEntry, PathPrecondition};

/// Adds the inverse of `entry` to `plan`.
pub(crate) fn add_inverse(
    plan: &mut EditPlan,
    journal: &Journal,
    entry: &JournalEntry,
    record: &TransactionRecord,
) -> Result<(), EditError> {
    let inverse = InversePlanBuilder { journal, entry };
    for path in record.prunes.iter().rev() {
        plan.create_dir(&path_of(path.clone()));
    }
    for put in record.puts.iter().rev() {
        inverse.invert_write(plan, put)?;
    }
    for step in record.structure.iter().rev() {
        inverse.invert_step(plan, step)?;
    }
    plan.undoes.push(record.id);
    Ok(())
}

struct InversePlanBuilder<'a> {
    journal: &'a Journal,
    entry: &'a JournalEntry,
}

impl InversePlanBuilder<'_> {
    fn invert_write(&self, plan: &mut EditPlan, put: &ContentWrite) -> Result<(), EditError> {
        let path = path_of(put.path.clone());
        let expected = PathPrecondition::Hash(put.after);
        let Some(before) = &put.before else {
            plan.delete(&path, expected);
            return Ok(());
        };
        let now = put.metadata.as_ref().map_or(before.metadata.mode, |metadata| metadata.mode);
        // A mode that was changed since stays, unless the transaction had changed it.
        let mode = match before.metadata.mode {
            mode if mode == now => ModeChange::Keep,
            mode => ModeChange::Exactly(mode),
        };
        plan.push(PlanOperation::Write { path, content: self.read_content(&before.image)?, expected, mode });
        Ok(())
    }

    fn invert_step(&self, plan: &mut EditPlan, step: &StructureStep) -> Result<(), EditError> {
        match step {
            StructureStep::MakeDir { path, .. } => {
                plan.push(PlanOperation::Prune { path: path_of(path.clone()) });
            }
            StructureStep::MakeLink { path, .. } => {
                plan.delete(&path_of(path.clone()), PathPrecondition::Any);
            }
            StructureStep::Move { from, to, hash, .. } => {
                let expected = hash.map_or(PathPrecondition::Any, PathPrecondition::Hash);
                plan.rename(&path_of(to.clone()), &path_of(from.clone()), expected, false);
            }
            StructureStep::Remove { path, what, .. } => self.restore_removed(plan, path, what)?,
        }
        Ok(())
    }

    fn restore_removed(
        &self,
        plan: &mut EditPlan,
        place: &Path,
        what: &RemovedItem,
    ) -> Result<(), EditError> {
        let path = path_of(place.to_owned());
        match what {
            RemovedItem::Emptied => {
                plan.create_dir(&path);
            }
            RemovedItem::Link(target) => {
                plan.push(PlanOperation::RestoreLink { path, target: target.clone() });
            }
            RemovedItem::File { image, metadata } => {
                let (content, metadata) = (self.read_content(image)?, metadata.clone());
                plan.push(PlanOperation::Restore { path, content, metadata });
            }
            RemovedItem::Tree(leaves) => {
                for leaf in leaves {
                    let path = path_of(join_relative(place, &leaf.path));
                    plan.push(match &leaf.what {
                        LeafKind::Directory { mode } => PlanOperation::CreateDir { path, mode: Some(*mode) },
                        LeafKind::Link(target) => PlanOperation::RestoreLink { path, target: target.clone() },
                        LeafKind::File { image, metadata } => {
                            let (content, metadata) = (self.read_content(image)?, metadata.clone());
                            PlanOperation::Restore { path, content, metadata }
                        }
                    });
                }
            }
        }
        Ok(())
    }

    fn read_content(&self, image: &StoredContentRange) -> Result<Arc<[u8]>, EditError> {
        self.journal.read_image(self.entry, image).map(Arc::from)
    }
}

/// Fills in, for each of `entries` (newest first), the transaction that undid it and is still in
/// effect.
pub(crate) fn mark_undone(entries: &mut [HistoryEntry]) {
    for index in 0..entries.len() {
        // Newer ones come first, so whether this one still counts is already known.
        if entries[index].undone_by.is_some() {
            continue;
        }
        let (by, undoes) = (entries[index].id, entries[index].undoes.clone());
        for entry in &mut entries[index + 1..] {
            if undoes.contains(&entry.id) {
                entry.undone_by = Some(by);
            }
        }
    }
}

/// The title of an undo in the history.
pub(crate) fn title(ids: &[EditId]) -> String {
    let ids: Vec<String> = ids.iter().map(EditId::to_string).collect();
    format!("undo {}", ids.join(" "))
}
