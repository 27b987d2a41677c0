//! Repositories that name programs wherever git would run one, and repositories that point at
//! others' data. `changed_files` runs nothing there and shows no data of others.
//!
//! Each program leaves a mark. The tests also check that git itself would run them, so that a test
//! cannot pass with a harmless repository.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::changed_files::{commit, git, repository};
use super::house::{assert_fails, open_files};
use crate::support::{TestWorkspace, copy_folder, write_executable};

/// The folder of the marks, beside the project.
fn marks(house: &TestWorkspace) -> PathBuf {
    let folder = house.project.beside("marks");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn left(house: &TestWorkspace) -> Vec<String> {
    let names =
        fs::read_dir(marks(house)).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Adds a program to every setting and hook of the repository at `git_dir`; marks begin with
/// `prefix`.
fn arm(house: &TestWorkspace, git_dir: &Path, prefix: &str) {
    let marks = marks(house);
    let mark = |name: &str| format!("touch {}/{prefix}{name}", marks.display());
    let config = fs::read_to_string(git_dir.join("config")).expect("a configuration");
    let config = config.replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    let armed = format!(
        "{config}\n[core]\n\tfsmonitor = \"{fsmonitor}; false\"\n\thooksPath = {hooks}\n\tpager = {pager}\n\teditor = {editor}\n\
         \tsshCommand = {ssh}\n\taskPass = {ask}\n\talternateRefsCommand = {alternate}\n\tuntrackedCache = true\n\
         [diff]\n\texternal = {external}\n[diff \"evil\"]\n\ttextconv = {textconv}\n\tcommand = {command}\n\
         [filter \"evil\"]\n\tclean = \"{clean}; cat\"\n\tsmudge = \"{smudge}; cat\"\n\tprocess = {process}\n\trequired = true\n\
         [alias]\n\tstatus = \"!{alias}\"\n\tconfig = \"!{alias}\"\n[credential]\n\thelper = \"!{credential}\"\n\
         [include]\n\tpath = evil.inc\n[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n\
         [extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = {url}\n\tpromisor = true\n\
         \tuploadpack = \"{upload}; false\"\n[protocol]\n\tallow = always\n",
        fsmonitor = mark("fsmonitor"),
        hooks = git_dir.join("hooks").display(),
        pager = mark("pager"),
        editor = mark("editor"),
        ssh = mark("ssh"),
        ask = mark("askpass"),
        alternate = mark("alternate"),
        external = mark("external"),
        textconv = mark("textconv"),
        command = mark("command"),
        clean = mark("clean"),
        smudge = mark("smudge"),
        process = mark("process"),
        alias = mark("alias"),
        credential = mark("credential"),
        url = house.project.beside("nowhere").display(),
        upload = mark("uploadpack"),
    );
    fs::write(git_dir.join("config"), armed).expect("a configuration");
    let included = format!("[filter \"inc\"]\n\tclean = \"{}; cat\"\n", mark("included"));
    fs::write(git_dir.join("evil.inc"), included).expect("an include");
    fs::create_dir_all(git_dir.join("info")).expect("a folder");
    fs::write(git_dir.join("info/attributes"), "* filter=evil diff=evil\n*.inc filter=inc\n")
        .expect("attributes");
    fs::create_dir_all(git_dir.join("hooks")).expect("a folder");
    for hook in
        ["post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"]
    {
        let path = git_dir.join("hooks").join(hook);
        write_executable(path, format!("#!/bin/sh\n{}\n", mark(hook)));
    }
}

/// A repository that contains a submodule, an untracked repository and a bare one, all of them
/// armed. Every file looks changed, so that git has to read it.
fn evil() -> TestWorkspace {
    let inner = repository([("s", "1\n")]);
    let house = repository([
        ("a", "1\n"),
        ("b.inc", "1\n"),
        (".gitattributes", "* filter=evil diff=evil merge=evil\n*.inc filter=inc\n"),
    ]);
    let root = house.project.root();
    git(&root, &["submodule", "--quiet", "add", &inner.project.root().to_string_lossy(), "sub"]);
    commit(&root);
    fs::create_dir_all(root.join("nested")).expect("a folder");
    git(&root.join("nested"), &["init", "-q"]);
    house.project.write("nested/n", "1\n");
    commit(&root.join("nested"));
    git(&root, &["init", "-q", "--bare", "bare"]);
    // Before any call of git, no program has run.
    for (git_dir, prefix) in
        [(".git", ""), (".git/modules/sub", "sub-"), ("nested/.git", "nested-"), ("bare", "bare-")]
    {
        arm(&house, &root.join(git_dir), prefix);
    }
    for file in ["a", "b.inc", "sub/s", "nested/n"] {
        house.project.write(file, "2\n");
    }
    assert_eq!(left(&house), Vec::<String>::new());
    house
}

#[tokio::test]
async fn row_18_changed_files_runs_no_program_of_repository_config() {
    let house = evil();
    for state in ["all", "staged", "unstaged", "untracked"] {
        let seen = house.call("changed_files", json!({"sourceControlState": state})).await;
        assert!(seen.ok(), "{:?}", seen.value);
        assert_eq!(left(&house), Vec::<String>::new(), "{state}");
    }
    for folder in ["sub", "nested", "bare"] {
        let seen = house.call("changed_files", json!({"repositoryPath": folder})).await;
        assert!(seen.ok(), "{:?}", seen.value);
        assert_eq!(left(&house), Vec::<String>::new(), "{folder}");
    }
    let seen = house.call("changed_files", json!({"sourceControlState": "unstaged"})).await.value;
    let paths: Vec<&str> =
        seen["unstaged"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["a", "b.inc"]);
    // Git itself, called by its user in the same way, runs many of them: the first time until the
    // filter fails it.
    let root = house.project.root();
    let status = || Command::new("git").arg("status").current_dir(&root).output().expect("git");
    assert!(!status().status.success());
    git(&root, &["config", "--unset", "filter.evil.process"]);
    status();
    let marks = left(&house);
    for name in ["fsmonitor", "process", "clean", "included", "sub-fsmonitor"] {
        assert!(marks.iter().any(|mark| mark == name), "{name} is not in {marks:?}");
    }
}

/// For a missing object git would run a program that the repository names.
#[tokio::test]
async fn row_18_changed_files_with_missing_object_fetches_nothing() {
    let house = repository([("d/a", "1\n"), ("d/b", "1\n")]);
    let root = house.project.root();
    let tree = git(&root, &["rev-parse", "HEAD^{tree}"]);
    let (folder, rest) = tree.trim().split_at(2);
    fs::remove_file(root.join(".git/objects").join(folder).join(rest)).expect("an object");
    fs::create_dir(house.project.beside("nowhere")).expect("a folder");
    git(&house.project.beside("nowhere"), &["init", "-q", "--bare"]);
    arm(&house, &root.join(".git"), "");
    let seen = house.call("changed_files", json!({})).await;
    assert_fails(&seen, "internal", "git failed");
    assert!(!seen.value.to_string().contains(&*root.to_string_lossy()), "{:?}", seen.value);
    assert_eq!(left(&house), Vec::<String>::new());
    // Git itself, called by its user for the object, tries to fetch it.
    let fetched = Command::new("git").args(["cat-file", "-p", "HEAD^{tree}"]).current_dir(&root).output();
    assert!(left(&house).contains(&"uploadpack".to_owned()), "{:?}, {fetched:?}", left(&house));
}

/// A repository of the user beside the workspace, with a private file name.
fn others(house: &TestWorkspace) -> PathBuf {
    let other = house.project.beside("other");
    fs::create_dir_all(&other).expect("a folder");
    git(&other, &["init", "-q"]);
    fs::write(other.join("secret-name"), "s").expect("a file");
    commit(&other);
    other
}

async fn shows_nothing(house: &TestWorkspace, words: &str) {
    let seen = house.call("changed_files", json!({})).await;
    assert!(!seen.value.to_string().contains("secret-name"), "{:?}", seen.value);
    assert_fails(&seen, "denied", words);
}

#[tokio::test]
async fn row_2_gitdir_file_to_other_repository_is_refused() {
    let house = open_files([]);
    let other = others(&house);
    house.project.write(".git", format!("gitdir: {}/.git\n", other.display()));
    shows_nothing(&house, "whose work tree is another").await;
    // Nor by another work tree of the other repository, of which this is none.
    git(&other, &["worktree", "add", "-q", "../tree"]);
    house.project.write(".git", format!("gitdir: {}/.git/worktrees/tree\n", other.display()));
    shows_nothing(&house, "no such work tree").await;
    house.project.write(".git", "something else");
    shows_nothing(&house, "names no `gitdir:`").await;
}

#[tokio::test]
async fn row_2_commondir_of_other_repository_is_refused() {
    let house = open_files([]);
    let other = others(&house);
    let common = format!("{}/.git\n", other.display());
    house.project.write("fake/HEAD", "ref: refs/heads/main\n");
    house.project.write("fake/commondir", &common);
    house.project.write("fake/gitdir", house.project.path(".git").to_string_lossy().as_bytes());
    house.project.write(".git", "gitdir: fake\n");
    shows_nothing(&house, "no such work tree").await;
    fs::remove_file(house.project.path(".git")).expect("a removal");
    fs::rename(house.project.path("fake"), house.project.path(".git")).expect("a move");
    shows_nothing(&house, "commondir").await;
}

#[tokio::test]
async fn row_5_git_data_symlinked_to_other_repository_is_refused() {
    for name in ["objects", "index", "HEAD", "config", "refs/heads", "info"] {
        let house = repository([("a", "1\n")]);
        let (own, other) = (house.project.path(".git").join(name), others(&house).join(".git").join(name));
        if own.is_dir() { fs::remove_dir_all(&own) } else { fs::remove_file(&own) }.expect("a removal");
        fs::create_dir_all(&other).unwrap_or_default();
        fs::write(other.join("exclude"), "").unwrap_or_default();
        symlink(&other, &own).expect("a link");
        shows_nothing(&house, "is a link that leads elsewhere").await;
    }
    let house = open_files([]);
    symlink(others(&house).join(".git"), house.project.path(".git")).expect("a link");
    shows_nothing(&house, "leads out of the workspace").await;
}

#[tokio::test]
async fn row_31_git_control_file_fifo_or_huge_is_refused_at_once() {
    for name in ["HEAD", "config", "packed-refs"] {
        let house = repository([("a", "1\n")]);
        git(&house.project.root(), &["pack-refs", "--all"]);
        let path = house.project.path(".git").join(name);
        fs::remove_file(&path).expect("a removal");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        assert_fails(&house.call("changed_files", json!({})).await, "internal", "cannot be read");
    }
    let house = repository([("a", "1\n")]);
    let huge = fs::File::options().append(true).open(house.project.path(".git/config")).expect("a file");
    huge.set_len(1 << 40).expect("a sparse file");
    assert_fails(&house.call("changed_files", json!({})).await, "internal", "more than 8.0 MiB");
}

#[tokio::test]
async fn row_19_git_references_as_paths_or_options_are_refused() {
    for head in [
        "ref: ../../../other/.git/refs/heads/main",
        "ref: refs/../../x",
        "--output=x",
        "ref: refs/heads/../../HEAD",
    ] {
        let house = repository([("a", "1\n")]);
        house.project.write(".git/HEAD", format!("{head}\n"));
        shows_nothing(&house, "neither a commit nor a branch").await;
    }
    let house = repository([("a", "1\n")]);
    house.project.write(".git/refs/heads/main", "ref: refs/heads/main\n");
    shows_nothing(&house, "endless chain").await;
}

/// The work tree in a copied repository's configuration has no effect.
#[tokio::test]
async fn row_19_core_worktree_elsewhere_is_ignored() {
    let house = repository([("a", "1\n")]);
    let other = others(&house);
    git(&house.project.root(), &["config", "core.worktree", &other.to_string_lossy()]);
    house.project.write("a", "2\n");
    let seen = house.call("changed_files", json!({})).await;
    assert_eq!(seen.value["unstaged"], json!([{"path": "a", "change": "modified"}]));
    assert_eq!(seen.value["count"], 1);
    copy_folder(&house.project.path(".git"), &house.project.path("copy/.git"));
    let seen = house.call("changed_files", json!({"repositoryPath": "copy"})).await;
    assert_eq!(seen.value["unstaged"], json!([{"path": "copy/a", "change": "deleted"}]));
}
