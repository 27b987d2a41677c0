//! The server on bare pipes: it can delay, lie, break off and be silent as given by the scenario.

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::brain::{Brain, Outgoing, Step};
use crate::endings;
use crate::frames::{self, Style};
use crate::scenario::{Action, Answer, Crash, CrashAt, ErrorSpec, Exit, Reply, Scenario, When};

const REQUEST_CANCELLED: i64 = -32800;
const SERVER_NOT_INITIALIZED: i64 = -32002;
const INVALID_REQUEST: i64 = -32600;

/// Id of the request for the client's configuration.
const CONFIGURATION: &str = "configuration";

type Outcome = Result<(), Box<dyn std::error::Error>>;

struct Server {
    brain: Arc<Brain>,
    /// Held while one message is written.
    out: Mutex<()>,
    next_id: AtomicUsize,
    /// The number of uses of each rule.
    used: Vec<AtomicUsize>,
    /// Requests without a response yet, by id as text: true if a `$/cancelRequest` ends them.
    waiting: Mutex<BTreeMap<String, bool>>,
    /// Requests that wait for the response to `workspace/configuration`, if any.
    held: Mutex<Option<Vec<Value>>>,
    initialized: AtomicBool,
    seen_request: AtomicBool,
    shut_down: AtomicBool,
}

/// Serves until `exit` or the end of stdin.
pub fn serve(brain: Arc<Brain>) -> Outcome {
    if brain.scenario.exit == Exit::Refuses {
        let journal = Arc::clone(&brain.journal);
        endings::ignore_sigterm(move || journal.event("sigterm", json!({})))?;
    }
    let used = brain.scenario.rules.iter().map(|_| AtomicUsize::new(0)).collect();
    let held = brain.scenario.configuration.as_ref().is_some_and(|asked| asked.holds).then(Vec::new);
    let server = Arc::new(Server {
        brain,
        out: Mutex::default(),
        next_id: AtomicUsize::new(1),
        used,
        waiting: Mutex::default(),
        held: Mutex::new(held),
        initialized: AtomicBool::new(false),
        seen_request: AtomicBool::new(false),
        shut_down: AtomicBool::new(false),
    });
    server.run_rules("start", When::After);
    server.crash_if(CrashAt::Start);
    let mut input = BufReader::new(io::stdin().lock());
    while let Some(body) = frames::read(&mut input)? {
        let message: Value = serde_json::from_slice(&body)?;
        server.brain.journal.got(&message);
        server.take(&message);
    }
    server.brain.journal.event("eof", json!({}));
    if endings::stays(server.scenario().exit, true) {
        loop {
            thread::park();
        }
    }
    let code = i32::from(!server.shut_down.load(Ordering::SeqCst));
    endings::exit(code, &server.brain.journal)
}

impl Server {
    fn scenario(&self) -> &Scenario {
        &self.brain.scenario
    }

    fn take(self: &Arc<Self>, message: &Value) {
        let params = message.get("params").unwrap_or(&Value::Null);
        let Some(method) = message["method"].as_str() else { return self.answered(message) };
        let request = message.get("id");
        let first = request.is_some()
            && !matches!(method, "initialize" | "shutdown")
            && !self.seen_request.swap(true, Ordering::SeqCst);
        let moments = if first { vec![method, "first_request"] } else { vec![method] };
        moments.iter().for_each(|moment| self.run_rules(moment, When::Before));
        if let Some(crash) =
            self.crash_due(|at| at.method() == Some(method) || (first && at == CrashAt::FirstRequest))
        {
            endings::crash(crash, &self.brain.journal);
        }
        match request {
            Some(_) if self.hold(method, message) => {}
            Some(id) => self.request(id, method, params),
            None => self.notification(method, params),
        }
        moments.iter().for_each(|moment| self.run_rules(moment, When::After));
    }

