//! LSP 3.17 *Initialize*: the capabilities announced to the editor, at its start and later.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::client::MESSAGE_TYPE_WARNING;
use super::commands::CALL;
use super::context::EditorContext;
use super::editor_capabilities::EditorCapabilities;
use super::features::{FEATURES, Feature};
use super::ticket::RUN;
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::relay::EditorConventions;
use crate::text::Encoding;
use crate::workspace::WorkspacePath;

/// Handles the editor's `initialize` request.
pub(super) fn initialize(editor: &EditorContext, params: &Value) -> Value {
    let runtime = editor.runtime();
    let context = runtime.context();
    let greeting = EditorCapabilities::new(params, encoding(&context, &params["capabilities"]));
    let mut capabilities = json!({
        "positionEncoding": greeting.encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "executeCommandProvider": { "commands": [CALL, RUN] },
        "workspaceSymbolProvider": { "resolveProvider": true },
    });
    let spoken: Vec<_> = context.present_servers().into_iter().map(|server| server.spec.features).collect();
    for feature in FEATURES {
        // Announces a feature now if a server of the workspace may have it and the editor does not
        // support dynamic registration.
        let served = spoken.is_empty() || spoken.iter().any(|features| feature.strength.is_of(features));
        if served && !greeting.supports_dynamic_registration(feature) {
            capabilities[feature.provider] = feature.options();
        }
    }
    if greeting.pulls {
        capabilities["diagnosticProvider"] =
            json!({ "interFileDependencies": true, "workspaceDiagnostics": false });
    }
    editor.set_capabilities(greeting);
    let info = json!({ "name": "lsp-tools", "version": env!("CARGO_PKG_VERSION") });
    json!({ "capabilities": capabilities, "serverInfo": info })
}

/// Chooses the position encoding. If all running servers use one that the editor supports, no
/// conversion is needed; otherwise it is UTF-16, which every editor supports.
fn encoding(context: &Context, capabilities: &Value) -> Encoding {
    let known = capabilities["general"]["positionEncodings"].as_array();
    let running: BTreeSet<&str> =
        context.manager.sessions_for(&context.view).iter().map(|session| session.encoding().name()).collect();
    let mut running = running.into_iter();
    match (running.next(), running.next()) {
        (Some(one), None) if known.is_some_and(|known| known.iter().any(|name| name == one)) => {
            Encoding::from_name(one).unwrap_or(Encoding::Utf16)
        }
        _ => Encoding::Utf16,
    }
}

/// After `initialized`: logs which servers of the workspace are missing.
pub(super) async fn log_startup_hints(context: &Arc<EditorContext>) {
    let runtime = context.runtime();
    for hint in runtime.startup_hints() {
        context
            .editor
            .notify("window/logMessage", json!({ "type": MESSAGE_TYPE_WARNING, "message": hint }))
            .await;
    }
}

/// Registers the features that the servers of `path` turn out to have.
pub(super) async fn register(
    editor: &EditorContext,
    context: &Context,
    conventions: &EditorConventions,
    subject: &LanguageFile,
) {
    let Some(greeting) = editor.capabilities() else { return };
    let open = conventions.documents.contains_key(&subject.path);
    let mut offers = Vec::new();
    for feature in FEATURES.iter().filter(|feature| open && greeting.supports_dynamic_registration(feature)) {
        if is_offered(context, feature, subject, &subject.path) {
            offers.push((feature.registered_as(), feature.options()));
        }
    }
    editor.register(offers).await;
}

fn is_offered(context: &Context, feature: &Feature, subject: &LanguageFile, path: &WorkspacePath) -> bool {
    let language = subject.language.as_deref().unwrap_or_default();
    let language_id = context.catalogue().language_id(language, path.extension());
    context
        .servers_for(subject, |features| feature.strength.is_of(features))
        .iter()
        .filter_map(|(server, _)| context.manager.running_session(server, path))
        .any(|session| session.offers(feature.method, path, language_id))
}
