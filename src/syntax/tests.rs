//! Small projects, whole questions.

use std::fs;
use std::time::{Duration, Instant};

use super::*;
use crate::config::Catalogue;
use crate::lsp::model::{FileRef, Symbol};
use crate::text::Position;
use crate::workspace::{Workspace, WorkspacePath};

mod moves;
mod relations;

struct Fixture {
    _keep: tempfile::TempDir,
    workspace: Workspace,
}

/// A workspace of files, each `(path, text)`.
fn fixture(files: &[(&str, &str)]) -> Fixture {
    let keep = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = keep.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let workspace = Workspace::open(keep.path()).unwrap();
    Fixture { _keep: keep, workspace }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

impl Fixture {
    fn path(&self, path: &str) -> WorkspacePath {
        self.workspace.path(path.as_ref()).unwrap()
    }

    /// The position of the `nth` (0-based) occurrence of `needle`.
    fn find(&self, path: &str, needle: &str, nth: usize) -> Position {
        let text = self.workspace.read_text(&self.path(path)).unwrap().text;
        let at = text.match_indices(needle).nth(nth).unwrap_or_else(|| panic!("no {needle} number {nth}")).0;
        crate::text::Buffer::new(&text).position_of_byte(at)
    }

    fn hints(&self, path: &str, needle: &str, nth: usize) -> Hints {
        let subject = HintSubject::Position { path: self.path(path), position: self.find(path, needle, nth) };
        definition(&self.workspace, Catalogue::built_in(), &subject, soon()).unwrap()
    }

    /// Returns the first candidate as `path:line`, 1-based; empty if there is none.
    fn first(&self, path: &str, needle: &str, nth: usize) -> String {
        self.hints(path, needle, nth).candidates.first().map_or_else(String::new, place)
    }
}

fn place(candidate: &Candidate) -> String {
    let FileRef::Inside(path) = &candidate.location.file else { return String::new() };
    format!("{}:{}", path.display(), candidate.location.range.start.line + 1)
}

#[test]
fn definition_hints_resolve_python_scopes_imports_and_attributes() {
    let fixture = fixture(&[
        ("pkg/__init__.py", "from .shapes import Circle as Round\n"),
        (
            "pkg/shapes.py",
            "class Shape:\n    def area(self):\n        \"\"\"How much it covers.\"\"\"\n        return 0\n\n\nclass Circle(Shape):\n    def __init__(self, radius, *, colour=None):\n        self.radius = radius\n\n    def grow(self):\n        self.radius += 1\n        return self.area()\n",
        ),
        (
            "app.py",
            "import pkg.shapes as shapes\nfrom pkg import Round\n\ndef total(count):\n    area = 1\n    # area in a comment\n    one = Round(2, colour=3)\n    return one.area() + area + count\n\ndef other():\n    return shapes.Circle(1).grow()\n",
        ),
        ("decoy.py", "class Decoy:\n    def area(self): ...\n    def grow(self): ...\n"),
    ]);
    assert_eq!(fixture.first("app.py", "area", 3), "app.py:5", "the local variable");
    assert_eq!(fixture.first("app.py", "count", 1), "app.py:4", "the parameter");
    assert_eq!(fixture.first("app.py", "Round", 1), "pkg/shapes.py:7", "through the package");
    assert_eq!(fixture.first("app.py", "area()", 0), "pkg/shapes.py:2", "the base class's method");
    assert_eq!(fixture.first("app.py", "grow", 0), "pkg/shapes.py:11", "of what the call makes");
    assert_eq!(fixture.first("app.py", "colour", 0), "pkg/shapes.py:8", "the named argument's parameter");
    assert_eq!(fixture.first("app.py", "shapes", 0), "pkg/shapes.py:1", "the module");
    assert_eq!(fixture.first("pkg/shapes.py", "area()", 0), "pkg/shapes.py:2");
    assert_eq!(fixture.first("pkg/shapes.py", "radius", 3), "pkg/shapes.py:9", "the field");
    assert_eq!(fixture.first("pkg/shapes.py", "self", 3), "pkg/shapes.py:11", "the parameter, not the class");
    let hints = fixture.hints("app.py", "Round(", 0);
    assert_eq!(hints.candidates[0].why, "class defined in the module imported on line 2");
    let hints = fixture.hints("app.py", "area()", 0);
    assert_eq!(hints.candidates[0].documentation.as_deref(), Some("How much it covers."));
    assert_eq!(hints.candidates[0].signature.as_deref(), Some("def area(self)"));
    let shown = hover(&hints, "python").unwrap();
    assert!(
        shown.contents.starts_with("```python\ndef area(self)\n```\n\nHow much it covers."),
        "{}",
        shown.contents
    );
}

#[test]
fn definition_hints_resolve_typescript_and_javascript_modules() {
    let fixture = fixture(&[
        (
            "src/model.ts",
            "export interface Item { title: string; owner: User }\nexport class User {\n  constructor(private email: string) {}\n  /** Says hello. */\n  greet(): string { return this.email; }\n}\nexport default function build(): User { return new User('x'); }\nexport const limit = 3;\n",
        ),
        ("src/index.ts", "export * from './model.js';\n"),
        (
            "src/app.tsx",
            "import make, { User, Item } from './index';\nimport make2 from './model';\nimport * as all from './model';\nconst { limit } = all;\nfunction run(item: Item, user: User) {\n  const greet = 1;\n  item.owner.greet();\n  user.greet();\n  make2().greet();\n  return [greet, all.limit];\n}\n",
        ),
        (
            "lib/tool.js",
            "const fs = require('fs');\nfunction open(path) { return path; }\nmodule.exports = { open };\n",
        ),
        (
            "lib/use.js",
            "const tool = require('./tool');\nconst { open } = require('./tool');\ntool.open('x');\nopen('y');\nconst Box = require('./box');\nnew Box(tool).fill(open);\n",
        ),
        (
            "lib/box.js",
            "'use strict';\nfunction Box(tool) { this.tool = tool; }\nBox.prototype.fill = function (open) { this.tool = open; return { all() { return this; } }; };\nmodule.exports = Box;\n",
        ),
        ("lib/near.js", "module.exports = {\n  near: 1,\n  get far() { return this.near; },\n};\n"),
        ("lib/far.js", "const near = require('./near');\nnear.far;\n"),
        ("src/barrel.ts", "export * from './first';\nexport * from './second';\n"),
        ("src/first.ts", "import { Second } from './barrel';\nexport class First extends Second {}\n"),
        ("src/second.ts", "class Second {}\nexport { Second };\n"),
        ("src/third.ts", "import { Second } from './barrel';\nnew Second();\n"),
    ]);
    assert_eq!(
        fixture.first("src/third.ts", "Second();", 0),
        "src/second.ts:1",
        "not where it is only imported"
    );
    assert_eq!(fixture.first("lib/use.js", "Box(tool)", 0), "lib/box.js:2", "what the module exports");
    assert_eq!(fixture.first("lib/box.js", "this.tool = open", 0), "lib/box.js:2", "its constructor");
    assert_eq!(fixture.first("lib/near.js", "this", 0), "lib/near.js:1", "the object around");
    assert_eq!(fixture.first("lib/far.js", "near.far", 0), "lib/near.js:1", "an exported object");
    assert_eq!(fixture.first("lib/far.js", "far;", 0), "lib/near.js:3");
    assert_eq!(
        fixture.first("src/app.tsx", "greet()", 0),
        "src/model.ts:5",
        "field of an interface, then method"
    );
    assert_eq!(fixture.first("src/app.tsx", "greet()", 1), "src/model.ts:5", "annotated parameter");
    assert_eq!(
        fixture.first("src/app.tsx", "greet()", 2),
        "src/model.ts:5",
        "return type of a default export"
    );
    assert_eq!(fixture.first("src/app.tsx", "greet, all", 0), "src/app.tsx:6", "the local variable");
    assert_eq!(fixture.first("src/app.tsx", "User", 1), "src/model.ts:2", "through `export *`");
    assert_eq!(fixture.first("src/app.tsx", "limit]", 0), "src/model.ts:8");
    assert_eq!(fixture.first("src/app.tsx", "model", 0), "src/model.ts:1", "the path of an import");
    assert_eq!(fixture.first("src/model.ts", "email;", 0), "src/model.ts:3", "parameter property");
    assert_eq!(fixture.first("lib/use.js", "open('y')", 0), "lib/tool.js:2");
    assert_eq!(fixture.first("lib/use.js", "open('x')", 0), "lib/tool.js:2");
}

#[test]
fn definition_hints_resolve_rust_modules_paths_and_methods() {
    let fixture = fixture(&[
        ("Cargo.toml", "[package]\nname = \"my-shop\"\n"),
        (
            "src/lib.rs",
            "pub mod stock;\npub use stock::Item;\nmacro_rules! twice { ($x:expr) => { $x + $x } }\nfn f(item: &Item) -> u32 { twice!(item.price()) }\n",
        ),
        (
            "src/stock/mod.rs",
            "mod count;\nuse self::count::{Count, LIMIT as MOST};\n/// A thing to sell.\npub struct Item { pub count: Count }\nimpl Item {\n    pub fn new() -> Self { let count = Count::start(MOST); let count = count.next(); Self { count } }\n    pub fn price(&self) -> u32 { self.count.value() }\n}\n",
        ),
        (
            "src/stock/count.rs",
            "pub const LIMIT: u32 = 9;\npub enum Count { Some(u32), None }\nimpl Count {\n    pub fn start(n: u32) -> Self { Count::Some(n) }\n    pub fn next(self) -> Self { self }\n    pub fn value(&self) -> u32 { super::super::f as usize as u32 }\n}\n",
        ),
        ("tests/it.rs", "use my_shop::Item;\nfn main() { Item::new().price(); }\n"),
        (
            "src/stock/sum.rs",
            "fn sum(all: &[u32]) -> u32 {\n    let total = 0;\n    let total = all.len() as u32 + total;\n    let (least, most): (u32, u32) = (1, 2);\n    assert!(total > most, \"{least}\");\n    total\n}\n",
        ),
    ]);
    assert_eq!(fixture.first("src/stock/sum.rs", "total;", 0), "src/stock/sum.rs:2", "inside its own value");
    assert_eq!(fixture.first("src/stock/sum.rs", "total\n", 0), "src/stock/sum.rs:3", "shadowed");
    assert_eq!(fixture.first("src/stock/sum.rs", "total >", 0), "src/stock/sum.rs:3", "inside a macro");
    assert_eq!(fixture.first("src/stock/sum.rs", "most,", 0), "src/stock/sum.rs:4", "bound by a pattern");
    assert_eq!(fixture.first("src/lib.rs", "Item)", 0), "src/stock/mod.rs:4");
    assert_eq!(fixture.first("src/lib.rs", "price", 0), "src/stock/mod.rs:7", "inside a macro");
    assert_eq!(fixture.first("src/lib.rs", "stock;", 0), "src/stock/mod.rs:1");
    assert_eq!(fixture.first("src/stock/mod.rs", "MOST)", 0), "src/stock/count.rs:1");
    assert_eq!(fixture.first("src/stock/mod.rs", "value", 0), "src/stock/count.rs:6", "type of a field");
    assert_eq!(
        fixture.first("src/stock/mod.rs", "next", 0),
        "src/stock/count.rs:5",
        "shadowed variable's first value"
    );
    assert_eq!(fixture.first("src/stock/count.rs", "Some(n)", 0), "src/stock/count.rs:2");
    assert_eq!(fixture.first("src/stock/count.rs", "f as", 0), "src/lib.rs:4", "two modules up");
    assert_eq!(fixture.first("tests/it.rs", "price", 0), "src/stock/mod.rs:7", "own crate by its name");
    let hints = fixture.hints("tests/it.rs", "Item", 0);
    assert_eq!(hints.candidates[0].documentation.as_deref(), Some("A thing to sell."));
}

#[test]
fn definition_hints_resolve_names_in_all_other_grammars() {
    let fixture = fixture(&[
        ("go.mod", "module example.com/shop\n"),
        (
            "store/store.go",
            "package store\n\ntype Store struct { Name string }\n\nfunc (s *Store) Open() error { return nil }\n\nfunc New() *Store { return &Store{} }\n",
        ),
        (
            "main.go",
            "package main\n\nimport \"example.com/shop/store\"\n\nfunc main() {\n\ts := store.New()\n\ts.Open()\n}\n",
        ),
        ("c/x.h", "typedef struct { int size; } box_t;\nint measure(box_t *box);\n"),
        ("c/x.c", "#include \"x.h\"\nint measure(box_t *box) { return box->size; }\n"),
        ("c/y.c", "#include \"x.h\"\nint twice(box_t *b) { return measure(b) + b->size; }\n"),
        ("cpp/a.hpp", "namespace n { class A { public: void run(); int n_; }; }\n"),
        ("cpp/a.cpp", "#include \"a.hpp\"\nvoid n::A::run() { n_ = 1; }\nvoid go(n::A& a) { a.run(); }\n"),
        ("j/p/A.java", "package p;\npublic class A { int n; int get() { return n; } }\n"),
        ("j/q/B.java", "package q;\nimport p.A;\nclass B { void f(A a) { a.get(); } }\n"),
        ("cs/A.cs", "namespace N { public class A { public int Get() { return 1; } } }\n"),
        ("cs/B.cs", "using N;\nclass B { void F(A a) { a.Get(); } }\n"),
        (
            "rb/a.rb",
            "class Animal\n  def initialize(name)\n    @name = name\n  end\n\n  def speak\n    @name\n  end\nend\n",
        ),
        ("rb/b.rb", "require_relative 'a'\npet = Animal.new('x')\npet.speak\n"),
        ("php/A.php", "<?php\nnamespace App\\Models;\nclass A { public function get() { return 1; } }\n"),
        ("php/b.php", "<?php\nuse App\\Models\\A;\nfunction f(A $a) { $b = 1; return $a->get() + $b; }\n"),
        ("sh/lib.sh", "greet() {\n  echo hi\n}\n"),
        (
            "sh/run.sh",
            "#!/bin/sh\n. ./lib.sh\nname=x\ngreet \"$name\"\nset_up() {\n  local own=1\n  own=2\n  shared=$own\n}\ntear_down() { echo \"$shared\" \"$own\"; }\n",
        ),
    ]);
    for (path, needle, expected) in [
        ("main.go", "Open", "store/store.go:5"),
        ("main.go", "New", "store/store.go:7"),
        ("c/y.c", "measure", "c/x.c:2"),
        ("c/y.c", "size", "c/x.h:1"),
        ("c/y.c", "box_t", "c/x.h:1"),
        ("cpp/a.cpp", "run();", "cpp/a.hpp:1"),
        ("cpp/a.cpp", "n_ =", "cpp/a.hpp:1"),
        ("j/q/B.java", "get", "j/p/A.java:2"),
        ("j/q/B.java", "A a", "j/p/A.java:2"),
        ("cs/B.cs", "Get", "cs/A.cs:1"),
        ("rb/b.rb", "Animal", "rb/a.rb:1"),
        ("rb/b.rb", "speak", "rb/a.rb:6"),
        ("php/b.php", "A $a", "php/A.php:3"),
        ("php/b.php", "get()", "php/A.php:3"),
        ("php/b.php", "$b;", "php/b.php:3"),
        ("sh/run.sh", "greet", "sh/lib.sh:1"),
        ("sh/run.sh", "$name", "sh/run.sh:3"),
        ("sh/run.sh", "$own\n", "sh/run.sh:7"),
        ("sh/run.sh", "$shared", "sh/run.sh:8"),
    ] {
        assert_eq!(fixture.first(path, needle, 0), expected, "{needle} in {path}");
    }
}

#[test]
fn definition_hints_without_grammar_match_by_words() {
    let fixture = fixture(&[
        ("a.lua", "-- function greet() in a comment\nlocal function greet(name)\n  return name\nend\n"),
        ("b.lua", "greet('x')\n"),
        ("m.ex", "defmodule Shop.Cart do\n  def total(items), do: 0\nend\n"),
        ("n.ex", "Shop.Cart.total([])\n"),
    ]);
    assert_eq!(fixture.first("b.lua", "greet", 0), "a.lua:2");
    assert_eq!(fixture.first("n.ex", "total", 0), "m.ex:2");
    assert_eq!(fixture.first("n.ex", "Cart", 0), "m.ex:1");
}

#[test]
fn reference_hints_exclude_comments_and_strings() {
    let fixture = fixture(&[
        (
            "a.py",
            "def greet():\n    \"greet in a docstring\"\n    # greet in a comment\n    return f\"{greet} greet\"\n",
        ),
        ("b.py", "from a import greet\ngreet()\nregreet = greet2 = 1\n"),
    ]);
    let subject = HintSubject::Position { path: fixture.path("b.py"), position: Position::new(1, 0) };
    let found = references(&fixture.workspace, Catalogue::built_in(), &subject, 100, soon()).unwrap();
    let places: Vec<(String, u32)> = found
        .locations
        .iter()
        .map(|location| match &location.file {
            FileRef::Inside(path) => (path.display(), location.range.start.line + 1),
            _ => (String::new(), 0),
        })
        .collect();
    let expected = [("a.py", 1), ("b.py", 1), ("b.py", 2), ("a.py", 4)];
    assert_eq!(
        places,
        expected.map(|(path, line)| (path.to_owned(), line)),
        "the definition first, then the nearest"
    );
    assert!(!found.truncated && !found.timed_out);
    let few = references(&fixture.workspace, Catalogue::built_in(), &subject, 2, soon()).unwrap();
    assert_eq!((few.locations.len(), few.truncated), (2, true));
}

#[test]
fn reference_hints_of_local_variable_stay_in_its_function() {
    let fixture =
        fixture(&[("a.py", "def f(x):\n    return x\n\ndef g(x):\n    return x\n"), ("b.py", "x = 1\n")]);
    let subject = HintSubject::Position { path: fixture.path("a.py"), position: Position::new(1, 11) };
    let found = references(&fixture.workspace, Catalogue::built_in(), &subject, 100, soon()).unwrap();
    let lines: Vec<u32> = found.locations.iter().map(|location| location.range.start.line + 1).collect();
    assert_eq!(lines, [1, 2]);
}

fn shown(symbols: &[Symbol]) -> String {
    let one = |symbol: &Symbol| match symbol.children.is_empty() {
        true => format!("{} {}", symbol.kind.name(), symbol.name),
        false => format!("{} {}({})", symbol.kind.name(), symbol.name, shown(&symbol.children)),
    };
    symbols.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn document_symbols_are_nested_without_locals() {
    let fixture = fixture(&[
        (
            "a.py",
            "import os\nLIMIT = 1\nclass A:\n    size = 2\n    def f(self, x):\n        local = x\n        def inner(): ...\n        return local\n",
        ),
        ("a.rs", "struct S { a: u8 }\nimpl S { fn new() -> S { let x = 1; S { a: x } } }\nenum E { A, B }\n"),
        ("a.ts", "export const f = (x: number) => x;\ninterface I { a: string; b(): void }\n"),
        ("a.toml", "a = 1\n"),
    ]);
    let outline = |path: &str| {
        symbols(&fixture.workspace, Catalogue::built_in(), &fixture.path(path), soon())
            .unwrap()
            .map(|found| shown(&found))
    };
    assert_eq!(
        outline("a.py").as_deref(),
        Some("variable LIMIT, class A(field size, method f(function inner))")
    );
    assert_eq!(
        outline("a.rs").as_deref(),
        Some("struct S(field a), object S(method new), enum E(enum member A, enum member B)")
    );
    assert_eq!(outline("a.ts").as_deref(), Some("function f, interface I(field a, method b)"));
    assert_eq!(outline("a.toml"), None);
    let found = workspace_symbols(&fixture.workspace, Catalogue::built_in(), "limit", 10, soon()).unwrap();
    assert_eq!(found.symbols.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), ["LIMIT"]);
}

/// Names that only contain the queried one come last: a tree may be full of them.
#[test]
fn workspace_symbols_list_exact_matches_first() {
    let many: Vec<(String, String)> = (0..400)
        .map(|n| (format!("a/many{n:03}.py"), format!("def queryset_{n}():\n    return get_queryset()\n")))
        .collect();
    let mut files: Vec<(&str, &str)> =
        many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("z/query.py", "class QuerySet:\n    pass\n"));
    files.push(("tests/test_query.py", "class QuerySet:\n    pass\n"));
    let fixture = fixture(&files);
    let project = super::resolution::project::Project::new(&fixture.workspace, Catalogue::built_in(), soon());
    let exact = super::symbols::definitions_named(&project, "QuerySet").unwrap();
    let places: Vec<String> = exact.symbols.iter().map(|one| format!("{:?}", one.location.file)).collect();
    assert_eq!(places.len(), 2, "{places:?}");
    assert!(places[0].contains("z/query.py") && !exact.truncated && !exact.timed_out, "{places:?}");
    let all = workspace_symbols(&fixture.workspace, Catalogue::built_in(), "QuerySet", 10, soon()).unwrap();
    assert_eq!(all.symbols[..2], exact.symbols[..]);
    assert!(all.symbols[2].name.starts_with("queryset_") && all.truncated, "{:?}", all.symbols[2]);
}

