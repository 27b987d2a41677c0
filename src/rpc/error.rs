//! Errors of requests, on either side.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::truncate_with_note;

/// The maximum length of a refusal's reason in a message, in bytes.
const MAX_REASON_BYTES: usize = 2_000;

/// The reasons why a request to the other side has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RequestError {
    /// The other side did not answer in time; the request was cancelled there.
    #[error("no response to {method} within {} ms", waited.as_millis().max(1))]
    Timeout {
        /// The request's method.
        method: String,
        /// The time waited before the request was given up.
        waited: Duration,
    },
    /// The other side answered with an error (LSP 3.17, *ResponseError*).
    #[error("{method} failed: {message} (code {code})")]
    Refused {
        /// The request's method.
        method: String,
        /// JSON-RPC or LSP error code.
        code: i64,
        /// The error message of the other side.
        message: String,
        /// The error's `data` member.
        data: Box<Value>,
    },
    /// The response does not have the type that the specification requires.
    #[error("the response to {method} cannot be decoded: {what}")]
    Malformed {
        /// The request's method.
        method: String,
        /// A description of the malformed part.
        what: String,
    },
    /// The conversation is over.
    #[error("the server's connection is closed: {reason}")]
    Closed {
        /// The decoder's error.
        reason: String,
    },
}

impl RequestError {
    /// Codes of LSP 3.17, *ErrorCodes*.
    const CONTENT_MODIFIED: i64 = -32801;
    const SERVER_CANCELLED: i64 = -32802;
    const REQUEST_CANCELLED: i64 = -32800;

    /// The `error` member of an answer to `method`.
    pub(super) fn from_error_member(method: &str, error: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        struct ResponseError {
            #[serde(default)]
            code: Value,
            #[serde(default)]
            message: Value,
            #[serde(default)]
            data: Value,
        }
        let ResponseError { code, message, data } = serde_json::from_str(error.get()).unwrap_or_default();
        let message =
            truncate_with_note(message.as_str().unwrap_or("no message"), MAX_REASON_BYTES).into_owned();
        let code = code.as_i64().unwrap_or(0);
        Self::Refused { method: method.to_owned(), code, message, data: Box::new(data) }
    }

    /// Returns true if the specification expects the caller to repeat the request
    /// (`ContentModified`, `ServerCancelled`).
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Refused { code, .. }
            if [Self::CONTENT_MODIFIED, Self::SERVER_CANCELLED, Self::REQUEST_CANCELLED].contains(code))
    }

    /// Returns true if the other side does not implement the method (`MethodNotFound`).
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self, Self::Refused { code: -32601, .. })
    }
}

/// An error response to a request of the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestRefusal {
    /// We do not know the method (`MethodNotFound`).
    MethodNotFound,
    /// The params are not valid (`InvalidParams`).
    InvalidParams(String),
    /// The request failed.
    Failed {
        /// A code of JSON-RPC, LSP or the protocol on top of it.
        code: i64,
        /// The error message of the response.
        message: String,
    },
}

impl RequestRefusal {
    /// The code of JSON-RPC 2.0, *Error object*, and its message.
    pub(super) fn code_and_message(self, method: &str) -> (i64, String) {
        match self {
            Self::MethodNotFound => (-32601, format!("{method} is not supported")),
            Self::InvalidParams(what) => (-32602, what),
            Self::Failed { code, message } => (code, message),
        }
    }
}
