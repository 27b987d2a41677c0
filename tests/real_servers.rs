//! The main path on real servers: each gets requests on a copy of a fixture, before and after edits
//! by other programs.

use crate::support::Project;
use lsp_tools::internals::lsp::Severity;
use lsp_tools::internals::tools::CallDirection;
use lsp_tools::{Answer, Runtime, Target, Verdict};
use serde_json::json;

fn named(path: &str, name: &str) -> Target {
    Target::NameInFile { path: path.into(), name: name.to_owned() }
}

fn on_line(path: &str, line: u32, name: &str) -> Target {
    Target::NameOnLine { path: path.into(), line0: line - 1, name: name.to_owned() }
}

fn complete<T>(answer: Answer<T>) -> T {
    assert_eq!(answer.verdict, Verdict::Complete, "{:?} {:?}", answer.server_status, answer.notes);
    answer.output
}

async fn messages(runtime: &Runtime, path: &str) -> Vec<String> {
    let answer = runtime.diagnose(vec![path.into()], Some(Severity::Warning), 100).await.expect("an answer");
    let found = complete(answer).diagnostics;
    found.into_iter().map(|item| format!("{}: {}", item.range.start.line + 1, item.message)).collect()
}

async fn definition(runtime: &Runtime, target: Target) -> String {
    let found = complete(runtime.definition(target).await.expect("an answer"));
    let place = found.locations.first().expect("a definition").clone();
    format!("{}:{} {}", place.path, place.range.start.line + 1, place.text.unwrap_or_default().trim())
}

fn has(messages: &[String], part: &str) -> bool {
    messages.iter().any(|message| message.contains(part))
}

