//! A bare name that several symbols answer to: tools list the candidates, each by a name that means it alone, and guess none.

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

const CART: &str = "from dataclasses import dataclass\n\n\n@dataclass\nclass Cart:\n    rate: float = 1.0\n\n    def total(self) -> float:\n        \
                    return self.rate\n";
const BILL: &str = "from shop.cart import Cart\n\nrate = 2.0\n\n\nclass Bill:\n    def total(self, cart: Cart) -> float:\n        \
                    return cart.total() * rate\n";
const TOTALS: &str = "`total` means 2 symbols in this workspace: shop/bill.py:7 (method Bill.total), shop/cart.py:8 (method Cart.total)";

fn project() -> Project {
    Project::new([
        ("pyproject.toml", "[tool.pyright]\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/bill.py", BILL),
    ])
}

async fn ask(workspace: &TestWorkspace, tool: &str, symbol: &str) -> Value {
    workspace.answer(tool, json!({"symbol": symbol})).await
}

/// Asks every tool that shows one symbol, by a name of two and by one of one.
async fn check_tools(servers: &[&str]) {
    let workspace = project().opening().servers(servers).at_shell().open();
    for tool in ["explore", "lsp_hover", "lsp_references", "lsp_definition"] {
        let several = ask(&workspace, tool, "total").await;
        let said = (several["code"].as_str(), several["error"].as_str());
        assert_eq!(said, (Some("invalid_args"), Some(TOTALS)), "{tool}: {several}");
        assert!(several["hint"].as_str().is_some_and(|hint| hint.contains("Class.method")), "{several}");
        let one = ask(&workspace, tool, "Bill.total").await;
        assert_eq!(one["ok"], true, "{tool}: {one}");
        assert!(one.to_string().contains("shop/bill.py"), "{tool}: {one}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn bare_name_of_two_symbols_with_pyright_lists_both() {
    check_tools(&["pyright"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bare_name_of_two_symbols_without_server_lists_both() {
    check_tools(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn candidate_that_is_no_function_is_told_by_what_it_is_in() {
    let workspace = project().opening().at_shell().open();
    let several = ask(&workspace, "lsp_hover", "rate").await;
    let error = several["error"].as_str().unwrap_or_default();
    assert!(error.contains("shop/cart.py:6 (field Cart.rate)"), "{error}");
    assert!(error.contains("shop/bill.py:3 (variable rate)"), "{error}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_candidates_are_counted_and_the_first_of_them_listed() {
    let project = Project::new([("a.txt", "")]);
    for number in 10..22 {
        project.write(&format!("shop/part_{number}.py"), "def set_up():\n    pass\n");
    }
    let workspace = project.opening().at_shell().open();
    let several = ask(&workspace, "explore", "set_up").await;
    let error = several["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("`set_up` means 12 symbols in this workspace: shop/part_10.py:1"), "{error}");
    assert!(error.ends_with("shop/part_19.py:1 (function set_up), and 2 more"), "{error}");
    workspace.shutdown().await;
}
