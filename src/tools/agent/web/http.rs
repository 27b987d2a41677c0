//! One GET: redirects checked one by one, with limits of size and time.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, StatusCode};
use url::Url;

use super::guard::{PublicOnly, WebAddressError, WebHostExceptions, check_url};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::rpc::http_client::http_client;

/// The limits are those of browsers, with a shorter timeout.
const MAX_WEB_REDIRECTS: usize = 5;

/// The limits of one request, including redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchLimits {
    /// The time from the first connection to the last byte.
    pub time: Duration,
    /// The size of the decompressed body; the rest is not read.
    pub bytes: usize,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FetchedResponse {
    /// The final URL, after all redirects.
    pub url: Url,
    /// The unmodified header `Content-Type`.
    pub content_type: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// True if the body exceeds the limit.
    pub truncated: bool,
}

/// Fetches `url`. Private addresses are not requested (see [`guard`](super::guard)), neither at
/// first nor after a redirect. No cookie or password is sent, and no proxy is used, because it
/// would resolve names itself.
///
/// # Errors
/// `invalid_args` and `denied` for addresses that are not requested, `not_found` for 404, 410 and
/// unknown names, `timeout`, and `server_failed` for every other failure.
pub(crate) async fn get(
    url: &Url,
    accept: &'static str,
    exceptions: &WebHostExceptions,
    limits: FetchLimits,
) -> Result<FetchedResponse, ToolError> {
    let answer =
        tokio::time::timeout(limits.time, get_following_redirects(url, accept, exceptions, limits.bytes))
            .await;
    answer.unwrap_or_else(|_| {
        let what = format!("{} did not answer within {} s", host(url), limits.time.as_secs());
        Err(ToolError::new(ErrorCode::Timeout, what))
    })
}

async fn get_following_redirects(
    url: &Url,
    accept: &'static str,
    exceptions: &WebHostExceptions,
    most: usize,
) -> Result<FetchedResponse, ToolError> {
    let mut url = url.clone();
    for _ in 0..=MAX_WEB_REDIRECTS {
        check_url(&url, exceptions).map_err(|refused| refusal_error(&refused))?;
        let client = client(exceptions.has(&url))?;
        let sent = client.get(url.clone()).header(ACCEPT, accept).send().await;
        let answer = sent.map_err(|error| request_error(&url, &error))?;
        match redirect_target(&url, answer.status(), answer.headers()) {
            Some(next) => url = next?,
            None => return read_body(url, answer, most).await,
        }
    }
    let what = format!("{} redirected more than {MAX_WEB_REDIRECTS} times", host(&url));
    Err(ToolError::new(ErrorCode::ServerFailed, what))
}

/// A client that follows no redirect and uses no proxy. Unless `excepted`, names are resolved to
/// public addresses only.
///
/// # Errors
/// `internal` if none can be created.
pub(crate) fn client(excepted: bool) -> Result<Client, ToolError> {
    let builder = http_client().no_proxy();
    let builder = if excepted { builder } else { builder.dns_resolver(PublicOnly::shared()) };
    builder.build().map_err(|error| {
        ToolError::new(
            ErrorCode::Internal,
            format!("the HTTP client cannot be created: {}", error_chain(&error)),
        )
    })
}

/// The target of a redirect, if the response is one.
fn redirect_target(from: &Url, status: StatusCode, headers: &HeaderMap) -> Option<Result<Url, ToolError>> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let next = headers.get(LOCATION).and_then(|next| next.to_str().ok());
    Some(next.and_then(|next| from.join(next).ok()).ok_or_else(|| {
        let what = format!("{} answered {} without a location", host(from), status.as_u16());
        ToolError::new(ErrorCode::ServerFailed, what)
    }))
}

async fn read_body(url: Url, mut answer: Response, most: usize) -> Result<FetchedResponse, ToolError> {
    let status = answer.status();
    if !status.is_success() {
        return Err(bad_status(&url, status));
    }
    let content_type = answer.headers().get(CONTENT_TYPE).and_then(|text| text.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let (mut body, mut truncated) = (Vec::new(), false);
    while let Some(chunk) = answer.chunk().await.map_err(|error| request_error(&url, &error))? {
        let remaining = most - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(remaining)]);
        if chunk.len() > remaining {
            truncated = true;
            break;
        }
    }
    Ok(FetchedResponse { url, content_type, body, truncated })
}

fn bad_status(url: &Url, status: StatusCode) -> ToolError {
    let reason = status.canonical_reason().unwrap_or("no known status");
    let what = format!("{} answered {} ({reason})", host(url), status.as_u16());
    match status.as_u16() {
        404 | 410 => ToolError::new(ErrorCode::NotFound, what),
        401 | 403 | 407 => ToolError::new(ErrorCode::Denied, what),
        429 | 503 => ToolError::new(ErrorCode::ServerFailed, what).with_hint("try again later"),
        _ => ToolError::new(ErrorCode::ServerFailed, what),
    }
}

fn request_error(url: &Url, error: &reqwest::Error) -> ToolError {
    if let Some(refused) = causes(error).find_map(|cause| cause.downcast_ref::<WebAddressError>()) {
        return refusal_error(refused);
    }
    if error.is_timeout() {
        return ToolError::new(ErrorCode::Timeout, format!("{} did not answer in time", host(url)));
    }
    tracing::debug!("{url}: {}", error_chain(error));
    let what = if error.is_connect() { "could not be reached" } else { "broke off its response" };
    let error = ToolError::new(ErrorCode::ServerFailed, format!("{} {what}", host(url)));
    error.with_hint("the reason is in the log; check the address and the network")
}

fn refusal_error(refused: &WebAddressError) -> ToolError {
    let code = match refused {
        WebAddressError::Private(_) => ErrorCode::Denied,
        _ => ErrorCode::InvalidArgs,
    };
    let error = ToolError::new(code, refused.to_string());
    match refused {
        WebAddressError::Private(_) => {
            error.with_hint("the user can allow a host: `allow-hosts` under [fetch] in lsp-tools.toml")
        }
        _ => error,
    }
}

fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// An error with its causes.
fn error_chain(error: &reqwest::Error) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or("the address").to_owned()
}
