//! Access control of calls: rules, agents, hooks, approval, the audit log.
//!
//! What lives here: what a call asks for ([`request`]), what its caller brings along ([`caller`]), one rule ([`rule`]) with
//! its patterns for names ([`name`]), paths ([`path`]), hosts ([`host`]) and shell commands ([`command`], read with a
//! grammar by [`shell`]), all rules together ([`rules`]), what they leave to a call that runs ([`limits`]), who is asked when they leave it open ([`approval`]) and what
//! was agreed to for a session ([`grants`]), programs that look on ([`hooks`]), and the record ([`audit`]). May use
//! `process` (hooks are run as servers are, under a supervisor) and everything below; knows no tool: a tool says what
//! it touches, this module says whether it may.
//!
//! How data passes: a [`request::PolicyRequest`] comes in with the tool's name, effect, paths, commands and addresses; a
//! [`request::PolicyDecision`] goes out, and where that is `ask`, an [`approval::Approver`] turns it into yes or no. The order
//! is fixed: what is not offered is denied; a `deny` rule beats an `ask` rule, which beats an `allow` rule, which beats the
//! default of the effect. Whoever calls may narrow that, never widen it, with one exception: what someone typed at a
//! shell needs no second yes.

pub(crate) mod approval;
pub(crate) mod audit;
pub(crate) mod caller;
pub(crate) mod command;
pub(crate) mod grants;
pub(crate) mod hooks;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod name;
pub(crate) mod path;
pub(crate) mod request;
pub(crate) mod rule;
pub(crate) mod rules;
pub(crate) mod shell;
pub(crate) mod shell_words;
#[cfg(test)]
mod shells_tests;
