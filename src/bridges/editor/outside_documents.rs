//! Questions about documents outside the workspace, such as the source of a library.
//!
//! They go to running servers, since the editor got the document from one of them; no server is
//! started. These documents are read-only: requests that would change one are answered with null.

use serde_json::Value;
use tower_lsp::jsonrpc::Error;

use super::context::{EditorContext, Inquiry, deadline};
use super::errors::to_rpc_error;
use super::features::Feature;
use super::merge_answers::{self, is_empty};
use crate::lsp::relay::OutsideDocument;

/// The supported requests.
const LOOKING: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/signatureHelp",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
];

/// Returns the first non-empty response of the servers for the document's language.
pub(super) async fn answer_for_outside_document(
    editor: &EditorContext,
    inquiry: &Inquiry,
    feature: &Feature,
    params: &Value,
) -> Result<Value, Error> {
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let Some(stranger) = inquiry.outside_documents.get(uri).filter(|_| LOOKING.contains(&feature.method))
    else {
        return Ok(Value::Null);
    };
    let context = &inquiry.context;
    let deadline = deadline(context, feature.method);
    let mut failure = None;
    for server in servers_for(inquiry, feature, &stranger) {
        let running = context.manager.sessions_for(&context.view);
        for session in running.into_iter().filter(|session| session.server() == server) {
            let request = async {
                let _view_guard = session.enter_view(&context.view, deadline).await?;
                session
                    .relay_outside_document(&inquiry.conventions, &stranger, feature.method, params, deadline)
                    .await
            };
            match request.await {
                Ok(Some(mut value)) if !is_empty(&value) => {
                    merge_answers::adapt_to_client(editor, feature.method, &mut value);
                    return Ok(value);
                }
                Ok(_) => {}
                Err(error) => failure = failure.or(Some(to_rpc_error(&error))),
            }
        }
    }
    failure.map_or_else(|| Ok(merge_answers::empty_result(feature)), Err)
}

/// Returns the servers for the document's language, which follows from its name, or from the
/// editor's language id.
fn servers_for<'a>(inquiry: &'a Inquiry, feature: &Feature, document: &OutsideDocument) -> Vec<&'a str> {
    let catalogue = inquiry.context.catalogue();
    let name = document.uri.rsplit('/').next().unwrap_or_default();
    let first = document.text.line(0);
    let language = catalogue.language_of(name, first.as_deref()).unwrap_or(&document.language_id);
    let servers = catalogue.servers_for(language).into_iter();
    servers.filter(|(_, spec)| feature.strength.is_of(&spec.features)).map(|(server, _)| server).collect()
}
