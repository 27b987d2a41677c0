//! The state of an MCP conversation that lets another daemon continue it.
//!
//! Requests that only ask are put again to the next daemon. Calls of tools are not: whether they were carried out is not
//! known, and their caller is told so. What a legacy client has said once and for all (`initialize`, subscriptions, the log
//! level) is said again, and the answers to that are kept from the client, which has had them.
//!
//! The daemon's own requests (elicitation and the like) go to the client under names that no two daemons share: an answer to a
//! question of the former daemon must never become the answer to a question of the next one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::bridges::daemon::CALL_LOST;

/// Requests that may be put twice: they change nothing that the first time has not changed.
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

/// Requests that stand on their own as long as they are open.
const LISTENING: &str = "subscriptions/listen";
/// More open requests are passed on without being remembered.
const MAX_TRACKED_REQUESTS: usize = 10_000;
/// A longer request is not kept to be put again.
const MAX_REPLAYABLE_REQUEST_BYTES: usize = 256 << 10;
/// JSON-RPC 2.0, section 5.1: internal error.
const JSON_RPC_INTERNAL_ERROR: i32 = -32603;

/// What is known of the conversation.
#[derive(Debug, Default)]
pub(super) struct PassthroughConversation {
    /// Which daemon this is.
    generation: u64,
    /// What is said first to every daemon, in this order: `initialize`, `notifications/initialized`, the log level.
    opening: BTreeMap<OpeningMessage, Vec<u8>>,
    /// By the URI subscribed to.
    subscriptions: BTreeMap<String, Vec<u8>>,
    /// By id.
    open: HashMap<String, OpenPassthroughRequest>,
    /// Ids of what was said again: the client has had the answers.
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
    /// The request, where it may be put again.
    line: Option<Vec<u8>>,
}

/// What becomes of the conversation when the daemon is gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DaemonLoss {
    /// For the client: answers to calls that ran.
    pub(crate) answers: Vec<Vec<u8>>,
    /// Whether the client waits for something, so that another daemon is needed before it says anything more.
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
    /// A line of the client: what the daemon gets of it.
    pub(super) fn on_client_line(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        // What cannot be read is the daemon's to answer.
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

    /// A line of the daemon: what the client gets of it.
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

    /// The name under which the client sees the daemon's request `id`.
    fn client_id(&self, id: &str) -> Value {
        json!(format!("{}:{id}", self.generation))
    }

    /// The daemon's own id for what the client calls `name`; `None` where it was a former daemon's.
    fn daemon_id(&self, name: &str) -> Option<Value> {
        let name: String = serde_json::from_str(name).ok()?;
        let (generation, id) = name.split_once(':')?;
        (generation.parse() == Ok(self.generation)).then(|| serde_json::from_str(id).ok())?
    }

    /// The daemon is gone.
    pub(super) fn on_daemon_lost(&mut self) -> DaemonLoss {
        self.generation += 1;
        self.again.clear();
        let gone: Vec<String> =
            self.open.iter().filter(|(_, open)| open.line.is_none()).map(|(id, _)| id.clone()).collect();
        let answers = gone.iter().filter_map(|id| self.fail_request(id, CALL_LOST)).collect();
        let waits = !self.open.is_empty() || !self.subscriptions.is_empty();
        DaemonLoss { answers, waits }
    }

    /// What the next daemon is told first.
    pub(super) fn replay(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for line in self.opening.values().chain(self.subscriptions.values()) {
            match serde_json::from_slice::<PassthroughEnvelope<'_>>(line)
                .ok()
                .and_then(|peek| Some(peek.id?.get().to_owned()))
            {
                // It will be put again below, and its answer is waited for.
                Some(id) if self.open.contains_key(&id) => {}
                Some(id) => {
                    self.again.insert(id);
                    lines.push(line.clone());
                }
                None => lines.push(line.clone()),
            }
        }
        let open = self.open.values().filter_map(|open| Some((open.method.as_str(), open.line.as_ref()?)));
        // A conversation that has not begun begins with its opening, and listening is no hurry.
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|(method, _)| (*method != "initialize", *method == LISTENING));
        let (first, rest) =
            open.split_at(usize::from(open.first().is_some_and(|(method, _)| *method == "initialize")));
        let line = |(_, line): &(&str, &Vec<u8>)| (*line).clone();
        first.iter().map(line).chain(lines).chain(rest.iter().map(line)).collect()
    }

    /// There is no daemon: what everyone who waits is told.
    pub(super) fn fail_all(&mut self, why: &str) -> Vec<Vec<u8>> {
        let ids: Vec<String> = self.open.keys().cloned().collect();
        ids.iter().filter_map(|id| self.fail_request(id, why)).collect()
    }

    /// The answer to an open request that nobody will answer: a failed call is a result that a model can read.
    fn fail_request(&mut self, id: &str, why: &str) -> Option<Vec<u8>> {
        let open = self.open.remove(id)?;
        let id: Value = serde_json::from_str(id).ok()?;
        as_line(&match open.method.as_str() {
            "tools/call" => json!({
                "jsonrpc": "2.0", "id": id,
                "result": {"content": [{"type": "text", "text": why}], "isError": true},
            }),
            _ => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": JSON_RPC_INTERNAL_ERROR, "message": why}})
            }
        })
    }
}

fn parse_params(line: &[u8]) -> PassthroughParams {
    serde_json::from_slice::<ParamsEnvelope>(line).unwrap_or_default().params
}

/// The message with `value` under `key`.
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
