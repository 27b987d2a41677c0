//! Extraction of definitions, scopes and imports from a syntax tree.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range as Span};
use std::time::Instant;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, QueryCursorOptions, QueryMatch, Tree};

use super::definition::{DefinitionRole, LexicalScope, ScopeKind, SourceDefinition};
use super::imports::{self, ImportItem, SourceImport};
use crate::syntax::grammar::Grammar;
use crate::syntax::parse::ParseError;

/// The maximum number of simultaneous matches of a query; the queries need a handful.
const MAX_IN_PROGRESS_MATCHES: u32 = 4_096;

/// The maximum depth of patterns and declarators that are followed.
const MAX_PATTERN_DEPTH: usize = 64;

/// The definitions, scopes and imports of a file.
pub(super) struct ExtractedSymbols {
    pub(crate) definitions: Vec<SourceDefinition>,
    pub(crate) scopes: Vec<LexicalScope>,
    pub(crate) imports: Vec<SourceImport>,
    pub(crate) quiet: Vec<Span<usize>>,
}

/// A definition or scope without its parent, which is determined later.
struct RawDefinition {
    span: Span<usize>,
    definition: Option<SourceDefinition>,
    /// True if it is known in the whole file, at any place (a shell's variables that are not
    /// `local`).
    is_global: bool,
}

/// One match of the query, by the names of its captures.
#[derive(Default)]
struct Captures<'t> {
    role: Option<(&'static str, Node<'t>)>,
    names: Vec<Node<'t>>,
    patterns: Vec<Node<'t>>,
    declarators: Vec<Node<'t>>,
    container: Option<Node<'t>>,
    type_node: Option<Node<'t>>,
    value: Option<Node<'t>>,
    is_part: bool,
    bases: Vec<Node<'t>>,
}

/// Finds the definitions in the tree of `text`.
///
/// # Errors
/// [`ParseError::TimedOut`] if the deadline passes first.
pub(super) fn extract(
    grammar: &Grammar,
    text: &str,
    tree: &Tree,
    deadline: Instant,
) -> Result<ExtractedSymbols, ParseError> {
    let mut is_late = |_: &tree_sitter::QueryCursorState| {
        if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(MAX_IN_PROGRESS_MATCHES);
    let query = grammar.query();
    let mut collector =
        DefinitionCollector { grammar, text, raw: Vec::new(), imports: Vec::new(), quiet: Vec::new() };
    let options = QueryCursorOptions::new().progress_callback(&mut is_late);
    let mut matches = cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
    while let Some(found) = matches.next() {
        collector.process_match(query.capture_names(), found);
    }
    if Instant::now() >= deadline {
        return Err(ParseError::TimedOut);
    }
    Ok(collector.finish())
}

struct DefinitionCollector<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    raw: Vec<RawDefinition>,
    imports: Vec<SourceImport>,
    quiet: Vec<Span<usize>>,
}

