//! Relations between names: calls, derivation, overriding, and mere equality.

use std::collections::BTreeSet;

use super::*;

/// The lines (1-based) that count as further occurrences of the name at its `nth` place in `path`,
/// and whether each imports it.
fn further(fixture: &Fixture, path: &str, name: &str, sense: OccurrenceSense) -> Vec<(String, bool)> {
    lines(occurrences_beside(fixture, path, name, sense).files)
}

fn lines(files: Vec<FurtherOccurrence>) -> Vec<(String, bool)> {
    let line = |file: FurtherOccurrence| {
        (format!("{}:{}", file.path.display(), file.position.line + 1), file.imports)
    };
    files.into_iter().map(line).collect()
}

fn occurrences_beside(
    fixture: &Fixture,
    path: &str,
    name: &str,
    sense: OccurrenceSense,
) -> FurtherOccurrences {
    let asked = OccurrenceQuery {
        path: fixture.path(path),
        position: fixture.find(path, name, 0),
        name: name.to_owned(),
        sense,
    };
    let none = BTreeSet::new();
    further_occurrences(&fixture.workspace, Catalogue::built_in(), &asked, &none, soon()).unwrap()
}

#[test]
fn importers_of_a_module_include_plain_dotted_imports() {
    let fixture = fixture(&[
        ("a/__init__.py", ""),
        ("a/b/__init__.py", ""),
        ("a/b/c.py", "X = 1\n"),
        ("dotted.py", "import a.b.c\n"),
        ("several.py", "import a.b.other, a.b.c as c\n"),
        ("named.py", "from a.b import c\n"),
        ("other.py", "import a.b  # c\n"),
    ]);
    let (found, cut) =
        importers(&fixture.workspace, Catalogue::built_in(), &fixture.path("a/b/c.py"), soon()).unwrap();
    let paths: Vec<String> = found.iter().map(|(path, _)| path.display()).collect();
    assert_eq!((paths, cut), (vec!["dotted.py".into(), "named.py".into(), "several.py".into()], false));
}

#[test]
fn rust_file_that_declares_the_module_and_qualifies_the_name_imports_it() {
    for module in ["tests/common/mod.rs", "tests/common.rs"] {
        let fixture = fixture(&[
            (module, "pub fn helper() {}\n"),
            ("tests/a.rs", "mod common;\nfn a() { common::helper(); }\n"),
            ("tests/b.rs", "mod common;\nfn b(x: X) { x.helper(); }\n"),
            ("tests/c.rs", "mod other;\nfn c() { common::helper(); }\n"),
        ]);
        let found = further(&fixture, module, "helper", OccurrenceSense::Any);
        let importing: Vec<_> =
            found.iter().filter(|(_, imports)| *imports).map(|(file, _)| &**file).collect();
        assert_eq!(importing, ["tests/a.rs:2"], "{module}: {found:?}");
    }
}

#[test]
fn text_that_a_rename_leaves_is_quoted_or_in_documents() {
    let text = "__all__ = (\"cut\",)\ndef trim():\n    return 1\ncut = trim\n";
    let path = |fixture: &Fixture| fixture.path("t.py");
    let fixture = fixture(&[
        ("t.py", text),
        ("u.py", "# cut\n"),
        ("README.md", "Use\n`cut` here.\n"),
        ("docs/guide.rst", "cut\n"),
        ("setup.toml", "entry = \"t:cut\"\n"),
        ("notes.txt", "cuts\n"),
    ]);
    let quoted = |name: &str| first_quoted_place("python", &path(&fixture), text, name, soon());
    assert_eq!(quoted("cut").map(|place| place.line), Some(0));
    assert_eq!(quoted("trim"), None, "it stands in code alone");
    let (found, cut) = documents_naming(&fixture.workspace, Catalogue::built_in(), "cut", soon()).unwrap();
    let found: Vec<(String, u32)> = found.iter().map(|(path, at)| (path.display(), at.line)).collect();
    let expected = [("README.md", 1), ("docs/guide.rst", 0), ("setup.toml", 0)];
    assert_eq!((found, cut), (expected.map(|(path, line)| (path.to_owned(), line)).to_vec(), false));
}

