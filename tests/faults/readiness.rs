//! Servers that index first: earlier answers are partial, and requests about the whole project
//! wait.

use std::time::Duration;

use lsp_tools::{ServerState, Verdict};
use serde_json::json;

use super::play::{Play, SOON, TEXT, at, in_time, timed};
use crate::support::Project;

const FILES: [(&str, &str); 2] = [("a.scr", TEXT), ("b.scr", "foo foo foo foo\n")];
/// The number of occurrences of `foo` in [`FILES`].
const ALL: usize = 6;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_wait_for_indexing_progress_to_end() {
    for table in ["", "readiness = {progress = [\"Indexing\"]}"] {
        let play = Play::with(&json!({"index": {"ms": 1500, "steps": 10}}), table, FILES);
        let answer = in_time(play.references("a.scr")).await.expect("references");
        assert_eq!((answer.verdict, answer.output.count), (Verdict::Complete, ALL), "{table}: {answer:?}");
        assert_eq!(answer.server_status.state, ServerState::Ready);
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn references_wait_for_server_status_quiescence() {
    let index = json!({"index": {"ms": 1200, "progress": false, "server_status": true}});
    let play = Play::with(&index, "readiness = {server-status = true}", FILES);
    let answer = in_time(play.references("a.scr")).await.expect("references");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Complete, ALL), "{answer:?}");
    play.end().await;
}

