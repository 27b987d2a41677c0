//! The first use after installation: the servers that answer, their findings, and the sentences
//! about missing servers.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use lsp_tools::Target;
use lsp_tools::internals::tools::ServerRow;
use serde_json::Value;

use crate::support::{Project, real_servers, start_of};

const CORE: &str = "def fetch(url, retries):\n    return url * retries\n";
const TEST: &str = "from acme.core import fetch\n\n\ndef test_fetch():\n    assert fetch(\"a\")\n";

/// The JSON answer of a command.
pub fn json(mut command: Command, words: &[&str]) -> Value {
    let output =
        command.args(["--format", "json", "--timeout", "90"]).args(words).output().expect("lsp-tools");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\n{error}"))
}

/// The servers that run in `project` if these are installed.
fn running(project: &Project, installed: &[&str]) -> Vec<String> {
    let answer = json(project.command(Some(&real_servers(installed))), &["servers"]);
    let rows = answer["servers"].as_array().expect("servers").iter();
    rows.map(|row| row["server"].as_str().expect("a key").to_owned()).collect()
}

fn notes(answer: &Value) -> Vec<&str> {
    answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The codes of the findings of `check`.
fn codes(project: &Project, installed: &[&str]) -> Vec<String> {
    let answer = json(project.command(Some(&real_servers(installed))), &["check"]);
    let found = answer["diagnostics"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    found.map(|item| item["code"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
#[ignore = "slow: just slow"]
fn pylsp_style_checks_run_only_where_configured() {
    let long = format!("import os\nword = \"{}\"\n", "x".repeat(90));
    let project = Project::new([("a.py", long.as_str()), ("setup.cfg", "[metadata]\nname = a\n")]);
    let style = |project: &Project| codes(project, &["pylsp"]).iter().any(|code| code == "E501");
    let answer = json(project.command(Some(&real_servers(&["pylsp"]))), &["check"]);
    let messages: Vec<&Value> =
        answer["diagnostics"].as_array().unwrap().iter().map(|item| &item["message"]).collect();
    assert_eq!(messages, ["'os' imported but unused"], "what is wrong is still found");
    project.write("setup.cfg", "[metadata]\nname = a\n[pycodestyle]\nmax-line-length = 80\n");
    assert!(style(&project), "the project configures it");
    project.write("setup.cfg", "[metadata]\nname = a\n[pycodestyle]\nmax-line-length = 120\n");
    assert!(!style(&project), "by its own configuration");
    project.write("setup.cfg", "[metadata]\nname = a\n");
    let settings = "[server.pylsp.settings.pylsp.plugins.pycodestyle]\nenabled = true\n";
    fs::write(project.beside("config").join("servers.toml"), settings).unwrap();
    assert!(style(&project), "the user has switched it on");
}

#[test]
fn server_choice_follows_project_config_over_installed_default() {
    let project = Project::new([("a.py", "x = 1\n"), ("pyproject.toml", "[project]\nname = \"a\"\n")]);
    assert_eq!(running(&project, &["pylsp"])[0], "pylsp");
    let all = ["pylsp", "pyright", "basedpyright", "ty", "ruff"];
    assert_eq!(running(&project, &all)[..2], ["pyright", "ruff"]);
    assert_eq!(running(&project, &["pylsp", "ty"])[0], "ty");
    project.write("pyproject.toml", "[tool.ty.rules]\n");
    assert_eq!(running(&project, &all)[..2], ["ty", "ruff"]);
    project.write("pyproject.toml", "[tool.basedpyright]\n");
    assert_eq!(running(&project, &all)[..2], ["basedpyright", "ruff"]);
    assert_eq!(running(&project, &["pylsp", "pyright"])[0], "pyright", "it is not installed");
    let settings = project.beside("config").join("lsp-tools.toml");
    fs::write(&settings, "prefer.python = [\"pylsp\"]\n").unwrap();
    let preferred = running(&project, &all);
    assert!(preferred[0] == "pylsp" && !preferred.contains(&"ruff".to_owned()), "{preferred:?}");
    fs::remove_file(settings).unwrap();
    let catalogue = "[language.python]\nservers = [\"pylsp\"]\n";
    fs::write(project.beside("config").join("servers.toml"), catalogue).unwrap();
    assert_eq!(running(&project, &all)[0], "pylsp", "the user's own catalogue names it");
}

#[test]
fn servers_command_with_none_installed_lists_default_as_missing() {
    let project = Project::new([("a.py", "x = 1\n")]);
    let answer = json(project.command(None), &["servers"]);
    assert_eq!(
        (&answer["servers"][0]["server"], &answer["servers"][0]["state"]),
        (&"pylsp".into(), &"missing".into())
    );
}

#[test]
fn servers_installed_but_unused_are_named_with_setting_to_change() {
    let project = Project::new([("a.py", "x = 1\n")]);
    let file = project.beside("config").join("lsp-tools.toml");
    let servers = |installed: &[&str]| json(project.command(Some(&real_servers(installed))), &["servers"]);
    let more = "pylsp finds errors of syntax and undefined names, no type errors; for more: lsp-tools install python";
    assert_eq!(notes(&servers(&["pylsp"])), [more]);
    let two = servers(&["pylsp", "pyright"]);
    let unused = format!(
        "installed, but not used for python: pylsp; to use one: prefer.python = [\"pylsp\"] in {}",
        file.display()
    );
    assert_eq!(notes(&two), [unused]);
    let install = |installed: &[&str], name: &str| {
        let answer = json(project.command(Some(&real_servers(installed))), &["install", name]);
        notes(&answer["items"][0]).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(install(&["pylsp"], "pylsp"), ["used for python", more]);
    assert_eq!(install(&["pylsp", "pyright"], "pyright"), ["used for python"]);
    let why = format!(
        "not used: pyright answers for python; to use ty: prefer.python = [\"ty\"] in {}",
        file.display()
    );
    assert_eq!(install(&["pyright", "ty"], "ty"), [why]);
    fs::write(&file, "prefer.python = [\"pylsp\", \"ruff\"]\n").unwrap();
    let why = format!(
        "not used: pylsp answers for python; to use pyright: prefer.python = [\"pyright\", \"ruff\"] in {}",
        file.display()
    );
    assert_eq!(install(&["pylsp", "pyright"], "pyright"), [why]);
}

#[test]
#[ignore = "slow: just slow"]
fn unsupported_query_names_a_server_that_supports_it() {
    let project = Project::new([("a.py", "def f():\n    return 1\n")]);
    let asked = |installed: &[&str], command: &str| {
        let mut asked = project.command(Some(&real_servers(installed)));
        let output = asked.args([command, "a.py:1:f"]).output().expect("lsp-tools");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = asked(&["pylsp"], "calls");
    assert_eq!(code, Some(4));
    assert!(
        error.contains("pylsp cannot list callers and callees; pyright can: lsp-tools install pyright"),
        "{error}"
    );
    let (_, error) = asked(&["pyright"], "types");
    let can = "ty can: lsp-tools install ty, then: prefer.python = [\"ty\"] in ";
    assert!(error.contains(can), "once it is installed, pyright still answers: {error}");
    let (_, error) = asked(&["pyright", "ty"], "types");
    assert!(error.contains("pyright cannot list supertypes and subtypes; ty answers"), "{error}");
}

#[test]
#[ignore = "slow: just slow"]
fn pyright_src_layout_diagnostics_match_its_command_line() {
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"acme\"\n"),
        ("src/acme/__init__.py", ""),
        ("src/acme/core.py", CORE),
        ("tests/test_core.py", TEST),
    ]);
    for server in ["pyright", "basedpyright"] {
        let prefix = real_servers(&[server]);
        let found = json(project.command(Some(&prefix)), &["check", "--severity", "error"]);
        let mut ours: Vec<(String, u64, String)> = found["diagnostics"]
            .as_array()
            .unwrap_or_else(|| panic!("{found}"))
            .iter()
            .map(|item| {
                let word = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                (word("path"), start_of(item).0, word("code"))
            })
            .collect();
        let program = crate::support::server_program(&prefix, server).expect("the command line");
        let output = Command::new(program).arg("--outputjson").current_dir(project.root()).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).expect("its findings");
        let root = project.root();
        let mut theirs: Vec<(String, u64, String)> = said["generalDiagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["severity"] == "error")
            .map(|item| {
                let file = item["file"].as_str().unwrap().trim_start_matches(root.to_str().unwrap());
                let line = item["range"]["start"]["line"].as_u64().unwrap();
                (file.trim_start_matches('/').to_owned(), line, item["rule"].as_str().unwrap().to_owned())
            })
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{server}");
        assert_eq!(ours[0].2, "reportCallIssue", "{server} sees the call with an argument too few");
        let used = references(&project, server);
        assert_eq!(used, ["src/acme/core.py", "tests/test_core.py", "tests/test_core.py"], "{server}");
    }
}

/// The files in which `fetch` occurs, found by a server that has read the project's files.
fn references(project: &Project, server: &str) -> Vec<String> {
    let target = || Target::NameInFile { path: "src/acme/core.py".into(), name: "fetch".to_owned() };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let opening = project.opening().servers(&[server]);
        let runtime = opening.finding_workspace().finding_supervisor().open();
        runtime.diagnose(Vec::new(), None, 100).await.unwrap();
        let found = runtime.references(target(), 100).await.unwrap();
        runtime.shutdown().await;
        found.output.locations.into_iter().map(|place| place.path).collect()
    })
}

#[test]
#[ignore = "slow: just slow"]
fn jedi_definition_in_src_layout_is_found() {
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"acme\"\n"),
        ("src/acme/__init__.py", ""),
        ("src/acme/core.py", CORE),
        ("tests/test_core.py", TEST),
    ]);
    for server in ["pylsp", "jedi-language-server"] {
        let found = json(
            project.command(Some(&real_servers(&[server]))),
            &["definition", "tests/test_core.py:5:fetch"],
        );
        assert_eq!(found["server_status"]["state"], "ready", "{server}: {found}");
        let places: Vec<&String> = found["locations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|file| file.as_object().unwrap().keys())
            .collect();
        assert_eq!(places, ["src/acme/core.py"], "{server}");
    }
}

