//! The merge of several servers' responses into one.

use serde_json::{Value, json};

use super::context::EditorContext;
use super::editor_capabilities::EditorCapabilities;
use super::features::{AnswerMerge, Feature};
use super::ticket::Ticket;
use crate::lsp::relay;
use crate::lsp::session::live_session::Session;

/// The response if no server has a result.
pub(super) fn empty_result(feature: &Feature) -> Value {
    if feature.join == AnswerMerge::All { json!([]) } else { Value::Null }
}

/// Returns true if a response has no content.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Attaches tickets to a server's response, so that follow-up requests reach the same server.
pub(super) fn with_ticket(feature: &Feature, mut value: Value, ticket: &Ticket, session: &Session) -> Value {
    match feature.method {
        "textDocument/completion" => {
            expand_item_defaults(&mut value);
            if session.resolves("completionItem/resolve") {
                let list = if value.is_object() { &mut value["items"] } else { &mut value };
                attach_all(list, ticket);
            }
        }
        "textDocument/codeAction" | "textDocument/codeLens" => {
            for item in value.as_array_mut().into_iter().flatten() {
                attach_to_follow_up(feature.method, item, ticket, session);
            }
        }
        "textDocument/documentLink" | "textDocument/inlayHint" => {
            let resolve = feature.method.trim_start_matches("textDocument/").to_owned() + "/resolve";
            if session.resolves(&resolve) {
                attach_all(&mut value, ticket);
            }
        }
        "textDocument/prepareCallHierarchy" | "textDocument/prepareTypeHierarchy" => {
            attach_all(&mut value, ticket);
        }
        _ => {}
    }
    value
}

fn attach_all(list: &mut Value, ticket: &Ticket) {
    list.as_array_mut().into_iter().flatten().for_each(|item| ticket.attach(item));
}

/// Like `with_ticket`, for a single item and for responses to follow-up requests.
pub(super) fn attach_to_follow_up(method: &str, value: &mut Value, ticket: &Ticket, session: &Session) {
    match method {
        "callHierarchy/incomingCalls" | "callHierarchy/outgoingCalls" => {
            for call in value.as_array_mut().into_iter().flatten() {
                for end in ["from", "to"] {
                    if let Some(item) = call.get_mut(end) {
                        ticket.attach(item);
                    }
                }
            }
        }
        "typeHierarchy/supertypes" | "typeHierarchy/subtypes" => attach_all(value, ticket),
        _ if value["command"].is_string() => ticket.wrap_command(value, session),
        _ => {
            if value["command"].is_object() {
                ticket.wrap_command(&mut value["command"], session);
            }
            let resolve = match method {
                "textDocument/codeAction" => "codeAction/resolve",
                "textDocument/codeLens" => "codeLens/resolve",
                other => other,
            };
            if session.resolves(resolve) {
                ticket.attach(value);
            }
        }
    }
}

/// Copies LSP 3.17 *CompletionList* `itemDefaults` into the items, since not every editor supports
/// them.
fn expand_item_defaults(value: &mut Value) {
    let Some(defaults) = value.as_object_mut().and_then(|list| list.remove("itemDefaults")) else { return };
    for item in value["items"].as_array_mut().into_iter().flatten() {
        let typed = item["textEditText"].as_str().or(item["label"].as_str()).unwrap_or_default().to_owned();
        if item.get("textEdit").is_none() {
            let range = &defaults["editRange"];
            if range["start"].is_object() {
                item["textEdit"] = json!({ "newText": typed, "range": range });
            } else if range["insert"].is_object() {
                item["textEdit"] = json!({ "newText": typed, "range": range["insert"] });
            }
        }
        for name in ["data", "commitCharacters", "insertTextFormat", "insertTextMode"] {
            if item.get(name).is_none()
                && let Some(default) = defaults.get(name)
            {
                item[name] = default.clone();
            }
        }
    }
}

