//! The fixtures: tools, resources and prompts with fixed answers. Their texts are the suite's.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompletionInfo, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::handler::Fixtures;
use crate::{content, input, tools};

/// The tools, a harmless one first: the suite calls the first tool of the list.
pub fn list() -> Vec<Tool> {
    tools::list().into_iter().chain(input::list()).collect()
}

/// The tool whose parameters are checked against HTTP headers.
pub fn get_tool(name: &str) -> Option<Tool> {
    list().into_iter().find(|tool| tool.name == name)
}

/// The answer of a fixture tool; `None` if `params` names another tool.
pub async fn call(
    fixtures: &Fixtures,
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    if params.name.starts_with(input::PREFIX) {
        return Some(input::call(fixtures, params, context));
    }
    tools::call(fixtures, params, context).await
}

pub fn resources() -> Vec<Resource> {
    content::resources()
}

/// The template.
pub fn templates() -> Vec<ResourceTemplate> {
    content::templates()
}

/// The content of a fixture's resource.
pub fn read(uri: &str) -> Option<ReadResourceResult> {
    content::read(uri)
}

/// Returns true if it supports subscriptions, though it never changes.
pub fn watches(uri: &str) -> bool {
    uri == "test://watched-resource" || content::read(uri).is_some()
}

pub fn prompts() -> Vec<Prompt> {
    content::prompts()
}

/// A fixture's prompt.
pub fn prompt(params: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    if params.name == input::PROMPT {
        return Some(input::prompt(params));
    }
    content::prompt(params).map(|prompt| Ok(prompt.into()))
}

/// Completions for the fixtures' arguments.
pub fn complete(params: &CompleteRequestParams) -> Option<CompletionInfo> {
    let fixture = match &params.r#ref {
        rmcp::model::Reference::Prompt(prompt) => prompt.name.starts_with("test_"),
        rmcp::model::Reference::Resource(template) => template.uri.starts_with("test://"),
        _ => false,
    };
    if !fixture {
        return None;
    }
    let mut info = CompletionInfo::default();
    info.values = ["alpha", "beta"].iter().map(|value| format!("{}{value}", params.argument.value)).collect();
    info.total = Some(2);
    info.has_more = Some(false);
    Some(info)
}

/// A tool without arguments, or with the given ones.
pub fn tool(name: &'static str, description: &'static str, schema: Option<Value>) -> Tool {
    let schema = schema.unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    Tool::new(name, description, schema.as_object().cloned().unwrap_or_default())
}
