//! The text that a host's model reads after an edit or at a search.

use std::fmt::Write;

use super::DisplayCapabilities;
use super::diagnostics::diagnostic_line;
use super::edits::findings;
use super::terminal::display::count;
use super::terminal::escape;
use crate::analysis::answer::{Answer, DiagnosticItem, DiagnosticsOutput, SymbolItem, Verdict};
use crate::analysis::breakage::delta::DiagnosticsDelta;
use crate::analysis::breakage::edit_judgement::{EditDiagnostics, EditJudgement};
use crate::analysis::error::ToolError;
use crate::lsp::model::Severity;
use crate::text::LineColumn;

/// The number of errors shown for a file whose former text is unknown.
const MAX_TOLD_ERRORS: usize = 10;
/// The number of definitions shown for one name.
const MAX_TOLD_DEFINITIONS: usize = 5;

/// The definitions of a symbol, and its uses if known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundSymbol {
    /// The name as searched for.
    pub(crate) name: String,
    /// The definitions.
    pub(crate) definitions: Vec<SymbolItem>,
    /// The uses.
    pub(crate) uses: Option<SymbolUses>,
}

/// The uses of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SymbolUses {
    /// The number of places.
    pub(crate) places: usize,
    /// The number of files.
    pub(crate) files: usize,
    /// True if there may be more.
    pub(crate) at_least: bool,
}

/// The outcome of the check at the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// Nothing is known to be broken.
    Sound,
    /// The edits were not checked; the reason for the person.
    Unchecked(String),
    /// There are new errors, for the model.
    Broken(String),
}

/// Renders the judgement of a turn's edits, if there are any.
pub(crate) fn turn_end(judged: Result<Option<EditJudgement>, ToolError>) -> TurnEnd {
    let unchecked = |why: &str| TurnEnd::Unchecked(remark(&format!("this turn's edits: {why}")));
    let judgement = match judged {
        Ok(Some(judgement)) => judgement,
        Ok(None) => return TurnEnd::Sound,
        Err(error) => return unchecked(&format!("not checked: {}", error.error)),
    };
    let is_broken = judgement.has_new_errors();
    match judgement.diagnostics {
        EditDiagnostics::Compared(delta) if is_broken => TurnEnd::Broken(broken_turn_words(*delta)),
        EditDiagnostics::Compared(delta) if delta.verdict != Verdict::Complete => {
            let why = delta.notes.first().map_or("not all servers answered", String::as_str);
            unchecked(&format!("no new errors; the check is incomplete: {why}"))
        }
        EditDiagnostics::Stated(statement) if statement.verdict == Verdict::NoData => {
            unchecked(&statement.reason)
        }
        // Nothing is broken, or no server exists for the files.
        EditDiagnostics::Compared(_) | EditDiagnostics::Stated(_) => TurnEnd::Sound,
    }
}

/// The new errors of a turn, the first ones in full.
fn broken_turn_words(mut delta: DiagnosticsDelta) -> String {
    let more: usize = std::mem::take(&mut delta.more).iter().map(|kind| kind.at.len()).sum();
    let and =
        if more > 0 { format!("\nand {more} more; `lsp-tools check` lists them") } else { String::new() };
    format!("{}{and}\nFix them, or say why they are expected.", delta_words("this turn's edits", &delta))
}

/// Renders the judgement of an edit: its diagnostics, or one line.
pub(crate) fn edit_words(judgement: &EditJudgement) -> String {
    match &judgement.diagnostics {
        EditDiagnostics::Compared(delta) => delta_words("this edit", delta),
        EditDiagnostics::Stated(statement) => remark(&statement.reason),
    }
}

/// Renders the diagnostics of `edit`, which is named so.
fn delta_words(edit: &str, delta: &DiagnosticsDelta) -> String {
    let found = findings(delta, false, &DisplayCapabilities::PLAIN, &|_, _| None);
    let notes: String = delta.notes.iter().map(|note| format!("\n{}", escape::line(note))).collect();
    let end = if delta.added.is_empty() && delta.gone.is_empty() { ' ' } else { '\n' };
    format!("lsp-tools, about {edit}:{end}{}{notes}", found.trim())
}

