//! Connections to the page, and the checks of each request: the token in its path or as
//! `Authorization: Bearer`.
//!
//! The token is checked before everything else. The response to a request without it is the same
//! for every path.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::response::{PageResponse, with_kind};
use super::sampler::PageSampler;
use super::site::{self, SiteFile};
use super::stream;
use crate::rpc::http_entry::connection_slots::{ConnectionPlace, ConnectionPlaces};
use crate::rpc::http_entry::guard::{HttpOriginGuard, bearer_token};
use crate::rpc::http_entry::peer::HttpPeer;
use crate::rpc::http_entry::token::BearerToken;

/// The time limit for receiving the head of the next request.
const PAGE_HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// The delay before `accept` is tried again after a failure (too many open files).
const PAGE_ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// The time that connections get to end.
const PAGE_CLOSE_GRACE_PERIOD: Duration = Duration::from_millis(300);
/// Forbids all files except the page's own, framing, and text that becomes markup.
const CONTENT_POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                              require-trusted-types-for 'script'";

/// The token that currently opens the page.
pub(super) struct PageAccess {
    token: Arc<BearerToken>,
    allow_unseen: bool,
    /// Cancelled when the token becomes invalid.
    current: CancellationToken,
}

impl PageAccess {
    pub(super) fn new(token: BearerToken, allow_unseen: bool, end: &CancellationToken) -> Self {
        Self { token: Arc::new(token), allow_unseen, current: end.child_token() }
    }

    pub(super) fn end(self) {
        self.current.cancel();
    }
}

struct PageEndpoint {
    origins: HttpOriginGuard,
    access: Arc<Mutex<PageAccess>>,
    sampler: Arc<PageSampler>,
}

struct PageConnection {
    endpoint: Arc<PageEndpoint>,
    /// The addresses of both ends: the browser's and ours.
    ends: (SocketAddr, SocketAddr),
    place: Arc<ConnectionPlace>,
    /// The process at the other end, set after a request with the token.
    peer: OnceCell<HttpPeer>,
}

/// Serves until `end` is cancelled.
pub(super) async fn serve(
    listener: TcpListener,
    address: SocketAddr,
    access: Arc<Mutex<PageAccess>>,
    sampler: Arc<PageSampler>,
    end: CancellationToken,
) {
    let endpoint =
        Arc::new(PageEndpoint { origins: HttpOriginGuard::new(address, Vec::new()), access, sampler });
    let places = ConnectionPlaces::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = end.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (endpoint, place) = (Arc::clone(&endpoint), places.reserve());
                connections.spawn(serve_connection(stream, (peer, address), endpoint, place));
            }
            Err(error) => {
                tracing::warn!("a connection to the page could not be accepted: {error}");
                tokio::time::sleep(PAGE_ACCEPT_RETRY_DELAY).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(PAGE_CLOSE_GRACE_PERIOD, all).await.is_err() {
        tracing::debug!("closed connections to the page that did not end by themselves");
    }
}

async fn serve_connection(
    stream: TcpStream,
    ends: (SocketAddr, SocketAddr),
    endpoint: Arc<PageEndpoint>,
    place: ConnectionPlace,
) {
    let place = Arc::new(place);
    let connection =
        Arc::new(PageConnection { endpoint, ends, place: Arc::clone(&place), peer: OnceCell::new() });
    let answer = service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { Ok::<_, Infallible>(with_common_headers(connection.answer(&request).await)) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PAGE_HEADER_TIMEOUT)
        .max_buf_size(16 << 10)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        served = served => if let Err(error) = served {
            tracing::debug!("a connection to the page ended early: {error}");
        },
        () = place.wait_for_eviction() => tracing::debug!("closed a connection to the page that did not send the token"),
    }
}

