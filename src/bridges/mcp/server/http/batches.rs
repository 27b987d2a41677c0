//! JSON-RPC batches over HTTP, a feature of sessions of MCP 2025-03-26: messages run independently,
//! and the answers share one stream.

use futures::stream::select_all;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::Bytes;
use rmcp::ServerHandler;
use rmcp::model::{ProtocolVersion, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{McpHttpEndpoint, McpHttpResponse, plain};
use crate::bridges::mcp::server::pipe::batch;
use crate::rpc::http_entry::peer::HttpPeer;

/// The limit on messages in a batch.
const MAX_BATCH_MESSAGES: usize = 128;
const INVALID_REQUEST: i32 = -32600;

/// The message that opens a session.
#[derive(Debug, Deserialize)]
pub(super) struct SessionGreeting {
    method: String,
    params: Option<GreetingParams>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GreetingParams {
    protocol_version: Option<String>,
}

impl SessionGreeting {
    /// Returns true if the session is of the revision with batches. It is served in the requested
    /// revision.
    pub(super) fn has_batches(&self) -> bool {
        let version = self.params.as_ref().and_then(|params| params.protocol_version.as_deref());
        version == Some(ProtocolVersion::V_2025_03_26.as_str())
    }
}

/// Parses `body` as the message that opens a session.
pub(super) fn greeting(body: &[u8]) -> Option<SessionGreeting> {
    let greeting: SessionGreeting = serde_json::from_slice(body).ok()?;
    (greeting.method == "initialize").then_some(greeting)
}

/// Returns true if `body` begins like a batch; it need not be valid JSON.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

impl<H: ServerHandler> McpHttpEndpoint<H> {
    /// Answers a batch by one stream with the answers to its requests, or by 202 if there are none.
    pub(super) async fn answer_batch(&self, head: &Parts, body: &[u8], peer: HttpPeer) -> McpHttpResponse {
        let items = match batch(body, MAX_BATCH_MESSAGES) {
            Ok(items) => items,
            Err(refused) => return refusal(&json!(refused.into_message())),
        };
        let mut head = head.clone();
        head.headers.remove(CONTENT_LENGTH);
        let mut answers = Vec::new();
        for item in items {
            let message = item.to_string();
            if greeting(message.as_bytes()).is_some() {
                answers.push(event(&item, "`initialize` cannot be part of a batch"));
                continue;
            }
            let answer = self.answer_message(head.clone(), Bytes::from(message), peer).await;
            match answer.status() {
                StatusCode::ACCEPTED => {}
                StatusCode::OK => answers.push(BodyStream::new(answer.into_body())),
                // If one message is forbidden, or the session is unknown, the whole batch is
                // refused.
                StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => return answer,
                _ => answers.push(event(&item, "this is not a JSON-RPC 2.0 message of MCP")),
            }
        }
        if answers.is_empty() {
            return plain(StatusCode::ACCEPTED, "");
        }
        let mut answer = Response::new(StreamBody::new(select_all(answers)).boxed());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        answer
    }
}

type AnswerStream = BodyStream<http_body_util::combinators::BoxBody<Bytes, std::convert::Infallible>>;

/// The refusal of one message of a batch, as an event.
fn event(item: &Value, reason: &str) -> AnswerStream {
    let id: Option<RequestId> = item.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INVALID_REQUEST, "message": reason}});
    BodyStream::new(Full::new(Bytes::from(format!("data: {error}\n\n"))).boxed())
}

fn refusal(error: &Value) -> McpHttpResponse {
    let mut answer = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
