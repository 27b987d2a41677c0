//! `move_symbol`: with imports by the server or by syntax, and with the uses that remain.

use super::languages::{Language, PYTHON, TYPESCRIPT};
use super::open;
use crate::support::TestWorkspace;
use serde_json::{Value, json};

const CART: &str = "import { rate } from \"./rate\";\n\n/** The sum. */\nexport function total(n: number): number {\n  return helper(n) * rate;\n}\n\n\
    function helper(n: number): number {\n  return n;\n}\n\nexport const spare = (n: number) => n + 1;\n";
const APP: &str = "import { total, spare } from \"./cart\";\n\nconsole.log(total(3), spare(2));\n";

const IMPORTED: Language = Language {
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        ("src/cart.ts", CART),
        ("src/rate.ts", "export const rate = 2;\n"),
        ("src/app.ts", APP),
        ("src/index.ts", "export { total, spare } from \"./cart\";\n"),
        ("src/sums.ts", "export const sum = 3;\n"),
    ],
    ..TYPESCRIPT
};

async fn move_symbol(shop: &TestWorkspace, from: &str, symbol: &str, to: &str, dry_run: bool) -> Value {
    let arguments =
        json!({"path": from, "symbol": symbol, "to": to, "dry_run": dry_run, "diagnostics": true});
    shop.answer("move_symbol", arguments).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_symbol_moves_with_imports_and_its_own_spacing() {
    let shop = open(&IMPORTED);
    let moved = move_symbol(&shop, "src/cart.ts", "total", "src/sums.ts", false).await;
    assert_eq!((&moved["ok"], &moved["diagnostics"]["added"]), (&json!(true), &json!([])), "{moved}");
    let read = |file: &str| shop.project.read(file);
    assert_eq!(
        read("src/sums.ts"),
        "import { helper } from \"./cart\";\nimport { rate } from \"./rate\";\n\nexport const sum = 3;\n\n/** The sum. */\nexport function \
         total(n: number): number {\n  return helper(n) * rate;\n}\n"
    );
    assert!(
        read("src/cart.ts").starts_with("\nexport function helper")
            || read("src/cart.ts").starts_with("export function helper"),
        "{}",
        read("src/cart.ts")
    );
    assert!(read("src/app.ts").contains("import { total } from \"./sums\";"), "{}", read("src/app.ts"));
    let index = read("src/index.ts");
    assert_eq!(index, "export { spare } from \"./cart\";\nexport { total } from \"./sums\";\n");
    assert_eq!(moved["remaining"], Value::Null, "{moved}");
    shop.answer("undo", json!({})).await;
    assert_eq!((read("src/cart.ts").as_str(), read("src/app.ts").as_str()), (CART, APP));
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn tried_move_to_new_file_leaves_nothing_that_the_server_made() {
    let shop = open(&IMPORTED);
    let tried = move_symbol(&shop, "src/cart.ts", "spare", "src/new/fresh.ts", true).await;
    assert_eq!(tried["ok"], true, "{tried}");
    let is_there = |path: &str| shop.project.root().join(path).exists();
    assert!(!is_there("src/new"), "a trial makes nothing");
    assert_eq!(
        tried["diagnostics"]["verdict"], "partial",
        "the server looks for the new folder on the disk: {tried}"
    );
    let moved = move_symbol(&shop, "src/cart.ts", "spare", "src/new/fresh.ts", false).await;
    assert_eq!((&moved["ok"], &moved["diagnostics"]["added"]), (&json!(true), &json!([])), "{moved}");
    assert_eq!(shop.project.read("src/new/fresh.ts"), "export const spare = (n: number) => n + 1;\n");
    assert!(!shop.project.read("src/cart.ts").contains("spare"));
    shop.answer("undo", json!({})).await;
    assert!(!is_there("src/new/fresh.ts"));
    shop.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn python_symbol_moves_with_imports_and_the_answer_lists_what_is_left() {
    let cart = "import os\n\n\ndef total(n: int) -> int:\n    return n + os.getpid()\n\n\nclass Cart:\n    def sum(self) -> int:\n        \
                return 1\n";
    let shop = open(&Language { files: &[], ..PYTHON });
    for (path, text) in [
        ("pyproject.toml", "[tool.pyright]\n"),
        ("cart.py", cart),
        ("app.py", "from cart import Cart, total\n\nprint(total(3), Cart)\n# cart.total is called above\n"),
        ("README.md", "Call `cart.total`.\n"),
    ] {
        shop.project.write(path, text);
    }
    let tried = move_symbol(&shop, "cart.py", "total", "sums.py", true).await;
    let moved = move_symbol(&shop, "cart.py", "total", "sums.py", false).await;
    assert_eq!((&moved["ok"], &moved["diagnostics"]["added"]), (&json!(true), &json!([])), "{moved}");
    assert_eq!(
        shop.project.read("sums.py"),
        "import os\n\n\ndef total(n: int) -> int:\n    return n + os.getpid()\n"
    );
    assert!(shop.project.read("cart.py").starts_with("class Cart"), "{}", shop.project.read("cart.py"));
    assert!(
        shop.project.read("app.py").starts_with("from cart import Cart\nfrom sums import total\n\nprint"),
        "{}",
        shop.project.read("app.py")
    );
    let left = moved["remaining"].to_string();
    assert!(left.contains("\"5:3") && left.contains("app.py") && left.contains("README.md"), "{moved}");
    assert_eq!((&tried["remaining"], &tried["results"]), (&moved["remaining"], &moved["results"]));
    shop.answer("undo", json!({})).await;

    let refused = [
        ("Cart.sum", "sums.py", "is nested in another definition"),
        ("Cart", "cart.py", "is in cart.py already"),
        ("Cart", "cart.ts", "another language"),
    ];
    for (symbol, to, why) in refused {
        let answer = move_symbol(&shop, "cart.py", symbol, to, false).await;
        assert!(answer["ok"] == false && answer["error"].to_string().contains(why), "{answer}");
    }
    shop.project.write("other.py", "class Cart:\n    pass\n");
    let taken = move_symbol(&shop, "cart.py", "Cart", "other.py", false).await;
    assert!(taken["error"].to_string().contains("other.py:1:7 already has a `Cart`"), "{taken}");
    shop.shutdown().await;
}
