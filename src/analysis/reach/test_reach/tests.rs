//! The starts of the walk after changes of small projects, and the users of code without a name.

use std::path::Path;
use std::time::{Duration, Instant};

use super::changed::ChangedCode;
use super::links::Reached;
use super::runner_rules;
use super::shown;
use super::starts::starts;
use crate::analysis::breakage::edited_text::EditedText;
use crate::config::Catalogue;
use crate::syntax;
use crate::syntax::CodeIndex;
use crate::workspace::{Workspace, WorkspacePath};

type Files<'a> = &'a [(&'a str, &'a str)];

/// A project on disk with its index.
struct Indexed {
    index: CodeIndex,
    workspace: Workspace,
    _folder: tempfile::TempDir,
}

fn indexed(language: &str, files: Files<'_>) -> Indexed {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let index = syntax::index_code(&workspace, Catalogue::built_in(), language, until).unwrap();
    Indexed { index, workspace, _folder: folder }
}

/// The starts of the walk when the file of `change` (path, before, after) changes in a project that
/// also has `files`.
fn begun(language: &str, files: Files<'_>, change: (&str, Option<&str>, Option<&str>)) -> Vec<String> {
    let (path, before, after) = change;
    let mut all = files.to_vec();
    all.extend(after.map(|after| (path, after)));
    let project = indexed(language, &all);
    let text = |text: Option<&str>| text.map(str::to_owned);
    let edit = EditedText {
        path: project.workspace.path(Path::new(path)).unwrap(),
        renamed_from: None,
        before: text(before),
        after: text(after),
    };
    begun_by(language, &project, &edit)
}

fn begun_by(language: &str, project: &Indexed, edit: &EditedText) -> Vec<String> {
    let mut changed = ChangedCode::default();
    changed.add_edit(Some(language.to_owned()), edit);
    let found = starts(&project.index, &changed);
    let users = found.named.iter().flat_map(|(_, users)| users.iter().map(|user| user.reached));
    let mut all: Vec<String> =
        found.changed.iter().copied().chain(users).map(|reached| shown(&project.index, reached)).collect();
    all.sort();
    all.dedup();
    all
}

const CART: &str = "class Cart:\n    def total(self):\n        return 1\n";

#[test]
fn what_is_gone_and_called_without_its_name_begins_at_what_is_left_around_it() {
    let equal = format!("{CART}    def __eq__(self, other):\n        return True\n");
    assert_eq!(begun("python", &[], ("cart.py", Some(&equal), Some(CART))), ["cart.py:Cart"]);
    let without = "class TestCart(TestCase):\n    def test_add(self): pass\n";
    let with = format!("{without}    def setUp(self):\n        self.x = 1\n");
    let begins = begun("python", &[], ("tests/test_a.py", Some(&with), Some(without)));
    assert_eq!(begins, ["tests/test_a.py:TestCart"]);
    let go = "package a\n\ntype Cart struct{}\n";
    let with = format!("{go}\nfunc (c Cart) String() string {{ return \"\" }}\n");
    assert_eq!(
        begun("go", &[("go.mod", "module a\n")], ("cart.go", Some(&with), Some(go))),
        ["cart.go:Cart"]
    );
    let registered = "@app.route('/')\ndef home(): pass\n";
    assert_eq!(
        begun("python", &[], ("web.py", Some(registered), Some("app = 1\n"))),
        ["web.py", "web.py:app"]
    );
}

#[test]
fn plain_functions_and_tests_that_are_gone_begin_at_nothing_more_than_their_names() {
    let test = "from cart import total\ndef test_total():\n    assert total()\ndef test_other(): pass\n";
    let begins = begun(
        "python",
        &[("test_cart.py", test)],
        ("cart.py", Some("def total(): pass\nX = 1\n"), Some("X = 1\n")),
    );
    assert_eq!(begins, ["test_cart.py:test_total"]);
    let renamed = [("test_cart.py", "from cart import total as t\ndef test_total():\n    assert t()\n")];
    let begins = begun("python", &renamed, ("cart.py", Some("def total(): pass\nX = 1\n"), Some("X = 1\n")));
    assert_eq!(begins, ["test_cart.py:test_total"]);
    let with = format!("{test}def test_gone(): pass\n");
    assert!(begun("python", &[], ("test_cart.py", Some(&with), Some(test))).is_empty());
    let with = format!("{test}def helper(): pass\n");
    assert!(begun("python", &[], ("test_cart.py", Some(&with), Some(test))).is_empty());
}

