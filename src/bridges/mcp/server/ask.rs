//! Asking whoever sits before the client whether a call may run: MCP's elicitation, in both eras.
//!
//! Up to 2025-11-25 the question is a request to the client, and the call waits for its answer. From 2026-07-28 on the call ends
//! with the question, and the client calls again with the answer and a sealed state; the state says what was asked, for which
//! call, and for how long it counts, and nobody but us can make one. Only clients that declared elicitation are asked.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::{Peer, RequestContext};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::tools::hidden::shown;

/// The answer's name among the responses of a client.
const APPROVAL: &str = "approval";
/// How long a client of 2026-07-28 has to come back with the answer.
const SEALED_FOR: Duration = Duration::from_secs(300);
/// How long a client of an earlier revision has to answer; a little less than the runtime itself waits.
const ANSWER_WITHIN: Duration = Duration::from_secs(295);
/// More of what a call would touch is not read by anybody.
const SHOWN_ITEMS: usize = 20;

/// Whether the request is of the era without a handshake.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn can_ask(capabilities: Option<ClientCapabilities>) -> bool {
    // A client that names no mode means forms.
    let declared = capabilities.and_then(|capabilities| capabilities.elicitation);
    declared.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// What was agreed to, and what was asked: the sealed state of a call that waits for an answer.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// Digests of the questions that were answered with yes.
    agreed: Vec<String>,
    /// The digest of the question that is open.
    asked: String,
}

/// Whoever can be asked about one call.
pub(super) enum Ask {
    /// A client of an earlier revision; it is asked while the call waits.
    Waiting(Peer<RoleServer>),
    /// A client of 2026-07-28; it is asked by the call's result.
    Returning(Box<Returning>),
    /// Nobody.
    Nobody,
}

/// What a client of 2026-07-28 has brought along, and what it is to be asked.
pub(super) struct Returning {
    /// Digests of the questions that have been answered with yes.
    agreed: Vec<String>,
    /// What was said to the question that was open.
    answered: Option<(String, Approval)>,
    /// The question that is open now.
    open: Mutex<Option<ApprovalRequest>>,
}

impl Ask {
    /// Who can be asked about the call `params` of the client in `context`.
    ///
    /// # Errors
    /// -32602 where the state that came along is none of ours, too old, or another call's.
    pub(super) fn about(
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        seal: &RequestStateCodec,
        principal: &str,
    ) -> Result<Self, ErrorData> {
        if !is_modern(context) {
            let asks = can_ask(context.client_capabilities());
            return Ok(if asks { Self::Waiting(context.peer.clone()) } else { Self::Nobody });
        }
        let (state, responses) = (params.request_state.take(), params.input_responses.take());
        if !can_ask(context.client_capabilities()) {
            return Ok(Self::Nobody);
        }
        let mut returning = Returning { agreed: Vec::new(), answered: None, open: Mutex::new(None) };
        if let Some(state) = state {
            let bytes = seal.open_with(&state, &bound_to(params, principal)).map_err(|error| {
                let what = format!("requestState cannot be used: {error}; call again without it");
                ErrorData::invalid_params(what, None)
            })?;
            let state: State = serde_json::from_slice(&bytes)
                .map_err(|error| ErrorData::internal_error(format!("requestState: {error}"), None))?;
            returning.agreed = state.agreed;
            returning.answered = responses.as_ref().and_then(said).map(|approval| (state.asked, approval));
        }
        Ok(Self::Returning(Box::new(returning)))
    }

    /// The result that puts the question, where one is open.
    pub(super) fn open_question(
        &self,
        params: &CallToolRequestParams,
        seal: &RequestStateCodec,
        principal: &str,
    ) -> Option<Result<InputRequiredResult, ErrorData>> {
        let Self::Returning(returning) = self else { return None };
        let open = returning.open.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut agreed = returning.agreed.clone();
        if let Some((asked, Approval::Once)) = &returning.answered {
            agreed.push(asked.clone());
        }
        let state = State { agreed, asked: digest(&open) };
        Some(put(&open, &state, &bound_to(params, principal), seal))
    }
}

fn put(
    open: &ApprovalRequest,
    state: &State,
    bound: &[u8],
    seal: &RequestStateCodec,
) -> Result<InputRequiredResult, ErrorData> {
    let internal = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let bytes = serde_json::to_vec(state).map_err(internal)?;
    let sealed = seal.seal_with(&bytes, &SealOptions::new().associated_data(bound).ttl(SEALED_FOR));
    let form = form(open, false).map_err(internal)?;
    let mut requests = InputRequests::new();
    requests.insert(APPROVAL.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)));
    Ok(InputRequiredResult::new(Some(requests), Some(sealed)))
}

