//! Questions to the user of a client, by MCP's elicitation in both eras: permission for a call, and
//! forms of a mounted server.
//!
//! Up to 2025-11-25 the question is a request to the client, and the call waits for the response.
//! From 2026-07-28 on the call ends with the question, and the client repeats the call with the
//! answer and a sealed state. The state contains the question, its call and its expiry, and only we
//! can create one. Only clients that declared elicitation are asked, and over HTTP only those whose
//! process is known not to be started by us ([`peer`](crate::rpc::http_entry::peer)).

mod form;
mod peer;

use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::{Peer, RequestContext};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use self::peer::may_approve;
use crate::policy::approval::{Approval, ApprovalRequest, Approver, FormAnswer, FormRequest};
use crate::text::hex;

/// The key of the approval among the responses of a client.
const APPROVAL: &str = "approval";
/// The key of a mounted server's form among the responses.
const INPUT: &str = "input";
/// The time limit for a client of 2026-07-28 to repeat the call with the answer.
const SEALED_STATE_TTL: Duration = Duration::from_secs(300);
/// The time limit for a client of an earlier revision, a little less than the runtime's own.
const ELICITATION_TIMEOUT: Duration = Duration::from_secs(295);

/// Returns true if the request is of the era without a handshake.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn can_ask(capabilities: Option<ClientCapabilities>) -> bool {
    // A client that names no mode supports forms.
    let declared = capabilities.and_then(|capabilities| capabilities.elicitation);
    declared.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The sealed state of a call that waits for an answer: the approvals so far, and the open
/// question.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SealedCallState {
    /// Digests of the approved questions.
    agreed: Vec<String>,
    /// Digests of the answered forms, with the answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    filled: Vec<(String, ElicitResult)>,
    /// The digest of the open question.
    asked: String,
}

/// A question for a client of 2026-07-28.
#[derive(Debug, Clone, PartialEq)]
enum OpenClientQuestion {
    /// The approval of the call.
    Approval(ApprovalRequest),
    /// A form of a mounted server.
    Form(FormRequest),
}

/// The respondent for questions about one call.
pub(super) enum CallRespondent {
    /// A client of an earlier revision, asked while the call waits.
    Waiting(Peer<RoleServer>),
    /// A client of 2026-07-28, asked by the call's result.
    Returning(Box<ReturningCall>),
    /// No respondent.
    Nobody,
}

/// The answers that a client of 2026-07-28 sent, and its open question.
#[derive(Debug, Default)]
pub(super) struct ReturningCall {
    /// Digests of the approved questions.
    agreed: Vec<String>,
    /// Digests of the answered forms, with the answers.
    filled: Vec<(String, ElicitResult)>,
    /// The answer to the former open question.
    answered: Option<(String, ElicitResult)>,
    /// The currently open question.
    open: Mutex<Option<OpenClientQuestion>>,
}

impl CallRespondent {
    /// Returns the respondent for the call `params` of the client in `context`.
    ///
    /// # Errors
    /// -32602 for a state that is not ours, has expired, or belongs to another call.
    pub(super) fn for_call(
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        seal: &RequestStateCodec,
        principal: &str,
    ) -> Result<Self, ErrorData> {
        let asks = can_ask(context.client_capabilities()) && may_approve(&context.extensions);
        if !is_modern(context) {
            return Ok(if asks { Self::Waiting(context.peer.clone()) } else { Self::Nobody });
        }
        let (state, responses) = (params.request_state.take(), params.input_responses.take());
        if !asks {
            return Ok(Self::Nobody);
        }
        let mut returning = ReturningCall::default();
        if let Some(state) = state {
            let bytes = seal.open_with(&state, &bound_to(params, principal)).map_err(|error| {
                let what = format!("requestState is invalid: {error}; call again without it");
                ErrorData::invalid_params(what, None)
            })?;
            let state: SealedCallState = serde_json::from_slice(&bytes)
                .map_err(|error| ErrorData::internal_error(format!("requestState: {error}"), None))?;
            (returning.agreed, returning.filled) = (state.agreed, state.filled);
            returning.answered = responses.as_ref().and_then(response_in).map(|answer| (state.asked, answer));
        }
        Ok(Self::Returning(Box::new(returning)))
    }

    /// Returns the result that asks the open question, if any.
    pub(super) fn open_question(
        &self,
        params: &CallToolRequestParams,
        seal: &RequestStateCodec,
        principal: &str,
    ) -> Option<Result<InputRequiredResult, ErrorData>> {
        let Self::Returning(returning) = self else { return None };
        let open = returning.open.lock().take()?;
        let (mut agreed, mut filled) = (returning.agreed.clone(), returning.filled.clone());
        if let Some((question, answer)) = &returning.answered {
            match form::to_approval(answer) {
                Approval::Once => agreed.push(question.clone()),
                _ => filled.push((question.clone(), answer.clone())),
            }
        }
        let state = SealedCallState { agreed, filled, asked: open.digest() };
        Some(input_required(&open, &state, &bound_to(params, principal), seal))
    }
}

