//! Diagnostics in every way of delivery: never those of an older text, and silence does not mean
//! clean.

use std::time::Duration;

use lsp_tools::Verdict;
use serde_json::{Value, json};

use super::play::{Play, SOON, TEXT, at, in_time, timed};
use crate::support::Project;

/// Each way of delivery: the scenario's `diagnostics`, and its settings in the catalogue.
fn modes() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("versioned", json!({}), ""),
        ("versioned, known", json!({}), "diagnostics = {source = \"versioned-push\"}"),
        ("versioned, stale first", json!({"stale_first": true, "debounce_ms": 30}), ""),
        ("versioned, twice", json!({"twice": true}), ""),
        ("versioned, debounced", json!({"debounce_ms": 80}), ""),
        (
            "unversioned, known",
            json!({"mode": "push_unversioned"}),
            "diagnostics = {source = \"push\", quiet-ms = 20}",
        ),
        ("pull", json!({"mode": "pull"}), ""),
        ("pull, registered late", json!({"mode": "pull", "register_after_ms": 150}), ""),
        ("pushed instead of pulled", json!({"debounce_ms": 30}), "diagnostics = {source = \"pull\"}"),
        (
            "on save",
            json!({"only_on_save": true}),
            "diagnostics = {source = \"versioned-push\", on-save = true}",
        ),
        (
            "empty first",
            json!({"empty_pushes": 1, "debounce_ms": 50}),
            "diagnostics = {source = \"versioned-push\", first-empty-is-noise = true}",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn alternating_errors_are_never_stale_in_any_diagnostics_mode() {
    for (name, diagnostics, table) in modes() {
        let play = Play::with(&json!({ "diagnostics": diagnostics }), table, [("a.scr", "def foo\n")]);
        for round in 0..30 {
            let text =
                if round % 2 == 0 { "def foo WRONG\n".to_owned() } else { format!("def foo {round}\n") };
            play.project.write("a.scr", &text);
            if let Some(stale) = play.stale("a.scr").await {
                panic!("{name}, round {round}: {stale}");
            }
        }
        play.end().await;
    }
}

/// The server may have begun with a request for a signature whose caller has timed out.
#[tokio::test(flavor = "multi_thread")]
async fn text_is_sent_again_after_a_request_for_a_signature_even_if_it_timed_out() {
    let table = "diagnostics = {source = \"pull\", stale-after-signature = true}";
    for (answer, timeout) in [(json!({"never": true}), 2_000), (json!({"result": null}), 60_000)] {
        let scenario =
            json!({"diagnostics": {"mode": "pull"}, "answers": {"textDocument/signatureHelp": answer}});
        let project = Project::scripted(&scenario, table, [("a.scr", "def foo\n")]);
        let play = Play::open(&project, Some(Duration::from_millis(timeout)));
        in_time(play.runtime.signature(at("a.scr", 1, 0))).await.ok();
        assert_eq!(play.log().count("textDocument/signatureHelp"), 1);
        for _ in 0..2 {
            assert_eq!(play.stale("a.scr").await, None);
            assert_eq!(play.log().count("textDocument/didChange"), 1, "once");
        }
        play.end().await;
    }
}

/// The push from before the project load is not final, even if the load has ended when the request
/// comes.
#[tokio::test(flavor = "multi_thread")]
async fn findings_after_load_are_waited_for_when_push_came_before() {
    let scenario = json!({"index": {"ms": 200}, "diagnostics": {"empty_pushes": 1, "debounce_ms": 1_000}});
    let table = "readiness = {progress = [\"Indexing\"]}\n\
                 diagnostics = {source = \"versioned-push\", quiet-ms = 2_000}";
    let play = Play::with(&scenario, table, [("a.scr", "def foo WRONG\n")]);
    play.references("a.scr").await.expect("an answer after the load");
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.end().await;
}

/// Biome sends what it computed before its scan of the project also right after it.
#[tokio::test(flavor = "multi_thread")]
async fn findings_after_load_are_waited_for_when_older_ones_came_right_after_it() {
    let scenario = json!({
        "index": {"ms": 200, "begins_on": "did_open"},
        "diagnostics": {"empty_pushes": 2, "empty_delay_ms": 250, "debounce_ms": 200},
    });
    let table = "readiness = {progress = [\"Indexing\"]}\n\
                 diagnostics = {source = \"versioned-push\", quiet-ms = 500}";
    let play = Play::with(&scenario, table, [("a.scr", "def foo WRONG\n")]);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.end().await;
}

/// An older version of a server, which pushes, while the current version pulls.
#[tokio::test(flavor = "multi_thread")]
async fn findings_that_are_pushed_instead_of_pulled_are_taken() {
    let table = "diagnostics = {source = \"pull\"}";
    let play = Play::with(&json!({}), table, [("a.scr", "def foo WRONG\n")]);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.project.write("a.scr", "def foo\n");
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 0));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_after_empty_first_push_of_one_version_are_waited_for() {
    let scenario = json!({"diagnostics": {"empty_pushes": 1, "debounce_ms": 200}});
    let twice = "diagnostics = {source = \"versioned-push\", pushes-per-version = 2}";
    for table in ["", twice] {
        let play = Play::with(&scenario, table, [("a.scr", "def foo WRONG\n")]);
        assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1), "{table}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn unversioned_push_diagnostics_are_fresh_but_partial() {
    let play =
        Play::with(&json!({"diagnostics": {"mode": "push_unversioned"}}), "", [("a.scr", "def foo\n")]);
    for round in 0..4 {
        let wrong = round % 2;
        play.project.write("a.scr", if wrong == 1 { "def foo WRONG\n" } else { "def foo RIGHT\n" });
        let answer = in_time(play.check("a.scr")).await.expect("a check");
        assert_eq!(
            (answer.verdict, answer.output.count),
            (Verdict::Partial, wrong),
            "round {round}: {answer:?}"
        );
    }
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn silent_server_verdict_is_no_data_and_never_clean() {
    let sources = [
        "",
        "diagnostics = {source = \"versioned-push\"}",
        "diagnostics = {source = \"push\", quiet-ms = 20}",
        "diagnostics = {source = \"pull\"}",
    ];
    for table in sources {
        let project = Project::scripted(&json!({"diagnostics": {"mode": "none"}}), table, [("a.scr", TEXT)]);
        let play = Play::open(&project, Some(Duration::from_secs(1)));
        for _ in 0..2 {
            let answer = in_time(play.check("a.scr")).await.expect("a check");
            assert_eq!((answer.verdict, answer.output.count), (Verdict::NoData, 0), "{table}: {answer:?}");
            assert!(answer.server_status.detail.is_some(), "{table}: {answer:?}");
            play.project.write("a.scr", "def foo changed\n");
        }
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_is_silent_about_a_refused_configuration_is_not_awaited() {
    let table = "diagnostics = {source = \"versioned-push\", silent-if-refused = true}\n\
                 complaints = [\"^The configuration has errors\"]";
    let message = |method: &str, delay_ms: u64, message: &str| {
        let notify = json!({"method": method, "params": {"type": 1, "message": message}});
        json!({"at": "textDocument/didOpen", "delay_ms": delay_ms, "do": {"notify": notify}})
    };
    let scenario = json!({
        "diagnostics": {"mode": "none"},
        "rules": [
            message("window/logMessage", 10, "Unknown key `linterr`."),
            message("window/showMessage", 200, "The configuration has errors."),
        ],
    });
    let project = Project::scripted(&scenario, table, [("a.scr", TEXT)]);
    let play = Play::open(&project, Some(SOON));
    let (answer, took) = timed(play.check("a.scr")).await;
    let answer = answer.expect("a check");
    assert_eq!(answer.verdict, Verdict::NoData, "{answer:?}");
    let detail = answer.server_status.detail.expect("a reason");
    assert_eq!(
        detail,
        "scripted published no diagnostics for this text; scripted does not accept the project's \
         configuration: Unknown key `linterr`. The configuration has errors."
    );
    assert!(took < SOON / 3, "{took:?}");
    play.end().await;
}

/// The table of a server whose hover shows that it checks nothing in the file.
const SKIPS: &str = "diagnostics = {source = \"versioned-push\", skips = {method = \"textDocument/hover\", \
                     params = {textDocument = {uri = \"${uri}\"}, position = {line = 0, character = 0}}, \
                     outside = \"^null$\", reason = \"does not check ignored files\"}}";

#[tokio::test(flavor = "multi_thread")]
async fn file_that_a_server_skips_is_not_awaited_and_needs_no_findings_of_it() {
    let scenario = json!({
        "diagnostics": {"mode": "none"},
        "answers": {"textDocument/hover": {"result": null}},
    });
    let project = Project::scripted(&scenario, SKIPS, [("a.scr", TEXT), ("b.scr", TEXT)]);
    let play = Play::open(&project, Some(SOON));
    let (answer, took) = timed(play.check("a.scr")).await;
    let answer = answer.expect("a check");
    assert_eq!((answer.verdict, answer.output.unchecked), (Verdict::Hints, 1), "no server checks it");
    assert_eq!(answer.server_status.detail.as_deref(), Some("scripted does not check ignored files"));
    let (folder, _) = timed(play.check(".")).await;
    let folder = folder.expect("a check");
    assert_eq!(folder.verdict, Verdict::Complete, "nobody named the files: {folder:?}");
    assert_eq!(folder.notes, ["scripted does not check ignored files: a.scr and 1 more"]);
    assert!(took < SOON / 3, "{took:?}");
    play.end().await;
}

/// The response alone would look as if the server skipped the file.
#[tokio::test(flavor = "multi_thread")]
async fn file_is_not_skipped_by_a_server_that_refuses_the_configuration() {
    let table = SKIPS.replacen('{', "{silent-if-refused = true, ", 1)
        + "\ncomplaints = [\"^The configuration has errors\"]\nreadiness = {progress = [\"Scanning\"]}";
    let params = json!({"type": 1, "message": "The configuration has errors."});
    let notify = json!({"method": "window/showMessage", "params": params});
    let scenario = json!({
        "diagnostics": {"mode": "none"},
        "answers": {"textDocument/hover": {"result": null}},
        "rules": [{"at": "textDocument/didOpen", "delay_ms": 200, "do": {"notify": notify}}],
    });
    let project = Project::scripted(&scenario, &table, [("a.scr", TEXT)]);
    let play = Play::open(&project, Some(SOON));
    let (answer, took) = timed(play.check("a.scr")).await;
    let answer = answer.expect("a check");
    assert_eq!(answer.verdict, Verdict::NoData, "{answer:?}");
    assert!(took < SOON / 3, "{took:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_skips_other_files_is_awaited_for_this_one() {
    let scenario = json!({"diagnostics": {"debounce_ms": 100}});
    let play = Play::with(&scenario, SKIPS, [("a.scr", "def foo WRONG\n")]);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.end().await;
}

/// The lines come right before the push, by another pipe.
#[tokio::test(flavor = "multi_thread")]
async fn failure_on_standard_error_makes_the_findings_of_its_document_partial() {
    let table = "diagnostics = {source = \"push\", one-at-a-time = true, \
                 failures-on-stderr = '^Cannot check (\\S+): (.*)$'}";
    let line = "Cannot check ${root}/a.scr: no rules\n    at lint";
    let rule = json!({"at": "textDocument/didOpen", "when": "before", "do": {"complain": line}});
    let scenario = json!({"diagnostics": {"mode": "push_unversioned"}, "rules": [rule]});
    let project = Project::scripted(&scenario, table, [("a.scr", TEXT), ("b.scr", TEXT)]);
    let play = Play::open(&project, Some(SOON));
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    assert_eq!(answer.verdict, Verdict::Partial, "{answer:?}");
    let detail = answer.server_status.detail.expect("a reason");
    assert_eq!(detail, "scripted does not accept the project's configuration: no rules");
    assert_eq!(play.findings("b.scr").await, (Verdict::Complete, 0), "it complained about one file");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn check_of_many_files_does_not_wait_for_each_if_server_is_silent() {
    let names: Vec<String> = (0..400).map(|at| format!("f{at:03}.scr")).collect();
    let files = names.iter().map(|name| (name.as_str(), TEXT));
    let project = Project::scripted(&json!({"diagnostics": {"mode": "none"}}), "", files);
    let play = Play::open(&project, Some(Duration::from_millis(300)));
    let answer = in_time(play.check(".")).await.expect("a check");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::NoData, 0), "{answer:?}");
    let details = answer.output.incomplete.iter().filter_map(|file| file.detail.as_deref());
    let (unasked, asked): (Vec<&str>, Vec<&str>) =
        details.partition(|detail| detail.starts_with("not asked, because scripted answered for none of "));
    assert!(asked.len() >= 8 && unasked.len() >= 8, "{asked:?} {unasked:?}");
    assert_eq!(asked.len() + unasked.len(), names.len());
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_of_unsent_version_are_not_believed() {
    // A publish for an older version is not about this text; one for a newer version is about a
    // text that no client has.
    for offset in [-1, 5] {
        let scenario = json!({"diagnostics": {"version_offset": offset}});
        let play = Play::open(
            &Project::scripted(&scenario, "", [("a.scr", "def foo WRONG\n")]),
            Some(Duration::from_secs(2)),
        );
        let (answer, took) = timed(play.check("a.scr")).await;
        let answer = answer.expect("a check");
        assert_ne!(answer.verdict, Verdict::Complete, "{offset}: {answer:?}");
        assert!(took < SOON / 2, "{offset}: {took:?}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn save_only_server_unknown_as_such_is_not_called_clean() {
    let scenario =
        json!({"diagnostics": {"only_on_save": true}, "capabilities": {"textDocumentSync": {"save": null}}});
    let project = Project::scripted(&scenario, "", [("a.scr", "def foo\n")]);
    let play = Play::open(&project, Some(Duration::from_secs(2)));
    play.findings("a.scr").await;
    play.project.write("a.scr", "def foo WRONG\n");
    assert_eq!(play.findings("a.scr").await.0, Verdict::NoData);
    play.end().await;
}

/// A server's messages about one text, in order, each after this many milliseconds.
enum Say {
    State(&'static str),
    /// The number of findings.
    Push(usize),
}

/// Imitates clangd on a busy machine, and returns the number of accepted findings.
async fn taken_of(said: &[(u64, Say)], answer_ms: u64) -> (Verdict, usize) {
    let table = "diagnostics = {source = \"versioned-push\", idle = {method = \"x/status\", field = \"state\", \
                 value = \"idle\", work = \"parsing\"}}";
    let project = Project::scripted(&json!({}), table, [("a.scr", "def foo\n")]);
    let uri = format!("file://{}", project.path("a.scr").display());
    let finding = |column: usize| {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": column}});
        json!({"range": range, "message": "wrong"})
    };
    let rules = said.iter().map(|(delay_ms, say)| {
        let notify = match say {
            Say::State(state) => json!({"method": "x/status", "params": {"uri": uri, "state": state}}),
            Say::Push(count) => {
                let findings: Vec<Value> = (1..=*count).map(finding).collect();
                let params = json!({"uri": uri, "version": 1, "diagnostics": findings});
                json!({"method": "textDocument/publishDiagnostics", "params": params})
            }
        };
        json!({"at": "textDocument/didOpen", "delay_ms": delay_ms, "do": {"notify": notify}})
    });
    project.set_scenario(&json!({
        "diagnostics": {"mode": "none"},
        "answers": {"textDocument/documentSymbol": {"result": [], "delay_ms": answer_ms}},
        "rules": rules.collect::<Vec<_>>(),
    }));
    let play = Play::open(&project, None);
    let found = play.findings("a.scr").await;
    play.end().await;
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn server_idle_status_between_two_pushes_is_not_final() {
    use Say::{Push, State};
    let begun = [
        (0, State("parsing")),
        (0, Push(1)),
        (0, State("idle")),
        // The begin notification comes before any answer.
        (250, Push(2)),
        (260, State("idle")),
    ];
    assert_eq!(taken_of(&begun, 400).await, (Verdict::Complete, 2), "postponed when it reported idle");
    let late = [
        (0, State("checking")),
        (0, Push(1)),
        (0, State("idle")),
        (150, State("parsing")),
        (250, Push(2)),
        (260, State("idle")),
    ];
    assert_eq!(taken_of(&late, 0).await, (Verdict::Complete, 2), "not yet begun when it reported idle");
}

/// pylsp with some Pythons: pyflakes fails within it, and pylsp reports that as an error of the
/// text.
#[tokio::test(flavor = "multi_thread")]
async fn finding_that_says_that_a_checker_failed_is_not_told_and_text_is_checked_again() {
    let table = "diagnostics = {source = \"versioned-push\", failed-checks = [{source = \"flakes\", matches = \"^cannot read\"}]}";
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}});
    let failure = json!({"range": range, "source": "flakes", "message": "cannot read the source"});
    let finding = json!({"range": range, "source": "flakes", "message": "wrong"});
    let project = Project::scripted(&json!({}), table, [("a.scr", "def foo\n")]);
    let uri = format!("file://{}", project.path("a.scr").display());
    let push = |at: &str, version: u32, items: &[&Value]| {
        let params = json!({"uri": uri, "version": version, "diagnostics": items});
        json!({"at": at, "do": {"notify": {"method": "textDocument/publishDiagnostics", "params": params}}})
    };
    let rules =
        [push("textDocument/didOpen", 1, &[&failure]), push("textDocument/didChange", 2, &[&finding])];
    project.set_scenario(&json!({"diagnostics": {"mode": "none"}, "rules": rules}));
    let play = Play::open(&project, None);
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    assert_eq!(answer.verdict, Verdict::Complete, "{answer:?}");
    let messages: Vec<_> = answer.output.diagnostics.iter().map(|item| item.message.as_str()).collect();
    assert_eq!(messages, ["wrong"]);
    play.end().await;

    // A checker that fails on every text.
    let scenario = json!({"diagnostics": {"items": [failure, finding]}});
    let play = Play::with(&scenario, table, [("a.scr", "def foo\n")]);
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Partial, 1), "{answer:?}");
    assert!(format!("{answer:?}").contains("flakes failed on this text"), "{answer:?}");
    play.end().await;
}

/// Each file has its own deadline: a server that checks its files one after the other is not
/// silent.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn check_of_many_files_gives_each_file_its_own_deadline() {
    let names: Vec<String> = (0..12).map(|number| format!("f{number:02}.scr")).collect();
    let scenario = json!({
        "behaves": true,
        "diagnostics": {"mode": "pull"},
        "answers": {"textDocument/diagnostic": {"result": {"kind": "full", "items": []}, "delay_ms": 200}},
    });
    let files = names.iter().map(|name| (name.as_str(), "def foo\n"));
    let project = Project::scripted(&scenario, "diagnostics = {source = \"pull\"}", files);
    let settings = "[deadlines]\ndiagnostics = 1_000\n";
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let play = Play::open(&project, None);
    let answer = in_time(play.runtime.diagnose(Vec::new(), None, 100)).await.expect("a check");
    assert_eq!(answer.verdict, Verdict::Complete, "{answer:?}");
    play.end().await;
}
