//! Resources: diagnostics of a file or the workspace, servers' logs, and files of the workspace.
//!
//! | URI | content |
//! |---|---|
//! | `lsp-tools://diagnostics` | the workspace's diagnostics, as in the answer of `lsp_diagnostics`
//! |
//! | `lsp-tools://diagnostics/{path}` | those of one file or folder; supports subscriptions |
//! | `lsp-tools://logs` | the latest log lines of every requested server |
//! | `lsp-tools://logs/{server}` | those of one server |
//! | `file:///…` | a text of the workspace, if its rules allow `read` |
//! | `skill://NAME/PATH` | a file of a skill; listed by the skills extension alone |
//!
//! Reading applies the same rules as the tools. If it would need approval, it is refused.

use std::path::Path;

use percent_encoding::percent_decode_str;
use rmcp::model::{
    Annotations, CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::skills;
use crate::analysis::error::ToolError;
use crate::policy::request::PolicyVerdict;
use crate::runtime::Runtime;
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::tool::Caller;
use crate::workspace::WorkspacePath;

const SCHEME: &str = "lsp-tools";
/// The time that a client may cache a list, in milliseconds. It changes only with the program.
const RESOURCE_LIST_TTL_MS: u64 = 3_600_000;
/// The time that a client may cache a text or diagnostics, in milliseconds. Files change at any
/// moment.
const RESOURCE_CONTENT_TTL_MS: u64 = 0;

/// The size limit of a text, in bytes. The tool `read` returns larger ones in pages.
const MAX_RESOURCE_BYTES: u64 = 4 << 20;

/// The target of a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResourceTarget {
    /// The diagnostics of a file or folder; the root means the whole workspace.
    Diagnostics(WorkspacePath),
    /// The latest log lines of one server, or of all.
    Logs(Option<String>),
    /// A file of the workspace.
    File(WorkspacePath),
    /// A file of a skill, by the skill's name and the path in its folder.
    Skill(String, String),
}

/// Parses the target of `uri`.
///
/// # Errors
/// -32602 for an unknown URI, or a target outside the workspace.
pub(super) fn parse_target(runtime: &Runtime, uri: &str) -> Result<ResourceTarget, ErrorData> {
    let missing = || not_found(uri, "unknown resource; resources/templates/list lists the URI templates");
    let parsed = Url::parse(uri).map_err(|_| missing())?;
    if parsed.scheme() == "file" {
        let path = runtime.path_of_uri(uri).map_err(|error| not_found(uri, &error.error))?;
        return Ok(ResourceTarget::File(path));
    }
    let is_skill = parsed.scheme() == skills::SCHEME;
    if !(is_skill || parsed.scheme() == SCHEME) || parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(missing());
    }
    let encoded = parsed.path().trim_start_matches('/');
    let rest = percent_decode_str(encoded).decode_utf8().map_err(|_| missing())?.into_owned();
    if is_skill {
        let name = parsed.host_str().filter(|_| !rest.is_empty()).ok_or_else(missing)?;
        return Ok(ResourceTarget::Skill(name.to_owned(), rest));
    }
    match (parsed.host_str(), rest.as_str()) {
        (Some("diagnostics"), path) => {
            let path = if path.is_empty() { "." } else { path };
            // Relative to the root, independent of the client's folder.
            let path = runtime
                .workspace()
                .path(Path::new(path))
                .map_err(|error| not_found(uri, &error.to_string()))?;
            Ok(ResourceTarget::Diagnostics(path))
        }
        (Some("logs"), "") => Ok(ResourceTarget::Logs(None)),
        (Some("logs"), server) => Ok(ResourceTarget::Logs(Some(server.to_owned()))),
        _ => Err(missing()),
    }
}

/// The error for an unknown URI. Its code is that of both eras: -32602 with the URI.
fn not_found(uri: &str, reason: &str) -> ErrorData {
    ErrorData::invalid_params(format!("resource not found: {reason}"), Some(json!({"uri": uri})))
}

fn for_the_user() -> Annotations {
    Annotations::default().with_audience(vec![Role::User])
}

