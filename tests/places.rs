//! Places in answers, with a real server: their short form, enclosing symbols, and the source of a
//! definition.

use crate::support::{Project, TestWorkspace, start_of};
use serde_json::json;

const CART: &str = "class Cart:\n    def __init__(self) -> None:\n        self.prices: list[float] = []\n        self.sum = helper(self.prices)\n\n    \
                    def total(self) -> float:\n        return helper(self.prices)\n\n\n# Adds.\ndef helper(prices: list[float]) -> float:\n    return sum(prices)\n";

const MAIN: &str =
    "from shop.cart import helper\n\nprint(helper([1.0]))\n\n\ndef wrong() -> int:\n    return 'x'\n";

/// The shop with pyright, as from a shell.
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
            ["4:20", "self.sum = helper(self.prices)", "Cart.__init__"],
            ["7:16", "return helper(self.prices)", "Cart.total"],
            ["11:5", "def helper(prices: list[float]) -> float:", "helper"],
        ]},
        {"shop/main.py": [
            ["1:23", "from shop.cart import helper"],
            ["3:7", "print(helper([1.0]))"],
        ]},
    ]);
    assert_eq!(found["locations"], expected, "{found}");
    assert_eq!((&found["count"], &found["verdict"]), (&json!(5), &json!("complete")), "{found}");
    assert!(found.get("location").is_none(), "{found}");
    assert_eq!(found["resolved"], json!({"path": "shop/cart.py", "at": "11:5", "symbol": "helper"}));
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
        (&json!("11:5"), &range),
        "{found}"
    );
    let uri = found["location"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/shop/cart.py"), "{uri}");
    let body = json!({"at": "11:1-12:23", "text": "def helper(prices: list[float]) -> float:\n    return sum(prices)"});
    assert_eq!(found["body"], body, "{found}");
    let outside = json!({"path": "shop/cart.py", "line": 11, "symbol": "sum", "body": true});
    let outside = shop.answer("lsp_definition", outside).await;
    assert!(
        outside["body"].is_null() && outside["notes"].to_string().contains("source is unknown"),
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
        (&json!("Cart"), &json!("6:9"), &json!(["7:16"])),
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

/// The places that a text prints, each with the identifier at it: `path:line:column`, or
/// `line:column` below the line of their path. Places outside `shop` are omitted.
fn printed_places(text: &str, files: &[(&str, &str)]) -> Vec<(String, String)> {
    let pattern = regex::Regex::new(r"(?:([\w./-]+\.py):)?\b(\d+):(\d+)\b").expect("a regular expression");
    let mut heading: Option<&str> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        heading = files.iter().map(|(path, _)| *path).find(|path| line.trim() == *path).or(heading);
        let mut on_line = None;
        for place in pattern.captures_iter(line) {
            on_line = place.get(1).map(|path| path.as_str()).or(on_line);
            let Some(path) = on_line.or(heading) else { continue };
            let Some((_, source)) = files.iter().find(|(known, _)| *known == path) else { continue };
            let number = |group: usize| place[group].parse::<usize>().expect("a number");
            let from = source.lines().nth(number(2) - 1).and_then(|line| line.get(number(3) - 1..));
            let word: String = from
                .unwrap_or_else(|| panic!("{path} has no {}: {line}", &place[0]))
                .chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect();
            found.push((format!("{path}:{}:{}", number(2), number(3)), word));
        }
    }
    found
}

#[test]
#[ignore = "slow: just slow"]
fn place_printed_by_a_tool_means_the_same_symbol_as_at() {
    let files = [("shop/cart.py", CART), ("shop/main.py", MAIN)];
    let project = Project::new(
        [("pyproject.toml", "[tool.pyright]\n"), ("shop/__init__.py", "")].into_iter().chain(files),
    );
    let servers = crate::support::real_servers(&["pyright"]);
    let mut client = crate::support::mcp::Mcp::start(&project, Some(&servers), &["--profile", "all"]);
    client.greet(json!({}));
    let mut text_of = |tool: &str, arguments: serde_json::Value| {
        let answer = client.call(tool, arguments.clone());
        let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        assert_eq!(answer["isError"], false, "{tool} {arguments}: {text}");
        assert!(!text.contains("0-based"), "{text}");
        text.to_owned()
    };
    let mut places = std::collections::BTreeMap::new();
    for (tool, arguments) in [
        ("lsp_definition", json!({"at": "shop/main.py:3:7", "body": true})),
        ("lsp_references", json!({"symbol": "helper"})),
        ("lsp_symbols", json!({"query": "helper"})),
        ("lsp_calls", json!({"symbol": "helper", "direction": "incoming"})),
        ("lsp_calls", json!({"at": "shop/cart.py:6:9", "direction": "outgoing"})),
        ("lsp_hover", json!({"symbol": "Cart.total"})),
        ("explore", json!({"at": "shop/cart.py:helper"})),
        ("grep", json!({"pattern": "helper"})),
    ] {
        let text = text_of(tool, arguments.clone());
        let printed = printed_places(&text, &files);
        assert!(!printed.is_empty(), "{tool} {arguments} prints no place:\n{text}");
        places.extend(printed);
    }
    let outline = text_of("lsp_symbols", json!({"path": "shop/cart.py"}));
    places.extend(printed_places(&format!("shop/cart.py\n{outline}"), &files));
    assert!(places.len() > 8, "{places:?}");
    for (place, word) in &places {
        // A whole definition begins before its name, with a keyword.
        if matches!(word.as_str(), "def" | "class" | "from" | "return" | "") {
            continue;
        }
        let hover = text_of("lsp_hover", json!({"at": place}));
        assert!(hover.contains(word.as_str()), "{place} is `{word}`:\n{hover}");
        assert!(!hover.contains("resolved:"), "{place} is not where a name begins:\n{hover}");
        let (path, rest) = place.split_once(':').expect("a path");
        let same = text_of("lsp_hover", json!({"path": path, "at": rest}));
        assert_eq!(hover, same, "{place}");
    }
    client.close();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn outline_is_in_the_order_of_the_file_and_has_locals_on_request() {
    let source = "export const zeta = 1;\n\nexport function alpha(a: number): number {\n  const local = a + zeta;\n  return local;\n}\n\n\
                  export class Middle {\n  size = 0;\n}\n";
    let project = Project::new([("tsconfig.json", "{\"include\": [\"*.ts\"]}"), ("a.ts", source)]);
    let shop = project.opening().servers(&["typescript-language-server"]).at_shell().open();
    let names = |symbols: &serde_json::Value| -> Vec<String> {
        let all = symbols.as_array().cloned().unwrap_or_default();
        all.iter().map(|symbol| symbol["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let outline = shop.ok("lsp_symbols", json!({"path": "a.ts"})).await;
    assert_eq!(names(&outline["symbols"]), ["zeta", "alpha", "Middle"], "{outline}");
    assert_eq!(names(&outline["symbols"][1]["children"]), [""; 0], "{outline}");
    assert_eq!(names(&outline["symbols"][2]["children"]), ["size"], "{outline}");
    let all = shop.ok("lsp_symbols", json!({"path": "a.ts", "all": true})).await;
    assert_eq!(names(&all["symbols"][1]["children"]), ["local"], "{all}");
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn caller_at_the_top_level_of_a_file_has_a_relative_path() {
    let project = Project::new([
        ("tsconfig.json", "{\"include\": [\"src\"]}"),
        ("src/a.ts", "export function alpha(): number {\n  return 1;\n}\n"),
        ("src/b.ts", "import { alpha } from \"./a\";\n\nconsole.log(alpha());\n"),
    ]);
    let root = project.root().display().to_string();
    let shop = project.opening().servers(&["typescript-language-server"]).at_shell().open();
    let found = shop.ok("lsp_calls", json!({"at": "src/a.ts:1:17", "direction": "incoming"})).await;
    let caller = &found["items"][0]["children"][0];
    assert_eq!(caller["path"], "src/b.ts", "{found}");
    assert!(!found.to_string().contains(&root), "{found}");
    shop.shutdown().await;
}
