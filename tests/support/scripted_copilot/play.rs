//! Turns, step by step.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::wire::Wire;

/// The limit of every wait.
const LONGEST: Duration = Duration::from_secs(60);

pub struct Stage {
    wire: Arc<Wire>,
    cancelled: Mutex<Vec<Value>>,
    heard: Condvar,
}

/// The turn of a step.
struct Scene<'a> {
    token: &'a Value,
    conversation: String,
    turn: String,
    calls: u64,
    error: Option<Value>,
}

impl Stage {
    pub fn new(wire: Arc<Wire>) -> Self {
        Self { wire, cancelled: Mutex::default(), heard: Condvar::new() }
    }

    pub fn cancel(&self, token: &Value) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
        self.heard.notify_all();
    }

    /// Steps outside of any turn.
    pub fn opening(&self, steps: &[Value]) {
        let mut scene = Scene::new(&Value::Null, "none".to_owned(), 0);
        for step in steps {
            self.step(&mut scene, step);
        }
    }

    pub fn turn(&self, id: &Value, params: &Value, number: usize, steps: &[Value]) {
        let known = params["conversationId"].as_str().map(str::to_owned);
        let conversation = known.unwrap_or_else(|| format!("c{number}"));
        let mut scene = Scene::new(&params["workDoneToken"], conversation, number);
        self.progress(&scene, json!({"kind": "begin", "title": "a turn"}));
        for step in steps {
            if let Some(fault) = step.get("fail") {
                let code = fault["code"].as_i64().unwrap_or_default();
                let message = fault["message"].as_str().unwrap_or_default().to_owned();
                return self.wire.answer(id, Err((code, message)));
            }
            self.step(&mut scene, step);
        }
        let mut end = json!({"kind": "end"});
        if let Some(error) = &scene.error {
            end["error"] = error.clone();
        }
        self.progress(&scene, end);
        let answer =
            json!({"conversationId": scene.conversation, "turnId": scene.turn, "modelName": "The usual one"});
        self.wire.answer(id, Ok(answer));
    }

    fn progress(&self, scene: &Scene<'_>, mut value: Value) {
        if let Some(value) = value.as_object_mut() {
            value.entry("conversationId").or_insert(json!(scene.conversation));
            value.entry("turnId").or_insert(json!(scene.turn));
        }
        self.wire.notify("$/progress", &json!({"token": scene.token, "value": value}));
    }

    fn step(&self, scene: &mut Scene<'_>, step: &Value) {
        let Some((name, what)) = step.as_object().and_then(|step| step.iter().next()) else {
            panic!("a step is an object: {step}");
        };
        match name.as_str() {
            "invoke" => self.together(scene, std::slice::from_ref(what)),
            "together" => self.together(scene, what.as_array().expect("a list of calls")),
            "start" => {
                let params = scene.call(what);
                let _unheard = self.wire.ask("conversation/invokeClientTool", &params);
            }
            "confirm" => {
                let params = scene.call(what);
                self.ask("conversation/invokeClientToolConfirmation", &params);
            }
            "request" => self.ask(what["method"].as_str().expect("a method"), &what["params"]),
            "notify" => self.wire.notify(what["method"].as_str().expect("a method"), &what["params"]),
            "reply" => self.progress(scene, json!({"kind": "report", "reply": what})),
            "progress" => self.progress(scene, what.clone()),
            "wait_cancel" => self.wait_cancel(scene.token),
            "wait_file" => wait_file(Path::new(what.as_str().expect("a path"))),
            "exit" => self.wire.exit(i32::try_from(what.as_i64().expect("a status")).expect("a status")),
            "error" => scene.error = Some(what.clone()),
            other => panic!("unknown step `{other}`"),
        }
    }

    fn ask(&self, method: &str, params: &Value) {
        let answer = self.wire.ask(method, params).recv_timeout(LONGEST).unwrap_or_default();
        self.noted(method, params, &answer);
    }

    fn together(&self, scene: &mut Scene<'_>, calls: &[Value]) {
        let method = "conversation/invokeClientTool";
        let asked: Vec<_> = calls
            .iter()
            .map(|call| {
                let params = scene.call(call);
                (self.wire.ask(method, &params), params)
            })
            .collect();
        for (answer, params) in asked {
            self.noted(method, &params, &answer.recv_timeout(LONGEST).unwrap_or_default());
        }
    }

    fn noted(&self, method: &str, params: &Value, answer: &Value) {
        let noted = json!({"method": method, "params": params, "answer": answer});
        self.wire.journal.event("answered", noted);
    }

    fn wait_cancel(&self, token: &Value) {
        let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.heard.wait_timeout_while(cancelled, LONGEST, |all| !all.contains(token));
        assert!(waited.is_ok_and(|(_, timeout)| !timeout.timed_out()), "the turn is not cancelled");
    }
}

impl<'a> Scene<'a> {
    fn new(token: &'a Value, conversation: String, number: usize) -> Self {
        Self { token, conversation, turn: format!("t{number}"), calls: 0, error: None }
    }

    /// `given`, completed with missing fields; values other than objects are unchanged.
    fn call(&mut self, given: &Value) -> Value {
        let Some(given) = given.as_object() else { return given.clone() };
        self.calls += 1;
        let mut params = Map::new();
        params.insert("conversationId".to_owned(), json!(self.conversation));
        params.insert("turnId".to_owned(), json!(self.turn));
        // A number in some versions, a string in others.
        let round =
            if self.calls.is_multiple_of(2) { json!(self.calls) } else { json!(self.calls.to_string()) };
        params.insert("roundId".to_owned(), round);
        params.insert("toolCallId".to_owned(), json!(format!("call_{}", self.calls)));
        params.extend(given.clone());
        Value::Object(params)
    }
}

fn wait_file(path: &Path) {
    let end = Instant::now() + LONGEST;
    while !path.exists() {
        assert!(Instant::now() < end, "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}
