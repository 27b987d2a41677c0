//! Layouts as the tools make them (`fixtures/projects`), each compared with the language's own
//! command line.

use std::fs;
use std::path::Path;
use std::process::Command;

use lsp_tools::answer::LocationsOutput;
use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Answer, Runtime, Target, Verdict};
use serde_json::Value;

use super::{make_environment, open, run};
use crate::support::{Project, real_servers, server_program};

/// File, 1-based line, rule.
type Finding = (String, u64, String);

fn named(path: &str, name: &str) -> Target {
    Target::NameInFile { path: path.into(), name: name.to_owned() }
}

fn on_line(path: &str, line: u32, name: &str) -> Target {
    Target::NameOnLine { path: path.into(), line0: line - 1, name: name.to_owned() }
}

fn places(answer: &Answer<LocationsOutput>) -> Vec<String> {
    let places = answer.output.locations.iter();
    places.map(|place| format!("{}:{}", place.path, place.range.start.line + 1)).collect()
}

/// All findings of `check` in the files with this extension.
async fn errors(runtime: &Runtime, ending: &str) -> Vec<Finding> {
    let found = runtime.diagnose(Vec::new(), Some(Severity::Error), 100).await.expect("an answer");
    let items = found.output.diagnostics.iter().filter(|item| item.path.ends_with(ending));
    let finding = |item: &lsp_tools::answer::DiagnosticItem| {
        let line = u64::from(item.range.start.line) + 1;
        (item.path.clone(), line, item.code.clone().unwrap_or_default())
    };
    items.map(finding).collect()
}

fn inside(project: &Project, path: &str) -> String {
    let root = fs::canonicalize(project.root()).expect("the project");
    Path::new(path).strip_prefix(&root).map_or(path.to_owned(), |path| path.display().to_string())
}

