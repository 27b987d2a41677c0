//! The names that a file uses.

use tree_sitter::Node;

use crate::syntax::resolution::source::ParsedSource;
use crate::text::words_in;

/// All nodes of the tree, in no particular order.
pub(super) fn nodes(source: &ParsedSource) -> Vec<Node<'_>> {
    let (mut all, mut next) = (vec![source.tree.root_node()], 0);
    while let Some(node) = all.get(next).copied() {
        all.extend(node.children(&mut node.walk()));
        next += 1;
    }
    all
}

/// The names that the code uses by themselves, outside imports, with their places. Names in quoted
/// types count.
pub(super) fn names_used(source: &ParsedSource) -> Vec<(&str, usize)> {
    let is_import = |byte: usize| source.imports.iter().any(|import| import.span.contains(&byte));
    let is_plain = |node: &Node<'_>| {
        let Some(parent) = node.parent() else { return true };
        let is_member = source.grammar.member_access(parent).and_then(|access| access.name);
        let names_argument = source.grammar.named_arguments.iter().any(|(kind, field)| {
            *kind == parent.kind()
                && parent.child_by_field_name(field).is_some_and(|name| name.id() == node.id())
        });
        is_member.is_none_or(|name| name.id() != node.id()) && !names_argument
    };
    let mut found = Vec::new();
    for node in nodes(source) {
        if source.grammar.names.contains(&node.kind()) {
            if is_plain(&node) && !is_import(node.start_byte()) {
                found.push((source.text_of(node), node.start_byte()));
            }
        } else if node.kind() == "string_content"
            && node.parent().and_then(|text| text.parent()).is_some_and(|around| around.kind() == "type")
        {
            found.extend(words_in(source.text_of(node)).map(|word| (word, node.start_byte())));
        }
    }
    found
}

pub(super) fn first_use(source: &ParsedSource, name: &str, start: usize) -> Option<usize> {
    let uses = names_used(source).into_iter().filter(|(used, byte)| *used == name && *byte >= start);
    uses.map(|(_, byte)| byte).min()
}

pub(super) fn is_used(source: &ParsedSource, name: &str) -> bool {
    names_used(source).iter().any(|(used, _)| *used == name)
}

/// Returns true if a string is exactly `name`, as in `__all__`.
pub(super) fn is_quoted(source: &ParsedSource, name: &str) -> bool {
    nodes(source).iter().any(|node| node.kind() == "string_content" && source.text_of(*node) == name)
}

/// Returns true if a wildcard import of the Python file `source` may bring `name` in. An `__all__`
/// that is not one list of strings may contain any name.
pub(super) fn is_exported(source: &ParsedSource, name: &str) -> bool {
    let Some(index) = source.definitions_named("__all__").next() else { return !name.starts_with('_') };
    let value = source.definitions[index].value_span.as_ref().and_then(|span| source.node(span));
    let is_list = value.filter(|value| matches!(value.kind(), "list" | "tuple")).is_some_and(|value| {
        let mut cursor = value.walk();
        value.named_children(&mut cursor).all(|item| matches!(item.kind(), "string" | "comment"))
    });
    let is_known = is_list && source.text.matches("__all__").count() == 1;
    !is_known || is_quoted(source, name)
}
