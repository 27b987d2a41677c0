//! Python with pyright: calls through functions, fixtures, values of unknown type, and files that
//! only import.

use super::{commands, since_head, tests};
use crate::changes::Repository;

const RATES: &str = "RATES = {\"de\": 19}\n\n\ndef vat(country: str) -> int:\n    return RATES[country]\n\n\ndef unused() -> int:\n    return 3\n";
const PRICING: &str = "from shop.rates import vat\n\n\nclass Cart:\n    def __init__(self):\n        self.prices = [1]\n\n    \
                       def total(self):\n        return add(self.prices, vat(\"de\"))\n\n\ndef add(prices, rate):\n    \
                       return sum(prices) * rate\n";
const CONFTEST: &str =
    "import pytest\n\nfrom shop.pricing import Cart\n\n\n@pytest.fixture\ndef cart():\n    return Cart()\n";
const TESTS: &str = "from shop.pricing import add\nfrom shop.rates import vat\n\n\ndef test_vat():\n    assert vat(\"de\") == 19\n\n\n\
                     class TestCart:\n    def test_total(self, cart):\n        assert cart.total() == 19\n\n    \
                     def test_other(self):\n        assert add([1], 2) == 2\n";
const ELSEWHERE: &str = "import shop.rates\n\n\ndef test_import():\n    assert shop\n";

