//! A separate process embeds the runtime: it is killed while commands run, or has secrets in its
//! environment.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use lsp_tools::internals::policy::LeaveGiven;
use lsp_tools::{CallRequest, Caller, Runtime, RuntimeOptions};
use serde_json::json;

use super::scene::SOON;
use crate::support::{Marker, Project, wait_until};

const COMMAND: &str = "LSP_TOOLS_TEST_EMBEDDED_COMMAND";
const ROOT: &str = "LSP_TOOLS_TEST_EMBEDDED_ROOT";
const BACKGROUND: &str = "LSP_TOOLS_TEST_EMBEDDED_BACKGROUND";
/// The time limit for surviving processes.
const AFTERLIFE: Duration = Duration::from_secs(30);

/// The embedding process: the tests below run this test by name in a separate process. It runs a
/// command, on request also one in the background, and prints the answer.
#[tokio::test]
#[ignore = "it is the process that other tests start"]
async fn embedder() {
    let (Ok(command), Some(root)) = (std::env::var(COMMAND), std::env::var_os(ROOT).map(PathBuf::from))
    else {
        return;
    };
    let options = RuntimeOptions {
        workspace: Some(root.clone()),
        cwd: root.clone(),
        supervisor: Some(PathBuf::from(env!("CARGO_BIN_EXE_lsp-tools"))),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::open(options).expect("a runtime");
    let caller = Caller::default();
    if std::env::var_os(BACKGROUND).is_some() {
        let arguments = json!({"command": command, "background": true});
        runtime.call(CallRequest::new("bash", arguments, &caller).approved_by(&LeaveGiven)).await;
    }
    let request = CallRequest::new("bash", json!({"command": command}), &caller).approved_by(&LeaveGiven);
    let answer = runtime.call(request).await;
    println!("{}", answer.value["stdout"].as_str().unwrap_or_default());
}

fn embedder_command(project: &Project, command: &str) -> Command {
    let mut embedder = Command::new(std::env::current_exe().expect("this program"));
    embedder.args(["bash_tool::killed::embedder", "--exact", "--ignored", "--nocapture"]);
    embedder.envs(project.environment(None)).env(ROOT, project.root()).env(COMMAND, command);
    embedder
}

#[test]
fn row_13_embedder_killed_leaves_no_processes() {
    let (project, marker) = (Project::new([]), Marker::new());
    let marked = format!("sh -c 'sleep 99; : {}'", marker.as_str());
    let command = format!("trap '' TERM HUP; setsid {marked} & nohup {marked}");
    let mut embedder = embedder_command(&project, &command);
    let mut embedder = embedder.env(BACKGROUND, "yes").stdout(Stdio::null()).spawn().expect("the embedder");
    // Per command: its supervisor, its shell, and two sleeping processes.
    wait_until("both commands run", SOON, || marker.living() >= 8);
    embedder.kill().expect("a kill");
    embedder.wait().expect("its end");
    wait_until("nothing is left", AFTERLIFE, || marker.living() == 0);
}

/// A command cannot read a secret from its own environment or from that of any process that it can
/// name.
#[test]
#[ignore = "slow: just slow"]
fn row_22_secret_environment_variables_are_hidden_from_commands() {
    let project = Project::new([]);
    let command = "env; for each in /proc/[0-9]*/environ; do cat $each; done 2>/dev/null";
    let mut embedder = embedder_command(&project, command);
    for name in
        ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "CARGO_REGISTRY_TOKEN", "AWS_SECRET_ACCESS_KEY", "OTHER"]
    {
        embedder.env(name, "s3cr");
    }
    let output = embedder.output().expect("the embedder");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("PATH="), "{said}");
    assert!(!said.contains("s3cr"), "{said}");
    // Variables listed in the settings are passed.
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[bash]\nenv = [\"GITHUB_*\"]\n")
        .expect("settings");
    let output = embedder.output().expect("the embedder");
    assert!(String::from_utf8_lossy(&output.stdout).contains("GITHUB_TOKEN=s3cr"));
}
