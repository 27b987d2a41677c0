//! Places in answers, with a real server: their short form, what they lie in, and the source of a definition.

use crate::support::{Project, TestWorkspace, start_of};
use serde_json::json;

const CART: &str = "class Cart:\n    def __init__(self) -> None:\n        self.prices: list[float] = []\n        self.sum = helper(self.prices)\n\n    \
                    def total(self) -> float:\n        return helper(self.prices)\n\n\n# Adds.\ndef helper(prices: list[float]) -> float:\n    return sum(prices)\n";

const MAIN: &str =
    "from shop.cart import helper\n\nprint(helper([1.0]))\n\n\ndef wrong() -> int:\n    return 'x'\n";

/// The shop with pyright, at a shell.
fn shop() -> TestWorkspace {
    let project = Project::new([
        ("pyproject.toml", "[tool.pyright]\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/main.py", MAIN),
    ]);
    project.opening().servers(&["pyright"]).at_shell().open()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_have_each_path_once_and_say_what_they_lie_in() {
    let shop = shop();
    let found = shop.answer("lsp_references", json!({"path": "shop/cart.py", "symbol": "helper"})).await;
    let expected = json!([
        {"shop/cart.py": [
            ["3:19", "self.sum = helper(self.prices)", "Cart.__init__"],
            ["6:15", "return helper(self.prices)", "Cart.total"],
            ["10:4", "def helper(prices: list[float]) -> float:", "helper"],
        ]},
        {"shop/main.py": [
            ["0:22", "from shop.cart import helper"],
            ["2:6", "print(helper([1.0]))"],
        ]},
    ]);
    assert_eq!(found["locations"], expected, "{found}");
    assert_eq!((&found["count"], &found["verdict"]), (&json!(5), &json!("complete")), "{found}");
    assert!(found.get("location").is_none(), "{found}");
    assert_eq!(found["resolved"], json!({"path": "shop/cart.py", "at": "10:4", "symbol": "helper"}));
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn definition_with_body_has_source_and_location_of_protocol() {
    let shop = shop();
    let ask = json!({"path": "shop/main.py", "line": 2, "symbol": "helper", "body": true});
    let found = shop.answer("lsp_definition", ask).await;
    let range = json!({"start": {"line": 10, "character": 4}, "end": {"line": 10, "character": 10}});
    assert_eq!(
        (&found["locations"][0]["shop/cart.py"][0][0], &found["location"]["range"]),
        (&json!("10:4"), &range),
        "{found}"
    );
    let uri = found["location"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/shop/cart.py"), "{uri}");
    let body =
        json!({"line": 10, "text": "def helper(prices: list[float]) -> float:\n    return sum(prices)"});
    assert_eq!(found["body"], body, "{found}");
    let outside = json!({"path": "shop/cart.py", "line": 11, "symbol": "sum", "body": true});
    let outside = shop.answer("lsp_definition", outside).await;
    assert!(
        outside["body"].is_null() && outside["notes"].to_string().contains("source is not known"),
        "{outside}"
    );
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn callers_and_findings_say_what_they_lie_in() {
    let shop = shop();
    let ask = json!({"path": "shop/cart.py", "symbol": "helper", "direction": "incoming"});
    let found = shop.answer("lsp_calls", ask).await;
    let callers = found["items"][0]["children"].as_array().unwrap_or_else(|| panic!("{found}"));
    let total = callers.iter().find(|caller| caller["name"] == "total").unwrap_or_else(|| panic!("{found}"));
    assert_eq!(
        (&total["in"], &total["at"], &total["sites"]),
        (&json!("Cart"), &json!("5:8"), &json!(["6:15"])),
        "{total}"
    );
    let found =
        shop.answer("lsp_diagnostics", json!({"path": "shop/main.py", "min_severity": "error"})).await;
    let finding = &found["diagnostics"][0];
    assert_eq!((&finding["in"], start_of(finding).0), (&json!("wrong"), 6), "{found}");
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn place_says_what_it_lies_in_after_file_was_changed() {
    let shop = shop();
    let ask = || json!({"path": "shop/cart.py", "symbol": "helper"});
    shop.answer("lsp_references", ask()).await;
    let edit = json!({"path": "shop/cart.py", "edits": [{"old": "def total", "new": "def amount"}]});
    let edited = shop.answer("edit", edit).await;
    assert_eq!(edited["ok"], true, "{edited}");
    let found = shop.answer("lsp_references", ask()).await;
    assert_eq!(found["locations"][0]["shop/cart.py"][1][2], "Cart.amount", "{found}");
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn uses_in_notebooks_and_calls_without_a_known_callee_are_noted() {
    let notebook = r#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["from m import half\n", "half(2)"]},
        {"cell_type": "code", "source": "x", "outputs": [{"text": "func"}]}]}"#;
    let text = "def half(x):\n    return x / 2\n\n\ndef func(a):\n    a()\n\n\ndef kept():\n    pass\n\n\nTABLE = {\"k\": kept}\n";
    let project =
        Project::new([("m.py", text), ("n.ipynb", notebook), ("o.py", "from m import half\n\nhalf(4)\n")]);
    let workspace = project.opening().servers(&["pyright"]).open();
    let ask = |symbol: &str| json!({"path": "m.py", "symbol": symbol});
    for tool in ["lsp_references", "lsp_rename"] {
        let mut arguments = ask("half");
        if tool == "lsp_rename" {
            arguments["new_name"] = json!("halved");
            arguments["dry_run"] = json!(true);
        }
        let answer = workspace.answer(tool, arguments).await;
        assert!(answer.to_string().contains("n.ipynb (cell 1)"), "{tool}: {answer}");
        if tool == "lsp_references" {
            assert_eq!(answer["verdict"], "partial", "{answer}");
        }
    }
    let calm = workspace.answer("lsp_references", ask("func")).await;
    assert_eq!(calm["verdict"], "complete", "an output is no use: {calm}");
    let mut callees = ask("func");
    callees["direction"] = json!("outgoing");
    let callees = workspace.answer("lsp_calls", callees).await;
    assert_eq!(callees["verdict"], "partial", "{callees}");
    assert!(callees.to_string().contains("`a` at m.py:6"), "{callees}");
    let mut callers = ask("kept");
    callers["direction"] = json!("incoming");
    let callers = workspace.answer("lsp_calls", callers).await;
    assert_eq!(callers["verdict"], "partial", "{callers}");
    assert!(callers.to_string().contains("as a value at m.py:13"), "{callers}");
    workspace.shutdown().await;
}
