//! One prompt, from its start to its end: events in, decisions and results out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::approvals::HostApprovals;
use super::error::HostError;
use super::offer::HostSessionRequest;
use super::options::{HostEvent, HostOptions, HostOutcome};
use super::rpc::{HOST_REQUEST_TIMEOUT, HostConversation, HostMessage, Rpc, SESSION_CLOSE_TIMEOUT};
use super::turn_state::HostTurnState;
use super::{calls, hooks, permission};
use crate::runtime::live::LiveRuntime;
use crate::tools::api::tool::Caller;

/// A turn.
pub(super) struct HostTurn<'a> {
    shared: Arc<HostTurnState>,
    options: &'a HostOptions,
    /// Running decisions, calls and hooks, which end with the turn.
    tasks: JoinSet<()>,
    /// Running calls, by their request id.
    running: HashMap<String, CancellationToken>,
    answer: String,
    stopped: bool,
}

impl<'a> HostTurn<'a> {
    pub(super) fn new(
        live: &LiveRuntime,
        options: &'a HostOptions,
        caller: Caller,
        offer: HostSessionRequest,
        session: &str,
        rpc: Rpc,
    ) -> Self {
        let caller = Caller { agent: options.agent.clone(), ..caller };
        let shared = HostTurnState {
            live: live.clone(),
            backend: Arc::clone(&options.backend),
            rpc,
            session: session.to_owned(),
            approver: Arc::clone(&options.approver),
            caller,
            names: offer.names,
            events: options.events.clone(),
            agents: Mutex::default(),
            agreed: HostApprovals::default(),
            calls: AtomicUsize::new(0),
        };
        Self {
            shared: Arc::new(shared),
            options,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            answer: String::new(),
            stopped: false,
        }
    }

    /// Sends the prompt, and handles messages until the session is idle, fails, is stopped, or
    /// `deadline` passes.
    pub(super) async fn run(
        mut self,
        conversation: &mut HostConversation,
        mut deadline: Instant,
    ) -> Result<HostOutcome, HostError> {
        let rpc = self.shared.rpc.clone();
        let prompt = json!({"sessionId": self.shared.session, "prompt": self.options.prompt});
        let sent = rpc.ask("session.send", prompt, HOST_REQUEST_TIMEOUT);
        tokio::pin!(sent);
        let mut is_sent = false;
        let outcome = loop {
            tokio::select! {
                answer = &mut sent, if !is_sent => match answer {
                    Ok(_) => is_sent = true,
                    Err(error) => break Err(error),
                },
                next = conversation.next() => match self.handle_message(next) {
                    Ok(false) => {}
                    Ok(true) => break Ok(()),
                    Err(error) => break Err(error),
                },
                Some(done) = self.tasks.join_next() => if let Err(error) = done {
                    tracing::error!("a part of the session failed: {error}");
                },
                () = self.options.stop.cancelled(), if !self.stopped => {
                    self.stop();
                    deadline = Instant::now() + SESSION_CLOSE_TIMEOUT;
                }
                () = tokio::time::sleep_until(deadline) => break match self.stopped {
                    true => Ok(()),
                    false => Err(HostError::TooLong { limit: self.options.limit }),
                },
            }
        };
        self.running.values().for_each(CancellationToken::cancel);
        self.tasks.shutdown().await;
        self.shared.runtime().end_session(&self.shared.caller.session);
        outcome.map(|()| HostOutcome {
            answer: self.answer,
            session: self.shared.session.clone(),
            calls: self.shared.calls.load(Ordering::Relaxed),
            stopped: self.stopped,
        })
    }

    /// Handles a message. Returns true at the end of the turn.
    fn handle_message(&mut self, next: HostMessage) -> Result<bool, HostError> {
        match next {
            HostMessage::Ended(error) => Err(error),
            HostMessage::Told { method, params } if method == "session.event" => self.handle_event(params),
            HostMessage::Told { method, .. } => {
                tracing::trace!(method, "passed over");
                Ok(false)
            }
            HostMessage::Asked { method, params, answer } if method == "hooks.invoke" => {
                self.tasks.spawn(hooks::on_hook(Arc::clone(&self.shared), answer, params));
                Ok(false)
            }
            // Dropping the channel refuses the request.
            HostMessage::Asked { method, .. } => {
                tracing::debug!(method, "not served");
                Ok(false)
            }
        }
    }

    fn handle_event(&mut self, mut params: Value) -> Result<bool, HostError> {
        if params.get("sessionId").and_then(Value::as_str) != Some(&self.shared.session) {
            return Ok(false);
        }
        let event = params.get_mut("event").map(Value::take).unwrap_or_default();
        self.options.send_event(HostEvent::Event(event.clone()));
        let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let (kind, agent) = (word(&event, "type").unwrap_or_default(), word(&event, "agentId"));
        let data = event.get("data").cloned().unwrap_or_default();
        let request = word(&data, "requestId").unwrap_or_default();
        match kind.as_str() {
            "permission.requested" if data.get("resolvedByHook") != Some(&Value::Bool(true)) => {
                self.tasks.spawn(permission::decide(Arc::clone(&self.shared), data, agent));
            }
            "external_tool.requested" if !self.stopped => {
                let cancelled = CancellationToken::new();
                // A repeated request is a single call.
                if self.running.insert(request, cancelled.clone()).is_none() {
                    self.shared.calls.fetch_add(1, Ordering::Relaxed);
                    self.tasks.spawn(calls::run_call(Arc::clone(&self.shared), data, agent, cancelled));
                }
            }
            "external_tool.completed" => {
                if let Some(cancelled) = self.running.remove(&request) {
                    cancelled.cancel();
                }
            }
            "subagent.started" => self.on_agent_began(agent, word(&data, "agentName")),
            "assistant.message" if agent.is_none() => {
                let words = word(&data, "content").filter(|words| !words.is_empty());
                self.answer = words.unwrap_or(std::mem::take(&mut self.answer));
            }
            "session.error" => {
                let kind = word(&data, "errorType").unwrap_or_else(|| "error".to_owned());
                let message = word(&data, "message").unwrap_or_else(|| "it gave no reason".to_owned());
                return Err(HostError::Session { kind, message });
            }
            "session.idle" => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    /// Registers an agent of the settings, which has the permissions set there. Other agents belong
    /// to the command line.
    fn on_agent_began(&self, id: Option<String>, name: Option<String>) {
        if let (Some(id), Some(name)) = (id, name)
            && self.shared.runtime().policy().agents().contains_key(&name)
        {
            self.shared.agents.lock().insert(id, name);
        }
    }

    /// Cancels running calls, and requests the end of the session.
    fn stop(&mut self) {
        self.stopped = true;
        self.running.values().for_each(CancellationToken::cancel);
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            let params = json!({"sessionId": shared.session});
            if let Err(error) = shared.rpc.ask("session.abort", params, SESSION_CLOSE_TIMEOUT).await {
                tracing::warn!("{error}");
            }
        });
    }
}
