//! The result formats of tool calls.
//!
//! One is the tuple that the server expects from its clients' tools. Two plain forms serve clients
//! that were written for them.
//!
//! | format | success | failure |
//! |---|---|---|
//! | `tuple` | `[{"content":[{"value":TEXT}],"status":"success"},null]` | with `"status":"error"` |
//! | `list` | `[{"type":"text","value":TEXT}]` | the same: the text states the failure |
//! | `built-in`, tools that read | as `list` | as `list` |
//! | `built-in`, other tools | `{"result":"success"}` | `{"result":"error","message":TEXT}` |
//!
//! A failure is never the tuple's second element, since the server truncates that to 300
//! characters. Results contain text only: other content would reach the model as an empty string.

use serde_json::{Value, json};

use crate::policy::request::Effect;

/// The format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultFormat {
    /// The language server's format.
    #[default]
    Tuple,
    /// A list of text parts.
    List,
    /// A list of text parts for tools that read, a single word for tools that change something.
    BuiltIn,
}

/// The outcome of a call, by the server's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvocationOutcome {
    /// The call succeeded.
    Success,
    /// The call failed.
    Error,
    /// The call's turn ended first.
    Cancelled,
}

impl InvocationOutcome {
    /// The server's name of the outcome.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvocationAnswer {
    /// The outcome.
    pub(crate) outcome: InvocationOutcome,
    /// The text for the model.
    pub text: String,
    /// The tool's effect on the outside world.
    pub(crate) effect: Effect,
    /// True if the text must not be truncated.
    pub(crate) whole: bool,
}

/// The size limit of an answer's text, in bytes. Hosts store longer answers elsewhere and show only
/// their beginning.
pub(crate) const MAX_COPILOT_ANSWER_BYTES: usize = 20_000;

impl InvocationAnswer {
    /// Creates a failure with a one-sentence message.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { outcome: InvocationOutcome::Error, text: text.into(), effect: Effect::Read, whole: false }
    }

    /// Encodes the answer in the wire format.
    pub(crate) fn encode(&self, format: ResultFormat) -> Value {
        let text = if self.whole { self.text.clone() } else { truncate_answer(&self.text) };
        match format {
            ResultFormat::Tuple => {
                json!([{"content": [{"value": text}], "status": self.outcome.as_str()}, null])
            }
            ResultFormat::BuiltIn if self.effect != Effect::Read => match self.outcome {
                InvocationOutcome::Success => json!({"result": "success"}),
                InvocationOutcome::Error | InvocationOutcome::Cancelled => {
                    json!({"result": "error", "message": text})
                }
            },
            ResultFormat::List | ResultFormat::BuiltIn => json!([{"type": "text", "value": text}]),
        }
    }
}

/// Truncates `text` to [`MAX_COPILOT_ANSWER_BYTES`], if possible at the end of a line, and adds a
/// note.
fn truncate_answer(text: &str) -> String {
    if text.len() <= MAX_COPILOT_ANSWER_BYTES {
        return text.to_owned();
    }
    let note = format!("\n… cut: the whole answer has {} bytes; request less at once", text.len());
    let end = (0..=MAX_COPILOT_ANSWER_BYTES - note.len()).rev().find(|at| text.is_char_boundary(*at));
    let kept = &text[..end.unwrap_or(0)];
    // An incomplete last line could be mistaken for a whole one.
    let kept = kept.rfind('\n').filter(|end| *end > kept.len() / 2).map_or(kept, |end| &kept[..end]);
    format!("{kept}{note}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(outcome: InvocationOutcome, effect: Effect) -> InvocationAnswer {
        InvocationAnswer { outcome, text: "it".to_owned(), effect, whole: false }
    }

    #[test]
    fn copilot_answer_is_encoded_by_result_format_and_effect() {
        let (read, edit) = (Effect::Read, Effect::Edit);
        let (success, error) = (InvocationOutcome::Success, InvocationOutcome::Error);
        let part = json!([{"type": "text", "value": "it"}]);
        let tuple = |status: &str| json!([{"content": [{"value": "it"}], "status": status}, null]);
        let cases = [
            (ResultFormat::Tuple, success, read, tuple("success")),
            (ResultFormat::Tuple, error, edit, tuple("error")),
            (ResultFormat::Tuple, InvocationOutcome::Cancelled, edit, tuple("cancelled")),
            (ResultFormat::List, success, edit, part.clone()),
            (ResultFormat::List, error, read, part.clone()),
            (ResultFormat::BuiltIn, success, read, part),
            (ResultFormat::BuiltIn, success, edit, json!({"result": "success"})),
            (ResultFormat::BuiltIn, error, edit, json!({"result": "error", "message": "it"})),
        ];
        for (format, outcome, effect, expected) in cases {
            assert_eq!(answer(outcome, effect).encode(format), expected, "{format:?} {outcome:?} {effect:?}");
        }
    }

    #[test]
    fn copilot_answer_over_limit_is_cut_with_a_note() {
        for text in ["ü🦀".repeat(20_000), "one line\n".repeat(9_000), "x".repeat(20_001)] {
            let cut = truncate_answer(&text);
            assert!(
                cut.len() <= MAX_COPILOT_ANSWER_BYTES && cut.len() > MAX_COPILOT_ANSWER_BYTES / 2,
                "{}",
                cut.len()
            );
            let (kept, note) = cut.rsplit_once("\n… cut: ").unwrap();
            assert!(text.starts_with(kept));
            assert!(note.contains(&text.len().to_string()), "{note}");
        }
        assert!(truncate_answer(&"one line\n".repeat(9_000)).contains("one line\n… cut"));
        let fits = "x".repeat(MAX_COPILOT_ANSWER_BYTES);
        assert_eq!(truncate_answer(&fits), fits);
    }
}
