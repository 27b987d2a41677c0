//! Literal values in a Python module, read from its text without running it.

use std::time::Instant;

use serde_json::{Map, Number, Value};
use tree_sitter::{Node, Tree};

use crate::syntax::grammar::Grammar;
use crate::syntax::parse::parse;

/// The maximum nesting depth of a value.
const MAX_LITERAL_DEPTH: usize = 32;

/// A Python module, as far as its text shows it.
#[derive(Debug)]
pub(crate) struct PythonModule<'t> {
    text: &'t str,
    tree: Tree,
}

impl<'t> PythonModule<'t> {
    /// Parses `text`; `None` if it cannot be parsed in time.
    pub(crate) fn read(text: &'t str, deadline: Instant) -> Option<Self> {
        let tree = parse(Grammar::for_language("python", Some("py"))?, text, deadline).ok()?;
        Some(Self { text, tree })
    }

    /// Returns true if the module defines a function called `name`.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.statements().any(|statement| {
            let function = match statement.kind() {
                "decorated_definition" => statement.child_by_field_name("definition"),
                _ => Some(statement),
            };
            function.is_some_and(|function| {
                function.kind() == "function_definition" && self.named(function, "name") == Some(name)
            })
        })
    }

    /// Returns the value that is assigned to `name`; `None` if there is no assignment.
    ///
    /// # Errors
    /// The part of the value that is not a literal, with its place.
    pub(crate) fn constant(&self, name: &str) -> Result<Option<Value>, String> {
        let assigned = self.statements().filter_map(|statement| {
            let assignment = statement.named_child(0).filter(|inner| inner.kind() == "assignment")?;
            let is_meant = self.named(assignment, "left") == Some(name);
            if is_meant { assignment.child_by_field_name("right") } else { None }
        });
        assigned.last().map(|node| self.value(node, 0)).transpose()
    }

    fn statements(&self) -> impl Iterator<Item = Node<'_>> {
        let root = self.tree.root_node();
        (0..root.named_child_count()).filter_map(move |at| root.named_child(u32::try_from(at).ok()?))
    }

    fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn named(&self, node: Node<'_>, field: &str) -> Option<&'t str> {
        node.child_by_field_name(field).map(|name| self.text_of(name))
    }

    fn value(&self, node: Node<'_>, depth: usize) -> Result<Value, String> {
        if depth > MAX_LITERAL_DEPTH {
            return Err(self.literal_error(node));
        }
        let mut cursor = node.walk();
        let mut parts = node.named_children(&mut cursor).filter(|part| part.kind() != "comment");
        match node.kind() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "none" => Ok(Value::Null),
            "integer" | "float" | "unary_operator" => {
                let number = self.text_of(node).replace('_', "");
                let number: Option<Number> = number.parse().ok();
                number.map(Value::Number).ok_or_else(|| self.literal_error(node))
            }
            "string" | "concatenated_string" => self.string(node).map(Value::String),
            "parenthesized_expression" => match (parts.next(), parts.next()) {
                (Some(inner), None) => self.value(inner, depth + 1),
                _ => Err(self.literal_error(node)),
            },
            "list" | "tuple" => parts.map(|part| self.value(part, depth + 1)).collect(),
            "dictionary" => {
                let mut map = Map::new();
                for pair in parts {
                    let (Some(key), Some(value)) =
                        (pair.child_by_field_name("key"), pair.child_by_field_name("value"))
                    else {
                        return Err(self.literal_error(pair));
                    };
                    map.insert(self.string(key)?, self.value(value, depth + 1)?);
                }
                Ok(Value::Object(map))
            }
            _ => Err(self.literal_error(node)),
        }
    }

    fn string(&self, node: Node<'_>) -> Result<String, String> {
        let mut cursor = node.walk();
        match node.kind() {
            "concatenated_string" => node
                .named_children(&mut cursor)
                .filter(|part| part.kind() != "comment")
                .map(|part| self.string(part))
                .collect(),
            "string" => {
                let opening =
                    node.child(0).map(|start| self.text_of(start).to_ascii_lowercase()).unwrap_or_default();
                let prefix = opening.trim_end_matches(['"', '\'']);
                if !matches!(prefix, "" | "r" | "u") {
                    return Err(self.literal_error(node));
                }
                let content: Vec<Node<'_>> =
                    node.named_children(&mut cursor).filter(|part| part.kind() == "string_content").collect();
                let content: String = content.into_iter().map(|part| self.text_of(part)).collect();
                if prefix == "r" {
                    Ok(content)
                } else {
                    unescaped(&content).ok_or_else(|| self.literal_error(node))
                }
            }
            _ => Err(self.literal_error(node)),
        }
    }

    fn literal_error(&self, node: Node<'_>) -> String {
        let shown: String = self.text_of(node).chars().take(40).collect();
        format!("line {}: `{}` is not a plain value", node.start_position().row + 1, shown.escape_debug())
    }
}

