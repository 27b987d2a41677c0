//! The context of an alias, through which its calls go the way of all calls.

use std::path::PathBuf;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::answer::AliasError;
use crate::policy::approval::Approver;
use crate::policy::request::PolicyVerdict;
use crate::runtime::Runtime;
use crate::runtime::call::CallRequest;
use crate::runtime::tool_backend::ToolBackend;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::result::ToolResult;
use crate::tools::tool::Caller;
use crate::workspace::WorkspacePath;

/// What comes along with a call.
#[derive(Clone)]
pub struct AliasCallOptions<'a> {
    /// The backend that carries out the calls of our tools.
    pub backend: &'a dyn ToolBackend,
    /// Who calls.
    pub caller: &'a Caller,
    /// Who is asked where the rules leave it open.
    pub approver: &'a dyn Approver,
    /// Edits of all calls with the same group are undone together: the turn.
    pub group: Option<&'a str>,
    /// Ends the call when its turn is cancelled.
    pub cancelled: CancellationToken,
}

/// What an adapter works with.
pub(super) struct AliasContext<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) options: &'a AliasCallOptions<'a>,
}

/// A tool's successful answer.
pub(super) struct DelegatedResult {
    /// The answer.
    pub(crate) value: Value,
    /// What a hook put in the place of what a model reads.
    replaced: Option<String>,
}

impl From<ToolResult> for DelegatedResult {
    fn from(result: ToolResult) -> Self {
        Self { value: result.value, replaced: result.text }
    }
}

impl DelegatedResult {
    /// What the model reads: `made` of the answer, where nobody replaced it; the answer itself where `made` finds nothing in
    /// it that it knows.
    pub(super) fn text(self, made: impl FnOnce(&Value) -> Option<String>) -> String {
        match self.replaced {
            Some(text) => text,
            None => made(&self.value).unwrap_or_else(|| self.value.to_string()),
        }
    }
}

impl AliasContext<'_> {
    /// Calls a tool of ours, and gives its result whatever it is.
    pub(super) async fn call_tool(&self, tool: &str, arguments: Value) -> ToolResult {
        let AliasCallOptions { backend, caller, approver, group, cancelled } = self.options;
        let request = CallRequest::new(tool, arguments, caller)
            .approved_by(*approver)
            .in_group(*group)
            .with_cancellation(cancelled.clone());
        backend.call(request).await
    }

    /// Calls a tool of ours, which must succeed.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<DelegatedResult, AliasError> {
        let result = self.call_tool(tool, arguments).await;
        match result.ok() {
            true => Ok(DelegatedResult::from(result)),
            false => Err(to_alias_error(&result)),
        }
    }

    /// A path as the server and models give it: absolute, relative, or a `file:` URI. As our tools take it, and as a path of
    /// the workspace.
    pub(super) fn path(&self, given: &str) -> Result<(String, WorkspacePath), AliasError> {
        let plain = match Url::parse(given) {
            Ok(url) if url.scheme() == "file" => {
                let path = url.to_file_path().ok().and_then(|path| path.into_os_string().into_string().ok());
                path.ok_or_else(|| AliasError::new(format!("`{}` names no file here", given.escape_debug())))?
            }
            _ => given.to_owned(),
        };
        let path = self.runtime.context().path(plain.as_ref())?;
        Ok((plain, path))
    }

    /// Paths as our tools take them.
    pub(super) fn plain_paths(&self, given: &[String]) -> Result<Vec<String>, AliasError> {
        given.iter().map(|path| self.path(path).map(|(plain, _)| plain)).collect()
    }

    /// The absolute path of what an answer calls `path`.
    pub(super) fn absolute_path(&self, path: &str) -> Option<PathBuf> {
        let workspace = self.runtime.workspace();
        workspace.path(path.as_ref()).ok().map(|path| workspace.absolute(&path))
    }

    /// The same as text, for answers that name files; `path` itself where it is none.
    pub(super) fn display_path(&self, path: &str) -> String {
        self.absolute_path(path).map_or_else(|| path.to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// The text of a file as it is on disk, if it is one and the rules let the caller read it.
    pub(super) fn text_of(&self, path: &WorkspacePath) -> Option<String> {
        let limit = self.runtime.settings().limits.max_file_bytes;
        self.runtime.text_for(self.options.caller, path, limit, PolicyVerdict::Ask).ok()
    }

    /// The absolute paths of what an edit's answer says it changed, old names of moved files too.
    pub(super) fn changed_paths(&self, answer: &Value) -> Vec<PathBuf> {
        let results =
            answer["results"].as_array().map_or_else(|| std::slice::from_ref(answer), Vec::as_slice);
        let changed = results.iter().filter(|file| file["operation"] != "unchanged");
        let names = changed.flat_map(|file| [file["path"].as_str(), file["from"].as_str()]);
        names.flatten().filter_map(|name| self.absolute_path(name)).collect()
    }
}

/// A failure in the words that the model reads.
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
