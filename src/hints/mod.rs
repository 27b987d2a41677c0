//! What is answered without a language server: candidates from the text, ranked.

mod by_name;
mod candidates;
mod docs;
mod extract;
mod family;
mod grammar;
mod imports;
mod modules;
mod parse;
mod patterns;
mod project;
mod resolve;
mod source;
mod subject;

pub use candidates::{Candidate, DEADLINE, HintError, Hints, Subject, definition};
