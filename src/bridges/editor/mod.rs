//! The editor door: one LSP server that an editor starts in the place of each language server.
//!
//! - `frames` lets only whole messages through; `service` takes them in their order (tower-lsp reads and writes them) and answers
//!   each in a task of its own
//! - `client` is the way back: notifications and requests to the editor
//! - `documents` keeps the documents that the editor has open, which are this client's overlays
//! - `context` is what all of them work with; `features` says what can be asked and of which servers, `capabilities` announces it,
//!   `editor_capabilities` are what the editor can do
//! - `ask` asks the servers of a file, `merge_answers` makes one answer of theirs, `errors` words their failures, `ticket` leads follow-up requests back to the server
//! - `text_fallback` answers from the text where a server is missing, `outside_documents` about documents that are no files of the workspace
//! - `diagnose` publishes diagnostics, `commands` runs commands, `progress` tells of slow servers, `user_messages` of what servers say
//!
//! Messages stay JSON: what a server says is passed on whole, with positions, URIs and versions in the editor's words
//! ([`lsp::relay`](crate::lsp::relay)). tower-lsp brings framing, concurrency and the vocabulary of JSON-RPC; its types of LSP are
//! of an older version than the servers' and are not used.
//!
//! A request sees the documents as they were when it was sent. Of files outside the workspace only the text that the editor has of
//! them counts, and they are only looked at: what would change them is answered with null.

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

/// Requests that are worked on at a time; whoever sends more waits.
const MAX_CONCURRENT_EDITOR_REQUESTS: usize = 256;

/// Bytes of messages on their way to tower-lsp.
const EDITOR_PIPE_CAPACITY_BYTES: usize = 64 << 10;

/// Serves one editor, which speaks LSP 3.17 (*Base Protocol*) over `read` and `write`; returns when it has said `exit`, when its side
/// is closed, or when `ended` is cancelled. What was going on for it is ended; the servers stay.
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
    let gone = ended.child_token();
    let (editor, socket) = Editor::new();
    let context = Arc::new(EditorContext::new(live, options, editor, gone.clone()));
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
        // Its side is closed: nothing goes on for it.
        gone.cancel();
    };
    tokio::select! {
        _ = async { tokio::join!(reading, server.serve(EditorService::new(context.clone()))) } => {}
        () = context.wait_for_exit() => {}
        () = ended.cancelled() => {}
    }
    gone.cancel();
    for task in background {
        // Each ends when the editor is gone; one that panicked has been logged.
        let _ended = task.await;
    }
    context.close().await;
}
