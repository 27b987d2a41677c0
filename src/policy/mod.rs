//! Access control of calls: rules, agents, hooks, approval, the audit log.
//!
//! The module contains the subjects of a call ([`request`]), the access of its caller ([`caller`]),
//! one rule ([`rule`]) with its patterns for names ([`name`]), paths ([`path`]), hosts ([`host`])
//! and shell commands ([`command`], parsed with a grammar by [`shell`]), all rules together
//! ([`rules`]), limits on the paths of a running call ([`limits`]), approval requests
//! ([`approval`]), approvals for a session ([`grants`]), hooks ([`hooks`]), and the audit log
//! ([`audit`]). The module may use `process` (hooks run under a supervisor, like servers) and
//! everything below. It knows no tool: a tool names the subjects of a call, and this module
//! decides.
//!
//! The input is a [`request::PolicyRequest`] with the tool's name, effect, paths, commands and
//! addresses. The output is a [`request::PolicyDecision`]; if that is `ask`, an
//! [`approval::Approver`] turns it into yes or no. The order is fixed: tools that are not offered
//! are denied; a `deny` rule beats an `ask` rule, which beats an `allow` rule, which beats the
//! default of the effect. A caller may narrow that, never widen it, with one exception: a command
//! that a person typed at a shell needs no second approval.

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
