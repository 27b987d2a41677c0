//! Clients that edit the same file differently, at the same time.

use serde_json::json;

use super::stage::{at, client, findings, fingerprint_seen, in_time, open, seeing, view};
use crate::support::{Project, TestWorkspace, fingerprint};

/// One client keeps typing in `a.scr`: each round has another text, and every answer must be about
/// that text.
async fn type_and_ask(workspace: TestWorkspace, name: &'static str, rounds: usize) {
    for round in 0..rounds {
        let wrong = round % 4;
        let text = format!("def {name}{round}\n{}", "WRONG\n".repeat(wrong));
        let mine = client(&workspace, &[("a.scr", &text)]);
        assert_eq!(fingerprint_seen(&mine, "a.scr").await, fingerprint(&text), "{name}, round {round}");
        let found = in_time(mine.definition(at("a.scr", 0, 4))).await.expect("a definition");
        let place = found.output.locations.first().expect("a place").clone();
        assert_eq!(place.text.as_deref(), text.lines().next(), "{name}, round {round}");
        if round % 16 == 0 {
            assert_eq!(findings(&mine, "a.scr").await.len(), wrong, "{name}, round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn overlays_of_two_clients_and_disk_text_never_mix() {
    for (encoding, rounds) in [("utf-16", 1_000), ("utf-8", 100)] {
        let scenario = json!({ "hover_version": false, "encoding": encoding });
        let disk = "def disk\nWRONG WRONG\n";
        let project = Project::scripted(&scenario, "", [("a.scr", disk), ("b.scr", "def other\n")]);
        let workspace = open(&project, &[]);
        let reader = async {
            for round in 0..rounds {
                assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint(disk), "round {round}");
                if round % 16 == 0 {
                    assert_eq!(findings(&workspace, "a.scr").await.len(), 2, "round {round}");
                }
            }
        };
        tokio::join!(
            type_and_ask(workspace.clone(), "left", rounds),
            type_and_ask(workspace.clone(), "right", rounds),
            reader
        );
        in_time(workspace.shutdown()).await;
        assert_eq!(project.log().violations(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overlay_switch_sends_only_the_difference() {
    let text = "def foo\n".repeat(2_000);
    let files = [("a.scr", text.as_str()), ("b.scr", text.as_str())];
    let project = Project::scripted(&json!({}), "", files);
    let workspace = open(&project, &[]);
    let edited = text.replacen("foo", "fob", 1);
    let both = view(&workspace, &[("a.scr", &edited), ("b.scr", &text)]);
    let changes = || project.log().params("textDocument/didChange");
    for _ in 0..3 {
        fingerprint_seen(&seeing(&workspace, both.clone()), "a.scr").await;
        fingerprint_seen(&seeing(&workspace, both.clone()), "b.scr").await;
    }
    // The text over `b.scr` equals the one on disk, and another request with the same view changes
    // nothing.
    assert_eq!(changes().len(), 0, "{:?}", changes());
    fingerprint_seen(&workspace, "a.scr").await;
    let sent = changes();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].to_string().len() < 400, "{sent:?}");
    // A text of no language of this server does not count.
    let elsewhere = client(&workspace, &[("notes.txt", "a note")]);
    assert_eq!(fingerprint_seen(&elsewhere, "a.scr").await, fingerprint(&text));
    assert_eq!(changes().len(), 1);
    in_time(workspace.shutdown()).await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn overlay_of_unsaved_new_file_is_visible_to_its_client_only() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let workspace = open(&project, &[]);
    let text = "def fresh WRONG\n";
    let mine = client(&workspace, &[("new.scr", text)]);
    assert_eq!(fingerprint_seen(&mine, "new.scr").await, fingerprint(text));
    assert_eq!(findings(&mine, "new.scr").await, ["WRONG"]);
    let error = in_time(workspace.hover(at("new.scr", 0, 4))).await.expect_err("no such file");
    assert_eq!(error.code, lsp_tools::ErrorCode::NotFound, "{error:?}");
    in_time(workspace.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overlay_without_server_hints_use_the_client_text() {
    let project = Project::new([("a.py", "def one():\n    pass\n\none()\n")]);
    let workspace = open(&project, &[]);
    let mine = client(&workspace, &[("a.py", "\n\ndef two():\n    pass\n\ntwo()\n")]);
    let found = in_time(mine.definition(at("a.py", 5, 0))).await.expect("hints");
    assert_eq!(found.verdict, lsp_tools::Verdict::Hints);
    let place = found.output.locations.first().expect("a place").clone();
    assert_eq!((place.range.start.line, place.text.as_deref()), (2, Some("def two():")));
    in_time(workspace.shutdown()).await;
}

/// A real server, which pushes: each client has a different type and a different mistake at the
/// same position.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pyright_answers_each_client_for_its_own_overlay() {
    let project = Project::new([("a.py", "value = 1\nvalue\n"), ("pyproject.toml", "")]);
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let workspace = open(&project, &["pyright"]);
    let ask = async |text: Option<String>, expected: &str, wrong: Option<&str>| {
        let mine = match &text {
            Some(text) => client(&workspace, &[("a.py", text)]),
            None => workspace.clone(),
        };
        let hover = in_time(mine.hover(at("a.py", 1, 0))).await.expect("a hover");
        assert!(hover.output.contents.contains(expected), "{text:?}: {hover:?}");
        let mut found = findings(&mine, "a.py").await;
        found.retain(|message| message.contains("not defined"));
        let expected: Vec<String> = wrong.iter().map(|name| format!("\"{name}\" is not defined")).collect();
        assert_eq!(found, expected, "{text:?}");
    };
    let left = async {
        for round in 0..60 {
            let text = format!("value = 'a{round}'\nvalue.upper\nleft{round}\n");
            ask(Some(text), &format!("'a{round}'"), Some(&format!("left{round}"))).await;
        }
    };
    let right = async {
        for round in 0..60 {
            let text = format!("value = [{round}]\nvalue.append\nright{round}\n");
            ask(Some(text), "list", Some(&format!("right{round}"))).await;
        }
    };
    let reader = async {
        for _ in 0..60 {
            ask(None, "Literal[1]", None).await;
        }
    };
    tokio::join!(left, right, reader);
    in_time(workspace.shutdown()).await;
}
