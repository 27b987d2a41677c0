//! The parser of shell commands: the simple commands in a script, and its parts that are unknown
//! before it runs.
//!
//! The parser does not make a command harmless. It separates text that was parsed completely, where
//! each word is certain, from everything else. A sandbox confines the command that runs.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::shell_words::{ShellWord, loose_commands, word};

/// The longest script that is parsed, in bytes.
const MAX_SHELL_SCRIPT_BYTES: usize = 32 * 1024;
/// The timeout of the parser.
const SHELL_PARSE_TIMEOUT: Duration = Duration::from_millis(500);
/// The depth to which syntax trees are read.
const MAX_SHELL_SYNTAX_DEPTH: usize = 200;
/// The most simple commands of a script.
pub(crate) const MAX_SHELL_COMMANDS: usize = 50;

/// A simple command: its name and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// The name and the arguments.
    pub words: Vec<ShellWord>,
}

/// A script as a shell would parse it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Script {
    /// All simple commands of the script, at any nesting.
    pub commands: Vec<SimpleCommand>,
    /// The construct that makes the script more than a list of simple commands, in words ("a
    /// pipe"); `None` if it is a plain list.
    pub unknown: Option<&'static str>,
    /// The words of a text that could not be parsed, split wherever a command could begin.
    pub(crate) loose: Vec<Vec<String>>,
}

impl Script {
    /// Parses `text`.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = ShellScriptReader { text, script: Self::default(), unparseable: false };
        if text.len() > MAX_SHELL_SCRIPT_BYTES {
            reader.mark_unparseable("too much text");
        } else {
            if text.chars().any(|character| character.is_control() && character != '\t') {
                reader.note_unknown("a line break or another control character");
            }
            if text.chars().any(|character| character.is_whitespace() && !character.is_ascii()) {
                reader.note_unknown("a space character that shells treat differently");
            }
            match parse(text) {
                Some(tree) => reader.read_list(tree.root_node(), 0),
                None => reader.mark_unparseable("code that takes too long to parse"),
            }
        }
        if reader.script.commands.len() > MAX_SHELL_COMMANDS {
            reader.note_unknown("more than 50 commands");
        }
        if reader.script.commands.is_empty() {
            reader.note_unknown("no command");
        }
        if reader.unparseable {
            reader.script.loose = loose_commands(text);
        }
        reader.script
    }
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let deadline = Instant::now() + SHELL_PARSE_TIMEOUT;
    let mut is_late = |_: &tree_sitter::ParseState| {
        if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut is_late);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

struct ShellScriptReader<'a> {
    text: &'a str,
    script: Script,
    /// True if the syntax tree is not reliable enough for `deny` rules either.
    unparseable: bool,
}