impl PageConnection {
    async fn answer(&self, request: &Request<Incoming>) -> PageResponse {
        let (token, allow_unseen, current) = {
            let access = self.endpoint.access.lock();
            (Arc::clone(&access.token), access.allow_unseen, access.current.clone())
        };
        let Some(path) = authorized_path(request.uri(), request.headers(), &token) else {
            let mut answer = closing(empty(StatusCode::UNAUTHORIZED));
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        };
        if self.endpoint.origins.check_request(request.uri(), request.headers()).is_err() {
            return closing(empty(StatusCode::FORBIDDEN));
        }
        if !self.place.authenticate().await {
            return closing(empty(StatusCode::SERVICE_UNAVAILABLE));
        }
        match self.peer().await {
            HttpPeer::Client => {}
            HttpPeer::Unseen | HttpPeer::OtherUser if allow_unseen => {}
            peer @ (HttpPeer::Unseen | HttpPeer::OtherUser | HttpPeer::Supervised | HttpPeer::Remote) => {
                tracing::warn!(
                    ?peer,
                    "a request for the page was refused: its process is not visible as one of the user"
                );
                return closing(empty(StatusCode::FORBIDDEN));
            }
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut answer = closing(empty(StatusCode::METHOD_NOT_ALLOWED));
            answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        let mut answer = self.endpoint.answer(path, &current).await;
        if request.method() == Method::HEAD {
            *answer.body_mut() = Full::default().boxed_unsync();
        }
        answer
    }

    /// Finds the process at the other end. The search runs once, on a blocking thread.
    async fn peer(&self) -> HttpPeer {
        let (peer, own) = self.ends;
        let find = || async move {
            tokio::task::spawn_blocking(move || HttpPeer::find(peer, own)).await.unwrap_or(HttpPeer::Unseen)
        };
        *self.peer.get_or_init(find).await
    }
}

impl PageEndpoint {
    async fn answer(&self, path: &str, current: &CancellationToken) -> PageResponse {
        if let Some(SiteFile { kind, text, .. }) = site::file(path) {
            return with_kind(Response::new(full(*text)), kind);
        }
        match path {
            "api/state" => json_answer(self.sampler.state().await),
            "api/live" => match stream::events(&self.sampler, current.clone()).await {
                Some(answer) => answer,
                None => empty(StatusCode::SERVICE_UNAVAILABLE),
            },
            _ => match path.strip_prefix("api/edit/") {
                Some(id) => match self.sampler.edit(id.to_owned()).await {
                    Some(edit) => json_answer(edit),
                    None => empty(StatusCode::NOT_FOUND),
                },
                None => empty(StatusCode::NOT_FOUND),
            },
        }
    }
}

/// Returns the requested path without the token and the slashes around it. Returns `None` if the
/// token is missing or wrong.
fn authorized_path<'u>(uri: &'u Uri, headers: &HeaderMap, token: &BearerToken) -> Option<&'u str> {
    let path = uri.path().strip_prefix('/')?;
    let given = headers.get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
    if given.and_then(bearer_token).is_some_and(|given| token.matches(given)) {
        return Some(path);
    }
    let (given, rest) = path.split_once('/')?;
    token.matches(given).then_some(rest)
}

fn full(text: impl Into<Bytes>) -> UnsyncBoxBody<Bytes, Infallible> {
    Full::new(text.into()).boxed_unsync()
}

fn empty(status: StatusCode) -> PageResponse {
    let mut answer = Response::new(Full::default().boxed_unsync());
    *answer.status_mut() = status;
    answer
}

fn json_answer(json: String) -> PageResponse {
    with_kind(Response::new(full(json)), "application/json")
}

/// Marks the response as the last one of its connection.
fn closing(mut answer: PageResponse) -> PageResponse {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn with_common_headers(mut answer: PageResponse) -> PageResponse {
    let common: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in common {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_path_is_told_only_with_the_token_in_path_or_header() {
        let token = BearerToken::from_text("0123456789abcdef").unwrap();
        let path = |uri: &'static str, given: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(header::AUTHORIZATION, HeaderValue::from_static(given));
            }
            let uri = Uri::from_static(uri);
            authorized_path(&uri, &headers, &token).map(str::to_owned)
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(path("/0123456789abcdef/", None), is(""));
        assert_eq!(path("/0123456789abcdef/api/state", None), is("api/state"));
        assert_eq!(path("/api/state", Some("Bearer 0123456789abcdef")), is("api/state"));
        for wrong in ["/", "/api/state", "/0123456789abcdeg/", "/0123456789abcdef", "//0123456789abcdef/"] {
            assert_eq!(path(wrong, None), None, "{wrong}");
        }
        assert_eq!(path("/api/state", Some("Basic 0123456789abcdef")), None);
    }
}
