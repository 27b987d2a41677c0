//! The daemon's side of the door `tools`.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::SetOnce;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{
    APPROVAL, ASK, AUTHORIZE, ApprovalParams, ApproverQuestion, CALL, CANCEL, CancelParams, FILL_FORM, LIST,
    LONGEST_ANSWER, ListParams, PING, RemoteToolCall,
};
use crate::bridges::daemon::clients::ConnectedClient;
use crate::bridges::daemon::server::{AcceptedConnection, DoorHandler};
use crate::policy::approval::{Approval, ApprovalRequest, Approver, FormAnswer, FormRequest};
use crate::rpc::{Peer, PeerHandler, PeerResponse, RequestRefusal};
use crate::runtime::tool_backend::{LocalBackend, ToolBackend};
use crate::tools::api::tool::Caller;

/// JSON-RPC 2.0, section 5.1: internal error.
const INTERNAL_ERROR_CODE: i64 = -32603;

/// The door `tools`.
pub(crate) fn door() -> DoorHandler {
    Arc::new(|connection| Box::pin(serve(connection)))
}

async fn serve(connection: AcceptedConnection) {
    let AcceptedConnection { live, preamble, client, reader, writer, closing, .. } = connection;
    let served = Arc::new(ServedBackend {
        backend: LocalBackend::new(live.clone(), preamble.client()),
        client,
        peer: SetOnce::new(),
        running: Mutex::default(),
        sessions: Mutex::default(),
    });
    let peer = Arc::new(Peer::open("tools", reader, writer, BackendHandler(Arc::clone(&served)), None));
    // This is the only place that sets it, so it cannot be set already.
    let _first = served.peer.set(Arc::downgrade(&peer));
    tokio::select! {
        reason = peer.wait_closed() => tracing::debug!("a client has disconnected: {reason}"),
        () = closing.cancelled() => {}
    }
    // Running calls end with the connection.
    peer.close("the connection is closed");
    let runtime = live.current();
    for session in served.sessions.lock().iter() {
        runtime.end_session(session);
        runtime.end_background_commands(session);
    }
}

/// The state of one connection.
struct ServedBackend {
    backend: LocalBackend,
    client: ConnectedClient,
    /// The peer of the connection, set shortly after the first request may have arrived.
    peer: SetOnce<Weak<Peer>>,
    /// The running calls, by number.
    running: Mutex<HashMap<u64, CancellationToken>>,
    /// The sessions that have made calls.
    sessions: Mutex<BTreeSet<String>>,
}

/// A running call.
struct RunningToolCall {
    served: Arc<ServedBackend>,
    call: RemoteToolCall,
    cancelled: CancellationToken,
}

impl Drop for RunningToolCall {
    fn drop(&mut self) {
        self.served.running.lock().remove(&self.call.number);
    }
}

struct BackendHandler(Arc<ServedBackend>);

impl PeerHandler for BackendHandler {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        let served = Arc::clone(&self.0);
        match method {
            PING => PeerResponse::Ready(Ok(Value::Null)),
            LIST => answer_later(params, |ListParams { caller, with_agents }| async move {
                served.backend.definitions(&caller, with_agents).await
            }),
            APPROVAL => answer_later(params, |ApprovalParams { caller, name, arguments }| async move {
                served.note_session(&caller);
                served.backend.approval_request(&caller, &name, &arguments).await
            }),
            AUTHORIZE => answer_later(params, |call| {
                let running = served.begin(call);
                async move {
                    let (approver, cancelled) = (RemoteApprover::new(&running), running.cancelled.clone());
                    let request = running.call.request(&approver, cancelled);
                    running.served.backend.authorize_tool_call(request).await
                }
            }),
            CALL => answer_later(params, |call| {
                let running = served.begin(call);
                async move {
                    running.served.client.count_call();
                    let (approver, cancelled) = (RemoteApprover::new(&running), running.cancelled.clone());
                    running.served.backend.call(running.call.request(&approver, cancelled)).await
                }
            }),
            _ => PeerResponse::Ready(Err(RequestRefusal::MethodNotFound)),
        }
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        if method != CANCEL {
            return;
        }
        let Ok(CancelParams { number }) = serde_json::from_str(params.get()) else { return };
        if let Some(cancelled) = self.0.running.lock().remove(&number) {
            cancelled.cancel();
        }
    }
}

impl ServedBackend {
    fn note_session(&self, caller: &Caller) {
        self.sessions.lock().insert(caller.session.clone());
    }

    /// Registers a call, so that later messages on the connection can cancel it.
    fn begin(self: &Arc<Self>, call: RemoteToolCall) -> RunningToolCall {
        self.note_session(&call.caller);
        let cancelled = CancellationToken::new();
        self.running.lock().insert(call.number, cancelled.clone());
        RunningToolCall { served: Arc::clone(self), call, cancelled }
    }
}

/// Runs `work` in a task of its own, so that the connection stays responsive. The task ends with
/// the connection.
fn answer_later<P: DeserializeOwned, T: Serialize + Send + 'static, W>(
    params: Value,
    work: impl FnOnce(P) -> W,
) -> PeerResponse
where
    W: Future<Output = T> + Send + 'static,
{
    let params = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => return Err(RequestRefusal::InvalidParams(error.to_string())).into(),
    };
    let work = AbortOnDropHandle::new(tokio::spawn(work(params)));
    PeerResponse::Later(Box::pin(async move {
        let failed = |error: &dyn std::fmt::Display| RequestRefusal::Failed {
            code: INTERNAL_ERROR_CODE,
            message: error.to_string(),
        };
        let answer = work.await.map_err(|error| failed(&error))?;
        serde_json::to_value(answer).map_err(|error| failed(&error))
    }))
}

/// The approver at the door, reached over its connection.
struct RemoteApprover<'a> {
    served: &'a ServedBackend,
    call: u64,
}

impl<'a> RemoteApprover<'a> {
    fn new(running: &'a RunningToolCall) -> Self {
        Self { served: &running.served, call: running.call.number }
    }

    /// Returns the answer, or `None` if the door has disconnected or its call has ended.
    async fn ask<T: DeserializeOwned>(&self, method: &str, question: &impl Serialize) -> Option<T> {
        let peer = self.served.peer.wait().await.upgrade()?;
        let request = ApproverQuestion { call: self.call, question };
        let answer = peer.request(method, &request, Instant::now() + LONGEST_ANSWER).await;
        answer.inspect_err(|error| tracing::warn!("no user can be asked through this client: {error}")).ok()
    }
}

impl Approver for RemoteApprover<'_> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { self.ask(ASK, request).await.unwrap_or(Approval::Nobody) })
    }

    fn fill_form<'a>(&'a self, form: &'a FormRequest) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async { self.ask(FILL_FORM, form).await.unwrap_or(FormAnswer::Nobody) })
    }
}
