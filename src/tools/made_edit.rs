//! Edits that another program has made: what they broke, by the texts before them as far as those are known.

use std::path::PathBuf;

use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::context::Context;
use super::diagnostics_baseline::{BreakageMode, EditJudge};
use super::edit_judgement::EditJudgement;
use super::edited_text::EditedText;
use super::error::ToolError;
use super::lsp_diagnostics::BeforeCheck;

/// An edit of one file that is made already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeEdit {
    /// The file, as the other program calls it.
    pub path: PathBuf,
    /// What it was before.
    pub before: TextBefore,
}

/// What is known of the text before an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextBefore {
    /// All of it; `None` where there was no such file.
    Known(Option<String>),
    /// These replacements made of it what it is now, in their order.
    Replaced(Vec<MadeReplacement>),
    /// Nothing.
    Unknown,
}

/// One text put in the place of another, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeReplacement {
    /// What went.
    pub old: String,
    /// What came.
    pub new: String,
}

impl TextBefore {
    /// The text before, given the one `now`. `None` where it cannot be told.
    fn given(&self, now: &str) -> Option<Option<String>> {
        match self {
            Self::Known(text) => Some(text.clone()),
            Self::Replaced(replacements) => {
                let undone = replacements.iter().rev().try_fold(now.to_owned(), |text, made| {
                    // What stands there twice may have been there before.
                    let (first, last) = (text.find(&made.new)?, text.rfind(&made.new)?);
                    let is_certain = first == last && !made.new.is_empty();
                    is_certain.then(|| text.replacen(&made.new, &made.old, 1))
                });
                undone.map(Some)
            }
            Self::Unknown => None,
        }
    }
}

/// Edits that are made, and their judgement once there is one.
#[derive(Debug, Default)]
pub(crate) struct MadeEdits {
    edits: Vec<MadeEdit>,
    judgement: Mutex<Option<EditJudgement>>,
}

impl MadeEdits {
    /// These.
    pub(crate) fn new(edits: Vec<MadeEdit>) -> Self {
        Self { edits, judgement: Mutex::default() }
    }

    /// The files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.edits.iter().map(|edit| &edit.path)
    }

    /// Their judgement; `None` where a text before them is not known, or before they were looked at.
    pub(crate) fn take_judgement(&self) -> Option<EditJudgement> {
        self.judgement.lock().take()
    }

    async fn compare(&self, context: &Context) -> Result<(), ToolError> {
        let mut edits = Vec::new();
        for edit in &self.edits {
            let path = context.path(&edit.path)?;
            let now = context.saved_text(&path)?;
            let Some(before) = edit.before.given(&now) else { return Ok(()) };
            edits.push(EditedText { path, renamed_from: None, before, after: Some(now) });
        }
        let judge = EditJudge::Afterwards(BreakageMode::Unsaid);
        let judgement = judge.judge(context, &edits, &context.view).await;
        *self.judgement.lock() = Some(judgement);
        Ok(())
    }
}

impl BeforeCheck for MadeEdits {
    /// Has the servers look at the texts before and after. Without the texts before nothing is compared.
    fn ask<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.compare(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pairs: &[(&str, &str)]) -> TextBefore {
        let made = |(old, new): &(&str, &str)| MadeReplacement { old: (*old).into(), new: (*new).into() };
        TextBefore::Replaced(pairs.iter().map(made).collect())
    }

    #[test]
    fn text_before_is_told_only_where_replacements_can_be_taken_back_with_certainty() {
        let before = |edit: &TextBefore, now: &str| edit.given(now).flatten();
        assert_eq!(before(&replaced(&[("a", "b")]), "x b y"), Some("x a y".to_owned()));
        assert_eq!(before(&replaced(&[("a", "b"), ("b y", "c")]), "x c"), Some("x a y".to_owned()));
        for (edit, now) in [
            (replaced(&[("a", "b")]), "b and b"),
            (replaced(&[("a", "")]), "x"),
            (replaced(&[("a", "b")]), "x"),
            (TextBefore::Unknown, "x"),
        ] {
            assert_eq!(edit.given(now), None, "{edit:?}");
        }
        assert_eq!(TextBefore::Known(None).given("x"), Some(None));
    }
}
