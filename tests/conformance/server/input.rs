//! Tools and a prompt that end with questions to the client, and continue with its answers
//! (SEP-2322).

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    PromptMessage, Role, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::fixtures::tool;
use crate::forms::{field, roots, sampling};
use crate::handler::Fixtures;

pub const PREFIX: &str = "test_input_required_result_";
pub const PROMPT: &str = "test_input_required_result_prompt";

pub fn list() -> Vec<Tool> {
    vec![
        tool("test_input_required_result_elicitation", "Asks for a name", None),
        tool("test_input_required_result_sampling", "Asks the client's model", None),
        tool("test_input_required_result_list_roots", "Asks for the client's roots", None),
        tool("test_input_required_result_request_state", "Remembers by a sealed state", None),
        tool("test_input_required_result_multiple_inputs", "Asks for three things at once", None),
        tool("test_input_required_result_multi_round", "Asks twice", None),
        tool("test_input_required_result_tampered_state", "Refuses a state that was changed", None),
        tool("test_input_required_result_capabilities", "Asks for what the client can do", None),
    ]
}

/// The object under `key` in the responses; other values count as missing.
fn response_for<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    responses?.get(key).filter(|response| response.is_object())
}

fn done(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn requests<const N: usize>(asked: [(&str, InputRequest); N]) -> InputRequests {
    asked.into_iter().map(|(key, request)| (key.to_owned(), request)).collect()
}

fn name() -> Result<InputRequest, ErrorData> {
    field("What is your name?", "name", "string")
}

/// The stage at which a state was sealed; the first call has none.
fn stage(fixtures: &Fixtures, params: &CallToolRequestParams) -> Result<u64, ErrorData> {
    let Some(state) = &params.request_state else { return Ok(0) };
    let opened: Value = fixtures
        .seal
        .open_json(state)
        .map_err(|error| ErrorData::invalid_params(format!("requestState: {error}"), None))?;
    Ok(opened["stage"].as_u64().unwrap_or_default())
}

fn ask(fixtures: &Fixtures, stage: u64, asked: InputRequests) -> Result<CallToolResponse, ErrorData> {
    let sealed = fixtures
        .seal
        .seal_json(&json!({"stage": stage}))
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(asked), Some(sealed)).into())
}

pub fn call(
    fixtures: &Fixtures,
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given = |key: &str| response_for(params.input_responses.as_ref(), key);
    let once = |asked: InputRequests| Ok(InputRequiredResult::from_input_requests(asked).into());
    match params.name.strip_prefix(PREFIX).unwrap_or_default() {
        "elicitation" => match given("user_name") {
            Some(response) => {
                done(format!("Hello, {}!", response["content"]["name"].as_str().unwrap_or_default()))
            }
            None => once(requests([("user_name", name()?)])),
        },
        "sampling" => match given("capital_question") {
            Some(response) => done(format!(
                "Sampling response: {}",
                response["content"]["text"].as_str().unwrap_or_default()
            )),
            None => once(requests([("capital_question", sampling("What is the capital of France?"))])),
        },
        "list_roots" => match given("client_roots") {
            Some(response) => done(format!("Client roots: {}", response["roots"])),
            None => once(requests([("client_roots", roots())])),
        },
        "request_state" | "tampered_state" => match stage(fixtures, params)? {
            0 => ask(fixtures, 1, requests([("confirm", field("Please confirm", "ok", "boolean")?)])),
            _ => done("state-ok"),
        },
        "multiple_inputs" => {
            let keys = ["user_name", "greeting", "client_roots"];
            if stage(fixtures, params)? > 0 && keys.iter().all(|key| given(key).is_some()) {
                return done("All three are here");
            }
            let asked =
                [("user_name", name()?), ("greeting", sampling("Greet somebody")), ("client_roots", roots())];
            ask(fixtures, 1, requests(asked))
        }
        "multi_round" => match stage(fixtures, params)? {
            0 => ask(fixtures, 1, requests([("step1", field("Step 1: your name?", "name", "string")?)])),
            1 => ask(fixtures, 2, requests([("step2", field("Step 2: a colour?", "color", "string")?)])),
            _ => done("Both steps are done"),
        },
        "capabilities" => {
            if params.input_responses.is_some() {
                return done("Answered");
            }
            let client = context.client_capabilities().unwrap_or_default();
            let mut asked = InputRequests::new();
            if client.elicitation.is_some() {
                asked.insert("user_name".to_owned(), name()?);
            }
            if client.sampling.is_some() {
                asked.insert("greeting".to_owned(), sampling("Greet somebody"));
            }
            if client.roots.is_some() {
                asked.insert("client_roots".to_owned(), roots());
            }
            if asked.is_empty() { done("The client can do nothing of it") } else { once(asked) }
        }
        _ => Err(ErrorData::invalid_params(format!("unknown tool: {}", params.name), None)),
    }
}

pub fn prompt(params: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    match response_for(params.input_responses.as_ref(), "user_context") {
        Some(response) => {
            let text =
                format!("The context is {}", response["content"]["context"].as_str().unwrap_or_default());
            Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
        }
        None => {
            let asked = requests([("user_context", field("Which context?", "context", "string")?)]);
            Ok(InputRequiredResult::from_input_requests(asked).into())
        }
    }
}
