//! `get_errors`: fresh diagnostics with their verdict.

use serde_json::json;

use super::{absolute, done, refused};
use crate::support::Project;

#[tokio::test(flavor = "multi_thread")]
async fn get_errors_after_edit_answers_for_new_text() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\nfoo WRONG\n"), ("b.scr", "foo\n")]);
    let workspace = project.open();
    let path = absolute(&project, "a.scr");
    let input = json!({"filePaths": [path]});
    let wrong = done(&workspace, "get_errors", input.clone()).await.text;
    assert!(wrong.contains(&format!("{path}:2:5 error: WRONG (W1, scripted)")), "{wrong}");
    assert!(
        wrong.ends_with("1 finding in 1 file; verdict: complete (all servers answered for the current text)"),
        "{wrong}"
    );
    done(&workspace, "insert_edit_into_file", json!({"filePath": path, "code": "def foo\nfoo\n"})).await;
    let right = done(&workspace, "get_errors", input).await.text;
    assert_eq!(right, "0 findings in 1 file; verdict: complete (no errors or warnings)");
    let all = done(&workspace, "get_errors", json!({})).await.text;
    assert!(all.contains("in 2 files"), "the whole workspace: {all}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_errors_from_silent_server_is_not_reported_clean() {
    let silent = json!({"diagnostics": {"mode": "none"}});
    let project =
        Project::scripted(&silent, "diagnostics = {source = \"versioned-push\"}", [("a.scr", "WRONG\n")]);
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[deadlines]\ndiagnostics = 800\n")
        .expect("settings");
    let workspace = project.opening().timeout(None).open();
    let text = done(&workspace, "get_errors", json!({"filePaths": [absolute(&project, "a.scr")]})).await.text;
    assert!(text.contains("does not mean clean"), "{text}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn get_errors_with_pyright_reports_new_type_error() {
    let project = Project::of_fixture("python");
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "prefer.python = [\"pyright\"]\n")
        .expect("settings");
    let workspace = project.opening().servers(&["pyright"]).open();
    let path = absolute(&project, "greet/app.py");
    let text = project.read("greet/app.py");
    let clean = done(&workspace, "get_errors", json!({"filePaths": [path]})).await.text;
    assert!(clean.contains("verdict: complete"), "{clean}");
    let broken = format!("{text}\nnumber: int = \"text\"\n");
    done(&workspace, "insert_edit_into_file", json!({"filePath": path, "code": broken})).await;
    let told = done(&workspace, "get_errors", json!({"filePaths": [path]})).await.text;
    let line = broken.lines().count();
    assert!(told.contains(&format!("{path}:{line}:15 error:")) && told.contains("pyright"), "{told}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_server_answers_name_install_command_and_never_clean() {
    let project = Project::new([("a.py", "def total():\n    return 1\n\n\ntotal()\n")]);
    let elsewhere = "[server.pylsp]\ncommand = [\"no-such-pylsp\"]\n";
    std::fs::write(project.beside("config").join("servers.toml"), elsewhere).expect("servers.toml");
    let workspace = project.open();
    let place = json!({"path": "a.py", "line": 4, "character": 1});
    for (name, arguments) in [
        ("lsp_diagnostics", json!({"path": "a.py"})),
        ("lsp_definition", place.clone()),
        ("lsp_hover", place),
    ] {
        let answer = workspace.call(name, arguments).await.value;
        assert_eq!(
            answer["ok"],
            name != "lsp_diagnostics",
            "what was found instead is an answer: {answer:#}"
        );
        let status = &answer["server_status"];
        assert_eq!(
            (&answer["verdict"], &status["state"]),
            (&json!("hints"), &json!("missing")),
            "{name}: {answer:#}"
        );
        assert!(
            status["install"].as_str().is_some_and(|command| command == "pip install python-lsp-server"),
            "{name}: {answer:#}"
        );
    }
    let definition =
        workspace.ok("lsp_definition", json!({"path": "a.py", "line": 4, "symbol": "total"})).await;
    assert_eq!(definition["location"]["range"]["start"]["line"], 0, "found all the same: {definition:#}");
    let text = refused(&workspace, "get_errors", json!({"filePaths": [absolute(&project, "a.py")]})).await;
    assert!(text.contains("pylsp is not installed; run: ") && text.contains("does not mean clean"), "{text}");
    workspace.shutdown().await;
}
