//! A Copilot language server with scripted behaviour, false reports included: test equipment.
//!
//! It is a cargo example. `scripted-copilot SCENARIO` speaks LSP's frames on stdin and stdout;
//! SCENARIO is JSON, or the path of a JSON file. `{}` is a well-behaved server without a signed-in
//! user. It imitates measurements of the real one: requests before `initialized` are refused
//! (-32002), a list of tools is checked as a whole (-32602 with pointers), and requests without
//! signing in get 1000.
//!
//! | key | meaning |
//! |---|---|
//! | `log` | file that gets one JSON object per line, like that of the scripted language server |
//! | `user` | the signed-in user, if any |
//! | `refuses` | names of tools because of which the list is refused |
//! | `refuses_all` | true: the list is refused without a reason |
//! | `own` | names of its own tools; five if absent |
//! | `hides` | accepted names that are omitted from the answer |
//! | `list` | the answer instead of the list |
//! | `models` | the models instead of the default one |
//! | `turns` | list of scripts; the n-th turn plays the n-th, later turns the last one |
//! | `at_start` | steps played after `initialized` |
//! | `crash` | `{at, times}`: ends with status 3 at `initialize` or `create`, in the first `times` processes |
//! | `sign_in` | `already`, or `refused` |
//!
//! A script is a list of steps, one after the other:
//!
//! | step | does |
//! |---|---|
//! | `{"invoke": {name, input, …}}` | calls a tool and waits for the answer; the params are completed |
//! | `{"together": [params, …]}` | calls several tools at once |
//! | `{"start": {name, input, …}}` | calls a tool, and does not wait |
//! | `{"confirm": {…}}` | asks for permission to run a tool, and waits |
//! | `{"request": {method, params}}` | sends any request, and waits |
//! | `{"notify": {method, params}}` | sends any notification |
//! | `{"reply": text}`, `{"progress": value}` | progress of the turn |
//! | `{"wait_cancel": true}` | waits until the turn is cancelled |
//! | `{"wait_file": path}` | waits until the file exists |
//! | `{"exit": status}` | ends at once, during the turn |
//! | `{"fail": {code, message}}` | the turn ends with this error |
//! | `{"error": …}` | its last progress carries this error |
//!
//! The log has, beside messages: `start`, `answered` (`method`, `params`, `answer`: the whole
//! message) for each response to a request of the server, `exit`.

#[allow(dead_code, reason = "the scripted language server notes more kinds of things")]
#[path = "../scripted_server/journal.rs"]
mod journal;
mod list;
mod play;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::journal::Journal;
use crate::list::List;
use crate::play::Stage;
use crate::wire::{Wire, read};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    log: Option<PathBuf>,
    user: Option<String>,
    refuses: Vec<String>,
    refuses_all: bool,
    own: Option<Vec<String>>,
    hides: Vec<String>,
    list: Option<Value>,
    models: Option<Value>,
    turns: Vec<Vec<Value>>,
    at_start: Vec<Value>,
    crash: Option<Crash>,
    sign_in: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crash {
    at: String,
    times: usize,
}

fn main() -> ExitCode {
    let given = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&given).unwrap_or(given);
    match serde_json::from_str::<Scenario>(&text) {
        Ok(scenario) => {
            Server::new(scenario).run();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("scripted-copilot: {error}");
            ExitCode::from(2)
        }
    }
}

struct Server {
    scenario: Arc<Scenario>,
    wire: Arc<Wire>,
    stage: Arc<Stage>,
    list: List,
    initialized: bool,
    user: Option<String>,
    turns: usize,
    /// The number of this process in the scenario.
    number: usize,
}

impl Server {
    fn new(scenario: Scenario) -> Self {
        let journal = Journal::open(scenario.log.as_deref()).expect("the log can be written");
        let starts = scenario.log.as_ref().and_then(|log| std::fs::read_to_string(log).ok());
        let number = starts.map_or(0, |log| log.matches("\"event\":\"start\"").count()) + 1;
        journal.event("start", json!({"number": number}));
        let scenario = Arc::new(scenario);
        let wire = Arc::new(Wire::new(journal));
        let stage = Arc::new(Stage::new(wire.clone()));
        let list = List::new();
        let user = scenario.user.clone();
        Self { scenario, wire, stage, list, initialized: false, user, turns: 0, number }
    }

