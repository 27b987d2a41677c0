//! Two clients that keep typing in the same file: one of them gets its own server, with no effect
//! on answers except time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lsp_tools::internals::runtime::Overlays;
use serde_json::json;

use super::stage::{fingerprint_seen, in_time, open, seeing};
use crate::support::{Project, TestWorkspace, count_processes, fingerprint, wait_until};

/// Types into `a.scr` and sends a request, `rounds` times or until `enough`.
async fn type_on(workspace: &TestWorkspace, name: &str, rounds: usize, enough: impl Fn() -> bool) {
    let overlays = Arc::new(Overlays::default());
    let path = workspace.workspace().path(Path::new("a.scr")).expect("a path");
    for round in 0..rounds {
        let text = format!("def {name}{round}\n");
        overlays.set(path.clone(), text.as_str().into());
        let mine = seeing(workspace, overlays.view(workspace.workspace()));
        assert_eq!(fingerprint_seen(&mine, "a.scr").await, fingerprint(&text), "{name}, round {round}");
        if enough() {
            return;
        }
    }
}

fn project() -> Project {
    let project = Project::scripted(&json!({"hover_version": false}), "", [("a.scr", "def disk\n")]);
    let settings = "[servers]\nidle-stop-s = 1\n";
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("the settings");
    project
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn rival_overlays_get_private_server_that_ends_when_idle() {
    let project = project();
    let workspace = open(&project, &[]);
    let two = || count_processes(&project.marker()) >= 4;
    // Each server has a supervisor beside it.
    tokio::join!(type_on(&workspace, "left", 20_000, two), type_on(&workspace, "right", 20_000, two));
    // A process exists before it has logged its start.
    wait_until("the second server begins", Duration::from_secs(30), || project.log().starts() == 2);
    let reader = async {
        for _ in 0..300 {
            assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def disk\n"));
        }
    };
    let goes_on = || false;
    tokio::join!(
        type_on(&workspace, "left", 300, goes_on),
        type_on(&workspace, "right", 300, goes_on),
        reader
    );
    wait_until("idle servers end", Duration::from_secs(60), || count_processes(&project.marker()) == 0);
    // A client that returns is served as before.
    type_on(&workspace, "left", 3, goes_on).await;
    in_time(workspace.shutdown()).await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn overlay_without_rivals_shares_one_server_with_readers() {
    let project = project();
    let workspace = open(&project, &[]);
    let reader = async {
        for _ in 0..200 {
            assert_eq!(fingerprint_seen(&workspace, "a.scr").await, fingerprint("def disk\n"));
        }
    };
    tokio::join!(type_on(&workspace, "alone", 200, || false), reader);
    assert_eq!(project.log().starts(), 1);
    in_time(workspace.shutdown()).await;
}
