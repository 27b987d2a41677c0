//! The state of an MCP session that lets another daemon continue it.
//!
//! Read-only requests are repeated to the next daemon. Calls of tools are not: they may have been
//! carried out, and their caller gets an error that says so. One-time messages of a legacy client
//! (`initialize`, subscriptions, the log level) are sent again, and the responses to these are
//! withheld from the client, which already has them.
//!
//! The daemon's own requests (elicitation and the like) go to the client under ids that no two
//! daemons share. A response to the former daemon must never reach the next one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::bridges::daemon::CALL_LOST;

/// Requests that can be repeated, since a second one has no further effect.
const ASKING: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "skills/get",
    "skills/list",
    "subscriptions/listen",
    "tasks/get",
    "tools/list",
];

/// Long-lived requests that do not depend on others.
const LISTENING: &str = "subscriptions/listen";
/// The number of open requests that are tracked. Further ones are passed on untracked.
const MAX_TRACKED_REQUESTS: usize = 10_000;
/// The size limit of a request that is kept for repetition, in bytes.
const MAX_REPLAYABLE_REQUEST_BYTES: usize = 256 << 10;
/// JSON-RPC 2.0, section 5.1: internal error.
const JSON_RPC_INTERNAL_ERROR: i32 = -32603;

/// The tracked state of the session.
#[derive(Debug, Default)]
pub(super) struct PassthroughConversation {
    /// The number of the current daemon.
    generation: u64,
    /// The messages that every daemon receives first, in this order: `initialize`,
    /// `notifications/initialized`, the log level.
    opening: BTreeMap<OpeningMessage, Vec<u8>>,
    /// The subscriptions, by URI.
    subscriptions: BTreeMap<String, Vec<u8>>,
    /// The open requests, by id.
    open: HashMap<String, OpenPassthroughRequest>,
    /// The ids of repeated messages, whose responses the client already has.
    again: HashSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OpeningMessage {
    Initialize,
    Initialized,
    LogLevel,
}

#[derive(Debug)]
struct OpenPassthroughRequest {
    method: String,
    /// The request, if it can be repeated.
    line: Option<Vec<u8>>,
}

/// The consequences of a lost daemon.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DaemonLoss {
    /// Responses to running calls, for the client.
    pub(crate) answers: Vec<Vec<u8>>,
    /// True if the client waits for a response, so that another daemon is needed at once.
    pub(crate) waits: bool,
}

#[derive(Deserialize)]
struct PassthroughEnvelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ParamsEnvelope {
    params: PassthroughParams,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PassthroughParams {
    uri: Option<String>,
    request_id: Option<Box<RawValue>>,
}

impl PassthroughConversation {
    /// Processes a line of the client. Returns the line for the daemon.
    pub(super) fn on_client_line(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        // An unreadable line is answered by the daemon.
        let Ok(peek) = serde_json::from_slice::<PassthroughEnvelope<'_>>(&line) else { return Some(line) };
        match (peek.method, peek.id) {
            (Some(method), Some(id)) => {
                let (method, id) = (method.into_owned(), id.get().to_owned());
                self.on_request(&method, id, &line);
                Some(line)
            }
            (Some(method), None) => {
                match method.as_ref() {
                    "notifications/initialized" => {
                        self.opening.insert(OpeningMessage::Initialized, line.clone());
                    }
                    "notifications/cancelled" => {
                        if let Some(id) = parse_params(&line).request_id {
                            self.open.remove(id.get());
                        }
                    }
                    _ => {}
                }
                Some(line)
            }
            (None, Some(id)) => {
                let original = self.daemon_id(id.get())?;
                with_value(&line, "id", original)
            }
            (None, None) => Some(line),
        }
    }

    fn on_request(&mut self, method: &str, id: String, line: &[u8]) {
        match method {
            "initialize" => {
                self.opening.insert(OpeningMessage::Initialize, line.to_owned());
            }
            "logging/setLevel" => {
                self.opening.insert(OpeningMessage::LogLevel, line.to_owned());
            }
            "resources/subscribe" if self.subscriptions.len() < MAX_TRACKED_REQUESTS => {
                if let Some(uri) = parse_params(line).uri {
                    self.subscriptions.insert(uri, line.to_owned());
                }
            }
            "resources/unsubscribe" => {
                if let Some(uri) = parse_params(line).uri {
                    self.subscriptions.remove(&uri);
                }
            }
            _ => {}
        }
        if self.open.len() < MAX_TRACKED_REQUESTS {
            let again = ASKING.contains(&method) && line.len() <= MAX_REPLAYABLE_REQUEST_BYTES;
            let line = again.then(|| line.to_owned());
            self.open.insert(id, OpenPassthroughRequest { method: method.to_owned(), line });
        }
    }

