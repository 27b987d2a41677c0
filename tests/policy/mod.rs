//! Calls by name, through the rules, approval, hooks, the time limit and the record, with small
//! test tools.

mod access;
mod audit;
mod commands;
mod control;
mod followed;
mod hooks;
mod hooks_files;
mod pipeline;
mod stage;
