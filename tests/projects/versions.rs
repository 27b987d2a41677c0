//! Pinned versions of compilers, checkers and linters: the pinned version answers, or the answer is
//! partial and names both versions.

use std::os::unix::fs::symlink;

use lsp_tools::Verdict;

use super::{codes, json, open};
use crate::support::{Project, write_executable};

/// An error in every version, and two that TypeScript reports by default since version 6.
const SOURCE: &str = "export interface O { a?: string; b: number }\nfunction f(x) { return x.y }\n\
                      export function g(o: O): string { return o.a.length + f(o) }\nexport const n: number = 'x';\n";
const OLD: &str = "typescript-language-server@5.4.5";

/// A project whose own TypeScript, of `version`, leaves a mark if it runs.
fn project(version: &str) -> Project {
    let project = Project::new([
        ("package.json", "{\"name\": \"p\"}\n"),
        ("tsconfig.json", "{}\n"),
        ("src/c.ts", SOURCE),
    ]);
    install(&project, "", version);
    project
}

fn install(project: &Project, folder: &str, version: &str) {
    let package = format!("{folder}node_modules/typescript");
    project.write(&format!("{package}/package.json"), format!("{{\"version\": \"{version}\"}}\n"));
    let mark = format!("#!/bin/sh\ntouch '{}'\n", project.beside("mark").display());
    project.write(&format!("{package}/lib/tsserver.js"), "require('fs').writeFileSync('mark', '')\n");
    write_executable(project.path(&format!("{folder}node_modules/.bin/tsc")), &mark);
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn typescript_that_the_project_has_decides_which_server_and_version_answers() {
    let servers = ["tsc", "typescript-language-server", OLD];
    for (version, expected) in
        [("7.0.2", &["7006", "18048", "2322"][..]), ("5.4.5", &["2322"]), ("5.9.3", &["2322"])]
    {
        let project = project(version);
        let workspace = open(&project, &servers);
        let (found, verdict) = codes(&workspace, "src/c.ts").await;
        for code in expected {
            assert!(found.contains(&(*code).to_owned()), "{version}: {found:?}");
        }
        assert_eq!(found.contains(&"7006".to_owned()), expected.contains(&"7006"), "{version}: {found:?}");
        assert_eq!(verdict, Verdict::Complete, "{version}");
        let rows = workspace.ok("lsp_servers", serde_json::json!({})).await["servers"].clone();
        assert!(rows.to_string().contains(&format!("typescript {version}")), "{rows}");
        assert!(!project.beside("mark").exists() && !project.path("mark").exists(), "{version}");
        workspace.shutdown().await;
    }
}

#[tokio::test]
async fn version_that_is_not_installed_is_named_with_the_one_that_answered() {
    let project = project("7.0.2");
    let check = json(&project, &["typescript-language-server"], &["--no-daemon", "check", "src/c.ts"]);
    assert_eq!(check["verdict"], "partial", "{check}");
    let told = check.to_string();
    for part in ["typescript 5.9.3 answered", "the project uses 7.0.2", "lsp-tools install tsc"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!project.path("mark").exists());
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn another_version_counts_from_the_next_answer_on() {
    let servers = ["tsc", "typescript-language-server", OLD];
    let project = project("5.4.5");
    let workspace = open(&project, &servers);
    assert_eq!(codes(&workspace, "src/c.ts").await.1, Verdict::Complete);
    install(&project, "", "5.3.3");
    assert_eq!(codes(&workspace, "src/c.ts").await.1, Verdict::Partial);
    install(&project, "", "7.0.2");
    let (found, _) = codes(&workspace, "src/c.ts").await;
    workspace.shutdown().await;
    let workspace = open(&project, &servers);
    let (again, verdict) = codes(&workspace, "src/c.ts").await;
    assert!(again.contains(&"7006".to_owned()), "{found:?}, {again:?}");
    assert_eq!(verdict, Verdict::Complete);
    workspace.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn package_of_a_monorepo_with_its_own_version_is_partial_and_the_others_are_complete() {
    let project = Project::new([
        ("package.json", "{\"name\": \"p\", \"workspaces\": [\"packages/*\"]}\n"),
        ("packages/a/package.json", "{\"name\": \"a\"}\n"),
        ("packages/a/x.ts", "export const x: number = 1;\n"),
        ("packages/a/tsconfig.json", "{}\n"),
        ("packages/b/tsconfig.json", "{}\n"),
        ("packages/b/package.json", "{\"name\": \"b\"}\n"),
        ("packages/b/x.ts", "export const x: number = 1;\n"),
    ]);
    install(&project, "", "5.9.3");
    install(&project, "packages/a/", "5.4.5");
    let workspace = open(&project, &["typescript-language-server"]);
    assert_eq!(codes(&workspace, "packages/a/x.ts").await.1, Verdict::Partial);
    assert_eq!(codes(&workspace, "packages/b/x.ts").await.1, Verdict::Complete);
    workspace.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn each_package_of_a_monorepo_is_judged_by_its_own_version() {
    let manifest = |name: &str| format!("{{\"name\": \"{name}\"}}\n");
    let project = Project::new([("package.json", "{\"name\": \"p\", \"workspaces\": [\"packages/*\"]}\n")]);
    for name in ["old", "new", "common"] {
        project.write(&format!("packages/{name}/package.json"), manifest(name));
        project.write(&format!("packages/{name}/c.ts"), SOURCE);
    }
    install(&project, "", "5.9.3");
    install(&project, "packages/old/", "5.4.5");
    install(&project, "packages/new/", "7.0.2");
    project.write_settings("");
    let workspace = open(&project, &["tsc", "typescript-language-server", OLD]);
    for (name, is_new) in [("new", true), ("old", false), ("common", false)] {
        let (found, verdict) = codes(&workspace, &format!("packages/{name}/c.ts")).await;
        assert_eq!(found.contains(&"7006".to_owned()), is_new, "{name}: {found:?}");
        // Without a `tsconfig.json`.
        assert_eq!(verdict, Verdict::Partial, "{name}");
    }
    let rows = workspace.ok("lsp_servers", serde_json::json!({})).await["servers"].to_string();
    for version in ["typescript 5.9.3", "typescript 5.4.5", "typescript 7.0.2"] {
        assert!(rows.contains(version), "{version}: {rows}");
    }
    let known = workspace.ok("lsp_symbols", serde_json::json!({"query": "g"})).await;
    let places = known.to_string();
    for name in ["new", "old", "common"] {
        assert!(places.contains(&format!("packages/{name}/c.ts")), "{name}: {places}");
    }
    workspace.shutdown().await;
}

#[tokio::test]
async fn project_that_pins_no_version_is_judged_by_the_newest_release() {
    let files = [("package.json", "{\"name\": \"p\"}\n"), ("tsconfig.json", "{}\n"), ("src/c.ts", SOURCE)];
    let project = Project::new(files);
    project.write_settings("");
    let workspace = open(&project, &["tsc", "typescript-language-server"]);
    let (found, verdict) = codes(&workspace, "src/c.ts").await;
    assert!(found.contains(&"7006".to_owned()), "{found:?}");
    assert_eq!(verdict, Verdict::Complete);
    workspace.shutdown().await;
    let project = Project::new(files);
    std::fs::write(project.beside("config").join("servers.toml"), "").expect("settings");
    let check = json(&project, &["typescript-language-server"], &["--no-daemon", "check", "src/c.ts"]);
    assert_eq!(check["verdict"], "partial", "{check}");
    let told = "typescript 5.9.3 answered, but the project uses 7.0.2 (the newest release, since the project pins none); run: \
                lsp-tools install tsc";
    assert!(check.to_string().contains(told), "{check}");
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn refactorings_that_version_7_lacks_come_from_another_version_with_a_note() {
    let project = project("7.0.2");
    project.write_settings("");
    let workspace = open(&project, &["tsc", "typescript-language-server"]);
    let actions = async |kind: &str| {
        let place = serde_json::json!({"path": "src/c.ts", "line": 2, "character": 45, "kind": kind});
        workspace.ok("lsp_code_actions", place).await
    };
    let found = actions("refactor").await;
    let told = found.to_string();
    assert!(found["actions"].as_array().is_some_and(|actions| !actions.is_empty()), "{found}");
    for part in [
        "tsc cannot offer code actions of every kind; typescript-language-server answers",
        "typescript 5.9.3 answered, but the project uses 7.0.2",
    ] {
        assert!(told.contains(part), "{part}: {found}");
    }
    let own = actions("source.organizeImports").await;
    assert!(!own.to_string().contains("cannot offer"), "{own}");
    workspace.shutdown().await;
}

#[tokio::test]
async fn broken_and_outside_packages_are_partial_with_the_reason() {
    for broken in ["{", "{\"version\": \"99.0.0\"}", "{\"version\": \"../../x\"}"] {
        let project = project("5.9.3");
        project.write("node_modules/typescript/package.json", broken);
        let check = json(&project, &["typescript-language-server"], &["--no-daemon", "check", "src/c.ts"]);
        assert_eq!(check["verdict"], "partial", "{broken}: {check}");
    }
    let project = Project::new([("package.json", "{\"name\": \"p\"}\n"), ("src/c.ts", SOURCE)]);
    let outside = project.beside("elsewhere");
    std::fs::create_dir_all(outside.join("typescript")).expect("a folder");
    std::fs::write(outside.join("typescript/package.json"), "{\"version\": \"5.9.3\"}").expect("a file");
    symlink(&outside, project.path("node_modules")).expect("a link");
    let check = json(&project, &["typescript-language-server"], &["--no-daemon", "check", "src/c.ts"]);
    assert_eq!(check["verdict"], "partial", "{check}");
    assert!(check.to_string().contains("out of the workspace"), "{check}");
}

#[tokio::test]
async fn required_version_of_a_linter_that_does_not_run_is_the_reason_of_a_partial_answer() {
    let project =
        Project::new([("ruff.toml", "required-version = \"==0.9.3\"\n"), ("m.py", "import os\nx = 1\n")]);
    let check = json(&project, &["ruff"], &["--no-daemon", "check", "m.py"]);
    assert_eq!(check["verdict"], "partial", "{check}");
    assert!(
        check.to_string().contains("the project uses 0.9.3 (ruff.toml); run: lsp-tools install ruff@0.9.3"),
        "{check}"
    );
    project.write("ruff.toml", "required-version = \">=0.9\"\n");
    let check = json(&project, &["ruff"], &["--no-daemon", "check", "m.py"]);
    assert!(!check.to_string().contains("the project uses"), "{check}");
}

/// Configurations that the command lines of these servers reject.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn configuration_that_the_command_line_refuses_is_the_reason_of_a_partial_answer() {
    let (python, script) = (("m.py", "x: int = 'a'\n"), ("a.ts", "export const x: number = 'a';\n"));
    for (server, source, file, text, reason) in [
        ("ruff", python, "ruff.toml", "selct = ['E']\n", "unknown field `selct`"),
        ("ruff", python, "ruff.toml", "[lint\n", "unclosed table"),
        ("ty", python, "ty.toml", "[nonsense]\na = 1\n", "unknown field `nonsense`"),
        ("pyright", python, "pyrightconfig.json", "{bad", "could not be parsed"),
        ("pyright", python, "pyrightconfig.json", "{\"nosuch\": 1}", "unrecognized setting"),
        ("basedpyright", python, "pyrightconfig.json", "{\"reportMissingImports\": \"x\"}", "must be"),
        (
            "typescript-language-server",
            script,
            "tsconfig.json",
            "{\"extends\": \"./nowhere.json\"}",
            "nowhere.json",
        ),
        (
            "typescript-language-server",
            script,
            "tsconfig.json",
            "{\"compilerOptions\": {\"strct\": true}}",
            "strct",
        ),
        ("tsc", script, "tsconfig.json", "{\"extends\": \"./nowhere.json\"}", "nowhere.json"),
        ("tsc", script, "tsconfig.json", "{\"compilerOptions\": {\"strct\": true}}", "strct"),
    ] {
        let project = Project::new([source]);
        // A linter alone answers no question of its language completely.
        let servers = if server == "ruff" { &["ruff", "ty"][..] } else { &[server] };
        let workspace = open(&project, servers);
        let settled = |text: &str| project.write(file, text);
        settled(text);
        let found = workspace.ok("lsp_diagnostics", serde_json::json!({"path": source.0})).await;
        assert_eq!(found["verdict"], "partial", "{server}, {text}: {found}");
        let said = found.to_string();
        assert!(said.contains("does not accept the project's configuration"), "{server}, {text}: {found}");
        assert!(
            said.contains(reason) && !said.contains(&project.root().display().to_string()),
            "{server}: {found}"
        );
        settled(if file.ends_with("json") { "{}" } else { "" });
        let found = workspace.ok("lsp_diagnostics", serde_json::json!({"path": source.0})).await;
        assert_eq!(found["verdict"], "complete", "{server}, {text}: {found}");
        workspace.shutdown().await;
    }
}
