//! Errors of requests in the editor's form.

use serde_json::json;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::lsp::session::ask::AskError;
use crate::rpc::RequestError;

/// An internal error of this side.
pub(super) fn internal_error(message: String) -> Error {
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}

/// Converts an error. A server's own error response is passed on unchanged.
pub(super) fn to_rpc_error(error: &AskError) -> Error {
    match error {
        AskError::Request(RequestError::Refused { code, message, data, .. }) => Error {
            code: ErrorCode::from(*code),
            message: message.clone().into(),
            data: (!data.is_null()).then(|| json!(data)),
        },
        AskError::Moving { .. } => Error { message: error.to_string().into(), ..Error::content_modified() },
        _ => internal_error(error.to_string()),
    }
}
