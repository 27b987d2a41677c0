//! The part of a project that a server covers, and the project's objections and settings.

pub(crate) mod check_scope;
pub(crate) mod compile_commands;
pub(crate) mod configuration_complaint;
pub(crate) mod known_memberships;
pub(crate) mod project_coverage;
pub(crate) mod project_membership;
pub(crate) mod shortfall;
