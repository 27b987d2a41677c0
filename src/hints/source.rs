//! One parsed file: its definitions, scopes and imports, and what in it is comment or string.

use std::collections::HashMap;
use std::ops::Range as Span;
use std::sync::OnceLock;
use std::time::Instant;

use tree_sitter::{Node, Tree};

use super::extract;
use super::grammar::Grammar;
use super::imports::{ImportItem, SourceImport};
use super::parse::{ParseError, parse};
use crate::lsp::model::SymbolKind;
use crate::text::{Buffer, Position, Range};
use crate::workspace::WorkspacePath;

/// What a definition is, more finely than [`SymbolKind`] where resolving needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DefinitionRole {
    Class,
    Struct,
    Interface,
    Enum,
    EnumMember,
    Type,
    TypeParameter,
    Module,
    /// A block that adds members to a type named elsewhere (Rust's `impl`); no definition itself.
    Extension,
    Function,
    /// Declared here, defined elsewhere (C prototypes, TypeScript overloads).
    Prototype,
    Method,
    Constructor,
    Field,
    Property,
    Variable,
    Constant,
    Parameter,
    Macro,
    Label,
    /// A name brought in; the index into [`ParsedSource::imports`].
    Import(usize),
}

impl DefinitionRole {
    /// Other definitions are its members.
    pub(super) fn has_members(self) -> bool {
        matches!(
            self,
            Self::Class | Self::Struct | Self::Interface | Self::Enum | Self::Type | Self::Extension
        )
    }

    /// A type that values can have.
    pub(super) fn is_type(self) -> bool {
        self.has_members() && self != Self::Extension || self == Self::TypeParameter
    }

    /// Something that runs when it is called.
    pub(super) fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Prototype | Self::Method | Self::Constructor | Self::Macro)
    }

    /// LSP's kind.
    pub(super) fn kind(self) -> SymbolKind {
        SymbolKind(match self {
            Self::Class => 5,
            Self::Struct => 23,
            Self::Interface => 11,
            Self::Enum => 10,
            Self::EnumMember => 22,
            Self::Type => 5,
            Self::TypeParameter => 26,
            Self::Module | Self::Extension | Self::Import(_) => 2,
            Self::Function | Self::Prototype | Self::Macro => 12,
            Self::Method => 6,
            Self::Constructor => 9,
            Self::Field => 8,
            Self::Property => 7,
            Self::Variable | Self::Parameter => 13,
            Self::Constant => 14,
            Self::Label => 20,
        })
    }
}

/// One definition; spans are bytes of [`ParsedSource::text`].
#[derive(Debug, Clone)]
pub(super) struct SourceDefinition {
    pub(crate) name: String,
    pub(crate) role: DefinitionRole,
    /// The name.
    pub(crate) selection: Span<usize>,
    /// The whole of it.
    pub(crate) span: Span<usize>,
    /// The index of the scope in which its plain name is known.
    pub(crate) scope: usize,
    /// The index of the definition around it.
    pub(crate) parent: Option<usize>,
    /// The name of the type whose member it is.
    pub(crate) container: Option<String>,
    /// Its declared type, or the type of what it returns.
    pub(crate) type_span: Option<Span<usize>>,
    /// Where its value comes from.
    pub(crate) value_span: Option<Span<usize>>,
    /// The value is an element or part of `value_span`.
    pub(crate) is_part: bool,
    /// Where the names of base types stand.
    pub(crate) bases: Vec<Span<usize>>,
}

/// Where plain names are known.
#[derive(Debug, Clone)]
pub(super) struct LexicalScope {
    pub(crate) span: Span<usize>,
    pub(crate) kind: ScopeKind,
}

/// What kind of scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    File,
    Namespace,
    Class,
    Body,
}

