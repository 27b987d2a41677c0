//! Mounted tools under the rules, hooks and limits of all tools; the owners of mounts; progress and
//! the end of calls.

use std::fs;
use std::time::Duration;

use lsp_tools::internals::lsp::ProgressEvent;
use lsp_tools::{CallRequest, Caller, Client};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::house::{entry, heard, json_of, mounting, open, run, starts, typed, with_settings};
use crate::support::{Project, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn server_wide_permission_rule_allows_and_denies_its_tools() {
    let allowed = mounting("good", "[permissions]\nallow = [\"m/*\"]");
    let workspace = open(&allowed);
    assert_eq!(workspace.call("m/say", json!({})).await.value["text"], "said");
    let wrong = workspace.call("m/say", json!([])).await;
    assert_eq!(wrong.value["code"], "invalid_args");
    workspace.shutdown().await;
    let record = fs::read_to_string(allowed.beside("state").join("audit.jsonl")).unwrap();
    assert!(
        record.lines().any(|line| line.contains("\"m/say\"") && line.contains("\"rule\":\"m/*\"")),
        "{record}"
    );
    let denied = mounting("good", "[permissions]\ndeny = [\"m/*\"]");
    // Also for a typed command.
    assert_eq!(json_of(&denied, &["mcp", "call", "m/say"]).0["code"], "denied");
    assert!(!heard(&denied).iter().any(|said| said["method"] == "tools/call"));
}

#[tokio::test(flavor = "multi_thread")]
async fn mounted_program_runs_in_its_folder_with_its_arguments() {
    let project = Project::new([("sub/a.txt", "")]);
    let table = entry(&project, "m", "place");
    let settings = format!("{}, \"one\", \"two words\"]\ncwd = \"sub\"\n", table.trim_end_matches("]\n"));
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let workspace = open(&project);
    let place = typed(&workspace, "m/say").await.value["text"].as_str().map(serde_json::from_str::<Value>);
    let place = place.expect("a text").expect("JSON");
    assert_eq!(place, json!([project.root().join("sub"), "one", "two words"]));
    workspace.shutdown().await;
}

/// A server that ignores unknown messages has time for its own handshake, which is used first at
/// the next start.
#[test]
#[ignore = "slow: just slow"]
fn server_ignoring_newest_revision_is_spoken_to_in_older_one() {
    let project = mounting("reserved", "timeout = 6000");
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["text"], "said");
    assert_eq!(starts(&project), 2);
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["text"], "said");
    assert_eq!(starts(&project), 3);
}

#[test]
fn tool_list_with_cached_tools_starts_no_server() {
    let project = mounting("good", "");
    let (listed, _) = json_of(&project, &["tools", "list"]);
    assert!(listed["tools"].to_string().contains("\"m/say\""), "{listed}");
    assert_eq!(starts(&project), 1);
    assert!(json_of(&project, &["tools", "list"]).0["tools"].to_string().contains("\"m/say\""));
    let exported = run(&project, &["tools", "schema", "--format", "mcp"]);
    assert!(String::from_utf8_lossy(&exported.stdout).contains("\"m.say\""));
    assert_eq!(starts(&project), 1);
    // A call to one of our tools starts no server either.
    run(&project, &["tools", "call", "list"]);
    assert_eq!(starts(&project), 1);
}

#[test]
fn project_mcp_servers_count_only_when_trusted() {
    let project = Project::new([]);
    let script = entry(&project, "m", "good");
    project.write(".lsp-tools/lsp-tools.toml", format!("[mcp]\nfiles = [\".mcp.json\"]\n{script}"));
    let args = script.split_once("args = ").unwrap().1.trim();
    let other = |mode: &str| {
        format!(
            r#"{{"mcpServers": {{"j": {{"command": "python3", "args": {}}}}}}}"#,
            args.replace("good", mode)
        )
    };
    project.write(".mcp.json", other("good"));
    let names = |project: &Project| -> Vec<String> {
        let (listed, _) = json_of(project, &["mcp", "list"]);
        let servers = listed["servers"].as_array().unwrap();
        servers.iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&project).is_empty());
    assert_eq!(starts(&project), 0);
    let shown = run(&project, &["trust", "--yes"]);
    let shown = String::from_utf8_lossy(&[shown.stdout, shown.stderr].concat()).into_owned();
    assert!(shown.contains("mcp.servers") && shown.contains("MCP server j"), "{shown}");
    assert_eq!(names(&project), ["j", "m"]);
    assert_eq!(json_of(&project, &["mcp", "call", "j/say"]).0["text"], "said");
    // Another entry in the file needs trust again.
    project.write(".mcp.json", other("liar"));
    assert_eq!(names(&project), ["m"]);
}