    /// Processes a line of the daemon. Returns the line for the client.
    pub(super) fn on_daemon_line(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let Ok(peek) = serde_json::from_slice::<PassthroughEnvelope<'_>>(&line) else { return Some(line) };
        match (peek.method.as_deref(), peek.id) {
            (None, Some(id)) => {
                let id = id.get();
                self.open.remove(id);
                (!self.again.remove(id)).then_some(line)
            }
            (Some(_), Some(id)) => {
                let name = self.client_id(id.get());
                with_value(&line, "id", name)
            }
            (Some("notifications/cancelled"), None) => {
                let Some(id) = parse_params(&line).request_id else { return Some(line) };
                let name = self.client_id(id.get());
                let mut value: Value = serde_json::from_slice(&line).ok()?;
                value["params"]["requestId"] = name;
                as_line(&value)
            }
            _ => Some(line),
        }
    }

    /// Returns the client's id for the daemon's request `id`.
    fn client_id(&self, id: &str) -> Value {
        json!(format!("{}:{id}", self.generation))
    }

    /// Returns the daemon's own id for the client's `name`. Returns `None` if it belongs to a
    /// former daemon.
    fn daemon_id(&self, name: &str) -> Option<Value> {
        let name: String = serde_json::from_str(name).ok()?;
        let (generation, id) = name.split_once(':')?;
        (generation.parse() == Ok(self.generation)).then(|| serde_json::from_str(id).ok())?
    }

    /// Handles the loss of the daemon.
    pub(super) fn on_daemon_lost(&mut self) -> DaemonLoss {
        self.generation += 1;
        self.again.clear();
        let gone: Vec<String> =
            self.open.iter().filter(|(_, open)| open.line.is_none()).map(|(id, _)| id.clone()).collect();
        let answers = gone.iter().filter_map(|id| self.fail_request(id, CALL_LOST)).collect();
        let waits = !self.open.is_empty() || !self.subscriptions.is_empty();
        DaemonLoss { answers, waits }
    }

    /// Returns the messages to send first to the next daemon.
    pub(super) fn replay(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for line in self.opening.values().chain(self.subscriptions.values()) {
            match serde_json::from_slice::<PassthroughEnvelope<'_>>(line)
                .ok()
                .and_then(|peek| Some(peek.id?.get().to_owned()))
            {
                // It is repeated below, and the client waits for its response.
                Some(id) if self.open.contains_key(&id) => {}
                Some(id) => {
                    self.again.insert(id);
                    lines.push(line.clone());
                }
                None => lines.push(line.clone()),
            }
        }
        let open = self.open.values().filter_map(|open| Some((open.method.as_str(), open.line.as_ref()?)));
        // `initialize` comes first if it is still open, and long-lived requests come last.
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|(method, _)| (*method != "initialize", *method == LISTENING));
        let (first, rest) =
            open.split_at(usize::from(open.first().is_some_and(|(method, _)| *method == "initialize")));
        let line = |(_, line): &(&str, &Vec<u8>)| (*line).clone();
        first.iter().map(line).chain(lines).chain(rest.iter().map(line)).collect()
    }

    /// Fails all open requests, since no daemon is available.
    pub(super) fn fail_all(&mut self, reason: &str) -> Vec<Vec<u8>> {
        let ids: Vec<String> = self.open.keys().cloned().collect();
        ids.iter().filter_map(|id| self.fail_request(id, reason)).collect()
    }

    /// Returns an error response to an open request. For a tool call it is a result, which a model
    /// can read.
    fn fail_request(&mut self, id: &str, reason: &str) -> Option<Vec<u8>> {
        let open = self.open.remove(id)?;
        let id: Value = serde_json::from_str(id).ok()?;
        as_line(&match open.method.as_str() {
            "tools/call" => json!({
                "jsonrpc": "2.0", "id": id,
                "result": {"content": [{"type": "text", "text": reason}], "isError": true},
            }),
            _ => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": JSON_RPC_INTERNAL_ERROR, "message": reason}})
            }
        })
    }
}

fn parse_params(line: &[u8]) -> PassthroughParams {
    serde_json::from_slice::<ParamsEnvelope>(line).unwrap_or_default().params
}

/// Returns the message with `value` under `key`.
fn with_value(line: &[u8], key: &str, value: Value) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    *message.get_mut(key)? = value;
    as_line(&message)
}

fn as_line(value: &Value) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(value).ok()?;
    line.push(b'\n');
    Some(line)
}

#[cfg(test)]
mod tests;
