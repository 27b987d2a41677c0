//! Edits that another program has made: the new errors, if the texts before the edits are known.

use std::path::PathBuf;

use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::analysis::breakage::diagnostics_baseline::{BreakageMode, EditJudge};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::check::checked_files::BeforeCheck;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;

/// An edit of one file that is already made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeEdit {
    /// The file, under the path that the other program gave.
    pub path: PathBuf,
    /// The text before the edit.
    pub before: TextBefore,
}

/// The knowledge about the text before an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextBefore {
    /// The whole text; `None` if the file did not exist.
    Known(Option<String>),
    /// The replacements that led to the present text, in their order.
    Replaced(Vec<MadeReplacement>),
    /// The text before is unknown.
    Unknown,
}

/// One replacement of a text, made once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeReplacement {
    /// The removed text.
    pub old: String,
    /// The inserted text.
    pub new: String,
}

impl TextBefore {
    /// The text before, derived from the present text `now`. `None` if it cannot be derived.
    fn given(&self, now: &str) -> Option<Option<String>> {
        match self {
            Self::Known(text) => Some(text.clone()),
            Self::Replaced(replacements) => {
                let undone = replacements.iter().rev().try_fold(now.to_owned(), |text, made| {
                    // A text that occurs twice may have been there before.
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

/// Edits that are made, and their judgement once it is available.
#[derive(Debug, Default)]
pub(crate) struct MadeEdits {
    edits: Vec<MadeEdit>,
    judgement: Mutex<Option<EditJudgement>>,
}

impl MadeEdits {
    pub(crate) fn new(edits: Vec<MadeEdit>) -> Self {
        Self { edits, judgement: Mutex::default() }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.edits.iter().map(|edit| &edit.path)
    }

    /// The judgement; `None` before the check, and if a text before an edit is unknown.
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
    /// Compares the servers' findings in the texts before and after. Without the earlier texts
    /// nothing is compared.
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
