//! The path of one call: approval, hooks, the tool, and the records of it.
//!
//! [`call`] is the path, and sets the time limit of a call. Its steps are the decision of the
//! rules and the approver ([`approve`]), the hooks ([`call_hooks`]), the tool, and the audit line
//! ([`record`]). [`typed`] has calls with typed arguments on the same path, and [`authorize`]
//! decides calls of a host's own tools. [`call_feed`], [`call_stats`] and [`observe`] show calls to
//! users and doors.

pub(crate) mod approve;
pub(crate) mod authorize;
pub(crate) mod call;
pub(crate) mod call_feed;
pub(crate) mod call_hooks;
pub(crate) mod call_stats;
pub(crate) mod observe;
pub(crate) mod record;
pub(crate) mod typed;
