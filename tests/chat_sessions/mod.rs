//! The tools about the user's chats: every scenario of their specification by its name, on stores
//! as VS Code and Copilot's command line write them.

mod listing;
mod registration;
mod scenarios;
mod store;
mod stores;
mod switch;