#[test]
fn name_in_a_type_is_neither_derived_from_it_nor_calls_it() {
    let fixture = fixture(&[
        ("pkg/people.py", "class Person:\n    pass\n"),
        (
            "pkg/app.py",
            "from pkg.people import Person\n\ndef greet(one: Person, all: list[Person]) -> Person: ...\n",
        ),
        ("pkg/host.py", "from pkg.people import Person\n\nclass Host(Person): ...\n"),
        ("pkg/make.py", "from pkg.people import Person\n\none: Person = Person()\n"),
        ("src/money.ts", "export class Money {}\n"),
        (
            "src/till.ts",
            "import { Money } from './money';\nexport const take = (money: Money): Map<string, Money> => put(money);\n",
        ),
        ("src/mint.ts", "import { Money } from './money';\nexport const make = () => new Money();\n"),
    ]);
    let heirs = further(&fixture, "pkg/people.py", "Person", OccurrenceSense::Heir);
    assert_eq!(heirs, [("pkg/host.py:3".to_owned(), true)]);
    let calls = further(&fixture, "pkg/people.py", "Person", OccurrenceSense::Call);
    assert_eq!(calls, [("pkg/make.py:3".to_owned(), true)]);
    let calls = further(&fixture, "src/money.ts", "Money", OccurrenceSense::Call);
    assert_eq!(calls, [("src/mint.ts:2".to_owned(), true)]);
}

#[test]
fn function_that_is_only_passed_on_is_told_from_one_that_is_called() {
    let fixture = fixture(&[
        ("src/money.ts", "export function add(a: number, b: number) { return a + b; }\n"),
        (
            "src/cart.ts",
            "import { add } from './money';\nexport const total = (all: number[]) => all.reduce(add);\n",
        ),
        (
            "src/till.ts",
            "import { add } from './money';\nexport const plus = () => [1].reduce(add) + add(1, 2);\n",
        ),
    ]);
    let found = occurrences_beside(&fixture, "src/money.ts", "add", OccurrenceSense::Call);
    assert_eq!(lines(found.files), [("src/till.ts:2".to_owned(), true)]);
    assert_eq!(lines(found.passed), [("src/cart.ts:2".to_owned(), true)]);
    let found = occurrences_beside(&fixture, "src/money.ts", "add", OccurrenceSense::Any);
    assert_eq!((found.files.len(), found.passed.len()), (2, 0), "all uses were asked for");
}

#[test]
fn function_kept_as_a_value_is_found_in_files_that_are_known_too() {
    let text = "def kept():\n    pass\n\n\nTABLE = {\"kept\": kept}\n\n\ndef used():\n    kept()\n\n\n\
                def typed(x: used):\n    used()\n";
    let fixture = fixture(&[("m.py", text)]);
    let found = |name: &str| {
        let passed = occurrences_beside(&fixture, "m.py", name, OccurrenceSense::Call).passed;
        passed.iter().map(|found| found.position.line + 1).collect::<Vec<_>>()
    };
    assert_eq!(found("kept"), [5]);
    assert!(found("used").is_empty());
}

#[test]
fn calls_within_a_function_are_those_of_members_values_and_known_names() {
    let text = "import json\n\n\ndef func(a, table):\n    a()\n    table['x'](1)\n    print(json.dumps(a.b.run()))\n\n    \
                def inner():\n        a.left_out()\n\n    inner()\n";
    let fixture = fixture(&[("m.py", text)]);
    let at = fixture.find("m.py", "func", 0);
    let found = calls_within(&fixture.workspace, Catalogue::built_in(), &fixture.path("m.py"), at, soon());
    let found: Vec<_> = found.iter().map(|call| (call.name.as_str(), call.position.line + 1)).collect();
    assert_eq!(found, [("a", 5), ("table", 6), ("dumps", 7), ("run", 7), ("inner", 12)]);
}

#[test]
fn argument_of_a_generic_type_is_no_type_parameter() {
    let fixture = fixture(&[
        ("pkg/people.py", "class Person:\n    def name(self): ...\n"),
        (
            "pkg/app.py",
            "from pkg.people import Person\n\ndef greet(all: list[Person], one: Person):\n    return one.name()\n\n\ndef first[T: int, *Ts](x: T) -> T:\n    return x\n\n\nclass Box[K]:\n    def get(self) -> K: ...\n\n\ntype Pair[V] = tuple[V, V]\n\ndef two(p: Pair): ...\n",
        ),
    ]);
    assert_eq!(fixture.first("pkg/app.py", "Person", 1), "pkg/people.py:1", "an argument of list");
    assert_eq!(fixture.first("pkg/app.py", "Person", 2), "pkg/people.py:1");
    assert_eq!(fixture.first("pkg/app.py", "name()", 0), "pkg/people.py:2");
    assert_eq!(fixture.first("pkg/app.py", "T)", 0), "pkg/app.py:7", "a parameter with a bound");
    assert_eq!(fixture.first("pkg/app.py", "K:", 0), "pkg/app.py:11", "a parameter of a class");
    assert_eq!(fixture.first("pkg/app.py", "Pair)", 0), "pkg/app.py:15", "a generic alias");
}

