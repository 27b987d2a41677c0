//! `explore` on real servers: source, callers, tests, callees, implementations and errors in one
//! answer. Also without a server, and with a small budget.

use std::path::PathBuf;

use crate::support::Project;
use lsp_tools::internals::tools::{ExploreItem, ExploreOutput};
use lsp_tools::{Answer, Runtime, Target, Verdict};
use serde_json::json;

const CART: &str = r#"class Cart:
    """What somebody is about to buy."""

    def __init__(self) -> None:
        self.prices: list[float] = []

    def total(self, rate: float = 1.0) -> float:
        """All prices together."""
        result = add_up(self.prices)
        return result * rate


class GiftCart(Cart):
    def total(self, rate: float = 1.0) -> float:
        return super().total(rate) + 2


def add_up(prices: list[float]) -> float:
    return sum(prices)
"#;

const CHECKOUT: &str = "from shop.cart import Cart\n\n\ndef pay(cart: Cart) -> float:\n    first = cart.total()\n    \
                        return first + cart.total(2.0)\n\n\nprint(Cart().total())\n";

const TEST: &str =
    "from shop.cart import Cart\n\n\ndef test_total() -> None:\n    assert Cart().total() == 0\n";

fn python() -> Project {
    Project::new([
        ("pyproject.toml", "[tool.pyright]\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/checkout.py", CHECKOUT),
        ("tests/test_cart.py", TEST),
    ])
}

async fn explore(runtime: &Runtime, path: &str, name: &str, budget: usize) -> Answer<ExploreOutput> {
    let target = Target::NameInFile { path: path.into(), name: name.to_owned() };
    runtime.explore(target, Some(budget), None).await.expect("an answer")
}

