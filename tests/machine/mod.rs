//! Several workspaces of one user on one machine: one memory budget and one queue of starts for all
//! their daemons.
//!
//! - [`neighbours`]: workspaces of one user, and a meter of what their servers use
//! - [`shares`]: budget, queue, death of a daemon, and that nothing starts unasked
//! - [`swarm`]: twenty worktrees with twenty agents (`just swarm`)

mod neighbours;
mod shares;
mod swarm;
