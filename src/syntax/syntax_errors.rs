//! Syntax errors that a grammar reports. A file without such errors may still be wrong.

use std::time::Instant;

use tree_sitter::{Node, Tree};

use super::answer::HintError;
use super::grammar::Grammar;
use super::parse::{ParseError, parse};
use crate::config::Catalogue;
use crate::lsp::model::{Diagnostic, Severity};
use crate::text::{Buffer, Range};
use crate::workspace::{Workspace, WorkspacePath};

/// The maximum number of errors that are reported for one file.
const MAX_SYNTAX_ERRORS: usize = 50;

/// The longest piece of source quoted in a message, in characters.
const MAX_SYNTAX_QUOTE_CHARS: usize = 30;

/// The result of a syntax check of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SyntaxCheck {
    /// The file was parsed: its errors, in order. An empty list is no finding, not a clean file.
    Checked {
        /// The errors, each with the server `syntax`.
        errors: Vec<Diagnostic>,
        /// True if there are more.
        truncated: bool,
    },
    /// There is no grammar for its language here.
    NoGrammar,
    /// The file was not parsed, with the reason.
    NotParsed(ParseError),
}

/// Returns the syntax errors of the file `path`.
///
/// # Errors
/// [`HintError`] if the file cannot be read.
pub(crate) fn syntax_errors(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Result<SyntaxCheck, HintError> {
    let text = workspace.read_text(path)?.text;
    let language = catalogue.language_of_file(workspace, path);
    Ok(syntax_errors_in(language, path, &text, deadline))
}

/// The syntax errors of `text`, which is or would be the file `path` of `language` (a key of the
/// catalogue).
pub(crate) fn syntax_errors_in(
    language: Option<&str>,
    path: &WorkspacePath,
    text: &str,
    deadline: Instant,
) -> SyntaxCheck {
    let Some(grammar) = language.and_then(|language| Grammar::for_language(language, path.extension()))
    else {
        return SyntaxCheck::NoGrammar;
    };
    match parse(grammar, text, deadline) {
        Ok(tree) => {
            let (errors, truncated) = collect_errors(&tree, text);
            SyntaxCheck::Checked { errors, truncated }
        }
        Err(problem) => SyntaxCheck::NotParsed(problem),
    }
}

/// The outermost ERROR nodes and the MISSING ones, without recursion: trees can be as deep as the
/// text is long.
fn collect_errors(tree: &Tree, text: &str) -> (Vec<Diagnostic>, bool) {
    let buffer = Buffer::new(text);
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            if found.len() >= MAX_SYNTAX_ERRORS {
                return (found, true);
            }
            found.push(diagnostic(node, text, &buffer));
        }
        let is_open = node.has_error() && !node.is_error() && !node.is_missing();
        if is_open && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (found, false);
            }
        }
    }
}

fn diagnostic(node: Node<'_>, text: &str, buffer: &Buffer) -> Diagnostic {
    let start = node.start_byte();
    let (message, end) = if node.is_missing() {
        (format!("missing {}", expected(node)), start)
    } else {
        let quoted = first_word(&text[start..node.end_byte()]);
        match quoted {
            "" => ("syntax error".to_owned(), node.end_byte()),
            quoted => (format!("syntax error near `{quoted}`"), node.end_byte()),
        }
    };
    // An error that swallows the rest of the file is shown at its start.
    let first_line = text[start..end].find('\n').map_or(end, |length| start + length);
    Diagnostic {
        range: Range::new(buffer.position_of_byte(start), buffer.position_of_byte(first_line)),
        severity: Severity::Error,
        code: None,
        source: Some("tree-sitter".to_owned()),
        message,
        server: "syntax".to_owned(),
        unnecessary: false,
        deprecated: false,
        related: Vec::new(),
        cell: None,
    }
}

/// Describes a missing node: the text of a token, or the name of the node kind.
fn expected(node: Node<'_>) -> String {
    let kind = node.kind();
    if node.is_named() { kind.replace('_', " ") } else { format!("`{kind}`") }
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let length = if text.starts_with(is_word) {
        text.find(|c| !is_word(c)).unwrap_or(text.len())
    } else {
        text.find(|c: char| c.is_whitespace() || is_word(c)).unwrap_or(text.len())
    };
    let end = text[..length].char_indices().nth(MAX_SYNTAX_QUOTE_CHARS).map_or(length, |(at, _)| at);
    &text[..end]
}
