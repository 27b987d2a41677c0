//! The shape of answers: output, verdict and server status.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::items::place::{Place, Places};
use super::items::short_range;
use super::items::short_range::ShortRange;
pub use super::items::symbol_item::SymbolItem;
use crate::lsp::servers::install_advice;
use crate::text::{Position, Range};

/// The reliability of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All servers asked answered about the current text.
    Complete,
    /// Correct but possibly incomplete: an index is still being built, or one of several servers is
    /// silent.
    Partial,
    /// No server answered in time. Must not be read as "clean" or "none".
    NoData,
    /// No server answered: the results come from text search.
    Hints,
}

impl Verdict {
    /// Makes the verdict of a complete answer partial; others stay as they are.
    pub(crate) fn lower(&mut self) {
        if *self == Self::Complete {
            *self = Self::Partial;
        }
    }

    /// The verdict on several files together, from the verdict on each.
    pub(crate) fn of_all(verdicts: impl Iterator<Item = Self> + Clone) -> Self {
        let all = |verdict: Self| verdicts.clone().all(|one| one == verdict);
        if all(Self::Complete) {
            Self::Complete
        } else if all(Self::Hints) {
            Self::Hints
        } else if all(Self::NoData) {
            Self::NoData
        } else {
            Self::Partial
        }
    }
}

/// The state of a server that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// The server answers, and its index is complete.
    Ready,
    /// The server answers, and its index is still being built.
    Indexing,
    /// The server is starting.
    Starting,
    /// The server is not installed, or no server is known for the language.
    Missing,
    /// The server ended or failed to start.
    Crashed,
    /// The server answered with an error or with data that cannot be decoded.
    Failed,
    /// The server did not answer in time.
    Timeout,
    /// Settings or missing trust prevent the start.
    Disabled,
    /// The server does not support the request.
    Unsupported,
}

/// One server's part in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatus {
    /// The language's key in the catalogue; "unknown" for a file of no known language.
    pub language: String,
    /// The server's key in the catalogue; empty if the language has no server.
    pub server: String,
    /// The server's state.
    pub state: ServerState,
    /// Details: progress, an exit status with the last lines of stderr, settings ignored for lack
    /// of trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The compiler, checker or linter that it ran, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<String>,
    /// The command that installs the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The way to a better answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same installation with `lsp-tools install`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<String>,
    /// Milliseconds this answer waited for the server; absent below 1000.
    #[serde(default, skip_serializing_if = "is_short_wait")]
    pub waited_ms: u64,
}

/// The symbol that a position or name was resolved to. Programs get it as [`ResolvedAddress`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "ResolvedAddress<'_>")]
pub struct Resolved {
    /// The place of the symbol's name.
    pub place: Place,
    /// The name of the symbol.
    pub symbol: String,
    /// True if the given position was beside the name and was moved to it, or if only a file and a
    /// name were given.
    pub moved: bool,
    /// True if a name without a file was given and the workspace was searched for it.
    pub(crate) searched: bool,
}

/// The name that a question was resolved to, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResolvedAddress<'a> {
    /// Relative to the workspace; absolute for a file outside.
    path: Cow<'a, str>,
    /// The start of the name.
    at: ShortRange,
    /// The name.
    symbol: Cow<'a, str>,
}

impl Resolved {
    /// Returns true if the answer need not report the place: the question gave exactly it.
    fn is_as_asked(resolved: &Option<Self>) -> bool {
        resolved.as_ref().is_none_or(|resolved| !resolved.moved && !resolved.searched)
    }
}

impl Serialize for Resolved {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let address = ResolvedAddress {
            path: Cow::Borrowed(&self.place.path),
            at: ShortRange(Range::empty(self.place.range.start)),
            symbol: Cow::Borrowed(&self.symbol),
        };
        address.serialize(serializer)
    }
}

impl From<ResolvedAddress<'_>> for Resolved {
    fn from(address: ResolvedAddress<'_>) -> Self {
        let ResolvedAddress { path, at, symbol } = address;
        let place = Place { path: path.into_owned(), range: at.0, text: None, enclosing: None, why: None };
        Self { place, symbol: symbol.into_owned(), moved: true, searched: false }
    }
}

impl JsonSchema for Resolved {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Resolved")
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ResolvedAddress::json_schema(generator)
    }
}

/// A successful answer of a language tool: its `output`, flattened, the server's state and the
/// verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer<T> {
    /// Always true; a failure is a [`ToolError`](super::error::ToolError).
    pub ok: bool,
    /// The tool's own output.
    #[serde(flatten)]
    pub output: T,
    /// The resolved name, if the question gave no exact position.
    #[serde(default, skip_serializing_if = "Resolved::is_as_asked")]
    pub resolved: Option<Resolved>,
    /// The most important server for this answer.
    pub server_status: ServerStatus,
    /// Every server, if several serve the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerStatus>,
    /// The reliability of the answer.
    pub verdict: Verdict,
    /// Further notes, in sentences: waits that may have been too short, invalid values of the
    /// server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The shortest wait that answers report, in milliseconds.
const MIN_TOLD_WAIT_MS: u64 = 1_000;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_short_wait(milliseconds: &u64) -> bool {
    *milliseconds < MIN_TOLD_WAIT_MS
}

impl ServerStatus {
    /// A sentence that the server is not installed. It includes the reason if the project's own
    /// server may not be used.
    pub(crate) fn absence_sentence(&self) -> String {
        let trust = self.detail.as_deref().filter(|detail| detail.contains("lsp-tools trust"));
        match trust {
            Some(trust) => format!("{} is not installed ({trust})", self.server),
            None => format!("{} is not installed", self.server),
        }
    }

