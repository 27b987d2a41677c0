//! Naming conventions of tests: from a source file to the names of its tests, and back. Pure: no
//! file is read.

/// One language's convention. `{}` stands for the source's name without its extension; the part
/// before a `/` is a folder.
struct Convention {
    /// Extensions of sources.
    sources: &'static [&'static str],
    /// Names of tests, without extension.
    names: &'static [&'static str],
    /// Extensions of tests.
    tests: &'static [&'static str],
    /// Names of sources that stand for the folder they are in.
    folders: &'static [&'static str],
}

const SCRIPTS: &[&str] = &["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs", "vue", "svelte"];
const C: &[&str] = &["c", "cc", "cpp", "cxx", "m", "mm", "h", "hh", "hpp"];
const JVM: &[&str] = &["java", "kt", "groovy", "scala"];

const CONVENTIONS: &[Convention] = &[
    Convention { sources: &["py"], names: &["test_{}", "{}_test"], tests: &["py"], folders: &["__init__"] },
    Convention {
        sources: SCRIPTS,
        names: &["{}.test", "{}.spec", "__tests__/{}"],
        tests: &["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"],
        folders: &["index"],
    },
    Convention {
        sources: &["rs"],
        names: &["tests/{}", "{}/tests", "{}_test", "{}_tests", "test_{}"],
        tests: &["rs"],
        folders: &["mod"],
    },
    Convention { sources: &["go"], names: &["{}_test"], tests: &["go"], folders: &[] },
    Convention {
        sources: JVM,
        names: &["{}Test", "{}Tests", "Test{}", "{}IT", "{}Spec"],
        tests: JVM,
        folders: &[],
    },
    Convention { sources: &["cs"], names: &["{}Tests", "{}Test"], tests: &["cs"], folders: &[] },
    Convention { sources: &["rb"], names: &["{}_spec", "{}_test", "test_{}"], tests: &["rb"], folders: &[] },
    Convention { sources: &["php"], names: &["{}Test"], tests: &["php"], folders: &[] },
    Convention {
        sources: C,
        names: &["{}_test", "{}_tests", "test_{}", "{}_unittest", "{}Test"],
        tests: &["c", "cc", "cpp", "cxx", "m", "mm"],
        folders: &[],
    },
    Convention { sources: &["swift"], names: &["{}Tests", "{}Test"], tests: &["swift"], folders: &[] },
    Convention { sources: &["ex"], names: &["{}_test"], tests: &["exs"], folders: &[] },
    Convention { sources: &["dart"], names: &["{}_test"], tests: &["dart"], folders: &[] },
    Convention { sources: &["lua"], names: &["{}_spec", "{}_test"], tests: &["lua"], folders: &["init"] },
    Convention {
        sources: &["sh", "bash"],
        names: &["{}", "test_{}", "{}_test"],
        tests: &["bats"],
        folders: &[],
    },
    Convention {
        sources: &["sh", "bash"],
        names: &["test_{}", "{}_test"],
        tests: &["sh", "bash"],
        folders: &[],
    },
    Convention { sources: &["hs"], names: &["{}Spec", "{}Test"], tests: &["hs"], folders: &[] },
];

/// Folders whose names do not identify the tested code.
const EMPTY_WORDS: &[&str] =
    &["src", "lib", "main", "test", "tests", "__tests__", "spec", "specs", "unit", "integration"];

/// Folders that contain only tests and their helpers.
const TEST_FOLDERS: &[&str] = &["test", "tests", "__tests__", "spec", "specs", "testing", "e2e"];

/// The kind of a file, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TestFileKind {
    /// A source; its tests may have these names (the last one or two parts of their paths).
    Source(Vec<String>),
    /// A test of a source that may have these names.
    Test(Vec<String>),
    /// The language has no convention here.
    Unknown,
}