impl Approver for Ask {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            match self {
                Self::Nobody => Approval::Nobody,
                Self::Waiting(peer) => wait(peer, request).await,
                Self::Returning(returning) => returning.ask(request),
            }
        })
    }
}

impl Returning {
    fn ask(&self, request: &ApprovalRequest) -> Approval {
        let digest = digest(request);
        if self.agreed.contains(&digest) {
            return Approval::Once;
        }
        if let Some((asked, approval)) = &self.answered
            && *asked == digest
        {
            return approval.clone();
        }
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
        Approval::Nobody
    }
}

async fn wait(peer: &Peer<RoleServer>, request: &ApprovalRequest) -> Approval {
    let form = match form(request, true) {
        Ok(form) => form,
        Err(error) => {
            tracing::error!("an approval cannot be put as a form: {error}");
            return Approval::Nobody;
        }
    };
    match peer.create_elicitation_with_timeout(form, Some(ANSWER_WITHIN)).await {
        Ok(result) => decided(&result),
        Err(error) => {
            tracing::warn!("an MCP client that can be asked gave no answer: {error}");
            Approval::Nobody
        }
    }
}

/// What the responses of a client say to the question.
fn said(responses: &InputResponses) -> Option<Approval> {
    let response = responses.get(APPROVAL)?;
    Some(match serde_json::from_value::<ElicitResult>(response.clone()) {
        Ok(result) => decided(&result),
        Err(error) => Approval::Refused { why: Some(format!("the answer cannot be understood: {error}")) },
    })
}

/// Anything but a clear yes is a no.
fn decided(result: &ElicitResult) -> Approval {
    let decision =
        result.content.as_ref().and_then(|content| content.get("decision")).and_then(Value::as_str);
    match (&result.action, decision) {
        (ElicitationAction::Accept, Some("once")) => Approval::Once,
        (ElicitationAction::Accept, Some("session")) => Approval::ForSession,
        (ElicitationAction::Accept, Some("no")) | (ElicitationAction::Decline, _) => {
            Approval::Refused { why: None }
        }
        (ElicitationAction::Accept, _) => {
            Approval::Refused { why: Some("the answer has no `decision`".to_owned()) }
        }
        _ => Approval::Refused { why: Some("the question was put away".to_owned()) },
    }
}

/// The question as a form with one choice.
fn form(request: &ApprovalRequest, sessions: bool) -> Result<ElicitRequestParams, serde_json::Error> {
    let mut choices = vec![json!({"const": "once", "title": "Allow this once"})];
    if sessions {
        choices.push(json!({"const": "session", "title": "Allow this until the session ends"}));
    }
    choices.push(json!({"const": "no", "title": "Do not allow it"}));
    let schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"decision": {"type": "string", "title": "Decision", "oneOf": choices}},
        "required": ["decision"],
    }))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(request),
        requested_schema: schema,
    })
}

/// Everything that the call would touch, one line each.
fn message(request: &ApprovalRequest) -> String {
    let mut text = format!("{}: {}", shown(&request.title), shown(&request.why));
    let lists =
        [("run", &request.commands), ("fetch", &request.urls), (request.effect.as_str(), &request.paths)];
    for (what, list) in lists {
        for item in list.iter().take(SHOWN_ITEMS) {
            text.push_str(&format!("\n{what}: {}", shown(item)));
        }
        if list.len() > SHOWN_ITEMS {
            text.push_str(&format!("\n{what}: and {} more", list.len() - SHOWN_ITEMS));
        }
    }
    if lists.iter().all(|(_, list)| list.is_empty()) {
        text.push('\n');
        text.push_str(&shown(&request.arguments.to_string()));
    }
    text
}

/// What a sealed state counts for: one caller's call of one tool with just these arguments.
fn bound_to(params: &CallToolRequestParams, principal: &str) -> Vec<u8> {
    let whole = json!([principal, "tools/call", params.name, params.arguments]);
    Sha256::digest(whole.to_string()).to_vec()
}

fn digest(request: &ApprovalRequest) -> String {
    let whole = serde_json::to_vec(request).unwrap_or_default();
    Sha256::digest(whole).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
