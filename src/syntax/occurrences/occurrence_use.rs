//! The use of a name at one of its places, as far as the syntax tree around it shows.

use tree_sitter::Node;

use crate::syntax::resolution::source::ParsedSource;

/// The maximum number of tree levels above a name that are searched for a type around it.
const MAX_TYPE_ANCESTORS: usize = 8;

/// Nodes of types, in which a name calls nothing.
const TYPE_NODES: &[&str] = &["type", "type_annotation", "type_arguments", "type_identifier"];

/// Nodes in which a name stands for a value that is passed on or kept: arguments, collections,
/// assignments, results.
const VALUE_NODES: &[&str] = &[
    "argument_list",
    "arguments",
    "array",
    "array_expression",
    "assignment",
    "assignment_expression",
    "conditional_expression",
    "dictionary",
    "expression_list",
    "init_declarator",
    "initializer_list",
    "keyword_argument",
    "keyed_element",
    "list",
    "literal_element",
    "object",
    "pair",
    "return_statement",
    "set",
    "ternary_expression",
    "tuple",
    "variable_declarator",
];

/// The use that code makes of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OccurrenceUse {
    /// The name is part of a type.
    Type,
    /// The name is passed on or kept as a value: `sum(map(NAME, all))`, `{"key": NAME}`.
    Value,
    /// Another use, possibly a call.
    Other,
}

/// The use of the name of `length` bytes at byte `at` of `source`.
pub(super) fn occurrence_use(source: &ParsedSource, at: usize, length: usize) -> OccurrenceUse {
    let Some(leaf) = source.node(&(at..at + length)) else { return OccurrenceUse::Other };
    if is_in_type(source, leaf) {
        return OccurrenceUse::Type;
    }
    match value_of(source, leaf).parent() {
        Some(parent) if VALUE_NODES.contains(&parent.kind()) => OccurrenceUse::Value,
        _ => OccurrenceUse::Other,
    }
}

/// Returns true if a name is part of a type and constructs nothing there: `new NAME()` and
/// `NAME{…}` are calls.
fn is_in_type(source: &ParsedSource, leaf: Node<'_>) -> bool {
    // In C++ a declaration calls the constructor of its type.
    if source.grammar.key == "cpp" {
        return false;
    }
    let above = std::iter::successors(Some(leaf), |node| node.parent()).take(MAX_TYPE_ANCESTORS);
    for node in above {
        if is_callee(source, node) {
            return false;
        }
        if TYPE_NODES.contains(&node.kind()) {
            return true;
        }
    }
    false
}

/// Returns true if a node is the callee of the call or construction around it.
fn is_callee(source: &ParsedSource, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    source.grammar.calls.iter().filter(|(kind, _)| *kind == parent.kind()).any(|(_, field)| {
        let callee = field.and_then(|field| parent.child_by_field_name(field));
        callee.is_some_and(|callee| callee.id() == node.id())
    })
}

/// The value that ends in the name: `a.b.NAME`.
fn value_of<'t>(source: &ParsedSource, leaf: Node<'t>) -> Node<'t> {
    let is_access = |parent: &Node<'t>| {
        let name = source.grammar.member_access(*parent).and_then(|access| access.name);
        name.is_some_and(|name| name.id() == leaf.id())
    };
    leaf.parent().filter(is_access).unwrap_or(leaf)
}
