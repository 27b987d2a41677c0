//! Commands and tests.

use std::sync::Arc;
use std::time::Duration;

use lsp_tools::Caller;
use lsp_tools::internals::bridges::{AliasCallOptions, call_alias};
use lsp_tools::internals::policy::LeaveGiven;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{absolute, backend_of, done, refused};
use crate::support::{Marker, Project, wait_until};

const SOON: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn run_in_terminal_reports_output_exit_code_and_changed_files() {
    let project = Project::new([("a.txt", "1\n")]);
    let runtime = project.open();
    let input = json!({"command": "echo out; echo err >&2; echo 2 > a.txt; exit 3", "explanation": "x"});
    let answer = done(&runtime, "run_in_terminal", input).await;
    assert!(answer.text.starts_with("out\nerr\nexit code 3 after "), "{}", answer.text);
    assert!(answer.text.ends_with("files: modified a.txt"), "{}", answer.text);
    assert_eq!(answer.changed, [project.path("a.txt")]);
    let slow =
        refused(&runtime, "run_in_terminal", json!({"command": "echo begun; sleep 60", "timeout": 300}))
            .await;
    assert!(slow.starts_with("begun\nexit code 124") && slow.contains("larger timeout_ms"), "{slow}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_terminal_output_is_read_by_id() {
    let project = Project::new([]);
    let runtime = project.open();
    let input = json!({"command": "echo ready; read nothing; echo over", "isBackground": true});
    let text = done(&runtime, "run_in_terminal", input).await.text;
    let id = text.split(" as ").nth(1).and_then(|rest| rest.split(';').next()).expect("an id").to_owned();
    let mut seen = String::new();
    for _ in 0..20 {
        let output = done(&runtime, "get_terminal_output", json!({"id": id, "timeout": 60_000})).await.text;
        seen.push_str(&output);
        if output.contains("it has ended") {
            break;
        }
    }
    assert!(seen.contains("ready") && seen.contains("over") && seen.contains("exit code 0"), "{seen}");
    let unknown = refused(&runtime, "get_terminal_output", json!({"id": "no-such"})).await;
    assert!(unknown.contains("no-such"), "{unknown}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_turn_ends_its_command() {
    let project = Project::new([]);
    let runtime = project.open();
    let marker = Marker::new();
    let (caller, cancelled) = (Caller::default(), CancellationToken::new());
    let backend = backend_of(&runtime);
    let asked = AliasCallOptions {
        backend: &backend,
        caller: &caller,
        approver: &LeaveGiven,
        group: None,
        cancelled: cancelled.clone(),
    };
    let input = json!({"command": format!("sh -c 'sleep 300; : {}'", marker.as_str())});
    let running = call_alias(&runtime, "run_in_terminal", input, &asked);
    let seen = Arc::new(marker);
    let looked_at = Arc::clone(&seen);
    let cancel = async {
        let waits = move || wait_until("the command runs", SOON, || looked_at.living() > 0);
        tokio::task::spawn_blocking(waits).await.expect("it runs");
        cancelled.cancel();
    };
    let (answer, ()) = tokio::join!(running, cancel);
    assert!(!answer.ok && answer.text.contains("cancelled"), "{}", answer.text);
    wait_until("it is gone", SOON, || seen.living() == 0);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_runs_python_unittest_files_of_project() {
    let test = "import unittest\nfrom shop import price\n\nclass Price(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(price(2), 6)\n\n    def test_other(self):\n        self.fail('other')\n";
    let project = Project::new([
        ("pkg/setup.py", ""),
        ("pkg/shop.py", "def price(n):\n    return n * 3\n"),
        ("pkg/test_shop.py", test),
        ("README.md", ""),
    ]);
    let runtime = project.open();
    let input = json!({"files": [absolute(&project, "pkg/test_shop.py")], "testNames": ["test_it"]});
    let answer = done(&runtime, "run_tests", input).await;
    let first = answer.text.lines().next().expect("a line");
    assert_eq!(first, "$ cd ./pkg && python3 -m unittest test_shop.py -k test_it");
    assert!(answer.text.contains("Ran 1 test") && answer.text.contains("exit code 0"), "{}", answer.text);
    let all =
        done(&runtime, "run_tests", json!({"files": [absolute(&project, "pkg/test_shop.py")]})).await.text;
    assert!(all.contains("FAILED (failures=1)") && all.contains("exit code 1"), "{all}");
    let nothing = refused(&runtime, "run_tests", json!({})).await;
    assert!(nothing.contains("it is not known how the tests of this project are run"), "{nothing}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_uses_makefile_test_target() {
    let project = Project::new([("Makefile", "test:\n\t@echo tested by make\n")]);
    let runtime = project.open();
    let text = done(&runtime, "run_tests", json!({})).await.text;
    assert!(text.starts_with("$ make test\n(Makefile has `test`)\ntested by make\nexit code 0"), "{text}");
    runtime.shutdown().await;
}
