//! Servers that need several package managers and must not run a project's code without trust:
//! rust-analyzer and gopls. The real ones run on request; the rules behind them are tested with
//! scripted package managers and a scripted server.

mod changes;
mod conditional;
mod hostile;
mod installs;
mod modules;
mod real;
mod symbols;
mod untrusted;
mod ways;