#[tokio::test]
async fn server_installed_or_configured_later_is_used_by_next_request() {
    let all = real_servers(&["pylsp", "pyright", "ty"]);
    let project = Project::new([("a.py", "x = 1\n"), ("pyproject.toml", "[project]\nname = \"a\"\n")]);
    let data = project.beside("data").join("servers");
    fs::create_dir(&data).unwrap();
    let install = |server: &str| symlink(all.join("servers").join(server), data.join(server)).unwrap();
    install("pylsp");
    let opening = project.opening().finding_workspace().finding_supervisor();
    let mut runtime = opening.open().runtime;
    assert!(runtime.reopen_if_changed().unwrap().is_none(), "nothing has changed");
    let mut leads_after = async |change: &dyn Fn()| {
        change();
        if let Some(other) = runtime.reopen_if_changed().unwrap() {
            runtime.shutdown().await;
            runtime = other;
        }
        let rows = runtime.servers().await.servers;
        let python = |row: &&ServerRow| row.languages.iter().any(|language| language == "python");
        rows.iter().find(python).map(|row| row.server.clone()).expect("a server")
    };
    assert_eq!(leads_after(&|| ()).await, "pylsp");
    assert_eq!(leads_after(&|| install("pyright")).await, "pyright");
    assert_eq!(leads_after(&|| install("ty")).await, "pyright");
    assert_eq!(leads_after(&|| project.write("ty.toml", "")).await, "ty");
    assert_eq!(leads_after(&|| project.write("pyproject.toml", "[tool.pyright]\n")).await, "pyright");
    assert_eq!(leads_after(&|| fs::remove_file(data.join("pyright")).unwrap()).await, "ty");
}

