//! One Copilot turn, from the prompt to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::CopilotClient;
use super::error::CopilotError;
use super::events::CopilotEvent;
use super::handshake;
use super::link::CopilotLink;
use super::models::{self, CopilotMode};
use super::turn_registry::{CallSummary, CopilotTurn, CopilotTurnGuard};
use crate::rpc::{PendingRequest, RequestError};

/// The default time limit of a turn.
pub(crate) const DEFAULT_TURN_TIMEOUT: Duration = Duration::from_secs(3_600);
/// The time limit for the server to end a cancelled turn.
const TURN_CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of attempts for a turn that had no output before a crash.
const MAX_TURN_ATTEMPTS: u32 = 3;
/// JSON-RPC's code for a cancelled request (LSP 3.17).
const COPILOT_REQUEST_CANCELLED_CODE: i64 = -32800;

/// The request for a turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The user's prompt.
    pub(crate) prompt: String,
    /// The mode of the turn.
    pub(crate) mode: CopilotMode,
    /// The model, by id or name; the server's default if absent.
    pub(crate) model: Option<String>,
    /// The provider of the user's own model. If set, the server's list of models is not requested.
    pub(crate) provider: Option<String>,
    /// Continues the conversation of the last turn, if the server still knows it.
    pub(crate) goes_on: bool,
    /// The time limit.
    pub limit: Duration,
}

impl TurnRequest {
    /// A turn in agent mode, in a conversation of its own.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            mode: CopilotMode::Agent,
            model: None,
            provider: None,
            goes_on: false,
            limit: DEFAULT_TURN_TIMEOUT,
        }
    }
}

/// The outcome of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnOutcome {
    /// The turn's name, by which its edits are undone.
    pub(crate) turn: String,
    /// The server's id of the conversation.
    pub(crate) conversation: Option<String>,
    /// The model, by the server's name.
    pub(crate) model: Option<String>,
    /// The model's reply.
    pub reply: String,
    /// The calls, in the order of the server's ids.
    pub(crate) calls: Vec<CallSummary>,
    /// Files changed by the calls, as `modified src/a.py`. Changes by commands are not included.
    pub(crate) edits: Vec<String>,
    /// The server's message about a failure.
    pub(crate) error: Option<String>,
    /// True if the turn was cancelled.
    pub(crate) cancelled: bool,
}

impl TurnOutcome {
    /// The outcome of a turn that was cancelled before the request was sent.
    fn cancelled_before_start(turn: String) -> Self {
        Self {
            turn,
            conversation: None,
            model: None,
            reply: String::new(),
            calls: Vec::new(),
            edits: Vec::new(),
            error: None,
            cancelled: true,
        }
    }
}

/// The server and the model for a turn.
struct CopilotTurnSetup {
    link: Arc<CopilotLink>,
    /// The server's number.
    number: u32,
    model: Option<String>,
}

impl CopilotClient {
    /// Runs one turn to its end, or until `stop` is cancelled. If the server crashes before the
    /// turn had any output, the turn starts again with the next server.
    ///
    /// # Errors
    /// [`CopilotError::NotSignedIn`], [`CopilotError::NoModel`], [`CopilotError::Busy`] while
    /// another turn runs, and any error of the server.
    pub async fn run_turn(
        &self,
        request: &TurnRequest,
        stop: &CancellationToken,
    ) -> Result<TurnOutcome, CopilotError> {
        let name = name();
        self.context.events.send(CopilotEvent::Begun { turn: name.clone() });
        let mut attempt = 1;
        loop {
            let ready = tokio::select! {
                ready = self.prepare_turn(request) => ready,
                () = stop.cancelled() => return Ok(TurnOutcome::cancelled_before_start(name)),
            };
            let ready = match ready {
                Err(CopilotError::Ended { .. }) if attempt < MAX_TURN_ATTEMPTS => {
                    attempt += 1;
                    continue;
                }
                ready => ready?,
            };
            let running = self.context.turns.begin(name.clone(), self.context.events.clone());
            let running = running.ok_or(CopilotError::Busy)?;
            let outcome = self.attempt_turn(&ready, &running, request, stop).await;
            match outcome {
                Err(CopilotError::Ended { .. })
                    if attempt < MAX_TURN_ATTEMPTS && !running.turn.has_output() =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(ready.link.with_exit_report(error).await),
                Ok(outcome) => {
                    drop(running);
                    self.reset_backoff();
                    return Ok(outcome);
                }
            }
        }
    }

    /// Returns a running server with synced documents, and the model.
    async fn prepare_turn(&self, request: &TurnRequest) -> Result<CopilotTurnSetup, CopilotError> {
        let (link, number) = self.link().await?;
        let context = &self.context;
        link.documents.refresh(&context.runtime(), &context.caller, &link.connection).await;
        if request.provider.is_some() {
            return Ok(CopilotTurnSetup { link, number, model: request.model.clone() });
        }
        match models::list(&link).await {
            Ok(models) => {
                let model = models::choose(&models, request.model.as_deref(), request.mode)?;
                Ok(CopilotTurnSetup { link, number, model: Some(model) })
            }
            Err(error) => Err(link.with_exit_report(error).await),
        }
    }

