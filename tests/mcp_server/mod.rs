//! `lsp-tools mcp`, driven by clients of both eras, right and wrong ones.

mod approval;
mod batches;
mod calls;
mod changes;
mod crowd;
mod endings;
mod handles;
mod http;
mod lists;
mod malformed;
mod pressure;
mod roots;
mod skills;
mod tasks;
