//! Language servers whose answers are too large or too slow. The size, memory and time of our
//! answer stay bounded, and omissions are reported.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Project, ServerLog};

const TEXT: &str = "def foo\nfoo bar\n";
/// The size of a text is 24,000 bytes by default, that of a list of a hundred items four times as
/// much; this is the limit of a text plus the fixed parts of an answer.
const TEXT_ROOM: usize = 26_000;
const LIST_ROOM: usize = 100_000;

fn project(answers: &Value) -> Project {
    Project::scripted(&json!({ "answers": answers }), "", [("a.scr", TEXT)])
}

fn place() -> Value {
    json!({"path": "a.scr", "line": 0, "symbol": "foo"})
}

fn range(line: u64) -> Value {
    json!({"start": {"line": line, "character": 4}, "end": {"line": line, "character": 7}})
}

/// The product's output, and its maximum memory in MiB.
struct Said {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
    peak: u64,
}

fn run(mut command: Command) -> Said {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the product");
    let status = format!("/proc/{}/status", child.id());
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let out = std::thread::spawn(move || read(&mut out));
    let err = std::thread::spawn(move || read(&mut err));
    let mut peak = 0;
    loop {
        // The peak only rises, and the product runs on for a while after its answer.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let mark = mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(mark.unwrap_or(0) / 1024);
        if let Some(status) = child.try_wait().expect("its status") {
            let err = String::from_utf8_lossy(&err.join().expect("stderr")).into_owned();
            return Said { code: status.code(), out: out.join().expect("stdout"), err, peak };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn read(from: &mut impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("what it says");
    bytes
}

fn command(project: &Project, words: &[&str]) -> Command {
    let mut command = project.command(None);
    command.args(["--timeout", "90"]).args(words);
    command
}

#[test]
fn row_30_hover_of_any_length_answer_size_and_memory_are_bounded() {
    let markdown = "Some *words* of `documentation` that go on and on.\n".repeat(240_000);
    let project = project(
        &json!({"textDocument/hover": {"result": {"contents": {"kind": "markdown", "value": markdown}}}}),
    );
    for words in [
        &["hover", "a.scr:1:5"][..],
        &["tools", "call", "lsp_hover", r#"{"path":"a.scr","line":0,"symbol":"foo"}"#],
    ] {
        let said = run(command(&project, words));
        assert_eq!(said.code, Some(0), "{words:?}: {}", said.err);
        assert!(said.out.len() < TEXT_ROOM, "{words:?}: {} bytes", said.out.len());
        let told = String::from_utf8_lossy(&said.out);
        let (_, left) = told.rsplit_once('(').expect("the rest");
        let left: usize = left.split(' ').next().and_then(|left| left.parse().ok()).expect("a number");
        assert!((markdown.len() - 24_000..markdown.len()).contains(&left), "{words:?}: {left} left");
        assert!(said.peak < 400, "{words:?}: {} MiB for {} MiB", said.peak, markdown.len() >> 20);
    }
}

#[test]
fn row_30_diagnostic_message_of_any_length_is_truncated() {
    let message = "the expected type is not the one that was found\n".repeat(120_000);
    let items = json!([
        {"range": range(0), "severity": 1, "message": message},
        {"range": range(1), "severity": 1, "message": "short"},
    ]);
    let project = Project::scripted(&json!({"diagnostics": {"items": items}}), "", [("a.scr", TEXT)]);
    for words in [
        &["check", "a.scr"][..],
        &["tools", "call", "lsp_diagnostics", r#"{"path":"a.scr"}"#],
        &["check", "--format", "json", "a.scr"],
    ] {
        let said = run(command(&project, words));
        assert_eq!(said.code, Some(if words[0] == "check" { 1 } else { 0 }), "{words:?}: {}", said.err);
        let told = String::from_utf8_lossy(&said.out);
        assert!(told.len() < TEXT_ROOM, "{words:?}: {} bytes", told.len());
        assert!(told.contains("more bytes)") && told.contains("short"), "{words:?}: {told}");
        assert!(said.peak < 400, "{words:?}: {} MiB", said.peak);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn row_30_references_in_many_missing_files_take_linear_time() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let many = 20_000;
    let root = project.root();
    let places: Value = (0..many)
        .map(|n| json!({"uri": format!("file://{}/none/{n}.scr", root.display()), "range": range(0)}))
        .collect();
    project.set_scenario(&json!({"answers": {"textDocument/references": {"result": places}}}));
    let workspace = project.open();
    let begun = Instant::now();
    let answer = workspace.ok("lsp_references", place()).await;
    // Seconds in a debug build, and at most the deadline; comparing all places with each other
    // takes minutes, regardless of the deadline.
    assert!(begun.elapsed() < Duration::from_secs(150), "{:?}", begun.elapsed());
    let listed = answer["locations"].as_array().expect("places").len();
    let count = answer["count"].as_u64().expect("a number");
    assert!(count >= many && answer["has_more"] == true && (1..=100).contains(&listed), "{count}, {listed}");
    assert!(answer.to_string().len() < LIST_ROOM);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_30_references_beyond_value_limit_answer_is_partial() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let uri = format!("file://{}/a.scr", project.root().display());
    // Values other than places count as well.
    let mut places = vec![json!(0); 1_100_000];
    places[0] = json!({"uri": uri, "range": range(0)});
    project.set_scenario(&json!({"answers": {"textDocument/references": {"result": places}}}));
    let workspace = project.open();
    let answer = workspace.ok("lsp_references", place()).await;
    assert_eq!((&answer["verdict"], &answer["has_more"]), (&json!("partial"), &json!(true)));
    let notes = answer["notes"].to_string();
    assert!(notes.contains("more, which were omitted"), "{notes}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn row_30_lists_of_long_items_are_truncated_and_counted() {
    let long = "a long word ".repeat(1_000);
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let uri = format!("file://{}/a.scr", project.root().display());
    let many = |make: &dyn Fn(usize) -> Value| Value::from((0..150).map(make).collect::<Vec<_>>());
    let item = |n: usize| json!({"name": format!("{n} {long}"), "kind": 12, "detail": long, "uri": uri, "range": range(0), "selectionRange": range(n as u64 % 2)});
    project.set_scenario(&json!({"answers": {
        "textDocument/completion": {"result": many(&|n| json!({"label": format!("{n} {long}"), "detail": long, "documentation": long, "insertText": long}))},
        "textDocument/signatureHelp": {"result": {"activeSignature": 120, "signatures":
            many(&|n| json!({"label": format!("{n} {long}"), "documentation": long, "parameters": [{"label": long}, {"label": [0, 9_000]}]}))}},
        "textDocument/documentSymbol": {"result": many(&item)},
        "workspace/symbol": {"result": many(&|n| json!({"name": format!("foo {n} {long}"), "kind": 12, "containerName": long, "location": {"uri": uri, "range": range(0)}}))},
        "textDocument/codeAction": {"result": many(&|n| json!({"title": format!("{n} {long}"), "kind": "quickfix", "diagnostics": [{"range": range(0), "message": long}], "edit": {}}))},
        "textDocument/prepareCallHierarchy": {"result": [item(0)]},
        "callHierarchy/incomingCalls": {"result": many(&|n| json!({"from": item(n), "fromRanges": vec![range(1); 300]}))},
    }}));
    let workspace = project.open();
    let at = json!({"path": "a.scr", "line": 0, "character": 5});
    for (tool, arguments, list) in [
        ("lsp_completion", at.clone(), "items"),
        ("lsp_signature", at.clone(), "signatures"),
        ("lsp_symbols", json!({"path": "a.scr"}), "symbols"),
        ("lsp_symbols", json!({"query": "foo"}), "symbols"),
        ("lsp_code_actions", json!({"path": "a.scr", "line": 0}), "actions"),
        ("lsp_calls", json!({"path": "a.scr", "line": 0, "symbol": "foo", "direction": "incoming"}), "items"),
    ] {
        let answer = workspace.ok(tool, arguments).await;
        let size = answer.to_string().len();
        assert!(size < LIST_ROOM, "{tool}: {size} bytes");
        assert!(answer[list].as_array().is_some_and(|list| !list.is_empty()), "{tool}: {answer}");
        let told = answer["has_more"] == true || answer["notes"].to_string().contains("omitted");
        assert!(told && answer.to_string().contains("more bytes)"), "{tool}: {answer}");
    }
    let signatures = workspace.ok("lsp_signature", at).await;
    let active = |one: &&Value| one["active"] == true;
    let active = signatures["signatures"].as_array().and_then(|all| all.iter().find(active));
    assert!(active.is_some_and(|one| one["label"].as_str().is_some_and(|label| label.starts_with("120 "))));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_30_rename_edit_inserting_too_much_text_is_refused_whole() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let uri = format!("file://{}/a.scr", project.root().display());
    let edit = json!({"changes": {uri: [{"range": range(0), "newText": "x".repeat(20 << 20)}]}});
    project.set_scenario(&json!({"answers": {"textDocument/rename": {"result": edit}}}));
    let workspace = project.open();
    let arguments = json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new"});
    let result = workspace.call("lsp_rename", arguments).await;
    let told = result.value.to_string();
    assert!(!result.ok() && told.contains("it inserts 20971520 bytes"), "{told}");
    assert_eq!(project.read("a.scr"), TEXT);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_30_server_error_of_any_length_is_truncated() {
    let error = json!({"code": -32803, "message": "no ".repeat(1 << 20)});
    let project =
        project(&json!({"textDocument/hover": {"error": error}, "textDocument/rename": {"error": error}}));
    let workspace = project.open();
    let rename = json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new"});
    for (tool, arguments) in [("lsp_hover", place()), ("lsp_rename", rename)] {
        let result = workspace.call(tool, arguments).await;
        let told = result.value.to_string();
        assert!(told.len() < TEXT_ROOM && told.contains("more bytes)"), "{tool}: {} bytes", told.len());
    }
    workspace.shutdown().await;
}

/// A command whose server does not answer in time: it ends the server without another wait. If
/// `stopped`, the server is stopped like a shell's job after the request.
fn ends_in_haste(project: &Project, stopped: bool) {
    let mut command = project.command(None);
    command.args(["--timeout", "3", "-vvv", "hover", "a.scr:1:5"]);
    let stopper = stopped.then(|| {
        let log = project.log();
        std::thread::spawn(move || {
            let asked = |log: &ServerLog| {
                (log.count("textDocument/hover") > 0)
                    .then(|| log.lines().first().map(|line| line["pid"].clone()))
            };
            let id = log.wait_for("the question", Duration::from_secs(60), asked).and_then(|id| id.as_i64());
            let id = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).expect("its number");
            kill_process(id, Signal::STOP).expect("it is stopped");
        })
    });
    let said = run(command);
    stopper.into_iter().for_each(|stopper| stopper.join().expect("it was stopped"));
    assert!(said.err.contains("it does not respond and is ended"), "{}", said.err);
    assert_eq!(said.code, Some(4), "{}", said.err);
}

#[test]
#[ignore = "slow: just slow"]
fn row_31_server_past_deadline_is_not_waited_for_again() {
    let reads_nothing = json!({"rules": [{"at": "initialized", "do": {"deaf": {}}}]});
    let long = "foo bar\n".repeat(1 << 20);
    let project = Project::scripted(&reads_nothing, "", [("a.scr", long.as_str())]);
    ends_in_haste(&project, false);

    let drip = json!({"drip": {"text": "Content-Length: 5000\r\n\r\n{", "every_ms": 500}});
    let drips = json!({"rules": [{"at": "textDocument/hover", "when": "before", "do": drip}]});
    ends_in_haste(&Project::scripted(&drips, "", [("a.scr", TEXT)]), false);

    let silent = json!({"answers": {"textDocument/hover": {"never": true, "ignores_cancel": true}}});
    ends_in_haste(&Project::scripted(&silent, "", [("a.scr", TEXT)]), true);
}
