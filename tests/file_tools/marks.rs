//! The marks of `grep` on names with a running language server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{notes, open};
use crate::support::Project;

const FILES: [(&str, &str); 3] =
    [("a.scr", "def foo\nfoo bar\nsay foo\nfoobar\n"), ("b.scr", "bar other\n"), ("c.txt", "foo\n")];

/// Uses of `foo` for the server's answer: not the literal ones, and one with another name.
fn uses() -> Value {
    let place = |file: &str, line: u32, character: u32| {
        let end = character + 3;
        json!({"uri": format!("${{root}}/{file}"), "range": {
            "start": {"line": line, "character": character}, "end": {"line": line, "character": end},
        }})
    };
    json!([place("a.scr", 0, 4), place("a.scr", 1, 0), place("b.scr", 0, 0)])
}

/// `path:line mark`.
fn marks(answer: &Value) -> Vec<String> {
    let mark = |hit: &Value| {
        format!("{}:{} {}", hit["path"].as_str().unwrap(), hit["line"], hit["mark"].as_str().unwrap_or("-"))
    };
    answer["matches"].as_array().expect("matches").iter().map(mark).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_with_running_server_marks_hits_and_adds_references() {
    let scenario = json!({"answers": {"textDocument/references": {"result": uses()}}});
    let bench = open(&Project::scripted(&scenario, "", FILES));
    let before = bench.ok("grep", json!({"pattern": "foo"})).await;
    assert_eq!(marks(&before), ["a.scr:1 -", "a.scr:2 -", "a.scr:3 -", "a.scr:4 -", "c.txt:1 -"]);
    bench.ok("lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4})).await;
    let marked = bench.ok("grep", json!({"pattern": "foo"})).await;
    assert_eq!(
        marks(&marked),
        [
            "a.scr:1 confirmed",
            "a.scr:2 confirmed",
            "a.scr:3 text",
            "a.scr:4 text",
            "b.scr:1 added",
            "c.txt:1 -"
        ]
    );
    assert_eq!((&marked["marked_by"], &marked["count"]), (&json!(["scripted"]), &json!(6)));
    let below = bench.ok("grep", json!({"pattern": "foo", "path": "a.scr"})).await;
    assert_eq!(marks(&below).len(), 4, "added matches are within the searched path");
    for arguments in [json!({"pattern": "foo", "semantic": false}), json!({"pattern": "fo+"})] {
        let plain = bench.ok("grep", arguments).await;
        assert!(marks(&plain).iter().all(|mark| mark.ends_with(" -")), "{plain}");
    }
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_with_silent_server_keeps_every_hit() {
    let scenario = json!({"answers": {"textDocument/references": {"never": true}}});
    let bench = open(&Project::scripted(&scenario, "", FILES));
    bench.ok("lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4})).await;
    let begun = Instant::now();
    let found = bench.ok("grep", json!({"pattern": "foo"})).await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(found["count"], 5);
    assert!(notes(&found, "did not check all matches"), "{found}");
    bench.runtime.shutdown().await;
}
