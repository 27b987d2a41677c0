//! The subject at a position: a plain name, a member, a named argument, part of an import.

use std::sync::Arc;

use tree_sitter::Node;

use crate::syntax::grammar::MemberAccess;
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::extract::last_name;
use crate::syntax::resolution::imports::ImportItem;
use crate::syntax::resolution::resolve::{ResolutionTarget, Resolver};
use crate::syntax::resolution::source::ParsedSource;

/// The maximum number of tree levels above a name that are searched for its context.
const MAX_CONTEXT_ANCESTORS: usize = 12;

/// The method by which the meaning of a name was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolutionMethod {
    /// The name is the definition's own.
    Itself,
    /// Scopes and imports.
    Name,
    /// By the member of a known value or type.
    Member,
    /// By the parameter or field that an argument names.
    Argument,
    /// By an import.
    Import,
}

/// A name in its place.
pub(crate) struct NameOccurrence {
    /// The text of the name.
    pub(crate) name: String,
    /// The span of the name, in bytes.
    pub(crate) span: std::ops::Range<usize>,
    /// True if the name follows `.`, `::` or `->`.
    pub(crate) is_member: bool,
    /// True if the name is called.
    pub(crate) is_called: bool,
    /// The last name of the expression before the dot.
    pub(crate) owner: Option<String>,
    /// True if the name is in a comment or string.
    pub(crate) is_quiet: bool,
}

/// Describes the name at `span` of `source`.
pub(crate) fn name_occurrence(source: &ParsedSource, span: std::ops::Range<usize>) -> NameOccurrence {
    let before = source.text[..span.start].trim_end();
    let after = source.text[span.end..].trim_start();
    let access = ["?.", "::", "->", "."].into_iter().find(|access| before.ends_with(access));
    let is_spread = before.ends_with("...") || before.ends_with("..");
    let owner = access.and_then(|access| {
        let rest = before[..before.len() - access.len()].trim_end();
        let rest =
            rest.strip_suffix(')').and_then(|call| call.rsplit_once('(')).map_or(rest, |(callee, _)| callee);
        let owner = rest.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next()?;
        (!owner.is_empty()).then(|| owner.to_owned())
    });
    NameOccurrence {
        name: source.slice(&span).to_owned(),
        is_member: access.is_some() && !is_spread,
        is_called: after.starts_with('(') || after.starts_with("!("),
        owner,
        is_quiet: source.is_comment_or_string(span.start),
        span,
    }
}

/// Resolves the name at `spot`, as far as scopes, imports and types show its meaning.
pub(crate) fn resolve_occurrence(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
) -> (ResolutionMethod, Vec<ResolutionTarget>) {
    if let Some(found) = resolve_namespace(resolver, source, spot) {
        return (ResolutionMethod::Name, vec![found]);
    }
    let itself = |index: &usize| source.definitions[*index].selection == spot.span;
    if let Some(index) = source.definitions_named(&spot.name).find(itself) {
        return of_definition(resolver, source, index);
    }
    if let Some(found) = in_import(resolver, source, spot) {
        return (ResolutionMethod::Import, found);
    }
    let Some(leaf) = source.node(&spot.span) else { return (ResolutionMethod::Name, Vec::new()) };
    if spot.is_quiet
        || leaf.kind() == "token_tree"
        || leaf.parent().is_some_and(|parent| parent.kind() == "token_tree")
    {
        return resolve_chain(resolver, source, spot);
    }
    let mut node = leaf;
    for _ in 0..MAX_CONTEXT_ANCESTORS {
        let Some(parent) = node.parent() else { break };
        if let Some(found) = as_argument(resolver, source, spot, parent, node) {
            return (ResolutionMethod::Argument, found);
        }
        if let Some(MemberAccess { owner: Some(owner), name: Some(name) }) =
            source.grammar.member_access(parent)
            && name.id() == node.id()
        {
            return (ResolutionMethod::Member, resolver.member_of(source, owner, &spot.name));
        }
        if parent.byte_range() != node.byte_range() {
            break;
        }
        node = parent;
    }
    (ResolutionMethod::Name, resolver.resolve_name(source, &spot.name, spot.span.start))
}

/// Resolves a name of JavaScript's `import * as name` to that import.
fn resolve_namespace(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
) -> Option<ResolutionTarget> {
    if source.grammar.selves != ["this"] || source.grammar.implicit_members || spot.is_member {
        return None;
    }
    let index = *resolver.visible_definitions(source, &spot.name, spot.span.start).first()?;
    let DefinitionRole::Import(import) = source.definitions[index].role else { return None };
    let import = &source.imports[import];
    let is_star = import.item == ImportItem::Whole && source.slice(&import.span).contains('*');
    (is_star && !spot.is_quiet).then(|| ResolutionTarget::Definition(source.clone(), index))
}

