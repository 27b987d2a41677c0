//! A stand-in for the models of hosts, on loopback: it plays the test's answers in each host's own
//! protocol, and records its requests.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::support::loopback::{JsonReply, serve_json};

/// The next answer of the model.
#[derive(Debug, Clone)]
pub enum Says {
    Words(&'static str),
    /// A call of a tool; text arguments are those of a tool without a schema.
    Calls(&'static str, Value),
}

pub struct Model {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Plays the first of these before any tool result, and so on; requests without tools get an
    /// empty answer.
    pub fn saying(steps: Vec<Says>) -> Self {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let address = serve_json(move |path, request| {
            let request = request.unwrap_or_default();
            let reply = answer(path, &request, &steps);
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(request);
            Some(reply)
        });
        let address = format!("http://{address}");
        Self { address, asked }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// The last request with tools.
    pub fn last(&self) -> Value {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().rev().find(|request| has_tools(request)).cloned().unwrap_or_default()
    }

    /// The conversation so far, for failure messages.
    pub fn shown(&self) -> String {
        let last = self.last();
        let said = ["messages", "contents", "input"].into_iter().find_map(|list| last[list].as_array());
        let short =
            |message: &Value| message.to_string().chars().take(3_000).chain(['\n']).collect::<String>();
        said.into_iter().flatten().skip(1).map(short).collect()
    }

    /// Every text of the last request from the first occurrence of `mark` on, each once.
    pub fn told(&self, mark: &str) -> Vec<String> {
        fn collect(value: &Value, mark: &str, found: &mut Vec<String>) {
            match value {
                Value::String(text) => {
                    let part = text.find(mark).map(|at| text[at..].to_owned());
                    found.extend(part.filter(|part| !found.contains(part)));
                }
                Value::Array(items) => items.iter().for_each(|item| collect(item, mark, found)),
                Value::Object(map) => map.values().for_each(|item| collect(item, mark, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        collect(&self.last(), mark, &mut found);
        found
    }
}

fn has_tools(request: &Value) -> bool {
    request["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

const EVENTS: &str = "text/event-stream";
const WHOLE: &str = "application/json";

fn answer(path: &str, request: &Value, steps: &[Says]) -> JsonReply {
    let results = |list: &str, inner: &str, kinds: &[&str]| -> usize {
        let is_result = |part: &Value| {
            kinds
                .iter()
                .any(|kind| part["type"] == *kind || part["role"] == *kind || part.get(kind).is_some())
        };
        let messages = request[list].as_array().into_iter().flatten();
        messages
            .map(|message| match message[inner].as_array() {
                Some(parts) => parts.iter().filter(|part| is_result(part)).count(),
                None => usize::from(is_result(message)),
            })
            .sum()
    };
    let step = |done: usize| match has_tools(request) {
        true => (steps[done.min(steps.len() - 1)].clone(), done),
        false => (Says::Words("Nothing."), done),
    };
    if path.contains("count_tokens") || path.contains("countTokens") {
        (WHOLE, json!({"input_tokens": 1, "totalTokens": 1}).to_string())
    } else if path.contains("/messages") {
        anthropic(&step(results("messages", "content", &["tool_result"])), request["stream"] == true)
    } else if path.contains("enerateContent") {
        gemini(&step(results("contents", "parts", &["functionResponse"])), path.contains("stream"))
    } else if path.contains("/responses") {
        let kinds = ["function_call_output", "custom_tool_call_output"];
        responses(&step(results("input", "none", &kinds)))
    } else if path.contains("/chat/completions") {
        completions(&step(results("messages", "none", &["tool"])), request["stream"] == true)
    } else {
        (WHOLE, json!({"data": [], "models": []}).to_string())
    }
}

/// Events with their names, as Anthropic and OpenAI send them.
fn named_events(events: &[(&str, Value)]) -> String {
    let one = |(name, data): &(&str, Value)| {
        let mut data = data.clone();
        data["type"] = json!(name);
        format!("event: {name}\ndata: {data}\n\n")
    };
    events.iter().map(one).collect()
}

fn anthropic((says, nth): &(Says, usize), streamed: bool) -> (&'static str, String) {
    let (block, start, delta, reason) = match says {
        Says::Words(words) => (
            json!({"type": "text", "text": words}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": words}),
            "end_turn",
        ),
        Says::Calls(name, input) => {
            let id = format!("toolu_{nth}");
            (
                json!({"type": "tool_use", "id": id, "name": name, "input": input}),
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
                "tool_use",
            )
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = |content: Value, reason: Value| {
        json!({
            "id": "m", "type": "message", "role": "assistant", "model": "stand-in", "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage,
        })
    };
    if !streamed {
        return (WHOLE, message(json!([block]), json!(reason)).to_string());
    }
    let stop = json!({"stop_reason": reason, "stop_sequence": null});
    let events = [
        ("message_start", json!({"message": message(json!([]), Value::Null)})),
        ("content_block_start", json!({"index": 0, "content_block": start})),
        ("content_block_delta", json!({"index": 0, "delta": delta})),
        ("content_block_stop", json!({"index": 0})),
        ("message_delta", json!({"delta": stop, "usage": {"output_tokens": 1}})),
        ("message_stop", json!({})),
    ];
    (EVENTS, named_events(&events))
}

fn gemini((says, nth): &(Says, usize), streamed: bool) -> (&'static str, String) {
    let part = match says {
        Says::Words(words) => json!({"text": words}),
        Says::Calls(name, input) => {
            json!({"functionCall": {"name": name, "args": input, "id": format!("call-{nth}")}})
        }
    };
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    });
    if streamed { (EVENTS, format!("data: {whole}\n\n")) } else { (WHOLE, whole.to_string()) }
}

fn responses((says, nth): &(Says, usize)) -> (&'static str, String) {
    let (id, call) = (format!("item-{nth}"), format!("call-{nth}"));
    let item = match says {
        Says::Words(words) => {
            json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": words}]})
        }
        Says::Calls(name, Value::String(input)) => {
            json!({"type": "custom_tool_call", "id": id, "call_id": call, "name": name, "input": input})
        }
        Says::Calls(name, input) => {
            json!({"type": "function_call", "id": id, "call_id": call, "name": name, "arguments": input.to_string()})
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    let events = [
        ("response.created", json!({"response": {"id": "r"}})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": {"id": "r", "usage": usage}})),
    ];
    (EVENTS, named_events(&events))
}

fn completions((says, nth): &(Says, usize), streamed: bool) -> (&'static str, String) {
    let (message, reason) = match says {
        Says::Words(words) => (json!({"role": "assistant", "content": words}), "stop"),
        Says::Calls(name, input) => {
            let function = json!({"name": name, "arguments": input.to_string()});
            let call =
                json!({"index": 0, "id": format!("call-{nth}"), "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let whole = |object: &str, choice: Value| json!({"id": "c", "object": object, "created": 1, "model": "stand-in", "choices": [choice], "usage": usage});
    if !streamed {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return (WHOLE, whole("chat.completion", choice).to_string());
    }
    let chunk = |choice: Value| format!("data: {}\n\n", whole("chat.completion.chunk", choice));
    let first = chunk(json!({"index": 0, "delta": message, "finish_reason": null}));
    let last = chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}));
    (EVENTS, format!("{first}{last}data: [DONE]\n\n"))
}
