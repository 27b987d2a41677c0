//! Resources: diagnostics of a file or the workspace, servers' logs, and files of the workspace.
//!
//! | URI | what it is |
//! |---|---|
//! | `lsp-tools://diagnostics` | the diagnostics of the whole workspace, as `lsp_diagnostics` answers them |
//! | `lsp-tools://diagnostics/{path}` | of one file or folder; can be subscribed to |
//! | `lsp-tools://logs` | the last words of every server that was asked for |
//! | `lsp-tools://logs/{server}` | of one server |
//! | `file:///…` | a text of the workspace, if its rules allow `read` |
//! | `skill://NAME/PATH` | a file of a skill; told by the skills extension alone |
//!
//! Reading goes through the same rules as the tools; where someone would have to be asked, it is refused.

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
use crate::policy::request::PolicyVerdict;
use crate::runtime::Runtime;
use crate::runtime::call::CallRequest;
use crate::tools::error::ToolError;
use crate::tools::tool::Caller;
use crate::workspace::WorkspacePath;

const SCHEME: &str = "lsp-tools";
/// How long a client may keep a list, in milliseconds: it changes only with the program.
const RESOURCE_LIST_TTL_MS: u64 = 3_600_000;
/// The same for a text or for findings: files change at any moment.
const RESOURCE_CONTENT_TTL_MS: u64 = 0;

/// A text with more bytes than this is no resource; it can be read in pages by the tool `read`.
const MAX_RESOURCE_BYTES: u64 = 4 << 20;

/// What a URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResourceTarget {
    /// What is wrong in a file or folder; the root is the whole workspace.
    Diagnostics(WorkspacePath),
    /// The last words of one server, or of all.
    Logs(Option<String>),
    /// A file of the workspace.
    File(WorkspacePath),
    /// A file of a skill, by the skill's name and the path in its folder.
    Skill(String, String),
}

/// What `uri` names.
///
/// # Errors
/// -32602 where it names nothing of ours, or something outside the workspace.
pub(super) fn parse_target(runtime: &Runtime, uri: &str) -> Result<ResourceTarget, ErrorData> {
    let missing =
        || not_found(uri, "there is no such resource; resources/templates/list tells the forms of URIs");
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
            // Relative to the root, whatever folder the client stands in.
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

/// The error for a URI that names nothing. Its code is the one of both eras: -32602 with the URI.
fn not_found(uri: &str, why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("resource not found: {why}"), Some(json!({"uri": uri})))
}

fn for_the_user() -> Annotations {
    Annotations::default().with_audience(vec![Role::User])
}

/// `resources/list`
pub(super) fn list() -> ListResourcesResult {
    let diagnostics = Resource::new("lsp-tools://diagnostics", "diagnostics")
        .with_title("Diagnostics of the workspace")
        .with_description("What the language servers find wrong, in all files")
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

/// `resources/templates/list`
pub(super) fn templates() -> ListResourceTemplatesResult {
    let diagnostics = ResourceTemplate::new("lsp-tools://diagnostics/{+path}", "file-diagnostics")
        .with_title("Diagnostics of a file")
        .with_description(
            "What the language servers find wrong in a file or folder; subscribe to hear of changes",
        )
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

/// Whether there is a template with this URI.
pub(super) fn has_template(uri: &str) -> bool {
    templates().resource_templates.iter().any(|template| template.uri_template == uri)
}

/// `resources/read`
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

/// The diagnostics of `path` as JSON, the same text for the same findings.
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

/// How long was waited differs each time, and says nothing about the file.
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
        let why = format!("no such server was started; started: {}", crate::text::quoted_list(&known));
        return Err(not_found(uri, &why));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