/// Resolves the name of a definition: to that definition, or to the target of its import.
fn of_definition(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    index: usize,
) -> (ResolutionMethod, Vec<ResolutionTarget>) {
    let definition = &source.definitions[index];
    let own = ResolutionTarget::Definition(source.clone(), index);
    match definition.role {
        DefinitionRole::Import(import) => {
            let found = resolver.resolve_import(source, import);
            (ResolutionMethod::Import, if found.is_empty() { vec![own] } else { found })
        }
        DefinitionRole::Extension => {
            let found = resolver.resolve_name(source, &definition.name, definition.selection.start);
            (ResolutionMethod::Name, if found.is_empty() { vec![own] } else { found })
        }
        DefinitionRole::Prototype => {
            let same = resolver.visible_definitions(source, &definition.name, definition.selection.start);
            let found: Vec<ResolutionTarget> =
                same.into_iter().map(|index| ResolutionTarget::Definition(source.clone(), index)).collect();
            let is_settled = found
                .first()
                .and_then(ResolutionTarget::definition)
                .is_some_and(|first| first.role != DefinitionRole::Prototype);
            (
                if is_settled { ResolutionMethod::Itself } else { ResolutionMethod::Name },
                if found.is_empty() { vec![own] } else { found },
            )
        }
        // `{ name }` refers to the variable and to the property.
        DefinitionRole::Property if definition.span == definition.selection => {
            let mut found = resolver.resolve_name(source, &definition.name, definition.selection.start);
            found.push(own);
            (ResolutionMethod::Name, found)
        }
        // `const { name } = value` takes a member of the value.
        DefinitionRole::Variable | DefinitionRole::Parameter
            if definition.is_part && is_shorthand_pattern(source, definition) =>
        {
            let types = match (&definition.type_span, &definition.value_span) {
                (Some(span), _) => resolver.names_in(source, source.slice(span), span.start),
                (None, Some(span)) => {
                    source.node(span).map_or_else(Vec::new, |value| resolver.type_of(source, value))
                }
                (None, None) => Vec::new(),
            };
            let mut found: Vec<ResolutionTarget> =
                types.iter().flat_map(|owner| resolver.resolve_member(owner, &definition.name)).collect();
            found.push(own);
            (ResolutionMethod::Itself, found)
        }
        // `x = 2` after `x = 1` refers to the same variable.
        DefinitionRole::Variable if !source.grammar.shadowing => {
            let same = resolver.visible_definitions(source, &definition.name, definition.selection.start);
            let found = same
                .into_iter()
                .filter(|&other| !matches!(source.definitions[other].role, DefinitionRole::Import(_)));
            let found: Vec<ResolutionTarget> =
                found.map(|index| ResolutionTarget::Definition(source.clone(), index)).collect();
            (ResolutionMethod::Itself, if found.is_empty() { vec![own] } else { found })
        }
        // `self.x = …` refers to the field, regardless of its first assignment.
        DefinitionRole::Field => {
            let class = source
                .class_at(definition.selection.start)
                .map(|class| ResolutionTarget::Definition(source.clone(), class));
            let found =
                class.map_or_else(Vec::new, |class| resolver.resolve_member(&class, &definition.name));
            (ResolutionMethod::Itself, if found.is_empty() { vec![own] } else { found })
        }
        _ => (ResolutionMethod::Itself, vec![own]),
    }
}

fn is_shorthand_pattern(source: &ParsedSource, definition: &SourceDefinition) -> bool {
    source
        .node(&definition.selection)
        .is_some_and(|node| node.kind() == "shorthand_property_identifier_pattern")
}

/// Resolves a part of an import that is not the bound name: the module, or the name before `as`.
fn in_import(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
) -> Option<Vec<ResolutionTarget>> {
    let imports: Vec<_> =
        source.imports.iter().filter(|import| import.span.contains(&spot.span.start)).collect();
    let first = imports.first()?;
    if spot.is_quiet || source.grammar.key == "c" || source.grammar.key == "cpp" {
        return Some(resolver.resolve_module(source, &first.module, spot.span.start));
    }
    if source.grammar.key == "rust" {
        return rust_import(resolver, source, spot);
    }
    if let Some(import) = imports.iter().find(|import| import.item == ImportItem::Named(spot.name.clone())) {
        let index = source.imports.iter().position(|other| other == *import)?;
        return Some(resolver.resolve_import(source, index));
    }
    // The module, up to the part asked about.
    let end = spot.span.end;
    let from = source.text[first.span.start..end]
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))?;
    let written = source.text[first.span.start + from..end]
        .trim_start_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    (source.grammar.key == "python").then(|| resolver.resolve_module(source, written, spot.span.start))
}

