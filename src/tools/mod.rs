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
mod ambiguous_name;
pub mod answer;
pub(crate) mod answer_places;
mod answer_text;
pub(crate) mod argument_aliases;
pub(crate) mod background;
pub(crate) mod bash;
pub(crate) mod bash_kill;
pub(crate) mod bash_output;
pub(crate) mod budget;
pub(crate) mod built_in;
pub(crate) mod changed_files;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod checked_files;
mod conditional_uses;
mod contents;
pub(crate) mod context;
pub(crate) mod declaration_changes;
pub(crate) mod definition;
pub(crate) mod delete;
pub(crate) mod delta;
pub(crate) mod delta_item;
pub(crate) mod diagnostic_item;
pub(crate) mod diagnostics_baseline;
pub(crate) mod doctor;
pub(crate) mod drop_in;
pub(crate) mod early_start;
pub(crate) mod edit;
pub(crate) mod edit_judgement;
pub(crate) mod edit_scheduler;
pub(crate) mod edit_symbol;
mod edited_text;
pub(crate) mod editing;
pub(crate) mod enclosing_symbol;
pub(crate) mod error;
pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod fallback;
pub(crate) mod fetch_web_page;
mod file_check;
pub(crate) mod file_kind;
mod file_report;
pub(crate) mod files_with_server;
pub(crate) mod find_test_files;
pub(crate) mod fix;
mod fix_rule;
pub(crate) mod get_library_docs;
pub(crate) mod git_access;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod hidden;
pub(crate) mod hidden_definitions;
pub(crate) mod impact;
pub(crate) mod install;
pub(crate) mod install_list;
pub(crate) mod install_outcome;
mod left_out_files;
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
pub(crate) mod mergeable_answer;
pub(crate) mod mkdir;
pub(crate) mod move_file;
pub(crate) mod move_symbol;
pub(crate) mod multi_replace;
pub(crate) mod multi_server_query;
mod named_places;
pub(crate) mod notebook;
mod notebook_check;
mod occurrence_doubt;
mod occurrence_note;
pub(crate) mod only_paths;
pub(crate) mod other_roots;
pub(crate) mod outline;
pub(crate) mod outline_cache;
pub(crate) mod overlays;
pub(crate) mod patch;
pub(crate) mod path_limits;
mod path_suggestion;
pub(crate) mod place;
pub(crate) mod place_address;
pub(crate) mod project_setup;
pub(crate) mod proposals;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod registry;
pub(crate) mod remedy;
pub(crate) mod resolve_library_id;
pub(crate) mod resolved_position;
pub(crate) mod result;
pub(crate) mod retry_advice;
pub(crate) mod run_tests;
pub(crate) mod schema;
pub(crate) mod server_notes;
pub(crate) mod servers;
pub(crate) mod shard;
pub(crate) mod shell;
pub(crate) mod short_range;
pub(crate) mod skill;
pub(crate) mod skills;
pub(crate) mod source;
pub(crate) mod state_files;
pub(crate) mod symbol_item;
pub(crate) mod symbol_search;
pub(crate) mod target;
pub(crate) mod task;
pub(crate) mod test_reach;
pub(crate) mod test_runs;
pub(crate) mod timestamp;
pub(crate) mod todo;
pub(crate) mod tool;
pub(crate) mod tool_finder;
pub(crate) mod tool_state;
pub(crate) mod trace;
pub(crate) mod transitive_impact;
pub(crate) mod trust;
pub(crate) mod unanswered_question;
pub(crate) mod undo;
pub(crate) mod web;
pub(crate) mod write;
