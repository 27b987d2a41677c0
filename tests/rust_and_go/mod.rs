//! Servers that take more than one package manager to have, and that must not run what a project says: rust-analyzer and gopls,
//! for real where that is asked for, and the rules behind them with package managers and a server of our own.

mod changes;
mod conditional;
mod hostile;
mod installs;
mod modules;
mod real;
mod symbols;
mod untrusted;
mod ways;
