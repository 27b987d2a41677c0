//! The context of an alias, through which it makes regular calls of our tools.

use std::path::PathBuf;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::answer::AliasError;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::Approver;
use crate::policy::request::PolicyVerdict;
use crate::runtime::Runtime;
use crate::runtime::calls::call::CallRequest;
use crate::runtime::tool_backend::ToolBackend;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::Caller;
use crate::workspace::WorkspacePath;

/// Options of a call.
#[derive(Clone)]
pub struct AliasCallOptions<'a> {
    /// The backend that carries out the calls of our tools.
    pub backend: &'a dyn ToolBackend,
    /// The caller.
    pub caller: &'a Caller,
    /// Approves calls that the rules leave undecided.
    pub approver: &'a dyn Approver,
    /// The undo group of the edits: the turn.
    pub group: Option<&'a str>,
    /// Cancels the call together with its turn.
    pub cancelled: CancellationToken,
}

/// The context of an adapter.
pub(super) struct AliasContext<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) options: &'a AliasCallOptions<'a>,
}

/// A tool's successful answer.
pub(super) struct DelegatedResult {
    /// The answer.
    pub(crate) value: Value,
    /// The text that a hook substituted for the model's text.
    replaced: Option<String>,
}

impl From<ToolResult> for DelegatedResult {
    fn from(result: ToolResult) -> Self {
        Self { value: result.value, replaced: result.text }
    }
}

impl DelegatedResult {
    /// Returns the text for the model. If no hook replaced it, this is `made` of the answer, or the
    /// answer's JSON if `made` returns `None`.
    pub(super) fn text(self, made: impl FnOnce(&Value) -> Option<String>) -> String {
        match self.replaced {
            Some(text) => text,
            None => made(&self.value).unwrap_or_else(|| self.value.to_string()),
        }
    }
}

impl AliasContext<'_> {
    /// Calls one of our tools, and returns its result, successful or not.
    pub(super) async fn call_tool(&self, tool: &str, arguments: Value) -> ToolResult {
        let AliasCallOptions { backend, caller, approver, group, cancelled } = self.options;
        let request = CallRequest::new(tool, arguments, caller)
            .approved_by(*approver)
            .in_group(*group)
            .with_cancellation(cancelled.clone());
        backend.call(request).await
    }

    /// Calls one of our tools, and returns an error unless it succeeds.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<DelegatedResult, AliasError> {
        let result = self.call_tool(tool, arguments).await;
        match result.ok() {
            true => Ok(DelegatedResult::from(result)),
            false => Err(to_alias_error(&result)),
        }
    }

    /// Parses a path from the server or a model: absolute, relative, or a `file:` URI. Returns it
    /// in our tools' form and as a workspace path.
    pub(super) fn path(&self, given: &str) -> Result<(String, WorkspacePath), AliasError> {
        let plain = match Url::parse(given) {
            Ok(url) if url.scheme() == "file" => {
                let path = url.to_file_path().ok().and_then(|path| path.into_os_string().into_string().ok());
                path.ok_or_else(|| {
                    AliasError::new(format!("`{}` is not a file of the workspace", given.escape_debug()))
                })?
            }
            _ => given.to_owned(),
        };
        let path = self.runtime.context().path(plain.as_ref())?;
        Ok((plain, path))
    }

    /// Converts paths to our tools' form.
    pub(super) fn plain_paths(&self, given: &[String]) -> Result<Vec<String>, AliasError> {
        given.iter().map(|path| self.path(path).map(|(plain, _)| plain)).collect()
    }

    /// Returns the absolute path of `path` as spelled in an answer.
    pub(super) fn absolute_path(&self, path: &str) -> Option<PathBuf> {
        let workspace = self.runtime.workspace();
        workspace.path(path.as_ref()).ok().map(|path| workspace.absolute(&path))
    }

    /// Returns the absolute path as text for answers that name files; `path` itself if it is not in
    /// the workspace.
    pub(super) fn display_path(&self, path: &str) -> String {
        self.absolute_path(path).map_or_else(|| path.to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// Reads a file from disk. Returns `None` if it is not a text file, or the rules hide it from
    /// the caller.
    pub(super) fn text_of(&self, path: &WorkspacePath) -> Option<String> {
        let limit = self.runtime.settings().limits.max_file_bytes;
        self.runtime.text_for(self.options.caller, path, limit, PolicyVerdict::Ask).ok()
    }

    /// Returns the absolute paths of the files that an edit changed, including old names of moved
    /// files.
    pub(super) fn changed_paths(&self, answer: &Value) -> Vec<PathBuf> {
        let results =
            answer["results"].as_array().map_or_else(|| std::slice::from_ref(answer), Vec::as_slice);
        let changed = results.iter().filter(|file| file["operation"] != "unchanged");
        let names = changed.flat_map(|file| [file["path"].as_str(), file["from"].as_str()]);
        names.flatten().filter_map(|name| self.absolute_path(name)).collect()
    }
}

/// Converts a failure to the text for the model.
pub(super) fn to_alias_error(result: &ToolResult) -> AliasError {
    let word = |name: &str| result.value[name].as_str();
    match (&result.text, word("error")) {
        (Some(text), _) => AliasError::new(text.clone()),
        (None, Some(error)) => {
            let error = ToolError {
                hint: word("hint").map(str::to_owned),
                ..ToolError::new(ErrorCode::Internal, error)
            };
            AliasError::from(error)
        }
        (None, None) => AliasError::new(result.value.to_string()),
    }
}
