//! The commands `explore`, `edit ADDRESS` and `fix` as processes: text, JSON, input, exit statuses
//! and undo. Most use only the syntax tree; others use pyright or ruff.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Project, real_servers};

const CART: &str = "class Cart:\n    def total(self, rate: float = 1.0) -> float:\n        \"\"\"All prices together.\"\"\"\n        \
                    return add_up([1.0]) * rate\n\n\ndef add_up(prices: list[float]) -> float:\n    return sum(prices)\n\n\n\
                    def spare() -> int:\n    return 0\n";
const BILL: &str = "from shop.cart import Cart\n\n\nclass Bill:\n    def total(self) -> float:\n        return Cart().total()\n";
const NEW_SUM: &str = "def add_up(prices: list[float]) -> float:\n    return 2 * sum(prices)\n";

fn project() -> Project {
    Project::new([
        ("pyproject.toml", "[tool.pyright]\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/bill.py", BILL),
    ])
}

fn run_with(project: &Project, servers: Option<&Path>, arguments: &[&str], input: &str) -> Output {
    let mut command = project.command(servers);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("lsp-tools");
    // A command that takes no input may have ended by now.
    let _ = child.stdin.take().expect("its stdin").write_all(input.as_bytes());
    child.wait_with_output().expect("lsp-tools")
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    run_with(project, None, arguments, "")
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// The JSON on stdout, which has nothing else.
fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[track_caller]
fn has_status(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}{}", out(output), err(output));
}

/// The message of a refused call, which prints no answer.
#[track_caller]
fn refused(output: &Output, status: i32, sentence: &str) {
    has_status(output, status);
    assert_eq!(out(output), "");
    assert!(err(output).contains("error: ") && err(output).contains(sentence), "{sentence}: {}", err(output));
}

#[test]
fn explore_command_prints_a_symbol_with_its_users_and_the_tool_s_json() {
    let project = project();
    let shown = run(&project, &["explore", "shop/cart.py:add_up"]);
    has_status(&shown, 3);
    let text = out(&shown);
    assert!(text.starts_with("function add_up  shop/cart.py:7:"), "{text}");
    assert!(text.contains("\n8     return sum(prices)\n"), "{text}");
    assert!(text.contains("Used by (1)\n  shop/cart.py:4:16  method Cart.total"), "{text}");
    let bare = run(&project, &["explore", "add_up"]);
    assert_eq!((bare.status.code(), out(&bare)), (Some(3), text), "{}", err(&bare));

    let told = run(&project, &["explore", "shop/cart.py:add_up", "--format", "json"]);
    has_status(&told, 3);
    let arguments = json!({"path": "shop/cart.py", "symbol": "add_up", "budget": 4_000}).to_string();
    let called = json_of(&run(&project, &["tools", "call", "explore", &arguments, "--format", "json"]));
    let told = json_of(&told);
    for field in ["symbol", "kind", "path", "range", "body", "callers", "tests", "verdict"] {
        assert_eq!(told[field], called[field], "{field}");
    }
    assert_eq!(told["callers"]["items"][0]["symbol"], "Cart.total", "{told}");
}

#[test]
fn explore_command_lists_what_is_in_the_files_that_only_names() {
    let project = project();
    let callers = |only: &[&str]| {
        let shown = run(&project, &[&["explore", "Cart", "--format", "json"], only].concat());
        has_status(&shown, 3);
        json_of(&shown)["callers"]["count"].clone()
    };
    assert_eq!(callers(&[]), 2, "the import, and Bill.total");
    assert_eq!(callers(&["--only", "shop/cart.py"]), 0);
    assert_eq!(callers(&["--only", "shop/cart.py", "--only", "shop"]), 2);
    refused(
        &run(&project, &["explore", "Cart", "--only", "gone"]),
        2,
        "`only` names `gone`, which does not exist",
    );
}

#[test]
fn explore_command_without_one_symbol_says_why_in_its_status() {
    let project = project();
    refused(
        &run(&project, &["explore", "total"]),
        2,
        "shop/bill.py:5:9 (method Bill.total), shop/cart.py:2:9 (method Cart.total)",
    );
    refused(&run(&project, &["explore", "nowhere"]), 3, "the text has no symbol with the name `nowhere`");
    refused(&run(&project, &["explore", "shop/cart.py:nowhere"]), 2, "`nowhere`");
    refused(&run(&project, &["explore", "gone.py:add_up"]), 2, "gone.py");
    refused(
        &run(&project, &["explore", "add_up", "--budget", "10"]),
        2,
        "a budget of 10 tokens is too small; the minimum is 400",
    );
}

