//! Places in answers, with a real server: their short form, what they lie in, and the source of a definition.

use crate::support::{Project, agent, real_servers};
use lsp_tools::{CallRequest, Caller, Runtime};
use serde_json::{Value, json};

const CART: &str = "class Cart:\n    def __init__(self) -> None:\n        self.prices: list[float] = []\n        self.sum = helper(self.prices)\n\n    \
                    def total(self) -> float:\n        return helper(self.prices)\n\n\n# Adds.\ndef helper(prices: list[float]) -> float:\n    return sum(prices)\n";

const MAIN: &str =
    "from shop.cart import helper\n\nprint(helper([1.0]))\n\n\ndef wrong() -> int:\n    return 'x'\n";

struct Shop {
    runtime: Runtime,
    _project: Project,
}

impl Shop {
    fn new() -> Self {
        let project = Project::new([
            ("pyproject.toml", "[tool.pyright]\n"),
            ("shop/__init__.py", ""),
            ("shop/cart.py", CART),
            ("shop/main.py", MAIN),
        ]);
        let runtime = agent::open(&project, Some(&real_servers(&["pyright"])));
        Self { runtime, _project: project }
    }

    async fn call(&self, name: &str, arguments: Value) -> Value {
        let caller = Caller::at_shell();
        self.runtime.call(CallRequest::new(name, arguments, &caller)).await.value
    }

    async fn end(self) {
        self.runtime.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_have_each_path_once_and_say_what_they_lie_in() {
    let shop = Shop::new();
    let found = shop.call("lsp_references", json!({"path": "shop/cart.py", "symbol": "helper"})).await;
    let expected = json!([
        {"path": "shop/cart.py", "places": [
            {"line": 3, "character": 19, "in": "Cart.__init__", "text": "        self.sum = helper(self.prices)"},
            {"line": 6, "character": 15, "in": "Cart.total", "text": "        return helper(self.prices)"},
            {"line": 10, "character": 4, "in": "helper", "text": "def helper(prices: list[float]) -> float:"},
        ]},
        {"path": "shop/main.py", "places": [
            {"line": 0, "character": 22, "text": "from shop.cart import helper"},
            {"line": 2, "character": 6, "text": "print(helper([1.0]))"},
        ]},
    ]);
    assert_eq!(found["locations"], expected, "{found}");
    assert_eq!((&found["count"], &found["verdict"]), (&json!(5), &json!("complete")), "{found}");
    assert!(found.get("location").is_none(), "{found}");
    let resolved = json!({"path": "shop/cart.py", "line": 10, "character": 4, "symbol": "helper", "moved": true,
        "text": "def helper(prices: list[float]) -> float:"});
    assert_eq!(found["resolved"], resolved);
    shop.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn definition_with_body_has_source_and_location_of_protocol() {
    let shop = Shop::new();
    let ask = json!({"path": "shop/main.py", "line": 2, "symbol": "helper", "body": true});
    let found = shop.call("lsp_definition", ask).await;
    let range = json!({"start": {"line": 10, "character": 4}, "end": {"line": 10, "character": 10}});
    assert_eq!(
        (&found["location"]["path"], &found["location"]["range"]),
        (&json!("shop/cart.py"), &range),
        "{found}"
    );
    let uri = found["location"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/shop/cart.py"), "{uri}");
    let body =
        json!({"line": 10, "text": "def helper(prices: list[float]) -> float:\n    return sum(prices)"});
    assert_eq!(found["body"], body, "{found}");
    let outside = json!({"path": "shop/cart.py", "line": 11, "symbol": "sum", "body": true});
    let outside = shop.call("lsp_definition", outside).await;
    assert!(
        outside["body"].is_null() && outside["notes"].to_string().contains("source is not known"),
        "{outside}"
    );
    shop.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn callers_and_findings_say_what_they_lie_in() {
    let shop = Shop::new();
    let ask = json!({"path": "shop/cart.py", "symbol": "helper", "direction": "incoming"});
    let found = shop.call("lsp_calls", ask).await;
    let callers = found["items"][0]["children"].as_array().unwrap_or_else(|| panic!("{found}"));
    let total = callers.iter().find(|caller| caller["name"] == "total").unwrap_or_else(|| panic!("{found}"));
    assert_eq!(
        (&total["in"], &total["line"], &total["sites"]),
        (&json!("Cart"), &json!(5), &json!([{"line": 6, "character": 15}])),
        "{total}"
    );
    let found = shop.call("lsp_diagnostics", json!({"path": "shop/main.py", "min_severity": "error"})).await;
    let finding = &found["diagnostics"][0];
    assert_eq!((&finding["in"], &finding["range"]["start"]["line"]), (&json!("wrong"), &json!(6)), "{found}");
    shop.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn place_says_what_it_lies_in_after_file_was_changed() {
    let shop = Shop::new();
    let ask = || json!({"path": "shop/cart.py", "symbol": "helper"});
    shop.call("lsp_references", ask()).await;
    let edit = json!({"path": "shop/cart.py", "edits": [{"old": "def total", "new": "def amount"}]});
    let edited = shop.call("edit", edit).await;
    assert_eq!(edited["ok"], true, "{edited}");
    let found = shop.call("lsp_references", ask()).await;
    assert_eq!(found["locations"][0]["places"][1]["in"], "Cart.amount", "{found}");
    shop.end().await;
}