/// Merges the responses into one; at least one is given.
pub(super) fn merge_answers(feature: &Feature, mut answers: Vec<Value>) -> Value {
    match feature.join {
        AnswerMerge::Hovers if answers.len() > 1 => {
            let texts: Vec<String> =
                answers.iter().filter_map(|hover| relay::markdown(&hover["contents"])).collect();
            let range = answers.iter().find_map(|hover| hover.get("range").cloned());
            let contents = json!({ "kind": "markdown", "value": texts.join("\n\n---\n\n") });
            match range {
                Some(range) => json!({ "contents": contents, "range": range }),
                None => json!({ "contents": contents }),
            }
        }
        AnswerMerge::All => {
            let lists = answers.into_iter().filter_map(|list| match list {
                Value::Array(items) => Some(items),
                _ => None,
            });
            lists.flatten().collect()
        }
        AnswerMerge::First | AnswerMerge::Completions | AnswerMerge::Hovers => answers.swap_remove(0),
    }
}

/// Adapts the response to `method` to an editor that lacks a capability we announced to the
/// servers.
pub(super) fn adapt_to_client(context: &EditorContext, method: &str, value: &mut Value) {
    let Some(greeting) = context.capabilities() else { return };
    match method {
        "textDocument/definition"
        | "textDocument/declaration"
        | "textDocument/typeDefinition"
        | "textDocument/implementation" => {
            if greeting.has_capability(&format!("/{method}/linkSupport")) {
                return;
            }
            let links = value.as_array_mut().into_iter().flatten();
            for link in links.filter(|link| link["targetUri"].is_string()) {
                *link = json!({ "uri": link["targetUri"], "range": link["targetSelectionRange"] });
            }
        }
        "textDocument/rename" => adapt_edit_to_client(context, value),
        "textDocument/codeAction" => {
            for action in value.as_array_mut().into_iter().flatten() {
                adapt_edit_to_client(context, &mut action["edit"]);
            }
        }
        "codeAction/resolve" => adapt_edit_to_client(context, &mut value["edit"]),
        _ => {}
    }
}

/// Adapts one LSP 3.17 *WorkspaceEdit* to the editor's capabilities.
pub(super) fn adapt_edit_to_client(context: &EditorContext, edit: &mut Value) {
    let versioned =
        |greeting: &EditorCapabilities| greeting.has_capability("/workspace/workspaceEdit/documentChanges");
    if !context.capabilities().is_some_and(versioned) {
        flatten_changes(edit);
    }
}

/// LSP 3.17 *WorkspaceEdit*: converts `documentChanges` to `changes` if they only change texts.
fn flatten_changes(edit: &mut Value) {
    let Some(changes) = edit["documentChanges"].as_array() else { return };
    if changes.iter().any(|change| change["kind"].is_string()) {
        return;
    }
    let mut flat = serde_json::Map::new();
    for change in changes {
        let Some(uri) = change["textDocument"]["uri"].as_str() else { continue };
        let known = flat.entry(uri).or_insert_with(|| json!([]));
        let edits = change["edits"].as_array().into_iter().flatten().cloned();
        known.as_array_mut().into_iter().for_each(|known| known.extend(edits.clone()));
    }
    *edit = json!({ "changes": flat });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_item_defaults_are_spread_to_each_item() {
        let range = json!({"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}});
        let mut list = json!({
            "isIncomplete": false,
            "itemDefaults": {"editRange": range, "data": 7},
            "items": [{"label": "a"}, {"label": "b", "textEditText": "bb", "data": 8}],
        });
        expand_item_defaults(&mut list);
        let edit = |text: &str| json!({"newText": text, "range": range});
        assert_eq!(
            list,
            json!({"isIncomplete": false, "items": [
                {"label": "a", "textEdit": edit("a"), "data": 7},
                {"label": "b", "textEditText": "bb", "data": 8, "textEdit": edit("bb")},
            ]})
        );
    }

    #[test]
    fn document_changes_become_changes_by_uri_without_resource_operations() {
        let change =
            |uri: &str, text: &str| json!({"textDocument": {"uri": uri, "version": 1}, "edits": [text]});
        let mut edit = json!({"documentChanges": [change("a", "1"), change("b", "2"), change("a", "3")]});
        flatten_changes(&mut edit);
        assert_eq!(edit, json!({"changes": {"a": ["1", "3"], "b": ["2"]}}));
        let moved = json!({"documentChanges": [{"kind": "rename"}]});
        let mut kept = moved.clone();
        flatten_changes(&mut kept);
        assert_eq!(kept, moved);
    }
}
