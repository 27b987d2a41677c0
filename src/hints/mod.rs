//! What is answered without a language server: candidates from the text, ranked, and how to get the server.
//!
//! What lives here: parsing within bounds ([`parse`], [`grammar`], [`source`]), names followed through scopes, imports and
//! types ([`resolve`], [`candidates`]), uses ([`mod@references`]), outlines ([`outline`]), syntax errors ([`syntax`]) and install
//! advice ([`advice`]). May use: `text`, `workspace`, `config`, and of `lsp` only its `model`. Starts no process and
//! speaks to no server.
//!
//! How data passes: a question names a place; its file is parsed, the name is followed as far as the text tells, and what is
//! left is searched in the files of the language's family. Every answer says why a candidate ranks where it does, and
//! ends at a deadline.

pub mod advice;
mod by_name;
mod candidates;
mod docs;
mod extract;
mod family;
mod grammar;
mod imports;
mod modules;
mod outline;
mod parse;
mod patterns;
mod project;
mod references;
mod resolve;
mod source;
mod subject;
mod syntax;

pub use candidates::{Candidate, DEADLINE, HintError, Hints, Subject, definition};
pub use docs::markdown;
pub use outline::{symbols, workspace_symbols};
pub use references::references;
pub use syntax::{SyntaxError, syntax_errors};
