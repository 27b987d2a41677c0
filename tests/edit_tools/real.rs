//! Edits with real servers: errors elsewhere are reported, renames reach every file, undo restores
//! every byte.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::Project;

fn prefer(project: &Project, language: &str, server: &str) {
    std::fs::create_dir_all(project.beside("config")).expect("a folder");
    let settings = format!("prefer.{language} = [\"{server}\"]\n");
    project.write_settings(&settings);
}

fn texts(project: &Project, paths: &[&str]) -> BTreeMap<String, String> {
    paths.iter().map(|path| ((*path).to_owned(), project.read(path))).collect()
}

fn added<'a>(answer: &'a Value, path: &str) -> Vec<&'a str> {
    let added = answer["diagnostics"]["added"].as_array().expect("a delta");
    let of_file = added.iter().filter(|item| item["path"] == path);
    of_file.filter_map(|item| item["message"].as_str()).collect()
}

/// An edit of `path` that breaks `caller`: previewed, made, fixed, each time with the changed
/// diagnostics.
async fn breaks_a_caller(
    project: &Project,
    server: &str,
    path: &str,
    edit: (&str, &str),
    caller: &str,
    word: &str,
) {
    let workspace = project.opening().servers(&[server]).open();
    let before = project.read(path);
    let arguments = json!({"path": path, "edits": [{"old": edit.0, "new": edit.1}], "diagnostics": true});
    let mut tried = arguments.clone();
    tried["dry_run"] = json!(true);
    let answer = workspace.ok("edit", tried).await;
    assert_eq!(answer["diagnostics"]["verdict"], "complete", "{answer:#}");
    assert!(added(&answer, caller).iter().any(|message| message.contains(word)), "tried: {answer:#}");
    assert_eq!(project.read(path), before, "a trial writes nothing");
    let clean = workspace.ok("lsp_diagnostics", json!({"path": caller, "min_severity": "error"})).await;
    assert_eq!(
        (&clean["verdict"], &clean["count"]),
        (&json!("complete"), &json!(0)),
        "the trial is over: {clean:#}"
    );
    let answer = workspace.ok("edit", arguments).await;
    assert_eq!(answer["diagnostics"]["verdict"], "complete", "{answer:#}");
    assert!(added(&answer, caller).iter().any(|message| message.contains(word)), "made: {answer:#}");
    let back = json!({"path": path, "edits": [{"old": edit.1, "new": edit.0}]});
    let answer = workspace.ok("edit", back).await;
    assert_eq!(answer["diagnostics"]["added"], json!([]), "{answer:#}");
    assert!(answer["diagnostics"]["removed"].as_u64().is_some_and(|removed| removed > 0), "{answer:#}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pyright_edit_breaking_a_caller_is_reported() {
    let project = Project::of_fixture("python");
    prefer(&project, "python", "pyright");
    let edit = ("def compose(person: Person, *, shout", "def compose(person: Person, mood: str, *, shout");
    breaks_a_caller(&project, "pyright", "greet/messages.py", edit, "greet/app.py", "mood").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pylsp_move_without_import_checks_verdict_is_partial() {
    let project = Project::of_fixture("python");
    let workspace = project.opening().servers(&["pylsp"]).open();
    let arguments = json!({"from": "greet/people.py", "to": "greet/folk.py", "diagnostics": true});
    let answer = workspace.ok("move", arguments).await;
    assert_eq!(answer["diagnostics"]["verdict"], "partial", "{answer:#}");
    let notes = answer["diagnostics"]["notes"].to_string();
    assert!(notes.contains("pylsp does not check imports or types"), "{answer:#}");
    let importers =
        ["greet/__init__.py:4:26", "greet/app.py:4:26", "greet/broken.py:5:26", "greet/messages.py:3:26"];
    let by_text = format!("by text search, greet/people.py is imported at {}", importers.join(", "));
    assert!(answer["notes"].to_string().contains(&by_text), "{answer:#}");
    let edit = json!({"old": "return count + 1", "new": "return 1"});
    let mended = workspace.ok("edit", json!({"path": "greet/broken.py", "edits": [edit]})).await;
    assert_eq!(mended["diagnostics"]["gone"][0]["message"], "undefined name 'count'", "{mended:#}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn move_under_pyright_names_the_installed_server_that_updates_imports() {
    let project = Project::of_fixture("python");
    prefer(&project, "python", "pyright");
    let workspace = project.opening().servers(&["pyright", "ty"]).open();
    let moved = json!({"from": "greet/people.py", "to": "greet/folk.py", "dry_run": true});
    let answer = workspace.ok("move", moved).await;
    let told = "pyright cannot update imports of files that move; ty can: prefer.python = [\\\"ty\\\"";
    assert!(answer["notes"].to_string().contains(told), "{answer:#}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_edit_breaking_a_caller_is_reported() {
    let project = Project::of_fixture("typescript");
    let edit = (
        "export function add(one: Money, other: Money)",
        "export function add(one: Money, other: Money, rate: string)",
    );
    breaks_a_caller(
        &project,
        "typescript-language-server",
        "src/money.ts",
        edit,
        "src/basket.ts",
        "overload",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_edit_breaking_a_caller_is_reported() {
    let project = Project::of_fixture("c");
    let edit = (
        "bool queue_pop(struct queue *queue, int *number);",
        "bool queue_pop(struct queue *queue, int *number, int wait);",
    );
    breaks_a_caller(&project, "clangd", "include/queue.h", edit, "src/main.c", "Too few arguments").await;
}

/// Renames the symbol at `address`, checks the positions, and undoes it.
async fn renames(project: &Project, server: &str, address: Value, name: &str, files: &[(&str, &str)]) {
    let workspace = project.opening().servers(&[server]).open();
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let before = texts(project, &paths);
    let mut arguments = address;
    arguments["new_name"] = json!(name);
    let answer = workspace.ok("lsp_rename", arguments.clone()).await;
    for (path, expected) in files {
        assert!(project.read(path).contains(expected), "{path}: {}\n{answer:#}", project.read(path));
    }
    let checked = workspace.ok("lsp_diagnostics", json!({"paths": paths, "min_severity": "error"})).await;
    assert_eq!((&checked["verdict"], &checked["count"]), (&json!("complete"), &json!(0)), "{checked:#}");
    workspace.ok("undo", json!({"id": answer["undo"]})).await;
    assert_eq!(texts(project, &paths), before, "every byte is back");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pyright_renames_across_files() {
    let project = Project::of_fixture("python");
    prefer(&project, "python", "pyright");
    let files = [("greet/messages.py", "def greeting(person"), ("greet/app.py", "[greeting(person)")];
    renames(
        &project,
        "pyright",
        json!({"path": "greet/messages.py", "symbol": "compose"}),
        "greeting",
        &files,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn pylsp_renames_across_files() {
    let project = Project::of_fixture("python");
    let files = [("greet/messages.py", "def greeting(person"), ("greet/app.py", "[greeting(person)")];
    renames(&project, "pylsp", json!({"path": "greet/messages.py", "symbol": "compose"}), "greeting", &files)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_renames_across_files() {
    let project = Project::of_fixture("typescript");
    let files = [("src/money.ts", "export function sum(one"), ("src/basket.ts", "reduce(sum,")];
    renames(
        &project,
        "typescript-language-server",
        json!({"path": "src/money.ts", "symbol": "add"}),
        "sum",
        &files,
    )
    .await;
}

/// Remaining occurrences of the old name in the text, and importers that a server ignores, are
/// notes of the answer.
#[tokio::test(flavor = "multi_thread")]
async fn ty_rename_and_move_name_the_text_that_they_leave() {
    let project = Project::new([
        ("t.py", "__all__ = (\"cut\",)\n\n\ndef cut(x: int) -> int:\n    return x\n"),
        ("use.py", "from t import cut\n\ncut(1)\n"),
        ("README.md", "Call `cut`.\n"),
        ("ty.toml", ""),
        ("lib/pkg/__init__.py", ""),
        ("lib/pkg/old.py", "X = 1\n"),
        ("lib/pkg/user.py", "import pkg.old\n\npkg.old.X\n"),
    ]);
    prefer(&project, "python", "ty");
    let workspace = project.opening().servers(&["ty"]).open();
    let renamed = json!({"path": "t.py", "line": 3, "symbol": "cut", "new_name": "trim"});
    let answer = workspace.ok("lsp_rename", renamed).await;
    let notes = answer["notes"].to_string();
    assert!(notes.contains("`cut` remains in comments or strings of: t.py:1"), "{answer:#}");
    assert!(
        notes.contains("`cut` stands in 1 file that is no code, and stays there: README.md:1"),
        "{answer:#}"
    );
    let moved = workspace.ok("move", json!({"from": "lib/pkg/old.py", "to": "lib/pkg/new.py"})).await;
    let is_updated = project.read("lib/pkg/user.py").contains("pkg.new");
    let is_noted = moved["notes"].to_string().contains("lib/pkg/old.py is imported at lib/pkg/user.py:1");
    assert!(is_updated != is_noted, "{moved:#}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_renames_across_files() {
    let project = Project::of_fixture("c");
    let files = [
        ("include/queue.h", "bool queue_take(struct queue"),
        ("src/queue.c", "bool queue_take(struct queue"),
        ("src/main.c", "while (queue_take(queue"),
    ];
    renames(
        &project,
        "clangd",
        json!({"path": "include/queue.h", "symbol": "queue_pop"}),
        "queue_take",
        &files,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn bash_language_server_renames_within_a_file() {
    let project = Project::of_fixture("shell");
    let workspace = project.opening().servers(&["bash-language-server"]).open();
    let path = std::fs::read_dir(project.root())
        .expect("a folder")
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .find(|name| project.path(name).is_file() && project.read(name).contains("keep_last()"))
        .expect("a script");
    let arguments = json!({"path": path, "symbol": "keep_last", "new_name": "keep_previous"});
    workspace.ok("lsp_rename", arguments).await;
    let text = project.read(&path);
    assert!(text.contains("keep_previous() {") && text.contains("    keep_previous \""), "{text}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_move_of_file_updates_imports_and_undo_reverts() {
    let project = Project::of_fixture("typescript");
    let workspace = project.opening().servers(&["typescript-language-server"]).open();
    let answer = workspace
        .ok("move", json!({"from": "src/money.ts", "to": "src/lib/money.ts", "diagnostics": true}))
        .await;
    assert!(project.read("src/basket.ts").contains("./lib/money.js"), "{answer:#}");
    let checked = workspace
        .ok(
            "lsp_diagnostics",
            json!({"paths": ["src/basket.ts", "src/lib/money.ts"], "min_severity": "error"}),
        )
        .await;
    assert_eq!(checked["count"], 0, "{checked:#}");
    workspace.ok("undo", json!({"id": answer["undo"]})).await;
    assert!(project.path("src/money.ts").exists() && !project.path("src/lib").exists());
    assert!(project.read("src/basket.ts").contains("\"./money.js\""));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_quick_fix_is_listed_and_applied() {
    let project = Project::of_fixture("typescript");
    project.write("src/use.ts", "export const price = format({ cents: 1, currency: \"EUR\" });\n");
    let workspace = project.opening().servers(&["typescript-language-server"]).open();
    let at = json!({"path": "src/use.ts", "line": 0, "kind": "quickfix"});
    let list = workspace.ok("lsp_code_actions", at.clone()).await;
    let titles: Vec<&str> =
        list["actions"].as_array().expect("actions").iter().filter_map(|one| one["title"].as_str()).collect();
    let title = titles.iter().find(|title| title.contains("import")).unwrap_or_else(|| panic!("{list:#}"));
    let mut apply = at.clone();
    apply["apply"] = json!(title);
    let answer = workspace.ok("lsp_code_actions", apply).await;
    assert!(project.read("src/use.ts").starts_with("import { format }"), "{answer:#}");
    let mut wrong = at;
    wrong["apply"] = json!("no such thing");
    assert_eq!(workspace.failure("lsp_code_actions", wrong).await.0, "not_found");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_format_dry_run_shows_diff_and_format_applies_it() {
    let project = Project::of_fixture("c");
    project.write("src/odd.c", "int  f( int a ){return   a;}\n");
    let workspace = project.opening().servers(&["clangd"]).open();
    let tried = workspace.ok("lsp_format", json!({"path": "src/odd.c", "dry_run": true})).await;
    assert!(
        tried["results"][0]["diff"].as_str().is_some_and(|diff| diff.contains("+int f(int a)")),
        "{tried:#}"
    );
    assert_eq!(project.read("src/odd.c"), "int  f( int a ){return   a;}\n");
    workspace.ok("lsp_format", json!({"path": "src/odd.c"})).await;
    assert!(project.read("src/odd.c").starts_with("int f(int a)"), "{}", project.read("src/odd.c"));
    let again = workspace.ok("lsp_format", json!({"path": "src/odd.c"})).await;
    assert_eq!(again["results"], json!([]));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn bash_command_breaking_other_file_is_reported() {
    let project = Project::of_fixture("python");
    prefer(&project, "python", "pyright");
    let workspace = project.opening().servers(&["pyright"]).open();
    let clean = workspace.ok("lsp_diagnostics", json!({"path": "greet/app.py"})).await;
    assert_eq!(clean["count"], 0, "{clean:#}");
    let command = "sed -i 's/def compose(/def composed(/' greet/messages.py";
    let answer = workspace.ok("bash", json!({"command": command, "diagnostics": true})).await;
    assert_eq!(answer["changed"][0]["path"], "greet/messages.py", "{answer:#}");
    assert!(added(&answer, "greet/app.py").iter().any(|message| message.contains("compose")), "{answer:#}");
    workspace.shutdown().await;
}