#[test]
fn fixtures_that_are_gone_begin_at_the_tests_that_had_them() {
    let tests = ("tests/test_a.py", "def test_a(db): pass\ndef test_b(): pass\n");
    let fixture = |words: &str| format!("import pytest\n\n@pytest.fixture{words}\ndef db(): pass\n");
    let conftest = |words: &str| {
        begun("python", &[tests], ("tests/conftest.py", Some(&fixture(words)), Some("import pytest\n")))
    };
    let taken = conftest("");
    assert!(taken.contains(&"tests/test_a.py:test_a".to_owned()), "{taken:?}");
    let autouse = conftest("(autouse=True)");
    assert!(autouse.contains(&"tests/test_a.py:test_b".to_owned()), "{autouse:?}");
    let file = begun("python", &[tests], ("tests/conftest.py", Some("x = 1\n"), None));
    assert_eq!(file, ["tests/test_a.py:test_a", "tests/test_a.py:test_b"]);
}

#[test]
fn renamed_file_begins_at_those_that_import_it_by_its_old_name() {
    let text = "def total(): pass\n";
    let project = indexed("python", &[("prices.py", text), ("app.py", "import pricing\npricing.total()\n")]);
    let path = |path: &str| project.workspace.path(Path::new(path)).unwrap();
    let both = Some(text.to_owned());
    let edit = EditedText {
        path: path("prices.py"),
        renamed_from: Some(path("pricing.py")),
        before: both.clone(),
        after: both,
    };
    assert_eq!(begun_by("python", &project, &edit), ["app.py", "prices.py"]);
}

#[test]
fn import_from_another_place_begins_where_it_is_taken_from_the_file() {
    let parts = [
        ("pkg/a.py", "def total(): pass\n"),
        ("pkg/b.py", "def total(): pass\n"),
        (
            "test_pkg.py",
            "from pkg import total as t\nimport pkg\ndef test_t():\n    t()\ndef test_pkg():\n    pkg.total()\ndef test_no(): pass\n",
        ),
    ];
    let begins = begun(
        "python",
        &parts,
        ("pkg/__init__.py", Some("from .a import total\n"), Some("from .b import total\n")),
    );
    assert_eq!(begins, ["pkg/__init__.py", "test_pkg.py:test_pkg", "test_pkg.py:test_t"]);
    let other = [(
        "test_a.py",
        "from a import run\nfrom typing import Any\ndef test_a(x: Any): run()\ndef test_b(x: Any): pass\n",
    )];
    let after = "from typing import Any\ndef run(x: Any): pass\n";
    assert_eq!(begun("python", &other, ("a.py", Some("def run(x): pass\n"), Some(after))), ["a.py:run"]);
    let parts = [
        ("src/a.ts", "export const total = () => 1\n"),
        ("src/b.ts", "export const total = () => 2\n"),
        ("src/a.test.ts", "import { total } from './index'\nit('adds', () => { total() })\n"),
    ];
    let begins = begun(
        "typescript",
        &parts,
        ("src/index.ts", Some("export { total } from './a'\n"), Some("export { total } from './b'\n")),
    );
    assert_eq!(begins, ["src/a.test.ts:adds", "src/index.ts"]);
}

#[test]
fn import_for_what_its_loading_does_begins_at_the_file() {
    let begins = |before: &str, after: &str| begun("python", &[], ("main.py", Some(before), Some(after)));
    let used = "import app.core\ndef run():\n    app.core.go()\n";
    assert_eq!(begins(&format!("import app.signals\n{used}"), used), ["main.py", "main.py:run"]);
    assert_eq!(begins("import app.x\n", "import app.y\n"), ["main.py"]);
    let other = "import os\nimport json\ndef run():\n    os.getcwd()\n";
    assert_eq!(begins(other, &other.replace("import json\n", "")), ["main.py"]);
    assert!(begins(other, &other.replace("import json\n", "import json  # why\n")).is_empty());
}

#[test]
fn fixtures_of_plugins_are_seen_where_they_are_loaded() {
    let fixture = "import pytest\n@pytest.fixture\ndef db(): pass\n";
    let files = [
        ("tests/fixtures/db.py", fixture),
        ("tests/conftest.py", "pytest_plugins = [\"tests.fixtures.db\"]\n"),
        ("tests/a/test_own.py", &format!("{fixture}def test_own(db): pass\n")),
        ("tests/a/conftest.py", "from tests.a.test_own import *\n"),
        ("tests/a/test_a.py", "def test_a(db): pass\n"),
        ("tests/test_b.py", "def test_b(db): pass\n"),
    ];
    let project = indexed("python", &files);
    let users = |path: &str| {
        let file = project.index.file(&project.workspace.path(Path::new(path)).unwrap()).unwrap();
        let unit = project.index.files[file].units.iter().position(|unit| unit.name == "db").unwrap();
        let users = runner_rules::users_by_runner(&project.index, (file, unit)).unwrap();
        let mut users: Vec<String> = users.iter().map(|user| shown(&project.index, user.reached)).collect();
        users.sort();
        users.dedup();
        users
    };
    let all = ["tests/a/test_a.py:test_a", "tests/a/test_own.py:test_own", "tests/test_b.py:test_b"];
    assert_eq!(users("tests/fixtures/db.py"), all);
    assert_eq!(users("tests/a/test_own.py"), all[..2]);
}

