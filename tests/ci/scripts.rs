//! The scripts of `deploy/ci` in repositories as GitHub and GitLab check them out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Project, write_executable};

/// Replaces lsp-tools and records its arguments.
const NOTING: &str = r#"#!/usr/bin/env bash
printf '%s\n' "$*" >>"$CALLS"
exec "$PROGRAM" "$@"
"#;

/// A repository with a change on a branch, its copy as a CI system fetches it, and the program on
/// PATH.
struct CiClone {
    project: Project,
    /// The last commit of the target branch.
    base: String,
}

fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git");
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

impl CiClone {
    /// A clone of depth 1 at the merge of the change, `merged`, or at its last commit.
    fn new(merged: bool) -> Self {
        let project = Project::scripted(&json!({}), "", []);
        let origin = project.beside("origin");
        fs::create_dir_all(&origin).expect("a folder");
        let commit = |name: &str, text: &str| {
            fs::write(origin.join(name), text).expect("a file");
            git(&origin, &["add", "."]);
            git(&origin, &["commit", "-qm", name]);
        };
        git(&origin, &["init", "-q"]);
        commit("clean.scr", "def one\n");
        let base = git(&origin, &["rev-parse", "HEAD"]);
        git(&origin, &["checkout", "-qb", "change"]);
        commit("new.scr", "one\nWRONG\n");
        git(&origin, &["checkout", "-qb", "merge", "main"]);
        git(&origin, &["merge", "-q", "--no-ff", "-m", "merge", "change"]);
        let branch = if merged { "merge" } else { "change" };
        let address = format!("file://{}", origin.display());
        fs::remove_dir_all(project.root()).expect("an empty project");
        git(&project.beside("code"), &["clone", "-q", "--depth=1", "-b", branch, &address, "project"]);
        write_executable(project.beside("bin").join("lsp-tools"), NOTING);
        Self { project, base }
    }

