//! `completion/complete`: paths and symbols for arguments of prompts and resource templates.

use std::time::{Duration, Instant};

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use serde_json::{Value, json};

use crate::runtime::Runtime;
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::tool::Caller;

/// MCP's limit on values.
const MAX_COMPLETION_VALUES: usize = 100;
/// The time limit of a completion, since the user is typing.
const ARGUMENT_COMPLETION_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of files searched for a path.
const MAX_COMPLETION_FILES: usize = 5000;

/// Completes an argument.
///
/// # Errors
/// -32602 for a prompt or template that does not exist.
pub(super) async fn complete(
    runtime: Runtime,
    caller: &Caller,
    params: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let argument = params.argument.name.as_str();
    let known = match &params.r#ref {
        Reference::Prompt(prompt) => super::prompts::has(&prompt.name),
        Reference::Resource(template) => super::resources::has_template(&template.uri),
        _ => false,
    };
    if !known {
        let what = "there is no such prompt or resource template";
        return Err(ErrorData::invalid_params(what, Some(json!({"argument": argument}))));
    }
    let typed = params.argument.value.as_str();
    let context = params.context.as_ref().and_then(|context| context.arguments.as_ref());
    let values = match argument {
        "path" => paths(&runtime, caller, typed).await,
        "symbol" => symbols(&runtime, caller, typed, context.and_then(|known| known.get("path"))).await,
        "server" => {
            let logs = runtime.server_logs().into_iter().map(|log| log.server);
            rank_matches(logs.collect(), typed)
        }
        _ => Vec::new(),
    };
    Ok(CompleteResult::new(info(values)))
}

fn info(mut values: Vec<String>) -> CompletionInfo {
    let total = values.len();
    values.truncate(MAX_COMPLETION_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(total > values.len());
    info.total = u32::try_from(total).ok();
    info.values = values;
    info
}

async fn call_tool(runtime: &Runtime, caller: &Caller, name: &str, arguments: Value) -> Option<Value> {
    let call = runtime.call(CallRequest::new(name, arguments, caller));
    let result = tokio::time::timeout(ARGUMENT_COMPLETION_TIMEOUT, call).await.ok()?;
    result.ok().then_some(result.value)
}

async fn paths(runtime: &Runtime, caller: &Caller, typed: &str) -> Vec<String> {
    let begun = Instant::now();
    let arguments = json!({"pattern": "**", "limit": MAX_COMPLETION_FILES});
    let Some(answer) = call_tool(runtime, caller, "glob", arguments).await else { return Vec::new() };
    let matches = answer["matches"].as_array().into_iter().flatten();
    let found = matches.filter_map(Value::as_str).map(str::to_owned).collect();
    tracing::trace!("paths for a completion within {} ms", begun.elapsed().as_millis());
    rank_matches(found, typed)
}

async fn symbols(runtime: &Runtime, caller: &Caller, typed: &str, path: Option<&String>) -> Vec<String> {
    let arguments = match path {
        Some(path) => json!({"path": path, "limit": 1000}),
        None if typed.is_empty() => return Vec::new(),
        None => json!({"query": typed, "limit": 1000}),
    };
    let Some(answer) = call_tool(runtime, caller, "lsp_symbols", arguments).await else { return Vec::new() };
    let mut found = Vec::new();
    collect_names(&answer["symbols"], "", &mut found);
    rank_matches(found, typed)
}

/// Collects the names of symbols, members below their owners as `Owner.member`.
fn collect_names(symbols: &Value, owner: &str, found: &mut Vec<String>) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let Some(name) = symbol["name"].as_str() else { continue };
        let whole = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
        collect_names(&symbol["children"], &whole, found);
        found.push(whole);
    }
}

/// Returns those of `values` that contain the typed text. First come those that begin with it, then
/// those whose last part does, then the others; shorter ones first.
fn rank_matches(mut values: Vec<String>, typed: &str) -> Vec<String> {
    let wanted = typed.to_lowercase();
    let rank = |value: &str| {
        let value = value.to_lowercase();
        let last = value.rsplit(['/', '.']).next().unwrap_or_default();
        if value.starts_with(&wanted) {
            Some(0)
        } else if last.starts_with(&wanted)
            || value.rsplit('/').next().unwrap_or_default().starts_with(&wanted)
        {
            Some(1)
        } else if value.contains(&wanted) {
            Some(2)
        } else {
            None
        }
    };
    values.retain(|value| rank(value).is_some());
    values.sort_by_cached_key(|value| (rank(value), value.len(), value.clone()));
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn completion_values_with_matching_prefix_come_first() {
        let values = owned(&["lib/app.py", "tests/test_app.py", "app/main.py", "app.py", "other.py"]);
        assert_eq!(
            rank_matches(values, "APP"),
            owned(&["app.py", "app/main.py", "lib/app.py", "tests/test_app.py"])
        );
    }

    #[test]
    fn completion_values_over_hundred_are_cut_with_total() {
        let many = (0..150).map(|number| format!("f{number}")).collect();
        let info = info(many);
        assert_eq!((info.values.len(), info.total, info.has_more), (100, Some(150), Some(true)));
    }
}
