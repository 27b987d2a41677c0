//! May this call run: effects, rules, approval, hooks, the record of what was called.
//!
//! What lives here: what a call asks for ([`request`]), and who is asked when the rules leave it open ([`approval`]). May
//! use `config`, `workspace` and `text`; knows no tool: a tool says what it touches, this room says whether it may.
//!
//! How data passes: a [`request::Request`] comes in with the tool's name, effect, paths and commands; a
//! [`request::Decision`] goes out, and where that is `Ask`, an [`approval::Approver`] turns it into yes or no.

pub mod approval;
pub mod request;
pub mod rules;