    /// Both commands that install the server, for people.
    pub(crate) fn install_commands(&self) -> Option<String> {
        self.install.as_ref().map(|install| install_advice::commands(install, self.installer.as_ref()))
    }
}

impl<T> Answer<T> {
    /// The answer of one server.
    pub(crate) fn new(
        output: T,
        resolved: Option<Resolved>,
        server_status: ServerStatus,
        verdict: Verdict,
        notes: Vec<String>,
    ) -> Self {
        Self { ok: true, output, resolved, server_status, servers: Vec::new(), verdict, notes }
    }

    /// Adds the reason, if any, that the answer may be incomplete.
    pub(crate) fn with_doubt(mut self, reason: Option<String>) -> Self {
        let Some(reason) = reason else { return self };
        if self.verdict == Verdict::Complete && self.server_status.detail.is_none() {
            self.server_status.detail = Some(reason);
        } else {
            self.notes.push(reason);
        }
        self.verdict.lower();
        self
    }
}

/// The output of `lsp_hover`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HoverOutput {
    /// Markdown; empty if the server has no information.
    pub contents: String,
    /// The described text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Hints only: likely definitions, best first.
    #[serde(default, skip_serializing_if = "<[Place]>::is_empty")]
    pub candidates: Places,
}

/// The output of `lsp_definition`, `lsp_declaration`, `lsp_type_definition`, `lsp_implementation`
/// and `lsp_references`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocationsOutput {
    /// `lsp_definition` only: the first location, in LSP's shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LspLocation>,
    /// All locations, sorted by file and position (hints: best first).
    pub locations: Places,
    /// The total number of locations.
    pub count: usize,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// `lsp_definition` with `body`: the source of the first location, if it is in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<DefinitionBody>,
}

/// The source of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefinitionBody {
    /// The range of the definition.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// The whole lines.
    pub text: String,
}

/// A location in LSP's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LspLocation {
    /// The document's URI.
    pub uri: String,
    /// The range, 0-based, in Unicode scalar values.
    pub range: Range,
}

/// A diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticItem {
    /// Relative to the workspace.
    pub path: String,
    /// The range of the diagnostic.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// The severity.
    pub severity: crate::lsp::model::Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The checker, if it is not the server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The server's key; "syntax" if tree-sitter found it without a server.
    pub server: String,
    /// The message.
    pub message: String,
    /// The enclosing function or type, qualified; `cell 2` in a notebook.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub enclosing: Option<String>,
    /// Related locations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedItem>,
}

impl DiagnosticItem {
    /// The name of the checker; the server's name if the server is the checker.
    pub(crate) fn checker(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.server)
    }
}

/// A related location of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedItem {
    /// The location.
    #[serde(flatten)]
    pub place: Place,
    /// The message about it.
    pub message: String,
}

/// The verdict for one of several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileVerdict {
    /// Relative to the workspace.
    pub path: String,
    /// The reliability of the file's diagnostics.
    pub verdict: Verdict,
    /// The reason, if not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The output of `lsp_diagnostics`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticsOutput {
    /// Sorted by file and position.
    pub diagnostics: Vec<DiagnosticItem>,
    /// The total number at or above the severity floor.
    pub count: usize,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// The number of files asked about.
    pub files: usize,
    /// The number of these files that nothing checked: no server and no parser for their languages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchecked: usize,
    /// The files whose verdict is not `complete`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<FileVerdict>,
    /// The files asked about, relative to the workspace; only for callers in this process, since
    /// the list is long.
    #[serde(skip)]
    pub looked_at: Vec<String>,
}

/// The output of `lsp_symbols`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolsOutput {
    /// The outline as a tree, or workspace matches, best first.
    pub symbols: Vec<SymbolItem>,
    /// The total number, children included.
    pub count: usize,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

/// A caller, callee, supertype or subtype.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HierarchyItem {
    /// The name.
    pub name: String,
    /// LSP's symbol kind.
    pub kind: String,
    /// The server's detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The position of the name.
    #[serde(flatten)]
    pub place: Place,
    /// The call sites: in this item's file for callers, in its parent's for callees.
    #[serde(default, with = "short_range::positions", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ShortRange>")]
    pub sites: Vec<Position>,
    /// The next level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<HierarchyItem>,
    /// The next level is omitted: visited before, too deep, or out of time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// The output of `lsp_calls` and `lsp_types`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HierarchyOutput {
    /// "incoming"/"outgoing" calls, "supertypes"/"subtypes".
    pub direction: String,
    /// The resolved items, each with its tree.
    pub items: Vec<HierarchyItem>,
    /// The number of nodes below `items`.
    pub count: usize,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignatureItem {
    /// The whole signature.
    pub label: String,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// The parameters.
    pub parameters: Vec<String>,
    /// The 0-based parameter at the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_parameter: Option<u32>,
    /// True for the signature that the server selects for the call.
    pub active: bool,
}

/// The output of `lsp_signature`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignaturesOutput {
    /// In the server's order.
    pub signatures: Vec<SignatureItem>,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionItem {
    /// The displayed text, inserted unless `insert` differs.
    pub label: String,
    /// LSP's completion kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The server's detail, such as a type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// The inserted text, if it is not `label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<String>,
    /// True if the server marks it as deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// The output of `lsp_completion`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionsOutput {
    /// In the server's order, best first.
    pub items: Vec<CompletionItem>,
    /// The total number.
    pub count: usize,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}
