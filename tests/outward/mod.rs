//! Tools that reach out of the workspace or come from outside of it: dropped-in tools, library documentation, web pages,
//! and the command line's way to all tools.

mod drop_in;
mod fetch;
mod library_docs;
mod shell;
mod stage;
