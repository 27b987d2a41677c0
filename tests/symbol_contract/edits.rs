//! Refusals of `edit_symbol`, and its report on the edit.

use super::languages::{Language, PYTHON};
use super::{edit_symbol, open};
use serde_json::json;

const USE_OF_BOTH: &str = "from a import A, B\n\n\ndef g(x: A | B) -> int:\n    return x.f()\n";

#[tokio::test(flavor = "multi_thread")]
async fn edit_symbol_refuses_two_edits_at_once_and_unknown_symbols() {
    let shop = open(&Language { server: None, ..PYTHON });
    let both = edit_symbol(&shop, "shop/cart.py", "Cart.total", json!({"body": "x", "delete": true})).await;
    assert_eq!((&both["ok"], &both["code"]), (&json!(false), &json!("invalid_args")), "{both}");
    let unknown = edit_symbol(&shop, "shop/cart.py", "Cart.nothing", json!({"body": "x"})).await;
    assert_eq!((&unknown["ok"], &unknown["code"]), (&json!(false), &json!("not_found")), "{unknown}");
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn one_of_several_definitions_is_edited_only_where_it_is_named() {
    let stub = "class A:\n    def f(self) -> int:\n        return 1\n\n\nclass B:\n    def f(self) -> int:\n        return 2\n";
    let project = [("pyproject.toml", "[tool.pyright]\n"), ("a.py", stub), ("b.py", USE_OF_BOTH)];
    let shop = open(&Language { server: Some("pyright"), files: &[], ..PYTHON });
    for (path, text) in project {
        shop.project.write(path, text);
    }
    let at_use =
        json!({"path": "b.py", "line": 4, "symbol": "f", "body": "def f(self) -> int:\n    return 3"});
    let refused = shop.answer("edit_symbol", at_use).await;
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("invalid_args")), "{refused}");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("a.py:2:9, a.py:7:9")), "{refused}");
    let at_one =
        json!({"path": "a.py", "line": 6, "symbol": "f", "body": "def f(self) -> int:\n    return 3"});
    let edited = shop.answer("edit_symbol", at_one).await;
    assert_eq!(edited["ok"], true, "{edited}");
    assert_eq!(shop.project.read("a.py"), stub.replace("return 2", "return 3"));
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_symbol_reports_what_its_new_signature_breaks() {
    let shop = open(&PYTHON);
    let body = "def helper(n: int, m: int) -> int:\n    return n + m";
    let changed =
        edit_symbol(&shop, "shop/cart.py", "helper", json!({"body": body, "diagnostics": true})).await;
    assert_eq!(changed["ok"], true, "{changed}");
    let added = changed["diagnostics"]["added"].to_string();
    assert!(added.contains("Argument missing for parameter \\\"m\\\""), "{changed}");
    shop.shutdown().await;
}
