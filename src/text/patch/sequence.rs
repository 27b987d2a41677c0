//! Application of all files of a patch, in git's order.
//!
//! A file that is modified twice is modified in sequence: the second section applies to the result
//! of the first one, as with `git apply`. Renames and copies take the text from before the patch,
//! so that a file can be changed and copied, or two files swap their names, in one patch.

use std::collections::{HashMap, HashSet};

use super::{
    AppliedHunk, ApplyError, ApplyOptions, FileMode, FilePatch, FilePatchOperation, Patch, PatchPath, apply,
};

/// The result of a patch of several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchSequenceOutcome {
    /// The result for each file that the patch names, one entry per [`PatchPath::clean`], in the
    /// order of first mention.
    pub files: Vec<FileOutcome>,
    /// The positions of the hunks: per section of [`Patch::files`], in its order.
    pub(crate) hunks: Vec<Vec<AppliedHunk>>,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOutcome {
    /// The file.
    pub path: PatchPath,
    /// Its text afterwards; `None` if it is deleted.
    pub text: Option<String>,
    /// The new mode; `None` if it keeps the mode of `origin`, or its own.
    pub mode: Option<FileMode>,
    /// The file that it is a copy of, or its former name.
    pub origin: Option<PatchPath>,
}

/// The reasons why a patch of several files was not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SequenceError<E> {
    /// The text of a file could not be read.
    #[error("{0}")]
    Read(E),
    /// Sections do not fit their files: every such section, not only the first.
    #[error("{}", format_failures(.0))]
    Sections(Vec<SectionFailure>),
}

/// A section of a patch that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionFailure {
    /// Its 0-based number in [`Patch::files`].
    pub(crate) section: usize,
    /// The file of the section.
    pub(crate) path: PatchPath,
    /// The reason.
    pub(crate) error: SectionError,
}

/// The reasons why one section was not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SectionError {
    /// Its hunks do not fit.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The file does not exist.
    #[error("the file does not exist; correct the path, or create it with `--- /dev/null`")]
    Missing,
    /// The file exists already.
    #[error("the file exists already; modify it, or choose another name")]
    Exists,
}

/// Applies all sections of `patch`, or none. `read` returns the present text of a file, `None` if
/// there is none; it is called once per file.
///
/// # Errors
/// [`SequenceError::Read`] as soon as `read` fails; [`SequenceError::Sections`] with every section
/// that does not fit.
pub(crate) fn apply_all<E>(
    patch: &Patch,
    options: ApplyOptions,
    read: impl FnMut(&PatchPath) -> Result<Option<String>, E>,
) -> Result<PatchSequenceOutcome, SequenceError<E>> {
    let mut files = PatchedFiles { read, before: HashMap::new(), after: HashMap::new(), order: Vec::new() };
    let leaving = removed_paths(patch);
    let (mut hunks, mut failures) = (Vec::with_capacity(patch.files.len()), Vec::new());
    for (section, file) in patch.files.iter().enumerate() {
        match files.apply_section(file, options, &leaving).map_err(SequenceError::Read)? {
            Ok(applied) => hunks.push(applied),
            Err((path, error)) => failures.push(SectionFailure { section, path, error }),
        }
    }
    if failures.is_empty() { Ok(files.into_outcome(hunks)) } else { Err(SequenceError::Sections(failures)) }
}

/// The names that some section frees, so that another may use them.
fn removed_paths(patch: &Patch) -> HashSet<&str> {
    let leaves = |file: &'_ FilePatch| {
        matches!(file.operation, FilePatchOperation::Delete { .. } | FilePatchOperation::Rename { .. })
    };
    patch
        .files
        .iter()
        .filter(|file| leaves(file))
        .filter_map(FilePatch::old_path)
        .map(|path| path.clean.as_str())
        .collect()
}

struct PatchedFiles<R> {
    read: R,
    /// The texts before the patch that were read so far.
    before: HashMap<String, Option<String>>,
    after: HashMap<String, (FileOutcome, FileTextOrigin)>,
    order: Vec<String>,
}

/// The origin of a file's current text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileTextOrigin {
    /// The file of this name.
    Itself,
    /// Another file, or the patch alone.
    Elsewhere,
}

type PatchSectionResult<E> = Result<Result<Vec<AppliedHunk>, (PatchPath, SectionError)>, E>;

