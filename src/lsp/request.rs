//! Typed requests and notifications to language servers, in which a method and its params belong together.

use std::marker::PhantomData;

use async_lsp::lsp_types;
use async_lsp::lsp_types::notification::Notification;
use async_lsp::lsp_types::request::Request;
use serde_json::Value;

use crate::rpc::Peer;
use crate::text::EncodedPosition;

/// The request `R` with JSON for params and result: for params that hand back what a server said, which must be as it said it.
#[derive(Debug)]
pub(crate) struct Untyped<R>(PhantomData<R>);

impl<R: Request> Request for Untyped<R> {
    type Params = Value;
    type Result = Value;
    const METHOD: &'static str = R::METHOD;
}

/// Tells a server `N`.
pub(crate) fn notify_server<N: Notification>(connection: &Peer, params: &N::Params) {
    connection.notify(N::METHOD, params);
}

/// LSP 3.17 *Position*.
pub(crate) fn position_of(position: EncodedPosition) -> lsp_types::Position {
    lsp_types::Position { line: position.line, character: position.unit }
}
