//! The first line of a connection, and the daemon's answer to it: one JSON object each, ended by a line feed. What follows is
//! the door's own protocol.
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
use crate::hints::SpokenLanguage;
use crate::policy::caller::CallerAccess;
use crate::runtime::Client;
use crate::tools::tool::Caller;

/// The version of the preamble and of the door `command`.
pub(crate) const DAEMON_PROTOCOL_VERSION: u32 = 1;
/// The longest preamble, in bytes.
pub(crate) const LONGEST: usize = 16 << 10;
/// How long a client may take to write it.
pub(crate) const PREAMBLE_TIMEOUT: Duration = Duration::from_secs(10);
/// A session's name is not to be guessed, so it is not short.
const SESSION_CHARS: std::ops::RangeInclusive<usize> = 16..=128;

/// What a client says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preamble {
    /// The version of the protocol that it speaks: [`DAEMON_PROTOCOL_VERSION`].
    #[serde(rename = "lsp-tools")]
    pub(crate) protocol: u32,
    /// What it wants to speak.
    pub(crate) door: DoorName,
    /// The session to go on with: 16 to 128 letters, digits, `-`, `_` and `.`; without one it gets a new one, which the answer
    /// names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The choice of tools, instead of the settings'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Profile>,
    /// MCP answers are text alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) text_answers: bool,
    /// MCP lists have the schemas of answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) output_schemas: bool,
    /// The agent on whose behalf it calls; the settings must know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// What it is, for `daemon status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// Where its relative paths begin; by default in the root of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// Milliseconds, instead of the settings' deadlines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    /// Install a missing server before the first question to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) install: bool,
    /// The language that its user is spoken to in; English by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speech: Option<SpokenLanguage>,
    /// How long the command is that follows; needed by the door `command`, and unused by the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<CommandLengths>,
}

/// How long the parts of a command are, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandLengths {
    /// The request.
    pub(crate) request: usize,
    /// What is piped in; `None` where nothing is.
    pub(crate) input: Option<usize>,
}

/// What is spoken after the preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DoorName {
    /// MCP, one message a line.
    Mcp,
    /// LSP, as an editor speaks it to a server.
    Lsp,
    /// One command of the command line.
    Command,
    /// Lists, decisions and calls for another door of ours, as JSON-RPC.
    Tools,
    /// Nothing: the answer is followed by one line, what is to be told of the daemon.
    Status,
    /// Nothing: the answer is followed by one line, a list of what users of the workspace are told at the start.
    Hints,
    /// One line each way: the page for people is opened, or closed.
    View,
    /// Nothing: the daemon ends, and the connection with it.
    Stop,
}

/// The daemon takes the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// Always true.
    pub(crate) ok: bool,
    /// The version of the protocol that it speaks.
    #[serde(rename = "lsp-tools")]
    pub(crate) protocol: u32,
    /// Its own version.
    pub(crate) version: String,
    /// Its process.
    pub(crate) pid: u32,
    /// The client's session.
    pub session: String,
}

/// The daemon does not take the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Always false.
    pub ok: bool,
    /// Why, for programs.
    pub(crate) code: RefusalCode,
    /// Why, for people.
    pub error: String,
}

/// Why a client is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefusalCode {
    /// The first line cannot be understood.
    BadPreamble,
    /// The client speaks another version of the protocol.
    Version,
    /// There are as many clients as there may be.
    Busy,
    /// The daemon is about to end.
    Ending,
    /// The client was started by a tool or a server of ours.
    Inside,
    /// There is no such door here.
    NoDoor,
}

/// A line cannot be had.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    /// The other side went away first.
    #[error("the connection ended before a whole line")]
    Closed,
    /// It is longer than it may be.
    #[error("the line is longer than {0} bytes")]
    TooLong(usize),
    /// It is no text.
    #[error("the line is not UTF-8")]
    NotText,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
}

impl Preamble {
    /// For `door`, with everything else as it usually is.
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

    /// What `line` says.
    ///
    /// # Errors
    /// What is told to the client.
    pub(crate) fn read(line: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct PreambleVersion {
            #[serde(rename = "lsp-tools")]
            protocol: u32,
        }
        let unusable = |why: &dyn std::fmt::Display| {
            let usual = r#"{"lsp-tools":1,"door":"mcp"}"#;
            Refusal::new(
                RefusalCode::BadPreamble,
                format!("the first line cannot be used: {why}; it is one JSON object such as {usual}"),
            )
        };
        let preamble = match serde_json::from_str::<Self>(line) {
            Ok(preamble) => preamble,
            Err(error) => {
                // A client of another version may say things that are not known here.
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
            let why = format!(
                "`session` has {} characters; accepted: {} to {} letters, digits, `-`, `_` and `.`",
                session.chars().count(),
                SESSION_CHARS.start(),
                SESSION_CHARS.end()
            );
            return Err(unusable(&why));
        }
        Ok(preamble)
    }

    /// What its calls bring along.
    pub(crate) fn client(&self) -> Client {
        Client {
            cwd: self.cwd.clone(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            install_missing: self.install,
            ..Client::default()
        }
    }

    /// Who calls through the connection, in `session`.
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
            "this daemon speaks version {DAEMON_PROTOCOL_VERSION} of the protocol, and version {given} was asked for"
        ),
    ))
}

fn is_session(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    SESSION_CHARS.contains(&name.len()) && name.chars().all(fits)
}

/// A session that nobody guesses.
///
/// # Errors
/// When the system gives no random numbers.
pub(crate) fn new_session() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

impl Refusal {
    /// With that code and sentence.
    pub(crate) fn new(code: RefusalCode, error: impl Into<String>) -> Self {
        Self { ok: false, code, error: error.into() }
    }
}

/// `value` as one line.
pub(crate) fn line(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads one line of at most `most` bytes, without its end; never takes more memory than that. Not cancel safe.
///
/// # Errors
/// Where there is none.
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
            (r#"{"lsp-tools":2,"door":"mcp","new":1}"#, RefusalCode::Version, "version 2 was asked for"),
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
