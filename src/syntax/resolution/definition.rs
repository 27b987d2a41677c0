//! The definitions of a source file, and the scopes in which they are valid.

use std::ops::Range as Span;

use crate::lsp::model::SymbolKind;

/// The role of a definition, more finely divided than [`SymbolKind`] for resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DefinitionRole {
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
    /// A name bound by an import; the index into
    /// [`ParsedSource::imports`](super::source::ParsedSource::imports).
    Import(usize),
}

impl DefinitionRole {
    /// Returns true if other definitions are its members.
    pub(crate) fn has_members(self) -> bool {
        matches!(
            self,
            Self::Class | Self::Struct | Self::Interface | Self::Enum | Self::Type | Self::Extension
        )
    }

    /// Returns true for a type that values can have.
    pub(crate) fn is_type(self) -> bool {
        self.has_members() && self != Self::Extension || self == Self::TypeParameter
    }

    /// Returns true for code that runs when it is called.
    pub(crate) fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Prototype | Self::Method | Self::Constructor | Self::Macro)
    }

    /// Converts the role to LSP's kind.
    pub(crate) fn kind(self) -> SymbolKind {
        SymbolKind(match self {
            Self::Class => 5,
            Self::Struct => 23,
            Self::Interface => 11,
            Self::Enum => 10,
            Self::EnumMember => 22,
            Self::Type => 5,
            Self::TypeParameter => 26,
            Self::Module | Self::Import(_) => 2,
            Self::Extension => SymbolKind::EXTENSION.0,
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

/// One definition; spans are bytes of [`ParsedSource::text`](super::source::ParsedSource::text).
#[derive(Debug, Clone)]
pub(crate) struct SourceDefinition {
    pub(crate) name: String,
    pub(crate) role: DefinitionRole,
    /// The name.
    pub(crate) selection: Span<usize>,
    /// The span of the whole definition.
    pub(crate) span: Span<usize>,
    /// The index of the scope in which its plain name is known.
    pub(crate) scope: usize,
    /// The index of the definition around it.
    pub(crate) parent: Option<usize>,
    /// The name of the type that has it as a member.
    pub(crate) container: Option<String>,
    /// The span of its declared type, or of its result type.
    pub(crate) type_span: Option<Span<usize>>,
    /// The expression that its value comes from.
    pub(crate) value_span: Option<Span<usize>>,
    /// True if the value is an element or part of `value_span`.
    pub(crate) is_part: bool,
    /// The positions of the names of base types.
    pub(crate) bases: Vec<Span<usize>>,
}

/// A region of a file in which plain names are known.
#[derive(Debug, Clone)]
pub(crate) struct LexicalScope {
    pub(crate) span: Span<usize>,
    pub(crate) kind: ScopeKind,
}

/// The kind of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    File,
    Namespace,
    Class,
    Body,
}
