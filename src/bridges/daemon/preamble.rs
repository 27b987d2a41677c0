//! The first line of a connection, and the daemon's answer to it: one JSON object each, ended by a
//! line feed.
//!
//! The door's own protocol follows.
//!
//! ```text
//! → {"lsp-tools":1,"door":"mcp"}
//! ← {"ok":true,"lsp-tools":1,"version":"0.1.0","pid":4242,"session":"6b1f…"}
//! ```

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::config::Profile;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::policy::caller::CallerAccess;
use crate::runtime::Client;
use crate::tools::api::tool::Caller;

/// The version of the preamble and of the door `command`.
pub(crate) const DAEMON_PROTOCOL_VERSION: u32 = 1;
/// The length limit of a preamble, in bytes.
pub(crate) const LONGEST: usize = 16 << 10;
/// The time limit for the client's preamble.
pub(crate) const PREAMBLE_TIMEOUT: Duration = Duration::from_secs(10);
/// The length of a session id, at least 16 so that it cannot be guessed.
const SESSION_CHARS: std::ops::RangeInclusive<usize> = 16..=128;

/// The first message of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preamble {
    /// The client's protocol version: [`DAEMON_PROTOCOL_VERSION`].
    #[serde(rename = "lsp-tools")]
    pub(crate) protocol: u32,
    /// The requested protocol.
    pub(crate) door: DoorName,
    /// The session to resume: 16 to 128 letters, digits, `-`, `_` and `.`. If absent, a new session
    /// is created and named in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The tool profile, overriding the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Profile>,
    /// Limits MCP answers to text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) text_answers: bool,
    /// Adds the output schemas to MCP lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) output_schemas: bool,
    /// The agent that the client calls for; must exist in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The client's description of itself, for `daemon status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The folder for relative paths; defaults to the root of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// The time limit of calls in milliseconds, overriding the settings' deadlines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    /// Installs a missing server before the first question to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) install: bool,
    /// The language of messages to the user; English by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speech: Option<SpokenLanguage>,
    /// The lengths of the command that follows. Required by the door `command`, unused by the
    /// others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<CommandLengths>,
}

/// The lengths of a command's parts, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandLengths {
    /// The length of the request.
    pub(crate) request: usize,
    /// The length of the piped input; `None` without one.
    pub(crate) input: Option<usize>,
}

/// The protocol after the preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DoorName {
    /// MCP, one message per line.
    Mcp,
    /// LSP, as between an editor and a server.
    Lsp,
    /// One command of the command line.
    Command,
    /// Lists, decisions and calls for another of our doors, as JSON-RPC.
    Tools,
    /// No protocol: the answer is followed by one line with the daemon's status.
    Status,
    /// No protocol: the answer is followed by one line with the startup hints of the workspace.
    Hints,
    /// One line in each direction: opens or closes the page.
    View,
    /// No protocol: the daemon exits, which closes the connection.
    Stop,
}

/// The daemon's answer if it accepts the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// Always true.
    pub(crate) ok: bool,
    /// The daemon's protocol version.
    #[serde(rename = "lsp-tools")]
    pub(crate) protocol: u32,
    /// The daemon's version.
    pub(crate) version: String,
    /// The daemon's process id.
    pub(crate) pid: u32,
    /// The client's session.
    pub session: String,
}

/// The daemon's answer if it refuses the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Always false.
    pub ok: bool,
    /// The reason, for programs.
    pub(crate) code: RefusalCode,
    /// The reason, for users.
    pub error: String,
}

/// Reasons for refusing a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefusalCode {
    /// The first line cannot be parsed.
    BadPreamble,
    /// The client uses another version of the protocol.
    Version,
    /// The limit on clients is reached.
    Busy,
    /// The daemon is about to exit.
    Ending,
    /// The client was started by one of our tools or servers.
    Inside,
    /// The daemon does not have this door.
    NoDoor,
}

/// Reasons why a line cannot be read.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    /// The other side closed the connection first.
    #[error("the connection ended before a whole line")]
    Closed,
    /// The line exceeds the length limit.
    #[error("the line is longer than {0} bytes")]
    TooLong(usize),
    /// The line is not UTF-8.
    #[error("the line is not UTF-8")]
    NotText,
    /// The connection failed.
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
}

impl Preamble {
    /// Creates a preamble for `door` with default values.
    pub(crate) fn new(door: DoorName) -> Self {
        Self {
            protocol: DAEMON_PROTOCOL_VERSION,
            door,
            session: None,
            profile: None,
            text_answers: false,
            output_schemas: false,
            agent: None,
            client: None,
            cwd: None,
            timeout_ms: None,
            install: false,
            speech: None,
            command: None,
        }
    }

