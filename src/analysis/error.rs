//! Failures of tools: code, message, hint and details.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kind of a failure, in the keywords of the public contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No tool has that name.
    UnknownTool,
    /// An argument is missing, invalid or unknown.
    InvalidArgs,
    /// The path leads out of the workspace.
    OutsideWorkspace,
    /// The file, symbol or server does not exist.
    NotFound,
    /// The file is not UTF-8 text, or no regular file.
    NotText,
    /// The file is larger than the limit.
    TooLarge,
    /// A patch or an edit does not fit the file.
    PatchMismatch,
    /// The file changed while it was being worked on.
    Conflict,
    /// Settings, rules or missing trust forbid the call.
    Denied,
    /// The deadline passed.
    Timeout,
    /// The caller cancelled the call or disconnected.
    Cancelled,
    /// The server is not installed.
    ServerMissing,
    /// The server ended or could not be started.
    ServerFailed,
    /// The server does not support the request.
    Unsupported,
    /// An internal error.
    Internal,
}

/// The error of a failed call: its kind, one sentence about the problem, and a hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ToolError {
    /// The kind of the failure.
    pub code: ErrorCode,
    /// The problem and its subject, in one sentence.
    pub error: String,
    /// Advice on how to resolve the problem.
    pub hint: Option<String>,
    /// True if the call was valid and the failure is its answer: nothing was found, or the
    /// definition to delete is used.
    pub is_answer: bool,
    /// Partial results, as fields of the answer.
    pub details: Option<Box<Map<String, Value>>>,
    /// The path from the call that does not exist, relative to the workspace's root. It is not part
    /// of the answer.
    pub(crate) missing_path: Option<Box<str>>,
}

impl ToolError {
    /// An error of kind `code`.
    pub fn new(code: ErrorCode, error: impl Into<String>) -> Self {
        let error = error.into();
        // The hint for an exhausted limit of the system applies to every operation.
        let advice = [(NO_MORE_FILES, MORE_FILES), (NO_MORE_PROCESSES, MORE_THREADS)];
        let hint = advice.iter().find(|(sign, _)| error.contains(sign)).map(|(_, hint)| (*hint).to_owned());
        Self { code, error, hint, is_answer: false, details: None, missing_path: None }
    }

    /// An error as the valid answer that a search found nothing. A wrong file or name in the
    /// arguments is not such an answer.
    pub(crate) fn nothing_found(error: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, error).into_answer()
    }

    /// Marks the error as the answer to a valid call.
    pub(crate) fn into_answer(mut self) -> Self {
        self.is_answer = true;
        self
    }

    /// Adds partial results: the fields of `answer`, an object.
    pub fn with_details(mut self, answer: &impl Serialize) -> Self {
        if let Ok(Value::Object(details)) = serde_json::to_value(answer) {
            self.details = Some(Box::new(details));
        }
        self
    }

    /// Records that `path` does not exist, so that a similar path can be suggested.
    pub(crate) fn about_missing_path(mut self, path: &str) -> Self {
        self.missing_path = Some(path.into());
        self
    }

    /// Adds advice on how to resolve the problem.
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
    /// Reads the written form, which does not contain `is_answer`.
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

/// The text of the operating system's error EMFILE.
const NO_MORE_FILES: &str = "Too many open files (os error 24)";
/// The hint for that error.
const MORE_FILES: &str = "raise the limit on open files (`ulimit -n`), and try again";

/// The text of the operating system's error EAGAIN when a process cannot be started.
const NO_MORE_PROCESSES: &str = "Resource temporarily unavailable (os error 11)";
/// The error if the operating system refuses a new thread.
pub(crate) const NO_THREADS: &str = "the system refuses more threads or processes";
/// The hint for that error.
pub(crate) const MORE_THREADS: &str =
    "end unneeded processes, or raise the limit: `ulimit -u`, in a container its number of processes (pids)";

/// The error for a panic with this text, if the operating system caused it. Some libraries panic if
/// they cannot start a thread.
pub(crate) fn from_panic_text(text: &str) -> Option<ToolError> {
    let no_thread = text.contains("can't spawn worker thread") || text.contains("failed to spawn thread");
    no_thread.then(|| ToolError::new(ErrorCode::Internal, NO_THREADS).with_hint(MORE_THREADS))
}

/// The error for work on another thread that did not finish.
pub(crate) fn join_error(what: &str, error: tokio::task::JoinError) -> ToolError {
    let message = error.to_string();
    let text = error.try_into_panic().map(|panic| panic_text(panic.as_ref())).unwrap_or_default();
    from_panic_text(&text)
        .unwrap_or_else(|| ToolError::new(ErrorCode::Internal, format!("{what}: {message}")))
}

/// The message of a panic; empty if its payload is not text.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|what| (*what).to_owned());
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
