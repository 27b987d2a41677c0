//! runtime calls TODO.

pub(crate) mod approve;
pub(crate) mod authorize;
pub(crate) mod call;
pub(crate) mod call_feed;
pub(crate) mod call_hooks;
pub(crate) mod call_stats;
pub(crate) mod observe;
pub(crate) mod record;
pub(crate) mod typed;
