//! The table of features: an editor's requests, the servers asked, and the merge of their answers.

use serde_json::{Value, json};

use crate::config::spec::ServerFeatures;
use crate::lsp::semantic_tokens::{TOKEN_MODIFIERS, TOKEN_TYPES};

/// How the answers of several servers become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerMerge {
    /// The first that says something, in the catalogue's order.
    First,
    /// All lists in one.
    All,
    /// All hovers in one.
    Hovers,
    /// The first completion list; items are led back to their server.
    Completions,
}

/// What a server must be good at to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredServerFeature {
    Navigation,
    Format,
    Actions,
    /// Whatever it is good at, as long as it offers it.
    Any,
}

impl RequiredServerFeature {
    /// Whether a server with these features is asked.
    pub(super) fn is_of(self, features: &ServerFeatures) -> bool {
        match self {
            Self::Navigation => features.navigation,
            Self::Format => features.format,
            Self::Actions => features.actions,
            Self::Any => true,
        }
    }
}

/// A request that is answered from the servers of a document.
#[derive(Debug)]
pub(super) struct Feature {
    pub(crate) method: &'static str,
    /// Where LSP 3.17 *ServerCapabilities* announces it.
    pub(crate) provider: &'static str,
    /// Where LSP 3.17 *ClientCapabilities*, `textDocument`, speaks of it.
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

/// Requests that are answered like those above, and announced by them.
const BESIDE: &[Feature] = &[
    feature("textDocument/prepareRename", "", "", Navigation, First),
    feature("textDocument/semanticTokens/range", "", "", Navigation, First),
];

impl Feature {
    /// The one that answers `method`.
    pub(super) fn for_method(method: &str) -> Option<&'static Self> {
        FEATURES.iter().chain(BESIDE).find(|feature| feature.method == method)
    }

    /// The method under which it is registered (LSP 3.17, *Register Capability*).
    pub(super) fn registered_as(&self) -> &'static str {
        if self.provider == "semanticTokensProvider" { "textDocument/semanticTokens" } else { self.method }
    }

    /// Its options in LSP 3.17 *ServerCapabilities*.
    pub(super) fn options(&self) -> Value {
        match self.provider {
            // What the servers make of a character is theirs to say: each is only asked about its own.
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