/// Renders one line about an edit that was not checked.
pub(crate) fn remark(sentence: &str) -> String {
    format!("lsp-tools: {}", escape::line(sentence))
}

/// Renders the current errors in the edited files, if the texts before the edit are unknown.
pub(crate) fn error_words(answer: &Answer<DiagnosticsOutput>) -> String {
    let items = &answer.output.diagnostics;
    let errors: Vec<&DiagnosticItem> = items.iter().filter(|item| item.severity == Severity::Error).collect();
    if errors.is_empty() {
        let reason =
            answer.server_status.detail.clone().unwrap_or_else(|| "no server answered in time".to_owned());
        return match answer.verdict {
            Verdict::Complete => remark("no errors in the edited files"),
            Verdict::Partial => {
                remark(&format!("no errors in the edited files; results may be incomplete: {reason}"))
            }
            Verdict::NoData => remark(&format!("not checked yet: {reason}")),
            Verdict::Hints => remark(&format!("not checked: {reason}")),
        };
    }
    let mut words = "lsp-tools: errors in the edited files, from this edit or from before:\n".to_owned();
    let shown = errors.iter().take(MAX_TOLD_ERRORS);
    words.extend(shown.map(|item| diagnostic_line(item, &DisplayCapabilities::PLAIN)));
    if errors.len() > MAX_TOLD_ERRORS {
        let _infallible = write!(words, "and {} more", errors.len() - MAX_TOLD_ERRORS);
    }
    words.trim_end().to_owned()
}

/// Renders the definitions of symbols. Returns `None` if there are none.
pub(crate) fn symbol_words(found: &[FoundSymbol]) -> Option<String> {
    let mut words: String = found.iter().filter_map(symbol_line).collect();
    if words.is_empty() {
        return None;
    }
    words.push_str("`lsp_references` lists the uses, `explore` shows source and callers; in a shell: `lsp-tools explore NAME`.");
    Some(words)
}

fn symbol_line(symbol: &FoundSymbol) -> Option<String> {
    let definition = |item: &SymbolItem| {
        let (path, at) = (escape::line(item.path.as_deref()?), LineColumn::from(item.range.start));
        let container = item.container.as_deref().filter(|name| !name.is_empty());
        let container = container.map(|name| format!(" of {}", escape::words(name))).unwrap_or_default();
        Some(format!("{path}:{at} ({}{container})", item.kind))
    };
    let places: Vec<String> =
        symbol.definitions.iter().take(MAX_TOLD_DEFINITIONS).filter_map(definition).collect();
    if places.is_empty() {
        return None;
    }
    let beyond = symbol.definitions.len().saturating_sub(MAX_TOLD_DEFINITIONS);
    let more = if beyond > 0 { format!(" and {beyond} more") } else { String::new() };
    let uses = symbol.uses.map_or_else(String::new, |uses| {
        let least = if uses.at_least { "at least " } else { "" };
        format!("; referenced in {least}{} of {}", count(uses.places, "place"), count(uses.files, "file"))
    });
    let name = escape::words(&symbol.name);
    Some(format!("lsp-tools: `{name}` is defined at {}{more}{uses}\n", places.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn symbol(line: u32, container: &str) -> SymbolItem {
        serde_json::from_value(json!({
            "name": "title", "kind": "method", "in": container, "path": "a.py", "at": format!("{}:5", line + 1),
        }))
        .unwrap()
    }

    #[test]
    fn symbol_words_name_places_and_uses() {
        let found = FoundSymbol {
            name: "title".into(),
            definitions: vec![symbol(19, "Person")],
            uses: Some(SymbolUses { places: 4, files: 1, at_least: false }),
        };
        let words = symbol_words(&[found]).unwrap();
        let first = "lsp-tools: `title` is defined at a.py:20:5 (method of Person); referenced in 4 places of 1 file\n";
        assert!(words.starts_with(first), "{words}");
        let many = FoundSymbol {
            name: "title".into(),
            definitions: (0..7).map(|line| symbol(line, "")).collect(),
            uses: None,
        };
        assert!(symbol_words(&[many]).unwrap().contains("a.py:5:5 (method) and 2 more\n"));
        let nothing = FoundSymbol { name: "title".into(), definitions: Vec::new(), uses: None };
        assert_eq!(symbol_words(&[nothing]), None);
    }
}