    /// Delays a request while the client owes its configuration.
    fn hold(&self, method: &str, message: &Value) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut().filter(|_| !matches!(method, "initialize" | "shutdown")) {
            Some(held) => held.push(message.clone()),
            None => return false,
        }
        true
    }

    /// Receives a response of the client; only the response to our own configuration request has an
    /// effect.
    fn answered(self: &Arc<Self>, message: &Value) {
        let Some(asked) = self.scenario().configuration.as_ref().filter(|_| message["id"] == CONFIGURATION)
        else {
            return;
        };
        let nulls = message["result"].as_array().is_none_or(|values| values.iter().any(Value::is_null));
        if asked.exits_on_null && nulls {
            endings::exit(1, &self.brain.journal);
        }
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        for request in held.into_iter().flatten() {
            self.request(&request["id"], request["method"].as_str().unwrap_or_default(), &request["params"]);
        }
    }

    fn crash_due(&self, when: impl Fn(CrashAt) -> bool) -> Option<&Crash> {
        let crash = self.scenario().crash.as_ref()?;
        (when(crash.at) && crash.times.is_none_or(|times| self.brain.number <= times)).then_some(crash)
    }

    fn crash_if(&self, moment: CrashAt) {
        if let Some(crash) = self.crash_due(|at| at == moment) {
            endings::crash(crash, &self.brain.journal);
        }
    }

    fn notification(self: &Arc<Self>, method: &str, params: &Value) {
        if !self.initialized.load(Ordering::SeqCst) && method != "exit" && method != "initialized" {
            self.brain.journal.violation(format!("{method} before initialized"));
        }
        match method {
            "initialized" => {
                self.initialized.store(true, Ordering::SeqCst);
                if let Some(asked) = &self.scenario().configuration {
                    let items = asked.sections.iter().map(|section| json!({"section": section}));
                    let params = json!({"items": items.collect::<Value>()});
                    let id = Some(json!(CONFIGURATION));
                    self.send(&self.asking("workspace/configuration", &params, id), Style::Good);
                }
            }
            "$/cancelRequest" => self.cancel(&params["id"]),
            "exit" if !endings::stays(self.scenario().exit, false) => {
                let code = i32::from(!self.shut_down.load(Ordering::SeqCst));
                endings::exit(code, &self.brain.journal);
            }
            _ => {}
        }
        for chain in self.brain.notification(method, params) {
            self.run(chain);
        }
    }

    /// Runs a chain: immediately while no step waits, then concurrently.
    fn run(self: &Arc<Self>, chain: Vec<Step>) {
        let mut steps = chain.into_iter().peekable();
        while let Some(step) = steps.next_if(|step| step.wait.is_zero()) {
            self.brain.perform(step.effect).into_iter().for_each(|outgoing| self.send_outgoing(outgoing));
        }
        if steps.peek().is_none() {
            return;
        }
        let server = Arc::clone(self);
        thread::spawn(move || {
            for step in steps {
                thread::sleep(step.wait);
                server
                    .brain
                    .perform(step.effect)
                    .into_iter()
                    .for_each(|outgoing| server.send_outgoing(outgoing));
            }
        });
    }

    fn request(self: &Arc<Self>, id: &Value, method: &str, params: &Value) {
        let answer = self.scenario().answers.get(method).cloned().unwrap_or_default();
        if self.shut_down.load(Ordering::SeqCst) {
            let error = ErrorSpec { code: INVALID_REQUEST, message: "after shutdown".to_owned(), data: None };
            return self.reply(id, &Answer::default(), Err(error));
        }
        let (delay, result) = match method {
            "initialize" => (Duration::from_millis(answer.delay_ms), Ok(self.brain.initialize(params))),
            "shutdown" if self.scenario().exit == Exit::Refuses => return,
            "shutdown" => {
                self.shut_down.store(true, Ordering::SeqCst);
                (Duration::from_millis(answer.delay_ms), Ok(Value::Null))
            }
            _ if !self.initialized.load(Ordering::SeqCst) => {
                self.brain.journal.violation(format!("{method} before initialized"));
                let error =
                    ErrorSpec { code: SERVER_NOT_INITIALIZED, message: method.to_owned(), data: None };
                (Duration::ZERO, Err(error))
            }
            _ => {
                let planned = self.brain.request(method, params);
                (planned.delay, planned.result)
            }
        };
        let result = match (method, &answer.error, &answer.result) {
            ("initialize" | "shutdown", Some(error), _) => Err(error.clone()),
            ("initialize" | "shutdown", None, Some(given)) => Ok(given.clone()),
            _ => result,
        };
        if delay.is_zero() && !answer.never {
            return self.reply(id, &answer, result);
        }
        self.waiting().insert(id.to_string(), !answer.ignores_cancel);
        if answer.never {
            return;
        }
        let (server, id) = (Arc::clone(self), id.clone());
        thread::spawn(move || {
            thread::sleep(delay);
            if server.waiting().remove(&id.to_string()).is_some() {
                server.reply(&id, &answer, result);
            }
        });
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, bool>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, id: &Value) {
        let mut waiting = self.waiting();
        if waiting.get(&id.to_string()) == Some(&true) {
            waiting.remove(&id.to_string());
            drop(waiting);
            let error = ErrorSpec { code: REQUEST_CANCELLED, message: "cancelled".to_owned(), data: None };
            self.reply(id, &Answer::default(), Err(error));
        }
    }

    fn reply(&self, id: &Value, answer: &Answer, result: Result<Value, ErrorSpec>) {
        let id = match answer.reply {
            Reply::NullId => Value::Null,
            Reply::UnknownId => json!(987_654_321),
            Reply::StringId => json!(id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned)),
            Reply::Normal | Reply::Twice | Reply::Empty => id.clone(),
        };
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        match result {
            _ if answer.reply == Reply::Empty => {}
            Ok(result) => message["result"] = result,
            Err(error) => {
                message["error"] = json!({"code": error.code, "message": error.message});
                if let Some(data) = error.data {
                    message["error"]["data"] = data;
                }
            }
        }
        if self.seen_request.load(Ordering::SeqCst)
            && let Some(crash) = self.crash_due(|at| at == CrashAt::MidReply)
        {
            self.send(&message, Style::Half);
            endings::crash(crash, &self.brain.journal);
        }
        for _ in 0..if answer.reply == Reply::Twice { 2 } else { 1 } {
            self.send(&message, answer.frame);
        }
    }

    fn send_outgoing(&self, outgoing: Outgoing) {
        let message = match outgoing {
            Outgoing::Notify(method, params) => notification(method, &params),
            Outgoing::NotifyNamed(method, params) => notification(&method, &params),
            Outgoing::Request(method, params) => self.asking(method, &params, None),
        };
        self.send(&message, Style::Good);
    }

    fn asking(&self, method: &str, params: &Value, id: Option<Value>) -> Value {
        let id = id.unwrap_or_else(|| json!(self.next_id.fetch_add(1, Ordering::SeqCst)));
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn send(&self, message: &Value, style: Style) {
        let style = if style == Style::Good { self.scenario().frame } else { style };
        self.write(&frames::encode(message, style));
        self.brain.journal.sent(message.get("method").or_else(|| message.get("id")).unwrap_or(&Value::Null));
    }

    /// Writes bytes to stdout; a client that disconnected is detected through stdin instead.
    fn write(&self, bytes: &[u8]) {
        let _one_at_a_time = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = frames::write(&mut io::stdout().lock(), bytes) {
            self.brain.journal.event("broken_pipe", json!({"error": error.to_string()}));
        }
    }

    fn run_rules(self: &Arc<Self>, moment: &str, when: When) {
        let mut later = Vec::new();
        for (index, rule) in self.scenario().rules.iter().enumerate() {
            if rule.at != moment || rule.when != when {
                continue;
            }
            if self.used[index].fetch_add(1, Ordering::SeqCst) >= rule.times && rule.times > 0 {
                continue;
            }
            match rule.delay_ms {
                0 => self.act(&rule.action),
                _ => later.push(rule.clone()),
            }
        }
        if later.is_empty() {
            return;
        }
        // One after the other, so that a busy machine does not change their order.
        later.sort_by_key(|rule| rule.delay_ms);
        let server = Arc::clone(self);
        thread::spawn(move || {
            let began = Instant::now();
            for rule in later {
                thread::sleep(Duration::from_millis(rule.delay_ms).saturating_sub(began.elapsed()));
                server.act(&rule.action);
            }
        });
    }

    fn act(&self, action: &Action) {
        match action {
            Action::Junk(lines) => {
                self.write(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes())
            }
            Action::Bytes(bytes) => self.write(bytes.as_bytes()),
            Action::Frame(style) => self.send(&remark("a remark in a frame of its own"), *style),
            Action::Message(message) => self.send(message, Style::Good),
            Action::Notify { method, params } => self.send(&notification(method, params), Style::Good),
            Action::Request { method, params, id } => {
                self.send(&self.asking(method, params, id.clone()), Style::Good);
            }
            Action::Flood { count } => {
                for number in 0..*count {
                    self.write(&frames::encode(&remark(&format!("flood {number}")), self.scenario().frame));
                }
                self.brain.journal.event("flooded", json!({"count": count}));
            }
            Action::Huge { bytes } => {
                self.write(&frames::encode(&remark(&"x".repeat(*bytes)), self.scenario().frame));
                self.brain.journal.event("huge", json!({"bytes": bytes}));
            }
            Action::Drip { text, every_ms } => {
                for byte in text.bytes() {
                    self.write(&[byte]);
                    thread::sleep(Duration::from_millis(*every_ms));
                }
            }
            Action::Deaf {} => loop {
                thread::park();
            },
            Action::Complain(lines) => eprintln!("{}", self.brain.with_root(lines)),
            Action::Crash { code, stderr } => {
                stderr.iter().for_each(|line| eprintln!("{line}"));
                endings::exit(*code, &self.brain.journal);
            }
        }
    }
}

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn remark(text: &str) -> Value {
    notification("window/logMessage", &json!({"type": 3, "message": text}))
}
