//! Hosts built on the real SDKs drive `lsp-tools mcp` over standard streams and HTTP. They list the
//! tools, use a real server, break code and see the errors, approve a call, and cancel one. A
//! second lsp-tools also mounts the first.

mod first_session;
mod ourselves;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::peers::{node, real_clients};
use crate::support::{Marker, Project, real_servers, wait_until};

const TOKEN: &str = "a-token-of-the-tests-own";

/// The Python project, which pyright serves.
fn project() -> Project {
    let project = Project::of_fixture("python");
    project.write_settings("prefer.python = [\"pyright\"]\n");
    project
}

/// The transport between host and server.
#[derive(Clone, Copy)]
enum Way {
    Streams,
    Http,
}

/// The server on its own port; ends with this.
struct Listening(Child, String);

impl Listening {
    fn start(project: &Project, servers: &Path) -> Self {
        let file = project.beside("config").join("token");
        std::fs::write(&file, TOKEN).expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("its mode");
        let mut command = project.command(Some(servers));
        command
            .args(["mcp", "--no-daemon", "--profile", "all", "--http", "127.0.0.1:0", "--token-file"])
            .arg(&file);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let line = lines.next().expect("a line").expect("UTF-8");
        // Unread output would block it.
        std::thread::spawn(move || lines.for_each(drop));
        let url = line.split(' ').find(|word| word.starts_with("http://")).expect("an address").to_owned();
        Self(child, url)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The output of a host that does all steps; `host` is its program and first arguments.
fn driven(host: &[&str], way: Way) -> Value {
    let (project, marker) = (project(), Marker::new());
    let servers = real_servers(&["pyright"]);
    let mut command = Command::new(host[0]);
    command.args(&host[1..]).current_dir(project.root()).envs(project.environment(Some(&servers)));
    command.env("MARKER", marker.as_str()).env("PEERS", real_clients());
    let listening = match way {
        Way::Streams => {
            command.args([
                "stdio",
                env!("CARGO_BIN_EXE_lsp-tools"),
                "mcp",
                "--no-daemon",
                "--profile",
                "all",
            ]);
            None
        }
        Way::Http => {
            let listening = Listening::start(&project, &servers);
            command.args(["http", &listening.1, TOKEN]);
            Some(listening)
        }
    };
    let output = command.output().expect("the host");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}\n{told}");
    // The cancelled call is gone while the server still runs; over standard streams both have
    // ended.
    wait_until("the command that was given up is gone", Duration::from_secs(60), || marker.living() == 0);
    drop(listening);
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}\n{told}"))
}

fn all_went_well(said: &Value) {
    let tools = said["tools"].as_array().expect("tools");
    assert!(tools.len() > 20 && tools[0] == "explore", "{}", said["tools"]);
    let hover = &said["hover"];
    assert_eq!(hover["server_status"]["server"], "pyright", "{hover}");
    assert!(hover["contents"].as_str().is_some_and(|text| text.contains("shout: bool")), "{hover}");
    let added = said["edit"]["diagnostics"]["added"].to_string();
    assert!(added.contains("greet/messages.py") && added.contains("shout"), "{}", said["edit"]);
    assert_eq!(said["ran"]["stdout"], "ran\n", "{}", said["ran"]);
    let questions = said["questions"].as_array().expect("questions");
    assert!(questions[0].as_str().is_some_and(|text| text.contains("run: echo ran")), "{questions:?}");
    assert_eq!((&said["cancelled"], &said["after"]), (&json!(true), &json!(true)), "{said}");
}

fn python(way: Way) -> Value {
    let python = real_clients().join("venv/bin/python");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_clients/client.py");
    driven(&[python.to_str().expect("UTF-8"), script], way)
}

fn typescript(line: &str, way: Way) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_clients/client.mjs");
    driven(&[node().to_str().expect("UTF-8"), script, line], way)
}

#[test]
#[ignore = "slow: just slow"]
fn python_sdk_over_stdio_drives_every_feature() {
    let said = python(Way::Streams);
    all_went_well(&said);
    assert_eq!(said["protocol"], "2026-07-28");
}

#[test]
#[ignore = "slow: just slow"]
fn python_sdk_over_http_drives_every_feature() {
    all_went_well(&python(Way::Http));
}

#[test]
#[ignore = "slow: just slow"]
fn typescript_v1_sdk_over_stdio_drives_every_feature() {
    all_went_well(&typescript("v1", Way::Streams));
}

#[test]
#[ignore = "slow: just slow"]
fn typescript_v1_sdk_over_http_drives_every_feature() {
    all_went_well(&typescript("v1", Way::Http));
}

#[test]
#[ignore = "slow: just slow"]
fn typescript_v2_sdk_over_stdio_drives_every_feature() {
    let said = typescript("v2", Way::Streams);
    all_went_well(&said);
    assert_eq!(said["protocol"], "2026-07-28");
}

#[test]
#[ignore = "slow: just slow"]
fn typescript_v2_sdk_over_http_drives_every_feature() {
    all_went_well(&typescript("v2", Way::Http));
}
