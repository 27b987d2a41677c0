//! The options of one session of the MCP server.

use crate::runtime::Client;
use crate::runtime::live::LiveRuntime;
use crate::tools::api::tool::Caller;

/// Options of one session.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The runtime that serves the requests.
    pub live: LiveRuntime,
    /// The caller. The session id must be unique to this session: its approvals are dropped when it
    /// ends.
    pub caller: Caller,
    /// The client's folder and deadlines. Its progress is reported per call.
    pub client: Client,
    /// Limits answers to text, since some hosts give their models both forms of an answer, or the
    /// longer one.
    pub text_answers: bool,
    /// Adds output schemas to lists, which are longer than the rest of them.
    pub output_schemas: bool,
}
