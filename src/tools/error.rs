//! Failures of tools: code, message, hint and details.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::policy::request::PolicyDecision;

/// What kind of failure it is; the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No tool has that name.
    UnknownTool,
    /// An argument is missing, wrong or not known.
    InvalidArgs,
    /// The path leads out of the workspace.
    OutsideWorkspace,
    /// There is no such file, symbol or server.
    NotFound,
    /// The file is not UTF-8 text, or no regular file.
    NotText,
    /// The file is larger than the limit.
    TooLarge,
    /// A patch or an edit does not fit the file.
    PatchMismatch,
    /// The file changed while it was being worked on.
    Conflict,
    /// Settings or missing trust forbid it.
    Denied,
    /// It took longer than its deadline.
    Timeout,
    /// The caller went away.
    Cancelled,
    /// The server is not installed.
    ServerMissing,
    /// The server ended or could not be started.
    ServerFailed,
    /// The server does not offer it.
    Unsupported,
    /// A fault of ours.
    Internal,
}

/// A failed call: one sentence to act on, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ToolError {
    /// What kind.
    pub code: ErrorCode,
    /// What was wrong, with what, in one sentence.
    pub error: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The call was right, and this is its answer: what was looked for is not there, or what was to be deleted is used.
    pub is_answer: bool,
    /// What could be found out all the same, as fields of the answer.
    pub details: Option<Box<Map<String, Value>>>,
    /// What the call named and is not there, relative to the root of the workspace; no part of the answer.
    pub(crate) missing_path: Option<Box<str>>,
}

impl ToolError {
    /// A call that the rules deny.
    pub(crate) fn denied(decision: &PolicyDecision) -> Self {
        Self::new(ErrorCode::Denied, decision.why.clone())
    }

    /// A failure of kind `code`.
    pub fn new(code: ErrorCode, error: impl Into<String>) -> Self {
        let error = error.into();
        // Whatever was to be opened then is not what there is to be done about.
        let advice = [(NO_MORE_FILES, MORE_FILES), (NO_MORE_PROCESSES, MORE_THREADS)];
        let hint = advice.iter().find(|(sign, _)| error.contains(sign)).map(|(_, hint)| (*hint).to_owned());
        Self { code, error, hint, is_answer: false, details: None, missing_path: None }
    }

    /// What was looked for is not there, which is an answer. A file or name that a caller got wrong is none.
    pub(crate) fn nothing_found(error: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, error).into_answer()
    }

    /// The same as the answer to a right call.
    pub(crate) fn into_answer(mut self) -> Self {
        self.is_answer = true;
        self
    }

    /// The same with what could be found out all the same: the fields of `answer`, an object.
    pub fn with_details(mut self, answer: &impl Serialize) -> Self {
        if let Ok(Value::Object(details)) = serde_json::to_value(answer) {
            self.details = Some(Box::new(details));
        }
        self
    }

    /// The same about `path`, which is not there: what is like it becomes a hint.
    pub(crate) fn about_missing_path(mut self, path: &str) -> Self {
        self.missing_path = Some(path.into());
        self
    }

    /// The same with what to do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Serialize for ToolError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ok", &false)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("error", &self.error)?;
        if let Some(hint) = &self.hint {
            map.serialize_entry("hint", hint)?;
        }
        for (key, value) in
            self.details.iter().flat_map(|details| details.iter()).filter(|(key, _)| *key != "ok")
        {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolError {
    /// Of what it is written as, which does not say whether it is an answer.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct WrittenToolError {
            code: ErrorCode,
            error: String,
            #[serde(default)]
            hint: Option<String>,
            #[serde(flatten)]
            details: Map<String, Value>,
        }
        let WrittenToolError { code, error, hint, mut details } =
            WrittenToolError::deserialize(deserializer)?;
        details.remove("ok");
        let details = (!details.is_empty()).then(|| Box::new(details));
        Ok(Self { code, error, hint, is_answer: false, details, missing_path: None })
    }
}

/// In the system's words: EMFILE.
const NO_MORE_FILES: &str = "Too many open files (os error 24)";
/// What to do about it.
const MORE_FILES: &str = "raise the limit on open files (`ulimit -n`), and try again";

/// In the system's words: EAGAIN, of a process that cannot be started.
const NO_MORE_PROCESSES: &str = "Resource temporarily unavailable (os error 11)";
/// What is said where the system gives no more threads.
pub(crate) const NO_THREADS: &str = "the system gives lsp-tools no more threads or processes";
/// And what to do about it.
pub(crate) const MORE_THREADS: &str =
    "end what is not needed, or raise the limit: `ulimit -u`, in a container its number of processes (pids)";

/// The failure that a panic with this text stands for, where it is the system's and no fault of ours: libraries know no other way to say
/// that they got no thread.
pub(crate) fn from_panic_text(text: &str) -> Option<ToolError> {
    let no_thread = text.contains("can't spawn worker thread") || text.contains("failed to spawn thread");
    no_thread.then(|| ToolError::new(ErrorCode::Internal, NO_THREADS).with_hint(MORE_THREADS))
}

/// The failure of work on another thread that was not done.
pub(crate) fn join_error(what: &str, error: tokio::task::JoinError) -> ToolError {
    let told = error.to_string();
    let text = error.try_into_panic().map(|panic| panic_text(panic.as_ref())).unwrap_or_default();
    from_panic_text(&text).unwrap_or_else(|| ToolError::new(ErrorCode::Internal, format!("{what}: {told}")))
}

/// What a panic said; empty where it said nothing that is a text.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|what| (*what).to_owned());
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
