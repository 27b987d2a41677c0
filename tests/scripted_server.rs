//! The scripted server itself: each fault in a scenario really occurs on the wire.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::raw_client::{RawClient, RawError, Start, uri};
use crate::support::{Marker, Project, fingerprint, processes, scenarios, signal_processes, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(60);
/// The time in which no message must arrive.
const A_WHILE: Duration = Duration::from_millis(150);
const TEXT: &str = "def foo\nfoo WRONG 😀 foo\n";
const URI_ENDING: &str = "/project/a.scr";

struct Talk {
    project: Project,
    client: RawClient,
    uri: String,
}

impl Talk {
    fn new(scenario: &Value) -> Self {
        Self::offering(scenario, &["utf-8", "utf-16", "utf-32"])
    }

    fn offering(scenario: &Value, encodings: &[&'static str]) -> Self {
        let project = Project::scripted(scenario, "", [("a.scr", TEXT), ("b.scr", "foo foo foo\n")]);
        let client = RawClient::start(Self::start(&project, encodings)).expect("a start");
        let uri = uri(&project.path("a.scr"));
        Self { project, client, uri }
    }

    fn start(project: &Project, encodings: &[&'static str]) -> Start {
        Start {
            encodings: encodings.to_vec(),
            timeout: SOON,
            ..Start::new(project.server_command(), project.root())
        }
    }

    fn open(scenario: &Value) -> Self {
        let mut talk = Self::new(scenario);
        talk.client.open(&talk.uri, "scripted", 1, TEXT).expect("didOpen");
        talk
    }

    fn hover(&mut self) -> Result<Value, RawError> {
        self.client.ask_at("textDocument/hover", &self.uri, 0, 4)
    }

    fn hover_text(&mut self) -> String {
        let hover = self.hover().expect("a hover");
        hover["contents"]["value"].as_str().expect("text").to_owned()
    }

    /// (version, number of diagnostics) of the publishes up to a while after the last expected one.
    fn publishes(&mut self, count: usize) -> Vec<(Option<i64>, usize)> {
        let deadline = Instant::now() + SOON;
        self.client
            .until(deadline, |client| (client.publishes.len() >= count).then_some(()))
            .expect("reading");
        self.client.until(Instant::now() + A_WHILE, |_| None::<()>).expect("reading");
        self.client.publishes.iter().map(|publish| (publish.version, publish.diagnostics.len())).collect()
    }
}

#[test]
fn scripted_server_default_scenario_answers_correctly() {
    for behaves in [false, true] {
        let mut talk = Talk::open(&json!({"behaves": behaves}));
        assert_eq!(talk.hover_text(), format!("foo v1 {}", fingerprint(TEXT)));
        let references = talk.client.ask_at("textDocument/references", &talk.uri, 0, 4).expect("references");
        assert_eq!(references.as_array().map(Vec::len), Some(6), "{references}");
        let definition =
            talk.client.ask_at("textDocument/definition", &talk.uri, 1, 1).expect("a definition");
        assert_eq!(definition[0]["range"]["start"], json!({"line": 0, "character": 4}));
        assert_eq!(talk.publishes(1), [(Some(1), 1)]);
        assert!(talk.project.log().violations().is_empty());
        let status = talk.client.stop(SOON).expect("an end");
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn incremental_changes_in_each_encoding_are_applied_or_noted() {
    for (encoding, after_emoji) in [("utf-8", 15), ("utf-16", 13), ("utf-32", 12)] {
        let mut talk = Talk::open(&json!({"encoding": encoding}));
        assert_eq!(talk.client.encoding(), encoding);
        let change = |version: i64, character: i64| {
            let at = json!({"line": 1, "character": character});
            json!({
                "textDocument": {"uri": talk.uri, "version": version},
                "contentChanges": [{"range": {"start": at, "end": at}, "text": "bar"}],
            })
        };
        let (right, past_the_end, old) = (change(2, after_emoji - 1), change(3, 400), change(3, 0));
        talk.client.notify("textDocument/didChange", &right).expect("a change");
        let expected = "def foo\nfoo WRONG 😀bar foo\n";
        let hover = talk.hover_text();
        assert_eq!(hover, format!("foo v2 {}", fingerprint(expected)), "{encoding}");
        assert_eq!(talk.project.log().text(URI_ENDING).as_deref(), Some(expected));
        assert!(talk.project.log().violations().is_empty());
        talk.client.notify("textDocument/didChange", &past_the_end).expect("a change");
        talk.client.notify("textDocument/didChange", &old).expect("a change");
        talk.hover_text();
        let violations = talk.project.log().violations();
        assert!(
            violations[0].contains("column 400") && violations[1].contains("version 3"),
            "{violations:?}"
        );
    }
}

#[test]
fn position_encoding_not_offered_is_not_announced() {
    let talk = Talk::offering(&json!({"encoding": "utf-8"}), &["utf-16"]);
    assert_eq!(talk.client.encoding(), "utf-16");
}

#[test]
#[ignore = "slow: just slow"]
fn scripted_diagnostics_modes_publish_as_configured() {
    let change = |scenario: Value, count: usize| {
        let mut talk = Talk::open(&json!({"diagnostics": scenario}));
        talk.publishes(1);
        talk.client.change(&talk.uri, 2, "WRONG WRONG\n").expect("a change");
        talk.publishes(count)
    };
    assert_eq!(change(json!({}), 2), [(Some(1), 1), (Some(2), 2)]);
    assert_eq!(change(json!({"mode": "push_unversioned"}), 2), [(None, 1), (None, 2)]);
    assert_eq!(
        change(json!({"stale_first": true, "debounce_ms": 50}), 3),
        [(Some(1), 1), (Some(1), 1), (Some(2), 2)]
    );
    assert_eq!(change(json!({"twice": true}), 4), [(Some(1), 1), (Some(1), 1), (Some(2), 2), (Some(2), 2)]);
    assert_eq!(change(json!({"empty_pushes": 1}), 3), [(Some(1), 0), (Some(1), 1), (Some(2), 2)]);
    assert_eq!(change(json!({"only_on_save": true}), 1), [(Some(1), 1)]);
    assert_eq!(change(json!({"version_offset": 7}), 2), [(Some(8), 1), (Some(9), 2)]);
    assert_eq!(
        change(json!({"items": [{"range": {"start": {"line": -1}}}]}), 2),
        [(Some(1), 1), (Some(2), 1)]
    );
    let mut silent = Talk::open(&json!({"diagnostics": {"mode": "none"}}));
    assert_eq!(silent.client.next_publish("", A_WHILE, |_| true).expect("reading").map(|_| ()), None);
}

#[test]
fn diagnostics_debounce_drops_superseded_versions() {
    let mut talk = Talk::open(&json!({"diagnostics": {"debounce_ms": 100, "silent_when_same": true}}));
    talk.client.change(&talk.uri, 2, "WRONG\n").expect("a change");
    talk.client.change(&talk.uri, 3, "WRONG WRONG\n").expect("a change");
    assert_eq!(talk.publishes(1), [(Some(3), 2)]);
    talk.client.change(&talk.uri, 4, "WRONG WRONG \n").expect("a change");
    assert_eq!(talk.publishes(1), [(Some(3), 2)], "nothing new to say");
}

#[test]
fn diagnostics_only_on_save_are_published_after_did_save() {
    let mut talk = Talk::open(&json!({"diagnostics": {"only_on_save": true, "idle": {
        "method": "textDocument/status", "field": "state", "busy": "busy", "done": "idle"}}}));
    talk.client.change(&talk.uri, 2, "WRONG WRONG\n").expect("a change");
    talk.client.notify("textDocument/didSave", &json!({"textDocument": {"uri": talk.uri}})).expect("a save");
    assert_eq!(talk.publishes(2), [(Some(1), 1), (Some(2), 2)]);
    let states: Vec<&Value> =
        talk.client.notifications.iter().map(|(_, message)| &message["params"]["state"]).collect();
    assert_eq!(states, ["busy", "idle", "busy", "idle"]);
}

#[test]
fn pull_diagnostics_work_static_or_registered_late() {
    for behaves in [false, true] {
        let mut talk = Talk::open(&json!({"behaves": behaves, "diagnostics": {"mode": "pull"}}));
        assert!(talk.client.pulls());
        assert_eq!(talk.client.pull(&talk.uri).expect("a report").len(), 1);

        let late = json!({"behaves": behaves, "diagnostics": {"mode": "pull", "register_after_ms": 60}});
        let mut talk = Talk::open(&late);
        assert!(!talk.client.pulls());
        assert!(matches!(talk.client.pull(&talk.uri), Err(RawError::Answered { code: -32601, .. })));
        let deadline = Instant::now() + SOON;
        talk.client
            .until(deadline, |client| client.pulls().then_some(()))
            .expect("reading")
            .expect("a registration");
        assert_eq!(talk.client.pull(&talk.uri).expect("a report").len(), 1);
    }
}

#[test]
#[ignore = "slow: just slow"]
fn references_are_half_until_indexing_ends() {
    for behaves in [false, true] {
        let scenario =
            json!({"behaves": behaves, "index": {"ms": 1500, "title": "Loading", "server_status": true}});
        let mut talk = Talk::open(&scenario);
        let count = |talk: &mut Talk| {
            let found = talk.client.ask_at("textDocument/references", &talk.uri, 0, 4).expect("references");
            found.as_array().map(Vec::len)
        };
        assert_eq!(count(&mut talk), Some(3));
        let ended = |client: &RawClient| {
            client
                .notifications
                .iter()
                .any(|(_, message)| message["params"]["quiescent"] == true)
                .then_some(())
        };
        talk.client.until(Instant::now() + SOON, ended).expect("reading").expect("an end");
        assert_eq!(count(&mut talk), Some(6));
        let progress =
            talk.client.notifications.iter().filter(|(_, message)| message["method"] == "$/progress");
        let kinds: Vec<&Value> = progress.map(|(_, message)| &message["params"]["value"]["kind"]).collect();
        assert_eq!(kinds, ["begin", "report", "report", "report", "report", "end"]);
    }
}

#[test]
fn scripted_answers_can_be_delayed_failed_or_never_sent() {
    let mut talk = Talk::open(&json!({"answers": {
        "textDocument/hover": {"first": {"times": 2, "error": {"code": -32801}}, "delay_ms": 30},
        "textDocument/definition": {"never": true},
        "textDocument/references": {"never": true, "ignores_cancel": true},
        "textDocument/typeDefinition": {"result": {"uri": "${root}/../secret", "of": "${uri}"}},
        "textDocument/implementation": {"error": {"code": -32803, "message": "no"}},
        "textDocument/completion": {"result": null},
    }}));
    for _ in 0..2 {
        assert!(matches!(talk.hover(), Err(RawError::Answered { code: -32801, .. })));
    }
    let begun = Instant::now();
    assert!(talk.hover_text().starts_with("foo v1"));
    assert!(begun.elapsed() >= Duration::from_millis(30));

    let params = json!({"textDocument": {"uri": talk.uri}, "position": {"line": 0, "character": 4}});
    let silent = talk.client.send("textDocument/definition", &params).expect("a request");
    let deaf = talk.client.send("textDocument/references", &params).expect("a request");
    assert!(
        !talk
            .client
            .read_one(Instant::now() + A_WHILE)
            .is_ok_and(|read| read && talk.client.publishes.is_empty())
    );
    for id in [silent, deaf] {
        talk.client.notify("$/cancelRequest", &json!({"id": id})).expect("a cancel");
    }
    assert!(matches!(talk.client.wait(silent), Err(RawError::Answered { code: -32800, .. })));

    let leading_out = talk.client.ask_at("textDocument/typeDefinition", &talk.uri, 0, 0).expect("a result");
    assert!(leading_out["uri"].as_str().is_some_and(|uri| uri.ends_with("/project/../secret")));
    assert_eq!(leading_out["of"], talk.uri.as_str());
    let refused = talk.client.ask_at("textDocument/implementation", &talk.uri, 0, 0);
    assert!(matches!(refused, Err(RawError::Answered { code: -32803, .. })));
    assert_eq!(
        talk.client.ask_at("textDocument/completion", &talk.uri, 0, 0).expect("a result"),
        Value::Null
    );
}

#[test]
fn scripted_crash_at_each_point_exits_with_stderr() {
    for at in scenarios::CRASH_POINTS {
        let scenario = json!({"crash": {"at": at, "code": 7, "stderr": ["out of cheese"], "times": 1}});
        let project = Project::scripted(&scenario, "", [("a.scr", TEXT)]);
        let path = uri(&project.path("a.scr"));
        let conversation = || -> Result<RawClient, RawError> {
            let mut client = RawClient::start(Talk::start(&project, &["utf-8"]))?;
            client.open(&path, "scripted", 1, TEXT)?;
            client.change(&path, 2, "def foo\n")?;
            client.notify("textDocument/didSave", &json!({"textDocument": {"uri": path}}))?;
            client.ask_at("textDocument/hover", &path, 0, 4)?;
            client.request("shutdown", &Value::Null)?;
            Ok(client)
        };
        match conversation() {
            Err(RawError::Ended { stderr }) => assert_eq!(stderr, ["out of cheese"], "{at}"),
            other => panic!("{at}: {:?}", other.map(|_| "it lives")),
        }
        assert_eq!(project.log().events("exit")[0]["code"], 7, "{at}");
        assert!(conversation().is_ok(), "{at}: only the first start is to crash");
        assert_eq!(project.log().starts(), 2);
    }
}

/// The complete output of a server that plays `scenario`, after `initialize` and the end of stdin.
fn bytes_of(scenario: &Value) -> Vec<u8> {
    let project = Project::scripted(scenario, "", []);
    let [program, argument] = project.server_command();
    let mut child = Command::new(program)
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the scripted server");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        .to_string();
    let mut stdin = child.stdin.take().expect("stdin");
    std::io::Write::write_all(&mut stdin, format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .expect("a request");
    drop(stdin);
    let mut bytes = Vec::new();
    child.stdout.take().expect("stdout").read_to_end(&mut bytes).expect("its output");
    child.wait().expect("its end");
    bytes
}

#[test]
fn frame_styles_are_each_written_to_the_wire() {
    let of = |style: &str| {
        bytes_of(&json!({"answers": {"initialize": {"result": {"x": "word"}, "frame": style}}}))
    };
    let text = |style: &str| String::from_utf8(of(style)).expect("text");
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{"x":"word"}}"#;
    let length = body.len();
    assert_eq!(text("good"), format!("Content-Length: {length}\r\n\r\n{body}"));
    assert_eq!(text("lower_case"), format!("content-length: {length}\r\n\r\n{body}"));
    assert_eq!(text("lf_only"), format!("Content-Length: {length}\n\n{body}"));
    assert_eq!(text("no_space"), format!("Content-Length:{length}\r\n\r\n{body}"));
    assert!(text("extra_header").starts_with("Content-Type: "));
    assert_eq!(text("length_too_long"), format!("Content-Length: {}\r\n\r\n{body}", length + 10));
    assert_eq!(text("length_too_short"), format!("Content-Length: {}\r\n\r\n{body}", length - 5));
    assert_eq!(text("length_negative"), format!("Content-Length: -{length}\r\n\r\n{body}"));
    assert_eq!(text("length_huge"), format!("Content-Length: 10737418240\r\n\r\n{body}"));
    assert_eq!(text("length_not_a_number"), format!("Content-Length: many\r\n\r\n{body}"));
    assert!(!text("length_missing").contains("Content-Length"));
    assert_eq!(text("half"), format!("Content-Length: {length}\r\n\r\n{}", &body[..length / 2]));
    assert!(
        serde_json::from_str::<Value>(text("not_json").split("\r\n\r\n").nth(1).expect("a body")).is_err()
    );
    assert!(String::from_utf8(of("invalid_utf8")).is_err());
    let good = of("good");
    assert!(scenarios::FRAME_STYLES.iter().all(|style| of(style) != good));
}

#[test]
fn reply_faults_are_each_written_to_the_wire() {
    let of = |reply: &str| {
        let bytes = bytes_of(&json!({"answers": {"initialize": {"result": 5, "reply": reply}}}));
        let text = String::from_utf8(bytes).expect("text");
        let bodies = text
            .split("Content-Length: ")
            .skip(1)
            .map(|frame| frame.split("\r\n\r\n").nth(1).expect("a body"));
        bodies.map(|body| serde_json::from_str(body).expect("JSON")).collect::<Vec<Value>>()
    };
    assert_eq!(of("normal"), [json!({"jsonrpc": "2.0", "id": 1, "result": 5})]);
    assert_eq!(of("twice").len(), 2);
    assert_eq!(of("null_id")[0]["id"], Value::Null);
    assert_eq!(of("unknown_id")[0]["id"], 987_654_321);
    assert_eq!(of("string_id")[0]["id"], "1");
    assert_eq!(of("empty"), [json!({"jsonrpc": "2.0", "id": 1})]);
    let normal = of("normal");
    assert!(scenarios::REPLIES.iter().all(|reply| of(reply) != normal));
}

#[test]
fn scenario_rules_write_junk_floods_and_huge_messages() {
    let written = bytes_of(&json!({"rules": [
        {"at": "start", "do": {"junk": ["Loading...", "done"]}},
        {"at": "initialize", "when": "before", "do": {"bytes": "\u{0}\r\n"}},
        {"at": "initialize", "do": {"flood": {"count": 3}}},
        {"at": "initialize", "do": {"frame": "not_json"}},
    ]}));
    let written = String::from_utf8(written).expect("text");
    assert!(written.starts_with("Loading...\ndone\n\u{0}\r\nContent-Length: "), "{written:?}");
    assert!(written.contains("flood 0") && written.contains("flood 2") && written.ends_with("oops"));

    let huge = bytes_of(&json!({"rules": [{"at": "initialize", "do": {"huge": {"bytes": 68_157_440}}}]}));
    assert!(huge.len() > 65 << 20);
}

#[test]
fn server_requests_are_answered_and_answers_logged() {
    let big = 5_000_000_000_u64;
    let mut talk = Talk::open(&json!({"rules": [
        {"at": "textDocument/didOpen", "do": {"request": {"method": "custom/unknown", "params": {}, "id": big}}},
        {"at": "textDocument/didOpen", "do": {"request": {
            "method": "workspace/configuration", "params": {"items": [{"section": "a"}]}, "id": "text"}}},
        {"at": "textDocument/didOpen", "delay_ms": 20, "do": {"request": {
            "method": "window/showMessageRequest", "params": {"type": 1, "message": "?"}}}},
        {"at": "first_request", "do": {"message": {"jsonrpc": "2.0", "id": null, "result": 1}}},
    ]}));
    let deadline = Instant::now() + SOON;
    talk.client
        .until(deadline, |client| (client.server_requests.len() == 3).then_some(()))
        .expect("reading")
        .expect("three");
    let log = talk.project.log();
    let noted = |id: Value| log.wait_for("an answer", SOON, |log| log.answer(&id));
    assert_eq!(noted(json!(big))["result"], Value::Null);
    assert_eq!(noted(json!("text"))["result"], json!([null]));
    assert_eq!(noted(json!(1))["result"], Value::Null);
    talk.hover_text();
    let id_null = talk.client.read_one(Instant::now() + SOON);
    assert!(matches!(&id_null, Err(RawError::Malformed(what)) if what.contains("null")), "{id_null:?}");
}

#[test]
fn every_server_request_method_is_sent() {
    let talk = &mut Talk::open(&json!({"rules": scenarios::server_requests("file:///etc/passwd")}));
    let count = scenarios::SERVER_REQUESTS.len();
    let deadline = Instant::now() + SOON;
    talk.client
        .until(deadline, |client| (client.server_requests.len() == count).then_some(()))
        .expect("reading");
    let log = talk.project.log();
    for method in scenarios::SERVER_REQUESTS {
        log.wait_for(method, SOON, |log| log.answer(&json!(method)));
    }
}

#[test]
fn malformed_results_and_diagnostics_are_sent_unchanged() {
    for (method, result) in scenarios::odd_results() {
        let mut talk = Talk::open(&json!({"answers": {method: {"result": result}}}));
        assert_eq!(talk.client.ask_at(method, &talk.uri, 0, 4).expect("a result"), result);
    }
    let items = scenarios::odd_diagnostics();
    let mut talk = Talk::open(&json!({"diagnostics": {"items": items}}));
    talk.publishes(1);
    assert_eq!(json!(talk.client.publishes[0].diagnostics), items);
}

#[test]
fn scripted_server_waits_for_configuration_or_exits_on_null() {
    let scenario = json!({"configuration": {"sections": ["scripted"], "holds": true, "exits_on_null": true}});
    let mut talk = Talk::open(&scenario);
    assert!(matches!(talk.hover(), Err(RawError::Ended { .. })));

    let project = Project::scripted(&scenario, "", [("a.scr", TEXT)]);
    let mut start = Talk::start(&project, &["utf-8"]);
    start.configuration.insert("scripted".to_owned(), json!({"ok": true}));
    let mut client = RawClient::start(start).expect("a start");
    let uri = uri(&project.path("a.scr"));
    let hover = client.ask_at("textDocument/hover", &uri, 0, 4).expect("a hover");
    assert_eq!(hover["contents"]["value"], format!("foo disk {}", fingerprint(TEXT)));
}

#[test]
fn server_refusing_exit_survives_sigterm_until_killed() {
    let mut talk = Talk::new(&json!({"exit": "refuses"}));
    talk.client.send("shutdown", &Value::Null).expect("a request");
    talk.client.notify("exit", &Value::Null).expect("a notification");
    talk.client.close_stdin();
    let log = talk.project.log();
    log.wait_for("the end of stdin", SOON, |log| log.events("eof").pop());
    let marker = talk.project.marker();
    signal_processes(&marker, Signal::TERM);
    log.wait_for("SIGTERM", SOON, |log| log.events("sigterm").pop());
    assert!(talk.client.ended(A_WHILE).expect("waiting").is_none());
    assert_eq!(crate::support::count_processes(&marker), 1);
    drop(talk.client);
    assert_eq!(crate::support::count_processes(&marker), 0);
}

#[test]
fn server_needing_eof_stays_until_stdin_closes() {
    let mut talk = Talk::new(&json!({"exit": "needs_eof"}));
    talk.client.request("shutdown", &Value::Null).expect("an answer");
    talk.client.notify("exit", &Value::Null).expect("a notification");
    assert!(talk.client.ended(A_WHILE).expect("waiting").is_none());
    talk.client.close_stdin();
    assert_eq!(talk.client.ended(SOON).expect("waiting").and_then(|status| status.code()), Some(0));
}

#[test]
fn forked_grandchild_survives_its_server_and_sigterm() {
    for setsid in [false, true] {
        let marker = Marker::new();
        let child = json!({"marker": marker.as_str(), "ignores_sigterm": true, "setsid": setsid});
        let talk = Talk::new(&json!({"fork_child": child}));
        wait_until("the grandchild lives", SOON, || marker.living() == 1);
        drop(talk.client);
        let [pid] = processes(marker.as_str())[..] else { panic!("one grandchild") };
        let catches_sigterm = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap_or("0");
            u64::from_str_radix(caught, 16).is_ok_and(|mask| mask & (1 << 14) != 0)
        };
        wait_until("it catches SIGTERM", SOON, catches_sigterm);
        signal_processes(marker.as_str(), Signal::TERM);
        std::thread::sleep(A_WHILE);
        assert_eq!(marker.living(), 1, "setsid: {setsid}");
    }
}

#[test]
fn scenario_with_unknown_field_is_rejected() {
    let output =
        Command::new(crate::support::scripted_server()).arg(r#"{"diagnostic": {}}"#).output().expect("a run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("unknown field `diagnostic`"), "{said}");
    let output =
        Command::new(crate::support::scripted_server()).arg(r#"{"behaves": true, "frame": "half"}"#).output();
    assert!(String::from_utf8_lossy(&output.expect("a run").stderr).contains("`frame` needs"));
    let output = Command::new(crate::support::scripted_server())
        .arg(r#"{"behaves": true, "answers": {"initialize": {}}}"#)
        .output()
        .expect("a run");
    assert!(String::from_utf8_lossy(&output.stderr).contains("`answers of this method` needs"));
}

#[test]
fn initialize_never_answered_start_times_out() {
    let project = Project::scripted(&json!({"answers": {"initialize": {"never": true}}}), "", []);
    let start = Start { timeout: A_WHILE, ..Start::new(project.server_command(), project.root()) };
    assert!(matches!(RawClient::start(start).map(|_| ()), Err(RawError::Timeout(_))));
    assert_eq!(project.log().count("initialize"), 1);
}
