//! Language servers: started on demand, synchronized with the disk, asked with deadlines.
//!
//! [`servers`] finds, installs and starts servers and owns their sessions. A [`session`] is one
//! initialized server; its [`documents`] equal the disk or a caller's unsaved texts.
//! [`diagnostics`] come by pull, push or request. [`relay`] passes an editor's own requests
//! through.
//!
//! May use: `text`, `workspace`, `config`, `process`, `rpc`. Nothing above names a type of an LSP
//! crate: answers are in the terms of [`model`].
//!
//! Data flow: a tool asks the manager for a session and the session for an answer. The session
//! compares its text with the disk, sends the change and the request together, and decodes the
//! response with that text.

pub(crate) mod diagnostics;
pub(crate) mod documents;
pub(crate) mod model;
pub(crate) mod relay;
pub(crate) mod servers;
pub(crate) mod session;
pub(crate) mod uri;
