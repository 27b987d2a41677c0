//! What language servers tell us, in our own words: no type of an LSP crate passes this file upwards.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Range;
use crate::workspace::WorkspacePath;

/// The file a server speaks of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileRef {
    /// A file of the workspace.
    Inside(WorkspacePath),
    /// A file elsewhere on this machine (a library, a stub); absolute.
    Outside(PathBuf),
    /// A document that is no file (`jdt://…`), by its URI.
    Virtual(String),
}

/// A stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: FileRef,
    /// Where in it (the name itself, not the whole definition).
    pub range: Range,
    /// The source line at the start of `range`, without its indentation's trailing break; absent where the file
    /// cannot be read as text.
    pub text: Option<String>,
}

/// How bad a diagnostic is (LSP 3.17, *DiagnosticSeverity*).
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
    pub fn number(self) -> u8 {
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
pub struct Diagnostic {
    /// Where.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The rule's code, as text.
    pub code: Option<String>,
    /// The checker within the server ("pyflakes").
    pub source: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The server's key in the catalogue.
    pub server: String,
    /// The code concerned is not used (LSP `DiagnosticTag.Unnecessary`).
    pub unnecessary: bool,
    /// The code concerned is deprecated (LSP `DiagnosticTag.Deprecated`).
    pub deprecated: bool,
    /// Other places that explain it.
    pub related: Vec<(Location, String)>,
}

/// What a server says of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// Markdown.
    pub contents: String,
    /// The text it speaks of.
    pub range: Option<Range>,
}

/// The kinds of LSP 3.17 *SymbolKind*, by their names in lower case with spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SymbolKind(pub u8);

impl SymbolKind {
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

    /// Whether it is something that is called: a method, constructor or function.
    pub fn is_callable(self) -> bool {
        matches!(self.0, 6 | 9 | 12)
    }

    /// The kind's name; "symbol" for a number the protocol does not know.
    pub fn name(self) -> &'static str {
        (self.0 as usize).checked_sub(1).and_then(|index| Self::NAMES.get(index)).copied().unwrap_or("symbol")
    }

    /// The kind called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name)?;
        u8::try_from(index + 1).ok().map(Self)
    }
}

impl Serialize for SymbolKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How deep symbols lie in one another, whatever a server or a text says: each level is two of the JSON that tells of it, of
/// which most readers take 128.
pub const DEEPEST_SYMBOL: usize = 50;

/// A symbol of one document, with what lies inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// More, as the server puts it (a signature).
    pub detail: Option<String>,
    /// The whole of it.
    pub range: Range,
    /// Its name.
    pub selection: Range,
    /// What it contains.
    pub children: Vec<Symbol>,
}

/// A symbol somewhere in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSymbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// What it lies in ("class Greeter").
    pub container: Option<String>,
    /// Where it is.
    pub location: Location,
}

/// A node of a call or type hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyNode {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// More, as the server puts it.
    pub detail: Option<String>,
    /// Where its name stands.
    pub location: Location,
    /// Where the calls are: in this node's file for callers, in the parent's for callees; empty for types.
    pub sites: Vec<Range>,
    /// The next level; empty where it was not asked for or there is none.
    pub children: Vec<HierarchyNode>,
    /// The next level was cut: already shown above, too deep, or out of time.
    pub cut: bool,
}

/// A signature that fits a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The whole of it.
    pub label: String,
    /// Markdown.
    pub documentation: Option<String>,
    /// Its parameters, as they stand in `label`.
    pub parameters: Vec<String>,
    /// 0-based parameter at the position.
    pub active_parameter: Option<u32>,
    /// The server takes this one for the call.
    pub active: bool,
}

/// Something that could be typed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What is shown and, unless `insert` differs, typed.
    pub label: String,
    /// The name of its LSP 3.17 *CompletionItemKind*, in lower case.
    pub kind: Option<&'static str>,
    /// More, as the server puts it (a type).
    pub detail: Option<String>,
    /// Markdown.
    pub documentation: Option<String>,
    /// What is typed, where it is not `label`.
    pub insert: Option<String>,
    /// The server advises against it.
    pub deprecated: bool,
}
