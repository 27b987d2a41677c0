//! Checkers that a server runs in the background: an empty result for a text that the checker has
//! not read is not an answer.

use std::time::{Duration, Instant};

use lsp_tools::Verdict;
use serde_json::{Value, json};

use super::play::{Play, SOON, in_time, timed};
use crate::overlays::stage;
use crate::support::Project;

const TABLE: &str = "diagnostics = { source = \"pull\", background-check = { name = \"the checker\", start = \"scripted/check\", \
                     progress-token = \"checker/\", off-by = \"scripted.check\" } }";
/// The time of a checker's run, in milliseconds: longer than any answer.
const RUN_MS: u64 = 700;

fn progress(kind: &str) -> Value {
    let value = json!({"kind": kind, "title": "checking", "message": "1/2"});
    json!({"notify": {"method": "$/progress", "params": {"token": "checker/0", "value": value}}})
}

fn always(delay_ms: u64, action: Value) -> Value {
    json!({"at": "scripted/check", "times": 0, "delay_ms": delay_ms, "do": action})
}

/// The checker's finding in `a.scr`, published for the text version `version`.
fn found_in_a(project: &Project, version: Option<i32>) -> Value {
    let at = |character: u32| json!({"line": 0, "character": character});
    let found = json!({"range": {"start": at(0), "end": at(3)}, "severity": 1, "message": "checked"});
    let uri = format!("file://{}/a.scr", project.root().display());
    json!({"notify": {
        "method": "textDocument/publishDiagnostics",
        "params": {"uri": uri, "version": version, "diagnostics": [found]},
    }})
}

/// A project whose checker finds one error in `a.scr`, in each run, and publishes it for the text
/// version `version`.
fn project(version: Option<i32>, begins: bool) -> Project {
    let project = Project::scripted(&json!({}), TABLE, [("a.scr", "def foo\n"), ("b.scr", "def bar\n")]);
    let push = found_in_a(&project, version);
    let rules = match begins {
        true => vec![always(0, progress("begin")), always(RUN_MS, push), always(RUN_MS, progress("end"))],
        false => Vec::new(),
    };
    project.set_scenario(&json!({"diagnostics": {"mode": "pull"}, "rules": rules}));
    project
}

fn runs(play: &Play) -> usize {
    play.log().count("scripted/check")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn background_check_of_present_text_is_awaited_and_run_once_per_change() {
    let play = Play::open(&project(None, true), None);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    assert_eq!(play.findings("b.scr").await, (Verdict::Complete, 0));
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    assert_eq!(runs(&play), 1, "nothing has changed since");
    for round in 1..=3 {
        play.project.write("a.scr", format!("def foo {round} WRONG\n"));
        assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 2), "round {round}");
        assert_eq!(runs(&play), 1 + round);
    }
    // A file that no client has open concerns the others.
    play.project.write("c.scr", "def new\n");
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 2));
    assert_eq!(runs(&play), 5);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_asked_at_once_share_one_background_check() {
    let play = Play::open(&project(None, true), None);
    let (a, b, again) = tokio::join!(play.findings("a.scr"), play.findings("b.scr"), play.findings("a.scr"));
    let one = (Verdict::Complete, 1);
    assert_eq!((a, b, again), (one, (Verdict::Complete, 0), one));
    assert_eq!(runs(&play), 1);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_check_findings_told_under_an_older_version_count_once_it_has_ended() {
    let play = Play::open(&project(Some(1), true), None);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.project.write("a.scr", "def foo changed\n");
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_check_that_goes_on_at_the_deadline_is_partial() {
    let play = Play::open(&project(None, true), Some(Duration::from_millis(RUN_MS / 2)));
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Partial, 0), "{answer:?}");
    let detail = answer.server_status.detail.unwrap_or_default();
    assert!(detail.contains("scripted still runs the checker: 1/2"), "{detail}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn background_check_that_never_begins_is_partial_and_waited_for_once() {
    let play = Play::open(&project(None, false), None);
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    let detail = answer.server_status.detail.clone().unwrap_or_default();
    assert_eq!(
        (answer.verdict, detail.as_str()),
        (Verdict::Partial, "the checker did not begin in 5 s"),
        "{answer:?}"
    );
    assert_eq!(play.findings("b.scr").await, (Verdict::Partial, 0));
    assert_eq!(runs(&play), 1);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_check_turned_off_by_settings_is_not_started() {
    let project = project(None, true);
    let catalogue = project.beside("config").join("servers.toml");
    let table = std::fs::read_to_string(&catalogue).expect("servers.toml");
    std::fs::write(&catalogue, format!("{table}settings = {{ scripted = {{ check = false }} }}\n"))
        .expect("written");
    let play = Play::open(&project, None);
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    let detail = answer.server_status.detail.clone().unwrap_or_default();
    assert_eq!(detail, "the checker is turned off by the setting `scripted.check`", "{answer:?}");
    assert_eq!((answer.verdict, runs(&play)), (Verdict::Partial, 0));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unsaved_text_is_partial_since_the_background_check_reads_the_disk() {
    let play = Play::open(&project(None, true), None);
    assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
    let unsaved = stage::client(&play, &[("a.scr", "def foo unsaved\n")]);
    let answer = in_time(unsaved.diagnose(vec!["a.scr".into()], None, 10)).await.expect("a check");
    let detail = answer.server_status.detail.clone().unwrap_or_default();
    assert_eq!(
        (answer.verdict, detail.as_str()),
        (Verdict::Partial, "the checker reads what is on disk, and not unsaved texts"),
        "{answer:?}"
    );
    play.end().await;
}

/// A cancelled check ends like a finished one; the next begins a moment later.
#[tokio::test(flavor = "multi_thread")]
async fn background_check_that_was_cancelled_is_not_taken_for_one_that_is_over() {
    let project = project(None, true);
    let scenario = json!({"diagnostics": {"mode": "pull"}, "rules": [
        always(0, progress("begin")),
        always(50, progress("end")),
        always(100, progress("begin")),
        always(0, found_in_a(&project, None)),
        always(RUN_MS, progress("end")),
    ]});
    project.set_scenario(&scenario);
    let play = Play::open(&project, None);
    let ((verdict, count), took) = Box::pin(timed(play.findings("a.scr"))).await;
    assert_eq!((verdict, count), (Verdict::Complete, 1));
    assert!(took >= Duration::from_millis(RUN_MS), "the second run was not waited for: {took:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_check_keeps_no_other_question_waiting() {
    let play = Play::open(&project(None, true), None);
    // A client with unsaved text has exclusive use of the server during its request.
    let unsaved = stage::client(&play, &[("b.scr", "def unsaved\n")]);
    let checks = async {
        let begun = Instant::now();
        assert_eq!(play.findings("a.scr").await, (Verdict::Complete, 1));
        begun.elapsed()
    };
    let hovers = async {
        let log = play.log();
        let begun =
            move || log.wait_for("the check", SOON, |log| (log.count("scripted/check") > 0).then_some(()));
        tokio::task::spawn_blocking(begun).await.expect("the check");
        let mut done = 0;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(RUN_MS / 2) {
            in_time(unsaved.hover(stage::at("b.scr", 0, 4))).await.expect("a hover");
            done += 1;
        }
        done
    };
    let (took, done) = tokio::join!(checks, hovers);
    assert!(done > 1, "{done} hovers in a check of {took:?}");
    play.end().await;
}
