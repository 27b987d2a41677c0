//! Conversion of a mounted server's answer to a `ToolResult`.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::{Map, Value, json};

use crate::tools::api::result::{BinaryContent, ResultType, ToolResult};

/// The total size limit of images, audio and files, in base64 bytes.
const MAX_BINARY_BASE64_BYTES: usize = 8 << 20;

/// Converts the result of `tool`. Texts of more than `most` bytes together are truncated with a
/// note.
///
/// | part of the answer | becomes |
/// |---|---|
/// | texts, and texts of resources | `text`, which a model also reads |
/// | `structuredContent` | `structured` |
/// | links to resources | `links`, and a line each for the model |
/// | images, sounds, other resources | binary parts |
/// | `isError` | a failure with the code `server_failed`, its text being the error |
pub(super) fn to_tool_result(tool: &str, answer: CallToolResult, most: usize) -> ToolResult {
    let failed = answer.is_error == Some(true);
    let mut parts = MountResultParts { most: MAX_BINARY_BASE64_BYTES, ..MountResultParts::default() };
    answer.content.into_iter().for_each(|block| parts.add(block));
    let MountResultParts { texts, links, binary, left_out, .. } = parts;
    let mut text = texts.join("\n");
    let original = text.clone();
    let structured = answer.structured_content;
    let mut value = Map::new();
    value.insert("ok".to_owned(), json!(!failed));
    if failed {
        value.insert("code".to_owned(), json!("server_failed"));
    }
    // Many servers send the same content twice, as data and as text.
    let twice = structured
        .as_ref()
        .is_some_and(|data| serde_json::from_str::<Value>(&original).is_ok_and(|original| original == *data));
    let truncated = truncate_bytes(&mut text, most);
    match (failed, text.is_empty()) {
        (true, true) => {
            value.insert("error".to_owned(), json!(format!("{tool} failed, and its server gives no reason")))
        }
        (true, false) => value.insert("error".to_owned(), json!(text)),
        (false, false) if !twice => value.insert("text".to_owned(), json!(text)),
        (false, _) => None,
    };
    let mut notes: Vec<String> = left_out;
    if truncated {
        notes.push(format!(
            "the text has {} bytes, of which the first {} are shown",
            original.len(),
            text.len()
        ));
        value.insert("truncated".to_owned(), json!(true));
    }
    if let Some(data) = structured {
        let size = data.to_string().len();
        match size > most {
            true => notes.push(format!("its structured content has {size} bytes and is left out")),
            false => {
                value.insert("structured".to_owned(), data);
            }
        }
    }
    if !links.is_empty() {
        value.insert("links".to_owned(), Value::Array(links.iter().map(|link| link.0.clone()).collect()));
    }
    if !notes.is_empty() {
        value.insert("notes".to_owned(), json!(notes));
    }
    let lines = links.into_iter().map(|link| link.1).chain(notes);
    let shown: Vec<String> = Some(text).filter(|text| !text.is_empty()).into_iter().chain(lines).collect();
    let shown = Some(shown.join("\n")).filter(|shown| !shown.is_empty());
    let kind = if failed { ResultType::Failure } else { ResultType::Success };
    let text = shown.or_else(|| (!failed && !binary.is_empty()).then(|| format!("{tool} gave no text")));
    ToolResult { kind, text, binary, ..ToolResult::from_value(Value::Object(value)) }
}

#[derive(Default)]
struct MountResultParts {
    texts: Vec<String>,
    /// Each link as data and as a line.
    links: Vec<(Value, String)>,
    binary: Vec<BinaryContent>,
    left_out: Vec<String>,
    /// The remaining size for binary parts.
    most: usize,
}

impl MountResultParts {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text),
            ContentBlock::Image(image) => self.add_binary("image", image.data, Some(image.mime_type), None),
            ContentBlock::Audio(audio) => self.add_binary("audio", audio.data, Some(audio.mime_type), None),
            ContentBlock::ResourceLink(link) => self.links.push(link_data(&link)),
            ContentBlock::Resource(resource) => match resource.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.texts.push(format!("{uri}:\n{text}"))
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    self.add_binary("resource", blob, mime_type, Some(uri));
                }
                _ => self.left_out.push("a resource of an unknown kind is omitted".to_owned()),
            },
            _ => self.left_out.push("a part of an unknown kind is omitted".to_owned()),
        }
    }

    fn add_binary(
        &mut self,
        kind: &str,
        data: String,
        mime_type: Option<String>,
        description: Option<String>,
    ) {
        if data.len() > self.most {
            self.left_out.push(format!("a part ({kind}) of {} bytes in base64 is left out", data.len()));
            return;
        }
        self.most -= data.len();
        let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
        self.binary.push(BinaryContent { data, mime_type, kind: Some(kind.to_owned()), description });
    }
}

fn link_data(link: &Resource) -> (Value, String) {
    let mut data = json!({"uri": link.uri, "name": link.name});
    if let Some(kind) = &link.mime_type {
        data["mime_type"] = json!(kind);
    }
    if let Some(description) = &link.description {
        data["description"] = json!(description);
    }
    (data, format!("resource {}: {}", link.name, link.uri))
}

/// Truncates `text` to `most` bytes, at a character boundary. Returns true if it was longer.
fn truncate_bytes(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(answer: Value, most: usize) -> ToolResult {
        to_tool_result("srv/tool", serde_json::from_value(answer).unwrap(), most)
    }

    #[test]
    fn mcp_content_of_every_type_is_mapped_to_the_result() {
        let answer = json!({
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "AA==", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
                {"type": "resource", "resource": {"uri": "x:1", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "x:2", "blob": "AAAA"}},
                {"type": "audio", "data": "BB==", "mimeType": "audio/wav"},
            ],
            "structuredContent": [1, 2],
        });
        let result = result(answer, 10_000);
        assert!(result.ok());
        assert_eq!(result.text_for_model(), "one\nx:1:\ninside\nresource a: file:///a.txt");
        assert_eq!(
            result.value,
            json!({"ok": true, "text": "one\nx:1:\ninside", "structured": [1, 2], "links": [{"uri": "file:///a.txt", "name": "a"}]})
        );
        let kinds: Vec<_> = result.binary.iter().map(|part| part.kind.clone().unwrap_or_default()).collect();
        assert_eq!(kinds, ["image", "resource", "audio"]);
        assert_eq!(result.binary[1].description.as_deref(), Some("x:2"));
    }

    #[test]
    fn mcp_result_with_is_error_becomes_failure_with_text() {
        let told =
            result(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}), 100);
        assert_eq!(told.kind, ResultType::Failure);
        assert_eq!(told.value, json!({"ok": false, "code": "server_failed", "error": "no such file"}));
        let mute = result(json!({"content": [], "isError": true}), 100);
        assert_eq!(mute.value["error"], "srv/tool failed, and its server gives no reason");
    }

    #[test]
    fn duplicate_structured_content_is_dropped_and_long_text_cut() {
        let answer =
            json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}});
        assert_eq!(result(answer, 100).value, json!({"ok": true, "structured": {"a": 1}}));
        let long = result(
            json!({"content": [{"type": "text", "text": "ä".repeat(100)}], "structuredContent": "x".repeat(60)}),
            51,
        );
        assert_eq!(long.value["text"], "ä".repeat(25));
        assert_eq!(long.value["truncated"], true);
        assert_eq!(long.value.get("structured"), None);
        assert!(long.text_for_model().contains("200 bytes, of which the first 50 are shown"));
    }
}
