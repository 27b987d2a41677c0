//! The start of a server with and without trust: its settings, refusals, and the sentences in its
//! answers.

use std::fs;

use lsp_tools::TrustRequest;
use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace, scripted_server};

const TEXT: &str = "def one\none two\n";
const LACK: &str = "nothing was built";

/// The trust settings of the scripted server's table. The script that starts it records its `env`.
const TABLE: &str = "root-markers = [\"mark\"]
runs-project-code = true
env = { LSP_TOOLS_TEST_MODE = \"open\", LSP_TOOLS_TEST_BOTH = \"${root}\" }
settings = { scripted = { build = true, kept = 1 } }
initialization-options = { build = { scripts = true, kept = 1 } }
[server.scripted.untrusted]
args = [\"--held\"]
apart = true
unasked = [\"textDocument/formatting\"]
env = { LSP_TOOLS_TEST_MODE = \"held\" }
env-from = { LSP_TOOLS_TEST_TOOL = [\"sh\", \"-c\", \"echo chosen in $PWD; test ! -e undecided\"], LSP_TOOLS_TEST_NONE = [\"no-such-program\"] }
settings = { scripted = { build = false } }
initialization-options = { build = { scripts = false } }
refused-with = [{ file = \"tool.toml\", keys = [\"run.*.command\"] }, { file = \"server.toml\" }]
[server.scripted.untrusted.shortfall]
reason = \"nothing was built\"
command = [\"sh\", \"-c\", \"cat listing; test ! -e fails\"]
signs = [\"kind=build\"]
files = [{ file = \"tool.toml\", keys = [\"flags\"] }]
depends-on = [\"listing\"]";

fn project(listing: &str) -> Project {
    let scenario = json!({
        "configuration": {"sections": ["scripted"]},
        "answers": {"textDocument/formatting": {"result": []}},
    });
    let project = Project::scripted(&scenario, TABLE, [("a.scr", TEXT), ("mark", ""), ("listing", listing)]);
    // Its variables are recorded beside its log.
    let starter = project.beside("logs").join("start");
    let script =
        "#!/bin/sh\nenv > \"${2%/*}/env\"\necho \"LAST=$3\" >> \"${2%/*}/env\"\nexec \"$1\" \"$2\"\n";
    fs::write(&starter, script).unwrap();
    let table = project.beside("config").join("servers.toml");
    let text = fs::read_to_string(&table).unwrap();
    let program = json!(scripted_server()).to_string();
    let started = format!("\"/bin/sh\", {}, {program}", json!(starter));
    assert!(text.contains(&program));
    fs::write(&table, text.replace(&program, &started)).unwrap();
    project
}

async fn hover(workspace: &TestWorkspace) -> Value {
    workspace.ok("lsp_hover", json!({"path": "a.scr", "symbol": "one"})).await
}

/// The value of a variable at the start of the server.
fn variables(project: &Project, name: &str) -> Vec<String> {
    let env = fs::read_to_string(project.beside("logs").join("env")).unwrap();
    let lines = env.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    lines.map(str::to_owned).collect()
}

fn mode(project: &Project) -> String {
    let both = project.root().display().to_string();
    assert_eq!(variables(project, "LSP_TOOLS_TEST_BOTH"), [both], "variables of both starts, filled in");
    variables(project, "LSP_TOOLS_TEST_MODE").concat()
}

async fn trust(workspace: &TestWorkspace) {
    let shown = workspace.trust(TrustRequest::Show).await.unwrap();
    assert!(shown.items.iter().any(|item| item.name == "the server scripted"), "{shown:?}");
    workspace.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_rule_settings_apply_until_project_is_trusted() {
    let project = project("kind=library\n");
    let workspace = project.open();
    let answer = hover(&workspace).await;
    assert_eq!((&answer["verdict"], &answer["server_status"]["detail"]), (&json!("complete"), &Value::Null));
    assert_eq!(mode(&project), "held");
    assert_eq!(variables(&project, "LSP_TOOLS_TEST_TOOL"), ["chosen"]);
    assert!(variables(&project, "LSP_TOOLS_TEST_NONE").is_empty());
    assert_eq!(
        (variables(&project, "PWD"), variables(&project, "LAST")),
        (vec!["/".into()], vec!["--held".into()])
    );
    assert_eq!(workspace.failure("lsp_format", json!({"path": "a.scr"})).await.0, "unsupported");
    let log = project.log();
    let options = &log.params("initialize")[0]["initializationOptions"];
    assert_eq!(*options, json!({"build": {"scripts": false, "kept": 1}}));
    let settings = log.answer(&json!("configuration")).unwrap()["result"].clone();
    assert_eq!(settings, json!([{"build": false, "kept": 1}]));
    trust(&workspace).await;
    workspace.shutdown().await;

    fs::remove_file(log.path()).unwrap();
    project.write("server.toml", "");
    let workspace = project.open();
    assert_eq!(hover(&workspace).await["verdict"], "complete");
    assert_eq!(mode(&project), "open");
    let root = project.root().display().to_string();
    assert_eq!((variables(&project, "PWD"), variables(&project, "LAST")), (vec![root], vec![String::new()]));
    workspace.ok("lsp_format", json!({"path": "a.scr"})).await;
    assert!(variables(&project, "LSP_TOOLS_TEST_TOOL").is_empty());
    let options = &log.params("initialize")[0]["initializationOptions"];
    assert_eq!(*options, json!({"build": {"scripts": true, "kept": 1}}));
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_project_file_not_overridable_disables_server() {
    let project = project("");
    project.write("tool.toml", "[run.it]\ncommand = \"./evil\"\n");
    let workspace = project.open();
    let answer = hover(&workspace).await;
    let status = &answer["server_status"];
    assert_eq!((&answer["verdict"], &status["state"]), (&json!("hints"), &json!("disabled")), "{answer}");
    let why = "scripted would run code that `run.*.command` of `tool.toml` of this project names; to allow that, run: lsp-tools trust";
    assert_eq!(status["detail"], why);
    assert_eq!(project.log().starts(), 0);
    // Without that word, the file is an ordinary one.
    project.write("tool.toml", "[run.it]\nname = \"x\"\n");
    assert_eq!(hover(&workspace).await["verdict"], "complete");
    assert_eq!(project.log().starts(), 1);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_rule_variable_command_failing_disables_server() {
    let project = project("");
    project.write("undecided", "");
    let workspace = project.open();
    let answer = hover(&workspace).await;
    let detail = answer["server_status"]["detail"].as_str().unwrap_or_default();
    assert!(
        detail.contains("it was not started, because `sh -c") && detail.contains("failed: chosen in"),
        "{detail}"
    );
    assert_eq!(project.log().starts(), 0);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_project_file_added_later_stops_server() {
    let project = project("");
    let workspace = project.open();
    assert_eq!(hover(&workspace).await["verdict"], "complete");
    project.write("server.toml", "");
    let answer = hover(&workspace).await;
    assert_eq!(
        (&answer["verdict"], &answer["server_status"]["state"]),
        (&json!("hints"), &json!("disabled"))
    );
    let heard = project.log().params("workspace/didChangeWatchedFiles");
    assert!(heard.is_empty(), "it ended before it could hear of the file: {heard:?}");
    fs::remove_file(project.path("server.toml")).unwrap();
    assert_eq!(hover(&workspace).await["verdict"], "complete");
    assert_eq!(project.log().starts(), 2);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_restrictions_that_matter_make_answers_partial() {
    for (listing, file) in [("kind=library\nkind=build\n", ""), ("", "fails"), ("", "tool.toml")] {
        let project = project(listing);
        if !file.is_empty() {
            project.write(file, "flags = []\n");
        }
        let workspace = project.open();
        let answer = hover(&workspace).await;
        let said =
            (&answer["verdict"], &answer["server_status"]["state"], &answer["server_status"]["detail"]);
        assert_eq!(said, (&json!("partial"), &json!("ready"), &json!(LACK)), "{listing} {file}");
        for (tool, arguments) in [
            ("lsp_references", json!({"path": "a.scr", "symbol": "one"})),
            ("lsp_symbols", json!({"query": "one"})),
            ("lsp_diagnostics", json!({"path": "a.scr"})),
        ] {
            assert_eq!(workspace.ok(tool, arguments).await["verdict"], "partial", "{tool}");
        }
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_restrictions_are_reevaluated_when_files_change() {
    let project = project("kind=library\n");
    let workspace = project.open();
    assert_eq!(hover(&workspace).await["verdict"], "complete");
    project.write("listing", "kind=build\n");
    assert_eq!(hover(&workspace).await["verdict"], "partial");
    project.write("listing", "kind=library\n");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while hover(&workspace).await["verdict"] != "complete" {
        assert!(std::time::Instant::now() < deadline, "it stays partial");
    }
    assert_eq!(project.log().starts(), 1);
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_project_cannot_change_its_untrusted_rule() {
    let project = project("kind=build\n");
    let own = "[server.scripted.untrusted]\nenv = {}\nrefused-with = []\n[server.rust-analyzer.untrusted]\nrefused-with = []\n";
    project.write(".lsp-tools/servers.toml", own);
    let workspace = project.open();
    let answer = hover(&workspace).await;
    assert_eq!((&answer["verdict"], mode(&project).as_str()), (&json!("partial"), "held"));
    let shown = workspace.trust(TrustRequest::Show).await.unwrap();
    let names: Vec<_> = shown.items.iter().map(|item| item.name.as_str()).collect();
    let named = |server: &str| names.iter().any(|name| name.contains(&format!("server.{server}.untrusted")));
    assert!(named("scripted") && named("rust-analyzer"), "{names:?}");
    workspace.shutdown().await;
}

/// A server's statement about its own health counts too: without the sources of a standard library
/// its answers are incomplete.
#[tokio::test(flavor = "multi_thread")]
async fn server_health_warning_answer_is_partial() {
    let status = json!({"health": "warning", "quiescent": true, "message": "no sources:\n  install them"});
    let said = json!({"at": "initialized", "do": {"notify": {"method": "experimental/serverStatus", "params": status}}});
    let table = "readiness = { server-status = true }";
    let project = Project::scripted(&json!({"rules": [said]}), table, [("a.scr", TEXT)]);
    let workspace = project.open();
    let answer = hover(&workspace).await;
    let status = &answer["server_status"];
    assert_eq!((&answer["verdict"], &status["state"]), (&json!("partial"), &json!("ready")), "{answer}");
    assert_eq!(status["detail"], "no sources: install them");
    workspace.shutdown().await;
}
