//! Tools with fixed answers.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, ErrorData,
    InputRequests, InputRequiredResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, SamplingCapability, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::content::{embedded_resource, image, sound};
use crate::fixtures::tool;
use crate::forms::{choices, completion, defaults, field, form};
use crate::handler::Fixtures;

/// The pause between two notifications of a tool.
const CONFORMANCE_NOTIFICATION_DELAY: Duration = Duration::from_millis(50);

pub fn list() -> Vec<Tool> {
    let text = |name: &str| {
        Some(json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}))
    };
    vec![
        tool("test_simple_text", "Answers a text", None),
        tool("test_image_content", "Answers an image", None),
        tool("test_audio_content", "Answers a sound", None),
        tool("test_embedded_resource", "Answers a resource", None),
        tool("test_multiple_content_types", "Answers a text, an image and a resource", None),
        tool("test_tool_with_logging", "Logs three times", None),
        tool("test_error_handling", "Fails", None),
        tool("test_tool_with_progress", "Tells of its progress", None),
        tool("test_sampling", "Asks the client's model", text("prompt")),
        tool("test_elicitation", "Asks the client's user", text("message")),
        tool("test_elicitation_sep1034_defaults", "Asks with defaults", None),
        tool("test_elicitation_sep1330_enums", "Asks for choices", None),
        tool("json_schema_2020_12_tool", "Has a schema with the words of 2020-12", Some(schema_2020_12())),
        tool("test_reconnection", "Takes a moment", None),
        tool("test_custom_header", "Has a parameter that is mirrored in a header", Some(mirrored())),
        tool("test_trigger_tool_change", "Says that the list of tools has changed", None),
        tool("test_trigger_prompt_change", "Says that the list of prompts has changed", None),
        tool("test_missing_capability", "Needs sampling", None),
        tool("test_streaming_elicitation", "Ends with a question", None),
        tool("test_logging_tool", "Logs where that is asked for", None),
    ]
}

fn mirrored() -> Value {
    let value = json!({"type": "string", "x-mcp-header": "Value"});
    json!({"type": "object", "properties": {"value": value}, "required": ["value"]})
}

fn schema_2020_12() -> Value {
    let address = json!({
        "$anchor": "addressDef",
        "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": address},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

pub async fn call(
    fixtures: &Fixtures,
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let argument = |name: &str| {
        let given = params.arguments.as_ref().and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let content = match params.name.as_ref() {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![sound()],
        "test_embedded_resource" => {
            vec![embedded_resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]
        }
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            image(),
            embedded_resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into()));
        }
        "test_tool_with_logging" => log(context).await,
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                say(context, level, "a level was asked for").await;
            }
            vec![ContentBlock::text("logged")]
        }
        "test_tool_with_progress" => progress(context).await,
        "test_sampling" => return Some(sample(context, &argument("prompt")).await),
        "test_elicitation" => {
            let names = json!({"username": {"type": "string"}, "email": {"type": "string"}});
            let schema = json!({"type": "object", "properties": names, "required": ["username", "email"]});
            return Some(elicit(context, &argument("message"), schema).await);
        }
        "test_elicitation_sep1034_defaults" => {
            return Some(elicit(context, "With defaults", defaults()).await);
        }
        "test_elicitation_sep1330_enums" => return Some(elicit(context, "With choices", choices()).await),
        "json_schema_2020_12_tool" => vec![ContentBlock::text(argument("name"))],
        "test_custom_header" => vec![ContentBlock::text(argument("value"))],
        "test_reconnection" => {
            tokio::time::sleep(2 * CONFORMANCE_NOTIFICATION_DELAY).await;
            vec![ContentBlock::text("here again")]
        }
        "test_trigger_tool_change" => {
            if let Err(error) = fixtures.add_tool() {
                return Some(Err(error));
            }
            vec![ContentBlock::text("told")]
        }
        "test_trigger_prompt_change" => {
            fixtures.prompts.send_modify(|count| *count += 1);
            vec![ContentBlock::text("told")]
        }
        "test_missing_capability" => {
            if context.client_capabilities().is_none_or(|client| client.sampling.is_none()) {
                let mut needed = ClientCapabilities::default();
                needed.sampling = Some(SamplingCapability::default());
                return Some(Err(ErrorData::missing_required_client_capability(needed)));
            }
            vec![ContentBlock::text("it is there")]
        }
        "test_streaming_elicitation" => return Some(question()),
        _ => return None,
    };
    Some(Ok(CallToolResult::success(content).into()))
}

fn question() -> Result<CallToolResponse, ErrorData> {
    let mut requests = InputRequests::new();
    requests.insert("value".to_owned(), field("Give a value", "value", "string")?);
    Ok(InputRequiredResult::from_input_requests(requests).into())
}

async fn say(context: &RequestContext<RoleServer>, level: LoggingLevel, text: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(text)).with_logger("conformance");
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::warn!("a fixture could not log to its client: {error}");
    }
}

async fn log(context: &RequestContext<RoleServer>) -> Vec<ContentBlock> {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        say(context, LoggingLevel::Info, text).await;
        tokio::time::sleep(CONFORMANCE_NOTIFICATION_DELAY).await;
    }
    vec![ContentBlock::text("logged three times")]
}

async fn progress(context: &RequestContext<RoleServer>) -> Vec<ContentBlock> {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, done).with_total(100.0);
            if let Err(error) = context.peer.notify_progress(told).await {
                tracing::warn!("a fixture could not tell of its progress: {error}");
            }
        }
        tokio::time::sleep(CONFORMANCE_NOTIFICATION_DELAY).await;
    }
    vec![ContentBlock::text("done")]
}

async fn sample(context: &RequestContext<RoleServer>, prompt: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(match context.peer.create_message(completion(prompt)).await {
        Ok(result) => {
            let said = serde_json::to_value(&result.message.content).unwrap_or_default();
            let text = said.pointer("/text").or_else(|| said.pointer("/0/text")).and_then(Value::as_str);
            let text = format!("LLM response: {}", text.unwrap_or_default());
            CallToolResult::success(vec![ContentBlock::text(text)])
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
    .into())
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    schema: Value,
) -> Result<CallToolResponse, ErrorData> {
    Ok(match context.peer.create_elicitation(form(message, schema)?).await {
        Ok(result) => {
            let said = serde_json::to_value(&result).unwrap_or_default();
            let text = format!(
                "action={}, content={}",
                said["action"].as_str().unwrap_or_default(),
                said["content"]
            );
            CallToolResult::success(vec![ContentBlock::text(text)])
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
    .into())
}
