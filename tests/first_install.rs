//! Installation by name, its list and its messages, and the commands that messages print.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lsp_tools::internals::config::Catalogue;
use serde_json::{Value, json};

use crate::support::{Project, real_servers, write_executable};

const STAR_IMPORTS: [(&str, &str); 3] = [
    ("shop/__init__.py", "from shop.prices import *\n\n__all__ = [\"total\"]\n\nFIRST = total(1)\n"),
    ("shop/prices.py", "def total(count: int) -> int:\n    return count * 2\n"),
    ("setup.cfg", "[metadata]\nname = shop\n"),
];

fn run(mut command: Command, words: &[&str]) -> (Option<i32>, Value, String) {
    let output = command.args(["--format", "json"]).args(words).output().expect("lsp-tools");
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let answer = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\n{error}"));
    (output.status.code(), answer, error.into_owned())
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The names in the catalogue, each with the servers that `install` installs for it.
fn installed_by_name(project: &Project) -> BTreeMap<String, Vec<String>> {
    let (_, list, _) = run(project.command(None), &["install", "--list"]);
    let own = |text: &Value| text.as_str().expect("a key").to_owned();
    let rows = |key: &str| list[key].as_array().expect("rows").clone();
    let servers = rows("servers").into_iter().map(|row| (own(&row["server"]), vec![own(&row["server"])]));
    let languages = rows("languages").into_iter().map(|row| {
        let installs = texts(&row["installs"]).into_iter().map(str::to_owned).collect();
        (own(&row["language"]), installs)
    });
    // A language's name stands for its servers, even if a server has that name.
    servers.chain(languages).collect()
}

/// A file name for each language of the catalogue.
fn sample_names() -> Vec<(String, String)> {
    let catalogue: toml::Table = toml::from_str(include_str!("../servers.toml")).unwrap();
    let languages = catalogue["language"].as_table().unwrap();
    let sample = |(key, language): (&String, &toml::Value)| {
        let first = |list: &str| language.get(list)?.as_array()?.first()?.as_str().map(str::to_owned);
        let name = first("extensions").map(|ending| format!("a.{ending}"));
        let name = name.or_else(|| first("filenames")).expect("a name");
        assert_eq!(Catalogue::built_in().language_of(&name, None), Some(key.as_str()), "{name}");
        (key.clone(), name)
    };
    languages.iter().map(sample).collect()
}

#[test]
fn every_printed_install_command_brings_the_server_that_is_missing() {
    let names = installed_by_name(&Project::new([]));
    let installs = |command: &str, server: &str| {
        let name = command.strip_prefix("lsp-tools install ").unwrap_or_else(|| panic!("{command}"));
        names.get(name).is_some_and(|servers| servers.iter().any(|installed| installed == server))
    };
    let mut commands = 0;
    // If there is code, data languages are not checked.
    for is_data in [true, false] {
        let project = Project::new([]);
        for (language, name) in sample_names().into_iter().filter(|(_, name)| is_of_data(name) == is_data) {
            project.write(&format!("{language}/{name}"), "");
        }
        let (_, servers, _) = run(project.command(None), &["servers"]);
        for row in servers["servers"].as_array().expect("servers") {
            let (Some(command), Some(server)) = (row["installer"].as_str(), row["server"].as_str()) else {
                continue;
            };
            assert!(installs(command, server), "{server}: {command}");
            commands += 1;
        }
        let output = project.command(None).arg("check").output().expect("lsp-tools");
        let error = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = error.lines().filter(|line| line.starts_with("[LSP] ")).collect();
        assert!(lines.len() > 10, "{error}");
        for line in lines {
            let Some((_, command)) = line.split_once("lsp-tools install ") else { continue };
            let server = line.split_whitespace().nth(2).expect("a server");
            let command = format!("lsp-tools install {}", command.trim_end_matches(')'));
            assert!(installs(&command, server), "{line}");
        }
    }
    assert!(commands > 40, "{commands}");
}

/// Returns true if a language is data, or builds other code.
fn is_of_data(name: &str) -> bool {
    let catalogue: toml::Table = toml::from_str(include_str!("../servers.toml")).unwrap();
    let key = Catalogue::built_in().language_of(name, None).expect("a language");
    let language = &catalogue["language"][key];
    language.get("data").or(language.get("support")).is_some()
}

#[test]
fn advice_for_manual_installation_names_the_command_that_messages_show() {
    for (key, server) in Catalogue::built_in().servers.iter() {
        let Some(advice) = server.install.advice.as_ref().filter(|_| !server.install.has_recipe()) else {
            continue;
        };
        let manual = server.install.manual.as_deref().unwrap_or_default();
        assert!(manual.contains(advice.as_str()), "{key}: `{advice}` is not in `{manual}`");
    }
}

#[test]
fn install_list_names_versions_and_origins_of_installed_servers() {
    let project = Project::new([]);
    let (code, list, _) = run(project.command(Some(&real_servers(&["ruff"]))), &["install", "--list"]);
    let row = |key: &str| {
        let rows = list["servers"].as_array().expect("servers").iter();
        rows.clone().find(|row| row["server"] == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    assert_eq!((code, &row("ruff")["origin"]), (Some(0), &"private prefix".into()));
    let pinned = Catalogue::built_in().servers["ruff"].install.pip[0].replace("==", " ");
    assert_eq!(row("ruff")["version"], pinned.as_str());
    assert_eq!((&row("astro")["installed"], &row("astro")["version"]), (&false.into(), &Value::Null));
    assert!(row("marksman")["by_hand"].as_str().is_some_and(|text| text.contains("download")));
    let output = project.command(None).args(["install", "--list"]).output().expect("lsp-tools");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("`python` means pylsp, ty, ruff"), "{text}");
    assert!(!project.command(None).arg("install").status().expect("lsp-tools").success());
}

#[test]
fn python_is_answered_by_the_type_checker_that_install_brings() {
    let project = Project::new(STAR_IMPORTS);
    let prefix = real_servers(&["pylsp", "ty", "ruff"]);
    let (code, installed, _) = run(project.command(Some(&prefix)), &["install", "python"]);
    let items = installed["items"].as_array().expect("items");
    let servers: Vec<&Value> = items.iter().map(|item| &item["server"]).collect();
    assert_eq!((code, servers), (Some(0), vec![&"pylsp".into(), &"ty".into(), &"ruff".into()]));
    let notes: Vec<Vec<&str>> = items.iter().map(|item| texts(&item["notes"])).collect();
    assert!(notes[0][0].starts_with("not used: ty answers for python; to use pylsp: "), "{notes:?}");
    assert_eq!(notes[1..], [["used for python"], ["used for python"]]);

    project.write("shop/use.py", "from shop.prices import total\n\nprint(total(\"one\"))\n");
    let (_, checked, _) = run(project.command(Some(&prefix)), &["check", "--severity", "error"]);
    let found = checked["diagnostics"].as_array().expect("diagnostics");
    let found: Vec<_> = found.iter().map(|item| (&item["path"], &item["server"])).collect();
    assert_eq!(found, [(&"shop/use.py".into(), &"ty".into())]);
    assert_eq!(checked["verdict"], "complete");
}

#[test]
fn names_from_star_imports_are_findings_of_pylsp_only_where_flake8_is_configured() {
    let project = Project::new(STAR_IMPORTS);
    let prefix = real_servers(&["pylsp"]);
    let messages = || {
        let (_, checked, _) = run(project.command(Some(&prefix)), &["check"]);
        let found = checked["diagnostics"].as_array().expect("diagnostics");
        found.iter().map(|item| item["message"].as_str().expect("a message").to_owned()).collect::<Vec<_>>()
    };
    let said = messages();
    assert!(!said.iter().any(|message| message.contains("may be undefined")), "{said:?}");
    assert!(said.iter().any(|message| message.contains("unable to detect undefined names")), "{said:?}");
    project.write("setup.cfg", "[metadata]\nname = shop\n\n[flake8]\nmax-line-length = 100\n");
    let said = messages();
    assert!(
        said.iter().any(|message| message.contains("total may be undefined")
            || message.contains("'total' may be undefined")),
        "{said:?}"
    );
}

#[test]
fn install_says_that_a_program_on_path_goes_on_answering() {
    let project = Project::new([("a.py", "x = 1\n")]);
    let bin = project.beside("bin");
    fs::create_dir(&bin).unwrap();
    write_executable(bin.join("ruff"), "#!/bin/sh\nexit 0\n");
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([bin.clone()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut command = project.command(Some(&real_servers(&["ruff"])));
    command.env("PATH", path);
    let (_, installed, _) = run(command, &["install", "ruff"]);
    let notes = texts(&installed["items"][0]["notes"]);
    let first = format!("not used: {}/ruff (PATH) comes before it and answers for python; ", bin.display());
    assert!(notes[0].starts_with(&first), "{notes:?}");
    let program = installed["items"][0]["program"].as_str().expect("a program");
    let setting = format!("server.ruff.command = [\"{program}\", \"server\"]");
    assert!(notes[0].contains(&setting), "{notes:?}");
    // The printed line is a valid setting.
    fs::write(project.beside("config").join("servers.toml"), format!("{setting}\n")).unwrap();
    let (_, doctor, _) = run(project.command(Some(&real_servers(&["ruff"]))), &["servers"]);
    assert!(doctor.to_string().contains(program), "{doctor}");
}

#[test]
fn version_of_a_server_that_an_interpreter_runs_is_its_own() {
    let project = Project::new([]);
    let bin = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\ncase \"$*\" in *-MPerl::LanguageServer*) echo 2.6.2 ;; *) echo This is perl 5, version 36 ;; esac\n";
    write_executable(bin.path().join("perl"), script);
    let mut command = project.command(None);
    command.env("PATH", bin.path());
    let (_, list, _) = run(command, &["install", "--list"]);
    let mut rows = list["servers"].as_array().expect("servers").iter();
    let row = rows.find(|row| row["server"] == "perl-languageserver").expect("perl");
    assert_eq!(row["version"], "2.6.2", "{row}");
}

/// Runs `install` with only the programs in `bin` on PATH.
fn install_with(bin: &Path, server: &str) -> String {
    let project = Project::new([]);
    let output =
        project.command(None).env("PATH", bin).args(["install", server]).output().expect("lsp-tools");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn failed_package_manager_is_told_in_one_line_with_its_remedy() {
    const BACKTRACE: &str = "error: rustup could not choose a version of rustup to run, because one wasn't specified explicitly, \
                             and no default is configured.\nhelp: run 'rustup default stable'\n\nStack backtrace:\n   0: anyhow::error\n  \
                             13: __libc_start_call_main\n             at ./csu/x.h:58:16\n";
    let bin = tempfile::tempdir().unwrap();
    let tool = |name: &str, says: &str| {
        let script = format!("#!/bin/sh\n/bin/cat >&2 <<'END'\n{says}\nEND\nexit 1\n");
        write_executable(bin.path().join(name), script);
    };
    tool("rustup", BACKTRACE);
    tool("cargo", BACKTRACE);
    tool("python3", "Error: Command failed: ensurepip is not available");
    tool("gem", "mkmf.rb can't find header files for ruby at /usr/lib/ruby/include/ruby.h");
    tool("npm", "npm error code ENOTFOUND\nnpm error syscall getaddrinfo");
    tool("dotnet", "No .NET SDKs were found.");
    for (server, remedy) in [
        (
            "rust-analyzer",
            "failed: rustup has no default toolchain (error: rustup could not choose a version",
        ),
        ("ruff", "; Debian, Ubuntu: apt install python3-venv"),
        ("ruby-lsp", "; Debian, Ubuntu: apt install build-essential, and ruby-dev for gems"),
        (
            "pyright",
            "failed: the registry could not be reached (npm error code ENOTFOUND); check the network",
        ),
        ("csharp-ls", "failed: the .NET SDK is missing (No .NET SDKs were found.); install it"),
    ] {
        let said = install_with(bin.path(), server);
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains(remedy), "{said}");
        assert!(!said.contains("csu"), "{said}");
        assert!(server != "rust-analyzer" || said.ends_with("; run: rustup default stable\n"), "{said}");
    }
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("npm")).find(|npm| npm.is_file());
    let real = real.expect("npm");
    fs::remove_file(bin.path().join("npm")).unwrap();
    std::os::unix::fs::symlink(real, bin.path().join("npm")).unwrap();
    let said = install_with(bin.path(), "pyright");
    assert!(said.contains("npm is installed, but Node.js is not on PATH ("), "{said}");
}

#[test]
fn files_of_secondary_languages_lower_no_verdict_and_need_no_server() {
    let clean = json!({"diagnostics": {"mode": "pull"}});
    let files = [
        ("a.scr", "one\n"),
        ("b.scr", "two\n"),
        ("README.md", "# One\n"),
        ("x.json", "{}\n"),
        ("Makefile", "all:\n"),
    ];
    let project = Project::scripted(&clean, "diagnostics = { source = \"pull\" }", files);
    let (code, checked, error) = run(project.command(None), &["check"]);
    assert_eq!((code, &checked["verdict"]), (Some(0), &"complete".into()), "{checked}");
    assert_eq!(checked["incomplete"].as_array().map_or(0, Vec::len), 0, "{checked}");
    assert!(!error.contains("[LSP]"), "{error}");
    assert!(
        texts(&checked["notes"]).iter().any(|note| note.contains("json 1, make 1, markdown 1")),
        "{checked}"
    );
    let (code, doctor, _) = run(project.command(None), &["doctor"]);
    assert_eq!((code, &doctor["well"]), (Some(0), &true.into()), "{doctor}");
    // A caller that names such a file requests its check.
    let (_, named, error) = run(project.command(None), &["check", "a.scr", "x.json"]);
    assert_eq!(named["verdict"], "partial", "{named}");
    assert!(error.contains("[LSP] json: "), "{error}");
    for name in ["a.scr", "b.scr"] {
        fs::remove_file(project.path(name)).unwrap();
    }
    let (code, alone, error) = run(project.command(None), &["check"]);
    assert_eq!(code, Some(3), "{alone}");
    assert!(error.contains("[LSP] json: "), "{error}");
}

#[test]
fn doctor_takes_missing_outlines_of_a_server_for_no_fault() {
    let error = json!({"error": {"code": -32601, "message": "Unhandled method"}});
    let scenario = json!({
        "capabilities": {"documentSymbolProvider": null}, "answers": {"textDocument/documentSymbol": error},
    });
    let project = Project::scripted(&scenario, "", [("a.scr", "one\n")]);
    let (code, doctor, _) = run(project.command(None), &["doctor"]);
    assert_eq!((code, &doctor["well"]), (Some(0), &true.into()), "{doctor}");
    assert_eq!(doctor["servers"][0]["probe"]["detail"], "it does not list symbols");
}

/// A project whose scripted server is installed by a stand-in for npm, as a script for `env node`,
/// and the folder with npm and node.
fn project_with_script_of_node() -> (Project, PathBuf) {
    let project = Project::scripted(&json!({"diagnostics": {"mode": "pull"}}), "", [("a.scr", "one\n")]);
    let [program, scenario] = project.server_command();
    let table = r#"
[language.scripted]
name = "Scripted"
extensions = ["scr"]
servers = ["scripted"]

[server.scripted]
languages = ["scripted"]
command = ["script-of-node"]
install = { npm = ["script-of-node@1.0.0"] }
diagnostics = { source = "pull" }
"#;
    fs::write(project.beside("config").join("servers.toml"), table).unwrap();
    let bin = project.beside("bin");
    fs::create_dir(&bin).unwrap();
    write_executable(bin.join("node"), format!("#!/bin/sh\nexec '{program}' '{scenario}'\n"));
    let npm = "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --prefix ] && folder=$2/node_modules/.bin; shift; done\n/bin/mkdir -p $folder\n\
               printf '#!/usr/bin/env node\\n' > $folder/script-of-node\n/bin/chmod +x $folder/script-of-node\n";
    write_executable(bin.join("npm"), npm);
    (project, bin)
}

#[test]
fn server_starts_with_the_interpreter_of_its_installation_where_path_lacks_it() {
    let (project, bin) = project_with_script_of_node();
    let with_path = |path: &Path| {
        let mut command = project.command(None);
        command.env("PATH", path).env_remove("SHELL");
        command
    };
    let (code, installed, _) = run(with_path(&bin), &["install", "scripted"]);
    assert_eq!(code, Some(0), "{installed}");
    let bare = project.beside("bare");
    fs::create_dir(&bare).unwrap();
    let (code, checked, error) = run(with_path(&bare), &["check", "a.scr"]);
    assert_eq!((code, &checked["verdict"]), (Some(0), &"complete".into()), "{checked}\n{error}");

    // The recorded program is gone, as after an update of nvm.
    let elsewhere = project.beside("elsewhere");
    fs::rename(&bin, &elsewhere).unwrap();
    let (_, checked, _) = run(with_path(&bare), &["check", "a.scr"]);
    assert_ne!(checked["verdict"], "complete", "{checked}");
    let (shell, asked) = (project.beside("shell"), project.beside("asked"));
    let script = format!(
        "#!/bin/sh\necho asked >> {}\npwd\necho PATH={}:/bin\n",
        asked.display(),
        elsewhere.display()
    );
    write_executable(&shell, script);
    let ask = |home: &Path| {
        let mut command = with_path(&bare);
        command.env("SHELL", &shell).env("HOME", home);
        run(command, &["check", "a.scr"]).1
    };
    let checked = ask(&project.root());
    assert_ne!(checked["verdict"], "complete", "{checked}");
    assert!(!asked.exists(), "its files are those of a workspace that is not trusted");
    let checked = ask(&bare);
    assert_eq!(checked["verdict"], "complete", "{checked}");
    assert_eq!(fs::read_to_string(&asked).unwrap(), "asked\n", "the shell runs once");
}
