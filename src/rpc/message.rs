//! One message of JSON-RPC 2.0 as text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::RequestRefusal;
use super::frame::OutgoingFrame;

/// A message of the other side; its body is still text.
pub(super) enum ReceivedMessage<'a> {
    /// A request; its response repeats this id exactly as it was written.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: &'a RawValue },
    /// A notification, which has no response.
    Notification { method: Cow<'a, str>, params: &'a RawValue },
    /// The answer to our request of this id: its `result`, or its `error`.
    Response { id: i64, answer: Result<&'a RawValue, &'a RawValue> },
}

#[derive(Deserialize)]
struct RpcMessageMembers<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> ReceivedMessage<'a> {
    /// Parses `body`; `None` if it is not a JSON-RPC message.
    pub(super) fn read(body: &'a str) -> Option<Self> {
        let RpcMessageMembers { id, method, params, result, error } = serde_json::from_str(body).ok()?;
        let params = params.unwrap_or(RawValue::NULL);
        Some(match (method, id) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) => Self::Notification { method, params },
            // Some servers answer with the id as a string.
            (None, id) => Self::Response {
                id: id?.get().trim_matches('"').parse().ok()?,
                answer: error.map_or_else(|| Ok(result.unwrap_or(RawValue::NULL)), Err),
            },
        })
    }
}

/// An outgoing request, or, without an id, a notification. Params that are `null` are omitted.
pub(super) fn call_frame(
    id: Option<i64>,
    method: &str,
    params: &impl Serialize,
) -> serde_json::Result<OutgoingFrame> {
    let mut frame = OutgoingFrame::new();
    frame.text(r#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        frame.text(&format!(r#""id":{id},"#));
    }
    frame.text(r#""method":"#);
    frame.json(method)?;
    let before_params = frame.len();
    frame.text(r#","params":"#);
    let params_start = frame.len();
    frame.json(params)?;
    if frame.since(params_start) == b"null" {
        frame.truncate(before_params);
    }
    frame.text("}");
    Ok(frame)
}

/// Our answer to the other side's request `method`, under the id that it gave.
pub(super) fn response_frame(
    id: &RawValue,
    method: &str,
    answer: Result<serde_json::Value, RequestRefusal>,
) -> OutgoingFrame {
    let body = match answer {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(refusal) => {
            let (code, message) = refusal.code_and_message(method);
            let error = serde_json::json!({ "code": code, "message": message });
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    };
    let mut frame = OutgoingFrame::new();
    frame.text(&body);
    frame
}
