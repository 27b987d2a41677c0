//! Edits of files for which the caller has unsaved text.

use lsp_tools::internals::runtime::Overlays;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

use super::stage::{client, fingerprint_seen, in_time, open};
use crate::support::{Project, fingerprint};

#[tokio::test(flavor = "multi_thread")]
async fn edit_of_file_with_unsaved_text_is_a_conflict() {
    let files = [("a.scr", "def foo\n"), ("b.scr", "foo\n")];
    let project = Project::scripted(&json!({}), "diagnostics = {sees-unsaved = true}", files);
    let workspace = open(&project, &[]);
    let mine = client(&workspace, &[("a.scr", "def bar\n")]);
    let edit = |dry: bool| json!({"path": "a.scr", "edits": [{"old": "foo", "new": "baz"}], "dry_run": dry});
    for dry in [true, false] {
        let refused = mine.answer("edit", edit(dry)).await;
        assert_eq!(refused["code"], "conflict", "{refused}");
        assert!(refused["error"].as_str().is_some_and(|error| error.contains("a.scr has unsaved text")));
    }
    assert_eq!(project.read("a.scr"), "def foo\n");
    // Another file is edited, and the findings are those over the caller's own texts.
    let trial = json!({"path": "b.scr", "edits": [{"old": "foo", "new": "WRONG"}], "dry_run": true, "diagnostics": true});
    let tried = mine.answer("edit", trial).await;
    assert_eq!(tried["diagnostics"]["added"][0]["message"], "WRONG", "{tried}");
    assert_eq!(fingerprint_seen(&mine, "a.scr").await, fingerprint("def bar\n"));
    // A caller without unsaved text edits as usual.
    let edited = workspace.answer("edit", edit(false)).await;
    assert_eq!(edited["ok"], true, "{edited}");
    assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def baz\n"));
    in_time(workspace.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overlay_shared_by_client_is_seen_by_others_until_dropped() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let workspace = open(&project, &[]);
    let overlays = Arc::new(Overlays::default());
    let path = workspace.workspace().path(Path::new("a.scr")).unwrap();
    overlays.set(path.clone(), "def typed\n".into());
    assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def foo\n"));
    workspace.share_overlays(&overlays);
    assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def typed\n"));
    let own = client(&workspace, &[("a.scr", "def own\n")]);
    assert_eq!(fingerprint_seen(&own, "a.scr").await, fingerprint("def own\n"));
    drop(overlays);
    assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def foo\n"));
    in_time(workspace.shutdown()).await;
}
