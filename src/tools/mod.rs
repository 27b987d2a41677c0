//! One file per tool, and what they share.
//!
//! What lives here: the file tools ([`read`], [`list`], [`glob`], [`grep`] and, on the one path of [`editing`], [`mod@write`],
//! [`edit`], [`patch`], [`move_file`], [`delete`], [`mkdir`], [`undo`]), the language tools (`lsp_*`), commands (`bash*`, over
//! [`shell`]), an agent's own matters ([`mod@todo`], [`memory`], [`skill`], [`task`], [`changed_files`], the user's chats in [`chat`]), other machines
//! ([`fetch_web_page`], [`library_docs`]), tools dropped into a folder ([`drop_in`]) and from elsewhere ([`source`]), what looks after servers ([`servers`],
//! [`doctor`], [`install`], [`trust`]), the shapes of answers ([`answer`]) and failures ([`error`]), and the way from what a
//! caller names ([`target`], [`place`]) to a session's answer ([`question`]) or, where no server answers, to text search
//! ([`fallback`]). May use everything below; knows no door.
//!
//! How data passes: [`registry`] holds each [`tool`] by name with its [`schema`]; a tool gets the [`context`] and its
//! arguments, and gives an output that becomes one [`result`], or a `ToolError`. What an edit breaks is told by
//! [`breakage`]. Lists of tools go out through [`export`].

pub mod address;
pub mod answer;
mod answer_text;
pub mod background;
pub mod bash;
pub mod bash_kill;
pub mod bash_output;
pub mod breakage;
pub mod budget;
pub mod built_in;
pub mod changed;
pub mod changed_files;
pub mod chat;
mod contents;
pub mod context;
pub mod delete;
pub mod delta;
pub mod doctor;
pub mod drop_in;
pub mod edit;
pub mod editing;
pub mod elsewhere;
pub mod error;
pub mod export;
pub mod fallback;
pub mod fetch_web_page;
pub mod file_kind;
pub mod get_library_docs;
pub mod git;
pub mod glob;
pub mod grep;
pub mod hidden;
pub mod impact;
pub mod install;
pub mod keeping;
pub mod library_docs;
pub mod list;
pub mod lsp_code_actions;
pub mod lsp_completion;
pub mod lsp_diagnostics;
pub mod lsp_format;
pub mod lsp_hierarchy;
pub mod lsp_hover;
pub mod lsp_navigate;
pub mod lsp_overlay;
pub mod lsp_rename;
pub mod lsp_servers;
pub mod lsp_signature;
pub mod lsp_symbols;
pub mod marks;
pub mod memory;
pub mod mkdir;
pub mod move_file;
pub mod notebook;
pub mod other_roots;
pub mod overlays;
pub mod patch;
pub mod patience;
pub mod place;
pub mod proposals;
pub mod question;
pub mod read;
pub mod registry;
pub mod remedy;
pub mod resolve_library_id;
pub mod result;
pub mod schema;
pub mod servers;
pub mod set_up;
pub mod shard;
pub mod shell;
pub mod skill;
pub mod skills;
pub mod source;
pub mod speakers;
pub mod spread;
pub mod symbol_search;
pub mod target;
pub mod task;
pub mod todo;
pub mod tool;
pub mod trace;
pub mod trust;
pub mod turns;
pub mod undo;
pub mod web;
pub mod write;