impl<E, R: FnMut(&PatchPath) -> Result<Option<String>, E>> PatchedFiles<R> {
    fn apply_section(
        &mut self,
        file: &FilePatch,
        options: ApplyOptions,
        leaving: &HashSet<&str>,
    ) -> PatchSectionResult<E> {
        let target = match &file.operation {
            FilePatchOperation::Create { path }
            | FilePatchOperation::Rename { to: path, .. }
            | FilePatchOperation::Copy { to: path, .. } => Some(path),
            FilePatchOperation::Modify { .. } | FilePatchOperation::Delete { .. } => None,
        };
        if let Some(path) = target
            && self.current_text(path)?.is_some()
            && !leaving.contains(path.clean.as_str())
        {
            return Ok(Err((path.clone(), SectionError::Exists)));
        }
        let old = match &file.operation {
            FilePatchOperation::Create { .. } => Some(String::new()),
            FilePatchOperation::Modify { path } if file.may_create() => {
                Some(self.current_text(path)?.unwrap_or_default())
            }
            FilePatchOperation::Modify { path } | FilePatchOperation::Delete { path } => {
                self.current_text(path)?
            }
            FilePatchOperation::Rename { from, .. } | FilePatchOperation::Copy { from, .. } => {
                self.original_text(from)?
            }
        };
        let named = || file.old_path().or(file.new_path()).cloned();
        let Some(old) = old else {
            return Ok(named().map_or(Ok(Vec::new()), |path| Err((path, SectionError::Missing))));
        };
        Ok(match apply(file, &old, options) {
            Ok(applied) => {
                self.record_outcome(file, applied.text);
                Ok(applied.hunks)
            }
            Err(error) => named().map_or(Ok(Vec::new()), |path| Err((path, error.into()))),
        })
    }

    /// The text before the patch.
    fn original_text(&mut self, path: &PatchPath) -> Result<Option<String>, E> {
        if let Some(known) = self.before.get(&path.clean) {
            return Ok(known.clone());
        }
        let text = (self.read)(path)?;
        self.before.insert(path.clean.clone(), text.clone());
        Ok(text)
    }

    /// The text after the sections so far.
    fn current_text(&mut self, path: &PatchPath) -> Result<Option<String>, E> {
        match self.after.get(&path.clean) {
            Some((outcome, _)) => Ok(outcome.text.clone()),
            None => self.original_text(path),
        }
    }

    fn record_outcome(&mut self, file: &FilePatch, text: String) {
        let mode = file.new_mode;
        match &file.operation {
            FilePatchOperation::Modify { path } => {
                let earlier = self.after.get(&path.clean).map(|(outcome, origin)| (outcome.clone(), *origin));
                let (mut outcome, origin) = earlier.unwrap_or_else(|| {
                    (
                        FileOutcome { path: path.clone(), text: None, mode: None, origin: None },
                        FileTextOrigin::Itself,
                    )
                });
                (outcome.text, outcome.mode) = (Some(text), mode.or(outcome.mode));
                self.put_outcome(outcome, origin);
            }
            FilePatchOperation::Create { path } => {
                self.put_outcome(
                    FileOutcome { path: path.clone(), text: Some(text), mode, origin: None },
                    FileTextOrigin::Elsewhere,
                );
            }
            FilePatchOperation::Delete { path } => self.record_removed(path),
            FilePatchOperation::Rename { from, to } | FilePatchOperation::Copy { from, to } => {
                // A file that another section has put there under this name stays: two files swap
                // their names.
                let replaced = self
                    .after
                    .get(&from.clean)
                    .is_some_and(|(_, origin)| *origin == FileTextOrigin::Elsewhere);
                if matches!(file.operation, FilePatchOperation::Rename { .. }) && !replaced {
                    self.record_removed(from);
                }
                let origin = Some(from.clone());
                self.put_outcome(
                    FileOutcome { path: to.clone(), text: Some(text), mode, origin },
                    FileTextOrigin::Elsewhere,
                );
            }
        }
    }

    fn record_removed(&mut self, path: &PatchPath) {
        self.put_outcome(
            FileOutcome { path: path.clone(), text: None, mode: None, origin: None },
            FileTextOrigin::Itself,
        );
    }

    fn put_outcome(&mut self, outcome: FileOutcome, origin: FileTextOrigin) {
        let key = outcome.path.clean.clone();
        if self.after.insert(key.clone(), (outcome, origin)).is_none() {
            self.order.push(key);
        }
    }

    fn into_outcome(mut self, hunks: Vec<Vec<AppliedHunk>>) -> PatchSequenceOutcome {
        let order = std::mem::take(&mut self.order);
        let files =
            order.iter().filter_map(|key| self.after.remove(key)).map(|(outcome, _)| outcome).collect();
        PatchSequenceOutcome { files, hunks }
    }
}

fn format_failures(failures: &[SectionFailure]) -> String {
    const MAX_REPORTED_PATCH_FAILURES: usize = 20;
    let mut lines: Vec<String> = failures
        .iter()
        .take(MAX_REPORTED_PATCH_FAILURES)
        .map(|failure| format!("{}: {}", failure.path.clean.escape_debug(), failure.error))
        .collect();
    if let Some(more) = failures.len().checked_sub(MAX_REPORTED_PATCH_FAILURES).filter(|more| *more > 0) {
        lines.push(format!("and {more} more files"));
    }
    lines.join("\n")
}
