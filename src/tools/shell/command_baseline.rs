//! Breakage of a command: diagnostics of the files that servers had open, and of those that it changed.

use std::collections::BTreeMap;

use crate::lsp::view::View;
use crate::tools::context::{Context, LanguageFile};
use crate::tools::delta::DiagnosticsDelta;
use crate::tools::diagnostics_baseline::Baseline;
use crate::tools::edited_text::EditedText;
use crate::tools::impact::language_of;
use crate::workspace::{ChangeBatch, ChangeKind, WorkspacePath};

/// So many files are looked at before the command, and so many changed ones after it.
const MAX_COMMAND_CHECKED_FILES: usize = 40;

/// What was known before a command.
pub(crate) struct CommandBaseline {
    baseline: Baseline,
    texts: BTreeMap<WorkspacePath, String>,
}

impl CommandBaseline {
    /// Looks at the files that running servers have open: nobody can know what a command will change.
    pub(crate) async fn capture(context: &Context) -> Self {
        context.manager.refresh().await;
        let mut subjects = Vec::new();
        let mut texts = BTreeMap::new();
        for path in context.manager.open_paths().into_iter().take(MAX_COMMAND_CHECKED_FILES) {
            if let (Ok(subject), Ok(text)) = (context.language_file(path.clone()), context.saved_text(&path))
            {
                subjects.push(subject);
                texts.insert(path, text);
            }
        }
        Self { baseline: Baseline::capture(context, subjects).await, texts }
    }

    /// What is different after the command, which made `changes`.
    pub(crate) async fn compare(mut self, context: &Context, changes: &ChangeBatch) -> DiagnosticsDelta {
        let mut edits = Vec::new();
        let mut unknown = Vec::new();
        for (path, kind) in changes.changes.iter().take(MAX_COMMAND_CHECKED_FILES) {
            let after = context.saved_text(path).ok();
            let before = self.texts.get(path).cloned();
            let language = language_of(context, path, after.as_deref().or(before.as_deref()));
            let subject = LanguageFile { path: path.clone(), language };
            if context.servers_for(&subject, |features| features.diagnostics).is_empty() {
                continue;
            }
            if before.is_none() && *kind != ChangeKind::Created {
                unknown.push(path.display());
            }
            self.baseline.add(subject);
            edits.push(EditedText { path: path.clone(), renamed_from: None, before, after });
        }
        let mut delta = self.baseline.compare(context, &edits, &View::disk()).await;
        if !unknown.is_empty() {
            delta.notes.push(format!(
                "what was wrong in {} before the command is not known: all that is wrong there now counts as added",
                unknown.join(", ")
            ));
        }
        delta
    }
}