#[test]
fn edit_command_takes_a_body_from_stdin_tries_it_makes_it_and_takes_it_back() {
    let project = project();
    let edit = &["edit", "shop/cart.py:add_up", "--body", "-"][..];
    let tried = run_with(&project, None, &[edit, &["--dry-run"]].concat(), NEW_SUM);
    has_status(&tried, 0);
    assert!(
        out(&tried).contains("-    return sum(prices)\n+    return 2 * sum(prices)\n"),
        "{}",
        out(&tried)
    );
    assert_eq!(project.read("shop/cart.py"), CART, "only tried");

    let made = run_with(&project, None, edit, NEW_SUM);
    has_status(&made, 0);
    assert_eq!(out(&made), out(&tried));
    let edited = CART.replace("return sum", "return 2 * sum");
    assert_eq!(project.read("shop/cart.py"), edited);
    has_status(&run(&project, &["undo"]), 0);
    assert_eq!(project.read("shop/cart.py"), CART);

    let told = json_of(&run_with(&project, None, &[edit, &["--format", "json"]].concat(), NEW_SUM));
    assert_eq!((&told["ok"], &told["path"]), (&json!(true), &json!("shop/cart.py")), "{told}");
    let id = told["undo"].as_str().expect("its undo id");
    assert_eq!(project.read("shop/cart.py"), edited);
    let undone = json_of(&run(&project, &["undo", id, "--format", "json"]));
    assert_eq!(undone["results"][0]["path"], "shop/cart.py", "{undone}");
    assert_eq!(project.read("shop/cart.py"), CART);
    refused(&run(&project, &["undo"]), 1, "nothing");
}

#[test]
fn edit_command_inserts_code_before_and_after_a_symbol() {
    let project = project();
    let code = "def first() -> int:\n    return 1\n";
    has_status(&run(&project, &["edit", "add_up", "--before", code]), 0);
    assert_eq!(
        project.read("shop/cart.py"),
        CART.replace("\n\ndef add_up", &format!("\n\n{code}\n\ndef add_up"))
    );
    has_status(&run(&project, &["undo"]), 0);
    has_status(
        &run_with(
            &project,
            None,
            &["edit", "Cart.total", "--after", "-"],
            "def count(self):\n    return 1\n",
        ),
        0,
    );
    let after = "* rate\n\n    def count(self):\n        return 1\n\n\n";
    assert_eq!(
        project.read("shop/cart.py"),
        CART.replace("* rate\n\n\n", after),
        "indented as its neighbour"
    );
    has_status(&run(&project, &["undo"]), 0);
    assert_eq!(project.read("shop/cart.py"), CART);
}

#[test]
fn edit_command_does_not_delete_what_is_used_and_answers_its_uses() {
    let project = project();
    let kept = run(&project, &["edit", "add_up", "--delete"]);
    has_status(&kept, 1);
    assert!(out(&kept).contains("shop/cart.py:4:16"), "the uses are the answer: {}", out(&kept));
    assert!(err(&kept).contains("`add_up` is used once"), "{}", err(&kept));
    let told = run(&project, &["edit", "add_up", "--delete", "--format", "json"]);
    has_status(&told, 1);
    let told = json_of(&told);
    assert_eq!((&told["ok"], &told["count"]), (&json!(false), &json!(1)), "{told}");
    assert!(told["locations"][0]["shop/cart.py"].is_array(), "{told}");
    let mut below = project.command(None);
    let below = below.current_dir(project.path("shop")).args(["edit", "add_up", "--delete"]).output();
    let below = below.expect("lsp-tools");
    assert!(out(&below).starts_with("cart.py:4:16"), "as seen from there: {}", out(&below));
    assert_eq!(project.read("shop/cart.py"), CART);

    let gone = CART.replace("\n\n\ndef spare() -> int:\n    return 0\n", "\n");
    let tried = run(&project, &["edit", "spare", "--delete", "--dry-run"]);
    has_status(&tried, 0);
    assert!(out(&tried).contains("-def spare() -> int:"), "{}", out(&tried));
    assert_eq!(project.read("shop/cart.py"), CART);
    has_status(&run(&project, &["edit", "spare", "--delete"]), 0);
    assert_eq!(project.read("shop/cart.py"), gone);
    has_status(&run(&project, &["undo"]), 0);
    assert_eq!(project.read("shop/cart.py"), CART);
}

#[test]
fn edit_command_moves_a_symbol_to_another_file_and_back() {
    let project = project();
    let moved = run(&project, &["edit", "spare", "--to", "shop/spare.py"]);
    has_status(&moved, 0);
    assert_eq!(project.read("shop/spare.py"), "def spare() -> int:\n    return 0\n");
    assert!(!project.read("shop/cart.py").contains("spare"));
    has_status(&run(&project, &["undo"]), 0);
    assert_eq!(project.read("shop/cart.py"), CART);
    assert!(!project.path("shop/spare.py").exists());
    refused(
        &run(&project, &["edit", "spare", "--to", "shop/cart.py"]),
        2,
        "`spare` is in shop/cart.py already",
    );
}

