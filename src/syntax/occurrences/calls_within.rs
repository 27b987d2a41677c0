//! The calls in a function's body, by its syntax: the reference for a server's list of callees.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use tree_sitter::Node;

use crate::config::Catalogue;
use crate::syntax::resolution::definition::SourceDefinition;
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::resolve::Resolver;
use crate::syntax::resolution::source::ParsedSource;
use crate::text::{Position, words_in};
use crate::workspace::{Workspace, WorkspacePath};

/// The maximum number of calls of one function that are examined.
const MAX_CALLS_WITHIN: usize = 1_000;

/// A call in the body of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallWithin {
    /// The last word of the callee; empty for a callee without a name.
    pub(crate) name: String,
    /// The start of that word, or else of the called value.
    pub(crate) position: Position,
}

/// Returns the calls in the body of the function that is defined at `position`, without those in
/// functions that it defines. Calls of members, of values without a name, and of names that the
/// file defines or imports count. All other callees are part of the language.
pub(crate) fn calls_within(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    position: Position,
    deadline: Instant,
) -> Vec<CallWithin> {
    let project = Project::new(workspace, catalogue, deadline);
    let Some(source) = project.source(path) else { return Vec::new() };
    let at = source.buffer().byte_offset(position);
    let is_named_here = |found: &&SourceDefinition| {
        found.role.is_callable() && (found.selection.start..=found.selection.end).contains(&at)
    };
    let of_function = source.definitions.iter().find(is_named_here);
    let Some(whole) = of_function.and_then(|found| source.node(&found.span)) else { return Vec::new() };
    let callables = source.definitions.iter().filter(|found| found.role.is_callable());
    let mut inner: HashSet<Range<usize>> = callables.map(|found| found.span.clone()).collect();
    inner.remove(&whole.byte_range());
    let resolver = Resolver::new(&project);
    let (mut found, mut waiting) = (Vec::new(), vec![whole]);
    while let Some(node) = waiting.pop().filter(|_| found.len() < MAX_CALLS_WITHIN) {
        if inner.contains(&node.byte_range()) {
            continue;
        }
        found.extend(callee(&source, node).and_then(|callee| call(&source, &resolver, callee)));
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|call| call.position);
    found
}

/// The callee of `node`, if that is a call.
fn callee<'t>(source: &ParsedSource, node: Node<'t>) -> Option<Node<'t>> {
    let (_, field) = source.grammar.calls.iter().find(|(kind, _)| *kind == node.kind())?;
    node.child_by_field_name((*field)?)
}

fn call(source: &ParsedSource, resolver: &Resolver<'_>, callee: Node<'_>) -> Option<CallWithin> {
    let is_name = |node: Node<'_>| source.grammar.names.contains(&node.kind());
    let named = match source.grammar.member_access(callee) {
        Some(access) => access.name?,
        None => callee,
    };
    if !is_name(named) {
        // `handlers[key]()`, `make()()`: there is no name that a server could list.
        let name = words_in(source.text_of(callee)).next().unwrap_or_default().to_owned();
        return Some(CallWithin { name, position: source.position(callee.start_byte()) });
    }
    let name = source.text_of(named);
    let is_known = named.id() != callee.id()
        || !resolver.visible_definitions(source, name, named.start_byte()).is_empty();
    is_known.then(|| CallWithin { name: name.to_owned(), position: source.position(named.start_byte()) })
}