impl DefinitionCollector<'_> {
    fn process_match(&mut self, names: &[&str], found: &QueryMatch<'_, '_>) {
        let mut captures = Captures::default();
        for capture in found.captures() {
            let node = capture.node;
            match names[capture.index as usize] {
                "scope" => self.raw.push(RawDefinition {
                    span: node.byte_range(),
                    definition: None,
                    is_global: false,
                }),
                "quiet" => self.quiet.push(node.byte_range()),
                "import" => self.imports.extend(imports::read(self.grammar.key, node, self.text)),
                "name" => captures.names.push(node),
                "bind" => captures.patterns.push(node),
                "declarator" => captures.declarators.push(node),
                "container" => captures.container = Some(node),
                "type" => captures.type_node = Some(node),
                "value" => captures.value = Some(node),
                "element" => {
                    captures.value = Some(node);
                    captures.is_part = true;
                }
                "bases" => captures.bases.push(node),
                other => {
                    if let Some(role) =
                        ROLES.iter().find(|(name, _)| Some(*name) == other.strip_prefix("def."))
                    {
                        captures.role = Some((role.0, node));
                    }
                }
            }
        }
        self.add_definition(&captures);
    }

    fn add_definition(&mut self, captures: &Captures<'_>) {
        let Some((role_name, whole)) = captures.role else { return };
        let Some((_, role)) = ROLES.iter().find(|(name, _)| *name == role_name) else { return };
        if role_name == "modfile" {
            return self.child_module(captures, whole);
        }
        let mut leaves: Vec<(Node<'_>, DefinitionRole, Option<String>)> = Vec::new();
        leaves.extend(captures.names.iter().map(|name| (*name, *role, None)));
        for pattern in &captures.patterns {
            self.collect_bindings(*pattern, MAX_PATTERN_DEPTH, &mut |leaf| leaves.push((leaf, *role, None)));
        }
        leaves.extend(captures.declarators.iter().filter_map(|node| self.declared_name(*node, *role)));
        for (name, role, container) in leaves {
            self.push(captures, whole, name, role, container);
        }
    }

    fn push(
        &mut self,
        captures: &Captures<'_>,
        whole: Node<'_>,
        name: Node<'_>,
        role: DefinitionRole,
        container: Option<String>,
    ) {
        let mut selection = name.byte_range();
        let mut text = self.text.get(selection.clone()).unwrap_or_default();
        if role == DefinitionRole::Extension {
            text = last_name(text);
        } else if name.kind() == "simple_symbol" {
            selection.start += 1;
            text = text.trim_start_matches(':');
        }
        if text.is_empty() {
            return;
        }
        let value =
            captures.value.and_then(|value| self.text.get(value.byte_range())).unwrap_or_default().trim();
        // `#define name prefix_name` renames a symbol that is declared elsewhere.
        let is_renaming = role == DefinitionRole::Macro
            && value.len() > text.len()
            && value.ends_with(text)
            && !value.contains(' ');
        let role = if is_renaming { DefinitionRole::Prototype } else { role };
        let container = container.or_else(|| {
            let node = captures.container?;
            Some(last_name(self.text.get(node.byte_range())?).to_owned())
        });
        self.raw.push(RawDefinition {
            span: whole.byte_range(),
            definition: Some(SourceDefinition {
                name: text.to_owned(),
                role,
                selection,
                span: whole.byte_range(),
                scope: 0,
                parent: None,
                container,
                type_span: captures.type_node.map(|node| node.byte_range()),
                value_span: captures.value.map(|node| node.byte_range()),
                is_part: captures.is_part
                    || !captures.patterns.is_empty() && captures.patterns[0].id() != name.id(),
                bases: captures.bases.iter().map(|node| node.byte_range()).collect(),
            }),
            is_global: captures.role.is_some_and(|(name, _)| name == GLOBAL),
        });
    }

    /// `mod name;`: a name whose content is another file.
    fn child_module(&mut self, captures: &Captures<'_>, whole: Node<'_>) {
        let Some(name) = captures.names.first() else { return };
        let text = self.text.get(name.byte_range()).unwrap_or_default();
        self.imports.push(SourceImport {
            local: text.to_owned(),
            selection: name.byte_range(),
            span: whole.byte_range(),
            module: text.to_owned(),
            item: ImportItem::Child,
        });
    }

    /// The names that a pattern binds.
    fn collect_bindings<'t>(&self, pattern: Node<'t>, depth: usize, found: &mut dyn FnMut(Node<'t>)) {
        let kind = pattern.kind();
        if pattern.named_child_count() == 0 {
            let text = self.text.get(pattern.byte_range()).unwrap_or_default();
            // In a pattern of Rust a capitalised name is a constant or a variant.
            let is_constant = self.grammar.key == "rust" && text.starts_with(char::is_uppercase);
            if self.grammar.names.contains(&kind)
                && kind != "type_identifier"
                && kind != "field_identifier"
                && !is_constant
            {
                found(pattern);
            }
            return;
        }
        if depth == 0 {
            return;
        }
        for index in 0..pattern.named_child_count() as u32 {
            let Some(child) = pattern.named_child(index) else { continue };
            let is_unbound = self.grammar.unbound.iter().any(|(parent, field)| {
                *parent == kind
                    && pattern.child_by_field_name(field).is_some_and(|node| node.id() == child.id())
            });
            if !is_unbound {
                self.collect_bindings(child, depth - 1, found);
            }
        }
    }

    /// Returns the name inside a declarator of C or C++, its role, and the class that qualifies it.
    fn declared_name<'t>(
        &self,
        declarator: Node<'t>,
        role: DefinitionRole,
    ) -> Option<(Node<'t>, DefinitionRole, Option<String>)> {
        let (mut node, mut role, mut container) = (declarator, role, None);
        for _ in 0..MAX_PATTERN_DEPTH {
            match node.kind() {
                "function_declarator" => {
                    if matches!(role, DefinitionRole::Variable | DefinitionRole::Field) {
                        role = DefinitionRole::Prototype;
                    }
                }
                "qualified_identifier" => {
                    let scope = node.child_by_field_name("scope");
                    container = scope
                        .and_then(|scope| self.text.get(scope.byte_range()))
                        .map(|text| last_name(text).to_owned());
                }
                "identifier" | "field_identifier" | "type_identifier" | "operator_name"
                | "destructor_name" => {
                    return Some((node, role, container));
                }
                _ => {}
            }
            let field = if node.kind() == "qualified_identifier" { "name" } else { "declarator" };
            node = node.child_by_field_name(field).or_else(|| {
                // References and parentheses hold their declarator without a field.
                node.named_child((node.named_child_count() as u32).checked_sub(1)?)
            })?;
        }
        None
    }

    fn finish(mut self) -> ExtractedSymbols {
        for (index, import) in self.imports.iter().enumerate().filter(|(_, import)| !import.local.is_empty())
        {
            self.raw.push(RawDefinition {
                span: import.span.clone(),
                definition: Some(SourceDefinition {
                    name: import.local.clone(),
                    role: DefinitionRole::Import(index),
                    selection: import.selection.clone(),
                    span: import.span.clone(),
                    scope: 0,
                    parent: None,
                    container: None,
                    type_span: None,
                    value_span: None,
                    is_part: false,
                    bases: Vec::new(),
                }),
                is_global: false,
            });
        }
        self.quiet.sort_by_key(|span| span.start);
        let (definitions, scopes) = nest_definitions(self.grammar, self.raw, self.text.len());
        ExtractedSymbols { definitions, scopes, imports: self.imports, quiet: self.quiet }
    }
}