/// Resolves a path inside a `use` tree: the prefixes of the braces around it, then the path itself.
fn rust_import(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
) -> Option<Vec<ResolutionTarget>> {
    let leaf = source.node(&spot.span)?;
    let (mut node, mut path) = (leaf, spot.name.clone());
    for _ in 0..MAX_CONTEXT_ANCESTORS * 2 {
        let parent = node.parent()?;
        let prefix = match parent.kind() {
            "scoped_identifier"
                if parent.child_by_field_name("name").is_some_and(|name| name.id() == node.id()) =>
            {
                parent.child_by_field_name("path")
            }
            "scoped_use_list"
                if parent.child_by_field_name("list").is_some_and(|list| list.id() == node.id()) =>
            {
                parent.child_by_field_name("path")
            }
            "use_declaration" => break,
            _ => None,
        };
        if let Some(prefix) = prefix {
            path = format!("{}::{path}", source.text_of(prefix));
        }
        node = parent;
    }
    Some(resolver.resolve_module(source, &path, spot.span.start))
}

/// Resolves the argument name in `f(name=…)` and `Struct { name: … }`.
fn as_argument(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
    parent: Node<'_>,
    node: Node<'_>,
) -> Option<Vec<ResolutionTarget>> {
    let (_, field) = source.grammar.named_arguments.iter().find(|(kind, _)| *kind == parent.kind())?;
    if parent.child_by_field_name(field).is_none_or(|name| name.id() != node.id()) {
        return None;
    }
    let call = parent.parent()?.parent()?;
    // A pattern names its type; a construction or a call names its type or callee.
    let named = ["type", "name", "function"].iter().find_map(|field| {
        let around = if *field == "type" { parent.parent()? } else { call };
        around.child_by_field_name(field)
    })?;
    let callees = resolver.resolve_expression(source, named);
    let mut found = Vec::new();
    for callee in &callees {
        let ResolutionTarget::Definition(file, index) = callee else { continue };
        let definition = &file.definitions[*index];
        if definition.role.is_callable() {
            found.extend(parameter_named(file, *index, &spot.name));
            continue;
        }
        let constructors = resolver.resolve_member(callee, "__init__");
        for constructor in &constructors {
            if let ResolutionTarget::Definition(file, index) = constructor {
                found.extend(parameter_named(file, *index, &spot.name));
            }
        }
        if found.is_empty() {
            found.extend(resolver.resolve_member(callee, &spot.name));
        }
    }
    Some(found)
}

/// The parameter `name` of a function.
fn parameter_named(source: &Arc<ParsedSource>, function: usize, name: &str) -> Option<ResolutionTarget> {
    let span = &source.definitions[function].span;
    let index = source.definitions_named(name).find(|&index| {
        let definition = &source.definitions[index];
        definition.role == DefinitionRole::Parameter && source.scopes[definition.scope].span == *span
    })?;
    Some(ResolutionTarget::Definition(source.clone(), index))
}

/// Resolves a name without a tree (in comments, macros), by the names joined with `.` and `::`
/// before it.
fn resolve_chain(
    resolver: &Resolver<'_>,
    source: &Arc<ParsedSource>,
    spot: &NameOccurrence,
) -> (ResolutionMethod, Vec<ResolutionTarget>) {
    let start = source.text[..spot.span.start]
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$')))
        .map_or(0, |at| at + source.text[at..].chars().next().map_or(1, char::len_utf8));
    let written = source.text[start..spot.span.start].trim_start_matches(['.', ':']);
    let mut parts = written.split(['.', ':']).filter(|part| !part.is_empty());
    let Some(first) = parts.next() else {
        if spot.is_member {
            return (ResolutionMethod::Name, Vec::new());
        }
        let found = resolver.resolve_name(source, &spot.name, spot.span.start);
        return (
            ResolutionMethod::Name,
            if found.is_empty() { documented_parameter(source, spot) } else { found },
        );
    };
    let mut owners = resolver.resolve_name(source, last_name(first), spot.span.start);
    for part in parts {
        owners = owners.iter().flat_map(|owner| resolver.resolve_member(owner, part)).collect();
    }
    (
        ResolutionMethod::Member,
        owners
            .iter()
            .map(|owner| resolver.resolve_member(owner, &spot.name))
            .find(|found| !found.is_empty())
            .unwrap_or_default(),
    )
}

/// Resolves a name in the comment above a function to its parameter of that name.
fn documented_parameter(source: &Arc<ParsedSource>, spot: &NameOccurrence) -> Vec<ResolutionTarget> {
    let is_after = |definition: &SourceDefinition| {
        definition.role.is_callable() && definition.span.start > spot.span.end
    };
    let next = source.definitions.iter().position(is_after).filter(|_| spot.is_quiet);
    next.and_then(|function| parameter_named(source, function, &spot.name)).into_iter().collect()
}
