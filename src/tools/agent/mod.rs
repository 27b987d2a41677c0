//! Tools for an agent's own work: notes, lists, skills, other agents, chats, the web.
//!
//! [`memory`] and [`mod@todo`] keep notes, [`skill`] loads the texts of [`skills`], and [`task`]
//! starts another agent. [`chat`] reads earlier sessions, and [`tool_finder`] calls tools that are
//! not listed. [`web`] has the requests of [`fetch_web_page`], and [`library_docs`] the texts of
//! [`resolve_library_id`] and [`get_library_docs`].

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