/// Returns the kind of the file at `path` (parts of the path, from the root).
pub(crate) fn kind(path: &[&str]) -> TestFileKind {
    let Some((stem, extension)) = path.last().and_then(|name| name.rsplit_once('.')) else {
        return TestFileKind::Unknown;
    };
    let folder = path.len().checked_sub(2).and_then(|at| path.get(at)).copied();
    let mut sources = Vec::new();
    for convention in CONVENTIONS.iter().filter(|convention| convention.tests.contains(&extension)) {
        for tested in convention.names.iter().filter_map(|name| tested_stem(name, stem, folder)) {
            let names = convention.sources.iter().map(|extension| format!("{tested}.{extension}"));
            sources.extend(names);
            for file in convention.folders {
                sources.extend(
                    convention.sources.iter().map(|extension| format!("{tested}/{file}.{extension}")),
                );
            }
        }
    }
    if !sources.is_empty() {
        return TestFileKind::Test(unique_names(sources));
    }
    let mut tests = Vec::new();
    for convention in CONVENTIONS.iter().filter(|convention| convention.sources.contains(&extension)) {
        let stands_for = convention.folders.contains(&stem).then_some(folder).flatten();
        let names = convention.names.iter().flat_map(|name| {
            let of_file = name.replace("{}", stem);
            let of_folder = stands_for.map(|folder| name.replace("{}", folder));
            [Some(of_file), of_folder].into_iter().flatten()
        });
        let names = names.flat_map(|name| convention.tests.iter().map(move |end| format!("{name}.{end}")));
        tests.extend(names);
    }
    if tests.is_empty() { TestFileKind::Unknown } else { TestFileKind::Source(unique_names(tests)) }
}

/// Returns true if the file at `path` (parts of the path, from the root) is a test or lies among
/// tests.
pub(crate) fn is_test(path: &[&str]) -> bool {
    let folders = path.split_last().map_or(&[][..], |(_, folders)| folders);
    folders.iter().any(|folder| TEST_FOLDERS.contains(folder))
        || is_named_as_test(path)
        || path.last().is_some_and(|name| *name == "conftest.py")
}

/// Returns true if the file at `path` is a test by its own name.
pub(crate) fn is_named_as_test(path: &[&str]) -> bool {
    // `unittest` takes all names that begin with `test`, Django `tests.py`.
    let is_python = |name: &&str| name.starts_with("test") && name.ends_with(".py");
    path.last().is_some_and(is_python) || matches!(kind(path), TestFileKind::Test(_))
}

/// Returns the stem of the source that a test called `stem` in `folder` tests, if it follows the
/// naming pattern `name`.
fn tested_stem<'a>(name: &str, stem: &'a str, folder: Option<&'a str>) -> Option<&'a str> {
    let within = |pattern: &str, given: &'a str| {
        let (before, after) = pattern.split_once("{}")?;
        given.strip_prefix(before)?.strip_suffix(after).filter(|rest| !rest.is_empty())
    };
    match name.split_once('/') {
        None if name == "{}" => None,
        None => within(name, stem),
        Some(("{}", file)) => (stem == file).then_some(folder).flatten(),
        // A folder of tests has other files too, as `mod.rs` and helpers, which are found to test
        // nothing.
        Some((kept, file)) => (folder == Some(kept)).then(|| within(file, stem)).flatten(),
    }
}