#[test]
fn edit_command_without_one_symbol_changes_nothing_and_says_why_in_its_status() {
    let project = project();
    for (address, status, sentence) in [
        ("total", 2, "`total` matches 2 symbols in this workspace"),
        ("nowhere", 3, "the text has no symbol with the name `nowhere`"),
        ("shop/cart.py:nowhere", 2, "`nowhere`"),
        ("gone.py:add_up", 2, "gone.py"),
        ("../config/x.py:add_up", 2, "outside"),
    ] {
        for edit in
            [&["--body", "x = 1"][..], &["--delete"], &["--before", "x = 1"], &["--to", "shop/bill.py"]]
        {
            refused(&run(&project, &[&["edit", address], edit].concat()), status, sentence);
        }
    }
    for usage in [
        &["edit", "add_up"][..],
        &["edit", "add_up", "--delete", "--body", "x"],
        &["edit", "add_up", "--body", " "],
    ] {
        let output = run(&project, usage);
        has_status(&output, 2);
        assert_eq!(out(&output), "", "{usage:?}");
    }
    assert_eq!((project.read("shop/cart.py").as_str(), project.read("shop/bill.py").as_str()), (CART, BILL));
}

#[test]
#[ignore = "slow: just slow"]
fn commands_with_pyright_answer_whole_and_report_what_an_edit_breaks() {
    let (project, servers) = (project(), real_servers(&["pyright"]));
    let run = |arguments: &[&str]| run_with(&project, Some(&servers), arguments, "");
    let shown = run(&["explore", "shop/cart.py:Cart.total"]);
    has_status(&shown, 0);
    assert!(
        out(&shown).contains("method Bill.total") && out(&shown).contains("function add_up"),
        "{}",
        out(&shown)
    );

    let broken = "def add_up(prices: list[float], start: float) -> float:\n    return sum(prices)\n";
    let tried = run(&["edit", "add_up", "--body", broken, "--diagnostics", "--dry-run"]);
    has_status(&tried, 1);
    assert!(out(&tried).contains("Argument missing for parameter \"start\""), "{}", out(&tried));
    assert_eq!(project.read("shop/cart.py"), CART);

    let kept = run(&["edit", "Cart.total", "--delete"]);
    has_status(&kept, 1);
    assert!(out(&kept).contains("shop/bill.py:6:23"), "{}", out(&kept));
    has_status(&run(&["edit", "spare", "--delete"]), 0);
    assert!(!project.read("shop/cart.py").contains("spare"));
    has_status(&run(&["undo"]), 0);
    assert_eq!(project.read("shop/cart.py"), CART);
    refused(&run(&["edit", "total", "--delete"]), 2, "`total` matches 2 symbols");
}

const UNSORTED: &str = "import sys\nimport os\n\nprint(os.name, sys.path)\n";
const SORTED: &str = "import os\nimport sys\n\nprint(os.name, sys.path)\n";

#[test]
fn fix_command_with_ruff_is_one_edit_that_is_tried_made_and_taken_back() {
    let project = Project::new([
        ("pyproject.toml", "[tool.ruff.lint]\nselect = [\"F\", \"I\"]\n"),
        ("src/a.py", UNSORTED),
        ("src/b.py", UNSORTED),
        ("src/c.py", "x = 1\n"),
    ]);
    let servers = real_servers(&["ruff"]);
    let run = |arguments: &[&str]| run_with(&project, Some(&servers), arguments, "");
    let texts = || (project.read("src/a.py"), project.read("src/b.py"));
    let tried = run(&["fix", "organizeImports", "src", "--dry-run"]);
    has_status(&tried, 0);
    assert!(
        out(&tried).contains("src/a.py") && out(&tried).contains("-import sys\n import os\n+import sys\n"),
        "{}",
        out(&tried)
    );
    assert_eq!(texts(), (UNSORTED.to_owned(), UNSORTED.to_owned()));

    let made = run(&["fix", "source.organizeImports", "src", "--format", "json"]);
    has_status(&made, 0);
    let made = json_of(&made);
    let changed: Vec<_> =
        made["results"].as_array().into_iter().flatten().map(|file| &file["path"]).collect();
    assert_eq!(changed, ["src/a.py", "src/b.py"], "{made}");
    assert_eq!(texts(), (SORTED.to_owned(), SORTED.to_owned()));
    let again = run(&["fix", "organizeImports", "src"]);
    has_status(&again, 0);
    assert_eq!(out(&again), "");
    assert!(err(&again).contains("changes nothing there"), "{}", err(&again));
    has_status(&run(&["undo"]), 0);
    assert_eq!(texts(), (UNSORTED.to_owned(), UNSORTED.to_owned()), "one undo for both");

    for (arguments, sentence) in [
        (&["fix", "refactor", "src"][..], "`refactor` is not a kind of action for a whole file"),
        (&["fix", "quickfix", "src"], "requires the `rule`"),
        (&["fix", "fixAll", "gone"], "gone"),
        (&["fix", "fixAll", "../config"], "outside"),
    ] {
        refused(&run(arguments), 2, sentence);
    }
}

#[test]
fn fix_command_without_server_says_what_to_install() {
    let project = project();
    let output = run(&project, &["fix", "source.organizeImports", "shop/cart.py"]);
    has_status(&output, 3);
    assert!(
        err(&output).contains("pip install") || err(&output).contains("lsp-tools install"),
        "{}",
        err(&output)
    );
    assert_eq!(project.read("shop/cart.py"), CART);
}