#[tokio::test(flavor = "multi_thread")]
async fn pylsp_answers_are_complete_and_follow_edits() {
    let project = Project::of_fixture("python");
    let runtime = project.opening().servers(&["pylsp"]).open();
    let hover = complete(runtime.hover(on_line("greet/app.py", 9, "compose")).await.expect("an answer"));
    assert!(hover.contents.contains("Compose a greeting"), "{}", hover.contents);
    assert_eq!(
        definition(&runtime, on_line("greet/app.py", 9, "compose")).await,
        "greet/messages.py:8 def compose(person: Person, *, shout: bool = False) -> str:"
    );
    let uses =
        complete(runtime.references(named("greet/people.py", "Person"), 100).await.expect("an answer"));
    assert!(
        uses.count >= 6 && uses.locations.iter().any(|place| place.path == "greet/messages.py"),
        "{uses:?}"
    );
    let outline =
        complete(runtime.symbols(Target::File("greet/app.py".into()), 50).await.expect("an answer"));
    let names: Vec<&str> = outline.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(names, ["greet_all", "main"], "definitions, not imports");
    assert!(has(&messages(&runtime, "greet/broken.py").await, "14: undefined name 'count'"));
    let fixed = project.read("greet/broken.py").replace("return count + 1", "return 1");
    project.write("greet/broken.py", &fixed);
    assert!(!has(&messages(&runtime, "greet/broken.py").await, "undefined name"));
    project.write("greet/broken.py", "x = \"😀😀\"; y = missing_name\n");
    let answer = runtime.diagnose(vec!["greet/broken.py".into()], None, 100).await.expect("an answer");
    let found = complete(answer).diagnostics;
    let item = found.iter().find(|item| item.message.contains("missing_name")).expect("the undefined name");
    assert_eq!(
        (item.range.start.character, item.range.end.character),
        (14, 26),
        "columns behind astral characters"
    );
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lsp_definition_and_hover_take_0_based_positions_and_answer_contract_fields() {
    let project = Project::of_fixture("python");
    let workspace = project.opening().servers(&["pylsp"]).open();
    let at = json!({"path": "greet/app.py", "line": 8, "character": 12});
    let defined = workspace.ok("lsp_definition", at.clone()).await;
    let range = json!({"start": {"line": 7, "character": 4}, "end": {"line": 7, "character": 11}});
    let uri = format!("file://{}", project.root().join("greet/messages.py").display());
    assert_eq!(defined["location"], json!({"uri": uri, "range": range}));
    let hovered = workspace.ok("lsp_hover", at).await;
    assert!(
        hovered["contents"].as_str().is_some_and(|text| text.contains("Compose a greeting")),
        "{hovered}"
    );
    for answer in [defined, hovered] {
        let status = &answer["server_status"];
        assert_eq!(
            (&status["language"], &status["server"], &status["state"]),
            (&json!("python"), &json!("pylsp"), &json!("ready")),
        );
        assert_eq!(answer["ok"], true);
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_too_complex_for_pyright_makes_its_diagnostics_partial() {
    let branches = (0..900).map(|number| format!("        if a == {number}:\n            x = {number}\n"));
    let text = format!(
        "def f(a: int) -> int:\n    x = 0\n    while a:\n{}    return ''\n",
        branches.collect::<String>()
    );
    let project = Project::new([("m.py", text.as_str())]);
    let runtime = project.opening().servers(&["pyright"]).open();
    let answer = runtime.diagnose(vec!["m.py".into()], None, 100).await.expect("an answer");
    assert_eq!(answer.verdict, Verdict::Partial, "the wrong type of the last line is not found: {answer:?}");
    assert!(format!("{:?}", answer.output.incomplete).contains("too complex"), "{answer:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pyright_diagnostics_follow_changes_of_other_files() {
    let project = Project::of_fixture("python");
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let runtime = project.opening().servers(&["pyright"]).open();
    let hover = complete(runtime.hover(on_line("greet/app.py", 9, "compose")).await.expect("an answer"));
    assert!(hover.contents.contains("def compose"), "{}", hover.contents);
    let broken = messages(&runtime, "greet/broken.py").await;
    assert!(has(&broken, "10: ") && has(&broken, "18: "), "{broken:?}");
    assert_eq!(messages(&runtime, "greet/app.py").await, Vec::<String>::new());
    let renamed = project.read("greet/messages.py").replace("def compose", "def composed");
    project.write("greet/messages.py", &renamed);
    assert!(has(&messages(&runtime, "greet/app.py").await, "compose"), "an import that broke elsewhere");
    let callers = complete(
        runtime
            .calls(named("greet/app.py", "greet_all"), CallDirection::Incoming, 1)
            .await
            .expect("an answer"),
    );
    assert_eq!(callers.items[0].children[0].name, "main", "{callers:?}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bash_language_server_first_answer_is_complete_and_lints() {
    let project = Project::of_fixture("shell");
    let runtime = project.opening().servers(&["bash-language-server"]).open();
    let symbols = complete(runtime.symbols(Target::File("deploy.sh".into()), 50).await.expect("an answer"));
    let names: Vec<&str> = symbols.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(names, ["keep_last", "release"], "the first answer after the start is whole");
    assert_eq!(
        definition(&runtime, on_line("deploy.sh", 18, "keep_last")).await,
        "deploy.sh:8 keep_last() {"
    );
    let broken = messages(&runtime, "broken.sh").await;
    assert!(!broken.is_empty(), "shellcheck came with the server");
    let all = runtime.diagnose(Vec::new(), None, 100).await.expect("an answer");
    assert_eq!((all.verdict, all.output.files), (Verdict::Complete, 4), "each of several files: {all:?}");
    project.write("broken.sh", "#!/bin/sh\necho right\n");
    assert_eq!(messages(&runtime, "broken.sh").await, Vec::<String>::new());
    runtime.shutdown().await;
}

/// The server would name a shell for scripts without `#!`, as shellcheck alone does not.
#[tokio::test(flavor = "multi_thread")]
async fn shellcheck_itself_decides_for_which_shell_a_script_is() {
    const UNKNOWN: &str = "Tips depend on target shell and yours is unknown.";
    let test = "[[ -n $HOME ]]\n";
    let late = format!("echo\n# shellcheck shell=sh\n{test}");
    let blank = format!("\n#!/bin/sh\n{test}");
    let named = format!("# shellcheck shell=bash\n{test}");
    let project = Project::new([
        ("plain.sh", test),
        ("crlf.sh", "echo\r\n"),
        ("empty.sh", ""),
        ("late.sh", &late),
        ("blank.sh", &blank),
        ("named.sh", &named),
        ("known.bash", test),
        ("known.ksh", test),
        ("known.bats", test),
    ]);
    let runtime = project.opening().servers(&["bash-language-server"]).open();
    for script in ["plain.sh", "crlf.sh", "empty.sh", "late.sh"] {
        assert!(has(&messages(&runtime, script).await, UNKNOWN), "{script}");
    }
    let blank = messages(&runtime, "blank.sh").await;
    assert!(has(&blank, "In POSIX sh, [[ ]] is undefined") && !has(&blank, UNKNOWN), "{blank:?}");
    for script in ["named.sh", "known.bash", "known.ksh", "known.bats"] {
        assert_eq!(messages(&runtime, script).await, Vec::<String>::new(), "{script}");
    }
    for settings in ["disable=SC2000-SC3000\n", "shell=bash\n"] {
        project.write(".shellcheckrc", settings);
        assert_eq!(messages(&runtime, "plain.sh").await, Vec::<String>::new(), "{settings}");
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_answers_are_complete_and_follow_edits() {
    let project = Project::of_fixture("typescript");
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let hover = complete(runtime.hover(on_line("src/basket.ts", 1, "add")).await.expect("an answer"));
    assert!(hover.contents.contains("Adds two amounts"), "the type, not `import add`: {}", hover.contents);
    let broken = messages(&runtime, "src/broken.ts").await;
    assert!(has(&broken, "4: Type 'string'") && has(&broken, "5: Cannot find name"), "{broken:?}");
    assert_eq!(messages(&runtime, "src/basket.ts").await, Vec::<String>::new());
    let renamed = project.read("src/money.ts").replace("function add(", "function plus(");
    project.write("src/money.ts", &renamed);
    assert!(has(&messages(&runtime, "src/basket.ts").await, "add"), "an import that broke elsewhere");
    project.write("src/money.ts", renamed.replace("function plus(", "function add("));
    assert_eq!(messages(&runtime, "src/basket.ts").await, Vec::<String>::new());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_files_without_tsconfig_share_references() {
    let project = Project::new([
        ("package.json", "{}\n"),
        ("src/a.js", "export function alpha() {}\n"),
        ("src/b.js", "import { alpha } from './a.js';\nalpha();\n"),
        ("lib/c.js", "import { alpha } from '../src/a.js';\nalpha();\n"),
    ]);
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let uses = complete(runtime.references(named("src/a.js", "alpha"), 100).await.expect("an answer"));
    assert_eq!(uses.count, 5, "{:?}", uses.locations);
    let callers = complete(
        runtime.calls(named("src/a.js", "alpha"), CallDirection::Incoming, 1).await.expect("an answer"),
    );
    assert_eq!(callers.count, 2, "{callers:?}");
    let arguments = json!({ "path": "src/a.js", "line": 0, "character": 17, "new_name": "omega" });
    runtime.ok("lsp_rename", arguments).await;
    assert_eq!(project.read("lib/c.js"), "import { omega } from '../src/a.js';\nomega();\n");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_diagnostics_follow_header_changes() {
    let project = Project::of_fixture("c");
    let runtime = project.opening().servers(&["clangd"]).open();
    // It indexes the comments of headers shortly after reading them, without a signal.
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let hover = complete(runtime.hover(on_line("src/main.c", 9, "queue_pop")).await.expect("an answer"));
        if hover.contents.contains("Takes the number at the front") {
            break;
        }
        assert!(std::time::Instant::now() < patience, "{}", hover.contents);
    }
    assert!(has(&messages(&runtime, "src/broken.c").await, "No member named 'size'"));
    assert_eq!(messages(&runtime, "src/main.c").await, Vec::<String>::new());
    let header = project.read("include/queue.h");
    project.write("include/queue.h", header.replace("queue_pop(", "queue_take("));
    assert!(has(&messages(&runtime, "src/main.c").await, "queue_pop"), "a header that changed");
    project.write("include/queue.h", header);
    assert_eq!(messages(&runtime, "src/main.c").await, Vec::<String>::new());
    runtime.shutdown().await;
}
