//! Errors of requests, as the editor gets them.

use serde_json::json;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::lsp::ask::AskError;
use crate::rpc::RequestError;

/// What went wrong on this side.
pub(super) fn internal_error(message: String) -> Error {
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}

/// What a server says of its own failure is passed on as it said it.
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