    /// Parses a preamble.
    ///
    /// # Errors
    /// The refusal for the client.
    pub(crate) fn read(line: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct PreambleVersion {
            #[serde(rename = "lsp-tools")]
            protocol: u32,
        }
        let unusable = |reason: &dyn std::fmt::Display| {
            let usual = r#"{"lsp-tools":1,"door":"mcp"}"#;
            Refusal::new(
                RefusalCode::BadPreamble,
                format!("the first line is invalid: {reason}; it must be one JSON object such as {usual}"),
            )
        };
        let preamble = match serde_json::from_str::<Self>(line) {
            Ok(preamble) => preamble,
            Err(error) => {
                // A client of another version may send unknown fields.
                if let Ok(version) = serde_json::from_str::<PreambleVersion>(line) {
                    require_protocol(version.protocol)?;
                }
                return Err(unusable(&error));
            }
        };
        require_protocol(preamble.protocol)?;
        if preamble.door == DoorName::Command && preamble.command.is_none() {
            return Err(unusable(&"the door `command` needs `command`, with the lengths of what follows"));
        }
        if let Some(session) = preamble.session.as_deref().filter(|session| !is_session(session)) {
            let reason = format!(
                "`session` has {} characters; accepted: {} to {} letters, digits, `-`, `_` and `.`",
                session.chars().count(),
                SESSION_CHARS.start(),
                SESSION_CHARS.end()
            );
            return Err(unusable(&reason));
        }
        Ok(preamble)
    }

    /// The settings of the client's calls.
    pub(crate) fn client(&self) -> Client {
        Client {
            cwd: self.cwd.clone(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            install_missing: self.install,
            ..Client::default()
        }
    }

    /// The caller of the connection's calls, in `session`.
    pub(crate) fn caller(&self, session: String) -> Caller {
        let access = CallerAccess { profile: self.profile, ..CallerAccess::default() };
        Caller { session, agent: self.agent.clone(), access }
    }
}

fn require_protocol(given: u32) -> Result<(), Refusal> {
    if given == DAEMON_PROTOCOL_VERSION {
        return Ok(());
    }
    Err(Refusal::new(
        RefusalCode::Version,
        format!(
            "this daemon speaks version {DAEMON_PROTOCOL_VERSION} of the protocol, and the client version {given}"
        ),
    ))
}

fn is_session(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    SESSION_CHARS.contains(&name.len()) && name.chars().all(fits)
}

/// Creates a session id that cannot be guessed.
///
/// # Errors
/// The system provides no random numbers.
pub(crate) fn new_session() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

impl Refusal {
    /// Creates a refusal with a code and a message.
    pub(crate) fn new(code: RefusalCode, error: impl Into<String>) -> Self {
        Self { ok: false, code, error: error.into() }
    }
}

/// Serializes `value` as one line.
pub(crate) fn line(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads one line of at most `max` bytes, without its end. Uses no more memory than that. Not
/// cancel safe.
///
/// # Errors
/// No complete line arrives.
pub(crate) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    max: usize,
) -> Result<String, LineError> {
    let mut line = Vec::new();
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return Err(LineError::Closed);
        }
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if line.len() + part.len() > max {
            return Err(LineError::TooLong(max));
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return String::from_utf8(line).map_err(|_| LineError::NotText);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preamble_with_missing_fields_has_defaults() {
        assert_eq!(Preamble::read(r#"{"lsp-tools":1,"door":"mcp"}"#), Ok(Preamble::new(DoorName::Mcp)));
        let written = line(&Preamble::new(DoorName::Stop)).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "{\"lsp-tools\":1,\"door\":\"stop\"}\n");
    }

    #[test]
    fn invalid_preamble_is_refused_with_code_and_reason() {
        for (given, code, said) in [
            ("", RefusalCode::BadPreamble, "EOF"),
            ("GET / HTTP/1.1", RefusalCode::BadPreamble, "such as {\"lsp-tools\":1,\"door\":\"mcp\"}"),
            (r#"{"door":"mcp"}"#, RefusalCode::BadPreamble, "missing field `lsp-tools`"),
            (r#"{"lsp-tools":2,"door":"mcp","new":1}"#, RefusalCode::Version, "the client version 2"),
            (r#"{"lsp-tools":1,"door":"window"}"#, RefusalCode::BadPreamble, "unknown variant `window`"),
            (r#"{"lsp-tools":1,"door":"command"}"#, RefusalCode::BadPreamble, "needs `command`"),
            (
                r#"{"lsp-tools":1,"door":"mcp","sesion":"x"}"#,
                RefusalCode::BadPreamble,
                "unknown field `sesion`",
            ),
            (
                r#"{"lsp-tools":1,"door":"mcp","session":"shell"}"#,
                RefusalCode::BadPreamble,
                "`session` has 5",
            ),
            (
                r#"{"lsp-tools":1,"door":"mcp","session":"../../../../etc/passwd"}"#,
                RefusalCode::BadPreamble,
                "letters",
            ),
        ] {
            let refusal = Preamble::read(given).unwrap_err();
            assert_eq!(refusal.code, code, "{given}");
            assert!(refusal.error.contains(said), "{given}: {}", refusal.error);
        }
    }

    #[test]
    fn new_session_ids_are_valid_and_unique() {
        let (one, other) = (new_session().unwrap(), new_session().unwrap());
        assert!(is_session(&one) && one != other, "{one} {other}");
    }

    #[tokio::test]
    async fn preamble_line_over_limit_is_refused() {
        let mut bytes: &[u8] = b"one\ntwo\nthree";
        assert_eq!(read_line(&mut bytes, 3).await.unwrap(), "one");
        assert_eq!(read_line(&mut bytes, 3).await.unwrap(), "two");
        assert!(matches!(read_line(&mut bytes, 9).await, Err(LineError::Closed)));
        let mut bytes: &[u8] = b"four\n";
        assert!(matches!(read_line(&mut bytes, 3).await, Err(LineError::TooLong(3))));
        let mut bytes: &[u8] = b"\xff\n";
        assert!(matches!(read_line(&mut bytes, 3).await, Err(LineError::NotText)));
    }
}
