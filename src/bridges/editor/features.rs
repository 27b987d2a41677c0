//! The table of features: an editor's requests, the servers for each, and the merge of their
//! responses.

use serde_json::{Value, json};

use crate::config::spec::ServerFeatures;
use crate::lsp::session::semantic_tokens::{TOKEN_MODIFIERS, TOKEN_TYPES};

/// Strategies for merging the responses of several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerMerge {
    /// The first non-empty response, in the catalogue's order.
    First,
    /// All lists concatenated.
    All,
    /// All hovers joined.
    Hovers,
    /// The first completion list. Its items carry a ticket of their server.
    Completions,
}

/// The feature of a server that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredServerFeature {
    Navigation,
    Format,
    Actions,
    /// No particular feature; the server only has to support the request.
    Any,
}

impl RequiredServerFeature {
    /// Returns true if a server with these features is used.
    pub(super) fn is_of(self, features: &ServerFeatures) -> bool {
        match self {
            Self::Navigation => features.navigation,
            Self::Format => features.format,
            Self::Actions => features.actions,
            Self::Any => true,
        }
    }
}

/// A request that is answered by the servers of a document.
#[derive(Debug)]
pub(super) struct Feature {
    pub(crate) method: &'static str,
    /// The name of its property in LSP 3.17 *ServerCapabilities*.
    pub(crate) provider: &'static str,
    /// The name of its property in LSP 3.17 *ClientCapabilities*, `textDocument`.
    pub(crate) client: &'static str,
    pub(crate) strength: RequiredServerFeature,
    pub(crate) join: AnswerMerge,
}

const fn feature(
    method: &'static str,
    provider: &'static str,
    client: &'static str,
    strength: RequiredServerFeature,
    join: AnswerMerge,
) -> Feature {
    Feature { method, provider, client, strength, join }
}

use AnswerMerge::{All, Completions, First, Hovers};
use RequiredServerFeature::{Actions, Any, Format, Navigation};

pub(super) const FEATURES: &[Feature] = &[
    feature("textDocument/hover", "hoverProvider", "hover", Any, Hovers),
    feature("textDocument/definition", "definitionProvider", "definition", Navigation, First),
    feature("textDocument/declaration", "declarationProvider", "declaration", Navigation, First),
    feature("textDocument/typeDefinition", "typeDefinitionProvider", "typeDefinition", Navigation, First),
    feature("textDocument/implementation", "implementationProvider", "implementation", Navigation, First),
    feature("textDocument/references", "referencesProvider", "references", Navigation, First),
    feature(
        "textDocument/documentHighlight",
        "documentHighlightProvider",
        "documentHighlight",
        Navigation,
        First,
    ),
    feature("textDocument/documentSymbol", "documentSymbolProvider", "documentSymbol", Navigation, First),
    feature("textDocument/completion", "completionProvider", "completion", Navigation, Completions),
    feature("textDocument/signatureHelp", "signatureHelpProvider", "signatureHelp", Navigation, First),
    feature("textDocument/rename", "renameProvider", "rename", Navigation, First),
    feature("textDocument/codeAction", "codeActionProvider", "codeAction", Actions, All),
    feature("textDocument/codeLens", "codeLensProvider", "codeLens", Any, All),
    feature("textDocument/documentLink", "documentLinkProvider", "documentLink", Any, All),
    feature("textDocument/inlayHint", "inlayHintProvider", "inlayHint", Navigation, All),
    feature("textDocument/formatting", "documentFormattingProvider", "formatting", Format, First),
    feature(
        "textDocument/rangeFormatting",
        "documentRangeFormattingProvider",
        "rangeFormatting",
        Format,
        First,
    ),
    feature("textDocument/foldingRange", "foldingRangeProvider", "foldingRange", Navigation, First),
    feature("textDocument/selectionRange", "selectionRangeProvider", "selectionRange", Navigation, First),
    feature(
        "textDocument/linkedEditingRange",
        "linkedEditingRangeProvider",
        "linkedEditingRange",
        Navigation,
        First,
    ),
    feature("textDocument/prepareCallHierarchy", "callHierarchyProvider", "callHierarchy", Navigation, First),
    feature("textDocument/prepareTypeHierarchy", "typeHierarchyProvider", "typeHierarchy", Navigation, First),
    feature(
        "textDocument/semanticTokens/full",
        "semanticTokensProvider",
        "semanticTokens",
        Navigation,
        First,
    ),
];

/// Requests handled like those above, whose announcements cover them.
const BESIDE: &[Feature] = &[
    feature("textDocument/prepareRename", "", "", Navigation, First),
    feature("textDocument/semanticTokens/range", "", "", Navigation, First),
];

impl Feature {
    /// Returns the feature for `method`.
    pub(super) fn for_method(method: &str) -> Option<&'static Self> {
        FEATURES.iter().chain(BESIDE).find(|feature| feature.method == method)
    }

    /// The method of its registration (LSP 3.17, *Register Capability*).
    pub(super) fn registered_as(&self) -> &'static str {
        if self.provider == "semanticTokensProvider" { "textDocument/semanticTokens" } else { self.method }
    }

    /// Its options in LSP 3.17 *ServerCapabilities*.
    pub(super) fn options(&self) -> Value {
        match self.provider {
            // A superset of the servers' trigger characters. Each server receives only requests for
            // its own characters.
            "completionProvider" => json!({
                "resolveProvider": true,
                "triggerCharacters": [".", ":", ">", "<", "\"", "'", "/", "@", "#", "$", "(", "[", "*", "-", " "],
            }),
            "signatureHelpProvider" => {
                json!({ "triggerCharacters": ["(", ",", "<"], "retriggerCharacters": [",", ")"] })
            }
            "codeActionProvider" => json!({ "resolveProvider": true }),
            "codeLensProvider" | "documentLinkProvider" | "inlayHintProvider" => {
                json!({ "resolveProvider": true })
            }
            "renameProvider" => json!({ "prepareProvider": true }),
            "semanticTokensProvider" => json!({
                "legend": { "tokenTypes": TOKEN_TYPES, "tokenModifiers": TOKEN_MODIFIERS },
                "full": true,
                "range": true,
            }),
            _ => json!({}),
        }
    }
}
