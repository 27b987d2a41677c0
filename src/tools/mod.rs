//! One file per tool, and their common parts.
//!
//! The module contains the file tools ([`read`], [`list`], [`glob`], [`grep`] and, on the one path
//! of [`editing`], [`mod@write`], [`edit`], [`patch`], [`move_file`], [`delete`], [`mkdir`],
//! [`undo`]), the language tools (`lsp_*`), commands (`bash*`, over [`shell`], and [`run_tests`]),
//! an agent's own matters ([`mod@todo`], [`memory`], [`skill`], [`task`], [`changed_files`], the
//! user's chats in [`chat`]), other machines ([`fetch_web_page`], [`library_docs`]), tools dropped
//! into a folder ([`drop_in`]) and from other sources ([`source`]), the administration of servers
//! ([`servers`], [`doctor`], [`install`], [`trust`]), the shapes of answers ([`answer`]) and
//! failures ([`error`]), and the way from a caller's address ([`target`], [`resolved_position`]) to
//! a session's answer ([`question`]) or, if no server answers, to text search ([`fallback`]). It
//! may use everything below, and knows no entry point.
//!
//! The [`registry`] holds each [`tool`] by name with its [`schema`]. A tool gets the [`context`]
//! and its arguments, and returns an output that becomes one [`result`], or a `ToolError`.
//! [`diagnostics_baseline`] reports the new errors of an edit. Lists of tools are written by
//! [`export`].

pub(crate) mod agent;
pub(crate) mod api;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod language;
pub(crate) mod shell;
pub(crate) mod vcs;