/// The name in the queries for a variable that is known in the whole file.
const GLOBAL: &str = "global";

/// The names of definitions in the queries (`@def.NAME`), and their roles.
pub(crate) const ROLES: [(&str, DefinitionRole); 24] = [
    ("class", DefinitionRole::Class),
    ("struct", DefinitionRole::Struct),
    ("interface", DefinitionRole::Interface),
    ("enum", DefinitionRole::Enum),
    ("member", DefinitionRole::EnumMember),
    ("type", DefinitionRole::Type),
    ("typeparam", DefinitionRole::TypeParameter),
    ("module", DefinitionRole::Module),
    ("modfile", DefinitionRole::Module),
    ("impl", DefinitionRole::Extension),
    ("function", DefinitionRole::Function),
    ("prototype", DefinitionRole::Prototype),
    ("signature", DefinitionRole::Prototype),
    ("method", DefinitionRole::Method),
    ("constructor", DefinitionRole::Constructor),
    ("field", DefinitionRole::Field),
    ("property", DefinitionRole::Property),
    ("shorthand", DefinitionRole::Property),
    ("variable", DefinitionRole::Variable),
    (GLOBAL, DefinitionRole::Variable),
    ("constant", DefinitionRole::Constant),
    ("parameter", DefinitionRole::Parameter),
    ("macro", DefinitionRole::Macro),
    ("label", DefinitionRole::Label),
];

/// Returns the last name of a path without its suffix: `Foo` of `&a::Foo<T>`.
pub(crate) fn last_name(text: &str) -> &str {
    let end = text.find(['<', '[', '(']).unwrap_or(text.len());
    let path = &text[..end];
    path.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .find(|part| !part.is_empty())
        .unwrap_or("")
}

/// An open definition or scope while the file is swept from its start.
struct OpenDefinition {
    end: usize,
    scope: Option<usize>,
    definition: Option<usize>,
}

