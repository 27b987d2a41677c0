use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::platform::canonicalize;
use crate::platform::files::{CWD, PermissionsExt, mkfifoat, symlink};

/// A workspace with folders of the user's beside it.
struct Bench {
    temp: TempDir,
    workspace: Workspace,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("p/sub")).unwrap();
        let workspace = Workspace::open(&temp.path().join("p")).unwrap();
        Self { temp, workspace }
    }

    fn beside(&self, name: &str) -> PathBuf {
        canonicalize(self.temp.path()).unwrap().join(name)
    }

    fn user(&self) -> UserWord {
        let tools = ToolFolders {
            poetry: Some(self.beside("poetry")),
            pipenv: Some(self.beside("pipenv")),
            hatch: Some(self.beside("hatch")),
            pdm: Some(self.beside("pdm")),
        };
        UserWord { tools, ..UserWord::default() }
    }

    fn found(&self, root: &str) -> Option<String> {
        let root = self.workspace.path(Path::new(root)).unwrap();
        let found = search(&self.workspace, &root, &self.user()).environment?;
        let below = found.folder.strip_prefix(self.beside("")).unwrap().display().to_string();
        Some(format!("{below} {:?}", found.origin))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.beside(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn environment(&self, folder: &str) {
        self.write(&format!("{folder}/pyvenv.cfg"), "home = /usr/bin\nversion_info = 3.12.1.final.0\n");
        self.write(&format!("{folder}/bin/python"), "#!/bin/sh\n");
        let program = self.beside(folder).join("bin/python");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(self.beside(folder).join("lib/python3.12/site-packages")).unwrap();
    }

    fn libraries(&self, folder: &str) -> Libraries {
        let found = PythonEnvironment::from_folder(self.beside(folder), EnvironmentOrigin::Project).unwrap();
        Libraries::discover(&self.workspace, &found)
    }

    /// The hash that tools use in the names of environments; the tests of `tools` compare it with
    /// theirs.
    fn hash(&self, path: &str) -> String {
        tools::hash_of(&self.beside(path))
    }
}

#[test]
fn python_environment_of_each_tool_is_found_for_its_project() {
    let bench = Bench::new();
    for folder in ["p", "p/sub"] {
        bench.write(&format!("{folder}/pyproject.toml"), "[project]\nname = 'a'\n");
        bench.write(&format!("{folder}/Pipfile"), "");
    }
    assert_eq!(bench.found("."), None);
    let other = format!("poetry/b-{}-py3.11", bench.hash("q"));
    bench.environment(&other);
    assert_eq!(bench.found("."), None, "another project's");
    let hatch = format!("hatch/a/{}/a", bench.hash("p"));
    bench.environment(&hatch);
    assert_eq!(bench.found("."), Some(format!("{hatch} Tool")));
    let pipenv = format!("pipenv/p-{}", bench.hash("p/Pipfile"));
    bench.environment(&pipenv);
    assert_eq!(bench.found("."), Some(format!("{pipenv} Tool")));
    let poetry = ["3.9", "3.12"].map(|version| format!("poetry/a-{}-py{version}", bench.hash("p")));
    poetry.iter().for_each(|folder| bench.environment(folder));
    assert_eq!(bench.found("."), Some(format!("{} Tool", poetry[1])), "the newest Python");
    bench.environment("pdm/a-1-3.12");
    bench.write("p/.pdm-python", &format!("{}\n", bench.beside("pdm/a-1-3.12/bin/python").display()));
    assert_eq!(bench.found("."), Some("pdm/a-1-3.12 Tool".to_owned()));
    assert_eq!(bench.found("sub"), bench.found("."), "that of the folder above");
    bench.environment("p/venv");
    assert_eq!(bench.found("sub"), Some("p/venv Project".to_owned()));
    bench.environment("p/sub/.venv");
    assert_eq!(bench.found("sub"), Some("p/sub/.venv Project".to_owned()));
}

#[test]
fn python_environment_outside_project_is_ignored() {
    let bench = Bench::new();
    bench.environment("elsewhere");
    bench.write("p/.pdm-python", &format!("{}\n", bench.beside("elsewhere/bin/python").display()));
    symlink(bench.beside("elsewhere"), bench.beside("p/.venv")).unwrap();
    assert_eq!(bench.found("."), None);
    fs::create_dir(bench.beside("pdm")).unwrap();
    fs::rename(bench.beside("elsewhere"), bench.beside("pdm/e")).unwrap();
    bench.write("p/.pdm-python", "../pdm/e/bin/python\n");
    assert_eq!(bench.found("."), Some("p/../pdm/e Tool".to_owned()));
}

#[test]
fn python_libraries_follow_pth_files_inside_the_project() {
    let bench = Bench::new();
    bench.environment("p/.venv");
    let site = "p/.venv/lib/python3.12/site-packages";
    bench.write("p/src/a.py", "");
    bench.write("outside/b.py", "");
    let outside = bench.beside("outside").display().to_string();
    bench.write(&format!("{site}/b.pth"), &format!("# c\nimport os\n../../../../src\nnothing\n{outside}\n"));
    bench.write(&format!("{site}/.hidden.pth"), "../../../../src\n");
    symlink("lib", bench.beside("p/.venv/lib64")).unwrap();
    mkfifoat(CWD, bench.beside(&format!("{site}/a.pth")), 0o600.into()).unwrap();
    let libraries = bench.libraries("p/.venv");
    let site = bench.beside(site);
    assert_eq!(libraries.folders, [site.clone(), site.join("../../../../src")]);
    assert_eq!((libraries.left_out, libraries.version), (vec![outside], Some((3, 12))));
    fs::remove_dir_all(&site).unwrap();
    symlink(bench.beside("outside"), &site).unwrap();
    let libraries = bench.libraries("p/.venv");
    assert_eq!((libraries.folders.len(), libraries.left_out.len()), (0, 1), "a link out of the project");
}
