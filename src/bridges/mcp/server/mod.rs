//! The MCP server: one conversation over any pair of byte streams, and the same over HTTP.
//!
//! What lives here: [`serve`] for pipes (standard streams, the daemon's socket), the pipe itself ([`pipe`]), [`http`], and what a
//! client can ask, one file each: [`server_info`] (who we are), [`list`] (the tools), [`call`] (one call, with [`ask`] for approval in
//! both eras, [`tool_call`], [`handles`] and [`trace_context`] for what it belongs to, [`progress`], [`tasks`] where it takes long, [`links`] for what comes back), [`resources`], [`skills`], [`prompts`], [`complete`], [`roots`], [`subscriptions`]
//! (what clients are told of unasked). A call works with its [`conversation`]; [`handler`] joins all for rmcp.
//!
//! May use: `runtime`, `tools`, `policy`, `workspace`. Names rmcp; nothing outside `bridges/mcp` does.
//!
//! Both eras of the protocol are served on the same pipe: clients that open with `initialize` (up to 2025-11-25), and clients of
//! 2026-07-28, whose every request brings along who asks. Nothing is kept for the latter between two requests: what outlives a
//! call is a handle that travels in arguments and answers (undo ids and groups, overlays, ids of commands in the background).
//!
//! How data passes: a line → [`pipe`] → rmcp → [`handler`] → [`Runtime::call`](crate::runtime::Runtime::call) → a result as JSON
//! that conforms to the tool's schema, and as text that is short to read.

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

/// After the client has gone, answers that are still being written get so long.
const FINAL_ANSWER_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// And rmcp gets so long to take its leave.
const MCP_CLOSE_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Why a conversation could not be served to its end.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It did not begin as MCP says.
    #[error(
        "the MCP client did not begin as the protocol says: {0}; it opens with `initialize`, or with a request of 2026-07-28"
    )]
    Opening(Box<ServerInitializeError>),
    /// A fault of ours.
    #[error("the MCP server ended by a fault of its own: {0}; details are in the log")]
    Broken(#[from] tokio::task::JoinError),
    /// The system gave no random bytes.
    #[error("the system gives no random bytes ({0}), without which nothing can be sealed")]
    NoRandom(#[from] getrandom::Error),
}

/// A key that nobody else knows.
fn random_key() -> Result<[u8; 32], getrandom::Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}

/// Serves one conversation; returns when `read` has ended, when nothing can be written any more, or soon after `ended` is
/// cancelled. Calls that are running then are cancelled.
pub(crate) async fn serve(
    options: ServerOptions,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    ended: CancellationToken,
) -> Result<(), ServeError> {
    serve_wrapped(options, |conversation| conversation, read, write, ended).await
}

/// As [`serve`], by the handler that `wrap` makes of the conversation.
pub async fn serve_wrapped<H: ServerHandler>(
    options: ServerOptions,
    wrap: impl FnOnce(McpConversation) -> H,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    ended: CancellationToken,
) -> Result<(), ServeError> {
    let gone = ended.child_token();
    let closed = CancellationToken::new();
    let pipe = Pipe::new(read, write, gone.clone(), closed.clone());
    let conversation = McpConversation::new(options, gone.clone(), random_key()?);
    let served = Box::pin(serve_conversation(wrap(conversation), pipe, &gone, &closed, ended)).await;
    gone.cancel();
    closed.cancel();
    served
}

async fn serve_conversation<H, R, W>(
    handler: H,
    pipe: Pipe<R, W>,
    gone: &CancellationToken,
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
        // Whoever is gone before the answer was written needs no error.
        Err(ServerInitializeError::TransportError { .. }) if gone.is_cancelled() => return Ok(()),
        Err(error) => return Err(ServeError::Opening(Box::new(error))),
    };
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let late = async {
        gone.cancelled().await;
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
