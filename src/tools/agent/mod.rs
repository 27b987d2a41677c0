//! Tools for an agent's own work: notes, lists, skills, other agents, chats, the web.

pub(crate) mod chat;
pub(crate) mod fetch_web_page;
pub(crate) mod get_library_docs;
pub(crate) mod library_docs;
pub(crate) mod memory;
pub(crate) mod resolve_library_id;
pub(crate) mod skill;
pub(crate) mod skills;
pub(crate) mod task;
pub(crate) mod todo;
pub(crate) mod tool_finder;
pub(crate) mod web;
