//! Projects as their tools leave them. Environments are read without running their code; packages
//! are installed while servers run; there are compile commands, notebooks, and files outside a
//! project.

mod installs;
mod layouts;
mod notebooks;
mod outside;
mod parity;
mod versions;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use lsp_tools::answer::DiagnosticItem;
use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Position, Runtime, Target, Verdict};
use serde_json::Value;

use crate::support::{Project, TestWorkspace, real_servers, write_executable};

const USE: &str = "import acmelib\nimport native\nimport greetings\n\nx: str = acmelib.answer()\n";

/// The JSON answer of a command.
fn json(project: &Project, servers: &[&str], words: &[&str]) -> Value {
    let mut command = project.command(Some(&real_servers(servers)));
    let output =
        command.env_remove("VIRTUAL_ENV").args(["--format", "json", "--timeout", "90"]).args(words).output();
    let output = output.expect("lsp-tools");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\n{error}"))
}

/// The package folder of a new environment of the project.
fn make_environment(project: &Project) -> PathBuf {
    let mut made = Command::new("python3");
    made.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(project.root());
    assert!(made.status().expect("python3").success());
    let libraries = fs::read_dir(project.path(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    libraries.join("site-packages")
}

/// A project whose environment leaves a mark if any of its code runs.
fn hostile_project() -> (Project, PathBuf) {
    let project = Project::new([("a.py", USE), ("pyproject.toml", "[project]\nname = \"a\"\n")]);
    let mark = project.beside("ran");
    let site = make_environment(&project);
    let python = project.path(".venv/bin/python");
    let real = fs::canonicalize(&python).unwrap();
    fs::remove_file(&python).unwrap();
    let run = format!("#!/bin/sh\necho interpreter >> {}\nexec {} \"$@\"\n", mark.display(), real.display());
    write_executable(&python, run);
    let noted = |who: &str| format!("open({:?}, 'a').write('{who} ')\n", mark.display().to_string());
    for name in ["sitecustomize", "usercustomize", "json", "acmelib"] {
        let text = format!("{}def answer() -> int:\n    return 42\n", noted(name));
        fs::write(site.join(format!("{name}.py")), text).unwrap();
    }
    fs::write(site.join("z.pth"), format!("import sys; {}", noted("path file"))).unwrap();
    let library = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {{ FILE *f = fopen({:?}, \"a\"); if (f) \
         {{ fputs(\"native \", f); fclose(f); }} }}\n",
        mark.display().to_string()
    );
    let source = project.beside("native.c");
    fs::write(&source, library).unwrap();
    let mut built = Command::new("cc");
    built.args(["-shared", "-fPIC", "-o"]).arg(site.join("native.abi3.so")).arg(&source);
    assert!(built.status().expect("a C compiler").success());
    fs::create_dir(project.path("src")).unwrap();
    project.write("src/greetings.py", format!("{}HELLO = 1\n", noted("editable")));
    fs::write(site.join("_a.pth"), format!("{}\n", project.path("src").display())).unwrap();
    (project, mark)
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn untrusted_environment_is_read_and_nothing_of_it_runs() {
    let (project, mark) = hostile_project();
    for server in ["pyright", "basedpyright", "ty", "pylsp", "jedi-language-server"] {
        let runtime = open(&project, &[server]);
        let found = runtime.diagnose(vec!["a.py".into()], None, 100).await.expect("an answer");
        assert_eq!(found.verdict, Verdict::Complete, "{server}: {found:?}");
        let of_imports = |item: &&DiagnosticItem| {
            [0, 2].contains(&item.range.start.line) && item.message.contains("resolve")
        };
        let unresolved = found.output.diagnostics.iter().find(of_imports);
        assert!(unresolved.is_none(), "{server}: {unresolved:?}");
        let at = |line, character| Target::Position {
            path: "a.py".into(),
            position: Position::new(line, character),
        };
        let places = runtime.definition(at(4, 17)).await.expect("an answer").output.locations;
        let path = places.first().map(|place| place.path.as_str()).unwrap_or_default();
        assert!(path.ends_with("site-packages/acmelib.py"), "{server}: {places:?}");
        runtime.hover(at(1, 8)).await.expect("an answer");
        runtime.shutdown().await;
        let ran = fs::read_to_string(&mark).unwrap_or_default();
        assert_eq!(ran, "", "{server} ran something of the project");
    }
}

#[test]
#[ignore = "slow: just slow"]
fn import_resolvable_only_with_trust_is_partial_with_hint() {
    let project = Project::new([("a.py", USE), ("pyproject.toml", "[project]\nname = \"a\"\n")]);
    let site = make_environment(&project);
    let outside = project.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("acmelib.py"), "def answer() -> int:\n    return 42\n").unwrap();
    fs::write(site.join("a.pth"), format!("{}\n", outside.display())).unwrap();
    let found = json(&project, &["pyright"], &["check", "a.py"]);
    let text = found.to_string();
    assert_eq!(found["verdict"], "partial", "{text}");
    assert!(text.contains("lies outside of the project") && text.contains("lsp-tools trust"), "{text}");
    project.trust(None);
    let place = json(&project, &["pyright"], &["definition", "a.py:5:answer"]);
    assert!(place.to_string().contains("outside/acmelib.py"), "{place}");
}

/// The codes of the findings in a file, and whether they are complete.
async fn codes(runtime: &Runtime, file: &str) -> (Vec<String>, Verdict) {
    let found = runtime.diagnose(vec![file.into()], None, 100).await.expect("an answer");
    let codes = found.output.diagnostics.iter().filter_map(|item| item.code.clone()).collect();
    (codes, found.verdict)
}

/// A runtime without any options but its folder.
fn open(project: &Project, servers: &[&str]) -> TestWorkspace {
    let opening = project.opening().servers(servers);
    opening.finding_workspace().finding_supervisor().open()
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn pip_install_into_environment_counts_from_next_answer() {
    let files = [
        ("a.py", "import wcwidth\n\nprint(wcwidth.wcwidth(\"a\"))\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ];
    for (server, missing) in [("pyright", "reportMissingImports"), ("ty", "import-not-found")] {
        let project = Project::new(files);
        let runtime = open(&project, &[server]);
        let make = || make_environment(&project);
        make();
        let whole =
            |codes: &[&str]| (codes.iter().map(|code| (*code).to_owned()).collect(), Verdict::Complete);
        assert_eq!(codes(&runtime, "a.py").await, whole(&[missing]), "{server}");
        let pip = |words: &[&str]| {
            let environment = project.path(".venv");
            run(Command::new("python3").args(["-m", "pip", "--python"]).arg(environment).args(words));
        };
        pip(&["install", "--quiet", "--no-deps", "wcwidth==0.2.13"]);
        assert_eq!(codes(&runtime, "a.py").await, whole(&[]), "{server}: installed");
        pip(&["uninstall", "--quiet", "--yes", "wcwidth"]);
        assert_eq!(codes(&runtime, "a.py").await, whole(&[missing]), "{server}: uninstalled");
        runtime.shutdown().await;
    }
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn npm_install_counts_from_next_answer() {
    let project = Project::new([
        ("package.json", r#"{"type": "module", "dependencies": {"slash": "5.1.0"}}"#),
        ("tsconfig.json", r#"{"compilerOptions": {"module": "nodenext", "strict": true}}"#),
        ("a.ts", "import slash from \"slash\";\nexport const path: string = slash(\"a\");\n"),
    ]);
    let runtime = open(&project, &["typescript-language-server"]);
    assert_eq!(codes(&runtime, "a.ts").await.0, ["2307"]);
    run(Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent"])
        .current_dir(project.root()));
    let found = runtime.diagnose(vec!["a.ts".into()], None, 100).await.expect("an answer");
    assert_eq!((found.output.diagnostics.len(), found.verdict), (0, Verdict::Complete), "{found:?}");
    runtime.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn pyright_config_created_changed_or_removed_applies_at_once() {
    let project = Project::new([
        ("a.py", "def f() -> int:\n    return 'a'\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ]);
    let runtime = open(&project, &["pyright"]);
    let severity = async || {
        let found = runtime.diagnose(vec!["a.py".into()], None, 100).await.expect("an answer");
        assert_eq!(found.verdict, Verdict::Complete);
        found.output.diagnostics.first().map(|item| item.severity)
    };
    assert_eq!(severity().await, Some(Severity::Error));
    project.write("pyrightconfig.json", r#"{"reportReturnType": "warning"}"#);
    assert_eq!(severity().await, Some(Severity::Warning));
    project.write("pyrightconfig.json", r#"{"reportReturnType": "none"}"#);
    assert_eq!(severity().await, None);
    fs::remove_file(project.path("pyrightconfig.json")).unwrap();
    assert_eq!(severity().await, Some(Severity::Error));
    runtime.shutdown().await;
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn compile_commands_created_later_are_found_in_build_folders() {
    let main = "#include \"one.h\"\nint main(void) { return one() + WIDTH; }\n";
    let project = Project::new([("include/one.h", "int one(void);\n"), ("src/main.c", main)]);
    let runtime = open(&project, &["clangd"]);
    let (found, verdict) = codes(&runtime, "src/main.c").await;
    assert!(found.contains(&"pp_file_not_found".to_owned()) && verdict == Verdict::Partial, "{found:?}");
    project.write("CMakeLists.txt", "project(a C)\n");
    assert_eq!(codes(&runtime, "src/main.c").await.1, Verdict::Partial);
    let database = |width: &str| {
        let command = format!("cc -Iinclude -DWIDTH={width} -c src/main.c");
        serde_json::json!([{"directory": project.root(), "file": "src/main.c", "command": command}])
            .to_string()
    };
    project.write("out/debug/compile_commands.json", database("1"));
    assert_eq!(codes(&runtime, "src/main.c").await, (Vec::new(), Verdict::Complete));
    project.write("out/debug/compile_commands.json", database("missing_width"));
    assert_eq!(
        codes(&runtime, "src/main.c").await,
        (vec!["undeclared_var_use".to_owned()], Verdict::Complete)
    );
    fs::remove_dir_all(project.path("out")).unwrap();
    assert_eq!(codes(&runtime, "src/main.c").await.1, Verdict::Partial);
    runtime.shutdown().await;
}

#[tokio::test]
async fn clangd_stopping_at_error_limit_answer_is_partial() {
    let calls: String = (0..30).map(|number| format!("  none{number}();\n")).collect();
    let files =
        [("a.c", format!("int main(void) {{\n{calls}}}\n")), ("compile_flags.txt", "-Wall\n".to_owned())];
    let project = Project::new(files.iter().map(|(path, text)| (*path, text.as_str())));
    let runtime = open(&project, &["clangd"]);
    let (found, verdict) = codes(&runtime, "a.c").await;
    assert!(found.contains(&"fatal_too_many_errors".to_owned()) && verdict == Verdict::Partial, "{found:?}");
    runtime.shutdown().await;
}

/// The server's own `python3` is beside its program, and lacks the project's imports.
#[test]
#[ignore = "slow: just slow"]
fn python_on_user_path_determines_resolved_packages() {
    let project = Project::new([
        ("a.py", "import acmelib\n\nx: str = acmelib.answer()\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ]);
    let folder = project.beside("of-the-user");
    run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder));
    let libraries = fs::read_dir(folder.join("lib")).unwrap().next().unwrap().unwrap().path();
    let module = "def answer() -> int:\n    return 42\n";
    fs::write(libraries.join("site-packages/acmelib.py"), module).unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder.join("bin")].into_iter().chain(std::env::split_paths(&rest)));
    for server in ["pyright", "basedpyright", "ty", "pyrefly"] {
        let mut command = project.command(Some(&real_servers(&[server])));
        command.env_remove("VIRTUAL_ENV").env("PATH", path.as_ref().unwrap());
        let ask = ["--no-daemon", "--timeout", "90", "--format", "json", "definition", "a.py:3:answer"];
        let mut output = command.args(ask).output().expect("lsp-tools");
        if server == "pyrefly" {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("pyrefly runs code of this project when it starts"), "{text}");
            project.trust(Some(&real_servers(&[server])));
            output = command.output().expect("lsp-tools");
        }
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains("of-the-user/lib/"),
            "{server}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// CMake keeps build times in files that end in `.ts`.
#[tokio::test]
async fn cmake_timestamp_files_are_not_checked_as_typescript() {
    let project = Project::new([
        ("a.ts", "export const a = 1;\n"),
        ("tsconfig.json", "{}"),
        ("build/CMakeCache.txt", ""),
        (
            "build/CMakeFiles/a.dir/compiler_depend.ts",
            "# CMAKE generated file: DO NOT EDIT!\n# Timestamp file\n",
        ),
    ]);
    let runtime = open(&project, &["typescript-language-server"]);
    let found = runtime.diagnose(Vec::new(), Some(Severity::Error), 100).await.expect("an answer");
    assert_eq!(found.output.diagnostics.len(), 0, "{found:?}");
    runtime.shutdown().await;
}

#[test]
#[ignore = "slow: just slow"]
fn missing_packages_advice_names_the_project_package_manager() {
    let package = r#"{"dependencies": {"zod": "^3"}}"#;
    let project = Project::new([
        ("pnpm-lock.yaml", ""),
        ("web/package.json", package),
        ("web/a.ts", "export const x = 1;\n"),
        ("uv.lock", ""),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
        ("a.py", "x = 1\n"),
    ]);
    let advised = || {
        let found = json(&project, &["pyright", "typescript-language-server"], &["check"]);
        let notes = found["notes"].as_array().cloned().unwrap_or_default();
        let runs = notes.iter().filter_map(|note| note.as_str()?.split_once("; run: "));
        runs.map(|(_, command)| command.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(advised(), ["uv sync", "pnpm install"]);
    project.write("web/.pnp.cjs", "");
    let yarn = "yarn config set nodeLinker node-modules && yarn install";
    let found = json(&project, &["typescript-language-server"], &["check", "web/a.ts"]);
    assert!(found["verdict"] == "partial" && found["incomplete"].to_string().contains(yarn), "{found}");
    fs::remove_file(project.path("web/.pnp.cjs")).unwrap();
    make_environment(&project);
    fs::create_dir(project.path("node_modules")).unwrap();
    assert_eq!(advised(), [""; 0]);
}
