//! Elicitations of a mounted server, routed to the approver of the call in progress.
//!
//! A server of the newest revision puts its questions into the call's response. A server of an
//! earlier revision sends requests that name no call. Such a question goes to the running call if
//! it is the only one on that connection, and is declined otherwise. So no client sees a question
//! that may belong to another's call.

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::policy::approval::{FormAnswer, FormRequest};
use crate::tools::api::hidden::{escape_all, escape_hidden};

/// The length limit of a displayed question, in characters.
const MAX_ELICITATION_MESSAGE_CHARS: usize = 2_000;
/// The size limit of a form, in bytes.
const MAX_ELICITATION_SCHEMA_BYTES: usize = 16 << 10;
/// The limit on fields of a form.
const MAX_ELICITATION_FIELDS: usize = 32;

/// The running calls of one connection that have an approver.
#[derive(Debug, Clone, Default)]
pub(super) struct ElicitationRouter(Arc<Mutex<ElicitationRoutes>>);

#[derive(Debug, Default)]
struct ElicitationRoutes {
    next: u64,
    calls: Vec<(u64, mpsc::Sender<PendingElicitation>)>,
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct PendingElicitation {
    pub(super) form: ElicitRequestParams,
    answer: oneshot::Sender<ElicitResult>,
}

impl PendingElicitation {
    /// Answers it; the server may have given up waiting.
    pub(super) fn answer(self, answer: ElicitResult) {
        let _ignored = self.answer.send(answer);
    }
}

/// The registration of a call for questions, until dropped.
#[derive(Debug)]
pub(super) struct ElicitationListener {
    router: ElicitationRouter,
    number: u64,
    questions: mpsc::Receiver<PendingElicitation>,
}

impl ElicitationRouter {
    /// Registers a call.
    pub(super) fn begin(&self) -> ElicitationListener {
        let (sender, questions) = mpsc::channel(1);
        let mut running = self.0.lock();
        running.next += 1;
        let number = running.next;
        running.calls.push((number, sender));
        ElicitationListener { router: self.clone(), number, questions }
    }

    /// Routes a question to the only running call. Declines it if no call is running, or several
    /// are.
    pub(super) async fn ask(&self, server: &str, form: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let call = {
            let running = self.0.lock();
            match running.calls.as_slice() {
                [(_, call)] => call.clone(),
                calls => {
                    tracing::info!(
                        server,
                        calls = calls.len(),
                        "a mounted server's question belongs to no single call"
                    );
                    return declined;
                }
            }
        };
        let (answer, answered) = oneshot::channel();
        if call.send(PendingElicitation { form, answer }).await.is_err() {
            return declined;
        }
        // If the call ends first, the question has no answer.
        answered.await.unwrap_or(declined)
    }
}

impl ElicitationListener {
    /// Returns the next question; waits forever if none can come.
    pub(super) async fn next(&mut self) -> PendingElicitation {
        match self.questions.recv().await {
            Some(question) => question,
            None => std::future::pending().await,
        }
    }
}

impl Drop for ElicitationListener {
    fn drop(&mut self) {
        self.router.0.lock().calls.retain(|(number, _)| *number != self.number);
    }
}

/// Converts a server's question for display. `Err` is the reason why it cannot be shown.
pub(super) fn to_form_request(
    server: &str,
    tool: &str,
    params: ElicitRequestParams,
    again: bool,
) -> Result<FormRequest, &'static str> {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
        return Err("it requests that an address be opened");
    };
    let mut schema = serde_json::to_value(requested_schema).map_err(|_| "its form cannot be decoded")?;
    if schema.to_string().len() > MAX_ELICITATION_SCHEMA_BYTES {
        return Err("its form is too large");
    }
    if schema["properties"].as_object().is_some_and(|fields| fields.len() > MAX_ELICITATION_FIELDS) {
        return Err("its form has too many fields");
    }
    escape_all(&mut schema);
    let message = escape_hidden(&message).chars().take(MAX_ELICITATION_MESSAGE_CHARS).collect();
    Ok(FormRequest { from: server.to_owned(), tool: tool.to_owned(), message, schema, again })
}

/// Converts an answer for the server.
pub(super) fn to_elicit_result(answer: FormAnswer) -> ElicitResult {
    match answer {
        FormAnswer::Filled(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
        }
        FormAnswer::Dismissed => ElicitResult::new(ElicitationAction::Cancel),
        FormAnswer::Declined | FormAnswer::Nobody => ElicitResult::new(ElicitationAction::Decline),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(properties: Value) -> ElicitRequestParams {
        serde_json::from_value(json!({
            "mode": "form",
            "message": "Which one?\u{202e}",
            "requestedSchema": {"type": "object", "properties": properties},
        }))
        .unwrap()
    }

    fn one() -> ElicitRequestParams {
        question(json!({"name": {"type": "string", "description": "so\u{200b}"}}))
    }

    #[tokio::test]
    async fn elicitation_reaches_only_pending_call_and_is_declined_otherwise() {
        let asking = ElicitationRouter::default();
        assert_eq!(asking.ask("m", one()).await.action, ElicitationAction::Decline);
        let mut hearing = asking.begin();
        let answered = async {
            let question = hearing.next().await;
            question.answer(to_elicit_result(FormAnswer::Filled(
                json!({"name": "x"}).as_object().unwrap().clone(),
            )));
        };
        let (answer, ()) = tokio::join!(asking.ask("m", one()), answered);
        assert_eq!(answer.content, Some(json!({"name": "x"})));
        let second = asking.begin();
        assert_eq!(asking.ask("m", one()).await.action, ElicitationAction::Decline);
        drop(second);
        // The end of a call declines its pending question.
        let ends = async { drop(hearing.next().await) };
        let (answer, ()) = tokio::join!(asking.ask("m", one()), ends);
        assert_eq!(answer.action, ElicitationAction::Decline);
    }

    #[test]
    fn elicitation_form_escapes_hidden_characters_and_refuses_large_schema() {
        let form = to_form_request("m", "m/say", one(), false).unwrap();
        assert_eq!((form.message.as_str(), form.from.as_str()), ("Which one?\\u{202e}", "m"));
        assert_eq!(form.schema["properties"]["name"]["description"], "so\\u{200b}");
        let field = |number: usize| (format!("f{number}"), json!({"type": "string"}));
        let many = Value::Object((0..40).map(field).collect());
        assert!(to_form_request("m", "m/say", question(many), false).is_err());
        let large = json!({"a": {"type": "string", "description": "x".repeat(20_000)}});
        assert!(to_form_request("m", "m/say", question(large), false).is_err());
    }
}
