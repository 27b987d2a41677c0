//! The other door's side of the door `tools`: a backend over connections to daemons that may be
//! replaced meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::{
    APPROVAL, ASK, AUTHORIZE, ApprovalParams, ApproverQuestion, CALL, CANCEL, CancelParams, FILL_FORM, LIST,
    LONGEST_ANSWER, ListParams, PING, RemoteToolCall,
};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::connector::{Connector, DaemonConnection};
use crate::bridges::daemon::preamble::Preamble;
use crate::bridges::daemon::{CALL_LOST, NO_NEXT_DAEMON};
use crate::policy::approval::{Approval, ApprovalRequest, Approver, FormAnswer, FormRequest};
use crate::rpc::{Peer, PeerHandler, PeerResponse, RequestError, RequestRefusal};
use crate::runtime::calls::call::CallRequest;
use crate::runtime::tool_backend::ToolBackend;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{Caller, ToolDefinition};

/// The interval of pings to a daemon that owes an answer.
const DAEMON_PING_INTERVAL: Duration = Duration::from_secs(10);
/// The time limit for the answer to a ping.
const DAEMON_PING_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of attempts for a read-only request, since a daemon may exit during one.
const MAX_QUESTION_ATTEMPTS: usize = 2;

/// A backend that uses the daemon's runtime.
pub(crate) struct DaemonBackend {
    preamble: Preamble,
    link: tokio::sync::Mutex<DaemonLinkSlot>,
    next_call: AtomicU64,
}

struct DaemonLinkSlot {
    connector: Connector,
    link: Arc<DaemonLink>,
}

/// A connection to a daemon.
struct DaemonLink {
    peer: Peer,
    questions: ApproverQuestions,
}

/// The channels for approver questions of running calls, by the call's number.
type ApproverQuestions = Arc<Mutex<HashMap<u64, UnboundedSender<QuestionForApprover>>>>;

/// A question of the daemon, and the channel for its answer.
enum QuestionForApprover {
    Leave(ApprovalRequest, oneshot::Sender<Approval>),
    Form(FormRequest, oneshot::Sender<FormAnswer>),
}

impl DaemonBackend {
    /// Creates a backend on `connection`, which `connector` opened with `preamble`. After its end,
    /// further connections are opened with both.
    pub(crate) fn new(connector: Connector, preamble: Preamble, connection: DaemonConnection) -> Self {
        let link = Arc::new(DaemonLink::open(connection));
        let link = tokio::sync::Mutex::new(DaemonLinkSlot { connector, link });
        Self { preamble, link, next_call: AtomicU64::new(0) }
    }

    /// Returns the current connection, or opens a new one if it has ended.
    async fn link(&self) -> Result<Arc<DaemonLink>, ToolError> {
        let mut slot = self.link.lock().await;
        if slot.link.peer.close_reason().is_some() {
            slot.connector.refresh_identity();
            let connection = slot.connector.open(&self.preamble).await.map_err(|error| {
                tracing::warn!("the daemon is gone, and no other one was found: {error}");
                ToolError::new(ErrorCode::Internal, NO_NEXT_DAEMON)
            })?;
            slot.link = Arc::new(DaemonLink::open(connection));
        }
        Ok(Arc::clone(&slot.link))
    }

    /// Sends a read-only request, which can be repeated.
    async fn ask<T: DeserializeOwned>(&self, method: &str, params: &impl Serialize) -> Result<T, ToolError> {
        let mut left = MAX_QUESTION_ATTEMPTS;
        loop {
            left -= 1;
            match self.link().await?.answer(method, params).await {
                Err(RequestError::Closed { .. }) if left > 0 => {}
                answer => return answer.map_err(|error| to_tool_error(&error)),
            }
        }
    }

    /// Sends a request of a call, and passes questions to its approver meanwhile. If the future is
    /// dropped, the call is cancelled.
    async fn answer_call<T: DeserializeOwned>(
        &self,
        method: &str,
        request: &CallRequest<'_>,
    ) -> Result<T, ToolError> {
        let answered = async {
            let link = self.link().await?;
            let number = self.next_call.fetch_add(1, Ordering::Relaxed);
            let mut waiting = WaitingToolCall::new(&link, number);
            let params = RemoteToolCall::new(number, request);
            let answer = tokio::select! {
                answer = link.answer(method, &params) => answer,
                never = put_questions(&mut waiting.questions, request.options.approver) => match never {},
            };
            waiting.is_answered = true;
            answer.map_err(|error| to_tool_error(&error))
        };
        tokio::select! {
            answer = answered => answer,
            () = request.options.cancelled.cancelled() => {
                Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled by its caller"))
            }
        }
    }
}

