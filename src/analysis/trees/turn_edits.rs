//! The edits of an agent's turn: the difference between the files at its start and now.
//!
//! The state at the start is kept in the user's state folder: the commit of `HEAD`, and the texts
//! of the files that differ from it. Nothing is written to the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::changes::compared_texts::ComparedTexts;
use super::git_access::{OpenRepository, from_git_error};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::{from_state_error, run_blocking};
use crate::config::{StateFolder, StateName};
use crate::process::git::revision::{ComparedTree, Comparison, commit};
use crate::process::git::shadow::GitDeadline;
use crate::text::hex;
use crate::workspace::WorkspacePath;

/// The most turns of one workspace that are kept; a further one replaces the oldest.
const MAX_KEPT_TURNS: usize = 8;
/// The largest kept state of a turn, in bytes.
const MAX_TURN_BYTES: u64 = 16 << 20;
/// The timeout of each git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The files at the start of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TurnStart {
    /// The commit of `HEAD`.
    head: String,
    /// The texts of files that differ from it, by their paths; `None` for a deleted file.
    texts: BTreeMap<String, Option<String>>,
    /// Files that differ from it, and cannot be read as text.
    unread: BTreeSet<String>,
}

/// A turn of an agent's session.
#[derive(Debug)]
pub(crate) struct AgentTurn<'a> {
    context: &'a Context,
    folder: StateFolder,
    /// The end of its file's name, after the time of its start.
    session: String,
}

impl<'a> AgentTurn<'a> {
    /// The present turn of the session `id`.
    pub(crate) fn of_session(context: &'a Context, id: &str) -> Self {
        let root = context.workspace.root();
        let folder = StateFolder::of_workspace(&context.folders, "turns", root, "the starts of turns");
        Self { context, folder, session: format!("-{}", hex(&Sha256::digest(id)[..8])) }
    }

