//! The difference between a commit and a later tree: new findings, changed interfaces, unjudged
//! files.

use super::{Repository, findings, git, interfaces, state_of};
use crate::support::Project;
use serde_json::{Value, json};

const RATES: &str =
    "def rate(country: str) -> float:\n    return 0.2\n\n\ndef unused(x: int) -> int:\n    return x\n";
const SHOP: &str = "from rates import rate\n\nOLD: int = \"an error that was there\"\n\n\ndef total(net: float) -> float:\n    return net * rate(\"de\")\n";

fn python() -> Repository {
    Repository::new(&["pyright"], &[("rates.py", RATES), ("shop.py", SHOP), ("README.md", "# Shop\n")])
}

fn verdict(answer: &Value) -> &str {
    answer["verdict"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn changed_parameter_breaks_its_caller_and_nothing_else_is_new() {
    let repository = python();
    repository.project.write("rates.py", RATES.replace("country: str", "country: str, year: int"));
    repository.project.write("README.md", "# The shop\n");
    let before = state_of(&repository.project.root());
    let answer = repository.against("HEAD").await;
    assert_eq!(
        state_of(&repository.project.root()),
        before,
        "work tree, index and references are as they were"
    );
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("shop.py:6 ") && found[0].contains("year"), "{answer}");
    assert_eq!(verdict(&answer), "complete", "{answer}");
    // The import and the call. Prose without a server does not lower the verdict.
    assert_eq!(interfaces(&answer), ["changed rate: 2"], "{answer}");
    assert_eq!(answer["changed_files"], 2);
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn user_that_settings_leave_out_is_not_judged_and_a_note_says_so() {
    let settings = "[tool.pyright]\nexclude = [\"old\"]\n";
    let files = [("pyproject.toml", settings), ("rates.py", RATES), ("shop.py", SHOP), ("old/shop.py", SHOP)];
    let repository = Repository::new(&["pyright"], &files);
    repository.project.write("rates.py", RATES.replace("country: str", "country: str, year: int"));
    let answer = repository.against("HEAD").await;
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("shop.py:6 "), "{answer}");
    assert_eq!(verdict(&answer), "complete", "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("the settings of pyright in the project leave out old/shop.py"), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn sound_change_brings_nothing_and_says_so() {
    let repository = python();
    repository.project.write("rates.py", RATES.replace("return 0.2", "return 0.19"));
    let answer = repository.against("main").await;
    assert_eq!((findings(&answer).len(), verdict(&answer)), (0, "complete"), "{answer}");
    repository.git(&["checkout", "-q", "."]);
    let nothing = repository.against("HEAD").await;
    assert_eq!((&nothing["changed_files"], verdict(&nothing)), (&json!(0), "complete"), "{nothing}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn file_that_went_is_missed_where_it_was_imported() {
    let repository = python();
    std::fs::remove_file(repository.project.path("rates.py")).expect("removed");
    let answer = repository.against("HEAD").await;
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("shop.py:0 ") && found[0].contains("rates"), "{answer}");
    assert!(interfaces(&answer).iter().any(|one| one.starts_with("removed rate")), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn moved_file_whose_imports_followed_brings_nothing() {
    let repository = python();
    repository.git(&["mv", "rates.py", "taxes.py"]);
    repository.project.write("shop.py", SHOP.replace("from rates", "from taxes"));
    let answer = repository.against("HEAD").await;
    assert_eq!((findings(&answer).len(), verdict(&answer)), (0, "complete"), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn new_file_that_declares_a_global_anew_is_seen_where_it_was_declared() {
    let files = [
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        ("src/old.ts", "const shared = 1;\n"),
        ("src/apart.ts", "export const apart = 1;\n"),
    ];
    let repository = Repository::new(&["typescript-language-server"], &files);
    repository.project.write("src/new.ts", "const shared = 2;\n");
    let answer = repository.changes(json!({"against": "HEAD", "min_severity": "error"})).await;
    let found: Vec<String> =
        findings(&answer).iter().map(|found| found.split(' ').next().unwrap().into()).collect();
    assert_eq!(found, ["src/new.ts:0", "src/old.ts:0"], "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn what_is_staged_is_judged_apart_from_the_work_tree() {
    let repository = python();
    repository.project.write("rates.py", RATES.replace("def rate", "def rates"));
    repository.git(&["add", "rates.py"]);
    repository.project.write("rates.py", RATES);
    let staged = repository.changes(json!({"index": true})).await;
    let found = findings(&staged);
    assert!(found.len() == 1 && found[0].starts_with("shop.py:0 "), "{staged}");
    assert_eq!(interfaces(&staged), ["renamed rate → rates: 2"], "{staged}");
    let on_disk = repository.against("HEAD").await;
    assert_eq!(findings(&on_disk).len(), 0, "{on_disk}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn two_commits_and_the_common_ancestor_can_be_named() {
    let repository = python();
    let first = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repository.branch("topic", "main", |project| project.write("rates.py", RATES.replace("country", "land")));
    repository.project.write("shop.py", SHOP.replace("total", "sum_of"));
    repository.commit("meanwhile on main");
    let two = repository.against(&format!("{first}..topic")).await;
    assert_eq!(
        (interfaces(&two), &two["changed_files"]),
        (vec!["changed rate: 2".to_owned()], &json!(1)),
        "{two}"
    );
    let since = repository.against("main...topic").await;
    assert_eq!(since["changed_files"], 1, "{since}");
    let plain = repository.against("main..topic").await;
    assert_eq!(plain["changed_files"], 2, "later changes of main count as reverted: {plain}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_are_not_there_are_named_with_what_to_do() {
    let repository = python();
    for (name, code, words) in [
        ("nowhere", "not_found", "there is no commit `nowhere`"),
        ("--output=x", "invalid_args", "begins with a dash"),
        ("HEAD@{1}", "invalid_args", "reflogs"),
        ("HEAD:shop.py", "invalid_args", "names a file"),
    ] {
        let answer = repository.against(name).await;
        assert_eq!(answer["code"], code, "{answer}");
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(words)), "{answer}");
    }
    repository.commit("second");
    let clone = Project::new([("x", "")]);
    let origin = format!("file://{}", repository.project.root().display());
    let to = clone.path("clone");
    git(&clone.root(), &["clone", "-q", "--depth", "1", &origin, &to.display().to_string()]);
    let shallow = clone.opening().workspace(to).finding_supervisor().at_shell().open();
    let answer = shallow.answer("lsp_changes", json!({"against": "HEAD~1"})).await;
    let hint = answer["hint"].as_str().unwrap_or_default();
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("shallow")), "{answer}");
    assert!(hint.contains("--unshallow"), "{answer}");
    shallow.shutdown().await;
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_judged_are_named() {
    let repository = python();
    let library = Project::new([("lib.py", "x = 1\n")]);
    git(&library.root(), &["init", "-q", "-b", "main"]);
    git(&library.root(), &["add", "-A"]);
    git(&library.root(), &["commit", "-q", "-m", "library"]);
    repository.project.write("latin.py", b"name = '\xe9'\n");
    repository.project.write("logo.png", b"\x89PNG\0\0");
    let url = library.root().display().to_string();
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "-q", "add", &url, "vendored"]);
    let answer = repository.against("HEAD").await;
    let unjudged = answer["unjudged"].as_array().expect("a list");
    assert_eq!(unjudged.len(), 1, "an image needs no check: {answer}");
    assert_eq!(unjudged[0]["path"], "latin.py", "{answer}");
    assert!(answer["notes"].to_string().contains("vendored is a submodule"), "{answer}");
    assert_eq!(verdict(&answer), "partial", "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn workspace_within_a_repository_sees_its_own_part() {
    let repository = Repository::new(
        &["pyright"],
        &[("other/x.py", "x = 1\n"), ("app/rates.py", RATES), ("app/shop.py", SHOP)],
    );
    repository.project.write("app/rates.py", RATES.replace("def rate", "def rates"));
    repository.project.write("other/x.py", "x = undefined\n");
    let project = &repository.project;
    let app = project.opening().servers(&["pyright"]).workspace(project.path("app"));
    let app = app.finding_supervisor().at_shell().open();
    let answer = app.answer("lsp_changes", json!({"against": "HEAD"})).await;
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("shop.py:0 "), "{answer}");
    assert!(answer["notes"].to_string().contains("1 changed files are outside"), "{answer}");
    app.shutdown().await;
}