/// Returns the text that Python makes of a string's content; `None` for an escape that is not
/// supported here.
fn unescaped(content: &str) -> Option<String> {
    let mut text = String::with_capacity(content.len());
    let mut rest = content.chars();
    while let Some(char) = rest.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        match rest.next()? {
            '\n' => {}
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            quoted @ ('\\' | '\'' | '"') => text.push(quoted),
            coded @ ('x' | 'u' | 'U') => {
                let digits = match coded {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let digits: String = rest.by_ref().take(digits).collect();
                text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn constant(text: &str) -> Result<Option<Value>, String> {
        let deadline = Instant::now() + Duration::from_secs(30);
        PythonModule::read(text, deadline).expect("a tree").constant("SCHEMA")
    }

    #[test]
    fn python_literal_is_parsed_as_python_evaluates_it() {
        let text = r#"
import os

SCHEMA = {
    "name": 'lint',  # a comment
    "description": ("Lints a file. "
                    "It says \"no\"\n\u00e9."),
    "inputSchema": {"type": "object", "required": [], "properties": {}, r"a\b": """x
y""", "numbers": (1, -2, 3.5, 1_000), "flags": [True, False, None,],},
}
"#;
        let expected = json!({
            "name": "lint",
            "description": "Lints a file. It says \"no\"\n\u{e9}.",
            "inputSchema": {"type": "object", "required": [], "properties": {}, "a\\b": "x\ny",
                            "numbers": [1, -2, 3.5, 1000], "flags": [true, false, null]},
        });
        assert_eq!(constant(text), Ok(Some(expected)));
        assert_eq!(constant("SCHEMA = {'a': 1}\nSCHEMA = {'a': 2}\n"), Ok(Some(json!({"a": 2}))));
        assert_eq!(constant("OTHER = 1\nif True:\n    SCHEMA = {}\n"), Ok(None));
    }

    #[test]
    fn python_constant_that_needs_execution_is_refused_with_line() {
        for (text, why) in [
            ("SCHEMA = make()", "line 1: `make()` is not a plain value"),
            ("SCHEMA = {\n  'a': f'{x}'}", "line 2: `f\\'{x}\\'` is not a plain value"),
            ("SCHEMA = {**BASE}", "line 1: `**BASE` is not a plain value"),
            ("SCHEMA = {1: 2}", "line 1: `1` is not a plain value"),
            ("SCHEMA = b'x'", "line 1: `b\\'x\\'` is not a plain value"),
        ] {
            assert_eq!(constant(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn python_module_has_top_level_functions_only() {
        let text = "async def execute(a, b):\n    pass\n\n@wraps\ndef other():\n    pass\n\nclass A:\n    def inner(self): pass\n";
        let module = PythonModule::read(text, Instant::now() + Duration::from_secs(30)).expect("a tree");
        assert_eq!(["execute", "other", "inner"].map(|name| module.has_function(name)), [true, true, false]);
    }
}
