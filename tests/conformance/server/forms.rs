//! Requests of the fixtures to a client: forms, a completion of its model, its roots.

use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ErrorData,
    InputRequest, ListRootsRequest, SamplingMessage,
};
use serde_json::{Value, json};

/// A form with these fields.
///
/// # Errors
/// If `schema` is not a schema of a form.
pub fn form(message: &str, schema: Value) -> Result<ElicitRequestParams, ErrorData> {
    let requested_schema =
        serde_json::from_value(schema).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema,
    })
}

/// A form with one required field, as part of a result.
///
/// # Errors
/// As [`form`].
pub fn field(message: &str, name: &str, kind: &str) -> Result<InputRequest, ErrorData> {
    let schema = json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]});
    Ok(InputRequest::Elicitation(ElicitRequest::new(form(message, schema)?)))
}

/// The request to the client's model for `prompt`.
pub fn completion(prompt: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100)
}

/// The request to the client's model, as part of a result.
pub fn sampling(prompt: &str) -> InputRequest {
    InputRequest::CreateMessage(CreateMessageRequest::new(completion(prompt)))
}

/// The client's roots, as part of a result.
pub fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

/// Fields that all have a default (SEP-1034).
pub fn defaults() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "A name", "default": "John Doe"},
        "age": {"type": "integer", "description": "An age", "default": 30},
        "score": {"type": "number", "description": "A score", "default": 95.5},
        "status": {"type": "string", "description": "A status", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Whether it is verified", "default": true},
    }})
}

/// A choice in each of the five forms (SEP-1330).
pub fn choices() -> Value {
    let titled = |number: u8| json!({"const": format!("value{number}"), "title": format!("Option {number}")});
    let titled = || json!([titled(1), titled(2), titled(3)]);
    let plain = || json!(["option1", "option2", "option3"]);
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": plain()},
        "titledSingle": {"type": "string", "oneOf": titled()},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain()}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled()}},
    }})
}
