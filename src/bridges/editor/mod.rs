//! The editor door: one LSP server that an editor starts instead of each language server.
//!
//! - `frames` passes on only whole messages; `service` handles them in order (tower-lsp reads and
//!   writes them) and answers each request in a task of its own
//! - `client` sends notifications and requests to the editor
//! - `documents` keeps the editor's open documents, which are this client's overlays
//! - `context` is the state shared by all of them; `features` lists the requests and the servers
//!   for each, `capabilities` announces them, `editor_capabilities` are those of the editor
//! - `ask` queries the servers of a file, `merge_answers` merges their responses, `errors` converts
//!   their failures, `ticket` leads follow-up requests back to the server
//! - `text_fallback` answers from the text if a server is missing, `outside_documents` about
//!   documents that are not files of the workspace
//! - `diagnose` publishes diagnostics, `commands` runs commands, `progress` reports slow servers,
//!   `user_messages` passes on messages of servers
//!
//! Messages stay JSON: a server's response is passed on whole, with positions, URIs and versions
//! converted to the editor's ([`lsp::relay`](crate::lsp::relay)). tower-lsp provides framing,
//! concurrency and the types of JSON-RPC; its LSP types are of an older version than the servers'
//! and are not used.
//!
//! A request uses the documents from the time of its arrival. For files outside the workspace only
//! the editor's text counts, and they are read-only: requests that would change them are answered
//! with null.

mod ask;
mod capabilities;
mod client;
mod commands;
mod context;
mod diagnose;
mod documents;
mod editor_capabilities;
mod errors;
mod features;
mod frames;
mod merge_answers;
mod outside_documents;
mod progress;
mod service;
mod text_fallback;
mod ticket;
mod user_messages;

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tower_lsp::Server;

use self::client::Editor;
use self::context::EditorContext;
use self::service::EditorService;
use crate::runtime::live::LiveRuntime;

pub use self::context::EditorOptions;

/// The number of requests handled concurrently. Further requests wait.
const MAX_CONCURRENT_EDITOR_REQUESTS: usize = 256;

/// The capacity of the pipe to tower-lsp, in bytes.
const EDITOR_PIPE_CAPACITY_BYTES: usize = 64 << 10;

/// Serves one editor, which speaks LSP 3.17 (*Base Protocol*) over `read` and `write`. Returns
/// after `exit`, when `read` ends, or when `ended` is cancelled. Ends all tasks of this editor; the
/// servers stay.
pub async fn serve<R, W>(
    live: LiveRuntime,
    options: EditorOptions,
    read: R,
    write: W,
    ended: CancellationToken,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite,
{
    let disconnected = ended.child_token();
    let (editor, socket) = Editor::new();
    let context = Arc::new(EditorContext::new(live, options, editor, disconnected.clone()));
    let background = [
        tokio::spawn(diagnose::run(context.clone())),
        tokio::spawn(progress::run(context.clone())),
        tokio::spawn(user_messages::run(context.clone())),
        tokio::spawn(context.clone().follow_overlay_sharing()),
    ];
    let (messages, clean) = tokio::io::duplex(EDITOR_PIPE_CAPACITY_BYTES);
    let server = Server::new(messages, write, socket).concurrency_level(MAX_CONCURRENT_EDITOR_REQUESTS);
    let reading = async {
        frames::filter_frames(read, clean).await;
        // The connection is closed: ends all tasks of this editor.
        disconnected.cancel();
    };
    tokio::select! {
        _ = async { tokio::join!(reading, server.serve(EditorService::new(context.clone()))) } => {}
        () = context.wait_for_exit() => {}
        () = ended.cancelled() => {}
    }
    disconnected.cancel();
    for task in background {
        // Each task ends when the editor disconnects; a panic has been logged.
        let _ended = task.await;
    }
    context.close().await;
}
