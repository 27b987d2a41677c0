//! The test commands of each kind of project, according to its files.

use super::{ProjectFolder, ProjectPython, ProjectReader, SelectedTest, TestRunPlan, TestSelection, plans};
use crate::analysis::reach::test_reach::output::{ReachKind, ReachedTest};

struct Files {
    files: Vec<(&'static str, &'static str)>,
    names: Vec<String>,
}

impl Files {
    fn new(files: &[(&'static str, &'static str)]) -> Self {
        let mut names: Vec<String> =
            files.iter().filter_map(|(path, _)| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        Self { files: files.to_vec(), names }
    }
}

impl ProjectFolder for Files {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|(known, _)| *known == path || known.starts_with(&format!("{path}/")))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned())
    }

    fn python(&self) -> Option<ProjectPython> {
        let program = ".venv/bin/python".to_owned();
        self.has(&program).then(|| ProjectPython { program, has_pip: self.has(".venv/bin/pip") })
    }
}

fn of(files: &[(&'static str, &'static str)], tests: &[&str], names: &[&str]) -> Vec<TestRunPlan> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    plans(&Files::new(files), &TestSelection { files: owned(tests), names: owned(names), tests: Vec::new() })
}

fn command(files: &[(&'static str, &'static str)], tests: &[&str], names: &[&str]) -> String {
    of(files, tests, names).into_iter().next().map(|plan| plan.command).unwrap_or_default()
}

#[test]
fn cargo_test_command_names_targets_modules_and_tests() {
    let files = &[("Cargo.toml", "[package]")];
    assert_eq!(command(files, &[], &[]), "cargo test");
    assert_eq!(
        command(files, &["tests/cart.rs", "tests/shop/main.rs"], &[]),
        "cargo test --test cart --test shop"
    );
    assert_eq!(command(files, &["tests/cart.rs"], &["adds"]), "cargo test --test cart -- adds");
    assert_eq!(command(files, &["src/cart/price.rs"], &[]), "cargo test -- cart::price::");
    let both = &of(files, &["src/cart.rs", "tests/a.rs"], &["adds"])[0];
    assert_eq!(both.command, "cargo test -- adds");
    assert_eq!(both.notes.len(), 1, "{both:?}");
}

#[test]
fn go_test_command_names_packages_and_run_filter() {
    let files = &[("go.mod", "module a")];
    assert_eq!(command(files, &[], &[]), "go test ./...");
    assert_eq!(
        command(files, &["store/a_test.go", "store/b_test.go", "c_test.go"], &["TestA", "TestB"]),
        "go test . ./store -run 'TestA|TestB'"
    );
}