fn input_required(
    open: &OpenClientQuestion,
    state: &SealedCallState,
    bound: &[u8],
    seal: &RequestStateCodec,
) -> Result<InputRequiredResult, ErrorData> {
    let internal = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let bytes = serde_json::to_vec(state).map_err(internal)?;
    let sealed = seal.seal_with(&bytes, &SealOptions::new().associated_data(bound).ttl(SEALED_STATE_TTL));
    let (key, form) = match open {
        OpenClientQuestion::Approval(request) => (APPROVAL, form::approval_form(request, false)),
        OpenClientQuestion::Form(form) => (INPUT, form::mounted_form(form)),
    };
    let mut requests = InputRequests::new();
    requests.insert(key.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form.map_err(internal)?)));
    Ok(InputRequiredResult::new(Some(requests), Some(sealed)))
}

impl Approver for CallRespondent {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            match self {
                Self::Nobody => Approval::Nobody,
                Self::Waiting(peer) => match elicit(peer, form::approval_form(request, true)).await {
                    Some(result) => form::to_approval(&result),
                    None => Approval::Nobody,
                },
                Self::Returning(returning) => returning.answer_approval(request),
            }
        })
    }

    fn fill_form<'a>(&'a self, request: &'a FormRequest) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            match self {
                Self::Nobody => FormAnswer::Nobody,
                Self::Waiting(peer) => match elicit(peer, form::mounted_form(request)).await {
                    Some(result) => form::to_form_answer(result),
                    None => FormAnswer::Nobody,
                },
                Self::Returning(returning) => returning.answer_form(request),
            }
        })
    }
}

impl ReturningCall {
    fn answer_approval(&self, request: &ApprovalRequest) -> Approval {
        let digest = digest(request);
        if self.agreed.contains(&digest) {
            return Approval::Once;
        }
        if let Some(answer) = self.answer_to(&digest) {
            return form::to_approval(answer);
        }
        self.set_open_question(OpenClientQuestion::Approval(request.clone()));
        Approval::Nobody
    }

    /// Answers a form from earlier answers. A form that cannot wait for a repeated call has no
    /// respondent here.
    fn answer_form(&self, request: &FormRequest) -> FormAnswer {
        let digest = digest(request);
        let before = self.filled.iter().find(|(question, _)| *question == digest).map(|(_, answer)| answer);
        if let Some(answer) = before.or_else(|| self.answer_to(&digest)) {
            return form::to_form_answer(answer.clone());
        }
        if request.again {
            self.set_open_question(OpenClientQuestion::Form(request.clone()));
        }
        FormAnswer::Nobody
    }

    fn answer_to(&self, digest: &str) -> Option<&ElicitResult> {
        self.answered.as_ref().filter(|(question, _)| question == digest).map(|(_, answer)| answer)
    }

    fn set_open_question(&self, question: OpenClientQuestion) {
        *self.open.lock() = Some(question);
    }
}

/// Asks a client while its call waits. Returns `None` without a response.
async fn elicit(
    peer: &Peer<RoleServer>,
    form: Result<ElicitRequestParams, serde_json::Error>,
) -> Option<ElicitResult> {
    let form = match form {
        Ok(form) => form,
        Err(error) => {
            tracing::error!("a question cannot be written as a form: {error}");
            return None;
        }
    };
    match peer.create_elicitation_with_timeout(form, Some(ELICITATION_TIMEOUT)).await {
        Ok(result) => Some(result),
        Err(error) => {
            tracing::warn!("an MCP client did not answer a question: {error}");
            None
        }
    }
}

/// Returns the client's response to the question.
fn response_in(responses: &InputResponses) -> Option<ElicitResult> {
    let response = responses.get(APPROVAL).or_else(|| responses.get(INPUT))?;
    let read = serde_json::from_value(response.clone());
    Some(read.unwrap_or_else(|error| {
        tracing::info!("a client's answer cannot be decoded and counts as no: {error}");
        ElicitResult::new(ElicitationAction::Decline)
    }))
}

/// The binding of a sealed state: one caller's call of one tool with exactly these arguments.
fn bound_to(params: &CallToolRequestParams, principal: &str) -> Vec<u8> {
    let whole = json!([principal, "tools/call", params.name, params.arguments]);
    Sha256::digest(whole.to_string()).to_vec()
}

impl OpenClientQuestion {
    fn digest(&self) -> String {
        match self {
            Self::Approval(request) => digest(request),
            Self::Form(form) => digest(form),
        }
    }
}

fn digest(question: &impl Serialize) -> String {
    let whole = serde_json::to_vec(question).unwrap_or_default();
    hex(&Sha256::digest(whole))
}

#[cfg(test)]
mod tests;
