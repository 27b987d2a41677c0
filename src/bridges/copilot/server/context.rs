//! The context of the Copilot client, across restarts of the server.

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
use crate::tools::tool::Caller;

/// So many calls run at once; the others wait.
const MAX_CONCURRENT_COPILOT_CALLS: usize = 16;
/// So many are run or waited for at once; more are refused.
pub(crate) const MAX_PENDING_COPILOT_CALLS: usize = 128;
/// What a call may take beyond a tool's own time: hooks, and someone who is asked (300 s).
const COPILOT_CALL_EXTRA_TIMEOUT: Duration = Duration::from_secs(330);

/// How a client of the language server is made.
pub struct CopilotOptions {
    /// The runtime whose settings, rules and files hold.
    pub(crate) live: LiveRuntime,
    /// The backend whose tools are offered.
    pub(crate) backend: Arc<dyn ToolBackend>,
    /// On whose behalf: session and profile.
    pub(crate) caller: Caller,
    /// Who is asked.
    pub approver: Arc<dyn Approver>,
    /// Which names of the server's own tools are offered as well.
    pub(crate) names: WantedNames,
    /// How results travel.
    pub format: ResultFormat,
    /// Who looks on.
    pub events: CopilotEventSink,
    /// Whether messages are recorded where the runtime records them. Signing in is not.
    pub(crate) traced: bool,
    /// How long one call may take, asking included; by default what the settings allow a tool, and 330 s.
    pub call_limit: Option<Duration>,
}

impl CopilotOptions {
    /// The tools of `live` for `caller`, in the server's own format, with nobody who could be asked and nobody who looks on.
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

/// What everything here works with.
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

    /// The runtime for what begins now.
    pub(super) fn runtime(&self) -> Runtime {
        self.live.current()
    }

    /// The tools that the server may call.
    pub(super) fn offer(&self) -> Arc<CopilotOffer> {
        self.offer.lock().clone()
    }

    /// From now on these.
    pub(super) fn set_offer(&self, offer: CopilotOffer) {
        *self.offer.lock() = Arc::new(offer);
    }

    /// Someone has said yes or no to exactly this call before it comes.
    pub(super) fn record_approval(&self, id: &str, name: &str, input: &Value, approval: Approval) {
        let mut answers = self.answers.lock();
        // Calls that never came; a confirmation is followed by its call at once.
        if answers.len() >= MAX_PENDING_COPILOT_CALLS {
            answers.clear();
        }
        answers.insert(approval_key(id, name, input), approval);
    }

    /// What was said to this call, once.
    pub(super) fn take_answer(&self, id: &str, name: &str, input: &Value) -> Option<Approval> {
        self.answers.lock().remove(&approval_key(id, name, input))
    }
}

/// A question has the call's own input, and what kind of tool the server takes it for.
fn approval_key(id: &str, name: &str, input: &Value) -> String {
    let mut input = input.clone();
    if let Some(input) = input.as_object_mut() {
        input.remove("toolType");
    }
    Value::from(vec![Value::from(id), Value::from(name), input]).to_string()
}
