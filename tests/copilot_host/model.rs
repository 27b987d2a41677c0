//! A stand-in model on loopback: it plays the test's answers and records its requests (chat
//! completions, streamed or whole).

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::support::loopback::{JsonReply, serve_json};

/// The answer of the model.
pub enum Says {
    Words(&'static str),
    /// Calls of tools: name and arguments.
    Calls(Vec<(&'static str, Value)>),
}

pub struct Model {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    pub fn new(script: impl Fn(&Value, usize) -> Says + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let address = serve_json(move |_, request| {
            let request = request?;
            let nth = {
                let mut asked = kept.lock().unwrap_or_else(PoisonError::into_inner);
                asked.push(request.clone());
                asked.len() - 1
            };
            Some(reply(&request, nth, script(&request, nth)))
        });
        let address = address.to_string();
        Self { address, asked }
    }

    /// Plays these answers in order, and repeats the last one.
    pub fn saying(answers: Vec<Says>) -> Self {
        Self::new(move |_, nth| {
            let answer = &answers[nth.min(answers.len() - 1)];
            match answer {
                Says::Words(words) => Says::Words(words),
                Says::Calls(calls) => Says::Calls(calls.clone()),
            }
        })
    }

    /// The variables that make the command line use this model only.
    pub fn environment(&self) -> [(&'static str, String); 3] {
        [
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("http://{}/v1", self.address)),
            ("COPILOT_MODEL", "stand-in".to_owned()),
        ]
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The results of tools that the model has received, in order.
    pub fn results(&self) -> Vec<String> {
        let asked = self.asked();
        let last = asked.last().expect("a request")["messages"].as_array().expect("messages").clone();
        let of_tools = last.into_iter().filter(|message| message["role"] == "tool");
        of_tools.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn reply(request: &Value, nth: usize, says: Says) -> JsonReply {
    let (message, finish) = match says {
        Says::Words(words) => (json!({"role": "assistant", "content": words}), "stop"),
        Says::Calls(calls) => {
            let call = |(place, (name, arguments)): (usize, &(&str, Value))| {
                json!({
                    "index": place, "id": format!("call-{nth}-{place}"), "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()},
                })
            };
            let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
            (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let whole = |object: &str, choice: Value| json!({"id": "c", "object": object, "created": 1, "model": "stand-in", "choices": [choice], "usage": usage});
    if request["stream"] == true {
        let object = "chat.completion.chunk";
        let chunks = [
            whole(object, json!({"index": 0, "delta": message, "finish_reason": null})),
            whole(object, json!({"index": 0, "delta": {}, "finish_reason": finish})),
        ];
        let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        ("text/event-stream", text + "data: [DONE]\n\n")
    } else {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        ("application/json", whole("chat.completion", choice).to_string())
    }
}
