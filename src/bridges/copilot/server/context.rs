//! The state of the Copilot client that survives restarts of the server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::events::CopilotEventSink;
use super::format::ResultFormat;
use super::offer::{CopilotOffer, WantedNames};
use super::status::CopilotStatusWatch;
use super::turn_registry::CopilotTurnRegistry;
use crate::policy::approval::{Approval, Approver, NobodyToAsk};
use crate::runtime::live::LiveRuntime;
use crate::runtime::tool_backend::{LocalBackend, ToolBackend};
use crate::runtime::{Client, Runtime};
use crate::tools::api::tool::Caller;

/// The number of concurrent calls. Further ones wait.
const MAX_CONCURRENT_COPILOT_CALLS: usize = 16;
/// The number of running and waiting calls. Further ones are refused.
pub(crate) const MAX_PENDING_COPILOT_CALLS: usize = 128;
/// The time a call may take beyond the tool's own limit, for hooks and the approver (300 s).
const COPILOT_CALL_EXTRA_TIMEOUT: Duration = Duration::from_secs(330);

/// Options of a client of the language server.
pub struct CopilotOptions {
    /// The runtime with the settings, rules and files in force.
    pub(crate) live: LiveRuntime,
    /// The backend whose tools are offered.
    pub(crate) backend: Arc<dyn ToolBackend>,
    /// The caller: session and profile.
    pub(crate) caller: Caller,
    /// The approver.
    pub approver: Arc<dyn Approver>,
    /// The aliases of the server's own tools to be offered as well.
    pub(crate) names: WantedNames,
    /// The format of results.
    pub format: ResultFormat,
    /// Receives the events of the session.
    pub events: CopilotEventSink,
    /// True if messages are recorded in the runtime's trace. The sign-in never is.
    pub(crate) traced: bool,
    /// The time limit of a call, including approval. Defaults to the settings' limit for tools plus
    /// 330 s.
    pub call_limit: Option<Duration>,
}

impl CopilotOptions {
    /// Options with the tools of `live` for `caller`, in the server's own format, without an
    /// approver or event receiver.
    pub fn new(live: LiveRuntime, caller: Caller) -> Self {
        Self {
            backend: Arc::new(LocalBackend::new(live.clone(), Client::default())),
            live,
            caller,
            approver: Arc::new(NobodyToAsk),
            names: WantedNames::default(),
            format: ResultFormat::default(),
            events: CopilotEventSink::default(),
            traced: true,
            call_limit: None,
        }
    }
}

/// The state shared by all parts of the client.
pub(crate) struct CopilotContext {
    live: LiveRuntime,
    pub(super) backend: Arc<dyn ToolBackend>,
    pub(super) caller: Caller,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) format: ResultFormat,
    pub(super) events: CopilotEventSink,
    pub(super) traced: bool,
    pub(super) call_limit: Duration,
    pub(super) statuses: CopilotStatusWatch,
    pub(super) turns: CopilotTurnRegistry,
    pub(super) at_once: Semaphore,
    pub(super) waiting: Arc<Semaphore>,
    offer: Mutex<Arc<CopilotOffer>>,
    answers: Mutex<BTreeMap<String, Approval>>,
}

impl fmt::Debug for CopilotContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CopilotContext").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl CopilotContext {
    pub(super) fn new(options: CopilotOptions, offer: CopilotOffer) -> Self {
        let CopilotOptions { live, backend, caller, approver, names: _, format, events, traced, call_limit } =
            options;
        let call_limit =
            call_limit.unwrap_or(live.current().settings().deadlines.tool + COPILOT_CALL_EXTRA_TIMEOUT);
        Self {
            live,
            backend,
            caller,
            approver,
            format,
            events,
            traced,
            call_limit,
            statuses: CopilotStatusWatch::default(),
            turns: CopilotTurnRegistry::default(),
            at_once: Semaphore::new(MAX_CONCURRENT_COPILOT_CALLS),
            waiting: Arc::new(Semaphore::new(MAX_PENDING_COPILOT_CALLS)),
            offer: Mutex::new(Arc::new(offer)),
            answers: Mutex::default(),
        }
    }

    /// The runtime for work that begins now.
    pub(super) fn runtime(&self) -> Runtime {
        self.live.current()
    }

    /// The tools that the server may call.
    pub(super) fn offer(&self) -> Arc<CopilotOffer> {
        self.offer.lock().clone()
    }

    /// Replaces the offer.
    pub(super) fn set_offer(&self, offer: CopilotOffer) {
        *self.offer.lock() = Arc::new(offer);
    }

    /// Records the approver's decision on exactly this call, before it arrives.
    pub(super) fn record_approval(&self, id: &str, name: &str, input: &Value, approval: Approval) {
        let mut answers = self.answers.lock();
        // The entries of calls that never arrived, since a call follows its confirmation at once.
        if answers.len() >= MAX_PENDING_COPILOT_CALLS {
            answers.clear();
        }
        answers.insert(approval_key(id, name, input), approval);
    }

    /// Takes the recorded decision on this call; it is used once.
    pub(super) fn take_answer(&self, id: &str, name: &str, input: &Value) -> Option<Approval> {
        self.answers.lock().remove(&approval_key(id, name, input))
    }
}

/// The key of a decision. A confirmation has the call's input plus the server's kind of tool.
fn approval_key(id: &str, name: &str, input: &Value) -> String {
    let mut input = input.clone();
    if let Some(input) = input.as_object_mut() {
        input.remove("toolType");
    }
    Value::from(vec![Value::from(id), Value::from(name), input]).to_string()
}
