//! Tools that reach out of the workspace or come from outside: drop-in tools, library
//! documentation, web pages, and the commands for all tools.

mod drop_in;
mod fetch;
mod library_docs;
mod shell;
mod stage;