/// Lists the definitions that derive from the `nth` occurrence of a name, or override it, as
/// `path:line` (1-based) with the reason.
fn implementing(fixture: &Fixture, path: &str, name: &str, nth: usize) -> Vec<String> {
    let subject = HintSubject::Position { path: fixture.path(path), position: fixture.find(path, name, nth) };
    let hints = implementations(&fixture.workspace, Catalogue::built_in(), &subject, soon()).unwrap();
    let found = hints.implementations.candidates;
    found.iter().map(|found| format!("{} {}", place(found), found.why)).collect()
}

#[test]
fn implementations_are_found_by_the_bases_that_types_name() {
    let fixture = fixture(&[
        (
            "pkg/people.py",
            "class Person:\n    def title(self): ...\n\n\nclass Guest(Person):\n    def title(self): ...\n",
        ),
        (
            "pkg/vip.py",
            "from pkg.people import Guest, Person\n\nclass Vip(Guest):\n    def title(self): ...\n\ndef greet(all: list[Person]): ...\n",
        ),
        ("other/people.py", "class Person: ...\n\nclass Worker(Person): ...\n"),
        (
            "src/shape.ts",
            "export interface Shape { area(): number }\nexport class Square implements Shape { area() { return 1; } }\n",
        ),
        (
            "src/round.ts",
            "import { Shape } from './shape';\nexport class Circle implements Shape { area() { return 3; } }\n",
        ),
        (
            "src/lib.rs",
            "pub trait Draw {\n    fn draw(&self);\n}\npub struct Pen;\nimpl Draw for Pen {\n    fn draw(&self) {}\n}\n",
        ),
        (
            "java/Cat.java",
            "interface Animal { void speak(); }\nclass Cat implements Animal { public void speak() {} }\nclass Tiger extends Cat {}\n",
        ),
    ]);
    let cases: [(&str, &str, &[&str]); 7] = [
        (
            "pkg/people.py",
            "Person",
            &["pkg/people.py:5 derives from Person", "pkg/vip.py:3 derives from Guest"],
        ),
        (
            "pkg/people.py",
            "title",
            &["pkg/people.py:6 overrides Person.title", "pkg/vip.py:4 overrides Person.title"],
        ),
        (
            "src/shape.ts",
            "Shape",
            &["src/shape.ts:2 derives from Shape", "src/round.ts:2 derives from Shape"],
        ),
        (
            "src/shape.ts",
            "area",
            &["src/shape.ts:2 overrides Shape.area", "src/round.ts:2 overrides Shape.area"],
        ),
        ("src/lib.rs", "Draw", &["src/lib.rs:5 derives from Draw"]),
        ("src/lib.rs", "draw", &["src/lib.rs:6 overrides Draw.draw"]),
        (
            "java/Cat.java",
            "Animal",
            &["java/Cat.java:2 derives from Animal", "java/Cat.java:3 derives from Cat"],
        ),
    ];
    for (path, name, expected) in cases {
        assert_eq!(implementing(&fixture, path, name, 0), expected, "{name} in {path}");
    }
    assert_eq!(implementing(&fixture, "pkg/vip.py", "greet", 0), Vec::<String>::new());
}

#[test]
fn uses_in_code_cells_of_notebooks_are_found_and_their_outputs_are_not() {
    let cell = |kind: &str, source: &str, output: &str| {
        format!(
            "{{\"cell_type\": \"{kind}\", \"source\": [{source}], \"outputs\": [{{\"text\": \"{output}\"}}]}}"
        )
    };
    let notebook = |cells: &[String]| format!("{{\"nbformat\": 4, \"cells\": [{}]}}", cells.join(","));
    let import = cell("code", "\"from m import total\\n\", \"%time 1\\n\"", "");
    let used = notebook(&[
        cell("markdown", "\"total\"", ""),
        import.clone(),
        cell("code", "\"x = 1\\ntotal(x)\"", ""),
    ]);
    let shown = notebook(&[cell("code", "\"import m\"", "total total"), cell("markdown", "\"total\"", "")]);
    let own = notebook(&[cell("code", "\"import m\\ndef total(): pass\\ntotal()\"", "")]);
    let other = notebook(&[cell("code", "\"from pandas import total\\ntotal()\"", "")]);
    let fixture = fixture(&[
        ("m.py", "def total(x):\n    return x\n"),
        ("used.ipynb", &used),
        ("shown.ipynb", &shown),
        ("own.ipynb", &own),
        ("other.ipynb", &other),
    ]);
    let found = |sense| {
        let found = occurrences_beside(&fixture, "m.py", "total", sense).notebooks;
        found.into_iter().map(|found| (found.path.display(), found.cell)).collect::<Vec<_>>()
    };
    assert_eq!(found(OccurrenceSense::Any), [("used.ipynb".to_owned(), 2)]);
    assert_eq!(found(OccurrenceSense::Call), [("used.ipynb".to_owned(), 3)]);
}
