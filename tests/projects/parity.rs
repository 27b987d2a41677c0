//! The findings of `check` compared one by one with those of the same tools' command lines. If they
//! differ, the answer is partial and gives the reason. `bench/parity` has the whole table.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::json;
use crate::support::{Project, real_servers, write_executable};

/// A file, a line from 1, and the rule.
type Finding = (String, u64, String);

/// Errors of several options, of an import between two files, and of an import of JSON.
const SCRIPT: &str = "export interface O { a?: string; b: number }\nfunction f(x) { return x.y }\n\
                      export function g(o: O): string { return o.a.length + f(o) }\nexport const n: number = 'x';\n\
                      export const list: string[] = []; export const first: string = list[0];\n\
                      import data from './data.json';\nexport const size = data.size.missing;\n";
const MODULE: &str = "import os\nimport json\n\n\ndef f(x: int) -> str:\n    y = 1\n    return x\n\n\n\
                      print(f('a'), undefined, f'x')\nx: int = None\n";
const USER: &str =
    "from a import f, missing\nfrom typing import List\n\nv: List[int] = [f(1)]\nif v == None: pass\n";

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort();
    findings
}

/// The output of a tool in the project's folder.
fn output_of(project: &Project, program: &Path, words: &[&str]) -> String {
    let mut command =
        if program.extension().is_some_and(|extension| extension == "js") || program.ends_with("tsc") {
            let mut node = Command::new("node");
            node.arg(program);
            node
        } else {
            Command::new(program)
        };
    let output = command.args(words).current_dir(project.root()).output().expect("the tool");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder of the installation of a server.
fn installation(key: &str) -> std::path::PathBuf {
    real_servers(&[key]).join("servers").join(key).join("current")
}

/// The findings of `tsc` of the package that a server has; `None` if it refuses the configuration.
fn by_tsc(project: &Project, key: &str, words: &[&str]) -> Option<Vec<Finding>> {
    let program = installation(key).join("npm/node_modules/typescript/bin/tsc");
    let said = output_of(project, &program, &[words, &["--noEmit", "--pretty", "false"]].concat());
    let errors = said.lines().filter_map(|line| line.split_once("error TS"));
    let found = errors.map(|(place, error)| {
        let (path, at) = place.strip_suffix("): ")?.split_once('(')?;
        let line = at.split(',').next()?.parse().ok()?;
        (path.ends_with(".ts"))
            .then(|| (path.to_owned(), line, error.split(':').next().unwrap_or("").to_owned()))
    });
    found.collect::<Option<Vec<_>>>().map(sorted)
}

/// The findings of `ruff` of an installation; `None` if it refuses the configuration.
fn by_ruff(project: &Project, key: &str) -> Option<Vec<Finding>> {
    let program = installation(key).join("venv/bin/ruff");
    let said = output_of(project, &program, &["check", "--no-cache", "--output-format", "json"]);
    let items: Vec<Value> = serde_json::from_str(&said).ok()?;
    let found = items.iter().map(|item| {
        let path = item["filename"].as_str().expect("a path");
        let rule = item["code"].as_str().unwrap_or("invalid-syntax");
        (within(project, path), item["location"]["row"].as_u64().expect("a line"), rule.to_owned())
    });
    Some(sorted(found.collect()))
}

/// The findings of `pyright` of the package that its server has; `None` if it refuses the
/// configuration.
fn by_pyright(project: &Project) -> Option<Vec<Finding>> {
    let program = installation("pyright").join("npm/node_modules/pyright/index.js");
    let said: Value = serde_json::from_str(&output_of(project, &program, &["--outputjson"])).ok()?;
    let found = said["generalDiagnostics"].as_array()?.iter().map(|item| {
        let line = item["range"]["start"]["line"].as_u64()? + 1;
        Some((within(project, item["file"].as_str()?), line, item["rule"].as_str().unwrap_or("").to_owned()))
    });
    found.collect::<Option<Vec<_>>>().map(sorted)
}

fn within(project: &Project, path: &str) -> String {
    let path = Path::new(path);
    path.strip_prefix(project.root()).unwrap_or(path).display().to_string()
}

/// Asserts that `check` has the findings of the command line and is `complete`. If `reason` is
/// given or the command line rejects the configuration, it must be partial for a reason that
/// contains it.
#[track_caller]
fn assert_parity(
    project: &Project,
    servers: &[&str],
    of: &str,
    expected: Option<&[Finding]>,
    reason: Option<&str>,
) {
    let answer = json(project, servers, &["--no-daemon", "check", "--limit", "1000"]);
    if expected.is_none() || reason.is_some() {
        assert_eq!(answer["verdict"], "partial", "{expected:?}: {answer}");
        let said = answer.to_string();
        assert!(said.contains(reason.unwrap_or("configuration")), "{reason:?}: {answer}");
        return;
    }
    let items = answer["diagnostics"].as_array().into_iter().flatten();
    let own = items.filter(|item| item["server"] == of).map(|item| {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let line = text("at").split(':').next().and_then(|line| line.parse().ok()).expect("a line");
        (text("path"), line, text("code"))
    });
    assert_eq!(
        (sorted(own.collect()).as_slice(), &answer["verdict"]),
        (expected.unwrap(), &"complete".into()),
        "{answer}"
    );
}

/// A project with a version of TypeScript, and a `tsconfig.json` if options are given.
fn scripts(version: &str, config: Option<&str>) -> Project {
    let project = Project::new([
        ("package.json", "{\"name\": \"p\"}\n"),
        ("src/c.ts", SCRIPT),
        ("src/d.ts", "import { g } from './c';\nexport const v: number = g({ b: 'no' });\n"),
        ("src/data.json", "{\"size\": 1}\n"),
    ]);
    let package = format!("{{\"version\": \"{version}\"}}\n");
    project.write("node_modules/typescript/package.json", package);
    if let Some(config) = config {
        project.write("tsconfig.json", config);
    }
    project
}

const STRICT: &str =
    "{\"compilerOptions\": {\"strict\": true, \"noUncheckedIndexedAccess\": true}, \"include\": [\"src\"]}";

#[test]
fn typescript_5_reports_what_its_command_line_reports() {
    let key = "typescript-language-server";
    for config in ["{}", STRICT] {
        let project = scripts("5.9.3", Some(config));
        let expected = by_tsc(&project, key, &["-p", "."]).expect("findings");
        assert!(expected.len() > 3, "{expected:?}");
        assert_parity(&project, &[key], key, Some(&expected), None);
    }
}

#[test]
fn typescript_7_reports_what_its_command_line_reports() {
    for config in ["{}", STRICT] {
        let project = scripts("7.0.2", Some(config));
        let expected = by_tsc(&project, "tsc", &["-p", "."]).expect("findings");
        assert!(expected.len() > 3, "{expected:?}");
        assert_parity(&project, &["tsc"], "tsc", Some(&expected), None);
    }
}

/// The options of the servers' projects without a configuration are not the defaults of `tsc`.
#[test]
fn typescript_without_configuration_is_partial_and_scripts_in_javascript_are_not() {
    for (version, key) in [("5.9.3", "typescript-language-server"), ("7.0.2", "tsc")] {
        let project = scripts(version, None);
        project.write("src/d.ts", "import { g } from './c.ts';\nexport const v = g;\n");
        let expected = by_tsc(&project, key, &["src/c.ts", "src/d.ts"]).expect("findings");
        assert!(expected.iter().any(|(_, _, rule)| rule == "5097"), "{version}: {expected:?}");
        assert_parity(&project, &[key], key, Some(&expected), Some("no tsconfig.json"));
        let hover = json(&project, &[key], &["--no-daemon", "hover", "src/c.ts:3:17"]);
        assert_eq!(hover["verdict"], "complete", "{hover}");
        let project =
            Project::new([("package.json", "{\"type\": \"module\"}\n"), ("a.js", "export const a = 1;\n")]);
        project.write("node_modules/typescript/package.json", format!("{{\"version\": \"{version}\"}}\n"));
        assert_parity(&project, &[key], key, Some(&[]), None);
    }
}

/// Errors of a project that belong to none of its files.
#[test]
fn errors_of_a_whole_project_are_the_reason_of_a_partial_answer() {
    assert_refused_configurations(&[
        ("{\"compilerOptions\": {\"types\": [\"nosuch\"]}}", "type definition file for 'nosuch'"),
        (
            "{\"extends\": \"./tsconfig.json\"}",
            "tsconfig.json extends `./tsconfig.json`, which extends it in turn",
        ),
    ]);
}

#[test]
#[ignore = "slow: just slow"]
fn missing_files_of_a_project_are_the_reason_of_a_partial_answer() {
    assert_refused_configurations(&[
        ("{\"files\": [\"nowhere.ts\", \"src/c.ts\", \"src/d.ts\"]}", "nowhere.ts"),
        ("{\"extends\": [\"./base.json\", \"./nowhere.json\"]}", "nowhere.json"),
    ]);
}

/// Asserts that answers are partial, with a reason, for each configuration that `tsc` rejects.
#[track_caller]
fn assert_refused_configurations(cases: &[(&str, &str)]) {
    let key = "typescript-language-server";
    for (config, reason) in cases.iter().copied() {
        let project = scripts("5.9.3", Some(config));
        project.write("base.json", "{}");
        assert_eq!(by_tsc(&project, key, &["-p", "."]), None, "{config}");
        assert_parity(&project, &[key], key, None, Some(reason));
    }
}

#[test]
fn ruff_reports_what_its_command_line_reports() {
    for (file, text) in [("pyproject.toml", ""), ("ruff.toml", "lint.select = [\"E\", \"F\", \"I\"]\n")] {
        let project = Project::new([("a.py", MODULE), ("b.py", USER), (file, text)]);
        let expected = by_ruff(&project, "ruff").expect("findings");
        assert!(expected.len() > 3, "{expected:?}");
        assert_parity(&project, &["ruff", "ty"], "ruff", Some(&expected), None);
    }
}

#[test]
#[ignore = "slow: just slow"]
fn older_ruff_reports_what_its_command_line_reports() {
    let project = Project::new([("a.py", MODULE), ("b.py", USER), ("requirements.txt", "ruff==0.12.0\n")]);
    let expected = by_ruff(&project, "ruff@0.12.0").expect("findings");
    assert_parity(&project, &["ruff@0.12.0", "ty"], "ruff", Some(&expected), None);
}

/// This version falls back to its defaults without a message.
#[test]
#[ignore = "slow: just slow"]
fn settings_that_a_silent_version_may_refuse_are_the_reason_of_a_partial_answer() {
    let key = "ruff@0.5.7";
    let project = Project::new([("a.py", MODULE), ("requirements.txt", "ruff==0.5.7\n")]);
    let expected = by_ruff(&project, key).expect("findings");
    assert_parity(&project, &[key, "ty"], "ruff", Some(&expected), None);
    // A file without settings has none to refuse.
    project.write("ruff.toml", "");
    assert_parity(&project, &[key, "ty"], "ruff", Some(&expected), None);
    std::fs::remove_file(project.path("ruff.toml")).expect("the file");
    for (file, text) in [("ruff.toml", "selct = ['E']\n"), ("pyproject.toml", "[tool.ruff\n")] {
        project.write(file, text);
        assert_eq!(by_ruff(&project, key), None, "{text}");
        assert_parity(
            &project,
            &[key, "ty"],
            "ruff",
            None,
            Some("ruff 0.5.7 does not report whether it accepts"),
        );
        std::fs::remove_file(project.path(file)).expect("the file");
    }
}

/// A finding in a configuration file, which no check of the server's languages covers.
#[test]
fn warning_about_a_configuration_file_is_the_reason_of_a_partial_answer() {
    let project = Project::new([("a.py", "x: int = 1\n"), ("ty.toml", "[rules]\nnosuch = \"error\"\n")]);
    let said =
        output_of(&project, &installation("ty").join("venv/bin/ty"), &["check", "--output-format", "gitlab"]);
    assert!(said.contains("unknown-rule"), "{said}");
    assert_parity(&project, &["ty"], "ty", None, Some("ty.toml: Unknown rule `nosuch`"));
}

/// A linter that runs code of the project, whose plugins and rules are programs.
#[test]
#[ignore = "slow: just slow"]
fn linter_that_waits_for_trust_is_the_reason_of_a_partial_answer_until_then() {
    let project = Project::new([
        ("package.json", "{\"type\": \"module\", \"dependencies\": {\"eslint\": \"9.39.1\"}}\n"),
        ("eslint.config.js", "export default [{ rules: { eqeqeq: \"error\" } }];\n"),
        ("a.js", "export const same = (x) => x == 2;\n"),
    ]);
    let servers = ["eslint", "tsc"];
    super::run(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"])
            .current_dir(project.root()),
    );
    let reason = "eslint runs code of this project when it starts; to allow that, run: lsp-tools trust";
    assert_parity(&project, &servers, "eslint", Some(&[]), Some(reason));
    project.trust(Some(&real_servers(&servers)));
    let found = ("a.js".to_owned(), 1, "eqeqeq".to_owned());
    assert_parity(&project, &servers, "eslint", Some(&[found]), None);
    project.write("eslint.config.js", "export default [{ rules: { nosuch: 3 } }];\n");
    assert_parity(&project, &servers, "eslint", None, Some("eslint"));
}

/// ESLint 8 reads `.eslintignore` in the folder in which it runs.
#[test]
#[ignore = "slow: just slow"]
fn eslint_checks_no_file_that_eslintignore_in_the_root_names() {
    let bad = "debugger;\n";
    let project = Project::new([
        ("package.json", "{\"dependencies\": {\"eslint\": \"8.57.1\"}}\n"),
        (".eslintrc.json", "{\"root\": true, \"rules\": {\"no-debugger\": \"error\"}}\n"),
        (".eslintignore", "gen/\n"),
        ("gen/a.js", bad),
        ("src/a.js", bad),
    ]);
    super::run(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"])
            .current_dir(project.root()),
    );
    let servers = ["eslint", "tsc"];
    project.trust(Some(&real_servers(&servers)));
    let found = ("src/a.js".to_owned(), 1, "no-debugger".to_owned());
    assert_parity(&project, &servers, "eslint", Some(&[found]), None);
}

#[test]
fn pyright_reports_what_its_command_line_reports() {
    for config in ["{}", "{\"typeCheckingMode\": \"strict\"}"] {
        let project = Project::new([("a.py", MODULE), ("b.py", USER), ("pyrightconfig.json", config)]);
        let expected = by_pyright(&project).expect("findings");
        assert!(expected.len() > 3, "{expected:?}");
        assert_parity(&project, &["pyright"], "pyright", Some(&expected), None);
    }
}

/// Such an environment may have plugins, which run mypy or pylint.
#[test]
fn server_of_an_untrusted_environment_is_the_reason_of_a_partial_answer() {
    let project = Project::new([("a.py", "x = 1\n"), (".venv/pyvenv.cfg", ""), (".venv/bin/python", "")]);
    write_executable(project.path(".venv/bin/pylsp"), "#!/bin/sh\ntouch was-run\n");
    let reason = "the pylsp of the project's environment was not run";
    assert_parity(&project, &["pylsp"], "pylsp", None, Some(reason));
    assert!(!project.path("was-run").exists());
}
