//! The examination of one server: every question of a reader, through our own binary, in an
//! untrusted project full of traps.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::hostile;
use super::samples::Samples;
use super::trace::{Traced, traced_command};
use crate::support::Project;
use crate::support::mcp::Mcp;

/// The options of an examination.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way<'a> {
    /// True if the project is trusted first.
    pub trusted: bool,
    /// True if started programs are recorded, if `strace` is available.
    pub traced: bool,
    /// Files and folders to leave out of the hostile project.
    pub leave_out: &'a [String],
    /// Folders to put before the user's PATH.
    pub before_path: &'a [PathBuf],
    /// The time for unrequested actions of servers, which give no sign of them.
    pub pause: Duration,
}

/// The result of an examination.
#[derive(Debug)]
pub struct Outcome {
    /// The names in the canary.
    pub ran: Vec<String>,
    /// Executed programs below the workspace, and other events of processes.
    pub traced: Option<Traced>,
    /// The server's state in the answer, and the reason.
    pub state: String,
    /// The sentence beside the state.
    pub detail: String,
    /// A summary of each answer.
    pub answers: Vec<String>,
}

impl Outcome {
    /// Returns true if nothing of the project ran.
    pub fn is_clean(&self) -> bool {
        self.ran.is_empty() && self.traced.as_ref().is_none_or(|traced| traced.executed.is_empty())
    }

    /// Returns true if the server was started.
    pub fn is_started(&self) -> bool {
        !matches!(self.state.as_str(), "missing" | "disabled" | "failed" | "")
    }
}

/// Sends requests about its sample among traps to `server`, installed in the prefix `servers`.
pub fn look(server: &str, servers: &Path, way: Way<'_>) -> Outcome {
    let project = Project::new([]);
    fs::create_dir(project.beside("home")).expect("a home");
    let sample =
        Samples::read().expect("samples").of(server).unwrap_or_else(|| panic!("{server} has no sample"));
    sample.write(&project.root()).expect("the sample");
    let canary = hostile::fill(&project);
    hostile::bait(&project, &sample.file, &canary);
    for name in way.leave_out {
        let path = project.path(name);
        let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        // Not every project has each of them.
        drop(gone);
    }
    let prefer = format!("prefer.{:?} = [{server:?}]\n", sample.language);
    let deadlines = ["hover", "definition", "diagnostics", "completion", "start"]
        .map(|kind| format!("deadlines.{kind} = 55_000\n"));
    let prefer = format!("{prefer}{}", deadlines.concat());
    fs::write(project.beside("config").join("lsp-tools.toml"), prefer).expect("settings");
    if way.trusted {
        let trust = command(&project, servers, way).args(["trust", "--yes"]).output().expect("trust");
        assert!(trust.status.success(), "{}", String::from_utf8_lossy(&trust.stderr));
    }
    let log = project.beside("logs").join("strace");
    let told = command(&project, servers, way);
    let told = if way.traced { traced_command(told, &log) } else { told };
    let mut client = Mcp::of(told, &[]);
    client.greet(json!({}));
    let (line, name) =
        sample.hover.as_ref().map_or("1:x", |hover| &hover.at).split_once(':').expect("LINE:NAME");
    let line: u32 = line.parse().expect("a line");
    let at = json!({"path": sample.file, "line": line - 1, "symbol": name});
    let file = json!({"path": sample.file});
    let mut answers = Vec::new();
    let (mut state, mut detail) = (String::new(), String::new());
    let mut ask = |client: &mut Mcp, tool: &str, arguments: &Value| {
        let answer = client.call(tool, arguments.clone());
        let value = &answer["structuredContent"];
        for status in statuses(value) {
            if status["server"] == server || status["name"] == server {
                state = status["state"].as_str().unwrap_or_default().to_owned();
                detail = status["detail"].as_str().unwrap_or_default().to_owned();
            }
        }
        answers
            .push(format!("{tool}: {}", value["verdict"].as_str().or(value["code"].as_str()).unwrap_or("-")));
    };
    for tool in ["lsp_hover", "lsp_definition", "lsp_references", "lsp_completion", "lsp_signature"] {
        ask(&mut client, tool, &at);
    }
    for tool in ["lsp_diagnostics", "lsp_symbols"] {
        ask(&mut client, tool, &file);
    }
    ask(&mut client, "lsp_code_actions", &file);
    ask(&mut client, "lsp_format", &json!({"path": sample.file, "dry_run": true}));
    let text = project.read(&sample.file);
    project.write(&sample.file, format!("{text}\n"));
    ask(&mut client, "lsp_diagnostics", &file);
    std::thread::sleep(way.pause);
    client.close();
    let traced = way.traced.then(|| Traced::read(&log, &project.root())).flatten();
    Outcome { ran: canary.names(), traced, state, detail, answers }
}

/// The statements of an answer about servers, in any place.
fn statuses(value: &Value) -> Vec<Value> {
    let one = value.get("server_status").cloned();
    let many = value.get("servers").and_then(Value::as_array).cloned().unwrap_or_default();
    one.into_iter().chain(many).collect()
}

/// Our binary, in an empty home.
fn command(project: &Project, servers: &Path, way: Way<'_>) -> Command {
    let mut command = project.command(Some(servers));
    command.env("HOME", project.beside("home"));
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX", "NODE_OPTIONS"] {
        command.env_remove(name);
    }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    // Like the variables of a user who works on one project. With trust they apply, and Python
    // fails with their values.
    if !way.trusted {
        command.env("PYTHONPATH", format!(".:{}", project.root().display()));
        command.env("NODE_PATH", project.path("node_modules"));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let before = way.before_path.iter().cloned().chain([hostile::tools(project)]);
    let folders = before.chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).expect("a PATH"));
    command
}
