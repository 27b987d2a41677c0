//! A bare name that several symbols share: tools list the candidates with unambiguous names and
//! guess none.

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

const CART: &str = "from dataclasses import dataclass\n\n\n@dataclass\nclass Cart:\n    rate: float = 1.0\n\n    def total(self) -> float:\n        \
                    return self.rate\n";
const BILL: &str = "from shop.cart import Cart\n\nrate = 2.0\n\n\nclass Bill:\n    def total(self, cart: Cart) -> float:\n        \
                    return cart.total() * rate\n";
const TOTALS: &str = "`total` matches 2 symbols in this workspace: shop/bill.py:7:9 (method Bill.total), shop/cart.py:8:9 (method Cart.total)";

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

/// Calls every tool that shows one symbol, with an ambiguous name and with a unique one.
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
    let project = project();
    project.write("shop/till.py", "class Till:\n    price = 1\n\n\nclass Desk:\n    price = 2\n");
    let workspace = project.opening().at_shell().open();
    let several = ask(&workspace, "lsp_hover", "price").await;
    let error = several["error"].as_str().unwrap_or_default();
    assert!(error.contains("shop/till.py:2:5 (field Till.price)"), "{error}");
    assert!(error.contains("shop/till.py:6:5 (field Desk.price)"), "{error}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn name_at_the_top_level_is_meant_and_nested_ones_are_listed() {
    let workspace = project().opening().at_shell().open();
    let found = ask(&workspace, "lsp_definition", "rate").await;
    assert_eq!(found["locations"][0]["shop/bill.py"][0][0], "3:1", "{found}");
    let note = "`rate` was resolved to shop/bill.py:3:1; other matches: shop/cart.py:6:5 (field Cart.rate)";
    assert_eq!(found["notes"][0], note, "{found}");
    workspace.shutdown().await;
}

const RUST: &str = "pub struct Cart {\n    pub total: u32,\n}\n\nimpl Cart {\n    pub fn sum(&self) -> u32 {\n        total(self)\n    }\n}\n\n\
                    impl Default for Cart {\n    fn default() -> Self {\n        Cart { total: 0 }\n    }\n}\n\n\
                    pub fn total(cart: &Cart) -> u32 {\n    cart.total\n}\n\nmod tests {\n    fn total() {}\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn name_in_a_file_is_that_of_its_top_level_and_of_no_impl_block() {
    let project = Project::new([("Cargo.toml", "[package]\nname = \"shop\"\n"), ("src/lib.rs", RUST)]);
    let workspace = project.opening().at_shell().open();
    for (name, expected) in
        [("Cart", "1:12"), ("total", "17:8"), ("Cart.total", "2:9"), ("tests::total", "22:8")]
    {
        let at = format!("src/lib.rs:{name}");
        let found = workspace.ok("lsp_hover", json!({"at": at})).await;
        assert_eq!(found["resolved"]["at"], expected, "{name}: {found}");
        let lines = workspace.ok("read", json!({"path": "src/lib.rs", "symbol": name})).await;
        assert_eq!(lines["start_line"].to_string(), expected.split(':').next().unwrap(), "{name}: {lines}");
    }
    let bare = ask(&workspace, "lsp_hover", "Cart").await;
    assert_eq!((&bare["resolved"]["at"], &bare["notes"][0]), (&json!("1:12"), &Value::Null), "{bare}");
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
    assert!(
        error.starts_with("`set_up` matches 12 symbols in this workspace: shop/part_10.py:1:5"),
        "{error}"
    );
    assert!(error.ends_with("shop/part_19.py:1:5 (function set_up), and 2 more"), "{error}");
    workspace.shutdown().await;
}

const STREAMS_PY: &str = "import functools\n\n\nclass Source:\n    @functools.lru_cache\n    def push(self) -> int:\n        return 1\n\n\n\
                          class Sink:\n    def push(self) -> int:\n        return 2\n\n\nclass Pipe(Sink):\n    def push(self) -> int:\n        \
                          return Source().push() + Sink().push()\n";
const STREAMS_TS: &str = "export class Source {\n  public push(): number;\n  public push(by?: number): number {\n    return 1;\n  }\n}\n\n\
                          export class Sink {\n  push(): number {\n    return 2;\n  }\n}\n\nexport class Pipe extends Sink {\n  \
                          override push(): number {\n    return new Source().push() + new Sink().push();\n  }\n}\n";

/// Checks servers of which some report no class for a method: methods of one file are not
/// overloads, and every name that the error lists is accepted.
async fn check_candidates_of_one_file(cases: &[(&str, &str, &str)]) {
    for &(server, file, text) in cases {
        let project = Project::new([(file, text), ("tsconfig.json", "{}"), ("pyproject.toml", "")]);
        let workspace = project.opening().servers(&[server]).at_shell().open();
        let several = ask(&workspace, "lsp_references", "push").await;
        let error = several["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("`push` matches 3 symbols in this workspace"), "{server}: {error}");
        for name in ["Source.push", "Sink.push", "Pipe.push"] {
            let found = ask(&workspace, "lsp_hover", name).await;
            assert_eq!(found["ok"], true, "{server}: {name}: {found}");
            let line: usize =
                found["resolved"]["at"].as_str().unwrap().split(':').next().unwrap().parse().unwrap();
            let class = text.lines().take(line).filter(|line| line.contains("class ")).last();
            let class = class.unwrap_or_default();
            assert!(class.contains(name.split('.').next().unwrap()), "{server}: {name}: {class}");
        }
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_of_one_file_are_all_listed_and_accepted_by_the_names_that_are_listed() {
    check_candidates_of_one_file(&[("ty", "streams.py", STREAMS_PY)]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn candidates_of_one_file_with_other_servers_are_all_listed_and_accepted() {
    let python = ("pyright", "streams.py", STREAMS_PY);
    check_candidates_of_one_file(&[python, ("typescript-language-server", "streams.ts", STREAMS_TS)]).await;
}
