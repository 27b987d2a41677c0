//! The running Copilot turn: `$/progress` with its token, and its calls.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::events::{CallState, CopilotEvent, CopilotEventSink};

/// One of our turns.
#[derive(Debug)]
pub(crate) struct CopilotTurn {
    /// Our name for the turn: the token of its progress, and the group of its edits.
    pub(crate) name: String,
    /// Cancelled at the end of the turn, which ends everything started by it.
    pub(crate) over: CancellationToken,
    /// The number of calls started for the turn.
    calls: AtomicUsize,
    transcript: Mutex<CopilotTurnTranscript>,
    events: CopilotEventSink,
}

/// The transcript of a turn.
#[derive(Debug, Default, Clone)]
pub(crate) struct CopilotTurnTranscript {
    /// The server's id of the conversation.
    pub(crate) conversation: Option<String>,
    /// The server's id of the turn.
    pub(crate) turn: Option<String>,
    /// The model's reply so far.
    pub(crate) reply: String,
    /// The calls, by the server's id: name and last known state.
    pub(crate) calls: BTreeMap<String, (String, CallState)>,
    /// The server's message about a failure.
    pub(crate) error: Option<String>,
    /// The server's message about a cancellation.
    pub(crate) cancelled: Option<String>,
}

/// The size limit of a stored reply, in bytes.
const MAX_TURN_REPLY_BYTES: usize = 1_000_000;
/// The number of stored calls of one turn.
const MAX_REMEMBERED_TURN_CALLS: usize = 1_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotTurnProgress {
    kind: String,
    conversation_id: Option<String>,
    turn_id: Option<String>,
    reply: Option<String>,
    #[serde(default)]
    edit_agent_rounds: Vec<Value>,
    #[serde(default)]
    steps: Vec<Value>,
    error: Option<Value>,
    cancellation_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotTurnRound {
    reply: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall {
    id: String,
    name: String,
    status: String,
    error: Option<String>,
}

#[derive(Deserialize)]
struct CopilotTurnStep {
    title: String,
    status: String,
}

impl CopilotTurn {
    fn new(name: String, events: CopilotEventSink) -> Self {
        Self {
            name,
            over: CancellationToken::new(),
            calls: AtomicUsize::new(0),
            transcript: Mutex::default(),
            events,
        }
    }

    /// The transcript so far.
    pub(crate) fn transcript(&self) -> CopilotTurnTranscript {
        self.transcript.lock().clone()
    }

    /// Sets the conversation that the turn continues.
    pub(crate) fn set_conversation(&self, conversation: &str) {
        self.transcript.lock().conversation = Some(conversation.to_owned());
    }

    /// Returns true if `conversation` is another one than this turn's. The server reports our
    /// conversation before it calls; a value that names none is not foreign.
    pub(crate) fn is_foreign(&self, conversation: &Value) -> bool {
        let Some(named) = conversation.as_str() else { return false };
        self.transcript.lock().conversation.as_ref().is_some_and(|own| own != named)
    }

    /// Returns true if the turn had any output, so that it cannot be repeated.
    pub(crate) fn has_output(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0 || !self.transcript.lock().reply.is_empty()
    }

    /// Records the new state of a call.
    pub(crate) fn record_call(&self, id: &str, name: &str, state: CallState, detail: Option<String>) {
        {
            let mut transcript = self.transcript.lock();
            let known = transcript.calls.get(id).map(|(_, state)| *state);
            if known == Some(state)
                || (known.is_none() && transcript.calls.len() >= MAX_REMEMBERED_TURN_CALLS)
            {
                return;
            }
            transcript.calls.insert(id.to_owned(), (name.to_owned(), state));
        }
        self.events.send(CopilotEvent::Call { name: name.to_owned(), state, detail });
    }

    /// Counts the start of one of our calls.
    pub(crate) fn begin_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn on_progress_value(&self, value: &Value) {
        let Ok(progress) = CopilotTurnProgress::deserialize(value) else {
            tracing::warn!("progress of a turn cannot be read");
            return;
        };
        if let Some(conversation) = progress.conversation_id {
            self.transcript.lock().conversation = Some(conversation);
        }
        if let Some(turn) = progress.turn_id {
            self.transcript.lock().turn = Some(turn);
        }
        self.add_reply_text(progress.reply);
        for round in
            progress.edit_agent_rounds.iter().filter_map(|round| CopilotTurnRound::deserialize(round).ok())
        {
            self.add_reply_text(round.reply);
            for call in round.tool_calls.iter().filter_map(|call| ToolCall::deserialize(call).ok()) {
                if let Some(state) = CallState::from_word(&call.status) {
                    self.record_call(&call.id, &call.name, state, call.error);
                }
            }
        }
        for step in progress.steps.iter().filter_map(|step| CopilotTurnStep::deserialize(step).ok()) {
            self.events.send(CopilotEvent::Step { title: step.title, status: step.status });
        }
        if progress.kind == "end" {
            let mut transcript = self.transcript.lock();
            transcript.error = progress.error.as_ref().map(words_of);
            transcript.cancelled = progress.cancellation_reason;
        }
    }

    fn add_reply_text(&self, text: Option<String>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return };
        {
            let mut transcript = self.transcript.lock();
            if transcript.reply.len() + text.len() > MAX_TURN_REPLY_BYTES {
                return;
            }
            transcript.reply.push_str(&text);
        }
        self.events.send(CopilotEvent::Reply(text));
    }
}

/// Returns the text of the server's error: an object with a message, or a string.
fn words_of(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

/// The turns of one client, one at a time.
#[derive(Debug, Default)]
pub(crate) struct CopilotTurnRegistry(Mutex<TurnRegistryState>);

#[derive(Debug, Default)]
struct TurnRegistryState {
    current: Option<Arc<CopilotTurn>>,
    /// The server's ids of finished turns, the latest last.
    over: VecDeque<String>,
}

/// The number of finished turns to remember.
const MAX_FINISHED_TURNS: usize = 64;

/// A running turn. Dropping it ends everything started by it.
#[derive(Debug)]
pub(crate) struct CopilotTurnGuard<'a> {
    turns: &'a CopilotTurnRegistry,
    /// The turn.
    pub(crate) turn: Arc<CopilotTurn>,
}

impl Drop for CopilotTurnGuard<'_> {
    fn drop(&mut self) {
        self.turn.over.cancel();
        let mut turns = self.turns.0.lock();
        turns.current = None;
        if let Some(turn) = self.turn.transcript.lock().turn.take() {
            if turns.over.len() >= MAX_FINISHED_TURNS {
                turns.over.pop_front();
            }
            turns.over.push_back(turn);
        }
    }
}