fn shop() -> Repository {
    Repository::new(
        &["pyright"],
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("shop/__init__.py", ""),
            ("shop/rates.py", RATES),
            ("shop/pricing.py", PRICING),
            ("tests/conftest.py", CONFTEST),
            ("tests/test_shop.py", TESTS),
            ("tests/test_elsewhere.py", ELSEWHERE),
        ],
    )
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn tests_reach_a_changed_function_by_calls_and_by_a_fixture_of_unknown_type() {
    let shop = shop();
    shop.project.write("shop/rates.py", RATES.replace("RATES[country]", "RATES[country] + 0"));
    let answer = since_head(&shop).await;
    assert_eq!(answer["verdict"], "complete", "{answer}");
    assert_eq!(answer["changed"][0], "shop/rates.py:vat");
    assert_eq!(
        tests(&answer),
        [
            "calls tests/test_shop.py::test_vat ← shop/rates.py:vat",
            "names tests/test_shop.py::TestCart.test_total ← shop/pricing.py:Cart.total ← shop/rates.py:vat",
            "imports tests/test_elsewhere.py ← shop/rates.py",
            "imports tests/test_shop.py ← shop/rates.py",
        ]
    );
    assert_eq!(
        commands(&answer),
        ["python3 -m pytest tests/test_shop.py::TestCart::test_total tests/test_shop.py::test_vat"]
    );
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_fixture_reaches_tests_that_take_it_and_changed_test_itself() {
    let shop = shop();
    shop.project
        .write("tests/conftest.py", CONFTEST.replace("return Cart()", "made = Cart()\n    return made"));
    shop.project.write("tests/test_shop.py", TESTS.replace("add([1], 2) == 2", "add([2], 2) == 4"));
    let answer = since_head(&shop).await;
    assert_eq!(
        tests(&answer)[..2],
        [
            "changed tests/test_shop.py::TestCart.test_other",
            "references tests/test_shop.py::TestCart.test_total ← tests/conftest.py:cart",
        ]
    );
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn comment_reaches_no_test_and_removed_function_those_that_name_it() {
    let shop = shop();
    shop.project.write("shop/rates.py", RATES.replace("def vat", "# Value added tax.\ndef vat"));
    let answer = since_head(&shop).await;
    assert_eq!((answer["verdict"].as_str(), tests(&answer).len()), (Some("complete"), 0), "{answer}");
    let removed = PRICING.replace("def add(prices, rate):\n    return sum(prices) * rate\n", "");
    shop.project.write("shop/pricing.py", removed);
    let found = tests(&since_head(&shop).await);
    assert!(
        found.contains(&"names tests/test_shop.py::TestCart.test_other ← shop/pricing.py:add".to_owned()),
        "{found:?}"
    );
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn inherited_tests_run_where_they_are_inherited() {
    let base = "from shop.rates import vat\n\n\nclass TestBase:\n    def test_rate(self):\n        assert vat(\"de\")\n";
    let heir = "from tests.test_base import TestBase\n\n\nclass TestHeir(TestBase):\n    pass\n";
    let shop = Repository::new(
        &["pyright"],
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("shop/__init__.py", ""),
            ("shop/rates.py", RATES),
            ("tests/__init__.py", ""),
            ("tests/test_base.py", base),
            ("tests/test_heir.py", heir),
        ],
    );
    shop.project.write("shop/rates.py", RATES.replace("RATES[country]", "RATES[country] + 0"));
    let answer = since_head(&shop).await;
    let ids = "python3 -m pytest tests/test_base.py::TestBase::test_rate tests/test_heir.py::TestBase::test_rate \
               tests/test_heir.py::TestHeir::test_rate";
    assert_eq!(commands(&answer), [ids], "{answer}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_commits_are_refused_and_unreadable_changes_make_it_partial() {
    let shop = shop();
    shop.commit("second");
    let refused = shop.answer("lsp_tests", serde_json::json!({"against": "HEAD~1..HEAD"})).await;
    assert_eq!(refused["code"], "invalid_args", "{refused}");
    shop.project.write("tests/data.json", "{}");
    let answer = since_head(&shop).await;
    assert_eq!(answer["verdict"], "partial", "{answer}");
    assert!(answer["notes"][0].as_str().is_some_and(|note| note.contains("tests/data.json")), "{answer}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn silent_server_of_another_language_and_changes_nobody_follows_make_it_partial() {
    let shop = shop();
    shop.project.write("web/cart.go", "package web\n\nfunc total() int { return 1 }\n");
    shop.commit("second");
    shop.project.write("web/cart.go", "package web\n\nfunc total() int { return 2 }\n");
    shop.project.write("shop/rates.py", RATES.replace("RATES[country]", "RATES[country] + 0"));
    let notes = |answer: &serde_json::Value| answer["notes"].to_string();
    let answer = since_head(&shop).await;
    assert_eq!(answer["verdict"], "partial", "{answer}");
    assert!(notes(&answer).contains("no server answered for go"), "{answer}");
    shop.commit("third");
    shop.project.write("requirements.txt", "requests\n");
    let answer = since_head(&shop).await;
    assert_eq!(answer["verdict"], "partial", "{answer}");
    assert!(notes(&answer).contains("requirements.txt"), "{answer}");
    shop.project.write("requirements.txt", "");
    shop.project.write(".tools/gen.py", "def gen():\n    return 1\n");
    let answer = since_head(&shop).await;
    assert!(answer["verdict"] == "partial" && notes(&answer).contains(".tools/gen.py"), "{answer}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn module_called_tests_is_followed_where_it_is_used_and_tests_of_django_end_the_way() {
    let check = "def test_false(value):\n    return value is False\n";
    let cart = "def total() -> int:\n    return 3\n";
    let shop = Repository::new(
        &["pyright"],
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("lib/__init__.py", ""),
            ("lib/tests.py", check),
            (
                "tests/test_lib.py",
                "from lib.tests import test_false as is_false\n\n\ndef test_check():\n    assert is_false(False)\n",
            ),
            ("shop/__init__.py", ""),
            ("shop/cart.py", cart),
            (
                "shop/tests.py",
                "from unittest import TestCase\n\nfrom shop.cart import total\n\n\nclass CartTests(TestCase):\n    def test_total(self):\n        \
                 assert total() == 3\n\n    def test_other(self):\n        assert True\n",
            ),
        ],
    );
    shop.project.write("lib/tests.py", check.replace("is False", "is not True"));
    let named = tests(&since_head(&shop).await);
    assert!(named.iter().any(|test| test.contains("tests/test_lib.py::test_check")), "{named:?}");
    shop.project.write("lib/tests.py", check);
    shop.project.write("shop/cart.py", cart.replace('3', "4"));
    let named = tests(&since_head(&shop).await);
    assert!(named.iter().any(|test| test.contains("CartTests.test_total")), "{named:?}");
    assert!(!named.iter().any(|test| test.contains("test_other")), "{named:?}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn method_is_reached_through_a_protocol_that_its_class_only_fits() {
    let rates = "from typing import Any, Protocol\n\n\nclass Codec(Protocol):\n    def dumps(self, value: Any) -> str: ...\n\n\n\
                 class Compact:\n    @staticmethod\n    def dumps(value: Any) -> str:\n        return str(value)\n\n\n\
                 class Plain:\n    codec: Codec = Compact\n\n    def dump(self, value: Any) -> str:\n        return self.codec.dumps(value)\n";
    let test = "from rates import Plain\n\n\ndef test_dump() -> None:\n    assert Plain().dump(1)\n";
    let shop = Repository::new(
        &["pyright"],
        &[("pyproject.toml", "[tool.pytest.ini_options]\n"), ("rates.py", rates), ("test_rates.py", test)],
    );
    shop.project.write("rates.py", rates.replace("str(value)", "repr(value)"));
    let found = tests(&since_head(&shop).await);
    assert!(found[0].starts_with("names test_rates.py::test_dump ← rates.py:Plain.dump"), "{found:?}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn member_that_nothing_names_reaches_tests_of_its_class() {
    let rates = "def visitor(sign):\n    def visit(self, left, right):\n        return f\"{left} {sign} {right}\"\n\n    return visit\n\n\n\
                 class Writer:\n    visit_add = visitor(\"+\")\n\n    def visit(self, name):\n        return getattr(self, f\"visit_{name}\")(1, 2)\n";
    let test =
        "from rates import Writer\n\n\ndef test_add():\n    assert Writer().visit(\"add\") == \"1 + 2\"\n";
    let shop = Repository::new(
        &["pyright"],
        &[("pyproject.toml", "[tool.pytest.ini_options]\n"), ("rates.py", rates), ("test_rates.py", test)],
    );
    shop.project.write("rates.py", rates.replace("{right}\"", "{right}!\""));
    let found = tests(&since_head(&shop).await);
    assert!(found.iter().any(|test| test.starts_with("names test_rates.py::test_add")), "{found:?}");
    shop.runtime.shutdown().await;
}
