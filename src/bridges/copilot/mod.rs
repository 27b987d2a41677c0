//! GitHub Copilot: a client of its language server, and a host of its command line's headless mode.
//!
//! - [`server`]: the Copilot language server: start, handshake, our tools registered, its calls answered, documents in step
//! - [`aliases`]: the names that the server's own tools bear, as thin forms of the tools that exist
//! - [`host`]: the command line in its headless mode, with our tools, hooks and rules
//!
//! May use what every bridge may; [`aliases`] knows nothing of protocols, and [`server`] and [`host`] nothing of each other.

pub(crate) mod aliases;
pub(crate) mod host;
pub(crate) mod server;
