//! The imports that change with the move of a definition.

use super::*;
use crate::text::Range;
use crate::text::append_block;
use crate::text::cut_block;

struct Moved {
    texts: MovedTexts,
    left: Vec<(String, u32, String)>,
}

impl Moved {
    fn text(&self, path: &str) -> &str {
        let found = self.texts.iter().find(|(known, _)| known.display() == path);
        found.map_or("unchanged", |(_, text)| &text.after)
    }

    /// The lines (1-based) of the remaining places of `path`, with the reasons.
    fn left(&self, path: &str) -> Vec<(u32, &str)> {
        let of_file = self.left.iter().filter(|(known, ..)| known == path);
        of_file.map(|(_, line, why)| (*line, why.as_str())).collect()
    }
}

/// Moves the block of `name` from the line that begins with `head` to the last line with `tail`.
fn moved(fixture: &Fixture, name: &str, (head, tail): (&str, &str), from: &str, to: &str) -> Moved {
    let read = |path: &str| fixture.workspace.read_text(&fixture.path(path)).ok().map(|file| file.text);
    let before = read(from).unwrap();
    let line = |found: &str| before.lines().position(|line| line.starts_with(found)).unwrap() as u32;
    let last = line(tail);
    let end = before.lines().nth(last as usize).unwrap().chars().count() as u32;
    let range = Range::new(Position::new(line(head), 0), Position::new(last, end));
    let cut = cut_block(&before, range).unwrap();
    let there = read(to);
    let after = append_block(there.as_deref().unwrap_or_default(), &cut);
    let mut texts = MovedTexts::from([
        (fixture.path(from), MovedText { before: Some(before), after: cut.rest }),
        (fixture.path(to), MovedText { before: there, after }),
    ]);
    let symbol = MovedSymbol {
        name: name.to_owned(),
        from: fixture.path(from),
        to: fixture.path(to),
        block: Some(cut.block),
    };
    let found = complete_move(&fixture.workspace, Catalogue::built_in(), &symbol, &mut texts, soon());
    let (left, is_cut) = found.unwrap().unwrap();
    assert!(!is_cut);
    let left = left.into_iter().map(|left| (left.path.display(), left.position.line + 1, left.why));
    Moved { texts, left: left.collect() }
}

const CART: &str = "\"\"\"Carts.\"\"\"\nimport os\nfrom decimal import (\n    Decimal,\n    getcontext,\n)\n\nfrom .rates import rate as rated\n\n\
    LIMIT = 3\n\n\ndef total(n: \"Decimal\") -> int:\n    os.getpid()\n    return rated(n) * LIMIT\n\n\n\
    def twice(n):\n    getcontext()\n    return total(n) * 2\n";

