//! Servers that need several package managers and must not run a project's code without trust:
//! rust-analyzer and gopls, real ones on request, and the rules behind them with scripted package
//! managers and a scripted server.

mod changes;
mod conditional;
mod hostile;
mod installs;
mod modules;
mod real;
mod symbols;
mod untrusted;
mod ways;
