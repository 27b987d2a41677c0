//! The shape of answers: output, verdict and server status.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::place::{Place, Places};
use super::short_range::{self, ShortRange};
pub use super::symbol_item::SymbolItem;
use crate::hints;
use crate::text::{Position, Range};

/// How far an answer can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All servers asked answered about the text as it is now.
    Complete,
    /// True as far as it goes: an index is still moving, or one of several servers is silent.
    Partial,
    /// Asked, and nothing came in time. Never to be read as "clean" or "none".
    NoData,
    /// No server answered: what follows is text search.
    Hints,
}

impl Verdict {
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

/// What became of the server that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// It answers, and its index is whole.
    Ready,
    /// It answers, and its index is still moving.
    Indexing,
    /// It is being started.
    Starting,
    /// It is not installed, or no server is known for the language.
    Missing,
    /// It ended, or could not be started.
    Crashed,
    /// It runs, and answered with an error or with what cannot be understood.
    Failed,
    /// It did not answer in time.
    Timeout,
    /// Settings or missing trust keep it from being started.
    Disabled,
    /// It does not offer what was asked.
    Unsupported,
}

/// One server's part in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatus {
    /// The language's key in the catalogue; "unknown" for a file of no known language.
    pub language: String,
    /// The server's key in the catalogue; empty where there is none for the language.
    pub server: String,
    /// What became of it.
    pub state: ServerState,
    /// More: progress, an exit status with the last lines of stderr, what was left out for want of trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The compiler, checker or linter that it ran, with the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<String>,
    /// The command that installs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// How to get a better answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same by our own installer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<String>,
    /// How long this answer waited for it, in milliseconds; absent below a second.
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

/// Where the name stands that a question was taken to be about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResolvedAddress<'a> {
    /// Relative to the workspace; absolute for a file outside.
    path: Cow<'a, str>,
    /// Where it begins.
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

/// A successful answer of a language tool: its own `output`, flattened, and how far it can be relied on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer<T> {
    /// Always true; a failure is a [`ToolError`](super::error::ToolError).
    pub ok: bool,
    /// What the tool found.
    #[serde(flatten)]
    pub output: T,
    /// What was asked about, where the question did not give its very place.
    #[serde(default, skip_serializing_if = "Resolved::is_as_asked")]
    pub resolved: Option<Resolved>,
    /// The server that matters most for this answer.
    pub server_status: ServerStatus,
    /// Each server, where several serve the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerStatus>,
    /// How far to rely on it.
    pub verdict: Verdict,
    /// What else is worth knowing, in sentences (waits of unknown sufficiency, values the server got wrong).
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
        self.install.as_ref().map(|install| hints::commands(install, self.installer.as_ref()))
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
        if reason.is_some() && self.verdict == Verdict::Complete {
            self.verdict = Verdict::Partial;
            self.server_status.detail = self.server_status.detail.or(reason);
        } else {
            self.notes.extend(reason);
        }
        self
    }
}

/// `lsp_hover`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HoverOutput {
    /// Markdown; empty where there is nothing to say.
    pub contents: String,
    /// The text it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Hints only: where the likely definition is, best first.
    #[serde(default, skip_serializing_if = "<[Place]>::is_empty")]
    pub candidates: Places,
}

/// `lsp_definition`, `lsp_declaration`, `lsp_type_definition`, `lsp_implementation`, `lsp_references`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocationsOutput {
    /// `lsp_definition` only: the first of them, as LSP has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LspLocation>,
    /// All of them, sorted by file and position (hints: best first).
    pub locations: Places,
    /// How many there are in all.
    pub count: usize,
    /// Whether `locations` leaves some out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// `lsp_definition` with `body`: the source of the first of them, where it lies in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<DefinitionBody>,
}

/// The source of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefinitionBody {
    /// From its first to its last character.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// Whole lines.
    pub text: String,
}

/// A location of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LspLocation {
    /// The document's URI.
    pub uri: String,
    /// Where in it, 0-based, in Unicode scalar values.
    pub range: Range,
}

/// One finding, as answers give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticItem {
    /// Relative to the workspace.
    pub path: String,
    /// Where.
    #[serde(rename = "at", with = "short_range")]
    #[schemars(with = "ShortRange")]
    pub range: Range,
    /// How bad.
    pub severity: crate::lsp::model::Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The checker, where it is not the server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The server's key; "syntax" where tree-sitter found it without a server.
    pub server: String,
    /// What is wrong.
    pub message: String,
    /// The function or type around it, with what that lies in; `cell 2` of a notebook.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub enclosing: Option<String>,
    /// Other places that explain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedItem>,
}

impl DiagnosticItem {
    /// The name of the checker; the server's name if the server is the checker.
    pub(crate) fn checker(&self) -> &str {
        self.source.as_deref().unwrap_or(&self.server)
    }
}

/// A place that explains a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedItem {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What about it.
    pub message: String,
}

/// How one file of a check fared, where several were asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileVerdict {
    /// Relative to the workspace.
    pub path: String,
    /// How far its diagnostics can be relied on.
    pub verdict: Verdict,
    /// Why not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// `lsp_diagnostics`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticsOutput {
    /// Sorted by file and position.
    pub diagnostics: Vec<DiagnosticItem>,
    /// How many there are in all, at or above the severity floor.
    pub count: usize,
    /// Whether `diagnostics` leaves some out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// How many files were asked about.
    pub files: usize,
    /// How many of them nothing has looked at: there is no server for their languages, and no parser.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchecked: usize,
    /// The files whose verdict is not `complete`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<FileVerdict>,
    /// The files asked about, relative to the workspace; for callers in this process alone, since the list is long.
    #[serde(skip)]
    pub looked_at: Vec<String>,
}

/// `lsp_symbols`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolsOutput {
    /// The outline as a tree, or workspace matches, best first.
    pub symbols: Vec<SymbolItem>,
    /// How many there are in all, children included.
    pub count: usize,
    /// Whether `symbols` leaves some out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

/// A caller, callee, supertype or subtype.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HierarchyItem {
    /// Its name.
    pub name: String,
    /// What it is, in LSP's words.
    pub kind: String,
    /// More, as the server puts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where its name stands.
    #[serde(flatten)]
    pub place: Place,
    /// Where the calls are: in this item's file for callers, in its parent's for callees.
    #[serde(default, with = "short_range::positions", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ShortRange>")]
    pub sites: Vec<Position>,
    /// The next level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<HierarchyItem>,
    /// The next level was left out (seen before, too deep, out of time).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// `lsp_calls`, `lsp_types`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HierarchyOutput {
    /// "incoming"/"outgoing" calls, "supertypes"/"subtypes".
    pub direction: String,
    /// What was asked about, each with its tree.
    pub items: Vec<HierarchyItem>,
    /// How many nodes below `items` there are.
    pub count: usize,
}

/// One signature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignatureItem {
    /// The whole of it.
    pub label: String,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// Its parameters.
    pub parameters: Vec<String>,
    /// 0-based parameter at the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_parameter: Option<u32>,
    /// The server takes this one for the call.
    pub active: bool,
}

/// `lsp_signature`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignaturesOutput {
    /// The server's order.
    pub signatures: Vec<SignatureItem>,
}

/// One completion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionItem {
    /// What is shown and, unless `insert` differs, typed.
    pub label: String,
    /// What it is, in LSP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// More (a type).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// What is typed, where it is not `label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<String>,
    /// The server advises against it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// `lsp_completion`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionsOutput {
    /// Best first, in the server's order.
    pub items: Vec<CompletionItem>,
    /// How many there are in all.
    pub count: usize,
    /// Whether `items` leaves some out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}