#[test]
fn moved_python_function_takes_its_imports_and_users_follow() {
    let fixture = fixture(&[
        ("shop/__init__.py", "from .cart import total as sum_of, twice\n"),
        ("shop/cart.py", CART),
        ("shop/rates.py", "def rate(n): return n\n"),
        ("shop/deep/__init__.py", ""),
        ("shop/deep/sums.py", "from decimal import Context\n\n\ndef one():\n    return Context()\n"),
        (
            "app.py",
            "import shop.cart\n\n\ndef run():\n    from shop.cart import total\n    return total(1) + shop.cart.total(2)\n",
        ),
        ("alias.py", "from shop import cart\n\nprint(cart.total(1))\n"),
        ("both.py", "from shop.cart import (\n    total,\n    twice,\n)\nimport sys\n"),
        ("wild.py", "from shop.cart import *\n\nprint(total(2))\n"),
        ("test_app.py", "from unittest import mock\n\n\nmock.patch(\"shop.cart.total\")\nother.total()\n"),
    ]);
    let done =
        moved(&fixture, "total", ("def total", "    return rated"), "shop/cart.py", "shop/deep/sums.py");
    assert_eq!(
        done.text("shop/deep/sums.py"),
        "from decimal import Context, Decimal\nfrom ..cart import LIMIT\nimport os\nfrom ..rates import rate as rated\n\n\ndef \
         one():\n    return Context()\n\n\ndef total(n: \"Decimal\") -> int:\n    os.getpid()\n    return rated(n) * LIMIT\n"
    );
    assert_eq!(
        done.text("shop/cart.py"),
        "\"\"\"Carts.\"\"\"\nfrom decimal import (\n    getcontext,\n)\n\nfrom .deep.sums import total\n\nLIMIT = 3\n\n\ndef \
         twice(n):\n    getcontext()\n    return total(n) * 2\n"
    );
    assert_eq!(
        done.text("shop/__init__.py"),
        "from .cart import twice\nfrom .deep.sums import total as sum_of\n"
    );
    assert_eq!(
        done.text("app.py"),
        "import shop.cart\nimport shop.deep.sums\n\n\ndef run():\n    from shop.deep.sums import total\n    return total(1) + \
         shop.deep.sums.total(2)\n"
    );
    assert_eq!(done.text("alias.py"), "from shop.deep import sums\n\nprint(sums.total(1))\n");
    assert_eq!(
        done.text("both.py"),
        "from shop.cart import (\n    twice,\n)\nfrom shop.deep.sums import total\nimport sys\n"
    );
    assert_eq!(
        done.text("wild.py"),
        "from shop.cart import *\nfrom shop.deep.sums import total\n\nprint(total(2))\n"
    );
    assert_eq!(done.left("test_app.py"), [(4, "text with `cart.total`")]);
    assert_eq!(done.text("test_app.py"), "unchanged");
    let circle = "shop/cart.py and shop/deep/sums.py import each other now";
    assert_eq!(done.left("shop/deep/sums.py"), [(2, circle)]);
    assert_eq!(done.left.len(), 2, "{:?}", done.left);
}

#[test]
fn import_with_several_candidates_is_left_with_their_names() {
    let fixture = fixture(&[
        (
            "cart.py",
            "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\n\n\n__all__ = [\"read\"]\n\n\ndef read(t):\n    \
             return tomllib.loads(t)\n",
        ),
        ("other.py", "import sums\nfrom cart import read\n\nsums = read(sums)\n"),
        ("taken.py", "import cart\n\nsums = 1\ncart.read(sums)\n"),
        ("wrong.py", "from lost.cart import read\n"),
    ]);
    let done = moved(&fixture, "read", ("def read", "    return tomllib"), "cart.py", "sums.py");
    assert_eq!(done.text("sums.py"), "def read(t):\n    return tomllib.loads(t)\n");
    assert_eq!(
        done.left("sums.py"),
        [(2, "needs an import; candidates: `import tomli as tomllib`, `import tomllib`")]
    );
    assert_eq!(done.left("cart.py"), [(7, "`__all__` names `read`")]);
    assert_eq!(done.text("other.py"), "import sums\nfrom sums import read\n\nsums = read(sums)\n");
    assert_eq!(done.left("taken.py"), [(4, "`cart` has no `read` now")]);
    assert_eq!(done.left("wrong.py"), [(1, "imports `read` from `lost.cart`, which is not found here")]);
}

#[test]
fn places_in_changed_files_have_their_new_lines() {
    let fixture = fixture(&[
        ("cart.py", "import re\n\n\nclass Item:\n    seen = re.compile(\"x\")\n\n\nX = 1\n"),
        ("use.py", "from cart import Item, X\n\n# cart.Item is a class\nItem()\n"),
    ]);
    let done = moved(&fixture, "Item", ("class Item", "    seen"), "cart.py", "items.py");
    assert_eq!(done.text("items.py"), "import re\n\n\nclass Item:\n    seen = re.compile(\"x\")\n");
    assert_eq!(done.text("cart.py"), "X = 1\n");
    assert_eq!(
        done.text("use.py"),
        "from cart import X\nfrom items import Item\n\n# cart.Item is a class\nItem()\n"
    );
    assert_eq!(done.left("use.py"), [(4, "text with `cart.Item`")]);
}

