//! Fixed contents: an image, a sound, resources, prompts.

use rmcp::model::{
    CacheScope, ContentBlock, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};

/// A PNG of one red pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A WAV file without a sample.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

pub fn image() -> ContentBlock {
    ContentBlock::image(PIXEL, "image/png")
}

pub fn sound() -> ContentBlock {
    ContentBlock::audio(SILENCE, "audio/wav")
}

pub fn embedded_resource(uri: &str, kind: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
}

pub fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "static-text").with_mime_type("text/plain"),
        Resource::new("test://static-binary", "static-binary").with_mime_type("image/png"),
    ]
}

pub fn templates() -> Vec<ResourceTemplate> {
    vec![ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json")]
}

pub fn read(uri: &str) -> Option<ReadResourceResult> {
    let template = || uri.strip_prefix("test://template/")?.strip_suffix("/data");
    let contents = match uri {
        "test://static-text" => ResourceContents::text("The text of a fixture.", uri),
        "test://static-binary" => ResourceContents::blob(PIXEL, uri).with_mime_type("image/png"),
        _ => {
            let id = template()?;
            let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            ResourceContents::text(text.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]).with_ttl_ms(60_000).with_cache_scope(CacheScope::Private))
}

pub fn prompts() -> Vec<Prompt> {
    let arguments = vec![
        PromptArgument::new("arg1").with_description("The first").with_required(true),
        PromptArgument::new("arg2").with_description("The second").with_required(false),
    ];
    let plain = |name: &str| Prompt::new(name, Some("A prompt of the suite"), None);
    vec![
        plain("test_simple_prompt"),
        Prompt::new("test_prompt_with_arguments", Some("A prompt with two arguments"), Some(arguments)),
        plain("test_prompt_with_embedded_resource"),
        plain("test_prompt_with_image"),
        plain(crate::input::PROMPT),
    ]
}

pub fn prompt(params: &GetPromptRequestParams) -> Option<GetPromptResult> {
    let argument = |name: &str| {
        let given = params.arguments.as_ref().and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let says = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match params.name.as_str() {
        "test_simple_prompt" => vec![says("This is a simple test prompt.".to_owned())],
        "test_prompt_with_arguments" => {
            vec![says(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri");
            let uri = if uri.is_empty() { "test://static-text" } else { &uri };
            let resource = embedded_resource(uri, "text/plain", "Embedded resource content for testing.");
            vec![PromptMessage::new(Role::User, resource), says("Look at the resource above.".to_owned())]
        }
        "test_prompt_with_image" => {
            vec![PromptMessage::new(Role::User, image()), says("Look at the image above.".to_owned())]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages).with_description("A prompt of the suite"))
}
