//! Completions, in columns.

use anstyle::Style;

use crate::analysis::answer::{CompletionItem, CompletionsOutput};
use crate::text::truncate_chars;

use super::DisplayCapabilities;
use super::terminal::display::{BOLD, DIM, KIND};
use super::terminal::escape;
use super::terminal::table::{Cell, table};

/// The length limit of details, which keeps the column readable.
const MAX_DETAIL_COLUMN_CHARS: usize = 60;

/// One line per completion: label, kind, detail, and the inserted text if it differs from the
/// label.
pub(crate) fn render(output: &CompletionsOutput, display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = output.items.iter().map(row).collect();
    let mut out = table(&[], &rows, display);
    if display.terminal && output.has_more {
        let total = format!("{} of {} shown", output.items.len(), output.count);
        out.push_str(&format!("\n{}\n", display.paint(DIM, &total)));
    }
    out
}

fn row(item: &CompletionItem) -> Vec<Cell> {
    let style = if item.deprecated { Style::new().strikethrough() } else { BOLD };
    let detail = item.detail.as_deref().map(escape::words).unwrap_or_default();
    let mut detail = truncate_chars(&detail, MAX_DETAIL_COLUMN_CHARS).into_owned();
    if let Some(insert) = item.insert.as_deref().filter(|insert| *insert != item.label) {
        push_word(
            &mut detail,
            &format!("→ {}", truncate_chars(&escape::line(insert), MAX_DETAIL_COLUMN_CHARS)),
        );
    }
    if item.deprecated {
        push_word(&mut detail, "deprecated");
    }
    vec![
        Cell::new(escape::line(&item.label), style),
        Cell::new(item.kind.as_deref().map(escape::words).unwrap_or_default(), KIND),
        Cell::new(detail, DIM),
    ]
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push_str("  ");
    }
    text.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(label: &str, kind: Option<&str>, detail: Option<&str>) -> CompletionItem {
        CompletionItem {
            label: label.into(),
            kind: kind.map(Into::into),
            detail: detail.map(Into::into),
            documentation: None,
            insert: None,
            deprecated: false,
        }
    }

    #[test]
    fn completion_columns_align_by_display_width() {
        let mut old = item("名前", None, Some("str"));
        old.deprecated = true;
        let mut typed = item("greet(name)", Some("function"), None);
        typed.insert = Some("greet($1)".into());
        let output = CompletionsOutput {
            items: vec![old, typed, item("x\x1b", Some("variable"), None)],
            count: 3,
            has_more: false,
        };
        let expected = "名前                   str  deprecated\ngreet(name)  function  → greet($1)\nx\\u{1b}      variable\n";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
    }
}