    /// Keeps the present state of the files as that at the start of the turn.
    ///
    /// # Errors
    /// Without a git repository or a commit, and if the state is too large.
    pub(crate) async fn begin(&self) -> Result<(), ToolError> {
        // The errors since an earlier start would not be those of this turn.
        self.forget().await?;
        let opened = self.open().await?;
        let head = commit(&opened.shadow, &opened.repository, "HEAD").await.map_err(from_git_error)?;
        let changed = self.changes_since(&opened, &head).await?;
        let unread = changed.unread.iter().filter_map(|(path, _)| key(path)).collect();
        let mut start = TurnStart { head, unread, ..TurnStart::default() };
        for edit in changed.edits {
            start.texts.extend(edit.renamed_from.as_ref().and_then(key).map(|from| (from, None)));
            start.texts.extend(key(&edit.path).map(|path| (path, edit.after)));
        }
        let content = serde_json::to_vec(&start).unwrap_or_default();
        if content.len() as u64 > MAX_TURN_BYTES {
            let what = format!("the changed files have more than {} MiB", MAX_TURN_BYTES >> 20);
            return Err(ToolError::new(ErrorCode::TooLarge, what));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let (folder, session) = (self.folder.clone(), self.session.clone());
        run_blocking(move || {
            let locked = folder.lock().map_err(from_state_error)?;
            let kept = folder.names().map_err(from_state_error)?;
            // The names begin with a time, so the oldest are first.
            let surplus = (kept.len() + 1).saturating_sub(MAX_KEPT_TURNS);
            for name in kept.iter().take(surplus) {
                locked.remove(name).map_err(from_state_error)?;
            }
            let name = StateName::new(&format!("{now:013}{session}"));
            name.map_or(Ok(()), |name| locked.write(&name, &content).map_err(from_state_error))
        })
        .await
    }

    /// The edits since the start of the turn; `None` if its start is unknown.
    ///
    /// # Errors
    /// If git fails, or has more differences than the limit.
    pub(crate) async fn edits(&self) -> Result<Option<Vec<EditedText>>, ToolError> {
        let (folder, session) = (self.folder.clone(), self.session.clone());
        let start = run_blocking(move || {
            let Some(name) = name_of(&folder, &session)? else { return Ok(None) };
            let content = folder.read(&name, MAX_TURN_BYTES).map_err(from_state_error)?;
            Ok(content.and_then(|content| serde_json::from_slice::<TurnStart>(&content).ok()))
        });
        let is_id = |start: &TurnStart| {
            !start.head.is_empty() && start.head.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let Some(start) = start.await?.filter(is_id) else { return Ok(None) };
        let opened = self.open().await?;
        let changed = self.changes_since(&opened, &start.head).await?;
        Ok(Some(self.edits_since(&start, changed.edits)))
    }

    /// Forgets the start of the turn; returns true if it was known.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub(crate) async fn forget(&self) -> Result<bool, ToolError> {
        let (folder, session) = (self.folder.clone(), self.session.clone());
        run_blocking(move || {
            let locked = folder.lock().map_err(from_state_error)?;
            let Some(name) = name_of(&folder, &session)? else { return Ok(false) };
            locked.remove(&name).map_err(from_state_error)
        })
        .await
    }

    async fn open(&self) -> Result<OpenRepository, ToolError> {
        OpenRepository::open(self.context, WorkspacePath::root(), GitDeadline::Each(GIT_TIMEOUT)).await
    }

    async fn changes_since(&self, opened: &OpenRepository, head: &str) -> Result<ComparedTexts, ToolError> {
        let comparison = Comparison { before: head.to_owned(), after: ComparedTree::WorkTree };
        let texts = ComparedTexts::read(self.context, opened, &comparison).await?;
        match texts.cut {
            true => Err(ToolError::new(ErrorCode::TooLarge, "git returned more differences than the limit")),
            false => Ok(texts),
        }
    }

    /// The edits since `start`, from those since its commit.
    fn edits_since(&self, start: &TurnStart, changed: Vec<EditedText>) -> Vec<EditedText> {
        let at_start = |path: &WorkspacePath| start.texts.get(&key(path)?);
        let sources = changed.iter().filter_map(|edit| edit.renamed_from.clone());
        let touched: BTreeSet<WorkspacePath> =
            changed.iter().map(|edit| edit.path.clone()).chain(sources).collect();
        let mut edits = Vec::new();
        for mut edit in changed {
            if let Some(before) = at_start(&edit.path) {
                (edit.before, edit.renamed_from) = (before.clone(), None);
            } else if let Some(before) = edit.renamed_from.as_ref().and_then(at_start) {
                edit.renamed_from = edit.renamed_from.filter(|_| before.is_some());
                edit.before = before.clone();
            }
            edits.push(edit);
        }
        for (path, before) in &start.texts {
            let Ok(path) = self.context.workspace.path(path.as_ref()) else { continue };
            // A file that is again as in the commit.
            if !touched.contains(&path) {
                let after = self.context.saved_text(&path).ok();
                edits.push(EditedText { path, renamed_from: None, before: before.clone(), after });
            }
        }
        let is_known = |path: &WorkspacePath| key(path).is_some_and(|key| !start.unread.contains(&key));
        edits.retain(|edit| {
            is_known(&edit.path) && (edit.before != edit.after || edit.renamed_from.is_some())
        });
        pair_moves(&mut edits);
        edits
    }
}

/// Turns the deletion of a file and the creation of one with the same text into a move: git does
/// not pair untracked files.
fn pair_moves(edits: &mut Vec<EditedText>) {
    let mut deleted: Vec<EditedText> = edits.extract_if(.., |edit| edit.after.is_none()).collect();
    for edit in edits.iter_mut().filter(|edit| edit.before.is_none() && edit.renamed_from.is_none()) {
        if let Some(at) = deleted.iter().position(|gone| gone.before == edit.after) {
            let gone = deleted.swap_remove(at);
            (edit.before, edit.renamed_from) = (gone.before, Some(gone.path));
        }
    }
    edits.append(&mut deleted);
}

/// The name of the newest kept turn of `session`.
fn name_of(folder: &StateFolder, session: &str) -> Result<Option<StateName>, ToolError> {
    let kept = folder.names().map_err(from_state_error)?;
    Ok(kept.into_iter().rfind(|name| name.as_str().ends_with(session)))
}

/// The path as a key of JSON; `None` if it is not UTF-8.
fn key(path: &WorkspacePath) -> Option<String> {
    path.as_path().to_str().map(str::to_owned)
}