/// The path, symbol and 1-based lines of each item.
fn places(items: &[ExploreItem]) -> Vec<(&str, &str, Vec<u32>)> {
    let lines = |item: &ExploreItem| item.at.iter().map(|at| at.line + 1).collect();
    items
        .iter()
        .map(|item| (item.path.as_str(), item.symbol.as_deref().unwrap_or("-"), lines(item)))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn explore_method_with_pyright_gives_source_callers_tests_and_callees() {
    let project = python();
    let runtime = project.opening().servers(&["pyright"]).open();
    let answer = explore(&runtime, "shop/cart.py", "Cart.total", 4_000).await;
    assert_eq!(answer.verdict, Verdict::Complete, "{:?} {:?}", answer.server_status, answer.notes);
    let found = answer.output;
    assert_eq!((found.symbol.as_str(), found.kind.as_deref()), ("Cart.total", Some("method")));
    assert_eq!((found.path.as_str(), found.range.start.line + 1), ("shop/cart.py", 7));
    assert!(
        found.about.contains("def total(") && !found.about.contains("All prices together."),
        "{}",
        found.about
    );
    let body: Vec<&str> = CART.lines().skip(6).take(4).collect();
    assert_eq!(found.body.as_deref(), Some(body.join("\n").as_str()));
    let callers = places(&found.callers.items);
    assert_eq!(
        callers[0],
        ("shop/checkout.py", "pay", vec![5, 6]),
        "the most frequent comes first: {callers:?}"
    );
    assert!(callers.contains(&("shop/cart.py", "GiftCart.total", vec![15])), "{callers:?}");
    assert_eq!(callers.last(), Some(&("shop/checkout.py", "-", vec![9])), "{callers:?}");
    assert_eq!(places(&found.tests.items), [("tests/test_cart.py", "test_total", vec![5])]);
    let callees = places(&found.callees.items);
    assert!(callees.contains(&("shop/cart.py", "add_up", vec![18])), "{callees:?}");
    assert_eq!(found.errors.items, []);
    let found = explore(&runtime, "shop/cart.py", "GiftCart.total", 4_000).await.output;
    let callees = places(&found.callees.items);
    assert!(callees.contains(&("shop/cart.py", "Cart.total", vec![7])), "with its class: {callees:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn explore_shows_errors_within_the_symbol_only() {
    let project = python();
    let broken = CART.replace("result * rate", "result * rtae").replace("sum(prices)", "summ(prices)");
    project.write("shop/cart.py", &broken);
    let runtime = project.opening().servers(&["pyright"]).open();
    let found = explore(&runtime, "shop/cart.py", "Cart.total", 4_000).await.output;
    let errors: Vec<_> =
        found.errors.items.iter().map(|item| (item.at.line + 1, item.message.as_str())).collect();
    assert!(matches!(errors.as_slice(), [(10, message)] if message.contains("rtae")), "{errors:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn explore_of_an_import_shows_the_definition_it_leads_to() {
    let project = python();
    let runtime = project.opening().servers(&["pyright"]).open();
    let target = Target::NameOnLine { path: "shop/checkout.py".into(), line0: 0, name: "Cart".to_owned() };
    let found = runtime.explore(target, None, None).await.expect("an answer").output;
    assert_eq!(
        (found.symbol.as_str(), found.kind.as_deref(), found.path.as_str()),
        ("Cart", Some("class"), "shop/cart.py")
    );
    assert!(found.body.unwrap().ends_with("return result * rate"));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn explore_typescript_interface_lists_implementations() {
    let project = Project::new([
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        ("src/shape.ts", "export interface Shape {\n  area(): number;\n}\n"),
        (
            "src/circle.ts",
            "import { Shape } from './shape';\nexport class Circle implements Shape {\n  area() { return 3; }\n}\n",
        ),
        (
            "src/use.ts",
            "import { Shape } from './shape';\nexport function sum(shapes: Shape[]) {\n  return shapes.map((s) => s.area());\n}\n",
        ),
    ]);
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let answer = explore(&runtime, "src/shape.ts", "Shape", 4_000).await;
    assert_eq!(answer.verdict, Verdict::Complete, "{:?} {:?}", answer.server_status, answer.notes);
    let found = answer.output;
    assert_eq!(places(&found.implementations.items), [("src/circle.ts", "Circle", vec![2])]);
    assert!(places(&found.callers.items).contains(&("src/use.ts", "sum", vec![2])), "{:?}", found.callers);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn explore_without_server_gives_source_and_users_as_hints() {
    let project = python();
    let runtime = project.opening().finding_supervisor().open();
    let answer = explore(&runtime, "shop/cart.py", "add_up", 4_000).await;
    assert_eq!(answer.verdict, Verdict::Hints);
    let found = answer.output;
    assert_eq!((found.symbol.as_str(), found.kind.as_deref()), ("add_up", Some("function")));
    assert_eq!(
        found.body.as_deref(),
        Some("def add_up(prices: list[float]) -> float:\n    return sum(prices)")
    );
    assert_eq!(places(&found.callers.items), [("shop/cart.py", "Cart.total", vec![9])]);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn explore_of_more_places_than_are_looked_at_says_so_until_it_is_narrowed() {
    let project = python();
    project.write("shop/many.py", format!("from shop.cart import add_up\n{}", "add_up([])\n".repeat(2_100)));
    let runtime = project.open();
    let explore = async |only: Option<Vec<PathBuf>>| {
        let target = Target::NameInFile { path: "shop/cart.py".into(), name: "add_up".to_owned() };
        runtime.explore(target, None, only).await.expect("an answer")
    };
    let cut = explore(None).await;
    let note = "callers are from the first 2000 places, and there are more; `only` narrows".to_owned();
    assert!(cut.notes.contains(&note), "{:?}", cut.notes);
    let narrowed = explore(Some(vec!["shop/cart.py".into()])).await;
    assert_eq!(narrowed.output.callers.count, 1, "{:?}", narrowed.output.callers);
    assert!(!narrowed.notes.contains(&note), "{:?}", narrowed.notes);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn explore_budget_bounds_the_answer_and_too_small_a_one_is_refused() {
    let project = python();
    let uses = (0..300).map(|number| format!("def user_{number}(cart):\n    return add_up(cart)\n"));
    project.write("shop/users.py", format!("from shop.cart import add_up\n{}", uses.collect::<String>()));
    let workspace = project.opening().servers(&["pyright"]).at_shell().open();
    let call = async |budget: usize| {
        let arguments = json!({"path": "shop/cart.py", "symbol": "add_up", "budget": budget});
        workspace.call("explore", arguments).await
    };
    let result = call(500).await;
    assert!(result.ok(), "{:?}", result.value);
    assert!(result.value.to_string().len() < 500 * 4, "{}", result.value);
    let callers = &result.value["callers"];
    assert_eq!(callers["count"], 302, "{callers}");
    let shown = callers["items"].as_array().map_or(0, Vec::len);
    assert_eq!(callers["more"], format!("shown {shown} of 302 · narrow by `only`, or see `lsp_references`"));
    let narrowed =
        json!({"path": "shop/cart.py", "symbol": "add_up", "budget": 500, "only": ["shop/cart.py"]});
    let narrowed = workspace.call("explore", narrowed).await;
    let callers = &narrowed.value["callers"];
    assert_eq!((&callers["count"], callers.get("more")), (&json!(1), None), "{callers}");
    assert_eq!(callers["items"][0]["symbol"], "Cart.total", "{callers}");
    let gone = json!({"path": "shop/cart.py", "symbol": "add_up", "only": ["gone"]});
    let gone = workspace.call("explore", gone).await;
    assert_eq!(gone.value["error"], "`only` names `gone`, which does not exist", "{:?}", gone.value);
    let refused = call(10).await;
    assert_eq!(refused.value["code"], "invalid_args", "{:?}", refused.value);
    assert!(
        refused.value["error"].as_str().is_some_and(|error| error.contains("400")),
        "{:?}",
        refused.value
    );
    workspace.shutdown().await;
}
