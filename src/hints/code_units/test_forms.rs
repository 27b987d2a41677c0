//! The forms of tests by language: functions by name or attribute, blocks with a title, fixtures, and what is set up for all tests.

use std::ops::Range as Span;

use tree_sitter::Node;

use super::super::source::ParsedSource;
use super::{CodeUnit, CodeUnitKind};

/// The longest title that is read, in bytes; longer ones are cut.
const MAX_TITLE_BYTES: usize = 300;
/// Words around a title (`test.only.each`) that are looked through.
const MAX_CALLEE_BYTES: usize = 200;

/// What a unit is to a runner of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TestRole {
    /// No test.
    None,
    /// A test that can be run alone.
    Test,
    /// What holds tests: a class of pytest, a `describe`.
    Group,
}

/// A block of tests with a title.
pub(super) struct TitledBlock {
    pub(super) title: String,
    pub(super) is_group: bool,
    pub(super) span: Span<usize>,
}

/// Whether a file (parts of its path, from the root) is a test by its name or lies in a folder of tests.
pub(super) fn is_among_tests(path: &[&str]) -> bool {
    let Some((name, folders)) = path.split_last() else { return false };
    let is_test_folder =
        |folder: &&str| ["test", "tests", "__tests__", "spec", "specs", "testing", "e2e"].contains(folder);
    let stem = name.split_once('.').map_or(*name, |(stem, _)| stem);
    folders.iter().any(is_test_folder)
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// What `unit` of the file at `path` in the language `key` is to its runner; `around` is the unit around it.
pub(super) fn role(key: &str, path: &[&str], unit: &CodeUnit, around: Option<&CodeUnit>) -> TestRole {
    match key {
        "python" => python(path, unit, around),
        "rust" => rust(unit),
        "go" => go(path, unit),
        "javascript" | "typescript" | "tsx" => match unit.kind {
            // A titled group has no name of its own: its title is where it begins.
            CodeUnitKind::Group if unit.selection == unit.range.start => TestRole::Group,
            _ => TestRole::None,
        },
        "java" | "csharp" => marked(unit),
        _ => TestRole::None,
    }
}

fn python(path: &[&str], unit: &CodeUnit, around: Option<&CodeUnit>) -> TestRole {
    let is_file = is_among_tests(path) && path.last().is_none_or(|name| *name != "conftest.py");
    let is_class = |unit: &CodeUnit| {
        unit.kind == CodeUnitKind::Type
            && (unit.name.starts_with("Test")
                || unit.name.ends_with("Test")
                || unit.name.ends_with("Tests")
                || unit.name.ends_with("TestCase")
                || unit.bases.iter().any(|base| base.ends_with("TestCase") || base.ends_with("Tests")))
    };
    if !is_file {
        return TestRole::None;
    }
    match unit.kind {
        CodeUnitKind::Type if is_class(unit) => TestRole::Group,
        CodeUnitKind::Callable if unit.name.starts_with("test") && !is_fixture(unit) => match around {
            None => TestRole::Test,
            Some(around) if is_class(around) => TestRole::Test,
            Some(_) => TestRole::None,
        },
        _ => TestRole::None,
    }
}

fn rust(unit: &CodeUnit) -> TestRole {
    // `#[test]`, `#[tokio::test(…)]`, `#[rstest]`, `#[test_case(…)]`; not `#[cfg(test)]`.
    let is_test = |mark: &String| {
        let path = mark.trim_start_matches(['#', '!', '[']).split(['(', ']', '=']).next().unwrap_or_default();
        let name = path.trim().rsplit("::").next().unwrap_or_default();
        matches!(name, "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" | "proptest")
    };
    match unit.kind {
        CodeUnitKind::Callable if unit.marks.iter().any(is_test) => TestRole::Test,
        _ => TestRole::None,
    }
}

fn go(path: &[&str], unit: &CodeUnit) -> TestRole {
    let is_file = path.last().is_some_and(|name| name.ends_with("_test.go"));
    let is_name = |prefix: &str| {
        unit.name
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.starts_with(|first: char| first.is_lowercase()))
    };
    let is_test = is_file
        && unit.kind == CodeUnitKind::Callable
        && unit.owner.is_none()
        && unit.name != "TestMain"
        && ["Test", "Fuzz", "Example"].into_iter().any(is_name);
    if is_test { TestRole::Test } else { TestRole::None }
}