/// The lines of a command's stderr, and its exit status.
pub fn said(project: &Project, words: &[&str]) -> (Vec<String>, Option<i32>) {
    let output = project.command(None).env("PATH", "/usr/bin:/bin").args(words).output().expect("lsp-tools");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (text.lines().map(ToOwned::to_owned).collect(), output.status.code())
}

#[test]
fn missing_server_is_reported_once_and_only_for_language_asked() {
    let files = [("a.py", "def greet():\n    pass\n"), ("x.html", "<p>"), ("b.rb", "x = 1\n")];
    let project = Project::new(files);
    let python = "[LSP] python: pylsp not installed, run: pip install python-lsp-server (or: lsp-tools install python)";
    let search = "warning: pylsp is not installed; the results come from text search";
    assert_eq!(said(&project, &["check", "a.py"]), (vec![python.to_owned(), search.to_owned()], Some(3)));
    let advice = "until then search for the name with `grep`, or read the source";
    let found = vec![python.to_owned(), search.to_owned(), format!(" hint: {advice}")];
    for words in [&["hover", "a.py:1:greet"][..], &["references", "greet"], &["symbols", "a.py"]] {
        assert_eq!(said(&project, words), (found.clone(), Some(3)), "{words:?}");
    }
    let install = "pip install python-lsp-server (or: lsp-tools install python)";
    let hint = format!(" hint: install it with: {install}; {advice}");
    let refused = vec![python.to_owned(), "error: pylsp is not installed".to_owned(), hint];
    for words in [&["calls", "a.py:1:greet"][..], &["rename", "a.py:1:greet", "meet"], &["format", "a.py"]] {
        assert_eq!(said(&project, words), (refused.clone(), Some(3)), "{words:?}");
    }
    let (all, _) = said(&project, &["check"]);
    let languages = all.iter().filter_map(|line| line.strip_prefix("[LSP] ")?.split(':').next());
    assert_eq!(languages.collect::<Vec<_>>(), ["python", "ruby"], "all code was checked: {all:?}");
    let answer = json(project.command(None), &["hover", "a.py:1:greet"]);
    let status = &answer["server_status"];
    assert_eq!(
        status["install"], "pip install python-lsp-server",
        "the command of the server's own documents"
    );
    assert_eq!(status["installer"], "lsp-tools install python");
}

