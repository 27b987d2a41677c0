//! Projects as their tools leave them: environments that are read without running anything of them.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use support::{Project, real_servers};

const USE: &str = "import acmelib\nimport native\nimport greetings\n\nx: str = acmelib.answer()\n";

/// What a command answers as JSON.
fn json(project: &Project, servers: &[&str], words: &[&str]) -> Value {
    let mut command = project.command(Some(&real_servers(servers)));
    let output = command.env_remove("VIRTUAL_ENV").args(["--format", "json"]).args(words).output();
    let output = output.expect("lsp-tools");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\n{error}"))
}

/// The folder of packages of a new environment of the project.
fn make_environment(project: &Project) -> PathBuf {
    let mut made = Command::new("python3");
    made.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(project.root());
    assert!(made.status().expect("python3").success());
    let libraries = fs::read_dir(project.path(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    libraries.join("site-packages")
}

/// A project whose environment leaves a mark wherever something of it runs.
fn hostile_project() -> (Project, PathBuf) {
    let project = Project::new([("a.py", USE), ("pyproject.toml", "[project]\nname = \"a\"\n")]);
    let mark = project.beside("ran");
    let site = make_environment(&project);
    let python = project.path(".venv/bin/python");
    let real = fs::canonicalize(&python).unwrap();
    fs::remove_file(&python).unwrap();
    let run = format!("#!/bin/sh\necho interpreter >> {}\nexec {} \"$@\"\n", mark.display(), real.display());
    fs::write(&python, run).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
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

#[test]
fn a_projects_environment_is_read_and_nothing_of_it_is_run() {
    let (project, mark) = hostile_project();
    for server in ["pyright", "basedpyright", "ty", "pylsp", "jedi-language-server"] {
        let found = json(&project, &[server], &["check", "a.py"]);
        let text = found.to_string();
        assert_eq!(found["verdict"], "complete", "{server}: {text}");
        for name in ["acmelib", "greetings"] {
            assert!(
                !text.contains(&format!("\"{name}\" could not")) && !text.contains(&format!("`{name}`")),
                "{text}"
            );
        }
        let words = ["definition", "a.py:5:answer"];
        let place = json(&project, &[server], &words);
        let path = place["locations"][0]["path"].as_str().unwrap_or_default();
        assert!(path.ends_with("site-packages/acmelib.py"), "{server}: {place}");
        json(&project, &[server], &["hover", "a.py:2:native"]);
        let ran = fs::read_to_string(&mark).unwrap_or_default();
        assert_eq!(ran, "", "{server} ran something of the project");
    }
}

#[test]
fn what_is_only_used_with_trust_is_said() {
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
    let trusted = project.command(None).args(["trust", "--yes"]).output().expect("lsp-tools");
    assert!(trusted.status.success(), "{trusted:?}");
    let place = json(&project, &["pyright"], &["definition", "a.py:5:answer"]);
    assert!(place.to_string().contains("outside/acmelib.py"), "{place}");
}
