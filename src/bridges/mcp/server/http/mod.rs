//! MCP over HTTP: one endpoint, `/mcp`, for clients of both eras.
//!
//! - [`Listener`], [`serve`]: the listener
//! - [`guard`]: the checks before the body of a request is read
//! - [`approval`]: the messages reserved for clients that may approve calls
//! - [`batches`]: JSON-RPC batches
//! - [`sessions`]: the limit on open sessions
//!
//! The parts common to all doors over HTTP are in [`http_entry`](crate::rpc::http_entry). The
//! transport itself, with its sessions for the era that has them, is rmcp's.
//!
//! Only plain HTTP is supported, by default on loopback: TLS belongs to a proxy in front.

mod approval;
mod batches;
mod guard;
mod sessions;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) use self::guard::ENDPOINT;
use self::guard::HttpAccessGuard;
use self::sessions::HttpSessions;
use super::conversation::{McpConversation, McpServerState};
use super::options::ServerOptions;
use super::random_key;
use crate::rpc::http_entry::connection_slots::{ConnectionPlace, ConnectionPlaces};
use crate::rpc::http_entry::peer::HttpPeer;
use crate::rpc::http_entry::token::BearerToken;

/// The size limit of a request's body, in bytes.
const MAX_REQUEST_BODY_BYTES: usize = 4 << 20;
/// The time limit for receiving the body.
const REQUEST_BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for the head of the next request. The first one has less:
/// [`connection_slots`](crate::rpc::http_entry::connection_slots).
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for connections to end.
const CONNECTION_CLOSE_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The delay before `accept` is tried again after a failure (too many open files).
const HTTP_ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

const SUPERVISED: &str = "programs started by a tool or server of lsp-tools cannot use its MCP server";
const UNSEEN: &str = "the process of this connection is not visible, so it may be a command of lsp-tools itself; let the \
    client run as your own user, on this machine and not behind `ssh -L`, or start the server with --allow-unseen";
const NO_PLACE: &str = "too many connections are open; close one, or try again later";
const NO_SESSION: &str = "too many sessions are open, all with running calls; end one, or try again later";
const NOT_ASKED: &str = "only clients of this machine whose process is visible can approve calls";

/// Options for MCP over HTTP.
#[derive(Debug)]
pub struct HttpOptions {
    /// Options of every session.
    pub server: ServerOptions,
    /// The token that every request must have; `None` admits every client, which the command line
    /// never does.
    pub token: Option<BearerToken>,
    /// The names, beside the address itself, under which a proxy may reach us: `Host` and `Origin`
    /// must be one of them.
    pub hosts: Vec<String>,
    /// Admits local processes that cannot be identified. One of our own commands can be such a
    /// process.
    pub allow_unseen: bool,
}

/// Reasons why serving fails.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {error}; give another --http ADDR:PORT, or stop the program that uses it"
    )]
    Address {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The system provided no random bytes.
    #[error("the system provides no random bytes ({0}) to seal handles with")]
    NoRandom(#[from] getrandom::Error),
}

/// A listening socket that does not serve yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on `address`; port 0 chooses a free one.
    ///
    /// # Errors
    /// [`HttpError::Address`].
    pub async fn bind(address: SocketAddr) -> Result<Self, HttpError> {
        let refused = |error| HttpError::Address { address, error };
        let socket = TcpListener::bind(address).await.map_err(refused)?;
        let address = socket.local_addr().map_err(refused)?;
        Ok(Self { socket, address })
    }

    /// The address, with the chosen port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

type McpHttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The state shared by all connections.
struct McpHttpEndpoint<H> {
    guard: HttpAccessGuard,
    service: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<HttpSessions>,
    allow_unseen: bool,
}

/// One connection.
struct McpHttpConnection<H> {
    endpoint: Arc<McpHttpEndpoint<H>>,
    /// The addresses of both ends: the client's and ours.
    ends: (SocketAddr, SocketAddr),
    place: Arc<ConnectionPlace>,
    /// The process at the other end, set after a request with the token.
    peer: OnceCell<HttpPeer>,
}

/// Serves until `ended` is cancelled; running calls are then cancelled.
///
/// # Errors
/// [`HttpError::NoRandom`].
pub(crate) async fn serve(
    listener: Listener,
    options: HttpOptions,
    ended: CancellationToken,
) -> Result<(), HttpError> {
    serve_wrapped(listener, options, |conversation| conversation, ended).await
}

/// Like [`serve`], with the handler that `wrap` creates from each session.
///
/// # Errors
/// Those of [`serve`].
pub async fn serve_wrapped<H: ServerHandler>(
    listener: Listener,
    options: HttpOptions,
    wrap: impl Fn(McpConversation) -> H + Send + Sync + 'static,
    ended: CancellationToken,
) -> Result<(), HttpError> {
    let door = Arc::new(door(&listener, options, wrap, &ended)?);
    let places = ConnectionPlaces::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.socket.accept() => accepted,
            () = ended.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                connections.spawn(connection(stream, peer, Arc::clone(&door), places.reserve()));
            }
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(HTTP_ACCEPT_RETRY_DELAY).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(CONNECTION_CLOSE_GRACE_PERIOD, all).await.is_err() {
        tracing::debug!("closed connections that did not end by themselves");
    }
    Ok(())
}

