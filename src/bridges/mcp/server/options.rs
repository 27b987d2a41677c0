//! What one conversation of the MCP server is served with.

use crate::runtime::Client;
use crate::runtime::live::LiveRuntime;
use crate::tools::tool::Caller;

/// What one conversation is served with.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The runtime that is asked.
    pub live: LiveRuntime,
    /// Who calls. The session's name must be this conversation's own: what was agreed to for a session is forgotten when it ends.
    pub caller: Caller,
    /// Folder and deadlines of this client; its progress is told per call instead.
    pub client: Client,
    /// Answers are text alone: some hosts give their models both forms of an answer, or the longer one.
    pub text_answers: bool,
    /// Lists have the schemas of answers, which are longer than everything else in them.
    pub output_schemas: bool,
}
