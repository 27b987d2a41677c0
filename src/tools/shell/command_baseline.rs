//! Breakage of a command: diagnostics of the files that servers had open, and of those that it
//! changed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::analysis::breakage::diagnostics_baseline::{Baseline, BreakageMode, EditJudge};
use crate::analysis::breakage::edit_judgement::{DiagnosticsStatement, EditJudgement};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::language_of;
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::documents::view::View;
use crate::workspace::{ChangeBatch, ChangeKind, WalkLimits, WorkspacePath};

/// The maximum number of files that are checked before the command, and of changed ones after it.
const MAX_COMMAND_CHECKED_FILES: usize = 40;
/// The size of a workspace, in files, up to which the texts of all files are remembered. In larger
/// ones, only texts of open documents are.
const MAX_REMEMBERED_FILES: usize = 400;
/// The most bytes of text that are remembered.
const MAX_REMEMBERED_BYTES: usize = 8 << 20;
/// The time limit for listing the files to remember.
const REMEMBER_WALK_TIMEOUT: Duration = Duration::from_millis(50);

/// The state before a command.
pub(crate) struct CommandBaseline {
    /// The servers' findings, if diagnostics were requested.
    baseline: Option<Baseline>,
    texts: BTreeMap<WorkspacePath, String>,
}

impl CommandBaseline {
    /// Checks the files that running servers have open, because the effects of a command are
    /// unpredictable.
    pub(crate) async fn capture(context: &Context) -> Self {
        context.manager.refresh().await;
        let texts =
            texts_of(context, context.manager.open_paths().into_iter().take(MAX_COMMAND_CHECKED_FILES));
        let subjects = texts.keys().filter_map(|path| context.language_file(path.clone()).ok()).collect();
        Self { baseline: Some(Baseline::capture(context, subjects).await), texts }
    }

    /// Remembers texts without a request to servers: of all files in languages with a server, or in
    /// a large workspace of open documents.
    pub(crate) async fn remember(context: &Context) -> Self {
        if !context.keeps_servers() {
            return Self { baseline: None, texts: BTreeMap::new() };
        }
        let inner = context.clone();
        let texts = tokio::task::spawn_blocking(move || {
            let limits = WalkLimits {
                max_files: MAX_REMEMBERED_FILES,
                deadline: Instant::now() + REMEMBER_WALK_TIMEOUT,
            };
            let walk = inner.workspace.files(&WorkspacePath::root(), &limits);
            match walk.truncated {
                true => texts_of(&inner, inner.manager.open_paths()),
                false => texts_of(&inner, walk.files.into_iter().filter(|path| is_judged(&inner, path))),
            }
        });
        Self { baseline: None, texts: texts.await.unwrap_or_default() }
    }

    /// Judges the command, which made `changes`.
    pub(crate) async fn judge(self, context: &Context, changes: &ChangeBatch) -> EditJudgement {
        let Self { baseline, texts } = self;
        let is_captured = baseline.is_some();
        let (mut edits, mut subjects, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (path, kind) in changes.changes.iter().take(MAX_COMMAND_CHECKED_FILES) {
            let after = context.saved_text(path).ok();
            let before = texts.get(path).cloned();
            let language = language_of(context, path, after.as_deref().or(before.as_deref()));
            let subject = LanguageFile { path: path.clone(), language };
            let has_server = !context.servers_for(&subject, |features| features.diagnostics).is_empty();
            if has_server && before.is_none() && *kind != ChangeKind::Created {
                unknown.push(path.display());
                if !is_captured {
                    continue;
                }
            }
            if has_server {
                subjects.push(subject);
            }
            edits.push(EditedText { path: path.clone(), renamed_from: None, before, after });
        }
        let note = |rest: &str| {
            format!("the diagnostics of {} before the command are unknown{rest}", unknown.join(", "))
        };
        let mut judgement: EditJudgement = match baseline {
            Some(mut baseline) => {
                subjects.into_iter().for_each(|subject| baseline.add(subject));
                baseline.compare(context, &edits, &View::disk()).await.into()
            }
            None if edits.is_empty() && !unknown.is_empty() => {
                let reason = format!("not checked: {}", note("; `lsp_diagnostics` reports the current ones"));
                return DiagnosticsStatement::no_data(reason).into();
            }
            None => EditJudge::Afterwards(BreakageMode::Unsaid).judge(context, &edits, &View::disk()).await,
        };
        if !unknown.is_empty() {
            let rest = if is_captured { ": all current ones count as added" } else { ", so it is omitted" };
            if !is_captured {
                judgement.lower_to_partial();
            }
            judgement.delta_mut().into_iter().for_each(|delta| delta.notes.push(note(rest)));
        }
        let beyond = changes.changes.len().saturating_sub(MAX_COMMAND_CHECKED_FILES);
        if beyond > 0 {
            judgement.lower_to_partial();
            if let Some(delta) = judgement.delta_mut() {
                delta.notes.push(format!("{beyond} more changed files were not checked"));
            }
        }
        judgement
    }
}

/// The texts of the readable `paths`, up to a total size.
fn texts_of(
    context: &Context,
    paths: impl IntoIterator<Item = WorkspacePath>,
) -> BTreeMap<WorkspacePath, String> {
    let mut texts = BTreeMap::new();
    let mut bytes = 0;
    for path in paths.into_iter().take(MAX_REMEMBERED_FILES) {
        if let Ok(text) = context.saved_text(&path) {
            bytes += text.len();
            if bytes > MAX_REMEMBERED_BYTES {
                break;
            }
            texts.insert(path, text);
        }
    }
    texts
}

/// Returns true if a file is code that servers check, by its name or first line.
fn is_judged(context: &Context, path: &WorkspacePath) -> bool {
    let language = context.catalogue().language_of_file(&context.workspace, path);
    language.is_some_and(|language| {
        let servers = context.catalogue().servers_for(language);
        !context.catalogue().is_data(language)
            && servers.iter().any(|(_, server)| server.features.diagnostics)
    })
}