fn door<H: ServerHandler>(
    listener: &Listener,
    options: HttpOptions,
    wrap: impl Fn(McpConversation) -> H + Send + Sync + 'static,
    ended: &CancellationToken,
) -> Result<McpHttpEndpoint<H>, HttpError> {
    let HttpOptions { server, token, hosts, allow_unseen } = options;
    // States of calls that wait for an answer survive a restart if the token does.
    let key = match &token {
        Some(token) => token.key("request state"),
        None => random_key()?,
    };
    let guard = HttpAccessGuard::new(listener.address, hosts, token);
    let session = server.caller.session.clone();
    let shared = McpServerState::new(server, ended.clone(), key);
    let made = std::sync::atomic::AtomicU64::new(0);
    let factory = move || {
        let number = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(wrap(McpConversation::for_session(shared.clone(), format!("{session}-{number}"))))
    };
    let sessions = Arc::new(HttpSessions::default());
    // Host and Origin have been checked before, against all valid names; rmcp knows only some of
    // them.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MAX_REQUEST_BODY_BYTES)
        .with_cancellation_token(ended.child_token());
    let service = StreamableHttpService::new(factory, Arc::clone(&sessions.manager), config);
    Ok(McpHttpEndpoint { guard, service, sessions, allow_unseen })
}

async fn connection<H: ServerHandler>(
    stream: TcpStream,
    peer: SocketAddr,
    door: Arc<McpHttpEndpoint<H>>,
    place: ConnectionPlace,
) {
    // Answers are small, and must not wait for a second segment.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY cannot be set: {error}");
    }
    let own = match stream.local_addr() {
        Ok(own) => own,
        Err(error) => {
            tracing::debug!("a connection was closed before it was served: {error}");
            return;
        }
    };
    let place = Arc::new(place);
    let connection = Arc::new(McpHttpConnection {
        endpoint: door,
        ends: (peer, own),
        place: Arc::clone(&place),
        peer: OnceCell::new(),
    });
    let answer = service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { Ok::<_, Infallible>(connection.answer(request).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        served = served => if let Err(error) = served {
            tracing::debug!("an HTTP connection ended early: {error}");
        },
        () = place.wait_for_eviction() => tracing::debug!("closed an HTTP connection that did not send the token"),
    }
}

impl<H: ServerHandler> McpHttpConnection<H> {
    async fn answer(&self, request: Request<Incoming>) -> McpHttpResponse {
        if let Err(refused) = self.endpoint.guard.check_request(request.uri(), request.headers()) {
            tracing::debug!(?refused, "an HTTP request was refused");
            return closing(refusal(refused));
        }
        if !self.place.authenticate().await {
            return closing(plain(StatusCode::SERVICE_UNAVAILABLE, NO_PLACE));
        }
        let peer = self.peer().await;
        match peer {
            HttpPeer::Supervised => return closing(plain(StatusCode::FORBIDDEN, SUPERVISED)),
            HttpPeer::Unseen if !self.endpoint.allow_unseen => {
                return closing(plain(StatusCode::FORBIDDEN, UNSEEN));
            }
            HttpPeer::Unseen | HttpPeer::Client | HttpPeer::OtherUser | HttpPeer::Remote => {}
        }
        self.endpoint.answer(request, peer).await
    }