#[test]
fn missing_file_or_name_argument_is_status_2() {
    let project = Project::new([("a.py", "def greet():\n    pass\n"), ("sub/b.py", "x = 1\n")]);
    for words in [
        &["check", "nofile.py"][..],
        &["hover", "nofile.py:1:1"],
        &["hover", "a.py:1:zzz"],
        &["check", "--workspace", "/nonexistent"],
        &["install", "klingon"],
        &["symbols", "./sub"],
    ] {
        let (error, code) = said(&project, words);
        assert_eq!(code, Some(2), "{words:?}: {error:?}");
    }
    let (error, _) = said(&project, &["install", "klingon"]);
    assert_eq!(error, ["error: unknown server or language `klingon`"]);
    let (error, _) = said(&project, &["install", "pyrigth"]);
    assert_eq!(error[1], " hint: did you mean `pyright`?");
    assert_eq!(said(&project, &["definition", "no_such_name"]).1, Some(3), "the text alone was searched");
}

#[test]
fn rename_to_invalid_identifier_is_refused() {
    let project = Project::new([("a.py", "def greet():\n    pass\n")]);
    for (name, why) in [
        ("not valid", "it is not an identifier"),
        ("class", "it is a keyword of python"),
        ("1st", "it is no"),
    ] {
        let (error, code) = said(&project, &["rename", "a.py:1:greet", name]);
        let told =
            error.iter().any(|line| line.starts_with(&format!("error: `{name}` is not a valid name: {why}")));
        assert!(told && code == Some(2), "{error:?}");
    }
}