impl ToolBackend for DaemonBackend {
    fn definitions<'a>(
        &'a self,
        caller: &'a Caller,
        with_agents: bool,
    ) -> BoxFuture<'a, Result<Vec<ToolDefinition>, ToolError>> {
        let params = ListParams { caller: caller.clone(), with_agents };
        Box::pin(async move { self.ask::<Result<_, ToolError>>(LIST, &params).await? })
    }

    fn approval_request<'a>(
        &'a self,
        caller: &'a Caller,
        name: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<ApprovalRequest>, ToolError>> {
        let (caller, name, arguments) = (caller.clone(), name.to_owned(), arguments.clone());
        let params = ApprovalParams { caller, name, arguments };
        Box::pin(async move { self.ask::<Result<_, ToolError>>(APPROVAL, &params).await? })
    }

    fn authorize_tool_call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move { self.answer_call::<Result<(), ToolError>>(AUTHORIZE, &request).await? })
    }

    fn call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let result = self.answer_call(CALL, &request).await;
            result.unwrap_or_else(|error| ToolResult::from_error(&error))
        })
    }
}

impl DaemonLink {
    fn open(connection: DaemonConnection) -> Self {
        let DaemonConnection { reader, writer, .. } = connection;
        let questions = ApproverQuestions::default();
        let handler = ApproverHandler(Arc::clone(&questions));
        Self { peer: Peer::open("daemon", reader, writer, handler, None), questions }
    }

    /// Sends a request, and waits for the response while the daemon answers pings.
    async fn answer<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, RequestError> {
        let answered = self.peer.start(method, params)?.answer(Instant::now() + LONGEST_ANSWER);
        tokio::select! {
            answer = answered => answer,
            reason = self.wait_silent() => {
                self.peer.close(&reason);
                Err(RequestError::Closed { reason })
            }
        }
    }

    /// Waits until the daemon no longer answers pings. Returns the reason.
    async fn wait_silent(&self) -> String {
        loop {
            sleep(DAEMON_PING_INTERVAL).await;
            let deadline = Instant::now() + DAEMON_PING_TIMEOUT;
            if let Err(error) = self.peer.request::<Value>(PING, &json!({}), deadline).await {
                return error.to_string();
            }
        }
    }
}

/// A call without a response yet.
struct WaitingToolCall<'a> {
    link: &'a DaemonLink,
    number: u64,
    questions: UnboundedReceiver<QuestionForApprover>,
    is_answered: bool,
}

impl<'a> WaitingToolCall<'a> {
    fn new(link: &'a DaemonLink, number: u64) -> Self {
        let (sender, questions) = unbounded_channel();
        link.questions.lock().insert(number, sender);
        Self { link, number, questions, is_answered: false }
    }
}

impl Drop for WaitingToolCall<'_> {
    fn drop(&mut self) {
        self.link.questions.lock().remove(&self.number);
        if !self.is_answered {
            self.link.peer.notify(CANCEL, &CancelParams { number: self.number });
        }
    }
}

/// Passes the daemon's questions to `approver`, one after the other.
async fn put_questions(
    questions: &mut UnboundedReceiver<QuestionForApprover>,
    approver: &dyn Approver,
) -> std::convert::Infallible {
    while let Some(question) = questions.recv().await {
        // The daemon may have exited.
        let _ignored = match question {
            QuestionForApprover::Leave(request, answer) => answer.send(approver.ask(&request).await).is_ok(),
            QuestionForApprover::Form(form, answer) => answer.send(approver.fill_form(&form).await).is_ok(),
        };
    }
    std::future::pending().await
}

/// Routes the daemon's questions to their calls.
struct ApproverHandler(ApproverQuestions);

impl PeerHandler for ApproverHandler {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        match method {
            ASK => self.pass_on(params, QuestionForApprover::Leave, Approval::Nobody),
            FILL_FORM => self.pass_on(params, QuestionForApprover::Form, FormAnswer::Nobody),
            _ => PeerResponse::Ready(Err(RequestRefusal::MethodNotFound)),
        }
    }

    fn notification(&mut self, _method: &str, _params: &RawValue) {}
}

impl ApproverHandler {
    /// Returns the answer to a question, or `nobody` if its call is not waiting any more.
    fn pass_on<Q: DeserializeOwned, A: Serialize + Send + 'static>(
        &self,
        params: Value,
        question: fn(Q, oneshot::Sender<A>) -> QuestionForApprover,
        nobody: A,
    ) -> PeerResponse {
        let invalid = |error: serde_json::Error| RequestRefusal::InvalidParams(error.to_string());
        let received: ApproverQuestion<Q> = match serde_json::from_value(params) {
            Ok(received) => received,
            Err(error) => return Err(invalid(error)).into(),
        };
        let (sender, answered) = oneshot::channel();
        if let Some(call) = self.0.lock().get(&received.call) {
            // A call that has just ended is not waiting for questions.
            let _ignored = call.send(question(received.question, sender));
        }
        PeerResponse::Later(Box::pin(async move {
            serde_json::to_value(answered.await.unwrap_or(nobody)).map_err(invalid)
        }))
    }
}

fn to_tool_error(error: &RequestError) -> ToolError {
    match error {
        RequestError::Closed { reason } => {
            tracing::warn!("the daemon has gone: {reason}");
            ToolError::new(ErrorCode::Internal, CALL_LOST)
        }
        error => ToolError::new(ErrorCode::Internal, error.to_string()),
    }
}