fn unique_names(mut names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// Rates the agreement between the folders of a source and a test: the higher, the likelier they
/// belong together.
pub(crate) fn nearness(one: &[&str], other: &[&str]) -> usize {
    let folders = |path: &[&str]| -> Vec<String> {
        let folders = path.split_last().map_or(&[][..], |(_, folders)| folders);
        let meant = folders.iter().filter(|folder| !EMPTY_WORDS.contains(folder));
        meant.map(|folder| (*folder).to_owned()).collect()
    };
    let (one, other) = (folders(one), folders(other));
    let same = |pairs: &mut dyn Iterator<Item = bool>| pairs.take_while(|same| *same).count();
    let front = same(&mut one.iter().zip(&other).map(|(one, other)| one == other));
    let back = same(&mut one.iter().rev().zip(other.iter().rev()).map(|(one, other)| one == other));
    // The nearest folders say more than the topmost ones; the same folder says most.
    front + 2 * back + usize::from(one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kind: TestFileKind) -> Vec<String> {
        match kind {
            TestFileKind::Source(names) | TestFileKind::Test(names) => names,
            TestFileKind::Unknown => Vec::new(),
        }
    }

    fn parts(path: &str) -> Vec<&str> {
        path.split('/').collect()
    }

    #[test]
    fn test_file_conventions_map_source_to_test_and_back() {
        let pairs = [
            ("pkg/shop.py", "tests/test_shop.py"),
            ("pkg/shop.py", "pkg/shop_test.py"),
            ("src/cart.ts", "src/cart.test.ts"),
            ("src/cart.tsx", "src/__tests__/cart.tsx"),
            ("src/cart.js", "test/cart.spec.mjs"),
            ("src/text/diff.rs", "tests/diff.rs"),
            ("src/text/diff.rs", "src/text/diff/tests.rs"),
            ("src/text/mod.rs", "tests/text.rs"),
            ("store/store.go", "store/store_test.go"),
            ("src/main/java/a/Cart.java", "src/test/java/a/CartTest.java"),
            ("Cart.cs", "Tests/CartTests.cs"),
            ("lib/cart.rb", "spec/cart_spec.rb"),
            ("src/Cart.php", "tests/CartTest.php"),
            ("src/cart.c", "tests/test_cart.c"),
            ("src/cart.h", "src/cart_unittest.cc"),
            ("lib/cart.ex", "test/cart_test.exs"),
            ("bin/deploy.sh", "test/deploy.bats"),
            ("pkg/__init__.py", "tests/test_pkg.py"),
        ];
        for (source, test) in pairs {
            let fits = |names: &[String], path: &str| names.iter().any(|name| path.ends_with(name.as_str()));
            let tests = kind(&parts(source));
            assert!(matches!(tests, TestFileKind::Source(_)), "{source}");
            assert!(fits(&names(tests.clone()), test), "{source} → {test}: {tests:?}");
            if test.ends_with(".bats") {
                continue;
            }
            let sources = kind(&parts(test));
            assert!(matches!(sources, TestFileKind::Test(_)), "{test}");
            assert!(fits(&names(sources.clone()), source), "{test} → {source}: {sources:?}");
        }
    }

    #[test]
    fn test_file_kind_of_unconventional_path_is_unknown() {
        for path in ["README.md", "Makefile", "data.json", ""] {
            assert_eq!(kind(&parts(path)), TestFileKind::Unknown, "{path}");
        }
        // `test_.py` and `_test.go` test nothing; they are sources by their names.
        assert!(matches!(kind(&["test_.py"]), TestFileKind::Source(_)));
    }

    #[test]
    fn tests_of_unittest_and_django_are_tests_by_their_names() {
        for path in ["shop/tests.py", "shop/testcart.py", "shop/test_cart.py", "web/cart.test.ts"] {
            assert!(is_named_as_test(&parts(path)) && is_test(&parts(path)), "{path}");
        }
        for path in ["tests/helpers.py", "shop/conftest.py", "e2e/pages.ts"] {
            assert!(!is_named_as_test(&parts(path)) && is_test(&parts(path)), "{path}");
        }
        assert!(!is_test(&parts("shop/latest.py")) && !is_test(&parts("shop/cart.py")));
    }

    #[test]
    fn test_file_nearness_prefers_the_closer_path() {
        let source = parts("src/shop/cart/model.py");
        let near = nearness(&source, &parts("tests/shop/cart/test_model.py"));
        let far = nearness(&source, &parts("tests/blog/test_model.py"));
        assert!(near > far);
        let beside = nearness(&parts("a/b/model.go"), &parts("a/b/model_test.go"));
        assert!(beside > nearness(&parts("a/b/model.go"), &parts("c/b/model_test.go")));
    }
}
