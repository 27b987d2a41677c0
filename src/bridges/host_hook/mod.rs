//! The hooks of hosts: what a host tells of an edit or a search of its model, and what it is answered.
//!
//! A host that `lsp-tools init HOST --hooks` has set up runs `lsp-tools hook HOST EVENT` with JSON on standard input. What lives here:
//! reading that, and writing the answer in the host's form ([`event`]), and the names that a search is for ([`names`]). May use:
//! `policy` (the reader of shell commands), `text`, `tools`.
//!
//! How data passes: [`HostHookEvent::read`] makes of a host's JSON what happened, the command `hook` asks the runtime about that, and
//! [`HostHookEvent::answer`] puts what it found into the host's form. Nothing here asks a server, and nothing denies a host anything.

mod event;
mod names;

pub(crate) use event::{HookHost, HookOccasion, HostHookEvent, HostHookSubject};
pub(crate) use names::SearchedSymbolName;