/// A file, parsed.
pub(super) struct ParsedSource {
    pub(crate) path: WorkspacePath,
    pub(crate) grammar: &'static Grammar,
    pub(crate) text: String,
    pub(crate) tree: Tree,
    /// In the order in which they begin.
    pub(crate) definitions: Vec<SourceDefinition>,
    /// The first one is the file.
    pub(crate) scopes: Vec<LexicalScope>,
    pub(crate) imports: Vec<SourceImport>,
    /// Comments and the text of strings, in order.
    pub(crate) quiet: Vec<Span<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    buffer: OnceLock<Buffer>,
}

impl ParsedSource {
    /// Parses `text` and finds what it defines.
    ///
    /// # Errors
    /// [`ParseError`] where it is too large or too slow to parse.
    pub(super) fn new(
        path: WorkspacePath,
        grammar: &'static Grammar,
        text: String,
        deadline: Instant,
    ) -> Result<Self, ParseError> {
        let tree = parse(grammar, &text, deadline)?;
        let found = extract::extract(grammar, &text, &tree, deadline)?;
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, definition) in found.definitions.iter().enumerate() {
            by_name.entry(definition.name.clone()).or_default().push(index);
        }
        Ok(Self {
            path,
            grammar,
            text,
            tree,
            definitions: found.definitions,
            scopes: found.scopes,
            imports: found.imports,
            quiet: found.quiet,
            by_name,
            buffer: OnceLock::new(),
        })
    }

    /// The text as a buffer, made when first needed.
    pub(super) fn buffer(&self) -> &Buffer {
        self.buffer.get_or_init(|| Buffer::new(&self.text))
    }

    /// `span` as positions.
    pub(super) fn range(&self, span: &Span<usize>) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The position of a byte.
    pub(super) fn position(&self, byte: usize) -> Position {
        self.buffer().position_of_byte(byte)
    }

    /// The text of `span`.
    pub(super) fn slice(&self, span: &Span<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The text of `node`.
    pub(super) fn text_of(&self, node: Node<'_>) -> &str {
        self.slice(&node.byte_range())
    }

    /// The smallest node around `span`.
    pub(super) fn node(&self, span: &Span<usize>) -> Option<Node<'_>> {
        self.tree.root_node().named_descendant_for_byte_range(span.start, span.end)
    }

    /// The definitions called `name`, by where they begin.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        self.by_name.get(name).into_iter().flatten().copied()
    }

    /// Whether a byte lies in a comment or in the text of a string.
    pub(super) fn is_quiet(&self, byte: usize) -> bool {
        let next = self.quiet.partition_point(|span| span.start <= byte);
        next > 0 && byte < self.quiet[next - 1].end
    }

    /// The innermost scope around a byte.
    pub(super) fn scope_at(&self, byte: usize) -> usize {
        self.scopes
            .iter()
            .enumerate()
            .filter(|(_, scope)| scope.span.start <= byte && byte < scope.span.end)
            .min_by_key(|(index, scope)| (scope.span.len(), usize::MAX - index))
            .map_or(0, |(index, _)| index)
    }

    /// The definition with members that a byte lies in, innermost first.
    pub(super) fn class_at(&self, byte: usize) -> Option<usize> {
        (0..self.definitions.len())
            .filter(|&index| {
                let definition = &self.definitions[index];
                definition.role.has_members()
                    && definition.role != DefinitionRole::Type
                    && definition.span.start <= byte
                    && byte < definition.span.end
            })
            .min_by_key(|&index| self.definitions[index].span.len())
    }

    /// Whether other files see what the import number `index` brings in.
    pub(super) fn hands_on(&self, index: usize) -> bool {
        let Some(import) = self.imports.get(index) else { return false };
        let written = || self.slice(&import.span).trim_start();
        match self.grammar.key {
            "rust" => import.item == ImportItem::Child || written().starts_with("pub"),
            "javascript" | "typescript" | "tsx" => written().starts_with("export"),
            _ => true,
        }
    }

    /// Whether a definition is known outside its own function.
    pub(super) fn is_local(&self, definition: &SourceDefinition) -> bool {
        definition.container.is_none() && self.scopes[definition.scope].kind == ScopeKind::Body
    }
}