/// Finds for each definition the scope and the definitions around it.
fn nest_definitions(
    grammar: &Grammar,
    mut raw: Vec<RawDefinition>,
    length: usize,
) -> (Vec<SourceDefinition>, Vec<LexicalScope>) {
    // A definition before the scope of the same extent: its own name is known outside, its parts
    // inside.
    raw.sort_by_key(|raw| {
        let name = raw.definition.as_ref().map(|definition| definition.selection.start);
        // If two patterns match, the more specific one decides: a variable that holds a function is
        // a function.
        let is_vague = raw
            .definition
            .as_ref()
            .is_some_and(|found| matches!(found.role, DefinitionRole::Variable | DefinitionRole::Property));
        (raw.span.start, std::cmp::Reverse(raw.span.end), name.is_none(), name, is_vague)
    });
    let mut scopes = vec![LexicalScope { span: 0..length, kind: ScopeKind::File }];
    let mut definitions: Vec<SourceDefinition> = Vec::new();
    let mut open: Vec<OpenDefinition> = Vec::new();
    let mut locals: HashSet<(usize, String)> = HashSet::new();
    for RawDefinition { span, definition, is_global } in raw {
        while open.last().is_some_and(|last| last.end <= span.start && span.end > last.end) {
            open.pop();
        }
        let scope = open.iter().rev().find_map(|open| open.scope).unwrap_or(0);
        let Some(mut definition) = definition else {
            scopes.push(LexicalScope { span: span.clone(), kind: ScopeKind::Body });
            open.push(OpenDefinition { end: span.end, scope: Some(scopes.len() - 1), definition: None });
            continue;
        };
        if definitions.last().is_some_and(|last| {
            last.selection == definition.selection && !matches!(definition.role, DefinitionRole::Import(_))
        }) {
            continue;
        }
        set_surroundings(grammar, &mut definition, &definitions, &open, scope, &scopes);
        let local = (definition.scope, definition.name.clone());
        if !is_global {
            locals.insert(local);
        } else if !locals.contains(&local) {
            definition.scope = 0;
        }
        // `{ name }` outside the literal of something named only uses the name.
        if definition.role == DefinitionRole::Property
            && definition.span == definition.selection
            && definition.container.is_none()
        {
            continue;
        }
        let kind = opened_scope(grammar, &definition);
        definitions.push(definition);
        if let Some(kind) = kind {
            scopes.push(LexicalScope { span: span.clone(), kind });
            let scope = Some(scopes.len() - 1);
            open.push(OpenDefinition { end: span.end, scope, definition: Some(definitions.len() - 1) });
        }
    }
    (definitions, scopes)
}

/// Returns the kind of scope that a definition opens for its content.
fn opened_scope(grammar: &Grammar, definition: &SourceDefinition) -> Option<ScopeKind> {
    match definition.role {
        role if role.has_members() => Some(ScopeKind::Class),
        DefinitionRole::Module => Some(ScopeKind::Namespace),
        role if role.is_callable() => Some(ScopeKind::Body),
        // An object literal lends its members the name of the variable.
        DefinitionRole::Variable
        | DefinitionRole::Constant
        | DefinitionRole::Property
        | DefinitionRole::Field
            if grammar.selves == ["this"] && !grammar.implicit_members =>
        {
            definition.value_span.is_some().then_some(ScopeKind::Body)
        }
        _ => None,
    }
}

/// Sets the parent and container of `definition`.
fn set_surroundings(
    grammar: &Grammar,
    definition: &mut SourceDefinition,
    definitions: &[SourceDefinition],
    open: &[OpenDefinition],
    scope: usize,
    scopes: &[LexicalScope],
) {
    let around = open.iter().rev().find_map(|open| open.definition);
    let class = open
        .iter()
        .rev()
        .filter_map(|open| open.definition)
        .find(|&index| definitions[index].role.has_members());
    definition.parent = around;
    definition.scope = scope;
    let directly = around.filter(|&index| definitions[index].role.has_members());
    match definition.role {
        DefinitionRole::Function | DefinitionRole::Prototype if directly.is_some() => {
            definition.role = DefinitionRole::Method
        }
        DefinitionRole::Variable | DefinitionRole::Constant if directly.is_some() && grammar.key != "c" => {
            definition.role = DefinitionRole::Field
        }
        DefinitionRole::Prototype if !grammar.flat_types && class.is_some() => {
            definition.role = DefinitionRole::Method
        }
        _ => {}
    }
    if definition.container.is_none() {
        let owner = match definition.role {
            DefinitionRole::Method
            | DefinitionRole::Constructor
            | DefinitionRole::EnumMember
            | DefinitionRole::Property => around.filter(|&index| {
                let role = definitions[index].role;
                role.has_members()
                    || matches!(
                        role,
                        DefinitionRole::Variable
                            | DefinitionRole::Constant
                            | DefinitionRole::Property
                            | DefinitionRole::Field
                    )
            }),
            DefinitionRole::Field => class,
            DefinitionRole::Type if grammar.key == "rust" => directly,
            _ => None,
        };
        definition.container = owner.map(|index| definitions[index].name.clone());
    }
    if grammar.flat_types && definition.container.is_none() {
        let mut outer = scope;
        while scopes[outer].kind == ScopeKind::Class && outer > 0 {
            let span = &scopes[outer].span;
            outer = (0..outer)
                .rev()
                .find(|&index| scopes[index].span.start <= span.start && span.end <= scopes[index].span.end)
                .unwrap_or(0);
        }
        definition.scope = outer;
    }
}
