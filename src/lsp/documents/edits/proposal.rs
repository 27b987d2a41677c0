//! LSP 3.17 *WorkspaceEdit*, converted to the old and the new text of each file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ProposalError;
use super::text_edits;
use crate::lsp::model::FileRef;
use crate::lsp::session::decode::elements;
use crate::lsp::session::live_session::Session;
use crate::lsp::uri;
use crate::text::Buffer;
use crate::workspace::{ReadError, WorkspacePath};

/// One file of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedFile {
    /// The file; its new name if it is renamed.
    pub(crate) path: WorkspacePath,
    /// Its former name, if it is renamed.
    pub(crate) renamed_from: Option<WorkspacePath>,
    /// The text that the edit was computed for; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// The new text; `None` if the file is deleted.
    pub(crate) after: Option<String>,
}

/// A change of a folder with all its content, after the changes of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProposedFolderChange {
    /// Moves the folder to a path where nothing is.
    Rename { from: WorkspacePath, to: WorkspacePath },
    /// Deletes the folder; one with content only if `recursive`.
    Delete { path: WorkspacePath, recursive: bool },
}

/// The proposal of a server: all of it is to be done, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// By path; files that would not change are left out. A file in a folder that moves has its
    /// path before the move.
    pub(crate) files: Vec<ProposedFile>,
    /// The changes of folders, in their order.
    pub(crate) folders: Vec<ProposedFolderChange>,
    /// The command that the server would run after the edit, and that is not run.
    pub(crate) left_out: Option<String>,
}

impl Proposal {
    /// Returns true if nothing would change.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    /// The old and the new path of each file and folder that moves.
    pub(super) fn moves(&self) -> Vec<(WorkspacePath, WorkspacePath)> {
        let files =
            self.files.iter().filter_map(|file| Some((file.renamed_from.clone()?, file.path.clone())));
        let folders = self.folders.iter().filter_map(|change| match change {
            ProposedFolderChange::Rename { from, to } => Some((from.clone(), to.clone())),
            ProposedFolderChange::Delete { .. } => None,
        });
        files.chain(folders).collect()
    }

    /// Adds the changes of files and folders that this proposal does not change.
    pub(crate) fn extend_with_missing(&mut self, other: Self) {
        let is_known = |path: &WorkspacePath| {
            self.files.iter().any(|file| file.path == *path || file.renamed_from.as_ref() == Some(path))
        };
        let missing: Vec<ProposedFile> =
            other.files.into_iter().filter(|file| !is_known(&file.path)).collect();
        self.files.extend(missing);
        for change in other.folders {
            if !self.folders.contains(&change) {
                self.folders.push(change);
            }
        }
    }

    /// Adds the changes of another proposal.
    pub(crate) fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.folders.extend(other.folders);
    }
}

/// The files in their planned state, while an edit is read.
#[derive(Default)]
struct Draft {
    files: BTreeMap<WorkspacePath, DraftedFile>,
    folders: Vec<ProposedFolderChange>,
    /// The bytes of all edited texts; each edit of a text counts.
    edited: usize,
}

/// The maximum of [`Draft::edited`]: an answer that edits one large file again and again would keep
/// us busy without end.
const MAX_DRAFT_EDITED_BYTES: usize = 256 << 20;

impl Draft {
    /// The path of a file before the moves of folders in the draft, which are made last.
    fn path_before_moves(&self, path: WorkspacePath) -> WorkspacePath {
        self.folders.iter().rev().fold(path, |path, change| match change {
            ProposedFolderChange::Rename { from, to } => path.moved(to, from).unwrap_or(path),
            ProposedFolderChange::Delete { .. } => path,
        })
    }
}

#[derive(Clone)]
struct DraftedFile {
    renamed_from: Option<WorkspacePath>,
    before: Option<String>,
    after: Option<String>,
}

