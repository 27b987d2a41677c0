//! The MCP server: one session over any pair of byte streams, and the same over HTTP.
//!
//! - [`serve`]: sessions over pipes (standard streams, the daemon's socket); [`pipe`]: the pipe
//!   itself
//! - [`http`]: sessions over HTTP
//! - [`conversation`]: the state of a session; [`handler`]: the connection to rmcp
//! - [`server_info`]: our description; [`list`]: the tools
//! - [`call`]: one call, with [`ask`] for approval in both eras, [`tool_call`], [`handles`] and
//!   [`trace_context`] for its context, [`progress`], [`tasks`] for long ones, [`links`] for its
//!   result
//! - [`resources`], [`skills`], [`prompts`], [`complete`], [`roots`]: one file per kind of request
//! - [`subscriptions`]: notifications of changes
//!
//! May use: `runtime` and below. Uses rmcp; nothing outside `bridges/mcp`
//! does.
//!
//! Both eras of the protocol are served on the same pipe: clients that open with `initialize` (up
//! to 2025-11-25), and clients of 2026-07-28, which identify themselves in every request. For the
//! latter no state is kept between two requests: state that outlives a call has a handle in
//! arguments and answers (undo ids and groups, overlays, ids of background commands).
//!
//! Data flow: a line → [`pipe`] → rmcp → [`handler`] →
//! [`Runtime::call`](crate::runtime::Runtime::call) → a result as JSON that conforms to the tool's
//! schema, and as short text.

mod answer_form;
mod ask;
mod call;
mod complete;
mod conversation;
mod handler;
mod handles;
pub(crate) mod http;
mod links;
mod list;
mod options;
mod pipe;
mod progress;
mod prompts;
mod resources;
mod roots;
mod server_info;
mod skills;
mod subscriptions;
mod tasks;
mod tool_call;
mod trace_context;

use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::pipe::Pipe;

pub use self::conversation::McpConversation;
pub use self::options::ServerOptions;

/// The time for writing remaining answers after the client has disconnected.
const FINAL_ANSWER_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The time for rmcp to close afterwards.
const MCP_CLOSE_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Reasons for the failure of a session.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The session did not begin as MCP requires.
    #[error(
        "the MCP client violated the protocol: {0}; it must start with `initialize`, or with a request of 2026-07-28"
    )]
    Opening(Box<ServerInitializeError>),
    /// An internal error.
    #[error("the MCP server ended because of an internal error: {0}; details are in the log")]
    Broken(#[from] tokio::task::JoinError),
    /// The system provided no random bytes.
    #[error("the system provides no random bytes ({0}) to seal handles with")]
    NoRandom(#[from] getrandom::Error),
}

/// Returns a random secret key.
fn random_key() -> Result<[u8; 32], getrandom::Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}

/// Serves one session. Returns when `read` has ended, when writing fails, or soon after `ended` is
/// cancelled. Running calls are cancelled.
pub(crate) async fn serve(
    options: ServerOptions,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    ended: CancellationToken,
) -> Result<(), ServeError> {
    serve_wrapped(options, |conversation| conversation, read, write, ended).await
}

/// Like [`serve`], with the handler that `wrap` creates from the session.
pub async fn serve_wrapped<H: ServerHandler>(
    options: ServerOptions,
    wrap: impl FnOnce(McpConversation) -> H,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    ended: CancellationToken,
) -> Result<(), ServeError> {
    let disconnected = ended.child_token();
    let closed = CancellationToken::new();
    let pipe = Pipe::new(read, write, disconnected.clone(), closed.clone());
    let conversation = McpConversation::new(options, disconnected.clone(), random_key()?);
    let served = Box::pin(serve_conversation(wrap(conversation), pipe, &disconnected, &closed, ended)).await;
    disconnected.cancel();
    closed.cancel();
    served
}

async fn serve_conversation<H, R, W>(
    handler: H,
    pipe: Pipe<R, W>,
    disconnected: &CancellationToken,
    closed: &CancellationToken,
    ended: CancellationToken,
) -> Result<(), ServeError>
where
    H: ServerHandler,
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let running = match serve_server_with_ct(handler, pipe, ended).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        // A client that disconnected before the answer was written needs no error.
        Err(ServerInitializeError::TransportError { .. }) if disconnected.is_cancelled() => return Ok(()),
        Err(error) => return Err(ServeError::Opening(Box::new(error))),
    };
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let late = async {
        disconnected.cancelled().await;
        tokio::time::sleep(FINAL_ANSWER_GRACE_PERIOD).await;
        closed.cancel();
        tokio::time::sleep(MCP_CLOSE_GRACE_PERIOD).await;
    };
    tokio::select! {
        reason = &mut waiting => match reason? {
            QuitReason::JoinError(error) => Err(error.into()),
            _ => Ok(()),
        },
        () = late => Ok(()),
    }
}
