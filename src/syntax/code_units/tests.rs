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
fn tests_in_files_that_pytest_does_not_take_by_their_names_may_be_used() {
    let is_usable = |path: &str| {
        let file = units("python", path, "def test_false(value):\n    return value is False\n");
        assert_eq!(tests_of(&file), ["test_false"], "{path}");
        file.has_usable_tests()
    };
    assert!(is_usable("src/jinja2/tests.py") && is_usable("tests/checks.py"));
    assert!(!is_usable("tests/test_false.py") && !is_usable("shop/false_test.py"));
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
                test(`alone`, async () => {});\n";
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

#[test]
fn tests_whose_title_a_program_makes_are_known_and_not_by_their_names() {
    let text = "function suite() {\n  describe('cart', () => {\n    it('adds', () => {});\n    it(`of ${n + '}'}`, () => {});\n    \
                it('a\\tb', () => {});\n  });\n}\ndescribe(Cart.name, () => {\n  it('sells', () => {});\n});\n\
                it(title, () => {});\nDeno.test('deno', () => {});\nDeno.test({ name: 'x', fn() {} });\n";
    let file = units("typescript", "src/a.test.ts", text);
    let tests = file.units.iter().filter(|unit| unit.test == TestRole::Test);
    let tests: Vec<(&str, bool)> = tests.map(|unit| (unit.qualified.as_str(), unit.is_exact)).collect();
    assert_eq!(
        tests,
        [
            ("cart adds", true),
            ("cart of ${n + '}'}", false),
            ("cart atb", false),
            ("Cart.name sells", false),
            ("title", false),
            ("deno", true),
            ("{ name: 'x', fn() {} }", false),
        ]
    );
    let plain = units("typescript", "src/check.ts", "test(value, other);\ntest(pattern, () => {});\n");
    assert_eq!(tests_of(&plain), ["pattern"], "a call in a file that is no test");
}

#[test]
fn nested_titles_are_cut_before_they_fill_the_memory() {
    let depth = 3_000;
    let title = "x".repeat(200);
    let text =
        format!("{}{}", format!("describe('{title}', () => {{\n").repeat(depth), "});\n".repeat(depth));
    let file = units("javascript", "a.test.js", &text);
    assert_eq!(file.units.len(), depth);
    assert!(file.units.iter().map(|unit| unit.qualified.len()).sum::<usize>() <= depth * 1_000);
    assert!(file.units[0].is_exact && !file.units[depth - 1].is_exact);
}

#[test]
fn tests_of_java_and_csharp_are_known_by_annotations_inside_them() {
    let java = "class CartTest {\n  @Test public void adds() {}\n  @org.junit.jupiter.api.Test\n  void sells() {}\n  \
                @ParameterizedTest @ValueSource(ints = {1}) void each(int n) {}\n  @BeforeEach void setUp() {}\n  void helper() {}\n}\n";
    let java = units("java", "src/test/java/CartTest.java", java);
    assert_eq!(tests_of(&java), ["CartTest.adds", "CartTest.sells", "CartTest.each"]);
    let csharp = "class CartTests {\n  [Fact, Trait(\"a\", \"b\")] public void Adds() {}\n  [TestMethod] public void Sells() {}\n  \
                  [Obsolete(\"Test\")] public void Helper() {}\n}\n";
    assert_eq!(tests_of(&units("csharp", "CartTests.cs", csharp)), ["CartTests.Adds", "CartTests.Sells"]);
    let c = units("c", "tests/test_cart.c", "void test_total(void) {}\n");
    assert!(!c.has_test_forms() && c.is_opaque_test());
}

#[test]
fn strings_with_escapes_and_formats_are_code() {
    let hash = |language: &str, path: &str, text: &str| units(language, path, text).units[0].own_code;
    let pairs = [
        (r#"def f(): return "a\nb""#, r#"def f(): return "c\nb""#),
        (r#"def f(): return "a\nb""#, r#"def f(): return "a\nc""#),
        (r#"def f(): return "a\n b""#, r#"def f(): return "a\n  b""#),
        (r#"def f(x): return f"{x:.2f}""#, r#"def f(x): return f"{x:.3f}""#),
    ];
    for (one, other) in pairs {
        assert_ne!(hash("python", "a.py", one), hash("python", "a.py", other), "{one} {other}");
    }
    let csharp = |format: &str| format!("class A {{ string F(int x) => $\"{{x:{format}}}\"; }}");
    let of_method = |format: &str| units("csharp", "A.cs", &csharp(format)).units[1].own_code;
    assert_ne!(of_method("D2"), of_method("D3"));
    assert_eq!(
        hash("python", "a.py", "def f(x):\n    return g(x,\n        1)\n"),
        hash("python", "a.py", "def f(x):\n    # why\n    return g(x,  # so\n        1)\n")
    );
}

fn index(files: &[(&str, &str)], language: &str) -> CodeIndex {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
    let catalogue = crate::config::Catalogue::built_in();
    index_code(&workspace, catalogue, language, Instant::now() + Duration::from_secs(60)).unwrap()
}

#[test]
fn classes_of_tests_are_so_by_bases_in_other_files_and_names() {
    let files = [
        ("shop/testing.py", "class ShopBase(TestCase):\n    pass\n"),
        (
            "shop/tests.py",
            "from .testing import ShopBase\nclass CartCases(ShopBase):\n    def test_add(self): pass\n",
        ),
        (
            "testcart.py",
            "import shop.tests\nclass More(shop.tests.CartCases):\n    def test_more(self): pass\n",
        ),
        ("shop/cart.py", "class Cart(ShopBase):\n    def test_drive(self): pass\n"),
    ];
    let index = index(&files, "python");
    let tests: Vec<&str> = index.files.iter().flat_map(tests_of).collect();
    assert_eq!(tests, ["CartCases.test_add", "More.test_more"]);
    assert_eq!(index.derived_from("ShopBase").len(), 2);
}

#[test]
fn script_without_extension_is_read_and_its_path_followed() {
    let files = [
        ("index.js", "exports.run = () => 1;\n"),
        ("tests/fixtures/pm", "#!/usr/bin/env node\nconst { run } = require('../../');\nrun();\n"),
        ("tests/pm.test.js", "const bin = './fixtures/pm';\ntest('runs', () => exec(bin));\n"),
        (
            "tests/signal.test.js",
            "const bin = join(here, 'fixtures', 'pm');\ntest('runs', () => exec(bin));\n",
        ),
        ("LICENSE", "run as you like\n"),
    ];
    let index = index(&files, "javascript");
    let number = |path: &str| index.files.iter().position(|file| file.path.display() == path).unwrap();
    let script = number("tests/fixtures/pm");
    assert_eq!(index.files.len(), 4);
    assert_eq!(index.importers(number("index.js")).collect::<Vec<_>>(), [script]);
    let quoting: Vec<usize> = index.quoting(script).iter().map(|(file, _)| *file).collect();
    assert_eq!(quoting, [number("tests/pm.test.js"), number("tests/signal.test.js")]);
}

#[test]
fn path_in_several_strings_is_that_of_a_file() {
    let files = [
        ("tools/run.py", "print(1)\n"),
        ("other/run.py", "print(2)\n"),
        ("tests/a/test_join.py", "import os\nRUN = os.path.join(ROOT, \"tools\", \"run.py\")\n"),
        ("tests/a/test_slash.py", "RUN = Path(__file__).parents[2] / \"tools\" / \"run.py\"\n"),
        (
            "tests/a/test_none.py",
            "show(\"tools\", \"run.py\")\nRUN = join(\"tools\", version(\"x\"), \"run.py\", \"x\")\n",
        ),
        ("tests/a/test_nested.py", "RUN = join(dirname(\"x\", y), \"tools\", \"run.py\")\n"),
    ];
    let index = index(&files, "python");
    let quoting: Vec<String> = index
        .quoting(index.files.len() - 1)
        .iter()
        .map(|(file, _)| index.files[*file].path.display())
        .collect();
    assert_eq!(quoting, ["tests/a/test_join.py", "tests/a/test_nested.py", "tests/a/test_slash.py"]);
}

#[test]
fn files_that_cannot_be_read_are_a_gap() {
    let large = format!("x = 1{}\n", "\n# long".repeat(800_000));
    let whole = index(&[("a.py", "x = 1\n")], "python");
    assert_eq!(whole.gap, None);
    let gap = index(&[("a.py", "x = 1\n"), ("b.py", &large)], "python").gap;
    assert!(gap.as_ref().is_some_and(|gap| gap.contains("1 files, such as b.py")), "{gap:?}");
    assert!(index(&[("a.ts", "let x = 1\n"), ("b.vue", "<script></script>")], "typescript").gap.is_some());
}

#[test]
fn imports_of_a_file_that_is_gone_are_found() {
    let files = [
        ("app.py", "import pricing\n"),
        ("pkg/a.py", "from . import pricing\n"),
        ("pkg/b.py", "from pkg.pricing import total\n"),
        ("pkg/c.py", "from pkg.prices import total\n"),
        ("pkg/prices.py", "def total(): pass\n"),
        ("other/__init__.py", ""),
        ("other/pricing.py", ""),
        ("d.py", "from other import pricing\n"),
    ];
    let index = index(&files, "python");
    let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
    let gone = |path: &str| -> Vec<String> {
        let path = workspace.path(Path::new(path)).unwrap();
        index.importers_of_gone(&path).into_iter().map(|file| index.files[file].path.display()).collect()
    };
    assert_eq!(gone("pkg/pricing.py"), ["app.py", "pkg/a.py", "pkg/b.py"]);
    assert_eq!(gone("pkg/pricing/__init__.py"), ["app.py", "pkg/a.py", "pkg/b.py"]);
    assert!(gone("pkg/unknown.py").is_empty());
}

#[test]
fn part_of_a_file_for_its_start_as_a_program_is_told() {
    let text = "def main(): pass\n\nif __name__ == '__main__':\n    main()\n\nif x:\n    main()\n";
    let file = units("python", "a.py", text);
    assert!(file.is_program_part(Position::new(3, 4)));
    assert!(!file.is_program_part(Position::new(6, 4)));
    let script = units("javascript", "a.js", "if (require.main === module) {\n  main()\n}\nmain()\n");
    assert!(script.is_program_part(Position::new(1, 2)) && !script.is_program_part(Position::new(3, 0)));
}

#[test]
fn types_that_values_have_by_their_members_are_structural() {
    let is_structural = |file: &UnitFile, name: &str| {
        file.units.iter().find(|unit| unit.name == name).map(|unit| unit.is_structural)
    };
    let file = units("python", "a.py", "class A(t.Protocol[T]):\n    def f(self): ...\nclass B(A): pass\n");
    assert_eq!((is_structural(&file, "A"), is_structural(&file, "B")), (Some(true), Some(false)));
    let file = units("typescript", "a.ts", "interface A { f(): void }\nclass B { f() {} }\n");
    assert_eq!((is_structural(&file, "A"), is_structural(&file, "B")), (Some(true), Some(false)));
}

#[test]
fn texts_in_brackets_are_members_and_other_texts_are_not() {
    let text = "cart[all ? 'total' : 'count']()\ncart['sum']\nlist = ['other']\nlist[named('third')]\n";
    let file = units("javascript", "a.js", text);
    let words = &file.words;
    let keys = words.uses.iter().filter(|one| one.is_key && one.is_member && !one.is_quoted);
    let keys: Vec<&str> = keys.map(|one| words.names[one.name as usize].as_str()).collect();
    assert_eq!(keys, ["total", "count", "sum"]);
}

#[test]
fn mention_as_a_type_is_told_from_a_call_and_from_a_value() {
    let uses = |language: &str, path: &str, text: &str| {
        let index = index(&[(path, text)], language);
        let uses = index.uses("Cart").iter();
        uses.map(|place| (place.at.line, place.is_call, place.is_type)).collect::<Vec<_>>()
    };
    let python = "def a(x: Cart) -> list[Cart]:\n    y: 'Cart' = Cart()\n    return isinstance(x, Cart)\n";
    let expected =
        [(0, false, true), (0, false, true), (1, false, true), (1, true, false), (2, false, false)];
    assert_eq!(uses("python", "a.py", python), expected);
    let script = "function a(x: Cart): Cart {\n  return new Cart(x instanceof Cart)\n}\n";
    let expected = [(0, false, true), (0, false, true), (1, true, false), (1, false, false)];
    assert_eq!(uses("typescript", "a.ts", script), expected);
    let go = "package a\n\nfunc a(x *Cart) Cart {\n\treturn Cart{}\n}\n";
    assert_eq!(uses("go", "a.go", go), [(2, false, true), (2, false, true), (3, false, false)]);
}