    /// Finds the process at the other end. The search runs once, on a blocking thread.
    async fn peer(&self) -> HttpPeer {
        let (peer, own) = self.ends;
        let find = || async move {
            let found = tokio::task::spawn_blocking(move || HttpPeer::find(peer, own))
                .await
                .unwrap_or(HttpPeer::Unseen);
            tracing::debug!(?found, %peer, "an HTTP client");
            found
        };
        *self.peer.get_or_init(find).await
    }
}

impl<H: ServerHandler> McpHttpEndpoint<H> {
    async fn answer(&self, request: Request<Incoming>, peer: HttpPeer) -> McpHttpResponse {
        let (head, body) = request.into_parts();
        if content_length(&head.headers).is_some_and(|length| length > MAX_REQUEST_BODY_BYTES) {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "a message may have at most 4 MiB");
        }
        // The body has its own time limit: a client that sends one byte a minute would occupy a
        // slot that others need.
        let body = match tokio::time::timeout(
            REQUEST_BODY_TIMEOUT,
            Limited::new(body, MAX_REQUEST_BODY_BYTES).collect(),
        )
        .await
        {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return plain(StatusCode::PAYLOAD_TOO_LARGE, "a message may have at most 4 MiB");
            }
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body cannot be read"),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
        };
        let is_batch = head.method == Method::POST && batches::is_batch(&body);
        if is_batch && self.sessions.takes_batches(&head.headers) {
            return self.answer_batch(&head, &body, peer).await;
        }
        self.answer_message(head, body, peer).await
    }

    async fn answer_message(&self, mut head: Parts, body: Bytes, peer: HttpPeer) -> McpHttpResponse {
        if !peer.may_approve() && approval::answers_a_question(&body) {
            return plain(StatusCode::FORBIDDEN, NOT_ASKED);
        }
        head.extensions.insert(peer);
        let is_post = head.method == Method::POST;
        let running = self.sessions.note_use(&head.headers).filter(|_| is_post);
        let greeting = batches::greeting(&body).filter(|_| is_post && running.is_none());
        let opening = match greeting {
            Some(greeting) => match self.sessions.open().await {
                Some(opening) => Some((opening, greeting)),
                None => return plain(StatusCode::SERVICE_UNAVAILABLE, NO_SESSION),
            },
            None => None,
        };
        let ends_session = head.method == Method::DELETE;
        let mut answer = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        if let Some((opening, greeting)) = opening {
            opening.record_session(answer.headers(), greeting.has_batches());
        }
        // The session is complete, and clients interpret 202 as a failure.
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        // The call counts as running until its answer has been sent.
        answer.map(|body| {
            let keep = move |frame| {
                let _until_the_end = &running;
                frame
            };
            body.map_frame(keep).boxed()
        })
    }
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn refusal(refused: guard::McpHttpRefusal) -> McpHttpResponse {
    let mut answer = plain(refused.status(), refused.why());
    if refused == guard::McpHttpRefusal::Token {
        let challenge = http::HeaderValue::from_static("Bearer realm=\"lsp-tools\"");
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    answer
}

/// Marks the answer as the last one of its connection.
fn closing(mut answer: McpHttpResponse) -> McpHttpResponse {
    answer.headers_mut().insert(CONNECTION, http::HeaderValue::from_static("close"));
    answer
}

fn plain(status: StatusCode, reason: &'static str) -> McpHttpResponse {
    let mut answer = Response::new(Full::new(Bytes::from_static(reason.as_bytes())).boxed());
    *answer.status_mut() = status;
    let kind = http::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
