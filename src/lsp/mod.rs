//! Language servers: started on demand, synchronized with the disk, asked with deadlines.
//!
//! What lives here: [`session`] (one initialized server over a [`Peer`](crate::rpc::Peer)), [`ask`]
//! (questions to it), `documents` (what it has open), `document_sync` (in step with the disk), [`user_messages`] (who hears what it says by itself), [`readiness`] and [`diagnostics`] (how far its answers can be relied
//! on), [`operations`] and [`hierarchy`] (what it can be asked), [`relay`] (an editor's own questions, passed through), and the [`manager`] over all of them, which shares the machine with those of other processes by [`machine`]. [`judge`] knows the versions that projects pin, [`locate`] finds
//! servers, [`interpreters`] the programs that run them, [`server_choice`] says which of a language's run, [`python`] finds environments, `node_guard` keeps Node.js from loading a project's code, [`install`] puts them into a private prefix, [`health`] tells whether one that was found is whole. May use:
//! `text`, `workspace`, `config`, `process`, `rpc`. Nothing above names a type of an LSP crate: answers are in the words of [`model`].
//!
//! How data passes: a tool asks the manager for a session and the session for an answer. The session compares the file
//! with the disk, sends what changed and the question in one breath, and decodes the answer with the very text it was
//! asked about.

pub(crate) mod ask;
mod background_check;
mod bounded_answer;
mod capabilities;
mod check_runs;
mod configuration_complaint;
mod decode;
pub(crate) mod diagnostics;
pub(crate) mod diagnostics_invalidation;
mod document_sync;
pub(crate) mod documents;
pub(crate) mod edits;
mod generated_file;
pub(crate) mod health;
pub(crate) mod hierarchy;
mod incomplete_answers;
pub(crate) mod install;
pub(crate) mod interpreters;
pub(crate) mod judge;
pub(crate) mod latency;
pub(crate) mod locate;
pub(crate) mod machine;
pub(crate) mod manager;
pub(crate) mod model;
mod node_guard;
pub(crate) mod operations;
mod package_folders;
pub(crate) mod progress;
mod project_coverage;
pub(crate) mod python;
pub(crate) mod readiness;
pub(crate) mod relay;
mod reload;
pub(crate) mod request;
pub(crate) mod semantic_tokens;
pub(crate) mod server_choice;
mod server_handler;
pub(crate) mod session;
mod shortfall;
pub(crate) mod snippet;
mod state;
mod unseen_changes;
pub(crate) mod uri;
pub(crate) mod user_messages;
pub(crate) mod view;
mod view_switch;
