//! Wrong bytes on the wire: frames, ids, sizes, types.

use std::time::Duration;

use lsp_tools::{ServerState, Target, Verdict};
use serde_json::{Value, json};

use super::play::{Play, SOON, TEXT, at, failure, in_time};
use crate::support::{fingerprint, scenarios};

fn before_hover(action: Value) -> Value {
    json!({"rules": [{"at": "textDocument/hover", "when": "before", "do": action}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_frames_and_junk_bytes_are_skipped() {
    let passed_over = [
        json!({"frame": "lower_case"}),
        json!({"frame": "lf_only"}),
        json!({"frame": "no_space"}),
        json!({"frame": "extra_header"}),
        json!({"frame": "length_too_short"}),
        json!({"frame": "length_too_long"}),
        json!({"frame": "half"}),
        json!({"frame": "length_negative"}),
        json!({"frame": "length_not_a_number"}),
        json!({"frame": "length_missing"}),
        json!({"frame": "invalid_utf8"}),
        json!({"frame": "not_json"}),
        json!({"junk": ["Traceback (most recent call last):", "  File \"x\", line 1", "", "Content-Type: no"]}),
        json!({"bytes": "\r\n\r\n\u{0}\u{1b}[31mhello"}),
        json!({"message": {"jsonrpc": "2.0", "id": null, "result": 1}}),
        json!({"message": {"jsonrpc": "2.0", "id": 987_654, "result": 1}}),
        json!({"message": {"jsonrpc": "2.0", "id": "no such", "error": {"code": 1, "message": "x"}}}),
        json!({"message": {"jsonrpc": "2.0"}}),
        json!({"message": [1, 2, 3]}),
        json!({"message": "text"}),
        json!({"message": {"jsonrpc": "2.0", "method": 5, "params": []}}),
        json!({"message": {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": null}}),
        json!({"message": {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {"uri": 1}}}),
        json!({"message": {"jsonrpc": "2.0", "method": "$/progress"}}),
        json!({"flood": {"count": 20_000}}),
    ];
    for action in passed_over {
        let play = Play::limited(&before_hover(action.clone()), SOON);
        let answer = in_time(play.hover("a.scr")).await.unwrap_or_else(|error| panic!("{action}: {error:?}"));
        assert!(answer.output.contents.ends_with(&fingerprint(TEXT)), "{action}: {answer:?}");
        assert_eq!((play.log().starts(), answer.notes), (1, Vec::new()), "{action}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn truncated_message_costs_its_request_but_not_the_next() {
    let cut_short = "Content-Length: 5000\r\n\r\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"res";
    let mut scenario = before_hover(json!({ "bytes": cut_short }));
    scenario["answers"] = json!({"textDocument/hover": {"never": true}});
    let play = Play::limited(&scenario, Duration::from_secs(5));
    let (state, detail) = failure(in_time(play.hover("a.scr")).await);
    assert_eq!(state, ServerState::Timeout, "{detail}");
    play.project.set_scenario(&json!({}));
    assert!(play.seen("a.scr").await.ends_with(&fingerprint(TEXT)));
    in_time(play.runtime.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn malformed_replies_end_in_answer_or_timeout() {
    for reply in scenarios::REPLIES {
        let scenario = json!({"answers": {"textDocument/hover": {"reply": reply}}});
        let play = Play::limited(&scenario, Duration::from_secs(2));
        let answer = in_time(play.hover("a.scr")).await;
        match reply {
            "twice" | "string_id" => {
                let contents = answer.expect("a hover").output.contents;
                assert!(contents.ends_with(&fingerprint(TEXT)), "{reply}: {contents}");
            }
            "empty" => assert_eq!(answer.expect("no hover").output.contents, ""),
            _ => assert_eq!(failure(answer).0, ServerState::Timeout, "{reply}"),
        }
        assert_eq!(play.log().starts(), 1);
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_message_ends_session_but_not_runtime() {
    // Announced and begun, or sent completely.
    for action in [json!({"frame": "length_huge"}), json!({"huge": {"bytes": 65 << 20}})] {
        // This size takes time to send and read, twice, on a busy machine.
        let play = Play::limited(&before_hover(action.clone()), SOON * 4);
        let answer = tokio::time::timeout(SOON * 4, play.hover("a.scr")).await.expect("an end");
        let (state, detail) = failure(answer);
        assert_eq!(state, ServerState::Crashed, "{action}: {detail}");
        assert!(detail.contains("more than the limit of 67108864"), "{action}: {detail}");
        assert_eq!(play.log().starts(), 2, "{action}: asked once more of a fresh server");
        in_time(play.runtime.shutdown()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_requests_are_answered_per_lsp_specification() {
    let play = Play::with(
        &json!({"rules": scenarios::server_requests("file:///tmp/outside.scr")}),
        "settings = {scripted = {depth = 3}}",
        [("a.scr", TEXT)],
    );
    play.seen("a.scr").await;
    let answer = |method: &str| play.log().wait_for(method, SOON, |log| log.answer(&json!(method)));
    assert_eq!(answer("workspace/configuration")["result"], json!([{"depth": 3}, null]));
    assert_eq!(answer("client/registerCapability").get("result"), Some(&Value::Null));
    assert_eq!(answer("client/unregisterCapability").get("result"), Some(&Value::Null));
    assert_eq!(answer("workspace/applyEdit")["result"]["applied"], false);
    let folders = answer("workspace/workspaceFolders")["result"].clone();
    assert_eq!(folders[0]["uri"], json!(format!("file://{}", play.project.root().display())));
    assert_eq!(answer("window/showMessageRequest").get("result"), Some(&Value::Null));
    assert_eq!(answer("window/showDocument")["result"]["success"], false);
    assert_eq!(answer("window/workDoneProgress/create").get("result"), Some(&Value::Null));
    assert_eq!(answer("custom/unknown")["error"]["code"], -32601);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_request_ids_are_echoed_unchanged() {
    let ids = [
        json!("a word"),
        json!(0),
        json!(-1),
        json!(2_147_483_648_u64),
        json!(9_007_199_254_740_993_u64),
        json!(""),
    ];
    let rules: Vec<Value> = ids
        .iter()
        .map(|id| {
            let request = json!({"method": "workspace/workspaceFolders", "params": null, "id": id});
            json!({"at": "textDocument/didOpen", "do": {"request": request}})
        })
        .collect();
    let play = Play::new(&json!({ "rules": rules }));
    play.seen("a.scr").await;
    for id in ids {
        play.log().wait_for(&format!("an answer to {id}"), SOON, |log| log.answer(&id));
    }
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_wrong_type_are_errors_or_empty() {
    for (method, result) in scenarios::odd_results() {
        let play = Play::new(&json!({"answers": {method: {"result": result}}}));
        let told = match method {
            "textDocument/hover" => {
                format!("{:?}", in_time(play.hover("a.scr")).await.map(|answer| answer.output))
            }
            "textDocument/definition" => {
                format!(
                    "{:?}",
                    in_time(play.runtime.definition(at("a.scr", 1, 0))).await.map(|answer| answer.output)
                )
            }
            "textDocument/references" => {
                format!("{:?}", in_time(play.references("a.scr")).await.map(|answer| answer.output))
            }
            "textDocument/documentSymbol" => {
                let answer = in_time(play.runtime.symbols(Target::File("a.scr".into()), 10)).await;
                format!("{:?}", answer.map(|answer| answer.output))
            }
            _ => {
                let answer = in_time(play.runtime.symbols(Target::Name("foo".into()), 10)).await;
                format!("{:?}", answer.map(|answer| answer.output))
            }
        };
        let nothing = ["contents: \"\"", "count: 0"].iter().any(|empty| told.contains(empty));
        assert!(nothing || told.starts_with("Err"), "{method} {result}: {told}");
        assert_eq!(play.log().starts(), 1);
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_diagnostic_does_not_drop_the_others() {
    for mode in ["push_versioned", "pull"] {
        let scenario = json!({"diagnostics": {"mode": mode, "items": scenarios::odd_diagnostics()}});
        let play = Play::new(&scenario);
        let answer = in_time(play.check("a.scr")).await.expect("a check");
        assert!(
            answer.notes.iter().any(|note| note.contains("diagnostics that cannot be decoded")),
            "{answer:?}"
        );
        let good =
            answer.output.diagnostics.iter().find(|item| item.message == "the one good finding").expect("it");
        assert_eq!((good.range.start.line, good.range.start.character, good.range.end.character), (0, 0, 3));
        assert_eq!((answer.verdict, answer.server_status.state), (Verdict::Complete, ServerState::Ready));
        play.end().await;
    }
}