/// The findings of pyright's command line, with the interpreter of an environment.
fn pyright(project: &Project, interpreter: &Path) -> Vec<Finding> {
    let program = server_program(&real_servers(&["pyright"]), "pyright").expect("pyright");
    let mut command = Command::new("node");
    command.arg(program).args(["--outputjson", "--pythonpath"]).arg(interpreter).current_dir(project.root());
    let output = command.output().expect("node");
    let said: Value = serde_json::from_slice(&output.stdout).expect("what pyright found");
    let items = said["generalDiagnostics"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = items.filter(|item| item["severity"] == "error");
    let line = |item: &Value| item["range"]["start"]["line"].as_u64().expect("a line") + 1;
    items.map(|item| (inside(project, &text(&item["file"])), line(item), text(&item["rule"]))).collect()
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn uv_workspace_with_environment_answers_as_one_project() {
    let project = Project::of_fixture("projects/uv");
    let runtime = open(&project, &["pyright"]);
    // Nothing is installed yet, so neither the import nor the name leads anywhere.
    let lost = runtime.definition(on_line("main.py", 5, "feed")).await.expect("an answer");
    assert_eq!((places(&lost), lost.verdict), (Vec::new(), Verdict::Partial), "{lost:?}");
    let detail = lost.server_status.detail.unwrap_or_default();
    assert!(detail.contains("`feed` comes from an import of `bird_feeder`"), "{detail}");
    // The files that `uv sync` creates for a member.
    let member = project.path("packages/bird-feeder/src");
    fs::write(make_environment(&project).join("bird_feeder.pth"), member.display().to_string())
        .expect("a file");
    let wrong = pyright(&project, &project.path(".venv/bin/python"));
    assert_eq!(wrong, [("main.py".to_owned(), 5, "reportReturnType".to_owned())]);
    assert_eq!(errors(&runtime, ".py").await, wrong);
    let library = "packages/bird-feeder/src/bird_feeder/__init__.py";
    let found = runtime.definition(on_line("main.py", 5, "feed")).await.expect("an answer");
    assert_eq!((places(&found), found.verdict), (vec![format!("{library}:1")], Verdict::Complete));
    let uses = runtime.references(named(library, "feed"), 100).await.expect("an answer");
    assert_eq!(places(&uses), ["main.py:1", "main.py:5", &format!("{library}:1")]);
    assert_eq!(uses.verdict, Verdict::Complete, "{uses:?}");
    runtime.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn poetry_packages_are_resolved_by_environment_of_importer() {
    let project = Project::of_fixture("projects/poetry");
    let runtime = open(&project, &["pyright"]);
    let (library, service) = ("core/src/core/__init__.py", "service/src/service/__init__.py");
    let uses = runtime.references(named(library, "total"), 100).await.expect("an answer");
    assert_eq!((places(&uses), uses.verdict), (vec![format!("{library}:1")], Verdict::Partial), "{uses:?}");
    runtime.shutdown().await;
    // The files that `poetry install` creates if it keeps environments in projects.
    let environment = project.path("service/.venv");
    run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment));
    let libraries = fs::read_dir(environment.join("lib")).unwrap().next().unwrap().unwrap().path();
    let editable = project.path("core/src").display().to_string();
    fs::write(libraries.join("site-packages/core.pth"), editable).expect("a file");
    let runtime = open(&project, &["pyright"]);
    let wrong = pyright(&project, &environment.join("bin/python"));
    assert_eq!(wrong, [(service.to_owned(), 5, "reportReturnType".to_owned())]);
    assert_eq!(errors(&runtime, ".py").await, wrong);
    let found = runtime.definition(on_line(service, 5, "total")).await.expect("an answer");
    assert_eq!((places(&found), found.verdict), (vec![format!("{library}:1")], Verdict::Complete));
    let uses = runtime.references(named(library, "total"), 100).await.expect("an answer");
    assert_eq!(places(&uses), [format!("{library}:1"), format!("{service}:1"), format!("{service}:5")]);
    assert_eq!(uses.verdict, Verdict::Complete, "{uses:?}");
    runtime.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn npm_workspaces_once_linked_answer_as_one_project() {
    let project = Project::of_fixture("projects/npm");
    let runtime = open(&project, &["typescript-language-server"]);
    let (library, app) = ("packages/ui/src/index.ts", "packages/app/src/main.ts");
    let lost = runtime.definition(on_line(app, 4, "button")).await.expect("an answer");
    assert_eq!(lost.verdict, Verdict::Partial, "{lost:?}");
    // The packages are here, so nothing is fetched.
    let install = ["install", "--offline", "--no-audit", "--no-fund", "--silent"];
    run(Command::new("npm").args(install).current_dir(project.root()));
    let tsc = server_program(&real_servers(&["typescript-language-server"]), "tsc").expect("tsc");
    let mut wrong = Vec::new();
    for package in ["packages/app", "packages/ui"] {
        let words = ["--noEmit", "--pretty", "false", "-p", package];
        let output =
            Command::new("node").arg(&tsc).args(words).current_dir(project.root()).output().expect("node");
        wrong.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
    }
    assert_eq!(
        wrong,
        [format!("{app}(4,14): error TS2322: Type 'string' is not assignable to type 'number'.")]
    );
    assert_eq!(errors(&runtime, ".ts").await, [(app.to_owned(), 4, "2322".to_owned())]);
    let found = runtime.definition(on_line(app, 4, "button")).await.expect("an answer");
    assert_eq!((places(&found), found.verdict), (vec![format!("{library}:1")], Verdict::Complete));
    let uses = runtime.references(named(library, "button"), 100).await.expect("an answer");
    let expected = [format!("{app}:1"), format!("{app}:3"), format!("{app}:4"), format!("{library}:1")];
    assert_eq!((places(&uses), uses.verdict), (expected.to_vec(), Verdict::Complete), "{uses:?}");
    runtime.shutdown().await;
}

#[tokio::test]
async fn cmake_targets_with_compile_commands_answer_as_one_project() {
    let project = Project::of_fixture("projects/cmake");
    let root = project.root();
    let command = |source: &str, include: &str| {
        let text = format!("cc {include} -o x.o -c {}", root.join(source).display());
        serde_json::json!({"directory": root.join("build"), "command": text, "file": root.join(source)})
    };
    // The file that `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON` creates.
    let include = format!("-I{}", root.join("lib/include").display());
    let commands = serde_json::json!([command("lib/song.c", &include), command("app/main.c", &include)]);
    project.write("build/compile_commands.json", commands.to_string());
    let runtime = open(&project, &["clangd"]);
    let clangd = server_program(&real_servers(&["clangd"]), "clangd").expect("clangd");
    let mut check = Command::new(clangd);
    check.args(["--check=app/main.c", "--check-locations=false"]).current_dir(&root);
    let said = check.output().expect("clangd").stderr;
    let said = String::from_utf8_lossy(&said);
    let wrong: Vec<&str> =
        said.lines().filter(|line| line.starts_with("E[") && line.contains("] Line ")).collect();
    assert!(wrong.len() == 1 && wrong[0].contains("[-Wint-conversion] Line 4:"), "{wrong:?}");
    assert_eq!(errors(&runtime, ".c").await, [("app/main.c".to_owned(), 4, "-Wint-conversion".to_owned())]);
    let found = runtime.definition(on_line("app/main.c", 4, "notes")).await.expect("an answer");
    assert_eq!((places(&found), found.verdict), (vec!["lib/song.c:3".to_owned()], Verdict::Complete));
    let uses = runtime.references(named("lib/song.c", "notes"), 100).await.expect("an answer");
    assert_eq!(places(&uses), ["app/main.c:4", "app/main.c:5", "lib/include/song.h:2", "lib/song.c:3"]);
    assert_eq!(uses.verdict, Verdict::Complete, "{uses:?}");
    runtime.shutdown().await;
}
