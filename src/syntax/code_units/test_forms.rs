//! The forms of tests by language: functions by name or attribute, blocks with a title, fixtures,
//! and the set-up of all tests.

use std::ops::Range as Span;

use tree_sitter::Node;

use super::super::test_conventions::{is_named_as_test, is_test};
use super::{CodeUnit, CodeUnitKind};
use crate::syntax::resolution::source::ParsedSource;

/// The longest title that is read, in letters; longer ones are cut.
const MAX_TITLE_LETTERS: usize = 300;
/// The maximum number of letters kept of an expression in place of a title.
const MAX_EXPRESSION_LETTERS: usize = 60;
/// The maximum size of the words around a title (`test.only.each`) that are examined, in bytes.
const MAX_CALLEE_BYTES: usize = 200;

/// The role of a unit for a test runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TestRole {
    /// No test.
    None,
    /// A test that can be run alone.
    Test,
    /// A container of tests: a class of pytest, a `describe`.
    Group,
}

/// A block of tests with a title.
pub(super) struct TitledBlock {
    pub(super) title: String,
    /// True if the title is a literal, not computed.
    pub(super) is_exact: bool,
    pub(super) is_group: bool,
    pub(super) span: Span<usize>,
}

/// Returns true if test functions and classes are recognised in the language `key`.
pub(super) fn has_forms(key: &str) -> bool {
    matches!(key, "python" | "rust" | "go" | "javascript" | "typescript" | "tsx" | "java" | "csharp")
}

/// Returns true if a file of the language `key` without recognised tests may still contain some.
pub(super) fn may_hide_tests(key: &str) -> bool {
    key != "go"
}

/// Returns true if runners of the language `key` run any file in a test folder, regardless of its
/// name.
pub(super) fn runs_all_files(key: &str) -> bool {
    matches!(key, "javascript" | "typescript" | "tsx")
}

/// Returns the role of `unit` for its runner, in the file at `path` in the language `key`; `around`
/// is the unit around it.
pub(super) fn role(key: &str, path: &[&str], unit: &CodeUnit, around: Option<&CodeUnit>) -> TestRole {
    match key {
        "python" => python(path, unit, around),
        "rust" => rust(unit),
        "go" => go(path, unit),
        "javascript" | "typescript" | "tsx" => match unit.kind {
            // A titled group has no name of its own: its title begins at its own start.
            CodeUnitKind::Group if unit.selection == unit.range.start => TestRole::Group,
            _ => TestRole::None,
        },
        "java" | "csharp" => marked(unit, around),
        _ => TestRole::None,
    }
}

fn python(path: &[&str], unit: &CodeUnit, around: Option<&CodeUnit>) -> TestRole {
    let is_file = is_test(path) && path.last().is_none_or(|name| *name != "conftest.py");
    if !is_file {
        return TestRole::None;
    }
    match unit.kind {
        CodeUnitKind::Type if is_test_class(unit) => TestRole::Group,
        _ if is_test_function(unit) && around.is_none_or(is_test_class) => TestRole::Test,
        _ => TestRole::None,
    }
}

/// Returns true if the unit is a test class by its name and bases; classes derived from it are test
/// classes as well.
pub(super) fn is_test_class(unit: &CodeUnit) -> bool {
    unit.kind == CodeUnitKind::Type
        && (unit.name.starts_with("Test")
            || unit.name.ends_with("Test")
            || unit.name.ends_with("Tests")
            || unit.name.ends_with("TestCase")
            || unit.bases.iter().any(|base| base.contains("Test")))
}

/// Returns true if the unit is a Python test, provided that it is in a test file or test class.
pub(super) fn is_test_function(unit: &CodeUnit) -> bool {
    unit.kind == CodeUnitKind::Callable && unit.name.starts_with("test") && !is_fixture(unit)
}

fn rust(unit: &CodeUnit) -> TestRole {
    const TESTS: [&str; 6] = ["test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test", "proptest"];
    match unit.kind {
        CodeUnitKind::Callable if rust_marks(unit).any(|name| TESTS.contains(&name)) => TestRole::Test,
        _ => TestRole::None,
    }
}

/// `test` of `#[test]` and `#[tokio::test(…)]`, `cfg` of `#[cfg(test)]`.
fn rust_marks(unit: &CodeUnit) -> impl Iterator<Item = &str> {
    unit.marks.iter().map(|mark| {
        let path = mark.trim_start_matches(['#', '!', '[']).split(['(', ']', '=']).next().unwrap_or_default();
        path.trim().rsplit("::").next().unwrap_or_default()
    })
}