#[test]
fn reexport_that_a_server_leaves_is_redirected() {
    let fixture = fixture(&[
        ("src/cart.ts", "export const spare = 1;\n"),
        ("src/sums.ts", "export function total() {}\n"),
        ("src/index.ts", "export { total, spare } from \"./cart\";\nexport * from \"./other\";\n"),
        ("src/one.ts", "export { total as sum } from './cart.js'\n"),
        ("src/all.ts", "export * from \"./cart\";\n"),
    ]);
    let (from, to) = (fixture.path("src/cart.ts"), fixture.path("src/sums.ts"));
    let symbol = MovedSymbol { name: "total".to_owned(), from, to, block: None };
    let mut texts = MovedTexts::new();
    let found = complete_move(&fixture.workspace, Catalogue::built_in(), &symbol, &mut texts, soon());
    let (left, _) = found.unwrap().unwrap();
    let left = left.into_iter().map(|left| (left.path.display(), left.position.line + 1, left.why)).collect();
    let done = Moved { texts, left };
    assert_eq!(
        done.text("src/index.ts"),
        "export { spare } from \"./cart\";\nexport { total } from \"./sums\";\nexport * from \"./other\";\n"
    );
    assert_eq!(done.text("src/one.ts"), "export { total as sum } from './sums.js'\n");
    assert_eq!(done.left("src/all.ts"), [(1, "the names of src/cart.ts are imported without `total` now")]);
}

