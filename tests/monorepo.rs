//! Several projects in one workspace: uses across them are found if a server can know them, and
//! reported as missing otherwise.

use std::collections::BTreeSet;
use std::fs;

use lsp_tools::answer::LocationsOutput;
use lsp_tools::internals::lsp::Severity;
use lsp_tools::internals::tools::CallDirection;
use lsp_tools::{Answer, Runtime, Target, Verdict};

use serde_json::json;

use crate::support::Project;

fn named(path: &str, name: &str) -> Target {
    Target::NameInFile { path: path.into(), name: name.to_owned() }
}

async fn references(runtime: &Runtime, path: &str, name: &str) -> Answer<LocationsOutput> {
    runtime.references(named(path, name), 100).await.expect("an answer")
}

/// The files of an answer with the number of positions in each.
fn files(answer: &Answer<LocationsOutput>) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for place in &answer.output.locations {
        match found.last_mut() {
            Some((path, count)) if *path == place.path => *count += 1,
            _ => found.push((&place.path, 1)),
        }
    }
    found
}

const SERVICE: &str = "from common import shared\n\n\ndef run() -> int:\n    return shared(2)\n";

fn python(service: &str) -> Project {
    Project::new([
        ("libs/common/pyproject.toml", "[project]\nname = \"common\"\nversion = \"1\"\n"),
        ("libs/common/common/__init__.py", "def shared(x: int) -> int:\n    return x + 1\n"),
        ("services/api/pyproject.toml", service),
        ("services/api/api/__init__.py", SERVICE),
        ("services/jobs/pyproject.toml", service),
        ("services/jobs/jobs/__init__.py", SERVICE),
        ("services/jobs/jobs/notes.py", "# `shared` is not used here\nTEXT = \"shared\"\n"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_across_python_projects_follow_extra_paths() {
    let lib = "libs/common/common/__init__.py";
    let project = python("[tool.pyright]\nextraPaths = [\"../../libs/common\"]\n");
    let runtime = project.opening().servers(&["pyright"]).open();
    let found = references(&runtime, lib, "shared").await;
    assert_eq!(found.verdict, Verdict::Complete, "{found:?}");
    assert_eq!(found.notes, Vec::<String>::new());
    let service = |name| (name, 2);
    let expected =
        [(lib, 1), service("services/api/api/__init__.py"), service("services/jobs/jobs/__init__.py")];
    assert_eq!(files(&found), expected);
    let callers = runtime.calls(named(lib, "shared"), CallDirection::Incoming, 1).await.expect("an answer");
    assert_eq!(callers.verdict, Verdict::Partial, "it lists the callers of one project only: {callers:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_missed_by_server_are_noted_and_answer_is_partial() {
    let project = python("[project]\nname = \"service\"\nversion = \"1\"\n");
    let runtime = project.opening().servers(&["pyright"]).open();
    let found = references(&runtime, "libs/common/common/__init__.py", "shared").await;
    assert_eq!(found.verdict, Verdict::Partial, "{found:?}");
    let note = "`shared` also occurs in 2 files that pyright did not list: services/api/api/__init__.py:1:20, \
                services/jobs/jobs/__init__.py:1:20";
    assert_eq!(found.notes, [note], "neither comments nor strings count");
    // A function of the same name in another project is a different one.
    let own = references(&runtime, "services/api/api/__init__.py", "run").await;
    assert_eq!((own.verdict, own.output.count), (Verdict::Complete, 1), "{own:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn text_hits_elsewhere_make_answer_partial_if_server_is_unsure() {
    let files = [
        ("pyproject.toml", "[project]\nname = \"one\"\nversion = \"1\"\n"),
        ("one.py", "class Post:\n    def send(self) -> None: ...\n\n\nPost().send()\n"),
        ("two.py", "def pass_on(thing):\n    thing.send()\n"),
    ];
    for (server, verdict) in [("pylsp", Verdict::Partial), ("pyright", Verdict::Complete)] {
        let project = Project::new(files);
        let runtime = project.opening().servers(&[server]).open();
        let found = references(&runtime, "one.py", "Post.send").await;
        assert_eq!((found.verdict, files_of(&found)), (verdict, vec!["one.py"]), "{server}: {found:?}");
        let note = format!("`send` also occurs in 1 file that {server} did not list: two.py:2:11");
        assert_eq!(found.notes, [note]);
        // A name known in only one function is used nowhere else, whatever the text.
        let local = references(&runtime, "two.py", "thing").await;
        assert_eq!((local.verdict, local.notes.as_slice()), (Verdict::Complete, [].as_slice()), "{server}");
        runtime.shutdown().await;
    }
}

fn files_of(answer: &Answer<LocationsOutput>) -> Vec<&str> {
    files(answer).into_iter().map(|(path, _)| path).collect()
}

const BUTTON: &str = "export interface Shape {\n  area(): number;\n}\n\
                      export function button(label: string): string {\n  return label;\n}\n";
const APP: &str = "import { button, type Shape } from \"@acme/ui\";\n\
                   export class Square implements Shape {\n  area(): number {\n    return 1;\n  }\n}\n\
                   export const ok = button(\"ok\");\n";
const STRICT: &str = "\"target\": \"es2022\", \"module\": \"esnext\", \"moduleResolution\": \"bundler\"";

fn typescript(solution: &str, composite: bool, paths: bool, top: &str) -> Project {
    let composite = if composite { ", \"composite\": true" } else { "" };
    let by_path = if paths { ", \"paths\": {\"@acme/ui\": [\"../ui/src/index.ts\"]}" } else { "" };
    let settings = |more: &str, last: &str| {
        format!("{{\"compilerOptions\": {{{STRICT}{composite}{more}}}, \"include\": [\"src\"]{last}}}")
    };
    let package = |name: &str| {
        format!("{{\"name\": \"@acme/{name}\", \"version\": \"1.0.0\", \"types\": \"src/index.ts\"}}")
    };
    let project = Project::new([
        (top, solution),
        ("packages/ui/src/index.ts", BUTTON),
        ("packages/app/src/main.ts", APP),
    ]);
    let refers = if composite.is_empty() { "" } else { ", \"references\": [{\"path\": \"../ui\"}]" };
    project.write("packages/ui/tsconfig.json", settings("", ""));
    project.write("packages/app/tsconfig.json", settings(by_path, refers));
    project.write("packages/ui/package.json", package("ui"));
    project.write("packages/app/package.json", package("app"));
    project
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_and_implementations_across_typescript_packages_are_found_in_any_layout() {
    let references_of =
        "{\"files\": [], \"references\": [{\"path\": \"packages/ui\"}, {\"path\": \"packages/app\"}]}";
    let workspaces = "{\"private\": true, \"workspaces\": [\"packages/*\"]}";
    let linked = |top: &str, manifest: &str, modules: &str, target: &str| {
        let project = typescript(manifest, false, false, top);
        let modules = project.path(modules);
        std::fs::create_dir_all(&modules).expect("a folder");
        std::os::unix::fs::symlink(target, modules.join("ui")).expect("a link");
        project.write(".gitignore", "node_modules\n");
        project
    };
    // As npm and yarn link the packages of a workspace, and as pnpm does.
    let npm = linked("package.json", workspaces, "node_modules/@acme", "../../packages/ui");
    let pnpm = "packages:\n  - packages/*\n";
    let pnpm = linked("pnpm-workspace.yaml", pnpm, "packages/app/node_modules/@acme", "../../../ui");
    for (layout, project) in [
        ("project references", typescript(references_of, true, true, "tsconfig.json")),
        ("workspaces with links", npm),
        ("workspaces of pnpm", pnpm),
        ("workspaces with paths", typescript(workspaces, false, true, "package.json")),
        ("nothing above", typescript("", false, true, "README.md")),
    ] {
        let runtime = project.opening().servers(&["typescript-language-server"]).open();
        let found = references(&runtime, "packages/ui/src/index.ts", "button").await;
        let expected = [("packages/app/src/main.ts", 2), ("packages/ui/src/index.ts", 1)];
        assert_eq!(files(&found), expected, "{layout}: {:?}", found.notes);
        assert_eq!((found.verdict, found.notes.as_slice()), (Verdict::Complete, [].as_slice()), "{layout}");
        // The server answers these from one project only, so it gets a request in the other one, at
        // a use with the same definition.
        let made =
            runtime.implementation(named("packages/ui/src/index.ts", "Shape")).await.expect("an answer");
        assert_eq!(files_of(&made), ["packages/app/src/main.ts"], "{layout}: {made:?}");
        assert_eq!(made.verdict, Verdict::Complete, "{layout}: {made:?}");
        // A method of another class is not a use of it.
        let made =
            runtime.implementation(named("packages/ui/src/index.ts", "Shape.area")).await.expect("an answer");
        let is_whole = files_of(&made) == ["packages/app/src/main.ts"];
        assert!(is_whole || made.verdict == Verdict::Partial, "{layout}: {made:?}");
        runtime.shutdown().await;
    }
}

/// A project that makes pyright list the files in `src`.
const CONFIGURED: &str = "[project]\nname = \"pkg\"\nversion = \"1\"\n[tool.pyright]\ninclude = [\"src\"]\n";

const NESTED_PYTHON: [(&str, &str); 5] = [
    ("src/pkg/__init__.py", ""),
    ("src/pkg/items.py", "class Item:\n    pass\n"),
    ("src/pkg/core.py", "from pkg.items import Item\n\nfirst: Item = Item()\n"),
    ("examples/one/pyproject.toml", "[project]\nname = \"one\"\nversion = \"1\"\n"),
    ("examples/one/one.py", "number: int = \"\"\n"),
];

/// The number of errors in a file.
async fn errors(runtime: &Runtime, path: &str) -> (Verdict, usize) {
    let found = runtime.diagnose(vec![path.into()], Some(Severity::Error), 10).await.expect("an answer");
    (found.verdict, found.output.count)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn nested_python_project_does_not_change_findings_of_outer_one() {
    for server in ["pyright", "basedpyright", "ty"] {
        let project = Project::new(NESTED_PYTHON);
        project.write("pyproject.toml", CONFIGURED);
        let runtime = project.opening().servers(&[server]).open();
        for round in ["first", "second"] {
            assert_eq!(
                errors(&runtime, "src/pkg/core.py").await,
                (Verdict::Complete, 0),
                "{server}, {round}"
            );
            // `include` of the outer project, which ty does not read, leaves the file out.
            let verdict = if server == "ty" { Verdict::Complete } else { Verdict::Partial };
            assert_eq!(errors(&runtime, "examples/one/one.py").await, (verdict, 1), "{server}, {round}");
        }
        runtime.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn python_configuration_that_comes_later_takes_nested_project_in() {
    let project = Project::new(NESTED_PYTHON);
    let outer = "[project]\nname = \"pkg\"\nversion = \"1\"\n";
    project.write("pyproject.toml", outer);
    let runtime = project.opening().servers(&["pyright"]).open();
    // The server is started for the nested project first.
    for settings in ["", "[tool.pyright]\ninclude = [\"src\"]\n", ""] {
        project.write("pyproject.toml", format!("{outer}{settings}"));
        for round in ["first", "second"] {
            let verdict = if settings.is_empty() { Verdict::Complete } else { Verdict::Partial };
            assert_eq!(errors(&runtime, "examples/one/one.py").await, (verdict, 1), "{settings}, {round}");
            assert_eq!(
                errors(&runtime, "src/pkg/core.py").await,
                (Verdict::Complete, 0),
                "{settings}, {round}"
            );
        }
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn references_in_files_that_configuration_leaves_out_are_found() {
    for server in ["pyright", "basedpyright"] {
        let project = Project::new([
            ("pyproject.toml", CONFIGURED),
            ("src/pkg/__init__.py", "from .core import shared as shared\n"),
            ("src/pkg/core.py", "def shared(x: int) -> int:\n    return x + 1\n"),
            ("tests/test_core.py", "import pkg\n\nassert pkg.shared(1) == 2\n"),
            ("examples/one/pyproject.toml", "[project]\nname = \"one\"\nversion = \"1\"\n"),
            ("examples/one/one.py", "import pkg\n\nprint(pkg.shared(2))\n"),
        ]);
        let runtime = project.opening().servers(&[server]).open();
        let found = references(&runtime, "src/pkg/core.py", "shared").await;
        let expected = [
            ("examples/one/one.py", 1),
            ("src/pkg/__init__.py", 2),
            ("src/pkg/core.py", 1),
            ("tests/test_core.py", 1),
        ];
        assert_eq!(files(&found), expected, "{server}: {:?}", found.notes);
        assert_eq!((found.verdict, found.notes.as_slice()), (Verdict::Complete, [].as_slice()), "{server}");
        runtime.shutdown().await;
    }
}

/// The servers that received a request about a file, and the verdict.
async fn asked_servers(runtime: &Runtime, path: &str) -> (BTreeSet<String>, Verdict) {
    let answer = runtime.diagnose(vec![path.into()], None, 100).await.expect("a check");
    let found: Vec<&str> = answer.output.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(found, ["WRONG"], "a finding of both is reported once");
    let all = answer.servers.iter().chain([&answer.server_status]);
    (all.map(|status| status.server.clone()).collect(), answer.verdict)
}

#[tokio::test(flavor = "multi_thread")]
async fn linter_of_one_package_joins_for_the_files_of_that_package_alone() {
    // The settings of the second are a key of a file that other packages have as well.
    for (linter, file, settings) in
        [("biome", "biome.json", "{}"), ("stylelint", "package.json", r#"{"stylelint": {"rules": {}}}"#)]
    {
        let project = Project::scripted(
            &json!({}),
            "",
            [
                (format!("packages/web/{file}").as_str(), settings),
                ("packages/web/a.css", "WRONG\n"),
                ("packages/api/b.css", "WRONG\n"),
                ("packages/api/package.json", "{}"),
            ],
        );
        let command = json!(project.server_command());
        let table = |key: &str| {
            format!(
                "[server.{key}]\ncommand = {command}\nruns-project-code = false\n\
                 diagnostics = {{source = \"versioned-push\"}}\n"
            )
        };
        let tables = format!("{}{}", table("css"), table(linter));
        fs::write(project.beside("config").join("servers.toml"), tables).expect("servers.toml");
        let runtime = project.open();
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let both = (of(&[linter, "css"]), Verdict::Complete);
        assert_eq!(asked_servers(&runtime, "packages/web/a.css").await, both);
        let one = (of(&["css"]), Verdict::Complete);
        assert_eq!(asked_servers(&runtime, "packages/api/b.css").await, one);
        // Configured only now.
        project.write(&format!("packages/api/{file}"), settings);
        assert_eq!(asked_servers(&runtime, "packages/api/b.css").await, both);
        runtime.shutdown().await;
    }
}
