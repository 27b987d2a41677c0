//! Typed requests and notifications to language servers, in which a method and its params belong
//! together.

use std::marker::PhantomData;

use lsp_types::TextDocumentPositionParams;
use lsp_types::notification::Notification;
use lsp_types::request::Request;
use serde::Serialize;
use serde_json::Value;

use crate::lsp::documents::open_documents::Snapshot;
use crate::rpc::Peer;
use crate::text::{Buffer, EncodedPosition, Encoding, Position, Range};

/// The request `R` with JSON for params and result, for params that return a server's own data,
/// which must be unchanged.
#[derive(Debug)]
pub(crate) struct Untyped<R>(PhantomData<R>);

impl<R: Request> Request for Untyped<R> {
    type Params = Value;
    type Result = Value;
    const METHOD: &'static str = R::METHOD;
}

/// The part of the project that an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyScope {
    /// The file and its imports: the request is sent as soon as the server can answer at all.
    File,
    /// The whole project: the request is sent when the index is complete, as far as the deadline
    /// allows.
    Project,
}

/// A request about one document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentRequest<'a, P> {
    /// Its method.
    pub(crate) method: &'a str,
    /// The part of the project that its answer depends on.
    pub(crate) scope: DependencyScope,
    /// Builds its params from the server's text; `None` if the text has no place for it.
    pub(crate) params: P,
}

impl<P> DocumentRequest<'static, P> {
    /// The request `R`.
    pub(crate) fn new<R: Request>(scope: DependencyScope, params: P) -> Self
    where
        P: Fn(&Snapshot, Encoding) -> Option<R::Params>,
    {
        Self { method: R::METHOD, scope, params }
    }
}

/// A request that concerns no document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkspaceRequest<'a, V> {
    /// Its method.
    pub(crate) method: &'a str,
    /// Its params.
    pub(crate) params: V,
}

impl<V: Serialize> WorkspaceRequest<'static, V> {
    /// The request `R`.
    pub(crate) fn new<R: Request<Params = V>>(params: V) -> Self {
        Self { method: R::METHOD, params }
    }
}

/// Sends a server the notification `N`.
pub(crate) fn notify_server<N: Notification>(connection: &Peer, params: &N::Params) {
    connection.notify(N::METHOD, params);
}

/// LSP 3.17 *Position*.
pub(crate) fn position_of(position: EncodedPosition) -> lsp_types::Position {
    lsp_types::Position { line: position.line, character: position.unit }
}

/// A place that has a position in each text of its file.
pub(crate) trait PlaceInText: Sync {
    /// The position in `buffer`; `None` if that text has no such place.
    fn position_in(&self, buffer: &Buffer) -> Option<Position>;
}

impl PlaceInText for Position {
    fn position_in(&self, _: &Buffer) -> Option<Position> {
        Some(*self)
    }
}

/// LSP 3.17 *TextDocumentPositionParams*; `None` if the text has no such place.
pub(crate) fn text_document_position(
    snapshot: &Snapshot,
    place: &(impl PlaceInText + ?Sized),
    encoding: Encoding,
) -> Option<TextDocumentPositionParams> {
    let position = place.position_in(&snapshot.buffer)?;
    let position = position_of(snapshot.buffer.encode(position, encoding));
    Some(TextDocumentPositionParams { text_document: snapshot.identifier(), position })
}

/// LSP 3.17 *Range*.
pub(crate) fn range_of(snapshot: &Snapshot, range: Range, encoding: Encoding) -> lsp_types::Range {
    let range = snapshot.buffer.encode_range(range, encoding);
    lsp_types::Range { start: position_of(range.start), end: position_of(range.end) }
}