#[test]
fn node_test_command_uses_script_and_package_manager() {
    let script = r#"{"scripts": {"test": "vitest run"}}"#;
    assert_eq!(command(&[("package.json", script)], &[], &[]), "npm run test --");
    let named = command(&[("package.json", script), ("pnpm-lock.yaml", "")], &["a.test.ts"], &["it's (1)"]);
    let words = ["pnpm", "run", "test", "a.test.ts", "-t", r"it's \(1\)"].map(str::to_owned);
    assert_eq!(shlex::split(&named).as_deref(), Some(words.as_slice()), "{named}");
    let no_script = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}, "devDependencies": {"jest": "30"}}"#;
    assert_eq!(
        command(&[("package.json", no_script)], &["a.test.js"], &[]),
        "npx --no-install jest a.test.js"
    );
    assert!(of(&[("package.json", r#"{"name": "x"}"#)], &[], &[]).is_empty());
    assert!(of(&[("package.json", "{broken")], &[], &[]).is_empty());
    let unknown = &of(&[("package.json", r#"{"scripts": {"test": "./run.sh"}}"#)], &[], &["a"])[0];
    assert_eq!((unknown.command.as_str(), unknown.notes.len()), ("npm run test --", 1));
}

#[test]
fn python_test_command_uses_pytest_when_configured_else_unittest() {
    assert_eq!(
        command(&[("pyproject.toml", "[tool.pytest.ini_options]")], &["tests/test_a.py"], &["a", "b"]),
        "python3 -m pytest tests/test_a.py -k 'a or b'"
    );
    assert_eq!(
        command(&[("pytest.ini", ""), (".venv/bin/python", "")], &[], &[]),
        ".venv/bin/python -m pytest"
    );
    let set_up = |files| of(files, &[], &[]).into_iter().next().and_then(|plan| plan.set_up);
    assert_eq!(
        set_up(&[("pytest.ini", ""), (".venv/bin/python", ""), (".venv/bin/pip", "")]).as_deref(),
        Some(".venv/bin/python -m pip install pytest")
    );
    assert_eq!(
        set_up(&[("requirements.txt", "pytest\n")]).as_deref(),
        Some("python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt")
    );
    assert_eq!(
        set_up(&[("pytest.ini", ""), (".venv/bin/python", "")]).as_deref(),
        Some("uv pip install --python .venv/bin/python pytest")
    );
    assert_eq!(
        command(&[("setup.py", ""), ("tests/test_a.py", "")], &[], &[]),
        "python3 -m unittest discover -s tests"
    );
    assert_eq!(command(&[("test_a.py", "")], &[], &["adds"]), "python3 -m unittest -k adds");
    let functions = [("setup.py", ""), ("tests/test_a.py", "async def test_f():\n    pass\n")];
    assert_eq!(command(&functions, &["tests/test_a.py"], &[]), "python3 -m pytest tests/test_a.py");
    assert_eq!(command(&[("setup.py", ""), ("tox.ini", "deps = pytest")], &[], &[]), "python3 -m pytest");
    assert!(of(&[("a.py", "")], &[], &[]).is_empty());
}

#[test]
fn test_command_of_other_languages_uses_their_runner() {
    type Case = (
        &'static [(&'static str, &'static str)],
        &'static [&'static str],
        &'static [&'static str],
        &'static str,
    );
    let cases: &[Case] = &[
        (
            &[("pom.xml", "")],
            &["src/test/java/a/CartTest.java"],
            &["adds"],
            "mvn -B test '-Dtest=CartTest#adds'",
        ),
        (
            &[("build.gradle", ""), ("gradlew", "")],
            &["CartTest.kt"],
            &[],
            "./gradlew test --tests '*CartTest'",
        ),
        (&[("App.sln", "")], &[], &["Adds"], "dotnet test --filter 'FullyQualifiedName~Adds'"),
        (&[("Package.swift", "")], &[], &["a", "b"], "swift test --filter 'a|b'"),
        (&[("mix.exs", "")], &["test/a_test.exs"], &[], "mix test test/a_test.exs"),
        (
            &[("Gemfile", ""), (".rspec", "")],
            &["spec/a_spec.rb"],
            &["adds"],
            "bundle exec rspec spec/a_spec.rb -e adds",
        ),
        (&[("Rakefile", "Rake::TestTask.new")], &["test/a_test.rb"], &[], "rake test TEST=test/a_test.rb"),
        (&[("phpunit.xml", "")], &[], &["adds"], "vendor/bin/phpunit --filter adds"),
        (&[("pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n")], &[], &[], "flutter test"),
        (&[("deno.json", "{}")], &["a_test.ts"], &["x"], "deno test --filter=/x/ a_test.ts"),
        (
            &[("CMakeLists.txt", ""), ("build/CTestTestfile.cmake", "")],
            &[],
            &[],
            "ctest --test-dir build --output-on-failure",
        ),
        (&[("justfile", "default:\n\ntest *args: build\n    x\n")], &[], &[], "just test"),
        (&[("Makefile", "TESTS := a\ncheck: all\n\t./run\n")], &[], &[], "make check"),
    ];
    for (files, tests, names, expected) in cases {
        assert_eq!(command(files, tests, names), *expected, "{files:?}");
    }
    assert!(of(&[("Makefile", "test := x\nall:\n")], &[], &[]).is_empty());
}

#[test]
fn language_test_command_comes_before_make_test() {
    let both = of(&[("Cargo.toml", ""), ("Makefile", "test:\n")], &[], &[]);
    let commands: Vec<&str> = both.iter().map(|plan| plan.command.as_str()).collect();
    assert_eq!(commands, ["cargo test", "make test"]);
}

#[test]
fn cargo_names_tests_exactly_only_where_target_and_path_are_certain() {
    let both = &[("Cargo.toml", ""), ("src/lib.rs", ""), ("src/main.rs", ""), ("tests/all.rs", "")];
    let cases = [
        (("src/bin/tool.rs", "tests.adds"), "cargo test --bin tool -- --exact tests::adds"),
        (("src/bin/kit/main.rs", "adds"), "cargo test --bin kit -- --exact adds"),
        (("src/cart.rs", "tests.adds"), "cargo test --bins --lib -- --exact cart::tests::adds"),
        (("src/main.rs", "adds"), "cargo test --bins -- --exact adds"),
        (("src/lib.rs", "~tests.adds"), "cargo test --lib -- tests::adds"),
        (("tests/parts/cart.rs", "deep.adds"), "cargo test -- adds"),
        (("examples/shop.rs", "adds"), "cargo test -- adds"),
    ];
    for (test, expected) in cases {
        assert_eq!(exactly(both, &[test]), expected);
    }
    let whole = [("src/cart.rs", ""), ("src/lib.rs", "tests.adds")];
    assert_eq!(exactly(both, &whole), "cargo test --bins --lib -- cart:: tests::adds");
    assert_eq!(exactly(both, &[("tests/all.rs", ""), ("src/lib.rs", "adds")]), "cargo test --lib --test all");
    let own = &[("Cargo.toml", "[[test]]\nname = \"a\"\npath = \"src/a.rs\"\n"), ("src/lib.rs", "")];
    assert_eq!(exactly(own, &[("src/cart.rs", "tests.adds")]), "cargo test -- adds");
    assert_eq!(command(both, &["src/bin/tool.rs"], &[]), "cargo test", "no filter that matches nothing");
}

#[test]
fn tests_without_a_certain_name_run_with_their_whole_file() {
    let jest = &[("package.json", r#"{"devDependencies": {"jest": "30"}}"#)];
    let tests = [("a.test.js", "~Cart.name adds"), ("b.test.js", "adds")];
    assert_eq!(exactly(jest, &tests), "npx --no-install jest a.test.js b.test.js");
    let pytest = &[("pytest.ini", "")];
    let tests = [("test_a.py", "~long"), ("test_b.py", "test_b")];
    assert_eq!(exactly(pytest, &tests), "python3 -m pytest test_a.py test_b.py::test_b");
    let unittest = &[("setup.py", "")];
    assert_eq!(
        exactly(unittest, &[("test_a.py", ""), ("test_b.py", "T.b")]),
        "python3 -m unittest test_a.py test_b.py"
    );
    let go = &[("go.mod", "")];
    assert_eq!(exactly(go, &[("a/x_test.go", ""), ("b/y_test.go", "TestB")]), "go test ./a ./b");
    assert_eq!(
        exactly(jest, &[("a.test.js", "row %# of $n")]),
        "npx --no-install jest a.test.js -t '(row .* of .*)$'"
    );
}

#[test]
fn every_reached_test_runs_by_its_own_language_and_project_or_is_named_as_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("Cargo.toml", ""),
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("src/lib.rs", ""),
        ("tests/test_x.py", ""),
        ("web/package.json", r#"{"devDependencies": {"vitest": "3"}}"#),
        ("web/src/a.test.ts", ""),
        ("zeta/Cargo.toml", ""),
        ("zeta/src/lib.rs", ""),
        ("spec/a_spec.rb", ""),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
    let read = |path: &crate::workspace::WorkspacePath| Some(workspace.read_text(path).ok()?.text);
    let test = |path: &str, name: &str| ReachedTest {
        path: path.to_owned(),
        name: Some(name.to_owned()),
        at: None,
        is_exact: true,
        how: ReachKind::Calls,
        way: Vec::new(),
    };
    let tests = [
        test("src/lib.rs", "tests.adds"),
        test("tests/test_x.py", "test_total"),
        test("web/src/a.test.ts", "sells"),
        test("zeta/src/lib.rs", "adds"),
        test("spec/a_spec.rb", "adds"),
    ];
    let projects = ProjectReader { workspace: &workspace, read: &read, python: &|_| None };
    let planned = super::reached::plan_runs(&projects, &tests, false);
    let commands: Vec<&str> = planned.runs.iter().map(|run| run.command.as_str()).collect();
    let expected = [
        "cargo test --lib -- --exact tests::adds",
        "python3 -m pytest tests/test_x.py::test_total",
        "cd ./web && npx --no-install vitest run src/a.test.ts -t '(sells)$'",
        "cd ./zeta && cargo test --lib -- --exact adds",
    ];
    assert_eq!(commands, expected);
    assert_eq!(planned.without, ["spec/a_spec.rb"]);
    let whole = super::reached::plan_runs(&projects, &tests, true);
    let commands: Vec<&str> = whole.runs.iter().map(|run| run.command.as_str()).collect();
    let expected = [
        "cargo test",
        "python3 -m pytest",
        "cd ./web && npx --no-install vitest run",
        "cd ./zeta && cargo test",
    ];
    assert_eq!(commands, expected);
}

fn exactly(files: &[(&'static str, &'static str)], tests: &[(&str, &str)]) -> String {
    let mut wanted = TestSelection::default();
    for (file, name) in tests {
        if !wanted.files.contains(&(*file).to_owned()) {
            wanted.files.push((*file).to_owned());
        }
        if !name.is_empty() {
            // `~` marks a name that the runner may know under another form.
            let (name, is_exact) = name.strip_prefix('~').map_or((*name, true), |name| (name, false));
            wanted.tests.push(SelectedTest { file: (*file).to_owned(), name: name.to_owned(), is_exact });
        }
    }
    plans(&Files::new(files), &wanted).into_iter().next().map(|plan| plan.command).unwrap_or_default()
}

#[test]
fn titles_of_a_hostile_repository_are_one_quoted_word() {
    let jest = &[("package.json", r#"{"devDependencies": {"jest": "30"}}"#)];
    let command = exactly(jest, &[("a.test.js", "it's $(touch x) `y`; rm z")]);
    let words = shlex::split(&command).unwrap();
    assert_eq!(words.len(), 6, "{command}");
    assert!(words[5].starts_with("(it's ") && words[5].ends_with(")$"), "{command}");
}

#[test]
fn exact_tests_are_named_as_each_runner_takes_them() {
    assert_eq!(
        exactly(
            &[("pyproject.toml", "[tool.pytest.ini_options]")],
            &[("tests/test_a.py", "TestCart.test_add"), ("tests/test_b.py", "")]
        ),
        "python3 -m pytest tests/test_b.py tests/test_a.py::TestCart::test_add"
    );
    let rust = &[("Cargo.toml", ""), ("src/lib.rs", ""), ("tests/all/main.rs", "")];
    assert_eq!(
        exactly(
            rust,
            &[("src/cart/price.rs", "tests.adds"), ("tests/shop.rs", "sells"), ("tests/all/cart.rs", "adds")]
        ),
        "cargo test --lib --test all --test shop -- --exact cart::adds cart::price::tests::adds sells"
    );
    assert_eq!(exactly(rust, &[("src/lib.rs", "tests.adds")]), "cargo test --lib -- --exact tests::adds");
    assert_eq!(
        exactly(&[("go.mod", "")], &[("a/x_test.go", "TestB"), ("a/y_test.go", "TestA")]),
        "go test ./a -run '^(TestA|TestB)$'"
    );
    let jest = &[("package.json", r#"{"devDependencies": {"jest": "30"}}"#)];
    let titled = exactly(jest, &[("a.test.js", "cart adds (1)"), ("a.test.js", "cart %s of ${n}")]);
    let words = ["npx", "--no-install", "jest", "a.test.js", "-t", r"(cart adds \(1\)|cart .* of .*)$"]
        .map(str::to_owned);
    assert_eq!(shlex::split(&titled).as_deref(), Some(words.as_slice()), "{titled}");
    let vitest = &[("package.json", r#"{"devDependencies": {"vitest": "3"}}"#)];
    assert_eq!(exactly(vitest, &[("a.test.ts", "")]), "npx --no-install vitest run a.test.ts");
    assert_eq!(
        exactly(&[(".rspec", "")], &[("spec/a_spec.rb", "Cart.adds")]),
        "rspec spec/a_spec.rb -e adds"
    );
}