/// Work that begins after the answer and before the request whether the file is in the project: in
/// between, the findings in the configuration are awaited.
#[tokio::test(flavor = "multi_thread")]
async fn membership_of_file_is_asked_once_server_has_reloaded() {
    let table = r#"readiness = {server-status = true}
configuration-findings = ["conf.scr"]
outside = {method = "textDocument/typeDefinition", params = {}, outside = "^never$", reason = "outside"}"#;
    let project = Project::scripted(&json!({}), table, [("a.scr", TEXT), ("conf.scr", "")]);
    let status = |quiescent: bool| {
        let params = json!({"health": "ok", "quiescent": quiescent});
        json!({"notify": {"method": "experimental/serverStatus", "params": params}})
    };
    let finding = json!({"uri": format!("file://{}", project.path("conf.scr").display()), "diagnostics": []});
    let finding = json!({"notify": {"method": "textDocument/publishDiagnostics", "params": finding}});
    let hover = "textDocument/hover";
    project.set_scenario(&json!({
        "index": {"ms": 100, "server_status": true},
        "answers": {"textDocument/typeDefinition": {"result": []}},
        "rules": [
            {"at": hover, "delay_ms": 100, "do": status(false)},
            {"at": hover, "delay_ms": 150, "do": finding},
            {"at": hover, "delay_ms": 500, "do": status(true)},
        ],
    }));
    let play = Play::open(&project, None);
    let answer = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!((answer.verdict, answer.server_status.detail), (Verdict::Complete, None));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_answers_where_server_counts_file_to_no_project_and_finds_nothing() {
    let table = r#"outside = {method = "textDocument/typeDefinition", params = {}, outside = "non-existing project", reason = "no project has it"}"#;
    let missing = json!({"error": {"code": -32603, "message": "it references the non-existing project a"}});
    let nothing = json!({"textDocument/typeDefinition": missing, "textDocument/references": {"result": []}});
    let play = Play::with(&json!({"answers": nothing}), table, [("a.scr", TEXT)]);
    let answer = in_time(play.references("a.scr")).await.expect("references");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Hints, 2), "{answer:?}");
    assert_eq!(answer.server_status.detail.as_deref(), Some("no project has it"));
    // Answers about the file itself still come from the server.
    let hover = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!(hover.verdict, Verdict::Partial, "{hover:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_indexing_answer_is_partial_within_deadline() {
    let project =
        crate::support::Project::scripted(&json!({"index": {"ms": 500, "never_ends": true}}), "", FILES);
    let play = Play::open(&project, Some(Duration::from_secs(2)));
    let (answer, took) = timed(play.references("a.scr")).await;
    let answer = answer.expect("references");
    assert_eq!(
        (answer.verdict, answer.server_status.state),
        (Verdict::Partial, ServerState::Indexing),
        "{answer:?}"
    );
    assert_eq!(answer.output.count, ALL / 2);
    let detail = answer.server_status.detail.expect("what it does");
    assert!(detail.starts_with("scripted is indexing: 4/4 (80 %), "), "{detail}");
    assert!(took < SOON / 2, "{took:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn single_file_query_does_not_wait_for_indexing() {
    let play = Play::with(&json!({"index": {"ms": 500, "never_ends": true}}), "", FILES);
    let (hover, took) = timed(play.runtime.hover(at("a.scr", 1, 0))).await;
    let hover = hover.expect("a hover");
    assert!(hover.output.contents.starts_with("foo v1"), "{hover:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    let diagnostics = in_time(async {
        tokio::time::timeout(SOON, play.runtime.diagnose(vec!["a.scr".into()], None, 10))
            .await
            .expect("in time")
    });
    let diagnostics = diagnostics.await.expect("a check");
    assert_eq!(diagnostics.verdict, Verdict::Partial, "{diagnostics:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_answer_while_indexing_is_retried_when_idle() {
    let scenario = json!({
        "index": {"ms": 800, "begins_on": "did_open"},
        "answers": {"textDocument/definition": {"while_indexing": []}},
    });
    let play = Play::with(&scenario, "readiness = {progress = [\"Indexing\"]}", FILES);
    let answer = in_time(play.runtime.definition(at("a.scr", 1, 0))).await.expect("a definition");
    assert_eq!((answer.output.count, answer.verdict), (1, Verdict::Complete), "{answer:?}");
    play.end().await;
}

/// Wrong answers of servers at their start. With a readiness signal, the answer is complete;
/// otherwise it is not marked so.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn answer_at_start_is_whole_or_not_called_complete_however_a_server_lies() {
    // Half of the places omit whole files, like an incomplete index.
    let files =
        [("a.scr", TEXT), ("b.scr", "foo\n"), ("c.scr", "foo\n"), ("d.scr", "foo\n"), ("e.scr", "foo\n")];
    let nothing = json!({"textDocument/references": {"while_indexing": []}});
    let modified = json!({"textDocument/references": {"first": {"times": 2, "error": {"code": -32801, "message": "content modified"}}}});
    let announced = "readiness = {progress = [\"Indexing\"], grace-ms = 5000}";
    let ways = [
        (
            "half of it, without a sign, for ever",
            json!({"index": {"progress": false, "never_ends": true}}),
            "",
            false,
        ),
        ("half of it, without a sign", json!({"index": {"ms": 600, "progress": false}}), "", false),
        (
            "nothing, without a sign",
            json!({"index": {"ms": 600, "progress": false}, "answers": nothing}),
            "",
            false,
        ),
        (
            "nothing, without a sign, as is known of it",
            json!({"index": {"ms": 600, "progress": false}, "answers": nothing}),
            "readiness = {distrust-empty-ms = 5000}",
            true,
        ),
        (
            "half of it, before it says that it indexes",
            json!({"index": {"ms": 600, "delay_ms": 500}}),
            announced,
            true,
        ),
        (
            "half of it, as soon as a file is open",
            json!({"index": {"ms": 600, "begins_on": "did_open"}}),
            "",
            false,
        ),
        ("that the text was another", json!({"answers": modified}), "", true),
    ];
    for (lie, scenario, table, is_whole) in ways {
        let project = Project::scripted(&scenario, table, files);
        let play = Play::open(&project, Some(Duration::from_secs(4)));
        let answer = in_time(play.references("a.scr")).await.expect("references");
        let whole = answer.output.count == ALL;
        assert!(whole || answer.verdict != Verdict::Complete, "{lie}: {answer:?}");
        assert!(whole || !is_whole, "{lie}: {answer:?}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_that_is_not_indexing_delays_nothing() {
    let scenario = json!({"index": {"ms": 500, "title": "Linting", "never_ends": true}});
    let play = Play::with(&scenario, "readiness = {not-indexing = [\"Linting\"]}", FILES);
    let answer = in_time(play.runtime.definition(at("a.scr", 1, 0))).await.expect("a definition");
    assert_eq!(answer.verdict, Verdict::Complete, "{answer:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn diagnostics_pushed_while_indexing_are_complete_afterwards() {
    let project = Project::scripted(&json!({}), "readiness = {progress = [\"Indexing\"]}", FILES);
    let found = json!({
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}, "message": "found later",
    });
    let uri = format!("file://{}", project.path("a.scr").display());
    let params = json!({"uri": uri, "version": 1, "diagnostics": [found]});
    project.set_scenario(&json!({
        "index": {"ms": 600, "begins_on": "did_open"},
        "diagnostics": {"items": []},
        "rules": [{
            "at": "textDocument/didOpen", "delay_ms": 750,
            "do": {"notify": {"method": "textDocument/publishDiagnostics", "params": params}},
        }],
    }));
    let play = Play::open(&project, None);
    let answer = in_time(play.runtime.diagnose(vec!["a.scr".into()], None, 10)).await.expect("a check");
    let messages: Vec<&str> = answer.output.diagnostics.iter().map(|item| item.message.as_str()).collect();
    assert_eq!((answer.verdict, messages), (Verdict::Complete, vec!["found later"]));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_answer_before_first_push_for_document_is_asked_again() {
    let scenario = json!({
        "index": {"ms": 300, "begins_on": "did_open", "progress": false},
        "answers": {"textDocument/hover": {"while_indexing": null}},
        "diagnostics": {"debounce_ms": 700},
    });
    for table in ["", "diagnostics = {source = \"versioned-push\"}"] {
        let play = Play::with(&scenario, table, [("a.scr", TEXT)]);
        let answer = in_time(play.runtime.hover(at("a.scr", 1, 0))).await.expect("a hover");
        assert!(answer.output.contents.starts_with("foo v1"), "{table}: {answer:?}");
        assert_eq!(answer.verdict, Verdict::Complete);
        play.end().await;
    }
}
