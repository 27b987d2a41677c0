//! The content of a scenario. The head of `main.rs` explains each key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::documents::Encoding;
use crate::frames::Style;

/// The methods that can have answers in the behaving server.
const BEHAVING: [&str; 9] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "workspace/symbol",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/diagnostic",
];

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    pub behaves: bool,
    pub log: Option<PathBuf>,
    pub server_info: Option<Value>,
    pub capabilities: Value,
    pub sync: SyncKind,
    pub encoding: Encoding,
    pub announce: bool,
    pub hover_version: bool,
    pub answers: BTreeMap<String, Answer>,
    pub diagnostics: Diagnostics,
    pub index: Option<Index>,
    pub configuration: Option<Configuration>,
    pub crash: Option<Crash>,
    pub rules: Vec<Rule>,
    pub frame: Style,
    pub stderr: Vec<String>,
    pub exit: Exit,
    pub fork_child: Option<ForkChild>,
    pub lives_s: u64,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            behaves: false,
            log: None,
            server_info: None,
            capabilities: Value::Object(serde_json::Map::new()),
            sync: SyncKind::default(),
            encoding: Encoding::default(),
            announce: true,
            hover_version: true,
            answers: BTreeMap::new(),
            diagnostics: Diagnostics::default(),
            index: None,
            configuration: None,
            crash: None,
            rules: Vec::new(),
            frame: Style::default(),
            stderr: Vec::new(),
            exit: Exit::default(),
            fork_child: None,
            lives_s: 120,
        }
    }
}

impl Scenario {
    /// Reads a scenario given as JSON or as the path of a file.
    pub fn load(given: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let json = if given.trim_start().starts_with('{') {
            given.to_owned()
        } else {
            std::fs::read_to_string(given)?
        };
        let scenario: Self = serde_json::from_str(&json).map_err(|error| format!("bad scenario: {error}"))?;
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), String> {
        let raw_only = [
            (
                "answers of this method",
                self.answers.keys().any(|method| !BEHAVING.contains(&method.as_str())),
            ),
            ("diagnostics.idle", self.diagnostics.idle.is_some()),
            ("configuration", self.configuration.is_some()),
            ("crash", self.crash.is_some()),
            ("rules", !self.rules.is_empty()),
            ("frame", self.frame != Style::Good),
            ("exit", self.exit != Exit::Normal),
            ("answers.*.never", self.answers.values().any(|answer| answer.never)),
            ("answers.*.frame", self.answers.values().any(|answer| answer.frame != Style::Good)),
            ("answers.*.reply", self.answers.values().any(|answer| answer.reply != Reply::Normal)),
            ("answers.*.ignores_cancel", self.answers.values().any(|answer| answer.ignores_cancel)),
        ];
        match raw_only.iter().find(|(_, used)| *used) {
            Some((key, _)) if self.behaves => Err(format!("bad scenario: `{key}` needs `behaves: false`")),
            _ if self.crash.as_ref().is_some_and(|crash| crash.times.is_some()) && self.log.is_none() => {
                Err("bad scenario: `crash.times` needs `log`, starts are counted beside it".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncKind {
    None = 0,
    Full = 1,
    #[default]
    Incremental = 2,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// `Some(Null)` if the scenario has `null`, `None` if it has nothing (the right answer is
    /// given).
    #[serde(deserialize_with = "present")]
    pub result: Option<Value>,
    pub error: Option<ErrorSpec>,
    pub delay_ms: u64,
    pub never: bool,
    #[serde(deserialize_with = "present")]
    pub while_indexing: Option<Value>,
    pub first: Option<First>,
    pub frame: Style,
    pub reply: Reply,
    pub ignores_cancel: bool,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSpec {
    pub code: i64,
    #[serde(default)]
    pub message: String,
    pub data: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    pub times: usize,
    pub error: ErrorSpec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    #[default]
    Normal,
    Twice,
    NullId,
    UnknownId,
    StringId,
    Empty,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Diagnostics {
    pub mode: Mode,
    pub register_after_ms: Option<u64>,
    pub debounce_ms: u64,
    pub stale_first: bool,
    pub twice: bool,
    pub empty_pushes: usize,
    pub empty_delay_ms: u64,
    pub only_on_save: bool,
    pub silent_when_same: bool,
    pub version_offset: i64,
    pub items: Option<Value>,
    pub idle: Option<Idle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    PushVersioned,
    PushUnversioned,
    Pull,
    None,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    pub method: String,
    pub field: String,
    pub busy: String,
    pub done: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Index {
    pub ms: u64,
    pub title: String,
    pub steps: u32,
    pub begins_on: Begin,
    pub delay_ms: u64,
    pub progress: bool,
    pub server_status: bool,
    pub never_ends: bool,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            ms: 500,
            title: "Indexing".to_owned(),
            steps: 4,
            begins_on: Begin::Initialized,
            delay_ms: 0,
            progress: true,
            server_status: false,
            never_ends: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    Initialized,
    DidOpen,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub sections: Vec<String>,
    #[serde(default)]
    pub holds: bool,
    #[serde(default)]
    pub exits_on_null: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    pub at: CrashAt,
    #[serde(default)]
    pub code: i32,
    #[serde(default)]
    pub abort: bool,
    #[serde(default)]
    pub stderr: Vec<String>,
    pub times: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashAt {
    Start,
    Initialize,
    Initialized,
    DidOpen,
    DidChange,
    DidSave,
    FirstRequest,
    MidReply,
    Shutdown,
}

impl CrashAt {
    /// The method that it waits for, if it is a single one.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Self::Initialize => Some("initialize"),
            Self::Initialized => Some("initialized"),
            Self::DidOpen => Some("textDocument/didOpen"),
            Self::DidChange => Some("textDocument/didChange"),
            Self::DidSave => Some("textDocument/didSave"),
            Self::Shutdown => Some("shutdown"),
            Self::Start | Self::FirstRequest | Self::MidReply => None,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub at: String,
    #[serde(default)]
    pub when: When,
    #[serde(default = "once")]
    pub times: usize,
    #[serde(default)]
    pub delay_ms: u64,
    #[serde(rename = "do")]
    pub action: Action,
}

fn once() -> usize {
    1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    Before,
    #[default]
    After,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    Junk(Vec<String>),
    Bytes(String),
    Frame(Style),
    Message(Value),
    Notify { method: String, params: Value },
    Request { method: String, params: Value, id: Option<Value> },
    Flood { count: usize },
    Huge { bytes: usize },
    Drip { text: String, every_ms: u64 },
    Deaf {},
    Crash { code: i32, stderr: Vec<String> },
    Complain(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    #[default]
    Normal,
    NeedsEof,
    Refuses,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkChild {
    pub marker: String,
    #[serde(default)]
    pub ignores_sigterm: bool,
    #[serde(default)]
    pub setsid: bool,
    #[serde(default)]
    pub holds_stdout: bool,
}
