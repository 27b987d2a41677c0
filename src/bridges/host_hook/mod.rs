//! The hooks of hosts: the events on a model's edits and searches, and the answers to them.
//!
//! A host configured by `lsp-tools init HOST --hooks` runs `lsp-tools hook HOST EVENT` with JSON on
//! standard input. Contents: parsing that JSON and writing the answer in the host's form
//! ([`event`]), and the names that a search is for ([`names`]). May use: `policy` (the reader of
//! shell commands), `text`, `tools`.
//!
//! Data flow: [`HostHookEvent::read`] parses a host's JSON, the command `hook` queries the runtime
//! about the event, and [`HostHookEvent::answer`] puts the result into the host's form. This module
//! queries no server and never denies an action of the host.

mod event;
mod names;

pub(crate) use event::{HookHost, HookOccasion, HostHookEvent, HostHookSubject};
pub(crate) use names::SearchedSymbolName;