#[test]
fn edit_output_paths_are_relative_to_caller_cwd() {
    let project = Project::new([("sub/deep/a.txt", "one\n"), (".git/HEAD", "ref: refs/heads/main\n")]);
    let run = |words: &[&str]| {
        let mut command = project.command(None);
        let output = command.current_dir(project.path("sub")).args(words).output().expect("lsp-tools");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["edit", "deep/a.txt", "--old", "one", "--new", "two"]);
    let listed = run(&["undo", "--list"]);
    assert!(listed.contains(" deep/a.txt") && !listed.contains("sub/deep"), "{listed}");
    let moved = run(&["move", "deep/a.txt", "deep/b.txt"]);
    assert!(!moved.lines().any(|line| line.starts_with("moved") && line.contains("sub/")), "{moved}");
    run(&["edit", "deep/b.txt", "--old", "two", "--new", "three"]);
}

#[test]
fn unchecked_files_are_counted_by_language() {
    let project = Project::new([("a.css", "a{}"), ("b.css", "b{}"), ("x.html", "<p>"), ("a.py", "x = 1\n")]);
    let (all, _) = said(&project, &["check"]);
    let note = "note: 3 files were not checked: no server and no parser (css 2, html 1)";
    assert!(all.iter().any(|line| line == note), "{all:?}");
    assert!(all.iter().any(|line| line.starts_with("warning: pylsp is not installed; ")), "{all:?}");
    let (one, _) = said(&project, &["check", "a.css"]);
    assert!(one.contains(&"note: a.css was not checked: no server and no parser".to_owned()), "{one:?}");
}

#[test]
#[ignore = "slow: just slow"]
fn project_setup_missing_is_reported_in_one_line() {
    let project = Project::new([
        ("CMakeLists.txt", "project(a C)\n"),
        ("a.c", "int main(void) { return 0; }\n"),
        ("web/package.json", r#"{"dependencies": {"zod": "^3"}}"#),
        ("web/a.ts", "export const x = 1;\n"),
    ]);
    let servers = real_servers(&["clangd", "typescript-language-server"]);
    let set_up = || {
        let answer = json(project.command(Some(&servers)), &["check"]);
        let reasons = answer["incomplete"].as_array().into_iter().flatten();
        let reasons = reasons.filter_map(|file| file["detail"].as_str());
        let told = notes(&answer).into_iter().chain(reasons).map(ToOwned::to_owned);
        told.filter(|told: &String| told.contains("; run: ") || told.contains("is made by: "))
            .collect::<Vec<_>>()
    };
    let both = set_up();
    assert!(both.len() == 2, "{both:?}");
    assert!(both[0].starts_with("web: the packages of package.json are not installed"), "{both:?}");
    assert!(both[1].ends_with("cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"), "{both:?}");
    project.write("build/compile_commands.json", "[]");
    project.write("node_modules/.keep", "");
    assert_eq!(set_up(), [""; 0], "packages of all parts may lie in the root");
}

#[test]
#[ignore = "slow: just slow"]
fn format_of_folder_formats_each_file() {
    let project =
        Project::new([("sub/a.py", "x=1\n"), ("sub/b.py", "y=2\n"), ("c.py", "z=3\n"), ("sub/n.txt", "n\n")]);
    let run = |words: &[&str]| {
        let mut command = project.command(Some(&real_servers(&["pyright", "ruff"])));
        let output = command.args(words).output().expect("lsp-tools");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&["format", "--check", "sub"]).0, Some(1));
    let (code, error) = run(&["format", "sub"]);
    assert_eq!(code, Some(0), "{error}");
    let texts = ["sub/a.py", "sub/b.py", "c.py"].map(|file| project.read(file));
    assert_eq!(texts, ["x = 1\n", "y = 2\n", "z=3\n"]);
    fs::create_dir(project.path("empty")).unwrap();
    assert_eq!(run(&["format", "empty"]).0, Some(1));
}

