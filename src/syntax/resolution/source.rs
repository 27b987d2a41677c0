//! One parsed file: definitions, scopes, imports, comments and strings.

use std::collections::HashMap;
use std::ops::Range as Span;
use std::sync::OnceLock;
use std::time::Instant;

use tree_sitter::{Node, Tree};

use super::definition::{DefinitionRole, LexicalScope, ScopeKind, SourceDefinition};
use super::extract;
use super::imports::{ImportItem, SourceImport};
use crate::syntax::grammar::Grammar;
use crate::syntax::parse::{ParseError, parse};
use crate::text::{Buffer, Position, Range, line_excerpt};
use crate::workspace::WorkspacePath;

/// A file, parsed.
pub(crate) struct ParsedSource {
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
    /// Parses `text` and finds its definitions.
    ///
    /// # Errors
    /// [`ParseError`] if it is too large or too slow to parse.
    pub(crate) fn new(
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
    pub(crate) fn buffer(&self) -> &Buffer {
        self.buffer.get_or_init(|| Buffer::new(&self.text))
    }

    /// Returns the line at `position` without its line end, cut around the position if it is very
    /// long.
    pub(crate) fn line_excerpt(&self, position: Position) -> Option<String> {
        let line = self.buffer().line(position.line)?;
        Some(line_excerpt(line.trim_end(), position.character))
    }

    /// `span` as positions.
    pub(crate) fn range(&self, span: &Span<usize>) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The position of a byte.
    pub(crate) fn position(&self, byte: usize) -> Position {
        self.buffer().position_of_byte(byte)
    }

    /// The text of `span`.
    pub(crate) fn slice(&self, span: &Span<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The text of `node`.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &str {
        self.slice(&node.byte_range())
    }

    /// The smallest node around `span`.
    pub(crate) fn node(&self, span: &Span<usize>) -> Option<Node<'_>> {
        self.tree.root_node().named_descendant_for_byte_range(span.start, span.end)
    }

    /// Returns the definitions called `name`, ordered by position.
    pub(crate) fn definitions_named(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        self.by_name.get(name).into_iter().flatten().copied()
    }

    /// Returns true if a byte lies in a comment or in the text of a string.
    pub(crate) fn is_comment_or_string(&self, byte: usize) -> bool {
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
    pub(crate) fn class_at(&self, byte: usize) -> Option<usize> {
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

    /// Returns true if other files see the names of the import number `index`.
    pub(super) fn is_reexport(&self, index: usize) -> bool {
        let Some(import) = self.imports.get(index) else { return false };
        let written = || self.slice(&import.span).trim_start();
        match self.grammar.key {
            "rust" => import.item == ImportItem::Child || written().starts_with("pub"),
            "javascript" | "typescript" | "tsx" => written().starts_with("export"),
            _ => true,
        }
    }

    /// Returns true if a definition is local to a function body.
    pub(crate) fn is_local(&self, definition: &SourceDefinition) -> bool {
        definition.container.is_none() && self.scopes[definition.scope].kind == ScopeKind::Body
    }
}
