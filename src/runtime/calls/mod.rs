//! The path of one call: approval, hooks, the tool, and the records of it.
//!
//! [`call`] is the path; the other modules are its steps and the observers of calls.

pub(crate) mod approve;
pub(crate) mod authorize;
pub(crate) mod call;
pub(crate) mod call_feed;
pub(crate) mod call_hooks;
pub(crate) mod call_stats;
pub(crate) mod observe;
pub(crate) mod record;
pub(crate) mod typed;
