//! Reasons for an incomplete comparison: each is reported, and the verdict is not complete.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{Repository, findings};
use crate::support::real_servers;

fn python(files: &[(&str, &str)]) -> Repository {
    Repository::new(&["pyright"], files)
}

fn verdict(answer: &Value) -> &str {
    answer["verdict"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn link_that_leads_elsewhere_now_is_not_judged() {
    let repository =
        python(&[("v1/a.py", "x: int = 1\n"), ("v2/a.py", "y: int = 1\n"), ("b.py", "import v1.a\n")]);
    symlink("v1", repository.project.path("pkg")).expect("a link");
    repository.commit("a link");
    fs::remove_file(repository.project.path("pkg")).expect("removed");
    symlink("v2", repository.project.path("pkg")).expect("a link");
    let answer = repository.against("HEAD").await;
    assert_eq!((verdict(&answer), &answer["unjudged"][0]["path"]), ("partial", &json!("pkg")), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn files_that_git_is_told_to_take_for_unchanged_make_the_answer_partial() {
    let repository = python(&[("a.py", "x: int = 1\n"), ("b.py", "y: int = 1\n")]);
    repository.git(&["update-index", "--assume-unchanged", "a.py"]);
    repository.project.write("b.py", "y: int = 2\n");
    let answer = repository.against("HEAD").await;
    assert_eq!(verdict(&answer), "partial", "{answer}");
    assert!(answer["notes"].to_string().contains("unchanged"), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn index_in_conflict_is_not_judged() {
    let repository = python(&[("a.py", "x: int = 1\n")]);
    repository.branch("one", "main", |project| project.write("a.py", "x: int = 2\n"));
    repository.branch("two", "main", |project| project.write("a.py", "x: int = 3\n"));
    repository.git(&["checkout", "-q", "one"]);
    let root = repository.project.root();
    let mut merge = std::process::Command::new("git");
    merge.args(["-c", "user.name=t", "-c", "user.email=t@t", "merge", "-q", "two"]).current_dir(root);
    assert!(!merge.output().expect("git").status.success(), "a conflict");
    assert!(repository.git(&["status", "--porcelain"]).contains("UU a.py"), "a conflict");
    let answer = repository.changes(json!({"index": true})).await;
    assert!(answer["ok"] == false || verdict(&answer) != "complete", "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn hook_of_a_commit_is_judged_by_the_index_of_that_commit() {
    let repository = python(&[("a.py", "def one() -> int: ...\n"), ("b.py", "from a import one\n\none()\n")]);
    repository.project.write("a.py", "def two() -> int: ...\n");
    // Like `git commit -a`, which puts the index of the commit beside the other.
    let git = repository.project.path(".git");
    fs::copy(git.join("index"), git.join("next-index-7.lock")).expect("a copy");
    let mut add = std::process::Command::new("git");
    add.args(["add", "a.py"]).current_dir(repository.project.root());
    assert!(add.env("GIT_INDEX_FILE", ".git/next-index-7.lock").status().expect("git").success());
    let mut check = repository.project.command(Some(&real_servers(&["pyright"])));
    check.args(["check", "--index"]).env("GIT_INDEX_FILE", ".git/next-index-7.lock");
    let done = check.output().expect("the program runs");
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.code() == Some(1) && out.contains("b.py:1"),
        "{out}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    check.env("GIT_INDEX_FILE", "/etc/passwd");
    let refused = check.output().expect("the program runs");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("GIT_INDEX_FILE"), "{refused:?}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn settings_that_a_project_file_extends_concern_all_its_files() {
    let repository = Repository::new(
        &["typescript-language-server"],
        &[
            ("tsconfig.json", "{\"extends\": \"./tsconfig.base.json\", \"include\": [\"*.ts\"]}\n"),
            ("tsconfig.base.json", "{\"compilerOptions\": {\"noEmit\": true}}\n"),
            ("a.ts", "export function add(one, two) {\n  return one + two;\n}\n"),
        ],
    );
    repository
        .project
        .write("tsconfig.base.json", "{\"compilerOptions\": {\"noEmit\": true, \"strict\": true}}\n");
    let answer = repository.against("HEAD").await;
    assert!(findings(&answer).iter().any(|found| found.starts_with("a.ts:0 ")), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn settings_of_any_name_that_a_project_file_extends_concern_all_its_files() {
    let repository = Repository::new(
        &["typescript-language-server"],
        &[
            ("tsconfig.json", "{\"extends\": \"./settings/checks.json\", \"include\": [\"*.ts\"]}\n"),
            ("settings/checks.json", "{\"compilerOptions\": {\"noEmit\": true}}\n"),
            ("a.ts", "export function add(one, two) {\n  return one + two;\n}\n"),
        ],
    );
    repository
        .project
        .write("settings/checks.json", "{\"compilerOptions\": {\"noEmit\": true, \"strict\": true}}\n");
    let answer = repository.against("HEAD").await;
    assert!(findings(&answer).iter().any(|found| found.starts_with("a.ts:0 ")), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn data_that_a_source_imports_concerns_that_source() {
    let repository = Repository::new(
        &["typescript-language-server"],
        &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"noEmit\": true, \"strict\": true, \"resolveJsonModule\": true, \"esModuleInterop\": true, \"module\": \"commonjs\"}}\n",
            ),
            ("rates.json", "{\"de\": 19}\n"),
            ("a.ts", "import rates from \"./rates.json\";\n\nexport const de: number = rates.de;\n"),
        ],
    );
    repository.project.write("rates.json", "{\"fr\": 20}\n");
    let answer = repository.against("HEAD").await;
    assert!(findings(&answer).iter().any(|found| found.starts_with("a.ts:2 ")), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn generated_files_that_git_ignores_are_there_in_other_trees() {
    let repository = python(&[(".gitignore", "/gen/\n"), ("a.py", "from gen.api import call\n\ncall()\n")]);
    repository.project.write("gen/__init__.py", "");
    repository.project.write("gen/api.py", "def call() -> int:\n    return 1\n");
    repository.branch("one", "main", |project| {
        project.write("a.py", "from gen.api import call\n\ncall()\ncall(1)\n");
    });
    repository.branch("two", "main", |project| project.write("b.py", "y: int = 2\n"));
    let answer = repository.changes(json!({"merge_branches": ["one", "two"]})).await;
    let found = findings(&answer);
    assert!(matches!(&found[..], [one] if one.starts_with("a.py:3 ")), "{answer}");
    assert_eq!(verdict(&answer), "complete", "{answer}");
    repository.runtime.shutdown().await;
}