/// Tests that a decorator or attribute announces.
fn marked(unit: &CodeUnit) -> TestRole {
    let is_test = |mark: &String| {
        ["@Test", "@ParameterizedTest", "[Fact", "[Theory", "[Test"].iter().any(|known| mark.contains(known))
    };
    if unit.kind == CodeUnitKind::Callable && unit.marks.iter().any(is_test) {
        TestRole::Test
    } else {
        TestRole::None
    }
}

/// Whether it is a fixture of pytest.
pub(crate) fn is_fixture(unit: &CodeUnit) -> bool {
    unit.marks.iter().any(|mark| {
        let name = mark.trim_start_matches('@').split('(').next().unwrap_or_default().trim();
        name.rsplit('.').next().is_some_and(|last| last == "fixture" || last.ends_with("_fixture"))
    })
}

/// Whether a fixture is used by every test that sees it.
pub(crate) fn sets_autouse(unit: &CodeUnit) -> bool {
    let is_set = |mark: &String| mark.split_whitespace().collect::<String>().contains("autouse=True");
    unit.marks.iter().any(is_set)
}

/// Whether a function is run by the runner around the tests of its class or file, by its name.
pub(crate) fn is_setup(unit: &CodeUnit) -> bool {
    const NAMES: [&str; 17] = [
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "asyncSetUp",
        "asyncTearDown",
        "setUpModule",
        "tearDownModule",
        "setup_method",
        "teardown_method",
        "setup_class",
        "teardown_class",
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
        "TestMain",
    ];
    unit.kind == CodeUnitKind::Callable && NAMES.contains(&unit.name.as_str())
}

/// The blocks of tests with a title in `source`: `describe`, `it`, `test` and what is said of them behind dots.
pub(super) fn titled_blocks(source: &ParsedSource) -> Vec<TitledBlock> {
    let mut found = Vec::new();
    if !matches!(source.grammar.key, "javascript" | "typescript" | "tsx") {
        return found;
    }
    let mut cursor = source.tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "call_expression" {
            found.extend(titled_block(source, node));
        }
        if cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn titled_block(source: &ParsedSource, call: Node<'_>) -> Option<TitledBlock> {
    let callee = call.child_by_field_name("function")?;
    // `test.each([…])('title', …)` and `test.each`…`('title', …)`: what is called is itself a call.
    let callee = match callee.kind() {
        "call_expression" => callee.child_by_field_name("function")?,
        _ => callee,
    };
    let words = source.text_of(callee);
    if words.len() > MAX_CALLEE_BYTES {
        return None;
    }
    let first = words.split(['.', '(', '`']).next()?.trim();
    let is_group = matches!(first, "describe" | "suite" | "context" | "xdescribe" | "fdescribe");
    if !is_group && !matches!(first, "it" | "test" | "specify" | "xit" | "fit" | "xtest") {
        return None;
    }
    let arguments = call.child_by_field_name("arguments")?;
    let title =
        arguments.named_child(0).filter(|title| matches!(title.kind(), "string" | "template_string"))?;
    let written = source.text_of(title);
    let inner = written.get(1..written.len().saturating_sub(1))?;
    let title: String = unescaped(inner).chars().take(MAX_TITLE_BYTES).collect();
    (!title.is_empty() && arguments.named_child_count() > 1).then(|| TitledBlock {
        title,
        is_group: is_group || words.split('.').any(|word| word == "describe"),
        span: call.byte_range(),
    })
}

/// What a string of JavaScript says, as far as titles have it.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next().map(|next| if next == 'n' { '\n' } else { next })),
            _ => out.push(letter),
        }
    }
    out
}