#[test]
fn definition_hints_of_qualified_name_match_its_container() {
    let fixture = fixture(&[
        ("a.py", "class A:\n    def run(self): ...\n"),
        ("b.py", "class B:\n    def run(self): ...\n\ndef run(): ...\n"),
    ]);
    let ask = |name: &str| {
        let subject = HintSubject::Name { path: None, name: name.to_owned() };
        definition(&fixture.workspace, Catalogue::built_in(), &subject, soon()).unwrap().candidates
    };
    assert_eq!(place(&ask("B.run")[0]), "b.py:2");
    assert_eq!(place(&ask("A::run")[0]), "a.py:2");
    assert_eq!(ask("run").len(), 3);
    assert!(ask("nothing_of_the_kind").is_empty());
}

#[test]
fn syntax_errors_are_reported_with_messages() {
    let fixture = fixture(&[
        ("a.py", "x = = 1\n"),
        ("b.c", "int main(void) { return f(1; }\n"),
        ("c.py", "x = 1\n"),
        ("d.lua", "x = = 1\n"),
    ]);
    let check = |path: &str| {
        syntax_errors(&fixture.workspace, Catalogue::built_in(), &fixture.path(path), soon()).unwrap()
    };
    let messages = |path: &str| match check(path) {
        SyntaxCheck::Checked { errors, .. } => {
            errors.into_iter().map(|error| error.message).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(messages("b.c"), ["missing `)`"]);
    assert!(messages("a.py")[0].starts_with("syntax error near `"), "{:?}", messages("a.py"));
    assert!(messages("c.py").is_empty());
    assert_eq!(check("d.lua"), SyntaxCheck::NoGrammar);
}

#[test]
fn definition_hints_resolve_non_ascii_identifiers() {
    let fixture = fixture(&[("a.py", "def größe(名前):\n    return 名前\n\nx = '🦀'; y = größe(1)\n")]);
    assert_eq!(fixture.first("a.py", "größe(1", 0), "a.py:1");
    let hints = fixture.hints("a.py", "名前", 1);
    assert_eq!(hints.candidates[0].location.range.start, Position::new(0, 10));
}

/// The nesting depth of the symbols, found without recursion.
fn depth_of(symbols: Vec<Symbol>) -> usize {
    let (mut level, mut depth) = (symbols, 0);
    while !level.is_empty() {
        depth += 1;
        level = level.into_iter().flat_map(|symbol| symbol.children).collect();
    }
    depth
}

#[test]
#[ignore = "slow: just slow"]
fn deeply_nested_source_gives_symbols_of_bounded_depth() {
    let functions = format!("{}{}\n", "function f(){".repeat(20_000), "}".repeat(20_000));
    let braces = format!("use {}a{};\nfn b() {{}}\n", "{".repeat(100_000), "}".repeat(100_000));
    let fixture = fixture(&[("deep.js", &functions), ("deep.rs", &braces)]);
    for (path, deepest) in [("deep.js", 51), ("deep.rs", 1)] {
        let found = symbols(&fixture.workspace, Catalogue::built_in(), &fixture.path(path), soon()).unwrap();
        assert!(found.is_none_or(|found| depth_of(found) <= deepest), "{path}");
    }
}

#[test]
fn definition_hints_in_hostile_files_take_bounded_time() {
    let deep = format!("x = {}1{}\n", "(".repeat(200_000), ")".repeat(200_000));
    let long = format!("greet = \"{}\"\n", "a b ".repeat(1_250_000));
    let fixture = fixture(&[
        ("deep.py", &deep),
        ("long.py", &long),
        ("calls.js", &"f(".repeat(100_000)),
        ("use.py", "greet\n"),
    ]);
    let limit = Duration::from_secs(2);
    for (path, position) in
        [("deep.py", (0, 0)), ("long.py", (0, 0)), ("calls.js", (0, 150_000)), ("use.py", (0, 0))]
    {
        let start = Instant::now();
        let subject = HintSubject::Position {
            path: fixture.path(path),
            position: Position::new(position.0, position.1),
        };
        let deadline = start + limit;
        let hints = definition(&fixture.workspace, Catalogue::built_in(), &subject, deadline).unwrap();
        assert!(hints.identifier.is_some(), "{path}");
        symbols(&fixture.workspace, Catalogue::built_in(), &fixture.path(path), Instant::now() + limit)
            .unwrap();
        syntax_errors(&fixture.workspace, Catalogue::built_in(), &fixture.path(path), Instant::now() + limit)
            .unwrap();
        // Without bounds it would be minutes; a busy machine makes seconds of less.
        assert!(start.elapsed() < limit * 20, "{path} took {:?}", start.elapsed());
    }
}
