//! Tests of mounted tools as a source of tools: knowledge, change notifications, and the server's
//! end.

use crate::platform::OsStrExt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bridges::open_with;
use crate::runtime::calls::call::CallRequest;
use crate::runtime::tests::stage::RuntimeStage;
use crate::runtime::{Runtime, RuntimeOptions};
use crate::tools::api::source::MountedState;
use crate::tools::api::tool::Caller;

const SOON: Duration = Duration::from_secs(60);

/// Opens a runtime whose user mounts the scripted server in `mode` as `m`; `more` is appended to
/// its table.
fn mounting(stage: &RuntimeStage, mode: &str, more: &str) -> Runtime {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mounted/server.py");
    let heard = stage.beside("heard.jsonl");
    let settings = format!(
        "[mcp.servers.m]\ncommand = \"python3\"\nargs = [{script:?}, \"{mode}\", {heard:?}]\n{more}\n"
    );
    fs::write(stage.beside("config/lsp-tools.toml"), settings).expect("settings");
    let options = RuntimeOptions { cwd: stage.root(), ..RuntimeOptions::default() };
    open_with(options, stage.folders()).expect("a runtime")
}

/// Returns true if a process has the server's log file in its arguments.
fn is_running(stage: &RuntimeStage) -> bool {
    let marker = stage.beside("heard.jsonl");
    let marker = marker.as_os_str().as_bytes();
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    arguments.into_iter().any(|line| line.split(|byte| *byte == 0).any(|argument| argument == marker))
}

/// The list does not wait. Unknown tools are listed in the background, and subscribers are
/// notified.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(windows, ignore = "the mounted server is a program in Python")]
async fn first_tool_list_does_not_wait_for_mounted_server() {
    let stage = RuntimeStage::new();
    let runtime = mounting(&stage, "good", "");
    let mut changes = runtime.sources()[0].changes();
    changes.mark_unchanged();
    let listed = || runtime.definitions(&Caller::default()).iter().any(|tool| tool.card.name == "m/say");
    assert!(!listed());
    let told = async {
        while !listed() {
            changes.changed().await.unwrap();
        }
    };
    tokio::time::timeout(SOON, told).await.unwrap();
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(windows, ignore = "the mounted server is a program in Python")]
async fn idle_mounted_server_is_stopped_and_restarted_on_call() {
    let stage = RuntimeStage::new();
    let runtime = mounting(&stage, "good", "[servers]\nidle-stop-s = 1");
    let caller = Caller::at_shell();
    let call = || runtime.call(CallRequest::new("m/say", json!({}), &caller));
    assert!(call().await.ok());
    let state = || runtime.sources()[0].mounted()[0].state;
    assert_eq!(state(), MountedState::Running);
    let deadline = Instant::now() + SOON;
    while is_running(&stage) {
        assert!(Instant::now() < deadline, "it goes on running");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(state(), MountedState::Idle);
    assert!(call().await.ok());
    let starts = fs::read(stage.beside("heard.jsonl.starts")).expect("the server notes its starts");
    assert_eq!(starts.len(), 2);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(windows, ignore = "the mounted server is a program in Python")]
async fn tool_list_failure_of_mounted_server_is_reported() {
    let stage = RuntimeStage::new();
    let runtime = mounting(&stage, "no-list", "");
    let source = &runtime.sources()[0];
    let before = source.generation();
    assert!(source.refresh("m").await.is_err());
    assert!(source.generation() > before, "whoever watches hears that something is left out now");
    let left_out: Vec<String> = source.left_out().into_iter().map(|left_out| left_out.why).collect();
    assert!(left_out.iter().any(|why| why.contains("the list is lost")), "{left_out:?}");
    runtime.shutdown().await;
}