impl ShellScriptReader<'_> {
    fn note_unknown(&mut self, what: &'static str) {
        self.script.unknown.get_or_insert(what);
    }

    fn mark_unparseable(&mut self, what: &'static str) {
        self.note_unknown(what);
        self.unparseable = true;
    }

    /// Reads a sequence of simple commands.
    fn read_list(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_SHELL_SYNTAX_DEPTH {
            return self.mark_unparseable("too many nested commands");
        }
        if node.has_error() && depth == 0 {
            self.mark_unparseable("an incomplete command");
        }
        self.check_gaps(node);
        for child in children(node) {
            match child.kind() {
                ";" | "&&" | "||" => {}
                "list" => self.read_list(child, depth + 1),
                "command" => self.command(child, depth + 1),
                "redirected_statement" => self.read_redirected(child, depth + 1),
                _ => self.read_other(child, depth + 1),
            }
        }
    }

    /// Reads a command with redirected streams.
    fn read_redirected(&mut self, node: Node<'_>, depth: usize) {
        self.check_gaps(node);
        for child in children(node) {
            match child.kind() {
                "command" => self.command(child, depth + 1),
                "file_redirect" if self.is_harmless_redirect(child) => {}
                _ => self.read_other(child, depth + 1),
            }
        }
    }

    /// Returns true for redirects that write no file: `2>&1` and `>/dev/null`.
    fn is_harmless_redirect(&self, redirect: Node<'_>) -> bool {
        let parts: Vec<(&str, &str)> =
            children(redirect).map(|part| (part.kind(), self.slice(part))).collect();
        let parts = match parts.split_first() {
            // Some shells take only the last digit of a longer number.
            Some((("file_descriptor", "1" | "2"), rest)) => rest,
            _ => &parts,
        };
        matches!(parts, [(">" | ">>", _), ("word", "/dev/null")] | [(">&", _), ("number", "0" | "1" | "2")])
    }

    fn command(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_SHELL_SYNTAX_DEPTH {
            return self.mark_unparseable("too many nested commands");
        }
        self.check_gaps(node);
        let mut words = Vec::new();
        let mut end = None;
        for child in children(node) {
            if end.replace(child.end_byte()) == Some(child.start_byte()) {
                // A shell reads these two nodes of the grammar as one word.
                self.mark_unparseable("a word with expansions");
            }
            match child.kind() {
                "variable_assignment" | "herestring_redirect" | "file_redirect" | "heredoc_redirect" => {
                    self.read_other(child, depth + 1);
                }
                "command_name" => {
                    let inner: Vec<Node<'_>> = children(child).collect();
                    let [name] = inner[..] else {
                        self.mark_unparseable("a command without a name");
                        continue;
                    };
                    words.push(self.read_word(name, depth + 1));
                }
                _ => words.push(self.read_word(child, depth + 1)),
            }
        }
        if words.is_empty() {
            self.note_unknown("a line without a command");
        } else {
            self.script.commands.push(SimpleCommand { words });
        }
    }

    fn read_word(&mut self, node: Node<'_>, depth: usize) -> ShellWord {
        let word = word(node, self.text);
        if matches!(word, ShellWord::Unknown | ShellWord::Spelled(_)) {
            self.read_other(node, depth);
        }
        word
    }

    /// Reads any other construct: no pattern allows it, but its commands may be denied.
    fn read_other(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_SHELL_SYNTAX_DEPTH {
            return self.mark_unparseable("too many nested commands");
        }
        self.note_unknown(name_of(node.kind()));
        match node.kind() {
            "command" => return self.command(node, depth + 1),
            "ERROR" => self.unparseable = true,
            // The grammar has no name node for these commands.
            "declaration_command" | "unset_command" | "test_command" => {
                let words = self.slice(node).split_whitespace();
                let words = words.map(|word| ShellWord::Spelled(word.to_owned())).collect();
                self.script.commands.push(SimpleCommand { words });
            }
            // Its braces may expand to words that are not in the text.
            "concatenation" => self.unparseable = true,
            _ => {}
        }
        for child in children(node).filter(Node::is_named) {
            self.read_other(child, depth + 1);
        }
    }

    /// Checks that the text between the parts of a node is blank. If the grammar skips other
    /// text, it parses differently from a shell.
    fn check_gaps(&mut self, node: Node<'_>) {
        let mut at = node.start_byte();
        for child in children(node) {
            self.check_blank(at, child.start_byte());
            at = child.end_byte();
        }
        self.check_blank(at, node.end_byte());
        if node.parent().is_none() {
            self.check_blank(0, node.start_byte());
            self.check_blank(node.end_byte(), self.text.len());
        }
    }

    fn check_blank(&mut self, from: usize, to: usize) {
        let gap = self.text.get(from..to).unwrap_or_default();
        // Line breaks were recorded before.
        if !gap.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
            self.mark_unparseable("an incomplete command");
        }
    }

    fn slice(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// The children of a node. Access by index would need time linear in the index.
fn children<'tree>(node: Node<'tree>) -> impl Iterator<Item = Node<'tree>> {
    let mut cursor = node.walk();
    let mut is_next = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let child = is_next.then(|| cursor.node());
        is_next = is_next && cursor.goto_next_sibling();
        child
    })
}

fn name_of(kind: &str) -> &'static str {
    match kind {
        "command_substitution" => "a command substitution",
        "process_substitution" => "a process substitution",
        "simple_expansion" | "expansion" | "arithmetic_expansion" => "an expansion",
        "pipeline" | "|" | "|&" => "a pipe",
        "&" => "a command in the background",
        "file_redirect" => "a redirection",
        "heredoc_redirect" | "herestring_redirect" => "a here-document",
        "variable_assignment" | "variable_assignments" => "an assignment",
        "function_definition" => "a function",
        "subshell" => "a subshell",
        "comment" => "a comment",
        "declaration_command" | "unset_command" => "a change of variables",
        "ansi_c_string" | "translated_string" | "concatenation" | "word" => "a word with expansions",
        "ERROR" => "an incomplete command",
        _ => "compound commands",
    }
}

#[cfg(test)]
mod tests;
