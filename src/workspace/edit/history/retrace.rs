//! The texts before and after a past transaction, as far as the journal and the disk still have
//! them.

use std::path::Path;

use super::journal::{Journal, JournalEntry, JournalProgress};
use super::record::{
    LeafKind, RemovedItem, StoredContentRange, StructureStep, SummaryOperation, TransactionRecord,
    join_relative,
};
use crate::workspace::edit::report::path_of;
use crate::workspace::edit::{ContentHash, EditError, EditId, FileOperation};
use crate::workspace::{Workspace, WorkspacePath};

/// The largest content that is shown, in bytes.
const MAX_RETRACED_BYTES: u64 = 1 << 20;
/// The maximum number of files shown of a transaction.
const MAX_RETRACED_FILES: usize = 50;
/// The maximum number of later transactions that are searched for the text after.
const MAX_LATER_TRANSACTIONS: usize = 200;

/// The effect of a transaction on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RetracedChange {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The operation on the file.
    pub(crate) operation: FileOperation,
    /// Its texts before and after, `None` for a side without a file; or the reason why they are not
    /// available, in one phrase.
    pub(crate) texts: Result<(Option<String>, Option<String>), &'static str>,
}

const LARGE: &str = "the file is too large to show";
const NOT_TEXT: &str = "it is not text";
const CHANGED: &str = "another program has changed the file since";
const SAME: &str = "its content stayed as it was";

/// Returns the effects of the transaction `id`, file by file.
///
/// # Errors
/// The journal does not know the transaction, or cannot be read.
pub(crate) fn retrace(
    journal: &Journal,
    workspace: &Workspace,
    id: EditId,
) -> Result<Vec<RetracedChange>, EditError> {
    let entries = journal.entries()?;
    let known = |entry: &&JournalEntry| entry.id == id && entry.progress != JournalProgress::Begun;
    let entry = entries.iter().find(known).ok_or(EditError::UnknownEdit { id })?;
    let record = journal.read_record(entry)?;
    let later = entries.iter().filter(|later| later.id > id && later.progress != JournalProgress::Begun);
    let later = later.take(MAX_LATER_TRANSACTIONS);
    let later: Vec<_> = later.filter_map(|entry| Some((entry, journal.read_record(entry).ok()?))).collect();
    let files = Retracer { journal, workspace, entry, record: &record, later };
    let changes = record.summary.iter().take(MAX_RETRACED_FILES).map(|file| {
        let operation = file.clone().into_operation().1;
        let texts = files.texts(&file.path, &file.operation);
        RetracedChange { path: path_of(file.path.clone()), operation, texts }
    });
    Ok(changes.collect())
}

struct Retracer<'a> {
    journal: &'a Journal,
    workspace: &'a Workspace,
    entry: &'a JournalEntry,
    record: &'a TransactionRecord,
    later: Vec<(&'a JournalEntry, TransactionRecord)>,
}

impl Retracer<'_> {
    fn texts(
        &self,
        path: &Path,
        operation: &SummaryOperation,
    ) -> Result<(Option<String>, Option<String>), &'static str> {
        if matches!(operation, SummaryOperation::Deleted) {
            let image = removed_image(self.record, path).ok_or(NOT_TEXT)?;
            return Ok((Some(self.image(self.entry, &image)?), None));
        }
        let put = self.record.puts.iter().find(|put| put.path == path).ok_or(SAME)?;
        let before = put.before.as_ref().map(|before| self.image(self.entry, &before.image)).transpose()?;
        Ok((before, Some(self.after(path, put.after)?)))
    }

    /// Returns the content with this hash: the one that the next transaction of the file replaced,
    /// else the one on disk.
    fn after(&self, path: &Path, hash: ContentHash) -> Result<String, &'static str> {
        for (entry, record) in &self.later {
            let replaced = record.puts.iter().find(|put| put.path == path);
            let replaced = replaced.and_then(|put| put.before.as_ref()).map(|before| before.image);
            if let Some(image) =
                replaced.or_else(|| removed_image(record, path)).filter(|image| image.hash == hash)
            {
                return self.image(entry, &image);
            }
        }
        let file = self.workspace.read_text_up_to(&path_of(path.to_owned()), MAX_RETRACED_BYTES);
        let file = file.map_err(|_| CHANGED)?;
        if file.content_hash() == hash { Ok(file.text) } else { Err(CHANGED) }
    }

    fn image(&self, entry: &JournalEntry, image: &StoredContentRange) -> Result<String, &'static str> {
        if image.length > MAX_RETRACED_BYTES {
            return Err(LARGE);
        }
        let bytes = self.journal.read_image(entry, image).map_err(|_| "the journal cannot be read")?;
        let text = String::from_utf8(bytes).map_err(|_| NOT_TEXT)?;
        Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
    }
}

/// Returns the content that was at `path` before `record` removed it.
fn removed_image(record: &TransactionRecord, path: &Path) -> Option<StoredContentRange> {
    record.structure.iter().find_map(|step| match step {
        StructureStep::Remove { path: place, what: RemovedItem::File { image, .. }, .. } if place == path => {
            Some(*image)
        }
        StructureStep::Remove { path: place, what: RemovedItem::Tree(leaves), .. } => {
            leaves.iter().find_map(|leaf| match &leaf.what {
                LeafKind::File { image, .. } if join_relative(place, &leaf.path) == path => Some(*image),
                _ => None,
            })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::edit::{EditOptions, EditPlan, PathPrecondition, TransactionManager};

    #[test]
    fn retraced_edit_has_its_texts_until_the_file_is_changed_by_something_else() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("work");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let edits = TransactionManager::new(workspace.clone(), EditOptions::new(temp.path().join("state")));
        let path = workspace.path(Path::new("a.txt")).unwrap();
        let write = |text: &str| {
            let mut plan = EditPlan::new("write");
            plan.write(&path, text.as_bytes(), PathPrecondition::Any);
            edits.commit(&plan).unwrap().id.unwrap()
        };
        let (first, second) = (write("two\n"), write("three\n"));
        let texts = |id| edits.retrace(id).unwrap().remove(0).texts;
        let two = |before: &str, after: &str| Ok((Some(before.to_owned()), Some(after.to_owned())));
        assert_eq!(texts(first), two("one\n", "two\n"));
        assert_eq!(texts(second), two("two\n", "three\n"));
        let mut plan = EditPlan::new("delete");
        plan.delete(&path, PathPrecondition::Any);
        let gone = edits.commit(&plan).unwrap().id.unwrap();
        assert_eq!(texts(gone), Ok((Some("three\n".to_owned()), None)));
        assert_eq!(texts(second), two("two\n", "three\n"));
        let made = write("four\n");
        assert_eq!(texts(made), Ok((None, Some("four\n".to_owned()))));
        std::fs::write(root.join("a.txt"), "by hand\n").unwrap();
        assert_eq!(texts(made), Err(CHANGED));
    }
}
