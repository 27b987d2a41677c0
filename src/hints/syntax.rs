//! The syntax errors that a parser sees: not what a language server would say, and never "clean".

use std::time::Instant;

use tree_sitter::Node;

use super::candidates::HintError;
use super::project::Project;
use super::source::Source;
use crate::config::Catalogue;
use crate::text::Range;
use crate::workspace::{Workspace, WorkspacePath};

/// How many errors are given at most: behind the first ones a parser mostly repeats itself.
const MOST_ERRORS: usize = 50;
/// How much of the text around an error is shown, in characters.
const SHOWN: usize = 24;

/// A place where the text is not what the grammar allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub range: Range,
    /// What is wrong there.
    pub message: String,
}

/// The syntax errors of a file, in order; empty also where there is no grammar for its language.
///
/// # Errors
/// [`HintError`] where the file cannot be read.
pub fn syntax_errors(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Result<Vec<SyntaxError>, HintError> {
    workspace.stamp(path)?;
    let project = Project::new(workspace, catalogue, deadline);
    let Some(source) = project.source(path) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut next = vec![source.tree.root_node()];
    while let Some(node) = next.pop() {
        if found.len() == MOST_ERRORS || !node.has_error() {
            continue;
        }
        if node.is_missing() {
            found.push(error(&source, node, format!("missing {}", named(node.kind()))));
        } else if node.is_error() {
            let shown = start_of(&source, node);
            let near = if shown.is_empty() { String::new() } else { format!(" near `{shown}`") };
            found.push(error(&source, node, format!("syntax error{near}")));
        } else {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            next.extend(children.into_iter().rev());
        }
    }
    Ok(found)
}

fn error(source: &Source, node: Node<'_>, message: String) -> SyntaxError {
    let mut range = source.range(&node.byte_range());
    // An error may swallow the rest of the file; where it begins is what helps.
    if range.end.line > range.start.line {
        range.end = source.buffer().clamp(crate::text::Position::new(range.start.line, u32::MAX));
    }
    SyntaxError { range, message }
}

/// The grammar's word for a token, as people know it.
fn named(kind: &str) -> String {
    let is_word = kind.chars().all(|character| character.is_alphabetic() || character == '_');
    if is_word { kind.replace('_', " ") } else { format!("`{kind}`") }
}

fn start_of(source: &Source, node: Node<'_>) -> String {
    let line = source.text_of(node).trim_start().lines().next().unwrap_or_default();
    line.chars().take(SHOWN).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::DEADLINE;
    use std::path::Path;

    fn errors(name: &str, text: &str) -> Vec<String> {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join(name), text).unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = workspace.path(Path::new(name)).unwrap();
        let found = syntax_errors(&workspace, Catalogue::built_in(), &path, Instant::now() + DEADLINE).unwrap();
        found.iter().map(|error| format!("{}: {}", error.range.start.line + 1, error.message)).collect()
    }

    #[test]
    fn errors_are_named_and_right_text_has_none() {
        assert_eq!(errors("a.rs", "fn main() { let x = 1; }\n"), Vec::<String>::new());
        assert_eq!(errors("a.rs", "fn main() {\n    let x = ;\n}\n").len(), 1);
        assert!(errors("a.js", "function f( {\n  return 1;\n}\n")[0].contains("1: "));
        assert_eq!(errors("a.c", "int main(void) { return 0 }\n"), ["1: missing `;`"]);
        assert_eq!(errors("a.unknown", "((("), Vec::<String>::new());
    }
}
