//! The part of a project that a server covers, and the project's objections and settings.
//!
//! [`project_coverage`] has the roots and files of a server, [`project_membership`] the files that
//! a project leaves out (kept in [`known_memberships`]), and [`compile_commands`] those of a
//! compilation database. [`check_scope`] has the files that a command line would check, and
//! [`source_roots`] the folders in which packages start. A [`shortfall`], a
//! [`configuration_complaint`] or [`suppressed_findings`] lower the verdict of the server's answers.

pub(crate) mod check_scope;
pub(crate) mod compile_commands;
pub(crate) mod configuration_complaint;
pub(crate) mod known_memberships;
pub(crate) mod project_coverage;
pub(crate) mod project_membership;
pub(crate) mod shortfall;
pub(crate) mod source_roots;
pub(crate) mod suppressed_findings;
