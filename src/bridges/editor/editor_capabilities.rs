//! LSP 3.17 *ClientCapabilities*: what the editor can do, as it says in `initialize`.

use serde_json::Value;

use super::features::Feature;
use crate::text::Encoding;

/// The editor's side of `initialize`.
#[derive(Debug)]
pub(super) struct EditorCapabilities {
    /// What it counts columns in.
    pub(crate) encoding: Encoding,
    /// It asks for diagnostics, and is not sent any.
    pub(crate) pulls: bool,
    /// LSP 3.17 *ClientCapabilities*.
    capabilities: Value,
}

impl EditorCapabilities {
    /// Those of the parameters of `initialize`, where columns are counted in `encoding`.
    pub(super) fn new(params: &Value, encoding: Encoding) -> Self {
        let pulls = params["initializationOptions"]["diagnostics"] == "pull";
        Self { encoding, pulls, capabilities: params["capabilities"].clone() }
    }

    /// Whether the editor can do what stands at `pointer` in its capabilities.
    pub(super) fn has_capability(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer) == Some(&Value::Bool(true))
    }

    /// Whether the editor takes `feature` also after its start.
    pub(super) fn supports_dynamic_registration(&self, feature: &Feature) -> bool {
        self.has_capability(&format!("/textDocument/{}/dynamicRegistration", feature.client))
    }
}
