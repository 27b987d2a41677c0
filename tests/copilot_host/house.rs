//! A project, the product's command, and the messages that a command line received.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Project, copy_executable, wait_until};

/// Slow machines that run many tests in parallel need long deadlines; a wrong result is wrong at
/// any speed.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// `lsp-tools copilot host` in `project`, without this machine's variables for Copilot.
pub fn host(project: &Project, servers: Option<&Path>) -> Command {
    let mut command = project.command(servers);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("COPILOT_")) {
            command.env_remove(name);
        }
    }
    let home = project.beside("home");
    fs::create_dir_all(&home).expect("a home");
    command.env("HOME", &home).env("COPILOT_HOME", home.join("copilot"));
    command.args(["copilot", "host"]).stdin(Stdio::null());
    command
}

pub fn run(mut command: Command) -> Ran {
    let output = command.output().expect("lsp-tools");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ran { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A project with a command line that plays a scenario.
pub struct Played {
    pub project: Project,
}

impl Played {
    pub fn new(play: &Value) -> Self {
        let project = Project::new([("a.txt", "one\n"), (".git/HEAD", "")]);
        fs::write(project.beside("logs").join("play.json"), play.to_string()).expect("a play");
        Self { project }
    }

    /// The usual scenario: these steps, then an idle session.
    pub fn steps(steps: impl IntoIterator<Item = Value>) -> Self {
        let idle = json!({"event": {"type": "session.idle", "data": {}}});
        Self::new(&json!({"after": steps.into_iter().chain([idle]).collect::<Vec<_>>()}))
    }

    pub fn settings(&self, text: &str) {
        fs::write(self.project.beside("config").join("lsp-tools.toml"), text).expect("settings");
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let logs = self.project.beside("logs");
        let mut command = host(&self.project, None);
        command.arg("--cli").arg(cli(&self.project)).args(arguments);
        command.env("FAKE_PLAY", logs.join("play.json")).env("FAKE_LOG", logs.join("told.jsonl"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        run(self.command(arguments))
    }

    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("lsp-tools")
    }

    /// The messages that the command line received, in order.
    pub fn told(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.project.beside("logs").join("told.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The parameters of the requests of this method.
    pub fn asked(&self, method: &str) -> Vec<Value> {
        let of_method = |message: &Value| message["method"] == method;
        self.told().into_iter().filter(of_method).map(|message| message["params"].clone()).collect()
    }

    /// The response to a request of the command line.
    pub fn result(&self, request: &str) -> Value {
        let all = self.told().into_iter().map(|message| message["params"].clone());
        let mut of_request = all.filter(|params| params["requestId"] == request);
        let found = of_request.next().unwrap_or_else(|| panic!("nothing for {request}: {:?}", self.told()));
        assert!(of_request.next().is_none(), "two answers for {request}");
        found["result"].clone()
    }

    pub fn wait_for(&self, method: &str) {
        wait_until(method, PATIENCE, || !self.asked(method).is_empty());
    }
}

fn cli(project: &Project) -> PathBuf {
    let program = project.beside("logs").join("copilot");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/copilot_host/fake_cli.py");
    copy_executable(script, &program);
    program
}

/// Waits for the end of `child`.
pub fn end(mut child: Child) -> i32 {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait().expect("a child") {
            Some(status) => return status.code().unwrap_or(-1),
            None if Instant::now() > until => panic!("it does not end"),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// An event that requests something.
pub fn requested(kind: &str, request: &str, data: Value) -> Value {
    let mut data = data;
    data["requestId"] = json!(request);
    json!({"event": {"type": kind, "data": data}})
}

/// A call of one of our tools.
pub fn call(request: &str, tool: &str, arguments: Value) -> Value {
    let data = json!({"toolCallId": format!("call-{request}"), "toolName": tool, "arguments": arguments});
    requested("external_tool.requested", request, data)
}

/// A permission request.
pub fn leave(request: &str, wanted: Value) -> Value {
    requested("permission.requested", request, json!({"permissionRequest": wanted}))
}
