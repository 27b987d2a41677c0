//! LSP 3.17 *Code Action Request*, *Code Action Resolve Request*, *Execute a command*.

use lsp_types::request::{CodeActionRequest, CodeActionResolveRequest, ExecuteCommand, Request};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::move_symbol::put;
use super::{Proposal, ProposalError};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::decode::elements;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::readiness::UnfinishedWork;
use crate::lsp::session::request::{
    DependencyScope, DocumentRequest, Untyped, WorkspaceRequest, position_of,
};
use crate::text::{EncodedPosition, Encoding, Range};
use crate::workspace::WorkspacePath;

/// The request's method.
pub(crate) const CODE_ACTION: &str = CodeActionRequest::METHOD;

/// One action that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferedAction {
    /// The title, in the server's words.
    pub(crate) title: String,
    /// LSP 3.17 *CodeActionKind* (`quickfix`, `refactor.extract`, …); empty for a bare command.
    pub(crate) kind: String,
    /// True if the server prefers it over others.
    pub(crate) preferred: bool,
    /// The reason why the action is not available now.
    pub(crate) disabled: Option<String>,
    /// The messages of the diagnostics that it fixes.
    pub(crate) fixes: Vec<String>,
    raw: Value,
}

impl OfferedAction {
    /// Sets `pointer` (RFC 6901) of the first argument of its command to `value`; returns true if
    /// there is such an argument.
    pub(super) fn set_argument(&mut self, pointer: &str, value: &str) -> bool {
        let first = self.raw.pointer_mut("/command/arguments/0");
        first.is_some_and(|first| put(first, pointer, value))
    }
}

/// The actions that a server offers for a range.
#[derive(Debug, Clone)]
pub(crate) struct OfferedActions {
    /// In the server's order.
    pub(crate) list: Vec<OfferedAction>,
    /// The unfinished work of the server.
    pub(crate) unfinished_work: Option<UnfinishedWork>,
}

impl Session {
    /// Requests the actions for `range`; only those of `kind`, if one is given.
    pub(crate) async fn code_actions(
        &self,
        path: &WorkspacePath,
        range: Range,
        kind: Option<&str>,
        deadline: Instant,
    ) -> Result<OfferedActions, ProposalError> {
        // Quick fixes are offered for findings that the client hands back as they came.
        let findings = self.raw_diagnostics(path, deadline).await?;
        let params = |snapshot: &Snapshot, encoding: Encoding| {
            let range = snapshot.buffer.encode_range(range, encoding);
            let (start, end) = (range.start, range.end);
            let touched: Vec<&Value> =
                findings.iter().filter(|finding| touches(&finding["range"], start, end)).collect();
            let mut context = json!({ "diagnostics": touched, "triggerKind": 1 });
            if let Some(kind) = kind {
                context["only"] = json!([kind]);
            }
            Some(json!({
                "textDocument": snapshot.identifier(),
                "range": { "start": position_of(start), "end": position_of(end) },
                "context": context,
            }))
        };
        let request = DocumentRequest::new::<Untyped<CodeActionRequest>>(DependencyScope::File, params);
        let answer = self.ask(path, &request, deadline).await;
        let answer = answer.map_err(|error| self.refusal_error(error))?;
        // An action that needs the file of `move_symbol` is not offered elsewhere.
        let needs_file = self.state.spec.move_symbol.as_ref().map(|rule| rule.kind.as_str());
        let wanted = |action: &OfferedAction| {
            let is_asked_for = kind == Some(action.kind.as_str());
            (is_asked_for || needs_file != Some(action.kind.as_str()))
                && kind.is_none_or(|kind| action.kind == kind || action.kind.starts_with(&format!("{kind}.")))
        };
        let list = elements(&answer.value).filter_map(decode_action).filter(wanted).collect();
        Ok(OfferedActions { list, unfinished_work: answer.unfinished_work })
    }

    /// Returns the changes of `action`. Its command, if it has one, is run at the server, and the
    /// edits that the server then requests are part of the proposal.
    pub(crate) async fn action_edit(
        &self,
        action: &OfferedAction,
        deadline: Instant,
    ) -> Result<Proposal, ProposalError> {
        if let Some(reason) = &action.disabled {
            return Err(self.refused_error(reason));
        }
        let mut raw = action.raw.clone();
        let is_command = raw["command"].is_string();
        if !is_command && raw["edit"].is_null() && self.capabilities.resolves_actions() {
            let request = WorkspaceRequest::new::<Untyped<CodeActionResolveRequest>>(raw.clone());
            let resolved = self.ask_workspace(request, deadline).await;
            raw = resolved.map_err(|error: AskError| self.refusal_error(error))?.0;
        }
        let command = if is_command { &raw } else { &raw["command"] };
        if command.is_null() {
            return self.proposal_from_edit(&raw["edit"]).await;
        }
        if !raw["edit"].is_null() {
            // The edit comes first, then the command (LSP 3.17, *CodeAction*), which would see a
            // text that does not exist yet. A command after an edit mostly concerns the editor's
            // display; the answer names it.
            let mut proposal = self.proposal_from_edit(&raw["edit"]).await?;
            proposal.left_out = command["command"].as_str().map(str::to_owned);
            return Ok(proposal);
        }
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        let _alone = self.commands.lock().await;
        let collecting = self.state.collect_edits();
        let request = WorkspaceRequest::new::<Untyped<ExecuteCommand>>(params);
        let ran = self.ask_workspace(request, deadline).await;
        let edits = collecting.take_edits();
        ran.map_err(|error: AskError| self.refusal_error(error))?;
        match edits.as_slice() {
            [] => Ok(Proposal::default()),
            [edit] => self.proposal_from_edit(edit).await,
            _ => Err(self.unusable_error("a command that requests several edits")),
        }
    }
}

fn decode_action(value: &Value) -> Option<OfferedAction> {
    Some(OfferedAction {
        title: value["title"].as_str()?.to_owned(),
        kind: value["kind"].as_str().unwrap_or_default().to_owned(),
        preferred: value["isPreferred"] == true,
        disabled: value["disabled"]["reason"].as_str().map(str::to_owned),
        fixes: elements(&value["diagnostics"])
            .filter_map(|finding| finding["message"].as_str().map(str::to_owned))
            .collect(),
        raw: value.clone(),
    })
}

fn touches(range: &Value, start: EncodedPosition, end: EncodedPosition) -> bool {
    let place = |value: &Value| Some((value["line"].as_u64()?, value["character"].as_u64()?));
    let (Some(from), Some(to)) = (place(&range["start"]), place(&range["end"])) else { return false };
    let wide = |position: EncodedPosition| (u64::from(position.line), u64::from(position.unit));
    from <= wide(end) && wide(start) <= to
}
