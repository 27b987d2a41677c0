//! One server for all callers, the right root for each file, and no server that is not needed any
//! more.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use lsp_tools::internals::tools::ServerRunState;
use lsp_tools::{ErrorCode, ServerState, TrustRequest, Verdict};
use serde_json::{Value, json};

use super::play::{Play, SOON, TEXT, at, in_time};
use crate::support::{Project, count_processes, fingerprint, write_executable};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_first_requests_start_one_server() {
    let play = Play::new(&json!({"answers": {"initialize": {"delay_ms": 200}}}));
    let all = futures::future::join_all((0..32).map(|_| play.hover("a.scr")));
    for answer in in_time(all).await {
        assert!(answer.expect("a hover").output.contents.ends_with(&fingerprint(TEXT)));
    }
    assert_eq!((play.log().starts(), play.log().count("textDocument/didOpen")), (1, 1));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_are_sent_in_parallel() {
    let play = Play::new(&json!({"answers": {"textDocument/hover": {"delay_ms": 400}}}));
    in_time(play.check("a.scr")).await.expect("a check");
    let all = futures::future::join_all((0..64).map(|_| play.hover("a.scr")));
    for answer in in_time(all).await {
        assert_eq!(answer.expect("a hover").verdict, Verdict::Complete);
    }
    // In sequence they would have exceeded the bound above; the log shows that they overlap.
    let lines = play.log().lines();
    let got = lines.iter().rposition(|line| line["got"]["method"] == "textDocument/hover").expect("a hover");
    let first = lines.iter().find(|line| line["got"]["method"] == "textDocument/hover").expect("a hover");
    let sent = lines.iter().position(|line| line["sent"] == first["got"]["id"]).expect("an answer");
    assert!(got < sent, "the last request was sent before the first answer");
    play.end().await;
}

const TWO: [(&str, &str); 4] =
    [("one/scr.toml", ""), ("one/src/a.scr", TEXT), ("two/scr.toml", ""), ("two/src/a.scr", TEXT)];
const MARKER: &str = "root-markers = [\"scr.toml\"]";

fn folders(play: &Play) -> BTreeSet<String> {
    play.log()
        .params("initialize")
        .iter()
        .map(|params| {
            params["workspaceFolders"][0]["uri"]
                .as_str()
                .unwrap_or_default()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_projects_get_servers_of_their_own() {
    let play = Play::with(&json!({}), MARKER, TWO);
    for path in ["one/src/a.scr", "two/src/a.scr", "one/src/a.scr"] {
        play.seen(path).await;
    }
    assert_eq!(folders(&play), BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    assert_eq!(play.log().starts(), 2);
    let directories: BTreeSet<String> = play
        .log()
        .events("start")
        .iter()
        .map(|start| start["cwd"].as_str().unwrap_or_default().to_owned())
        .collect();
    let expected = ["one", "two"].map(|name| play.project.path(name).to_string_lossy().into_owned());
    assert_eq!(directories, BTreeSet::from(expected));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn multi_root_server_is_given_further_folders() {
    let support =
        json!({"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}}});
    let play = Play::with(&json!({ "capabilities": support }), MARKER, TWO);
    for path in ["one/src/a.scr", "two/src/a.scr", "one/src/a.scr", "two/src/a.scr"] {
        play.seen(path).await;
    }
    assert_eq!(play.log().starts(), 1);
    let added = play.log().params("workspace/didChangeWorkspaceFolders");
    assert_eq!(added.len(), 1, "{added:?}");
    assert!(
        added[0]["event"]["added"][0]["uri"].as_str().is_some_and(|uri| uri.ends_with("/project/two")),
        "{added:?}"
    );
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn root_marker_created_while_running_starts_new_server() {
    let table = "root-markers = [\".git\", \"scr.toml\"]";
    let play = Play::with(&json!({}), table, [("one/a.scr", TEXT), ("two/a.scr", TEXT)]);
    play.seen("one/a.scr").await;
    play.seen("two/a.scr").await;
    assert_eq!(play.log().starts(), 1);
    fs::create_dir(play.project.path("one/.git")).expect("a folder");
    play.seen("one/a.scr").await;
    play.project.write("two/scr.toml", "");
    play.seen("two/a.scr").await;
    assert_eq!(folders(&play), BTreeSet::from(["one", "project", "two"].map(str::to_owned)));
    play.end().await;
}

fn settings(project: &Project, text: &str) {
    fs::write(project.beside("config").join("lsp-tools.toml"), text).expect("settings");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn idle_server_is_stopped_and_restarted_on_request() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    settings(&project, "[servers]\nidle-stop-s = 1\n");
    let play = Play::open(&project, None);
    play.seen("a.scr").await;
    play.log().wait_for("the end of the idle server", SOON, |log| log.events("exit").first().cloned());
    assert!(play.seen("a.scr").await.ends_with(&fingerprint(TEXT)));
    assert_eq!(play.log().starts(), 2);
    play.end().await;
}

/// A project with a budget of 64 MiB, each server of which has a child with 100 MB of memory:
/// children count as well.
fn large_servers<'a>(table: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Project {
    let project = Project::scripted(&json!({}), table, files);
    settings(&project, "[servers]\nmemory-budget-mb = 64\nidle-stop-s = 20\n");
    project.add_ballast(100_000_000);
    project
}

/// Asks until an answer mentions the servers' memory; it does so once.
async fn told_of_memory(play: &Play, path: &str) -> String {
    let asked = async {
        loop {
            let notes = play.hover(path).await.expect("a hover").notes;
            if let Some(note) = notes.into_iter().find(|note| note.contains("MiB")) {
                return note;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    in_time(asked).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn sole_server_over_memory_budget_is_kept_and_noted() {
    let play = Play::open(&large_servers("", [("a.scr", TEXT)]), None);
    let note = told_of_memory(&play, "a.scr").await;
    assert!(note.contains("budget of 64 MiB") && note.contains("servers.memory-budget-mb = 1024"), "{note}");
    // Idle long enough; the next memory check comes within 5 s.
    tokio::time::sleep(Duration::from_secs(8)).await;
    let servers = play.runtime.servers().await;
    assert_eq!((servers.servers[0].state, servers.servers[0].restarts), (ServerRunState::Ready, Some(0)));
    assert!(servers.notes[0].contains("budget of 64 MiB"), "{servers:?}");
    assert_eq!(in_time(play.hover("a.scr")).await.expect("a hover").notes, [""; 0], "it is reported once");
    assert_eq!(play.log().starts(), 1);
    in_time(play.runtime.shutdown()).await;
    crate::support::wait_until("all of it is gone", SOON, || count_processes(&play.project.marker()) == 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn memory_budget_exceeded_least_recently_used_server_is_stopped() {
    let play = Play::open(&large_servers(MARKER, TWO), None);
    play.seen("one/src/a.scr").await;
    let stopped = async {
        while play.log().events("exit").is_empty() {
            play.seen("two/src/a.scr").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    in_time(Box::pin(stopped)).await;
    let rows = play.runtime.servers().await.servers;
    let running: Vec<_> = rows.iter().filter(|row| row.state == ServerRunState::Ready).collect();
    assert_eq!(running.len(), 1, "{rows:?}");
    assert_eq!((running[0].root.as_deref(), running[0].restarts), (Some("two"), Some(0)));
    assert_eq!(play.log().starts(), 2);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_server_is_found_once_installed() {
    let project = Project::scripted(&json!({}), "install = { advice = \"get it\" }", [("a.scr", TEXT)]);
    let program = project.beside("data").join("later");
    let catalogue = project.beside("config").join("servers.toml");
    let text = fs::read_to_string(&catalogue).expect("servers.toml");
    let [real, _] = project.server_command();
    fs::write(&catalogue, text.replace(&real, &program.to_string_lossy())).expect("servers.toml");
    let play = Play::open(&project, None);
    for _ in 0..3 {
        let refused = in_time(play.hover("a.scr")).await.expect_err("the text does not tell");
        assert_eq!(refused.code, ErrorCode::ServerMissing, "{refused:?}");
        assert!(refused.hint.is_some_and(|hint| hint.contains("get it")));
        let rows = play.runtime.servers().await.servers;
        assert_eq!(
            (rows.len(), rows[0].state, rows[0].restarts),
            (1, ServerRunState::Missing, None),
            "{rows:?}"
        );
        assert_eq!(rows[0].install.as_deref(), Some("get it"));
    }
    std::os::unix::fs::symlink(&real, &program).expect("an install");
    assert_eq!(play.runtime.servers().await.servers[0].state, ServerRunState::Installed);
    assert_eq!(in_time(play.hover("a.scr")).await.expect("a hover").verdict, Verdict::Complete);
    let rows = play.runtime.servers().await.servers;
    assert_eq!((rows[0].state, rows[0].restarts), (ServerRunState::Ready, Some(0)), "{rows:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_server_state_is_disabled_not_crashed() {
    let play = Play::with(&json!({}), "runs-project-code = true", [("a.scr", TEXT)]);
    let answer = in_time(play.hover("a.scr")).await.expect("an answer from the text");
    assert_eq!(answer.server_status.state, ServerState::Disabled, "{answer:?}");
    let rows = play.runtime.servers().await.servers;
    assert_eq!((rows[0].state, rows[0].restarts), (ServerRunState::Disabled, None), "{rows:?}");
    assert!(rows[0].detail.as_deref().is_some_and(|detail| detail.contains("lsp-tools trust")), "{rows:?}");
    play.end().await;
}

/// A project with a virtual environment, whose server requests the section `python`.
fn python_project() -> Project {
    let scenario = json!({"configuration": {"sections": ["python"]}});
    let table = "python-environment = true\npython-path-setting = \"python.pythonPath\"";
    let project =
        Project::scripted(&scenario, table, [("a.scr", TEXT), (".venv/pyvenv.cfg", "home = /usr/bin\n")]);
    write_executable(project.path(".venv/bin/python"), "#!/bin/sh\n");
    project
}

async fn python_setting(play: &Play) -> Value {
    play.seen("a.scr").await;
    play.log().wait_for("the configuration", SOON, |log| log.answer(&json!("configuration")))["result"][0]["pythonPath"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn project_interpreter_is_passed_to_server_only_when_trusted() {
    let play = Play::open(&python_project(), None);
    let own = json!(play.project.path(".venv/bin/python"));
    assert_ne!(python_setting(&play).await, own, "before anyone trusted it");
    in_time(play.runtime.shutdown()).await;
    let shown = play.runtime.trust(TrustRequest::Show).await.expect("what it wants to run");
    assert!(
        !shown.trusted && shown.items.iter().any(|item| item.name.contains(".venv/bin/python")),
        "{shown:?}"
    );
    play.runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.expect("trust");
    fs::remove_file(play.log().path()).expect("the log");
    let play = Play::open(&play.project, None);
    assert_eq!(python_setting(&play).await, own, "trusted");
    in_time(play.runtime.shutdown()).await;
    // A different program under the same name is not trusted.
    play.project.write(".venv/bin/python", "#!/bin/sh\nrm -rf /\n");
    fs::remove_file(play.log().path()).expect("the log");
    let play = Play::open(&play.project, None);
    assert_ne!(python_setting(&play).await, own, "exchanged");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definition_in_nested_project_is_asked_of_its_own_server() {
    let play = Play::with(&json!({}), MARKER, TWO);
    let (one, two) = (
        play.runtime.definition(at("one/src/a.scr", 1, 0)),
        play.runtime.definition(at("two/src/a.scr", 1, 0)),
    );
    let (one, two) = in_time(Box::pin(async { tokio::join!(one, two) })).await;
    let path = |answer: lsp_tools::Answer<lsp_tools::answer::LocationsOutput>| {
        answer.output.locations.first().map(|place| place.path.clone())
    };
    assert_eq!(path(one.expect("one")).as_deref(), Some("one/src/a.scr"));
    assert_eq!(path(two.expect("two")).as_deref(), Some("two/src/a.scr"));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_documents_over_limit_are_closed_and_reopened_on_request() {
    let files: Vec<(String, String)> =
        (0..12).map(|n| (format!("f{n}.scr"), format!("def f{n} WRONG\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = Project::scripted(&json!({}), "", files);
    settings(&project, "[servers]\nmax-open-documents = 4\n");
    let play = Play::open(&project, None);
    let answer = in_time(play.runtime.diagnose(Vec::new(), None, 100)).await.expect("a check");
    assert_eq!((answer.verdict, answer.output.count, answer.output.files), (Verdict::Complete, 12, 12));
    play.log().wait_for("at most 4 open documents", SOON, |log| {
        (log.count("textDocument/didOpen") <= log.count("textDocument/didClose") + 4).then_some(())
    });
    assert_eq!(play.findings("f0.scr").await, (Verdict::Complete, 1));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_of_two_languages_is_listed_once() {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT), ("b.scr", TEXT), ("c.scx", TEXT)]);
    let catalogue = project.beside("config").join("servers.toml");
    let text = fs::read_to_string(&catalogue).expect("servers.toml");
    let text = text.replace("languages = [\"scripted\"]", "languages = [\"scripted\", \"extended\"]");
    let other =
        "[language.extended]\nname = \"Extended\"\nextensions = [\"scx\"]\nservers = [\"scripted\"]\n\n";
    fs::write(&catalogue, format!("{other}{text}")).expect("servers.toml");
    let play = Play::open(&project, None);
    let listed = in_time(play.runtime.servers()).await.servers;
    let both = ["scripted".to_owned(), "extended".to_owned()];
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0].languages[..], listed[0].files), (&both[..], 3));
    play.seen("c.scx").await;
    let listed = in_time(play.runtime.servers()).await.servers;
    assert_eq!((listed.len(), listed[0].pid.is_some()), (1, true), "{listed:?}");
    let examined = in_time(play.runtime.doctor()).await.servers;
    assert_eq!(examined.len(), 1, "{examined:?}");
    assert_eq!((&examined[0].languages[..], examined[0].files), (&both[..], 3));
    play.end().await;
}

/// A server whose newer versions request their settings gets them unrequested otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn server_that_does_not_ask_for_settings_is_told_them() {
    let table = "asks-for-settings = true\nsettings = {scripted = {strict = true}}";
    for (asks, told) in [(json!({"configuration": {"sections": ["scripted"]}}), 0), (json!({}), 1)] {
        let play = Play::with(&asks, table, [("a.scr", "def foo\n")]);
        let hover = in_time(play.hover("a.scr")).await.expect("a hover");
        assert_eq!(hover.verdict, Verdict::Complete, "{hover:?}");
        assert_eq!(play.log().count("workspace/didChangeConfiguration"), told, "{asks}");
        play.end().await;
    }
}
