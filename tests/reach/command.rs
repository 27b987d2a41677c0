//! The command `tests`: its text, exit statuses, test runs, and the answer without a server.

use crate::changes::Repository;

const RATES: &str = "def vat(country):\n    return 19\n";
const TESTS: &str = "import unittest\n\nfrom rates import vat\n\n\nclass TestRates(unittest.TestCase):\n    \
                     def test_vat(self):\n        self.assertEqual(vat('de'), 19)\n\n    \
                     def test_nothing(self):\n        self.fail('is not to run')\n";

fn rates() -> Repository {
    let repository =
        Repository::new(&[], &[("pyproject.toml", ""), ("rates.py", RATES), ("test_rates.py", TESTS)]);
    repository.project.write("rates.py", RATES.replace("19", "20 - 1"));
    repository
}

fn run(repository: &Repository, words: &[&str]) -> (String, String, Option<i32>) {
    let mut command = repository.project.command(None);
    let output = command.args(words).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_server_tests_are_followed_by_names_and_status_is_3() {
    let (out, err, status) = run(&rates(), &["tests", "--against", "HEAD"]);
    assert_eq!(status, Some(3), "{out}{err}");
    assert!(out.contains("test_rates.py::TestRates.test_vat ← rates.py:vat"), "{out}");
    assert!(out.contains("run: python3 -m unittest test_rates.py -k test_vat"), "{out}");
    assert!(!out.contains("test_nothing"), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn run_runs_just_these_tests_and_passes_on_their_status() {
    let repository = rates();
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD", "--run"]);
    assert!(status == Some(0) && out.contains("Ran 1 test"), "{out}{err}");
    repository.project.write("rates.py", RATES.replace("19", "20"));
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD", "--run"]);
    assert!(status == Some(1) && out.contains("FAILED"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_is_a_call_of_bash_that_rules_deny() {
    let repository = rates();
    let settings = repository.project.beside("config").join("lsp-tools.toml");
    std::fs::write(settings, "[permissions]\ndeny = [\"bash(python3 *)\"]\n").expect("settings");
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD", "--run"]);
    assert!(status == Some(5) && err.contains("`bash(python3 *)`"), "{out}{err}");
    assert!(!err.contains("Ran 1 test") && !out.contains("Ran 1 test"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn symbol_instead_of_change_and_no_change_at_all() {
    let repository = rates();
    let (out, _, status) = run(&repository, &["tests", "rates.py:vat"]);
    assert!(status == Some(3) && out.contains("TestRates.test_vat"), "{out}");
    repository.commit("second");
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD"]);
    assert_eq!((out.as_str(), status), ("", Some(1)), "{err}");
    assert!(err.contains("no test reaches it"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn change_that_reaches_all_tests_says_so_and_runs_the_suite() {
    let repository = rates();
    let suite = &TESTS[..TESTS.find("    def test_nothing").expect("a test")];
    repository.project.write("test_rates.py", suite);
    let (out, err, _) = run(&repository, &["tests", "rates.py:vat"]);
    assert!(out.starts_with("this is the whole suite\n"), "{out}{err}");
    assert!(out.ends_with("run: python3 -m unittest\n"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn path_that_is_not_there_is_refused() {
    let repository = rates();
    let (_, err, status) = run(&repository, &["tests", "rtaes.py", "--against", "HEAD"]);
    assert!(status == Some(2) && err.contains("rtaes.py"), "{err}");
    let (out, _, status) = run(&repository, &["tests", "rates.py", "--against", "HEAD"]);
    assert!(status == Some(3) && out.contains("TestRates.test_vat"), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_says_which_tests_no_project_runs() {
    let source = "export function vat() { return 19 }\n";
    let test = "import { vat } from './rates.js'\n\nit('adds', () => { vat() })\n";
    let repository = Repository::new(&[], &[("rates.js", source), ("rates.test.js", test)]);
    repository.project.write("rates.js", source.replace("19", "20"));
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD", "--run"]);
    assert!(out.contains("rates.test.js::adds") && err.contains("rates.test.js"), "{out}{err}");
    assert_eq!(status, Some(4), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_tests_count_whole_where_tests_are_not_told_from_functions() {
    let source = "int vat(void) { return 19; }\n";
    let test = "#include \"../rates.c\"\n\nint main(void) { return vat() == 19; }\n";
    let repository = Repository::new(&[], &[("rates.c", source), ("tests/test_rates.c", test)]);
    repository.project.write("rates.c", source.replace("19", "20"));
    let (out, err, status) = run(&repository, &["tests", "--against", "HEAD"]);
    assert!(out.contains("  tests/test_rates.c ← "), "{out}{err}");
    assert!(status == Some(3) && err.contains("tests in c are recognised only"), "{err}");
}
