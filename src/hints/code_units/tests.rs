//! Units and tests of small files in each language.

use std::path::Path;
use std::time::{Duration, Instant};

use super::*;

fn units(language: &str, path: &str, text: &str) -> UnitFile {
    let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
    let path = workspace.path(Path::new(path)).unwrap();
    units_in(language, &path, text, Instant::now() + Duration::from_secs(60)).unwrap()
}

fn tests_of(file: &UnitFile) -> Vec<&str> {
    let tests = file.units.iter().filter(|unit| unit.test == TestRole::Test);
    tests.map(|unit| unit.qualified.as_str()).collect()
}

const PYTHON: &str = "import pytest\n\nRATE = 3\n\n@pytest.fixture(autouse=True)\ndef cart(tmp_path):\n    return 1\n\n\
                      def test_total(cart):\n    def test_inner():\n        pass\n    assert total(cart)\n\n\
                      class TestCart(Base):\n    limit = 4\n    def setup_method(self): pass\n    def test_add(self):\n        add()\n\n\
                      class Helper:\n    def test_nothing(self): pass\n";

#[test]
fn python_tests_are_functions_and_methods_of_test_classes() {
    let file = units("python", "tests/test_a.py", PYTHON);
    assert_eq!(tests_of(&file), ["test_total", "TestCart.test_add"]);
    assert!(tests_of(&units("python", "shop/a.py", PYTHON)).is_empty(), "no file of tests");
    let named = |name: &str| file.units.iter().find(|unit| unit.name == name).unwrap();
    assert!(is_fixture(named("cart")) && sets_autouse(named("cart")));
    assert!(!is_fixture(named("test_total")) && is_setup(named("setup_method")));
    assert_eq!(named("cart").parameters, ["tmp_path"]);
    assert_eq!(named("TestCart").bases, ["Base"]);
    assert_eq!(named("limit").qualified, "TestCart.limit");
    assert_eq!(named("cart").range.start.line, 4, "with its decorator");
}

#[test]
fn innermost_unit_is_found_and_its_tests() {
    let file = units("python", "tests/test_a.py", PYTHON);
    let at = |line| file.unit_at(Position::new(line, 8)).map(|unit| file.units[unit].qualified.as_str());
    assert_eq!(at(11), Some("test_total"));
    assert_eq!(at(17), Some("TestCart.test_add"));
    assert_eq!(at(3), None);
    let class = file.units.iter().position(|unit| unit.name == "TestCart");
    assert_eq!(file.tests_within(class).count(), 1);
    assert_eq!(file.tests_within(None).count(), 2);
    assert!(file.is_import(Position::new(0, 2)) && !file.is_import(Position::new(2, 0)));
}

#[test]
fn own_code_sees_statements_and_blocks_and_no_comments() {
    let hash = |text: &str, name: &str| {
        let file = units("python", "a.py", text);
        file.units.iter().find(|unit| unit.qualified == name).map(|unit| unit.own_code).unwrap()
    };
    let text =
        "class A:\n    def f(self):\n        if x:\n            g()\n            h()\n\ndef other(): pass\n";
    let commented = text.replace("g()", "g()  # why").replace("def other", "\n# else\ndef other");
    assert_eq!(hash(text, "A.f"), hash(&commented, "A.f"));
    let moved = text.replace("            h()", "        h()");
    assert_ne!(hash(text, "A.f"), hash(&moved, "A.f"), "a statement left its block");
    assert_eq!(hash(text, "A"), hash(&text.replace("g()", "k()"), "A"), "a method is no code of its class");
    assert_eq!(hash(text, "other"), hash(&moved, "other"));
}

#[test]
fn titled_tests_of_javascript_have_whole_titles() {
    let text = "import { add } from './a';\nfunction helper() { return add(1); }\n\
                describe('cart', () => {\n  beforeEach(() => helper());\n  it(\"it's full\", () => { add(2); });\n  \
                describe.skip('empty', () => { test.each([[1]])('adds %i', (n) => {}); });\n});\n\
                test(`alone`, async () => {});\nit(title, () => {});\n";
    for (language, path) in [("typescript", "src/a.test.ts"), ("javascript", "src/a.test.js")] {
        let file = units(language, path, text);
        assert_eq!(tests_of(&file), ["cart it's full", "cart empty adds %i", "alone"]);
        let group = file.unit_at(Position::new(3, 22)).unwrap();
        assert_eq!(file.units[group].qualified, "cart");
        assert_eq!(file.tests_within(Some(group)).count(), 2);
    }
}

#[test]
fn renaming_imports_and_quoted_members_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.py"), "def one():\n    return getattr(x, \"meta\", {})\n").unwrap();
    std::fs::write(folder.path().join("b.py"), "from a import one as other\nother(\"meta\")\n").unwrap();
    let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
    let catalogue = crate::config::Catalogue::built_in();
    let index =
        index_code(&workspace, catalogue, "python", Instant::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(index.gap, None);
    let (a, b) = (0, 1);
    assert_eq!(index.aliases("one"), [(b, "other".to_owned())]);
    assert_eq!(index.importers(a).collect::<Vec<_>>(), [b]);
    let kinds: Vec<_> =
        index.uses("meta").iter().map(|place| (place.file, place.is_member, place.is_quoted)).collect();
    assert_eq!(kinds, [(a, true, false), (b, false, true)]);
}

#[test]
fn rust_and_go_tests_are_known_by_attribute_and_name() {
    let rust = "pub fn total() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn adds() {}\n    \
                #[tokio::test(flavor = \"x\")]\n    async fn waits() {}\n    fn helper() {}\n}\n";
    assert_eq!(tests_of(&units("rust", "src/a.rs", rust)), ["tests.adds", "tests.waits"]);
    let go = "package a\nfunc TestAdd(t *testing.T) {}\nfunc Testify() {}\nfunc TestMain(m *testing.M) {}\n\
              func (s *Suite) TestX() {}\nfunc ExampleAdd() {}\n";
    assert_eq!(tests_of(&units("go", "a/b_test.go", go)), ["TestAdd", "ExampleAdd"]);
    assert!(tests_of(&units("go", "a/b.go", go)).is_empty());
}
