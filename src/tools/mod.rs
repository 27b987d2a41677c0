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

pub(crate) mod address;
mod answer_text;
pub(crate) mod argument_aliases;
pub(crate) mod bash;
pub(crate) mod bash_kill;
pub(crate) mod bash_output;
pub(crate) mod built_in;
pub(crate) mod changed_files;
pub(crate) mod chat;
mod contents;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod drop_in;
pub(crate) mod edit;
pub(crate) mod edit_scheduler;
pub(crate) mod edit_symbol;
pub(crate) mod editing;
pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod fetch_web_page;
pub(crate) mod file_kind;
pub(crate) mod find_test_files;
pub(crate) mod fix;
mod fix_rule;
pub(crate) mod get_library_docs;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod hidden;
pub(crate) mod install;
pub(crate) mod install_list;
mod library_docs;
pub(crate) mod list;
pub(crate) mod listed_schema;
mod located_symbol;
pub(crate) mod lsp_changes;
pub(crate) mod lsp_code_actions;
pub(crate) mod lsp_completion;
pub(crate) mod lsp_definition;
pub(crate) mod lsp_diagnostics;
pub(crate) mod lsp_format;
pub(crate) mod lsp_hierarchy;
pub(crate) mod lsp_hover;
pub(crate) mod lsp_navigate;
pub(crate) mod lsp_overlay;
pub(crate) mod lsp_rename;
pub(crate) mod lsp_servers;
pub(crate) mod lsp_signature;
pub(crate) mod lsp_symbols;
pub(crate) mod lsp_tests;
pub(crate) mod made_edit;
pub(crate) mod match_marks;
pub(crate) mod memory;
pub(crate) mod mkdir;
pub(crate) mod move_file;
pub(crate) mod move_symbol;
pub(crate) mod multi_replace;
pub(crate) mod notebook;
pub(crate) mod only_paths;
pub(crate) mod overlays;
pub(crate) mod patch;
mod path_suggestion;
pub(crate) mod place_address;
pub(crate) mod proposals;
pub(crate) mod read;
pub(crate) mod registry;
pub(crate) mod resolve_library_id;
pub(crate) mod result;
pub(crate) mod run_tests;
pub(crate) mod schema;
pub(crate) mod servers;
pub(crate) mod shell;
pub(crate) mod skill;
pub(crate) mod skills;
pub(crate) mod source;
pub(crate) mod task;
pub(crate) mod timestamp;
pub(crate) mod todo;
pub(crate) mod tool;
pub(crate) mod tool_finder;
pub(crate) mod tool_state;
pub(crate) mod trace;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod web;
pub(crate) mod write;
