//! Tools over the user's chats with assistants, offered only if the user switched them on.
//!
//! Chats are private. The tools are switched off unless the user's own settings contain
//! `enabled = true` under `[chats]`; a project's settings cannot switch them on. When they are off,
//! the tools are in no list, and the error of a call says how to switch them on. Only sessions of
//! this workspace are returned: those in its root or in a folder below it.
//!
//! The module contains the tools ([`requests`], [`sessions`]), their common form ([`chat_tool`]),
//! the type of a [`session`], and the [`stores`] that sessions come from: VS Code's ([`vscode`],
//! with [`vscode_log`] for its newer form) and those of Copilot's command line
//! ([`copilot_cli`]). It may use `analysis`, `tools::api`, `config` and `workspace`.
//!
//! A tool is created with a [`session::ChatSessionFinder`]. A call lets it read the stores, each
//! through its own jail, so that no link in them leads elsewhere. Broken files and files of other
//! kinds are skipped with a reason.

pub(crate) mod chat_tool;
mod copilot_cli;
pub(crate) mod requests;
pub(crate) mod session;
pub(crate) mod sessions;
mod store_files;
pub(crate) mod stores;
mod vscode;
mod vscode_data;
mod vscode_log;

use std::sync::Arc;

use self::stores::Stores;
use crate::analysis::error::ToolError;
use crate::tools::api::registry::Registry;

/// The names of all chat tools.
pub(crate) const NAMES: [&str; 3] =
    [requests::GET_REQUEST, requests::GET_FIRST_REQUEST, sessions::CHAT_SESSIONS];

/// The error of a call while they are switched off.
pub(crate) const SWITCHED_OFF: &str = "it reads the user's chats, which is disabled; the user can enable it with \
                                `enabled = true` under [chats] in their own lsp-tools.toml";

/// Adds the tools, over the stores of this machine.
///
/// # Errors
/// If a name is taken.
pub(crate) fn add(registry: &mut Registry) -> Result<(), ToolError> {
    let stores = Arc::new(Stores);
    registry.add_any(Arc::new(requests::get_request(stores.clone())))?;
    registry.add_any(Arc::new(requests::get_first_request(stores.clone())))?;
    registry.add(sessions::ChatSessions::new(stores))
}
