//! LSP 3.17 *ClientCapabilities*: the editor's capabilities, as announced in `initialize`.

use serde_json::Value;

use super::features::Feature;
use crate::text::Encoding;

/// The editor's side of `initialize`.
#[derive(Debug)]
pub(super) struct EditorCapabilities {
    /// The position encoding of the editor.
    pub(crate) encoding: Encoding,
    /// True if the editor pulls diagnostics; then none are published.
    pub(crate) pulls: bool,
    /// LSP 3.17 *ClientCapabilities*.
    capabilities: Value,
}

impl EditorCapabilities {
    /// Parses the parameters of `initialize`, with `encoding` as the position encoding.
    pub(super) fn new(params: &Value, encoding: Encoding) -> Self {
        let pulls = params["initializationOptions"]["diagnostics"] == "pull";
        Self { encoding, pulls, capabilities: params["capabilities"].clone() }
    }

    /// Returns true if the capability at the JSON pointer `pointer` is set.
    pub(super) fn has_capability(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer) == Some(&Value::Bool(true))
    }

    /// Returns true if the editor supports dynamic registration of `feature`.
    pub(super) fn supports_dynamic_registration(&self, feature: &Feature) -> bool {
        self.has_capability(&format!("/textDocument/{}/dynamicRegistration", feature.client))
    }
}
