//! GitHub Copilot: a client of its language server, and a host of its command line's headless mode.
//!
//! - [`server`]: the Copilot language server: start, handshake, registration of our tools, answers
//!   to its calls, document sync
//! - [`aliases`]: the names of the server's own tools, as thin forms of existing tools
//! - [`host`]: the command line in its headless mode, with our tools, hooks and rules
//!
//! May use the same as every bridge. [`aliases`] does not depend on protocols, and [`server`] and
//! [`host`] do not depend on each other.

pub(crate) mod aliases;
pub(crate) mod host;
pub(crate) mod server;
