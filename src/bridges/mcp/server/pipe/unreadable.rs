//! Answers to invalid messages. Without them their sender would wait forever.

use std::fmt;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::lines::MAX_PIPE_LINE_BYTES;

/// An error, with the id of its request if known.
#[derive(Debug)]
pub(crate) struct UnreadableMessageError {
    pub(super) error: ErrorData,
    pub(super) id: Option<RequestId>,
}

impl UnreadableMessageError {
    fn new(error: ErrorData, id: Option<RequestId>) -> Box<Self> {
        Box::new(Self { error, id })
    }

    /// Converts the error to a message.
    pub(crate) fn into_message(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(self.error, self.id)
    }
}

/// Creates the refusal of a valid request.
pub(super) fn refused_request(what: String, id: RequestId) -> Box<UnreadableMessageError> {
    UnreadableMessageError::new(invalid(what), Some(id))
}

/// Returns the messages of a batch in `line` without parsing them: at least one, at most `most`.
pub(crate) fn batch(line: &[u8], most: usize) -> Result<Vec<Value>, Box<UnreadableMessageError>> {
    let refused = |error| Err(UnreadableMessageError::new(error, None));
    match serde_json::from_slice::<Vec<Value>>(line) {
        Ok(items) if items.is_empty() => refused(invalid("a batch must have at least one message")),
        Ok(items) if items.len() > most => {
            refused(invalid(format!("a batch can have at most {most} messages")))
        }
        Ok(items) => Ok(items),
        Err(fault) => {
            refused(ErrorData::new(ErrorCode::PARSE_ERROR, format!("this batch is not JSON: {fault}"), None))
        }
    }
}

/// Checks that a message is allowed in a batch.
pub(super) fn check_batched(message: &ClientJsonRpcMessage) -> Result<(), Box<UnreadableMessageError>> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
        {
            Err(refused_request("`initialize` cannot be part of a batch".to_owned(), request.id.clone()))
        }
        _ => Ok(()),
    }
}

/// Parses the message in `line`. Returns `None` for an invalid message that needs no answer.
pub(super) fn message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Box<UnreadableMessageError>> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let fault = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(fault) => fault,
    };
    if fault.to_string().starts_with("recursion limit") {
        let error = invalid("the message is nested more than 127 levels deep");
        return Err(UnreadableMessageError::new(error, id_in(line)));
    }
    let head = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(head)) => head,
        Ok(Value::Array(_)) => {
            let error = invalid("only MCP 2025-03-26 has batches; send one message at a time");
            return Err(UnreadableMessageError::new(error, None));
        }
        Ok(_) => return Err(UnreadableMessageError::new(invalid("a message must be a JSON object"), None)),
        Err(fault) => {
            let error =
                ErrorData::new(ErrorCode::PARSE_ERROR, format!("this line is not JSON: {fault}"), None);
            return Err(UnreadableMessageError::new(error, id_in(line)));
        }
    };
    match (head.get("id"), head.contains_key("method")) {
        // An invalid response is not answered, and neither is an unknown notification.
        (_, false) if head.contains_key("result") || head.contains_key("error") => Ok(None),
        (None, true) => Ok(None),
        _ => {
            let error = invalid(format!("this is not a JSON-RPC 2.0 message of MCP: {fault}"));
            Err(UnreadableMessageError::new(error, id_in(line)))
        }
    }
}

/// Creates the answer to an overlong line.
pub(super) fn too_long(head: &[u8], tail: &[u8]) -> Box<UnreadableMessageError> {
    let error = invalid(format!("the message has more than {MAX_PIPE_LINE_BYTES} bytes"));
    UnreadableMessageError::new(error, id_in(head).or_else(|| last_id(tail)))
}

fn invalid(what: impl Into<std::borrow::Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_request(what, None)
}

/// Returns the top-level `id` of an object that may be invalid, truncated or deeply nested.
fn id_in(line: &[u8]) -> Option<RequestId> {
    struct RequestIdVisitor<'a>(&'a mut Option<RequestId>);
    impl<'de> Visitor<'de> for RequestIdVisitor<'_> {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "id" {
                    *self.0 = Some(map.next_value()?);
                    map.next_key::<IgnoredAny>()?;
                    return Ok(());
                }
                // Skipped without recursion at any depth.
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut id = None;
    let read = serde_json::Deserializer::from_slice(line).deserialize_map(RequestIdVisitor(&mut id));
    // A number at the very end may be truncated.
    let cut = read.is_err_and(|fault| fault.is_eof()) && line.last().is_some_and(u8::is_ascii_digit);
    id.filter(|id| !cut || matches!(id, RequestId::String(_)))
}

/// Returns the `id` at the end of an object. A member directly before the last brace belongs to the
/// object that it closes.
fn last_id(tail: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(tail);
    let inner = text.trim_end().strip_suffix('}')?;
    let (_, value) = inner.rsplit_once("\"id\"")?;
    serde_json::from_str(value.trim_start().strip_prefix(':')?).ok()
}
