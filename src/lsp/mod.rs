//! Language servers: started on demand, synchronized with the disk, asked with deadlines.
//!
//! Contents:
//!
//! - [`session`]: one initialized server over a [`Peer`](crate::rpc::Peer).
//! - [`ask`]: requests to it; [`operations`] and [`hierarchy`]: the kinds of requests.
//! - `documents`: its open documents; `document_sync`: their synchronization with the disk;
//!   `open_notebook`: notebooks, open for one check.
//! - [`user_messages`]: its messages to the user.
//! - [`readiness`] and [`diagnostics`]: the completeness of its answers.
//! - [`relay`]: an editor's own requests, passed through.
//! - [`manager`]: all sessions of a workspace; it shares the machine with other processes by
//!   [`machine`].
//! - [`locate`], [`interpreters`], [`server_choice`]: the search for servers and the programs that
//!   run them, and the choice among a language's servers.
//! - [`python`], [`judge`]: environments, and the versions that projects pin.
//! - `project_membership`: files that a project leaves out.
//! - `node_guard`: keeps Node.js from loading a project's code.
//! - [`install`], [`health`]: installation into a private prefix, and checks of found servers.
//!
//! May use: `text`, `workspace`, `config`, `process`, `rpc`. Nothing above names a type of an LSP
//! crate: answers are in the terms of [`model`].
//!
//! Data flow: a tool asks the manager for a session and the session for an answer. The session
//! compares the file with the disk, sends the change and the request together, and decodes the
//! answer with the very text it was asked about.

pub(crate) mod diagnostics;
pub(crate) mod documents;
pub(crate) mod model;
pub(crate) mod relay;
pub(crate) mod servers;
pub(crate) mod session;
pub(crate) mod uri;