impl Session {
    /// Reads a *WorkspaceEdit* (or `null`: nothing to do).
    pub(super) async fn proposal_from_edit(&self, edit: &Value) -> Result<Proposal, ProposalError> {
        let mut draft = Draft::default();
        match edit["documentChanges"].as_array() {
            Some(changes) => {
                for change in changes {
                    self.draft_change(&mut draft, change).await?;
                }
            }
            None => {
                for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
                    self.draft_text(&mut draft, uri, None, edits).await?;
                }
            }
        }
        let files = draft.files.into_iter().map(|(path, drafted)| ProposedFile {
            path,
            renamed_from: drafted.renamed_from,
            before: drafted.before,
            after: drafted.after,
        });
        let changes = |file: &ProposedFile| file.before != file.after || file.renamed_from.is_some();
        Ok(Proposal { files: files.filter(changes).collect(), folders: draft.folders, left_out: None })
    }

    async fn draft_change(&self, draft: &mut Draft, change: &Value) -> Result<(), ProposalError> {
        let flag = |name: &str| change["options"][name] == true;
        match change["kind"].as_str() {
            None => {
                let document = &change["textDocument"];
                let uri =
                    document["uri"].as_str().ok_or_else(|| self.unusable_error("a change without a file"))?;
                self.draft_text(draft, uri, document["version"].as_i64(), &change["edits"]).await
            }
            Some("create") => {
                let path = draft.path_before_moves(self.editable_path(&change["uri"])?);
                let known = self.drafted_file(draft, &path).await?;
                match known.after {
                    Some(_) if flag("ignoreIfExists") && !flag("overwrite") => Ok(()),
                    Some(_) if !flag("overwrite") => {
                        Err(self
                            .unusable_error(&format!("it creates {}, which exists already", path.display())))
                    }
                    _ => {
                        draft.files.insert(path, DraftedFile { after: Some(String::new()), ..known });
                        Ok(())
                    }
                }
            }
            Some("rename") => {
                let from = draft.path_before_moves(self.editable_path(&change["oldUri"])?);
                let to = self.editable_path(&change["newUri"])?;
                if self.is_folder(draft, &from) {
                    return self.draft_folder_rename(draft, from, to, flag("ignoreIfExists"));
                }
                let to = draft.path_before_moves(to);
                self.draft_rename(draft, from, to, flag("overwrite"), flag("ignoreIfExists")).await
            }
            Some("delete") => {
                let path = draft.path_before_moves(self.editable_path(&change["uri"])?);
                if self.is_folder(draft, &path) {
                    draft.files.retain(|file, _| !file.starts_with(&path));
                    draft.folders.push(ProposedFolderChange::Delete { path, recursive: flag("recursive") });
                    return Ok(());
                }
                let known = self.drafted_file(draft, &path).await?;
                if known.after.is_none() && !flag("ignoreIfNotExists") {
                    return Err(
                        self.unusable_error(&format!("it deletes {}, which does not exist", path.display()))
                    );
                }
                draft.files.insert(path, DraftedFile { after: None, ..known });
                Ok(())
            }
            Some(other) => Err(self.unusable_error(&format!("a change of the unknown kind {other:?}"))),
        }
    }

    /// Returns true if a folder is at `path`, and no draft of a file.
    fn is_folder(&self, draft: &Draft, path: &WorkspacePath) -> bool {
        !draft.files.contains_key(path) && self.workspace.absolute(path).is_dir()
    }

    fn draft_folder_rename(
        &self,
        draft: &mut Draft,
        from: WorkspacePath,
        to: WorkspacePath,
        ignore: bool,
    ) -> Result<(), ProposalError> {
        let is_taken = draft.files.contains_key(&to) || self.workspace.absolute(&to).exists();
        if is_taken && !ignore {
            return Err(self.unusable_error(&format!("it renames {} over {}", from.display(), to.display())));
        }
        if !is_taken {
            draft.folders.push(ProposedFolderChange::Rename { from, to });
        }
        Ok(())
    }

    async fn draft_rename(
        &self,
        draft: &mut Draft,
        from: WorkspacePath,
        to: WorkspacePath,
        overwrite: bool,
        ignore: bool,
    ) -> Result<(), ProposalError> {
        let source = self.drafted_file(draft, &from).await?;
        let target = self.drafted_file(draft, &to).await?;
        let text = source.after.clone().ok_or_else(|| {
            self.unusable_error(&format!("it renames {}, which does not exist", from.display()))
        })?;
        if target.after.is_some() && !overwrite {
            if ignore {
                return Ok(());
            }
            return Err(self.unusable_error(&format!("it renames {} over {}", from.display(), to.display())));
        }
        let origin = source.renamed_from.clone().unwrap_or_else(|| from.clone());
        draft.files.remove(&from);
        let renamed = DraftedFile {
            renamed_from: (origin != to).then_some(origin),
            before: source.before,
            after: Some(text),
        };
        draft.files.insert(to, renamed);
        Ok(())
    }

    async fn draft_text(
        &self,
        draft: &mut Draft,
        uri: &str,
        version: Option<i64>,
        edits: &Value,
    ) -> Result<(), ProposalError> {
        let path = draft.path_before_moves(self.editable_path(&Value::String(uri.to_owned()))?);
        if let Some(version) = version
            && !draft.files.contains_key(&path)
            && self.documents.contains(&path)
        {
            let (_, snapshot) = self.sync(&path).await?;
            if i64::from(snapshot.version) != version {
                return Err(ProposalError::Stale { server: self.server().to_owned(), path: path.display() });
            }
        }
        let known = self.drafted_file(draft, &path).await?;
        let text = known.after.clone().ok_or_else(|| {
            self.unusable_error(&format!("it changes {}, which does not exist", path.display()))
        })?;
        let edits: Vec<Value> = elements(edits).cloned().collect();
        let after = text_edits::apply(&Buffer::new(&text), &edits, self.capabilities.encoding)
            .map_err(|error| self.unusable_error(&format!("{}: {error}", path.display())))?;
        draft.edited = draft.edited.saturating_add(text.len().max(after.len()));
        if draft.edited > MAX_DRAFT_EDITED_BYTES {
            return Err(
                self.unusable_error(&format!("it edits more than {MAX_DRAFT_EDITED_BYTES} bytes of text"))
            );
        }
        draft.files.insert(path, DraftedFile { after: Some(after), ..known });
        Ok(())
    }

    /// Returns the draft of `path` so far; read from the server's text if it has one, else from
    /// disk.
    async fn drafted_file(&self, draft: &Draft, path: &WorkspacePath) -> Result<DraftedFile, ProposalError> {
        if let Some(known) = draft.files.get(path) {
            return Ok(known.clone());
        }
        if draft.files.values().any(|drafted| drafted.renamed_from.as_ref() == Some(path)) {
            return Ok(DraftedFile { renamed_from: None, before: None, after: None });
        }
        let text = match self.documents.contains(path) {
            true => self.sync(path).await.map(|(_, snapshot)| snapshot.buffer.to_string()),
            false => self.workspace.read_text_up_to(path, self.limits.max_file_bytes).map(|file| file.text),
        };
        let text = match text {
            Ok(text) => Some(text),
            Err(ReadError::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(DraftedFile { renamed_from: None, before: text.clone(), after: text })
    }

    fn editable_path(&self, uri: &Value) -> Result<WorkspacePath, ProposalError> {
        let uri = uri.as_str().ok_or_else(|| self.unusable_error("a change without a file"))?;
        let outside = |place: String| ProposalError::Outside { server: self.server().to_owned(), place };
        match uri::file_ref(&self.workspace, uri) {
            FileRef::Inside(path) => Ok(path),
            FileRef::Outside(path) => Err(outside(path.display().to_string())),
            FileRef::Virtual(uri) => Err(outside(uri)),
        }
    }

    pub(super) fn unusable_error(&self, what: &str) -> ProposalError {
        ProposalError::Unusable { server: self.server().to_owned(), what: what.to_owned() }
    }
}
