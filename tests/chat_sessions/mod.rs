//! The tools about the user's chats: one test per scenario of their specification, on stores as
//! written by VS Code and Copilot's command line.

mod listing;
mod registration;
mod scenarios;
mod store;
mod stores;
mod switch;
