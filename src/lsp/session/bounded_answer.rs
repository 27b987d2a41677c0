//! Bounded parsing of a server's JSON, since a value takes many times the memory of its text.

use std::cell::Cell;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use tokio::time::{Instant, timeout_at};

use crate::rpc::{PendingRequest, RequestError};

/// The maximum number of values kept of a list: that of a hundred thousand locations, in some 150
/// MB of memory.
const MAX_LIST_ANSWER_VALUES: usize = 1 << 20;
/// The maximum number of values of other answers, which are useful only if they are whole.
const MAX_WHOLE_ANSWER_VALUES: usize = 4 << 20;
/// The methods whose answers are lists that may be shortened at the end. An edit must never be
/// shortened.
const LISTS: [&str; 16] = [
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "textDocument/completion",
    "textDocument/declaration",
    "textDocument/definition",
    "textDocument/diagnostic",
    "textDocument/documentSymbol",
    "textDocument/hover",
    "textDocument/implementation",
    "textDocument/publishDiagnostics",
    "textDocument/references",
    "textDocument/signatureHelp",
    "textDocument/typeDefinition",
    "typeHierarchy/subtypes",
    "typeHierarchy/supertypes",
    "workspace/symbol",
];

/// An answer, as far as it was decoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BoundedAnswer {
    /// The decoded value.
    pub(crate) value: Value,
    /// The number of list elements that were left out.
    pub(crate) left_out: usize,
}

/// The size in bytes from which an answer is decoded on a thread of its own.
const LARGE_ANSWER_BYTES: usize = 256 << 10;

/// Awaits the response to a request, with a limit on the number of decoded values. A large response
/// is decoded on a thread that is abandoned at the deadline.
pub(crate) async fn bounded_answer(
    mut pending: PendingRequest<'_>,
    deadline: Instant,
) -> Result<BoundedAnswer, RequestError> {
    let result = pending.raw_result(deadline).await?;
    let method = pending.method().to_owned();
    let malformed = |what| RequestError::Malformed { method: method.clone(), what };
    if result.get().len() < LARGE_ANSWER_BYTES {
        return read(&method, result.get()).map_err(malformed);
    }
    let reading = {
        let method = method.clone();
        tokio::task::spawn_blocking(move || read(&method, result.get()))
    };
    match timeout_at(deadline, reading).await {
        Ok(Ok(parts)) => parts.map_err(malformed),
        Ok(Err(stopped)) => Err(malformed(stopped.to_string())),
        Err(_) => Err(RequestError::Timeout { method, waited: pending.elapsed() }),
    }
}

/// Decodes the response to `method`, or the params of such a notification.
///
/// # Errors
/// The text is no JSON, or too long for a value that is needed whole.
pub(super) fn read(method: &str, json: &str) -> Result<BoundedAnswer, String> {
    let is_list = LISTS.contains(&method);
    let most = if is_list { MAX_LIST_ANSWER_VALUES } else { MAX_WHOLE_ANSWER_VALUES };
    let parts = read_bounded(json, most).map_err(|error| error.to_string())?;
    if parts.left_out > 0 && !is_list {
        return Err(format!("it has more than {most} parts"));
    }
    Ok(parts)
}

fn read_bounded(json: &str, most: usize) -> serde_json::Result<BoundedAnswer> {
    let budget = ValueBudget { remaining: Cell::new(most), left_out: Cell::new(0) };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = ValueSeed(&budget).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(BoundedAnswer { value, left_out: budget.left_out.get() })
}

struct ValueBudget {
    remaining: Cell<usize>,
    left_out: Cell<usize>,
}

impl ValueBudget {
    fn is_full(&self) -> bool {
        self.remaining.get() == 0
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'a>(&'a ValueBudget);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.remaining.set(self.0.remaining.get().saturating_sub(1));
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while !self.0.is_full() {
            let Some(element) = elements.next_element_seed(self)? else { return Ok(Value::Array(kept)) };
            kept.push(element);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {
            self.0.left_out.set(self.0.left_out.get() + 1);
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while !self.0.is_full() {
            let Some(name) = members.next_key::<String>()? else { return Ok(Value::Object(kept)) };
            kept.insert(name, members.next_value_seed(self)?);
        }
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            self.0.left_out.set(self.0.left_out.get() + 1);
        }
        Ok(Value::Object(kept))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answer_within_limit_is_read_unchanged() {
        for text in [
            r#"{"a":[1,-2,3.5,1e400,"x\n",null,true],"b":{}}"#,
            "[]",
            "null",
            "18446744073709551615",
            r#"{"a":1,"a":2}"#,
        ] {
            let plain = serde_json::from_str::<Value>(text).ok();
            let read = read_bounded(text, 100).ok();
            assert_eq!(read.as_ref().map(|parts| &parts.value), plain.as_ref(), "{text}");
            assert!(read.is_none_or(|parts| parts.left_out == 0), "{text}");
        }
        for text in ["[1,", "[1] 2", "", "{\"a\"}"] {
            assert!(read_bounded(text, 100).is_err(), "{text}");
        }
    }

    #[test]
    fn answer_elements_over_limit_are_left_out_and_counted() {
        let parts = read_bounded("[1,2,3,4,5,6]", 4).unwrap();
        assert_eq!(parts, BoundedAnswer { value: json!([1, 2, 3]), left_out: 3 });
        let parts = read_bounded(r#"{"items":[{"a":1},{"a":2},{"a":3}],"more":true}"#, 6).unwrap();
        assert_eq!(parts.value["items"], json!([{"a": 1}, {"a": 2}]));
        assert_eq!(parts.left_out, 2);
    }

    #[test]
    fn rename_answer_over_limit_is_refused_and_references_are_cut() {
        let json = format!("[{}0]", "0,".repeat(MAX_WHOLE_ANSWER_VALUES));
        assert!(read("textDocument/rename", &json).unwrap_err().starts_with("it has more than"));
        let list = read("textDocument/references", &json).unwrap();
        assert_eq!(list.left_out, MAX_WHOLE_ANSWER_VALUES + 2 - MAX_LIST_ANSWER_VALUES);
    }
}