/// A file that uses the symbol: path, text before and after the move, and the lines left.
type UserCase = (&'static str, &'static str, &'static str, &'static [(u32, &'static str)]);

#[test]
fn uses_that_may_mean_something_else_are_left() {
    const NONE: &[(u32, &str)] = &[];
    const GONE: &str = "`cart` has no `total` now";
    let users: [UserCase; 6] = [
        (
            "shadow.py",
            "from shop import cart\n\n\ndef show(cart):\n    return cart.total\n\n\nprint(cart.total(1))\n",
            "from shop import cart, sums\n\n\ndef show(cart):\n    return cart.total\n\n\nprint(sums.total(1))\n",
            &[(5, "`cart` may be shop/cart.py, which has no `total` now")],
        ),
        (
            "inside.py",
            "def run():\n    from shop import cart\n    return cart.total(1)\n",
            "unchanged",
            &[(3, GONE)],
        ),
        (
            "checked.py",
            "import os\n\nif os.name:\n    from shop import cart\n\nprint(cart.total(1))\n",
            "unchanged",
            &[(6, GONE)],
        ),
        (
            "local.py",
            "from shop import cart\n\n\ndef other():\n    from shop import sums\n    return sums\n\n\nprint(cart.total(1))\n",
            "from shop import sums\n\n\ndef other():\n    from shop import sums\n    return sums\n\n\nprint(sums.total(1))\n",
            NONE,
        ),
        (
            "public.py",
            "from shop import cart\n\n__all__ = [\"cart\"]\nprint(cart.total(1))\n",
            "from shop import cart, sums\n\n__all__ = [\"cart\"]\nprint(sums.total(1))\n",
            NONE,
        ),
        (
            "given.py",
            "from shop import cart\n\nprint(cart.total(1))\n",
            "from shop import cart, sums\n\nprint(sums.total(1))\n",
            NONE,
        ),
    ];
    let mut files = vec![
        ("shop/__init__.py", ""),
        ("shop/cart.py", "def total(n):\n    return n\n\n\nX = 1\n"),
        ("shop/sums.py", "Y = 1\n"),
        ("taker.py", "from given import cart\n"),
    ];
    files.extend(users.iter().map(|(path, text, ..)| (*path, *text)));
    let fixture = fixture(&files);
    let done = moved(&fixture, "total", ("def total", "    return n"), "shop/cart.py", "shop/sums.py");
    for (path, _, text, left) in users {
        assert_eq!(done.text(path), text, "{path}");
        assert_eq!(done.left(path), left, "{path}");
    }
}

#[test]
fn relative_import_stays_in_its_top_package() {
    let absolute = ("app.py", "from pkg_a.cart import total\n");
    let cases = [
        (("other.py", ""), "unchanged", ""),
        (absolute, "from pkg_b.sums import total\n", "from pkg_a.rates import rate\n\n\n"),
        (("src/__init__.py", ""), "from ..pkg_b.sums import total\n", "from ..pkg_a.rates import rate\n\n\n"),
    ];
    for (further, user, import) in cases {
        let fixture = fixture(&[
            ("src/pkg_a/__init__.py", ""),
            ("src/pkg_b/__init__.py", ""),
            (
                "src/pkg_a/cart.py",
                "from .rates import rate\n\n\ndef total(n):\n    return rate(n)\n\n\nX = 1\n",
            ),
            ("src/pkg_a/rates.py", "def rate(n): return n\n"),
            ("src/pkg_a/use.py", "from .cart import total\n"),
            further,
        ]);
        let done = moved(
            &fixture,
            "total",
            ("def total", "    return rate"),
            "src/pkg_a/cart.py",
            "src/pkg_b/sums.py",
        );
        assert_eq!(done.text("src/pkg_a/use.py"), user);
        assert_eq!(done.text("src/pkg_b/sums.py"), format!("{import}def total(n):\n    return rate(n)\n"));
        if import.is_empty() {
            assert_eq!(done.left("src/pkg_a/use.py"), [(1, "imports `total` from src/pkg_a/cart.py")]);
            let unnamed = "`.rates` cannot be named from the new file";
            assert_eq!(done.left("src/pkg_b/sums.py"), [(2, unnamed)]);
        }
    }
}

#[test]
fn wildcard_brings_in_only_exported_names() {
    let cases = [
        ("total", "__all__ = [\"X\"]", false),
        ("total", "__all__ = [\"X\"] + [\"to\" \"tal\"]", true),
        ("total", "__all__ = [\"total\"]", true),
        ("_total", "Z = 1", false),
    ];
    for (name, first, is_exported) in cases {
        let cart = format!("{first}\n\n\ndef {name}(n):\n    return n\n\n\nX = 1\n");
        let wild = format!("from cart import *\n\nprint({name}(2))\n");
        let fixture = fixture(&[("cart.py", cart.as_str()), ("wild.py", wild.as_str())]);
        let done = moved(&fixture, name, ("def ", "    return n"), "cart.py", "sums.py");
        let changed = format!("from cart import *\nfrom sums import {name}\n\nprint({name}(2))\n");
        assert_eq!(done.text("wild.py"), if is_exported { changed.as_str() } else { "unchanged" }, "{first}");
    }
}

#[test]
fn first_lines_stay_first_and_blocks_keep_a_statement() {
    let fixture = fixture(&[
        (
            "cart.py",
            "#!/usr/bin/env python3\n# coding: utf-8\n# Starts.\nX = total(1)\n\n\ndef total(n):\n    return n\n",
        ),
        ("sums.py", "import os\n\nif os.name:\n    from cart import total\n    # note\n\nY = 1\n"),
    ]);
    let done = moved(&fixture, "total", ("def total", "    return n"), "cart.py", "sums.py");
    assert_eq!(
        done.text("cart.py"),
        "#!/usr/bin/env python3\n# coding: utf-8\n\nfrom sums import total\n\n# Starts.\nX = total(1)\n"
    );
    let block = "import os\n\nif os.name:\n    from cart import total\n    # note\n";
    assert!(done.text("sums.py").starts_with(block), "{}", done.text("sums.py"));
}

#[test]
fn reexport_of_value_joins_no_statement_of_types() {
    let fixture = fixture(&[
        ("src/cart.ts", "export const spare = 1;\n"),
        ("src/sums.service.ts", "export type Sum = number;\nexport function total() {}\n"),
        (
            "src/type.ts",
            "export type { Sum } from \"./sums.service\";\nexport { total, spare } from \"./cart\";\n",
        ),
        (
            "src/both.ts",
            "export { more } from \"./sums.service\";\nexport { total, spare } from \"./cart\";\n",
        ),
    ]);
    let (from, to) = (fixture.path("src/cart.ts"), fixture.path("src/sums.service.ts"));
    let symbol = MovedSymbol { name: "total".to_owned(), from, to, block: None };
    let mut texts = MovedTexts::new();
    let found = complete_move(&fixture.workspace, Catalogue::built_in(), &symbol, &mut texts, soon());
    assert_eq!(found.unwrap().unwrap(), (Vec::new(), false));
    let done = Moved { texts, left: Vec::new() };
    assert_eq!(
        done.text("src/type.ts"),
        "export type { Sum } from \"./sums.service\";\nexport { spare } from \"./cart\";\nexport { total } from \"./sums.service\";\n"
    );
    assert_eq!(
        done.text("src/both.ts"),
        "export { more, total } from \"./sums.service\";\nexport { spare } from \"./cart\";\n"
    );
}