#[test]
fn prose_is_followed_by_nobody_only_among_tests() {
    let workspace = Workspace::open(&std::env::temp_dir()).unwrap();
    let path = |path: &str| -> WorkspacePath { workspace.path(Path::new(path)).unwrap() };
    let mut changed = ChangedCode::default();
    for name in ["README.md", "requirements.txt", "tests/data/expected.md"] {
        let after = Some("x\n".to_owned());
        changed.add_edit(None, &EditedText { path: path(name), renamed_from: None, before: None, after });
    }
    let found: Vec<String> = changed.unfollowed.iter().map(WorkspacePath::display).collect();
    assert_eq!(found, ["requirements.txt", "tests/data/expected.md"]);
}

#[test]
fn whole_file_is_reached_where_none_of_its_tests_is_recognised() {
    let project = indexed("c", &[("tests/test_cart.c", "void check_total(void) { total(); }\n")]);
    assert!(project.index.is_opaque_test(0));
    assert_eq!(shown(&project.index, Reached::File(0)), "tests/test_cart.c");
}

#[test]
fn script_among_tests_counts_whole_where_no_file_uses_it() {
    let lib = "module.exports = value => value\n";
    let test =
        "const t = require('tap')\nconst run = require('../../run')\nt.test('runs', t => { t.ok(run(1)) })\n";
    let files = [
        ("run.js", lib),
        ("test/functions/run.js", test),
        ("test/helper.js", lib),
        ("test/functions/other.js", "require('../helper')(1)\nrequire('child_process').fork('../program')\n"),
        ("test/program.js", "console.log(1)\n"),
    ];
    let project = indexed("javascript", &files);
    let at = |path: &str| project.index.file(&project.workspace.path(Path::new(path)).unwrap()).unwrap();
    assert!(project.index.is_opaque_test(at("test/functions/run.js")));
    assert!(project.index.is_opaque_test(at("test/functions/other.js")));
    assert!(!project.index.is_opaque_test(at("test/helper.js")), "another file requires it");
    assert!(!project.index.is_opaque_test(at("run.js")));
}

#[test]
fn whole_export_of_a_module_is_known_by_the_names_that_requires_give_it() {
    let files = [
        ("run.js", "module.exports = value => value\n"),
        ("a.js", "const start = require('./run')\nconst { other } = require('./b')\n"),
        ("b.js", "exports.other = 1\n"),
    ];
    let project = indexed("javascript", &files);
    let at = |path: &str| project.index.file(&project.workspace.path(Path::new(path)).unwrap()).unwrap();
    let names = |of: &str| project.index.whole_locals(at("a.js"), at(of)).collect::<Vec<_>>();
    assert_eq!(names("run.js"), ["start"]);
    assert!(names("b.js").is_empty());
}

#[test]
fn program_that_is_gone_begins_at_tests_that_start_it_by_its_path() {
    let test =
        "import os, subprocess\n\ndef test_tool():\n    subprocess.run(os.path.join(\"bin\", \"tool\"))\n";
    let tool = "#!/usr/bin/env python3\nprint(1)\n";
    let found = begun("python", &[("tests/test_tool.py", test)], ("bin/tool", Some(tool), None));
    assert_eq!(found, ["tests/test_tool.py:test_tool"]);
}

#[test]
fn files_are_known_by_their_paths_in_quotes() {
    let files = [
        ("bin/tool.js", "console.log(1)\n"),
        ("test/a.js", "const tool = require.resolve('../bin/tool')\nconst text = 'e.g. a/b'\n"),
        ("test/b.js", "const path = require('path').join(root, 'bin/tool.js')\n"),
        ("test/c.js", "import { run } from '../bin/tool.js'\n"),
        ("test/e.js", "import '../bin/tool.js'\n"),
        ("index.js", "console.log(2)\n"),
        ("test/d.js", "run(require('../'))\n"),
    ];
    let project = indexed("javascript", &files);
    let quoting = |path: &str| {
        let file = project.index.file(&project.workspace.path(Path::new(path)).unwrap()).unwrap();
        let places = project.index.quoting(file).iter();
        let mut found: Vec<String> =
            places.map(|(file, _)| project.index.files[*file].path.display()).collect();
        found.sort();
        found
    };
    assert_eq!(
        quoting("bin/tool.js"),
        ["test/a.js", "test/b.js", "test/e.js"],
        "an import that brings in a name is followed as one"
    );
    assert_eq!(quoting("index.js"), ["test/d.js"]);
}
