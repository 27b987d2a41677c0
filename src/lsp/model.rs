//! The plain types of language servers' answers. No type of an LSP crate leaves this file upwards.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Range;
use crate::workspace::WorkspacePath;

/// The file in a server's answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileRef {
    /// A file of the workspace.
    Inside(WorkspacePath),
    /// A file elsewhere on this machine (a library, a stub); absolute.
    Outside(PathBuf),
    /// A document that is not a file (`jdt://…`), by its URI.
    Virtual(String),
}

/// A range of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file.
    pub file: FileRef,
    /// The range in the file (of the name itself, not of the whole definition).
    pub range: Range,
    /// The source line at the start of `range`, or an excerpt of it
    /// ([`line_excerpt`](crate::text::line_excerpt)); absent if the file cannot be read as text.
    pub(crate) text: Option<String>,
}

/// The severity of a diagnostic (LSP 3.17, *DiagnosticSeverity*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // doc comments would turn the schema's short `enum` into a long `oneOf`
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

impl Severity {
    /// LSP 3.17 *DiagnosticSeverity*.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Error => 1,
            Self::Warning => 2,
            Self::Information => 3,
            Self::Hint => 4,
        }
    }
}

/// One finding of a server in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// The range.
    pub(crate) range: Range,
    /// The severity.
    pub(crate) severity: Severity,
    /// The rule's code, as text.
    pub(crate) code: Option<String>,
    /// The checker within the server ("pyflakes").
    pub(crate) source: Option<String>,
    /// The message.
    pub(crate) message: String,
    /// The server's key in the catalogue.
    pub(crate) server: String,
    /// True if the code concerned is not used (LSP `DiagnosticTag.Unnecessary`).
    pub(crate) unnecessary: bool,
    /// True if the code concerned is deprecated (LSP `DiagnosticTag.Deprecated`).
    pub(crate) deprecated: bool,
    /// Other places that explain it.
    pub(crate) related: Vec<(Location, String)>,
    /// The number of its cell in a notebook, from 1.
    pub(crate) cell: Option<usize>,
}

/// A server's description of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hover {
    /// Markdown.
    pub(crate) contents: String,
    /// The range of the described text.
    pub(crate) range: Option<Range>,
}

/// The kinds of LSP 3.17 *SymbolKind*, by their names in lower case with spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SymbolKind(pub u8);

impl SymbolKind {
    /// A block that adds members to a type named elsewhere (Rust's `impl`), which rust-analyzer
    /// calls an object.
    pub(crate) const EXTENSION: Self = Self(19);

    const NAMES: [&'static str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum member",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];

    /// Returns true for a symbol that can be called: a method, constructor or function.
    pub(crate) fn is_callable(self) -> bool {
        matches!(self.0, 6 | 9 | 12)
    }

    /// Returns true for a symbol that has a value: a property, field, variable or constant.
    pub(crate) fn is_variable(self) -> bool {
        matches!(self.0, 7 | 8 | 13 | 14)
    }

    /// The kind's name; "symbol" for a number the protocol does not know.
    pub(crate) fn name(self) -> &'static str {
        (self.0 as usize).checked_sub(1).and_then(|index| Self::NAMES.get(index)).copied().unwrap_or("symbol")
    }

    /// The kind called `name`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name)?;
        u8::try_from(index + 1).ok().map(Self)
    }
}

impl Serialize for SymbolKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The maximum nesting depth of symbols, for any server or text. Each level takes two levels of
/// JSON, of which most parsers accept 128.
pub(crate) const MAX_SYMBOL_DEPTH: usize = 50;

/// A symbol of one document, with the symbols inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Its name.
    pub(crate) name: String,
    /// The kind of the symbol.
    pub(crate) kind: SymbolKind,
    /// Further details from the server (a signature).
    pub(crate) detail: Option<String>,
    /// The range of the whole symbol.
    pub(crate) range: Range,
    /// The range of its name.
    pub(crate) selection: Range,
    /// The symbols that it contains.
    pub(crate) children: Vec<Symbol>,
}

/// A symbol somewhere in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceSymbol {
    /// Its name.
    pub(crate) name: String,
    /// The kind of the symbol.
    pub(crate) kind: SymbolKind,
    /// The container of the symbol ("class Greeter").
    pub(crate) container: Option<String>,
    /// The location of the symbol.
    pub(crate) location: Location,
}

/// A node of a call or type hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HierarchyNode {
    /// Its name.
    pub(crate) name: String,
    /// The kind of the symbol.
    pub(crate) kind: SymbolKind,
    /// Further details from the server.
    pub(crate) detail: Option<String>,
    /// The location of its name.
    pub(crate) location: Location,
    /// The ranges of the calls: in this node's file for callers, in the parent's for callees; empty
    /// for types.
    pub(crate) sites: Vec<Range>,
    /// The next level; empty if it was not requested or does not exist.
    pub(crate) children: Vec<HierarchyNode>,
    /// True if the next level was cut: already shown above, too deep, or out of time.
    pub(crate) cut: bool,
}

/// A signature that may fit a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The text of the whole signature.
    pub(crate) label: String,
    /// Markdown.
    pub(crate) documentation: Option<String>,
    /// Its parameters, as in `label`.
    pub(crate) parameters: Vec<String>,
    /// 0-based parameter at the position.
    pub(crate) active_parameter: Option<u32>,
    /// True if the server selects this one for the call.
    pub(crate) active: bool,
}

/// A possible completion at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The label, which is also the inserted text unless `insert` differs.
    pub(crate) label: String,
    /// The name of its LSP 3.17 *CompletionItemKind*, in lower case.
    pub(crate) kind: Option<&'static str>,
    /// Further details from the server (a type).
    pub(crate) detail: Option<String>,
    /// Markdown.
    pub(crate) documentation: Option<String>,
    /// The inserted text, if it is not `label`.
    pub(crate) insert: Option<String>,
    /// True if the server advises against it.
    pub(crate) deprecated: bool,
}