/// `resources/list`.
pub(super) fn list() -> ListResourcesResult {
    let diagnostics = Resource::new("lsp-tools://diagnostics", "diagnostics")
        .with_title("Diagnostics of the workspace")
        .with_description("The findings of the language servers in all files")
        .with_mime_type("application/json");
    let logs = Resource::new("lsp-tools://logs", "logs")
        .with_title("Logs of the language servers")
        .with_description("The last messages and error output of each server that was started")
        .with_mime_type("text/plain")
        .with_annotations(for_the_user());
    ListResourcesResult::with_all_items(vec![diagnostics, logs])
        .with_ttl_ms(RESOURCE_LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// `resources/templates/list`.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let diagnostics = ResourceTemplate::new("lsp-tools://diagnostics/{+path}", "file-diagnostics")
        .with_title("Diagnostics of a file")
        .with_description("The findings of the language servers in a file or folder; subscribe for changes")
        .with_mime_type("application/json");
    let logs = ResourceTemplate::new("lsp-tools://logs/{server}", "server-log")
        .with_title("Log of a language server")
        .with_mime_type("text/plain")
        .with_annotations(for_the_user());
    let file = ResourceTemplate::new("file:///{+path}", "file")
        .with_title("File of the workspace")
        .with_description("The text of a file, by its absolute path");
    ListResourceTemplatesResult::with_all_items(vec![diagnostics, logs, file])
        .with_ttl_ms(RESOURCE_LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// Returns true if a template with this URI exists.
pub(super) fn has_template(uri: &str) -> bool {
    templates().resource_templates.iter().any(|template| template.uri_template == uri)
}

/// `resources/read`.
pub(super) async fn read(
    runtime: Runtime,
    caller: &Caller,
    uri: &str,
    cancelled: CancellationToken,
) -> Result<ReadResourceResult, ErrorData> {
    let contents = match parse_target(&runtime, uri)? {
        ResourceTarget::Diagnostics(path) => {
            if !runtime.workspace().exists(&path) {
                return Err(not_found(uri, &format!("`{}` does not exist", path.display())));
            }
            let text = diagnostics(&runtime, caller, &path, cancelled).await;
            ResourceContents::text(text, uri).with_mime_type("application/json")
        }
        ResourceTarget::Logs(server) => ResourceContents::text(logs(&runtime, uri, server.as_deref())?, uri),
        ResourceTarget::File(path) => {
            let caller = caller.clone();
            let read = move || runtime.text_for(&caller, &path, MAX_RESOURCE_BYTES, PolicyVerdict::Allow);
            let text = tokio::task::spawn_blocking(read)
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?
                .map_err(|error: ToolError| not_found(uri, &error.error))?;
            ResourceContents::text(text, uri)
        }
        ResourceTarget::Skill(name, file) => skills::read(runtime, caller, uri, (name, file))
            .await?
            .map_err(|error| not_found(uri, &error.error))?,
    };
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(RESOURCE_CONTENT_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

/// Returns the diagnostics of `path` as JSON, with equal text for equal findings.
pub(super) async fn diagnostics(
    runtime: &Runtime,
    caller: &Caller,
    path: &WorkspacePath,
    cancelled: CancellationToken,
) -> String {
    let at = runtime.workspace().absolute(path);
    let arguments = json!({"path": at.to_string_lossy()});
    let request = CallRequest::new("lsp_diagnostics", arguments, caller).with_cancellation(cancelled);
    let mut answer = runtime.call(request).await.value;
    without_times(&mut answer);
    answer.to_string()
}

/// Removes waiting times, which differ each time and do not concern the file.
fn without_times(answer: &mut Value) {
    let Value::Object(map) = answer else { return };
    map.remove("waited_ms");
    for key in ["server_status", "servers"] {
        match map.get_mut(key) {
            Some(Value::Array(items)) => items.iter_mut().for_each(without_times),
            Some(inner) => without_times(inner),
            None => {}
        }
    }
}

fn logs(runtime: &Runtime, uri: &str, server: Option<&str>) -> Result<String, ErrorData> {
    let logs = runtime.server_logs();
    let mut text = String::new();
    let mut found = server.is_none();
    for log in logs.iter().filter(|log| server.is_none_or(|server| server == log.server)) {
        found = true;
        let root = if log.root.is_empty() { "." } else { &log.root };
        text.push_str(&format!("== {} in {root}\n", log.server));
        log.lines.iter().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
    }
    if !found {
        let known: Vec<&str> = logs.iter().map(|log| log.server.as_str()).collect();
        let reason = format!("no such server was started; started: {}", crate::text::quoted_list(&known));
        return Err(not_found(uri, &reason));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_content_excludes_waiting_times() {
        let mut answer = json!({
            "count": 1,
            "server_status": {"server": "a", "waited_ms": 5},
            "servers": [{"server": "a", "waited_ms": 5}],
        });
        without_times(&mut answer);
        let stable = json!({"count": 1, "server_status": {"server": "a"}, "servers": [{"server": "a"}]});
        assert_eq!(answer, stable);
    }
}