    async fn attempt_turn(
        &self,
        ready: &CopilotTurnSetup,
        running: &CopilotTurnGuard<'_>,
        request: &TurnRequest,
        stop: &CancellationToken,
    ) -> Result<TurnOutcome, CopilotError> {
        let turn = &running.turn;
        let CopilotTurnSetup { link, number, model } = ready;
        let number = *number;
        let conversation = request.goes_on.then(|| self.known_conversation(number)).flatten();
        if let Some(conversation) = &conversation {
            turn.set_conversation(conversation);
        }
        let (method, params) = self.params(turn, request, model.as_deref(), conversation);
        let pending = link.connection.start(method, &params).map_err(CopilotError::from_request_error)?;
        let answer = wait_for_answer(link, turn, pending, request.limit, stop).await;
        let transcript = turn.transcript();
        let (answer, cancelled) = match answer {
            Ok(answer) => (answer, transcript.cancelled.is_some() || stop.is_cancelled()),
            // Cancelled by us, in any form of the server's response; the results so far are
            // reported.
            Err(_) if stop.is_cancelled() => (Value::Null, true),
            Err(RequestError::Refused { code: COPILOT_REQUEST_CANCELLED_CODE, .. }) => (Value::Null, true),
            Err(error) => return Err(CopilotError::from_request_error(error)),
        };
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        let conversation = text("conversationId").or(transcript.conversation);
        *self.conversation.lock() = conversation.clone().map(|conversation| (number, conversation));
        let calls = transcript.calls.into_values().map(|(name, state)| CallSummary { name, state });
        Ok(TurnOutcome {
            turn: turn.name.clone(),
            conversation,
            model: text("modelName"),
            reply: transcript.reply,
            calls: calls.collect(),
            edits: self.edits(&turn.name).await,
            error: transcript.error,
            cancelled,
        })
    }

    /// Returns the conversation of the last turn, if this server knows it.
    fn known_conversation(&self, number: u32) -> Option<String> {
        let known = self.conversation.lock();
        known.as_ref().filter(|(server, _)| *server == number).map(|(_, conversation)| conversation.clone())
    }

    /// Returns the request that starts the turn. Context skills are not served, so none is
    /// announced.
    fn params(
        &self,
        turn: &CopilotTurn,
        request: &TurnRequest,
        model: Option<&str>,
        conversation: Option<String>,
    ) -> (&'static str, Value) {
        let folder = handshake::folder(&self.context);
        let mut params = json!({
            "workDoneToken": turn.name,
            "capabilities": {"skills": [], "allSkills": false},
            "source": "panel",
            "chatMode": request.mode.as_str(),
            "needToolCallConfirmation": true,
            "workspaceFolder": folder["uri"],
            "workspaceFolders": [folder],
            "modelInfo": {},
        });
        if let Some(model) = model {
            params["modelInfo"]["id"] = model.into();
        }
        if let Some(provider) = &request.provider {
            params["modelInfo"]["providerName"] = provider.as_str().into();
        }
        match conversation {
            Some(conversation) => {
                params["conversationId"] = conversation.into();
                params["message"] = request.prompt.as_str().into();
                ("conversation/turn", params)
            }
            None => {
                params["turns"] = json!([{"request": request.prompt}]);
                ("conversation/create", params)
            }
        }
    }

    /// Returns the changes by the calls of the turn, from the journal.
    async fn edits(&self, group: &str) -> Vec<String> {
        let edits = self.context.runtime().context().edits.clone();
        let history = tokio::task::spawn_blocking(move || edits.history()).await;
        let Ok(Ok(history)) = history else { return Vec::new() };
        let of_turn = history.iter().rev().filter(|entry| entry.group.as_deref() == Some(group));
        let files = of_turn.flat_map(|entry| &entry.files);
        let mut lines: Vec<String> = Vec::new();
        for line in files.map(|(path, operation)| format!("{} {}", operation.name(), path.display())) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// Waits for the end of the turn. Cancels it on request, or after its time limit.
async fn wait_for_answer(
    link: &CopilotLink,
    turn: &CopilotTurn,
    pending: PendingRequest<'_>,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Value, RequestError> {
    // Beyond the turn's own limit, to include the time for the cancellation.
    let answer = pending.answer(Instant::now() + limit + TURN_CANCEL_TIMEOUT + TURN_CANCEL_TIMEOUT);
    tokio::pin!(answer);
    tokio::select! {
        answer = &mut answer => return answer,
        () = stop.cancelled() => {}
        () = tokio::time::sleep(limit) => {
            tracing::warn!(turn = turn.name, "the turn exceeds its time limit");
        }
    }
    turn.over.cancel();
    link.connection.notify("window/workDoneProgress/cancel", &json!({"token": turn.name}));
    let timeout = RequestError::Timeout { method: "the turn".to_owned(), waited: limit };
    match tokio::time::timeout(TURN_CANCEL_TIMEOUT, answer).await {
        Ok(answer) if stop.is_cancelled() => answer,
        Ok(_) | Err(_) => Err(timeout),
    }
}

/// Creates a unique name for a turn.
fn name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("turn-{seconds:x}-{:x}-{number}", std::process::id())
}
