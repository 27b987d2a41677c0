//! Language servers: started on demand, kept in step with the disk, asked with deadlines.
//!
//! What lives here: [`session`] (one initialized server over a [`Peer`](crate::rpc::Peer)), [`ask`]
//! (questions to it), `documents` (what it has open), [`people`] (who hears what it says by itself), [`readiness`] and [`diagnostics`] (how far its answers can be relied
//! on), [`operations`] and [`hierarchy`] (what it can be asked), [`relay`] (an editor's own questions, passed through), and the [`manager`] over all of them. [`locate`] finds
//! servers, [`choice`] says which of a language's run, [`python`] finds environments, `node_guard` keeps Node.js from loading a project's code, [`install`] puts them into a private prefix, [`health`] tells whether one that was found is whole. May use:
//! `text`, `workspace`, `config`, `process`, `rpc`. Nothing above names a type of an LSP crate: answers are in the words of [`model`].
//!
//! How data passes: a tool asks the manager for a session and the session for an answer. The session compares the file
//! with the disk, sends what changed and the question in one breath, and decodes the answer with the very text it was
//! asked about.

pub mod ask;
mod capabilities;
pub mod choice;
mod decode;
pub mod diagnostics;
mod documents;
pub mod edits;
pub mod health;
pub mod hierarchy;
pub mod install;
pub mod latency;
pub mod locate;
pub mod manager;
pub mod model;
pub mod news;
mod node_guard;
pub mod operations;
mod own_file;
mod parts;
pub mod people;
pub mod progress;
pub mod python;
pub mod readiness;
pub mod relay;
mod reload;
pub mod request;
pub mod semantic_tokens;
mod server_handler;
pub mod session;
mod shortfall;
pub mod snippet;
mod state;
pub mod uri;
pub mod view;