    fn run(&mut self) {
        let mut input = std::io::stdin().lock();
        while let Some(message) = read(&mut input) {
            self.wire.journal.got(&message);
            match (message["method"].as_str(), message.get("id")) {
                (Some(method), Some(id)) => self.request(method, id, &message["params"]),
                (Some("exit"), None) => {
                    self.wire.journal.event("exit", json!({"code": 0}));
                    return;
                }
                (Some(method), None) => self.notification(method, &message["params"]),
                (None, _) => self.wire.answered(message),
            }
        }
    }

    fn crash(&self, at: &str) {
        if self.scenario.crash.as_ref().is_some_and(|crash| crash.at == at && self.number <= crash.times) {
            self.wire.exit(3);
        }
    }

    fn request(&mut self, method: &str, id: &Value, params: &Value) {
        if method == "initialize" {
            self.crash("initialize");
            let known = params["initializationOptions"]["editorPluginInfo"]["name"].is_string();
            assert!(known, "the client does not say which plugin it is");
            let info = json!({"name": "Scripted Copilot", "version": "1.0"});
            return self.wire.answer(id, Ok(json!({"capabilities": {}, "serverInfo": info})));
        }
        if !self.initialized {
            return self.wire.answer(id, Err((-32002, "Server not initialized".to_owned())));
        }
        let nobody = || Err((1000, "Not authenticated: NotSignedIn".to_owned()));
        let answer = match method {
            "shutdown" => Ok(Value::Null),
            "checkStatus" => Ok(self.status()),
            "conversation/registerTools" => self.list.register(&self.scenario, params),
            "conversation/unregisterTools" => Ok(self.list.unregister(params)),
            "signIn" => self.sign_in(),
            "signInConfirm" if self.scenario.sign_in.as_deref() == Some("refused") => {
                Err((1001, "the code has run out".to_owned()))
            }
            "signInConfirm" => {
                self.user = Some("somebody".to_owned());
                Ok(self.status())
            }
            "copilot/models" if self.user.is_some() => Ok(self.models()),
            "conversation/create" | "conversation/turn" if self.user.is_some() => {
                return self.turn(id, params);
            }
            "copilot/models" | "conversation/create" | "conversation/turn" => nobody(),
            _ => Err((-32601, format!("Unhandled method {method}"))),
        };
        self.wire.answer(id, answer);
    }

    fn status(&self) -> Value {
        match &self.user {
            Some(user) => json!({"status": "OK", "user": user}),
            None => json!({"status": "NotSignedIn"}),
        }
    }

    fn models(&self) -> Value {
        let usual = || {
            json!([{"id": "usual", "modelName": "The usual one", "scopes": ["chat-panel", "agent-panel"],
                "isChatDefault": true, "isChatFallback": false}])
        };
        self.scenario.models.clone().unwrap_or_else(usual)
    }

    fn sign_in(&self) -> Result<Value, (i64, String)> {
        if self.scenario.sign_in.as_deref() == Some("already") {
            return Ok(json!({"status": "AlreadySignedIn", "user": "somebody"}));
        }
        Ok(json!({"status": "PromptUserDeviceFlow", "userCode": "ABCD-1234",
            "verificationUri": "https://example.invalid/device", "expiresIn": 899, "interval": 5}))
    }

    fn turn(&mut self, id: &Value, params: &Value) {
        self.crash("create");
        let scripts = &self.scenario.turns;
        let script = scripts.get(self.turns).or_else(|| scripts.last()).cloned().unwrap_or_default();
        self.turns += 1;
        let (stage, id, params, number) = (self.stage.clone(), id.clone(), params.clone(), self.turns);
        std::thread::spawn(move || stage.turn(&id, &params, number, &script));
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "initialized" => {
                self.initialized = true;
                let (stage, steps, status) =
                    (self.stage.clone(), self.scenario.at_start.clone(), self.status());
                self.wire.notify(
                    "didChangeStatus/v2",
                    &json!({"statuses": [{"category": "auth", "kind": "Normal", "result": status}]}),
                );
                std::thread::spawn(move || stage.opening(&steps));
            }
            "window/workDoneProgress/cancel" => self.stage.cancel(&params["token"]),
            _ => {}
        }
    }
}