/// The params of `$/progress` (LSP 3.17).
#[derive(Deserialize)]
struct CopilotProgressParams {
    token: Value,
    value: Value,
}

impl CopilotTurnRegistry {
    /// The running turn.
    pub(crate) fn current(&self) -> Option<Arc<CopilotTurn>> {
        self.0.lock().current.clone()
    }

    /// Returns true if the server's turn with this id is finished. A server that missed its end may
    /// still make calls for it.
    pub(crate) fn is_over(&self, name: &str) -> bool {
        self.0.lock().over.iter().any(|over| over == name)
    }

    /// Starts a turn, unless one is running.
    pub(crate) fn begin(&self, name: String, events: CopilotEventSink) -> Option<CopilotTurnGuard<'_>> {
        let mut turns = self.0.lock();
        if turns.current.is_some() {
            return None;
        }
        let turn = Arc::new(CopilotTurn::new(name, events));
        turns.current = Some(turn.clone());
        Some(CopilotTurnGuard { turns: self, turn })
    }

    /// Handles progress of the running turn.
    pub(crate) fn on_progress(&self, params: &Value) {
        let Ok(progress) = CopilotProgressParams::deserialize(params) else { return };
        if let Some(turn) = self.current().filter(|turn| progress.token == Value::String(turn.name.clone())) {
            turn.on_progress_value(&progress.value);
        }
    }
}

/// The summary of a call at the end of its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CallSummary {
    /// The tool's name.
    pub(crate) name: String,
    /// The final or last known state.
    pub(crate) state: CallState,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn copilot_turn_collects_progress_of_its_own_token_only() {
        let (sender, mut receiver) = unbounded_channel();
        let turns = CopilotTurnRegistry::default();
        let running = turns.begin("t1".into(), CopilotEventSink::new(sender.clone())).unwrap();
        assert!(turns.begin("t2".into(), CopilotEventSink::new(sender)).is_none());
        let told = |token: &str, value: Value| turns.on_progress(&json!({"token": token, "value": value}));
        told("t1", json!({"kind": "begin", "title": "T", "conversationId": "c1", "turnId": "x"}));
        told("t0", json!({"kind": "report", "reply": "another's"}));
        told("t1", json!({"kind": "report", "reply": "a"}));
        let call = |status: &str| json!({"id": "1", "name": "bash", "status": status, "error": "bad"});
        for status in ["not started", "running", "running", "error", "no such word"] {
            let round = json!({"roundId": "2", "reply": "", "toolCalls": [call(status), 5]});
            told("t1", json!({"kind": "report", "editAgentRounds": [round, null]}));
        }
        told("t1", json!({"kind": "report", "editAgentRounds": [{"roundId": 1, "reply": "b"}]}));
        told("t1", json!("odd"));
        told("t1", json!({"kind": "end", "error": {"message": "no more", "code": 402}}));
        let heard = running.turn.transcript();
        assert_eq!((heard.conversation.as_deref(), heard.reply.as_str()), (Some("c1"), "ab"));
        assert_eq!(heard.error.as_deref(), Some("no more"));
        let mut states = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            if let CopilotEvent::Call { state, .. } = event {
                states.push(state);
            }
        }
        assert_eq!(states, [CallState::Running, CallState::Error]);
        let over = running.turn.over.clone();
        drop(running);
        assert!(over.is_cancelled() && turns.current().is_none());
        assert!(turns.is_over("x") && !turns.is_over("y"));
    }
}
