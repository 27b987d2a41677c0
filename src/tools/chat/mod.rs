//! Tools over the user's chats with assistants, offered only where the user switched them on.
//!
//! Chats are private. All of this is switched off unless the user's own settings say `enabled = true` under `[chats]`; a
//! project's settings cannot say it. Switched off, the tools are in no list, and a call is denied and says how to switch them
//! on. And only sessions of this workspace are told of: those that were held in its root or in a folder below it.
//!
//! What lives here: the tools ([`requests`], [`sessions`]), what they are made on ([`chat_tool`]: one shape for what is told, what
//! cannot be told, and what went wrong), what a [`session`] is, and the [`stores`] that sessions come from: VS Code's
//! ([`vscode`], with [`vscode_log`] for its newer form) and those of Copilot's command line ([`copilot_cli`]). May use: `context`,
//! `tool`, `timestamp`, `config`, `workspace`.
//!
//! How data passes: a tool is given whoever knows the sessions ([`session::ChatSessionFinder`]) when it is made. A call has that look at
//! the stores, each through a jail of its own, so that no link in them leads elsewhere; files that are broken or no sessions
//! are passed over with a reason.

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
use super::error::ToolError;
use super::registry::Registry;

/// The names of all of them.
pub(crate) const NAMES: [&str; 3] =
    [requests::GET_REQUEST, requests::GET_FIRST_REQUEST, sessions::CHAT_SESSIONS];

/// What a call is told where they are switched off.
pub(crate) const SWITCHED_OFF: &str = "it tells of the user's chats, which is switched off; the user can switch it on with \
                                `enabled = true` under [chats] in their own lsp-tools.toml";

/// Adds them, over the stores of this machine.
///
/// # Errors
/// Where a name is taken.
pub(crate) fn add(registry: &mut Registry) -> Result<(), ToolError> {
    let stores = Arc::new(Stores);
    registry.add_any(Arc::new(requests::get_request(stores.clone())))?;
    registry.add_any(Arc::new(requests::get_first_request(stores.clone())))?;
    registry.add(sessions::ChatSessions::new(stores))
}
