use super::super::pinned_version;
use super::super::tests::{ManifestProject, said};
use crate::config::Catalogue;
use crate::workspace::{Workspace, WorkspacePath};

#[test]
fn python_versions_come_from_the_tables_of_each_project_manager() {
    for (file, text, version) in [
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = '^3.9'\nruff = '0.9.3'", "0.9.3"),
        ("pyproject.toml", "[tool.poetry.dev-dependencies]\nRuff = '==0.9.3'", "0.9.3"),
        ("pyproject.toml", "[tool.poetry.group.lint.dependencies]\nruff = '^0.9.1'", ">=0.9.1 <0.10.0-0"),
        ("pyproject.toml", "[tool.poetry.group.x.dependencies]\nruff = '~0.9'", ">=0.9.0 <0.10.0-0"),
        ("pyproject.toml", "[tool.poetry.group.x.dependencies]\nruff = '0.9.*'", "==0.9.*"),
        (
            "pyproject.toml",
            "[tool.poetry.group.x.dependencies.ruff]\nversion = '>=0.9,<0.9.5'",
            ">=0.9, <0.9.5",
        ),
        ("pyproject.toml", "[[tool.poetry.group.x.dependencies.ruff]]\nversion = '0.9.3'", "0.9.3"),
        ("pyproject.toml", "[tool.uv]\ndev-dependencies = ['ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.uv]\nconstraint-dependencies = ['ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.uv]\noverride-dependencies = ['ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.uv.sources]\nruff = { url = 'https://x.org/ruff-0.9.3.tar.gz' }", "0.9.3"),
        ("pyproject.toml", "[tool.pixi.pypi-dependencies]\nruff = '==0.9.3'", "0.9.3"),
        ("pyproject.toml", "[project.optional-dependencies]\nruff = ['x>=1', 'ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.pdm.dev-dependencies]\nlint = ['ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.hatch.envs.lint]\ndependencies = ['ruff==0.9.3']", "0.9.3"),
        ("pyproject.toml", "[tool.hatch.envs.x]\nextra-dependencies = ['ruff (==0.9.3)']", "0.9.3"),
        ("Pipfile", "[packages]\nruff = '*'\n[dev-packages]\nruff = '==0.9.3'", "0.9.3"),
        ("Pipfile", "[packages]\nruff = {version = '==0.9.3'}", "0.9.3"),
        ("Pipfile.lock", r#"{"default": {}, "develop": {"ruff": {"version": "==0.9.3"}}}"#, "0.9.3"),
        ("pylock.toml", "[[packages]]\nname = 'ruff'\nversion = '0.9.3'", "0.9.3"),
        ("setup.cfg", "[options]\ninstall_requires =\n    x\n    ruff==0.9.3", "0.9.3"),
        ("setup.cfg", "[options.extras_require]\ndev = ruff==0.9.3", "0.9.3"),
        ("tox.ini", "[testenv:lint]\ndeps =\n    ruff==0.9.3\ncommands = ruff check", "0.9.3"),
        ("tox.ini", "[testenv]\ndeps =\n    lint: ruff==0.9.3", "0.9.3"),
    ] {
        assert_eq!(ManifestProject::new(&[(file, text)]).pin("ruff", "."), said(version, file), "{text}");
    }
}

#[test]
fn python_versions_come_from_lists_of_every_usual_name_and_those_that_they_include() {
    let pin = |files: &[(&str, &str)]| ManifestProject::new(files).pin("ruff", ".");
    let one = "ruff==0.9.3 --hash=sha256:aa\n";
    for file in ["lint-requirements.txt", "requirements/ci.txt", "constraints.txt", "requirements_x.txt"] {
        assert_eq!(pin(&[(file, one)]), said("0.9.3", file), "{file}");
    }
    for (text, file) in [
        ("ruff\n-c pins/a.txt\n", "pins/a.txt"),
        ("-rpins/a.txt", "pins/a.txt"),
        ("--requirement=./pins/../pins/a.txt # all", "pins/a.txt"),
        // A single version that the range admits is more exact than the range.
        ("ruff>=0.9\n--constraint pins/a.txt\n", "pins/a.txt"),
        ("ruff>=0.10\n-c pins/a.txt\n", "requirements.txt"),
    ] {
        let found = pin(&[("requirements.txt", text), ("pins/a.txt", one)]).map(|(_, file)| file);
        assert_eq!(found.as_deref(), Some(file), "{text}");
    }
    // Lists that include each other, and one out of the workspace.
    let circle = [
        ("requirements/a.txt", "-r b.txt\n-r ../../../../x.txt"),
        ("requirements/b.txt", "-r a.txt\n-r ../c.txt"),
        ("c.txt", one),
    ];
    assert_eq!(pin(&circle), said("0.9.3", "c.txt"));
    // The first of several lists counts, the usual names before others.
    let several = [("requirements.txt", "ruff==0.8.0"), ("a-requirements.txt", one)];
    assert_eq!(pin(&several), said("0.8.0", "requirements.txt"));
    let several =
        [("requirements.txt", one), ("requirements-all.txt", one), ("a-lint-requirements.txt", "ruff==0.8")];
    assert_eq!(pin(&several), said("0.8", "a-lint-requirements.txt"));
}

#[test]
fn python_versions_come_from_addresses_of_packages_and_revisions_of_hooks() {
    let pin = |server: &str, file: &str, text: &str| ManifestProject::new(&[(file, text)]).pin(server, ".");
    for text in [
        "ruff @ https://x.org/packages/9a/2024/ruff-0.9.3-py3-none-manylinux_2_17_x86_64.whl#sha256=aa",
        "ruff[x]@https://x.org/ruff-0.9.3.tar.gz ; python_version > '3'",
        "ruff @ git+https://github.com/astral-sh/ruff@v0.9.3",
    ] {
        assert_eq!(pin("ruff", "requirements.txt", text), said("0.9.3", "requirements.txt"), "{text}");
    }
    let (told, _) = pin("ruff", "requirements.txt", "ruff @ git+https://x.org/ruff\n").unwrap();
    assert!(told.contains("names no version"), "{told}");
    let hooks = ".pre-commit-config.yaml";
    for (server, repo, rev) in [
        ("ruff", "https://github.com/astral-sh/ruff-pre-commit", "v0.9.3"),
        ("ruff", "'https://github.com/astral-sh/ruff-pre-commit.git'  # linter", "\"v0.9.3\" # newest"),
        (
            "ruff",
            "https://github.com/astral-sh/ruff-pre-commit\n    # pinned",
            "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f  # frozen: v0.9.3",
        ),
        ("pyrefly", "https://github.com/facebook/pyrefly-pre-commit", "0.9.3"),
    ] {
        let text = format!("repos:\n  - repo: {repo}\n    rev: {rev}\n    hooks:\n      - id: x\n");
        assert_eq!(pin(server, hooks, &text), said("0.9.3", hooks), "{text}");
    }
    let other = "repos:\n  - repo: https://github.com/x/not-ruff\n    rev: v0.9.3\n";
    assert_eq!(pin("ruff", hooks, other), None);
}

#[test]
fn list_that_is_added_later_is_among_the_inspected_paths() {
    let project = ManifestProject::new(&[("requirements/ci.txt", "x\n")]);
    let workspace = Workspace::open(project.folder.path()).unwrap();
    let spec = &Catalogue::built_in().servers["ruff"];
    let inspected = pinned_version(&workspace, &WorkspacePath::root(), spec).inspected_paths;
    for path in ["", "requirements", "requirements/ci.txt", "tox.ini"] {
        assert!(inspected.contains(&workspace.root().join(path)), "{path}: {inspected:?}");
    }
}

#[test]
fn python_locks_with_many_tables_are_read() {
    let wheels = "    { url = 'x' },\n".repeat(2_000);
    let entry = "[[package]]\nname = \"ruff\"\nversion = \"0.9.3\"\n";
    let lock = format!(
        "version = 1\n\n[[package]]\nname = \"a\"\nversion = \"1\"\nwheels = [\n{wheels}]\n\n{entry}"
    );
    let marked = entry.replace("version", "marker = \"x\"\nversion").replace("name", "index = \"a\"\nname");
    for text in [&lock, &lock.replace('\n', "\r\n"), &marked] {
        assert_eq!(ManifestProject::new(&[("uv.lock", text)]).pin("ruff", "."), said("0.9.3", "uv.lock"));
    }
    let other = entry.replace("ruff", "ruff-lsp");
    assert_eq!(ManifestProject::new(&[("uv.lock", &other)]).pin("ruff", "."), None);
}