/// Returns true if the runner identifies a test by exactly its name: macros of Rust make several
/// tests of one function.
pub(super) fn is_exact(key: &str, unit: &CodeUnit) -> bool {
    const PLAIN: [&str; 4] = ["test", "ignore", "should_panic", "cfg"];
    key != "rust" || rust_marks(unit).all(|name| PLAIN.contains(&name))
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

/// Returns the role of a test marked by an annotation or attribute (`@ParameterizedTest`, `[Fact,
/// Trait("a", "b")]`), or by its name in a test class.
fn marked(unit: &CodeUnit, around: Option<&CodeUnit>) -> TestRole {
    let is_test = |mark: &String| {
        let path = mark.trim_start_matches(['@', '[', ' ']).split(['(', ',', ']']).next().unwrap_or_default();
        let name = path.trim().rsplit('.').next().unwrap_or_default();
        ["Test", "Fact", "Theory", "Property"].iter().any(|known| name.contains(known))
    };
    let is_named = || {
        unit.name.starts_with("test")
            && around.is_some_and(|around| around.bases.iter().any(|base| base == "TestCase"))
    };
    if unit.kind == CodeUnitKind::Callable && (unit.marks.iter().any(is_test) || is_named()) {
        TestRole::Test
    } else {
        TestRole::None
    }
}

/// Returns true if the unit is a fixture of pytest.
pub(crate) fn is_fixture(unit: &CodeUnit) -> bool {
    unit.marks.iter().any(|mark| {
        let name = mark.trim_start_matches('@').split('(').next().unwrap_or_default().trim();
        name.rsplit('.').next().is_some_and(|last| last == "fixture" || last.ends_with("_fixture"))
    })
}

/// Returns true if every test in a fixture's scope uses the fixture.
pub(crate) fn sets_autouse(unit: &CodeUnit) -> bool {
    let is_set = |mark: &String| mark.split_whitespace().collect::<String>().contains("autouse=True");
    unit.marks.iter().any(is_set)
}

/// Returns true if the runner calls the function around the tests of its class or file, by its
/// name.
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

/// Returns the test blocks with a title in `source`: `describe`, `it`, `test` and their variants
/// behind dots.
pub(super) fn titled_blocks(source: &ParsedSource) -> Vec<TitledBlock> {
    let mut found = Vec::new();
    if !matches!(source.grammar.key, "javascript" | "typescript" | "tsx") {
        return found;
    }
    let path = source.path.display();
    let in_tests = is_named_as_test(&path.split('/').collect::<Vec<_>>());
    let mut cursor = source.tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "call_expression" {
            found.extend(titled_block(source, node, in_tests));
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

fn titled_block(source: &ParsedSource, call: Node<'_>, in_tests: bool) -> Option<TitledBlock> {
    let callee = call.child_by_field_name("function")?;
    // `test.each([…])('title', …)` and `test.each`…`('title', …)`: the callee is itself a call.
    let callee = match callee.kind() {
        "call_expression" => callee.child_by_field_name("function")?,
        _ => callee,
    };
    let words = source.text_of(callee);
    if words.len() > MAX_CALLEE_BYTES {
        return None;
    }
    let mut names = words.split(['.', '(', '`']).map(str::trim);
    let first = names.next().map(|first| {
        if matches!(first, "Deno" | "QUnit") { names.next().unwrap_or_default() } else { first }
    })?;
    let is_group = matches!(first, "describe" | "suite" | "context" | "xdescribe" | "fdescribe" | "module");
    if !is_group && !matches!(first, "it" | "test" | "specify" | "xit" | "fit" | "xtest") {
        return None;
    }
    let arguments = call.child_by_field_name("arguments")?;
    let given = arguments.named_child(0)?;
    let (title, is_exact) = match given.kind() {
        "string" | "template_string" if arguments.named_child_count() > 1 => {
            literal_title(source.text_of(given))
        }
        "string" | "template_string" => return None,
        // `test.each(rows)` returns a function that takes the title.
        _ if call.parent().is_some_and(|around| around.child_by_field_name("function") == Some(call)) => {
            return None;
        }
        _ if in_tests || has_function(arguments) => {
            let text = source.text_of(given).split_whitespace().collect::<Vec<_>>().join(" ");
            (text.chars().take(MAX_EXPRESSION_LETTERS).collect(), false)
        }
        _ => return None,
    };
    let is_group = is_group || words.split('.').any(|word| word == "describe");
    (!title.is_empty()).then(|| TitledBlock { title, is_exact, is_group, span: call.byte_range() })
}

/// Returns true if a function is among the arguments of a call.
fn has_function(arguments: Node<'_>) -> bool {
    let mut cursor = arguments.walk();
    arguments.named_children(&mut cursor).any(|argument| argument.kind().contains("function"))
}

/// Returns the title in a string of JavaScript, and whether a runner uses exactly this title.
fn literal_title(written: &str) -> (String, bool) {
    let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
    let mut title = unescaped(inner);
    // A value in the title may be anything; longer expressions are not taken apart.
    let is_value = |part: &str| {
        let end = part.find('}').unwrap_or(0);
        end > 0 && part[..end].chars().all(|letter| letter.is_alphanumeric() || "._$".contains(letter))
    };
    let has_code = written.starts_with('`') && !inner.split("${").skip(1).all(is_value);
    let mut escaped = inner.split('\\').skip(1).filter_map(|rest| rest.chars().next());
    let is_plain = escaped.all(|letter| letter == 'n' || letter.is_ascii_punctuation());
    let is_short = match title.char_indices().nth(MAX_TITLE_LETTERS) {
        Some((end, _)) => {
            title.truncate(end);
            false
        }
        None => true,
    };
    (title, is_plain && is_short && !has_code)
}

/// Resolves the escapes of a JavaScript string, as far as titles use them.
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