#[test]
fn mounted_server_script_changed_after_trust_is_denied() {
    let project = with_settings(
        "[mcp.servers.m]\ncommand = \"python3\"\nargs = [\"serve.py\", \"good\", \"/dev/null\"]\n",
    );
    let script = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mounted/server.py")).unwrap();
    let script = script.replace("STARTS = HEARD + \".starts\"", "STARTS = __file__ + \".starts\"");
    project.write("serve.py", &script);
    let listed = |project: &Project| json_of(project, &["mcp", "list"]).0["servers"][0].to_string();
    assert!(listed(&project).contains("is not trusted in its current state"), "{}", listed(&project));
    assert!(!project.path("serve.py.starts").exists());
    run(&project, &["trust", "--yes"]);
    assert!(listed(&project).contains("m/say"), "{}", listed(&project));
    project.write("serve.py", script + "\n# more\n");
    assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["code"], "denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_forwarded_and_cancelled_call_is_cancelled_at_server() {
    let project = mounting("progress", "");
    let (sender, mut told) = unbounded_channel();
    let workspace = open(&project).for_client(Client { progress: Some(sender), ..Client::default() });
    assert!(typed(&workspace, "m/say").await.ok());
    let mut events = Vec::new();
    while let Ok(event) = told.try_recv() {
        events.push(event);
    }
    let step = |number: u8| ProgressEvent::ServerProgress {
        server: "m".to_owned(),
        title: String::new(),
        message: Some(format!("step {number}")),
        percentage: Some(number * 50),
    };
    assert!(events.contains(&step(1)) && events.contains(&step(2)), "{events:?}");
    workspace.shutdown().await;

    let project = mounting("mute", "");
    let workspace = open(&project);
    let cancelled = CancellationToken::new();
    let caller = Caller::at_shell();
    let request = CallRequest::new("m/say", json!({}), &caller).with_cancellation(cancelled.clone());
    let asked = || heard(&project).into_iter().find(|said| said["method"] == "tools/call");
    let cancel = async {
        while asked().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancelled.cancel();
    };
    let (result, ()) = tokio::join!(workspace.runtime.call(request), cancel);
    assert_eq!(result.value["code"], "cancelled");
    let id = asked().unwrap()["id"].clone();
    let project = &project;
    tokio::task::block_in_place(|| {
        wait_until("the server is notified", Duration::from_secs(60), || {
            heard(project)
                .iter()
                .any(|said| said["method"] == "notifications/cancelled" && said["params"]["requestId"] == id)
        });
    });
    workspace.shutdown().await;
}

#[test]
fn traceparent_variable_is_forwarded_and_tool_error_is_failure() {
    let project = mounting("meta", "");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let output =
        project.command(None).env("TRACEPARENT", parent).args(["mcp", "call", "m/say"]).output().unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(meta["traceparent"], parent);
    let failing = mounting("fails", "");
    let (result, status) = json_of(&failing, &["mcp", "call", "m/say"]);
    assert_eq!(
        (result, status),
        (json!({"ok": false, "code": "server_failed", "error": "no such thing"}), 4)
    );
}

#[test]
fn mcp_show_and_doctor_list_tools_once() {
    let project = mounting("good", "");
    let lists = || heard(&project).iter().filter(|said| said["method"] == "tools/list").count();
    json_of(&project, &["mcp", "show", "m"]);
    assert_eq!(lists(), 1);
    json_of(&project, &["mcp", "doctor", "m"]);
    assert_eq!(lists(), 2);
}

/// A test's script as a file of the project, which records its starts beside it.
fn own_script() -> String {
    let script = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mounted/server.py")).unwrap();
    script.replace("STARTS = HEARD + \".starts\"", "STARTS = __file__ + \".starts\"")
}

#[test]
fn script_behind_flag_or_in_server_cwd_needs_trust() {
    let flag = "command = \"sh\"\nargs = [\"-c\", \"exec python3 ${1#--script=} good /dev/null\", \"sh\", \"--script=serve.py\"]\n";
    let folder = "command = \"python3\"\ncwd = \"tools\"\nargs = [\"serve.py\", \"good\", \"/dev/null\"]\n";
    for (entry, path) in [(flag, "serve.py"), (folder, "tools/serve.py")] {
        let project = with_settings(&format!("[mcp.servers.m]\n{entry}"));
        project.write(path, own_script());
        let listed = || json_of(&project, &["mcp", "list"]).0["servers"][0].to_string();
        assert!(listed().contains("is not trusted in its current state"), "{path}: {}", listed());
        assert!(!project.path(&format!("{path}.starts")).exists(), "{path}");
        run(&project, &["trust", "--yes"]);
        assert!(listed().contains("m/say"), "{path}: {}", listed());
        project.write(path, own_script() + "\n# more\n");
        assert_eq!(json_of(&project, &["mcp", "call", "m/say"]).0["code"], "denied", "{path}");
    }
}