    /// Runs a script of `deploy/ci` with these variables.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/ci").join(script));
        command.current_dir(self.project.root()).stdin(Stdio::null());
        for name in
            ["GITHUB_BASE_REF", "GITHUB_ACTIONS", "GITHUB_PATH", "GITHUB_REF", "GITHUB_SHA", "CI_NODE_TOTAL"]
        {
            command.env_remove(name);
        }
        command
            .envs(self.project.environment(None))
            .env("PATH", format!("{}:{path}", self.project.beside("bin").display()))
            .env("PROGRAM", env!("CARGO_BIN_EXE_lsp-tools"))
            .env("CALLS", self.calls_file())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs(variables.iter().copied());
        command.output().expect("the script runs")
    }

    fn calls_file(&self) -> PathBuf {
        self.project.beside("logs").join("calls")
    }

    /// The base of the comparison in the last call.
    fn against(&self) -> Option<String> {
        let calls = fs::read_to_string(self.calls_file()).unwrap_or_default();
        let first = calls.lines().next()?.to_owned();
        first.split_once("--against ").map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned())
    }

    fn report(&self, name: &str) -> String {
        self.project.read(&format!("lsp-tools-reports/{name}"))
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn pull_request_of_github_is_compared_with_the_first_parent_of_its_merge() {
    let clone = CiClone::new(true);
    let head = git(&clone.project.root(), &["rev-parse", "HEAD"]);
    let ours = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main")];
    let github = [("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", head.as_str())];
    let ran = clone.run("check.sh", &[ours, github].concat());
    assert_eq!(clone.against().as_deref(), Some(clone.base.as_str()), "{}", err(&ran));
    assert_eq!(ran.status.code(), Some(1), "{}", err(&ran));
    assert_eq!(
        out(&ran),
        "::error file=new.scr,line=2,col=1,endLine=2,endColumn=5,title=scripted W1::WRONG\n"
    );
    assert!(clone.report("lsp-tools.sarif").contains("\"WRONG\""));
}

#[test]
fn merge_that_is_the_last_commit_of_a_request_is_compared_with_the_branch() {
    let clone = CiClone::new(true);
    let root = clone.project.root();
    git(&root, &["fetch", "-q", "--depth=1", "origin", "+main:refs/remotes/origin/main"]);
    let other = git(&clone.project.beside("origin"), &["rev-parse", "change"]);
    let merge = git(&root, &["rev-parse", "HEAD"]);
    // Its first parent is the branch of the request.
    git(&root, &["fetch", "-q", "origin", "change"]);
    let tree = format!("{merge}^{{tree}}");
    let swapped =
        git(&root, &["commit-tree", &tree, "-p", &other, "-p", &clone.base, "-m", "main into change"]);
    git(&root, &["checkout", "-q", &swapped]);
    let ran = clone.run("check.sh", &[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main")]);
    assert_eq!(clone.against().as_deref(), Some(clone.base.as_str()), "{}", err(&ran));
}

#[test]
#[ignore = "slow: just slow"]
fn install_script_runs_no_module_of_the_checkout() {
    let clone = CiClone::new(false);
    let marker = clone.project.beside("ran");
    for module in ["argparse.py", "venv.py", "pip.py", "encodings.py"] {
        fs::write(clone.project.path(module), format!("open({:?}, 'w')\n", marker.display().to_string()))
            .expect("a module");
    }
    let home = clone.project.beside("lsp-tools-home").display().to_string();
    let variables =
        [("LSP_TOOLS_VERSION", "9.9.9"), ("LSP_TOOLS_PACKAGE", "./nothing.whl"), ("LSP_TOOLS_HOME", &home)];
    let ran = clone.run("install.sh", &variables);
    assert!(!ran.status.success() && Path::new(&home).join("bin/python").exists(), "{}", err(&ran));
    assert!(!marker.exists(), "code of the checkout was run");
}

#[test]
fn change_without_a_merge_is_compared_with_the_branch_it_goes_to() {
    let clone = CiClone::new(false);
    let ran = clone.run("check.sh", &[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main")]);
    assert_eq!(clone.against().as_deref(), Some(clone.base.as_str()), "{}", err(&ran));
}

#[test]
#[ignore = "slow: just slow"]
fn merge_request_of_gitlab_is_compared_with_its_base_and_leaves_reports() {
    let clone = CiClone::new(false);
    let base = clone.base.as_str();
    let variables = [("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", ""), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)];
    let ran = clone.run("check.sh", &variables);
    assert_eq!(clone.against().as_deref(), Some(base), "{}", err(&ran));
    assert_eq!(ran.status.code(), Some(1), "{}", err(&ran));
    assert!(out(&ran).starts_with("new.scr:2:1: error: WRONG [W1] (scripted)"), "{}", out(&ran));
    let quality: Value = serde_json::from_str(&clone.report("gl-code-quality-report.json")).expect("a list");
    assert_eq!(quality[0]["location"], json!({"path": "new.scr", "lines": {"begin": 2, "end": 2}}));
    assert!(clone.report("junit.xml").contains("<testcase name=\"new.scr\""));
}

#[test]
fn base_that_cannot_be_fetched_is_refused_with_what_to_do() {
    let clone = CiClone::new(false);
    fs::remove_dir_all(clone.project.beside("origin")).expect("the origin");
    let ran = clone.run("check.sh", &[("CI_MERGE_REQUEST_DIFF_BASE_SHA", &clone.base)]);
    assert_eq!(ran.status.code(), Some(2));
    let said = err(&ran);
    assert!(said.contains("is not in this clone") && said.contains("fetch-depth: 0"), "{said}");
    assert_eq!(clone.against(), None, "nothing was checked");
}

#[test]
#[ignore = "slow: just slow"]
fn names_of_branches_are_never_run() {
    for name in [
        "$(touch pwned)",
        "`touch pwned`",
        "x;touch pwned",
        "--upload-pack=touch pwned",
        "' || touch pwned #",
    ] {
        let clone = CiClone::new(false);
        for variable in ["GITHUB_BASE_REF", "LSP_TOOLS_BASE", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] {
            let ran = clone.run("check.sh", &[(variable, name)]);
            assert_eq!(ran.status.code(), Some(2), "{variable}={name}: {}", err(&ran));
        }
        assert!(!clone.project.path("pwned").exists(), "{name}");
    }
}

#[test]
fn without_a_request_everything_is_checked() {
    let clone = CiClone::new(true);
    // Each of several parallel jobs may have servers of its own.
    let ran = clone.run("check.sh", &[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "2")]);
    assert_eq!((clone.against(), ran.status.code()), (None, Some(1)), "{}", err(&ran));
    assert_eq!(clone.report("junit.xml").matches("<testcase ").count(), 2);
}

#[test]
fn installed_version_must_be_named_and_a_present_one_is_kept() {
    let clone = CiClone::new(true);
    for version in ["", "latest", "0.1.0 --index-url=x", "1"] {
        let ran = clone.run("install.sh", &[("LSP_TOOLS_VERSION", version)]);
        assert_eq!(ran.status.code(), Some(2), "{version}: {}", err(&ran));
    }
    let home = clone.project.beside("home");
    let variables = [
        ("LSP_TOOLS_VERSION", env!("CARGO_PKG_VERSION")),
        ("LSP_TOOLS_HOME", home.to_str().expect("a path")),
    ];
    let ran = clone.run("install.sh", &variables);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(!home.exists(), "nothing was fetched");
}
