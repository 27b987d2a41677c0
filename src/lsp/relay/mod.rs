//! The relay of an editor's JSON to a server and back. Every position, URI and version in it is
//! converted to the other side's conventions.
//!
//! [`Session::relay`] synchronizes the documents and sends the request. `convert` translates the
//! JSON, and `tokens` semantic tokens, whose positions are packed. `diagnostics` returns
//! diagnostics in the editor's form, and `outside_relay` handles documents outside the workspace.
//! The conventions of an editor are in `conventions`.

mod conventions;
mod convert;
mod diagnostics;
pub(super) mod outside_documents;
mod outside_relay;
mod tokens;

use lsp_types::request::ExecuteCommand;
use serde_json::{Value, json};
use tokio::time::Instant;

use self::convert::{Converter, RelayDirection};
use super::documents::open_documents::Snapshot;
use super::documents::snippet;
use super::model::FileRef;
use super::session::ask::{AskError, SessionAnswer};
use super::session::live_session::Session;
use super::session::request::{DependencyScope, DocumentRequest, Untyped, WorkspaceRequest};
use super::uri;
use crate::text::Encoding;
use crate::workspace::WorkspacePath;

pub(crate) use super::session::decode::{
    encoded_position as position, encoded_range as range, markup as markdown,
};
pub(crate) use conventions::{EditorConventions, VersionedDocument};
pub(crate) use outside_documents::OutsideDocument;

/// The result of a server's command.
#[derive(Debug, Clone)]
pub(crate) struct ServerCommandResult {
    /// Its result.
    pub(crate) value: Value,
    /// LSP 3.17 *WorkspaceEdit*s that the server requested meanwhile, in the editor's conventions.
    pub(crate) edits: Vec<Value>,
}

impl Session {
    /// Returns true if the server offers `method` for `path`. The document is opened for it.
    /// Registrations right after the server's start are awaited, at most until `deadline`.
    pub(crate) async fn supports_method(
        &self,
        method: &str,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<bool, AskError> {
        let (synced, snapshot) = self.sync(path).await?;
        drop(synced);
        let language_id = &snapshot.language_id;
        Ok(self.offers(method, path, language_id)
            || self.wait_for_registration(method, path, language_id, deadline).await)
    }

    /// Sends `method` about `path` with an editor's `params`; the answer is in the editor's
    /// conventions. The caller has entered the session with the editor's view.
    pub(crate) async fn relay(
        &self,
        conventions: &EditorConventions,
        path: &WorkspacePath,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, AskError> {
        let params = |snapshot: &Snapshot, _: Encoding| Some(self.to_server(conventions, snapshot, params));
        let request = DocumentRequest { method, scope: dependency_scope(method), params };
        let answer = self.ask_with_retry(path, request, deadline).await?;
        Ok(self.to_editor(conventions, method, answer))
    }

    /// Relays a request that concerns no document.
    pub(crate) async fn relay_workspace(
        &self,
        conventions: &EditorConventions,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, AskError> {
        let mut params = params.clone();
        Converter::of_workspace(self, conventions, RelayDirection::ToServer).convert(&mut params);
        let (mut value, _) = self.ask_workspace(WorkspaceRequest { method, params }, deadline).await?;
        Converter::of_workspace(self, conventions, RelayDirection::ToEditor).convert(&mut value);
        Ok(value)
    }

    /// Relays a notification.
    pub(crate) fn relay_notification(&self, conventions: &EditorConventions, method: &str, params: &Value) {
        let mut value = params.clone();
        Converter::of_workspace(self, conventions, RelayDirection::ToServer).convert(&mut value);
        self.connection.notify(method, &value);
    }

    /// Runs a command at the server (LSP 3.17, *Execute a command*), whose arguments are the
    /// server's own. One at a time, since the server does not name the command for which it
    /// requests edits.
    pub(crate) async fn relay_command(
        &self,
        conventions: &EditorConventions,
        command: &str,
        arguments: &Value,
        deadline: Instant,
    ) -> Result<ServerCommandResult, AskError> {
        let params = json!({ "command": command, "arguments": arguments });
        let _alone = self.commands.lock().await;
        let collecting = self.state.collect_edits();
        let request = WorkspaceRequest::new::<Untyped<ExecuteCommand>>(params);
        let ran = self.ask_workspace(request, deadline).await;
        let mut edits = collecting.take_edits();
        let (mut value, _) = ran?;
        Converter::of_workspace(self, conventions, RelayDirection::ToEditor).convert(&mut value);
        for edit in &mut edits {
            Converter::of_workspace(self, conventions, RelayDirection::ToEditor).convert(edit);
        }
        Ok(ServerCommandResult { value, edits })
    }

    /// Returns true if the server itself runs `command`; any other is for the editor.
    pub(crate) fn runs_command(&self, command: &str) -> bool {
        self.capabilities.supports_command(command)
    }

    /// Returns true if the server answers `resolve` (`codeAction/resolve`, …).
    pub(crate) fn resolves(&self, resolve: &str) -> bool {
        self.capabilities.supports_resolve(resolve)
    }

    /// Returns true if typing `character` makes the server answer `method`
    /// (`textDocument/completion`, `textDocument/signatureHelp`).
    pub(crate) fn is_triggered_by(&self, method: &str, character: &str) -> bool {
        self.capabilities.is_trigger_character(method, character)
    }

    fn to_server(&self, conventions: &EditorConventions, snapshot: &Snapshot, params: &Value) -> Value {
        let mut value = params.clone();
        Converter::new(self, conventions, snapshot, RelayDirection::ToServer).convert(&mut value);
        value
    }

    fn to_editor(
        &self,
        conventions: &EditorConventions,
        method: &str,
        answer: SessionAnswer<Value>,
    ) -> Value {
        let SessionAnswer { mut value, snapshot, .. } = answer;
        if method.starts_with("textDocument/semanticTokens") {
            return self.tokens_to_editor(conventions, &snapshot, &value);
        }
        let is_completion = matches!(method, "textDocument/completion" | "completionItem/resolve");
        if is_completion && !conventions.takes_snippets {
            snippet::flatten(&mut value);
        }
        Converter::new(self, conventions, &snapshot, RelayDirection::ToEditor).convert(&mut value);
        value
    }
}

/// Returns the file of the workspace that a request is about.
pub(crate) fn subject_of(params: &Value, workspace: &crate::workspace::Workspace) -> Option<WorkspacePath> {
    let uri = [&params["textDocument"]["uri"], &params["item"]["uri"], &params["uri"]];
    let uri = uri.into_iter().find_map(Value::as_str)?;
    match uri::file_ref(workspace, uri) {
        FileRef::Inside(path) => Some(path),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    }
}

fn dependency_scope(method: &str) -> DependencyScope {
    let whole = ["references", "implementation", "rename", "incomingCalls", "outgoingCalls", "subtypes"];
    let last = method.rsplit('/').next().unwrap_or(method);
    if whole.contains(&last) { DependencyScope::Project } else { DependencyScope::File }
}
