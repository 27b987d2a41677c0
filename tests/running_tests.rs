//! `run_tests` and `find_test_files`, as every client calls them: real runs, rules, and missing
//! runners.

use std::fs;

use futures::future::BoxFuture;
use lsp_tools::{Approval, ApprovalRequest, Approver, Caller};
use serde_json::{Value, json};

use crate::support::Project;

const SHOP: &str = "def price(n):\n    return n * 3\n";
const PYTHON_TESTS: &str = "import time\nimport unittest\nfrom shop import price\n\nclass Price(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(price(2), 6)\n\n    def test_other(self):\n        self.fail('other')\n\n    def test_slow(self):\n        print('begun', flush=True)\n        time.sleep(600)\n";
const NODE_TESTS: &str = "const { test } = require('node:test');\nconst assert = require('node:assert');\n\ntest('adds', () => assert.strictEqual(1 + 1, 2));\n";

fn python_project() -> Project {
    Project::new([("pkg/setup.py", ""), ("pkg/shop.py", SHOP), ("pkg/test_shop.py", PYTHON_TESTS)])
}

fn with_settings<'a>(settings: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Project {
    let project = Project::new(files);
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_of_unittest_project_tells_passing_from_failing() {
    let project = python_project();
    let workspace = project.open();
    let of = |name: &str| json!({"files": ["pkg/test_shop.py"], "testNames": [name]});
    let passing = workspace.ok("run_tests", of("test_it")).await;
    assert_eq!(passing["command"], "cd ./pkg && python3 -m unittest test_shop.py -k test_it");
    assert_eq!((&passing["passed"], &passing["exit_code"]), (&json!(true), &json!(0)), "{passing}");
    assert!(passing["stderr"].as_str().is_some_and(|text| text.contains("Ran 1 test")), "{passing}");
    assert_eq!(passing["why"], "setup.py is here and does not name pytest");
    let failing = workspace.ok("run_tests", of("test_other")).await;
    assert_eq!((&failing["passed"], &failing["exit_code"]), (&json!(false), &json!(1)), "{failing}");
    assert!(failing["stderr"].as_str().is_some_and(|text| text.contains("other")), "{failing}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_of_node_project_tells_passing_from_failing() {
    let package = json!({"name": "shop", "scripts": {"test": "node --test"}}).to_string();
    let failing = NODE_TESTS.replace("2));", "3));");
    let project = Project::new([
        ("package.json", package.as_str()),
        ("a.test.js", NODE_TESTS),
        ("b.test.js", &failing),
    ]);
    let workspace = project.open();
    let one = workspace.ok("run_tests", json!({"files": [project.path("a.test.js")]})).await;
    assert_eq!(
        (&one["command"], &one["passed"]),
        (&json!("npm run test -- a.test.js"), &json!(true)),
        "{one}"
    );
    let named = workspace.ok("run_tests", json!({"files": ["b.test.js"], "testNames": ["adds"]})).await;
    assert_eq!(named["passed"], false, "{named}");
    assert!(named["stdout"].as_str().is_some_and(|text| text.contains("adds")), "{named}");
    let told = "this runner takes no test names here; all tests of the files run";
    assert_eq!(named["notes"], json!([told]), "{named}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_beyond_its_timeout_fails_with_what_was_written() {
    let project = python_project();
    let workspace = project.open();
    // The timeout is ample for the output, but the test never ends.
    let input = json!({"files": ["pkg/test_shop.py"], "testNames": ["test_slow"], "timeout": 15_000});
    let late = workspace.call("run_tests", input).await.value;
    assert_eq!(
        (&late["ok"], &late["code"], &late["passed"]),
        (&json!(false), &json!("timeout"), &json!(false))
    );
    assert_eq!((&late["exit_code"], &late["stdout"]), (&json!(124), &json!("begun\n")), "{late}");
    workspace.shutdown().await;
}

/// A project with its own environment, which has no pytest.
fn project_with_environment() -> Project {
    let project = Project::new([
        ("pkg/pytest.ini", ""),
        ("pkg/test_shop.py", "def test_it():\n    assert True\n"),
        ("pkg/shop.py", SHOP),
    ]);
    let mut python = std::process::Command::new("python3");
    python.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(project.root());
    assert!(python.status().expect("python3").success());
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_uses_the_environment_of_the_project() {
    let project = project_with_environment();
    let library = fs::read_dir(project.path(".venv/lib")).expect("libraries").next().expect("one");
    let pytest = library.expect("a folder").path().join("site-packages/pytest");
    fs::create_dir_all(&pytest).expect("a folder");
    fs::write(pytest.join("__init__.py"), "").expect("a module");
    fs::write(pytest.join("__main__.py"), "import sys; print('prefix', sys.prefix)").expect("a module");
    let workspace = project.open();
    let answer = workspace.ok("run_tests", json!({"files": ["pkg/test_shop.py"]})).await;
    assert_eq!(answer["command"], "cd ./pkg && ../.venv/bin/python -m pytest test_shop.py");
    assert_eq!((&answer["passed"], &answer["exit_code"]), (&json!(true), &json!(0)), "{answer}");
    let written = answer["stdout"].as_str().expect("text");
    assert!(written.trim().ends_with("/.venv"), "{answer}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runner_that_cannot_start_is_an_error_with_the_command_that_helps() {
    let project = project_with_environment();
    let workspace = project.open();
    let answer = workspace.call("run_tests", json!({"files": ["pkg/test_shop.py"]})).await.value;
    assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("server_failed")), "{answer}");
    assert!(answer["error"].as_str().is_some_and(|text| text.contains("No module named pytest")), "{answer}");
    assert_eq!(
        answer["hint"], "run: cd ./pkg && uv pip install --python ../.venv/bin/python pytest",
        "{answer}"
    );
    assert_eq!((&answer["passed"], &answer["exit_code"]), (&Value::Null, &json!(1)), "{answer}");
    workspace.shutdown().await;

    let package = json!({"name": "shop", "scripts": {"test": "vitest run"}}).to_string();
    let project = Project::new([("package.json", package.as_str()), ("a.test.js", NODE_TESTS)]);
    let workspace = project.open();
    let answer = workspace.call("run_tests", json!({})).await.value;
    assert_eq!((&answer["ok"], &answer["hint"]), (&json!(false), &json!("run: npm install")), "{answer}");
    workspace.shutdown().await;
}

#[test]
fn tests_of_a_symbol_that_cannot_start_at_the_shell_end_with_status_4_and_the_remedy() {
    let project = project_with_environment();
    project.write("pkg/test_shop.py", "from shop import price\n\ndef test_it():\n    assert price(1) == 3\n");
    let mut command = project.command(None);
    let output = command.args(["tests", "pkg/shop.py:price", "--run"]).output().expect("lsp-tools");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{out}{err}");
    assert!(err.contains("no test ran") && err.contains("uv pip install --python"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_without_known_runner_or_outside_of_the_workspace_is_refused() {
    let project = Project::new([("README.md", "")]);
    let workspace = project.open();
    let (code, error) = workspace.failure("run_tests", json!({})).await;
    assert_eq!(code, "not_found");
    assert!(error.starts_with("it is not known how the tests of this project are run"), "{error}");
    for (tool, input) in [
        ("run_tests", json!({"files": ["../other/test_a.py"]})),
        ("find_test_files", json!({"filePaths": ["/etc/passwd"]})),
    ] {
        assert_eq!(workspace.failure(tool, input).await.0, "outside_workspace", "{tool}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_tests_needs_leave_and_obeys_the_rules_for_its_command() {
    let files = [("Makefile", "test:\n\ttouch ran\n")];
    for (settings, is_allowed, told) in [
        ("", false, "allow = [\"run_tests(make test)\"]"),
        ("[permissions]\nallow = [\"run_tests\"]\n", true, ""),
        ("[permissions]\nallow = [\"run_tests(make test)\"]\n", true, ""),
        ("[permissions]\nallow = [\"bash(make *)\"]\n", true, ""),
        ("[permissions]\nallow = [\"run_tests\"]\nask = [\"bash(make *)\"]\n", false, "`bash(make *)`"),
        ("[permissions]\nallow = [\"*\"]\ndeny = [\"run_tests\"]\n", false, "`run_tests`"),
        ("[permissions]\nallow = [\"*\"]\ndeny = [\"bash(make *)\"]\n", false, "`bash(make *)`"),
        ("[permissions]\nallow = [\"*\"]\ndeny = [\"bash\"]\n", false, "`bash`"),
        ("[permissions]\nallow = [\"*\"]\nexcluded = [\"bash\"]\n", false, "bash is in the list `excluded`"),
    ] {
        let project = with_settings(settings, files);
        let workspace = project.open();
        let answer = workspace.call_unasked("run_tests", json!({})).await.value;
        assert_eq!(answer["ok"], is_allowed, "{settings}: {answer}");
        assert_eq!(project.path("ran").exists(), is_allowed, "{settings}");
        if !is_allowed {
            assert_eq!(answer["code"], "denied", "{settings}: {answer}");
            assert!(answer.to_string().replace("\\\"", "\"").contains(told), "{settings}: {answer}");
        }
        workspace.shutdown().await;
    }
}

/// Approves after another test command has appeared.
struct Meddler(std::path::PathBuf);

impl Approver for Meddler {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        assert_eq!(request.commands, ["make test"]);
        let package = json!({"scripts": {"test": "touch other"}}).to_string();
        fs::write(self.0.join("package.json"), package).expect("a file");
        Box::pin(std::future::ready(Approval::Once))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn command_that_was_agreed_to_is_the_one_that_runs() {
    let project = Project::new([("Makefile", "test:\n\ttouch ran\n")]);
    let workspace = project.open();
    let answer =
        workspace.call_as(&Caller::default(), &Meddler(project.root()), "run_tests", json!({})).await.value;
    assert_eq!((&answer["command"], &answer["passed"]), (&json!("make test"), &json!(true)), "{answer}");
    assert!(project.path("ran").exists() && !project.path("other").exists());
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn find_test_files_names_what_belongs_together_and_what_was_looked_for() {
    let project = with_settings(
        "[permissions]\ndeny = [\"read(secret/**)\"]\n",
        [
            ("src/shop/cart.py", "x = 1\n"),
            ("tests/shop/test_cart.py", "\n"),
            ("tests/blog/test_cart.py", "\n"),
            ("secret/test_cart.py", "\n"),
            ("src/price.rs", "fn x() {}\n\n#[cfg(test)]\nmod tests {}\n"),
            ("src/main.zig", "test {\n}\n"),
            ("alone.go", "package a\n"),
            ("README.md", "\n"),
        ],
    );
    let workspace = project.open();
    let all = [
        "src/shop/cart.py",
        "tests/shop/test_cart.py",
        "src/price.rs",
        "src/main.zig",
        "alone.go",
        "README.md",
    ];
    let answer = workspace.ok("find_test_files", json!({"filePaths": all})).await;
    let expected = json!([
        {"path": all[0], "kind": "source", "related": ["tests/shop/test_cart.py", "tests/blog/test_cart.py"]},
        {"path": all[1], "kind": "test", "related": ["src/shop/cart.py"]},
        {"path": all[2], "kind": "source", "related": [], "inline_tests_line": 3},
        {"path": all[3], "kind": "source", "related": [], "inline_tests_line": 1},
        {"path": all[4], "kind": "source", "related": [], "names": ["alone_test.go"]},
        {"path": all[5], "kind": "unknown", "related": []},
    ]);
    assert_eq!(answer["files"], expected);
    let (code, error) = workspace.failure("find_test_files", json!({"filePaths": ["src/gone.py"]})).await;
    assert_eq!((code.as_str(), error.as_str()), ("not_found", "there is no src/gone.py"));
    workspace.shutdown().await;
}

#[test]
fn run_tests_at_the_shell_runs_is_recorded_and_is_listed_on_request_alone() {
    let project = Project::new([("Makefile", "test:\n\t@echo tested\n")]);
    let run = |words: &[&str]| {
        let output = project.command(None).args(words).output().expect("lsp-tools");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, out) = run(&["tools", "call", "run_tests", "{}", "--format", "json"]);
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &answer["stdout"]), (Some(0), &json!("tested\n")), "{answer}");
    let log = fs::read_to_string(project.beside("state").join("audit.jsonl")).expect("a log");
    let entry: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&entry["tool"], &entry["effect"]), (&json!("run_tests"), &json!("execute")), "{entry}");
    for (profile, is_listed) in [("core", false), ("all", true)] {
        let (_, listed) = run(&["tools", "list", "--profile", profile]);
        for tool in ["run_tests", "find_test_files"] {
            assert_eq!(listed.contains(tool), is_listed, "{profile}: {listed}");
        }
    }
}

#[test]
fn find_test_files_from_a_folder_below_the_root_reads_the_file_it_was_given() {
    let rust = "fn price() -> u32 {\n    3\n}\n\n#[cfg(test)]\nmod tests {}\n";
    let project = Project::new([("src/price.rs", rust)]);
    let mut command = project.command(None);
    command.current_dir(project.path("src"));
    let arguments =
        ["tools", "call", "find_test_files", "{\"filePaths\": [\"price.rs\"]}", "--format", "json"];
    let output = command.args(arguments).output().expect("lsp-tools");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["files"][0]["inline_tests_line"], 5, "{answer}");
}