/// Programs read an empty list as a clean file; people read the line above it.
#[test]
#[ignore = "slow: just slow"]
fn diagnostics_without_server_fail_with_syntax_findings() {
    let project = Project::new([("a.py", "def f(:\n"), ("b.py", "print(unknown)\n"), ("c.sh", "echo\n")]);
    let call = |servers: &[&str], arguments: &str| {
        let prefix = real_servers(servers);
        let servers = (!servers.is_empty()).then_some(prefix.as_path());
        let mut command = project.command(servers);
        let output =
            command.args(["tools", "call", "lsp_diagnostics", arguments]).output().expect("lsp-tools");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (answer, output.status.code())
    };
    let (one, status) = call(&[], r#"{"path": "b.py"}"#);
    assert_eq!(
        (&one["ok"], &one["code"], status),
        (&Value::Bool(false), &"server_missing".into(), Some(3)),
        "{one}"
    );
    let (error, hint) = (one["error"].as_str().unwrap(), one["hint"].as_str().unwrap());
    assert_eq!(error, "no server has checked the file: pylsp is not installed");
    assert!(
        hint.starts_with("install it with: pip install python-lsp-server (or: lsp-tools install python)"),
        "{hint}"
    );
    assert!(hint.contains("`grep`"), "{hint}");
    assert_eq!((&one["count"], &one["server_status"]["state"]), (&0.into(), &"missing".into()), "{one}");
    let (several, _) = call(&[], r#"{"paths": ["a.py", "b.py", "c.sh"]}"#);
    assert_eq!(several["diagnostics"][0]["source"], "tree-sitter", "{several}");
    let error = several["error"].as_str().unwrap();
    assert!(
        error.contains("pylsp is not installed") && error.contains("bash-language-server is not"),
        "{error}"
    );
    let (mixed, status) = call(&["pylsp"], r#"{"paths": ["b.py", "c.sh"]}"#);
    assert_eq!(
        (&mixed["ok"], &mixed["verdict"], status),
        (&Value::Bool(true), &"partial".into(), Some(0)),
        "{mixed}"
    );
    assert_eq!(mixed["incomplete"][0]["path"], "c.sh", "{mixed}");
    let missing = mixed["servers"].as_array().unwrap().iter().find(|server| server["state"] == "missing");
    assert_eq!(missing.unwrap()["server"], "bash-language-server", "{mixed}");
    let (lines, status) = said(&project, &["check", "b.py"]);
    assert_eq!(status, Some(3));
    assert!(lines.iter().any(|line| line.contains("the results come from text search")), "{lines:?}");
}

/// A project's own environment contains programs of the project: it is read even if they may not
/// run.
#[test]
#[ignore = "slow: just slow"]
fn python_environment_is_used_untrusted_activated_or_trusted() {
    let project = Project::new([
        ("a.py", "import acmelib\n\nprint(acmelib.answer())\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ]);
    let mut made = Command::new("python3");
    made.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(project.root());
    assert!(made.status().expect("python3").success());
    let libraries = fs::read_dir(project.path(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    fs::write(libraries.join("site-packages/acmelib.py"), "def answer() -> int:\n    return 42\n").unwrap();
    let prefix = real_servers(&["pyright"]);
    let command = |active: bool| {
        let mut command = project.command(Some(&prefix));
        match active {
            true => command.env("VIRTUAL_ENV", project.path(".venv")),
            false => command.env_remove("VIRTUAL_ENV"),
        };
        command
    };
    let checked = |active: bool| {
        let answer = json(command(active), &["check", "a.py"]);
        let unresolved = answer.to_string().contains("could not be resolved");
        (unresolved, answer["verdict"].as_str().unwrap().to_owned(), answer.to_string())
    };
    let (unresolved, verdict, text) = checked(false);
    assert!(!unresolved && verdict == "complete", "{text}");
    let (unresolved, verdict, text) = checked(true);
    assert!(!unresolved && verdict == "complete", "{text}");
    assert!(command(false).args(["trust", "--yes"]).output().expect("lsp-tools").status.success());
    let (unresolved, verdict, text) = checked(false);
    assert!(!unresolved && verdict == "complete", "{text}");
}
