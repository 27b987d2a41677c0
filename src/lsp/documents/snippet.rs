//! Snippets (LSP 3.17, *Snippet Syntax*) as plain text, for clients without tab stops. Some servers
//! complete only for clients that accept snippets.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Value, json};

/// LSP 3.17 *InsertTextFormat*.
const INSERT_TEXT_FORMAT_PLAIN: u64 = 1;
const INSERT_TEXT_FORMAT_SNIPPET: u64 = 2;

/// The maximum depth of placeholders in placeholders; deeper ones are left out.
const MAX_PLACEHOLDER_DEPTH: usize = 20;

/// Returns the text that `snippet` inserts if nothing is filled in: placeholders become their
/// defaults, choices their first option, variables and bare tab stops nothing.
pub(crate) fn plain_text(snippet: &str) -> String {
    let mut text = String::with_capacity(snippet.len());
    read(&mut snippet.chars().peekable(), None, 0, &mut text);
    text
}

/// Converts the snippets of a completion list, or of its items, to plain text.
pub(crate) fn flatten(list: &mut Value) {
    let items = match list {
        Value::Object(whole) if whole.contains_key("items") => &mut whole["items"],
        other => other,
    };
    match items {
        Value::Array(items) => items.iter_mut().for_each(flatten_item),
        item => flatten_item(item),
    }
}

/// Converts the snippet of one item.
pub(crate) fn flatten_item(item: &mut Value) {
    if item["insertTextFormat"].as_u64() != Some(INSERT_TEXT_FORMAT_SNIPPET) {
        return;
    }
    item["insertTextFormat"] = json!(INSERT_TEXT_FORMAT_PLAIN);
    for pointer in ["/insertText", "/textEditText", "/textEdit/newText"] {
        if let Some(Value::String(text)) = item.pointer_mut(pointer) {
            *text = plain_text(text);
        }
    }
}

type SnippetChars<'a> = Peekable<Chars<'a>>;

/// Reads up to `end`, which is consumed, or the end of the text.
fn read(source: &mut SnippetChars<'_>, end: Option<char>, depth: usize, text: &mut String) {
    while let Some(next) = source.next() {
        match next {
            '\\' => match source.next_if(|next| matches!(next, '$' | '}' | '\\')) {
                Some(escaped) => text.push(escaped),
                None => text.push('\\'),
            },
            '$' => tab_stop(source, depth, text),
            next if Some(next) == end => return,
            next => text.push(next),
        }
    }
}

/// Reads the part behind a `$`.
fn tab_stop(source: &mut SnippetChars<'_>, depth: usize, text: &mut String) {
    if source.next_if_eq(&'{').is_none() {
        if word(source).is_empty() {
            text.push('$');
        }
        return;
    }
    word(source);
    match source.next() {
        Some(':') if depth < MAX_PLACEHOLDER_DEPTH => read(source, Some('}'), depth + 1, text),
        Some('|') => choice(source, text),
        Some(':' | '/') => skip(source),
        _ => {}
    }
}

/// Reads a number or the name of a variable.
fn word(source: &mut SnippetChars<'_>) -> String {
    std::iter::from_fn(|| source.next_if(|next| next.is_ascii_alphanumeric() || *next == '_')).collect()
}

/// Reads `one,two|}` and keeps the first choice.
fn choice(source: &mut SnippetChars<'_>, text: &mut String) {
    let mut is_first = true;
    while let Some(next) = source.next() {
        match next {
            '\\' => {
                let escaped = source.next();
                text.extend(escaped.filter(|_| is_first));
            }
            ',' => is_first = false,
            '|' if source.next_if_eq(&'}').is_some() => return,
            next if is_first => text.push(next),
            _ => {}
        }
    }
}

/// Skips to the brace that ends a tab stop: too deeply nested content, and transformations of
/// variables that have no value here.
fn skip(source: &mut SnippetChars<'_>) {
    let mut open = 1;
    while let Some(next) = source.next() {
        match next {
            '\\' => drop(source.next()),
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_placeholders_become_their_default_text() {
        for (snippet, text) in [
            ("color: $0;", "color: ;"),
            ("margin: ${1:0} ${2:auto}$0", "margin: 0 auto"),
            ("<a href=\"${1:${2:https}://x}\">$0</a>", "<a href=\"https://x\"></a>"),
            ("display: ${1|block,flex,a\\,b|};", "display: block;"),
            ("${TM_FILENAME/(.*)\\..+$/$1/}x", "x"),
            ("${CURRENT_YEAR:2000} $TM_LINE.", "2000 ."),
            ("cost \\$5 \\} \\\\ \\n", "cost $5 } \\ \\n"),
            ("$ 5 and ${", "$ 5 and "),
            ("${1:unclosed", "unclosed"),
            ("", ""),
        ] {
            assert_eq!(plain_text(snippet), text, "{snippet}");
        }
    }

    #[test]
    fn snippet_nesting_depth_is_limited() {
        let deep = format!("{}x{}", "${1:".repeat(100_000), "}".repeat(100_000));
        assert!(plain_text(&deep).len() < deep.len());
    }

    #[test]
    fn completion_items_without_snippet_format_are_unchanged() {
        let mut list = json!({ "items": [
            { "label": "a", "insertText": "${1:b}", "insertTextFormat": 2 },
            { "label": "c", "textEdit": { "newText": "$d" } },
            { "label": "e", "textEdit": { "newText": "f($0)" }, "insertTextFormat": 2 },
        ] });
        flatten(&mut list);
        assert_eq!(list["items"][0], json!({ "label": "a", "insertText": "b", "insertTextFormat": 1 }));
        assert_eq!(list["items"][1]["textEdit"]["newText"], "$d");
        assert_eq!(list["items"][2]["textEdit"]["newText"], "f()");
    }
}
