//! No tool shows files that rules hide.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::with_settings;
use crate::support::Project;

const KEY: &str = "API_KEY=s3cr3t";

fn project() -> Project {
    let project = Project::new([
        (".env", KEY),
        ("config/.env", KEY),
        ("keys/a.txt", KEY),
        ("keys/deep/b.txt", KEY),
        ("open.txt", "API_KEY is in .env\n"),
    ]);
    symlink(".env", project.path("innocent.txt")).unwrap();
    symlink("keys", project.path("door")).unwrap();
    project
}

const WHOLE: [(&str, &str); 3] = [("hidden", "true"), ("no_ignore", "true"), ("semantic", "false")];

fn grep(path: &str) -> Value {
    let mut arguments = json!({"pattern": "API_KEY", "path": path, "context": 3});
    for (name, value) in WHOLE {
        arguments[name] = json!(value == "true");
    }
    arguments
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_read_denied_path_is_shown_by_no_tool() {
    for rules in ["deny = ['read(.env)', 'read(keys/**)']", "deny = ['effect:read(.env)', '*(keys/**)']"] {
        let project = project();
        let workspace = with_settings(&project, &format!("[permissions]\n{rules}\n"));
        let found = workspace.ok("grep", grep(".")).await;
        assert!(!found.to_string().contains("s3cr3t"), "{found}");
        assert_eq!((&found["count"], &found["matches"][0]["path"]), (&json!(1), &json!("open.txt")));
        assert!(found["notes"].to_string().contains("rule"), "omissions are reported: {found}");
        for mode in ["files_with_matches", "count"] {
            let mut arguments = grep(".");
            arguments["output_mode"] = json!(mode);
            let found = workspace.ok("grep", arguments).await;
            assert!(!found.to_string().contains(".env\""), "{mode}: {found}");
        }
        for path in [".env", "config/.env", "innocent.txt", "keys/a.txt", "door/a.txt", "door/deep/b.txt"] {
            for (tool, arguments) in [
                ("read", json!({"path": path})),
                ("grep", grep(path)),
                ("lsp_hover", json!({"path": path, "line": 0, "character": 0})),
                ("lsp_symbols", json!({"path": path})),
                ("lsp_diagnostics", json!({"path": path})),
                ("edit", json!({"path": path, "edits": [{"old": "API_KEX=", "new": "x"}]})),
                ("write", json!({"path": path, "content": "x"})),
                ("patch", json!({"patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-no\n+x\n")})),
                ("move", json!({"from": path, "to": "shown.txt"})),
            ] {
                let result = workspace.call(tool, arguments).await;
                assert!(!result.value.to_string().contains("s3cr3t"), "{tool} {path}: {}", result.value);
                assert!(!result.ok() || result.value["count"] == 0, "{tool} {path}: {}", result.value);
            }
        }
        for mistyped in [".evn", "config/.en", "keys/b.txt", "a.txt"] {
            let result = workspace.call("read", json!({"path": mistyped})).await;
            assert!(!result.ok() && result.value["hint"].is_null(), "{mistyped}: {}", result.value);
        }
        for (tool, arguments) in [
            ("glob", json!({"pattern": "**/*", "hidden": true})),
            ("glob", json!({"pattern": "**/*", "hidden": true, "path": "door"})),
            ("list", json!({"path": "keys"})),
            ("list", json!({"path": "door", "recursive": true})),
            ("list", json!({"path": "config"})),
        ] {
            let result = workspace.call(tool, arguments.clone()).await;
            let shown = result.value.to_string();
            assert!(!shown.contains("/.env") && !shown.contains("a.txt"), "{tool} {arguments}: {shown}");
        }
        assert_eq!(project.read(".env"), KEY);
        assert_eq!(project.read("keys/a.txt"), KEY);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_move_of_folder_with_read_denied_file_is_refused() {
    let project = project();
    let workspace = with_settings(&project, "[permissions]\ndeny = ['read(keys/deep/b.txt)']\n");
    let arguments = json!({"from": "keys", "to": "shown"});
    let result = workspace.call("move", arguments).await;
    assert!(!result.ok(), "{}", result.value);
    assert_eq!(project.read("keys/deep/b.txt"), KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_grep_skips_path_with_ask_rule_unless_named() {
    let project = project();
    let workspace = with_settings(&project, "[permissions]\nask = ['read(.env)']\n");
    let found = workspace.ok("grep", grep(".")).await;
    let paths: Vec<_> = found["matches"].as_array().unwrap().iter().map(|hit| &hit["path"]).collect();
    assert_eq!(paths, ["keys/a.txt", "keys/deep/b.txt", "open.txt"]);
    // The approver agrees.
    let found = workspace.ok("grep", grep(".env")).await;
    assert_eq!(found["count"], 1, "{found}");
    assert_eq!(workspace.ok("read", json!({"path": ".env"})).await["content"], KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_grep_without_read_rules_finds_every_file() {
    let project = project();
    let workspace = project.open();
    assert_eq!(workspace.ok("grep", grep(".")).await["count"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_45_command_line_applies_same_permission_rules() {
    let project = Project::new([(".env", KEY), ("a.py", "x = 1\n"), ("secret.py", "key = 1\n")]);
    let settings = "[permissions]\ndeny = ['read(.env)', '*(secret.py)', 'lsp_references']\n";
    let workspace = with_settings(&project, settings);
    let run = |arguments: &[&str]| {
        let output = project.command(None).args(arguments).output().expect("an end");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (tool, arguments, typed) in [
        ("read", json!({"path": ".env"}), None),
        ("grep", json!({"pattern": "KEY", "path": ".env"}), None),
        (
            "lsp_hover",
            json!({"path": "secret.py", "line": 0, "character": 0}),
            Some(vec!["hover", "secret.py:1:1"]),
        ),
        ("lsp_symbols", json!({"path": "secret.py"}), Some(vec!["symbols", "secret.py"])),
        ("lsp_diagnostics", json!({"path": "secret.py"}), Some(vec!["check", "secret.py"])),
        (
            "lsp_references",
            json!({"path": "a.py", "line": 0, "character": 0}),
            Some(vec!["references", "a.py:1:1"]),
        ),
    ] {
        let (code, _) = workspace.failure(tool, arguments.clone()).await;
        assert_eq!(code, "denied", "{tool}");
        let (status, shown) = run(&["--format", "json", "tools", "call", tool, &arguments.to_string()]);
        assert_eq!(status, Some(5), "{tool}: {shown}");
        if let Some(typed) = typed {
            let (status, shown) = run(&typed);
            assert_eq!(status, Some(5), "{typed:?}: {shown}");
        }
    }
    let (status, _) = run(&["tools", "call", "read", r#"{"path":"a.py"}"#]);
    assert_eq!(status, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_undo_of_read_denied_file_is_denied() {
    let project = project();
    let free = project.open();
    free.ok("write", json!({"path": "keys/a.txt", "content": "new"})).await;
    let workspace = with_settings(&project, "[permissions]\ndeny = ['read(keys)']\n");
    let (code, _) = workspace.failure("undo", json!({})).await;
    assert_eq!(code, "denied");
    assert_eq!(project.read("keys/a.txt"), "new");
}

/// Definitions in hidden files: only their position is shown, and they are not changed.
#[tokio::test(flavor = "multi_thread")]
async fn row_23_symbol_tools_show_no_source_of_read_denied_file() {
    let secret = "def token():\n    return \"s3cr3t\"\n\n\ndef other():\n    return token() + \"s3cr3t\"\n";
    for servers in [&[][..], &["pyright"]] {
        let project = Project::new([
            ("pyproject.toml", "[tool.pyright]\n"),
            ("keys/a.py", secret),
            ("keys/__init__.py", ""),
            ("app.py", "from keys.a import token\n\n\ndef use():\n    return token()\n"),
        ]);
        let settings = "[permissions]\ndeny = ['read(keys/**)']\n";
        std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        let workspace = project.opening().servers(servers).open();
        for (tool, arguments) in [
            ("explore", json!({"symbol": "token"})),
            ("explore", json!({"path": "app.py", "symbol": "token"})),
            ("explore", json!({"path": "app.py", "line": 4, "symbol": "token"})),
            ("edit_symbol", json!({"symbol": "token", "after": "x = 1", "dry_run": true})),
            (
                "edit_symbol",
                json!({"path": "app.py", "line": 4, "symbol": "token", "body": "def token(): pass"}),
            ),
            ("edit_symbol", json!({"path": "app.py", "line": 4, "symbol": "token", "delete": true})),
            ("read", json!({"path": "keys/a.py", "symbol": "token"})),
        ] {
            let answer = workspace.call(tool, arguments.clone()).await.value;
            assert!(!answer.to_string().contains("s3cr3t"), "{tool} {arguments}: {answer}");
            assert_eq!(project.read("keys/a.py"), secret, "{tool} {arguments}: {answer}");
        }
        let listed = workspace.call("lsp_symbols", json!({"query": "othe"})).await.value;
        assert!(!listed.to_string().contains("keys/a.py"), "{listed}");
        let all = workspace.ok("lsp_symbols", json!({"query": "us"})).await;
        assert!(all["symbols"].to_string().contains("app.py"), "{all}");
        workspace.shutdown().await;
    }
}

const SECRET_MODULE: &str = r#"SECRET_KEY = "s3cr3t"


class Vault:
    """Opens with s3cr3t."""

    def s3cr3t_member(self):
        return hidden_callee()


def hidden_callee():
    return 1


def token(key="s3cr3t"):
    """Gives s3cr3t."""
    return Vault().s3cr3t_member()
"#;

const ASKING_MODULE: &str = r#"from MODULE import SECRET_KEY, Vault, token


def use():
    vault = Vault()
    vault.
    return token(), SECRET_KEY


def open_function(count=3):
    """Is for all to see."""
    return open_function(count)
"#;

/// A server that has read the hidden file repeats its text in the documentation of a symbol from
/// it.
#[tokio::test(flavor = "multi_thread")]
async fn row_23_server_answer_shows_no_source_of_denied_file_under_any_name() {
    for module in ["keys.a", "twin"] {
        let asking = ASKING_MODULE.replace("MODULE", module);
        let project = Project::new([
            ("pyproject.toml", "[tool.pyright]\n"),
            ("keys/a.py", SECRET_MODULE),
            ("keys/__init__.py", ""),
            ("app.py", asking.as_str()),
        ]);
        std::fs::hard_link(project.path("keys/a.py"), project.path("twin.py")).expect("a hard link");
        let settings = "[permissions]\ndeny = ['*(keys/**)']\n";
        std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        let workspace = project.opening().servers(&["pyright"]).open();
        let mut asked = vec![
            ("lsp_completion", json!({"path": "app.py", "line": 5, "character": 10})),
            ("lsp_signature", json!({"path": "app.py", "line": 6, "character": 17})),
            (
                "lsp_calls",
                json!({"path": "app.py", "line": 6, "symbol": "token", "direction": "outgoing", "depth": 3}),
            ),
            (
                "lsp_calls",
                json!({"path": "app.py", "line": 6, "symbol": "token", "direction": "incoming", "depth": 3}),
            ),
            ("lsp_diagnostics", json!({"path": "app.py"})),
            ("lsp_diagnostics", json!({"path": "."})),
            ("lsp_symbols", json!({"query": "s3cr3t"})),
            ("lsp_symbols", json!({"query": "hidden"})),
            (
                "lsp_rename",
                json!({"path": "app.py", "line": 6, "symbol": "token", "new_name": "other", "dry_run": true}),
            ),
            ("grep", json!({"pattern": "s3cr3.", "semantic": true})),
            ("explore", json!({"symbol": "token"})),
            ("explore", json!({"symbol": "hidden_callee"})),
        ];
        for symbol in ["token", "Vault", "SECRET_KEY"] {
            let line = if symbol == "Vault" { 4 } else { 6 };
            let place = json!({"path": "app.py", "line": line, "symbol": symbol});
            asked.extend(["lsp_hover", "lsp_references", "explore"].map(|tool| (tool, place.clone())));
            let with_body = json!({"path": "app.py", "line": line, "symbol": symbol, "body": true});
            asked.push(("lsp_definition", with_body));
        }
        asked.push(("lsp_hover", json!({"path": "app.py", "line": 4, "symbol": "vault"})));
        for path in ["twin.py", "keys/a.py"] {
            let place = json!({"path": path, "symbol": "token"});
            let tools = ["lsp_hover", "lsp_definition", "lsp_references", "explore"];
            asked.extend(tools.map(|tool| (tool, place.clone())));
            asked
                .extend(["read", "lsp_symbols", "lsp_diagnostics"].map(|tool| (tool, json!({"path": path}))));
            asked.push(("lsp_completion", json!({"path": path, "line": 8, "character": 0})));
            asked.push(("edit", json!({"path": path, "edits": [{"old": "SECRET_KEX", "new": "x"}]})));
        }
        for (tool, arguments) in asked {
            let answer = workspace.call(tool, arguments.clone()).await.value.to_string();
            for hidden in ["s3cr3t", "hidden_callee", "Opens with"] {
                let is_asked = arguments.to_string().contains(hidden);
                assert!(is_asked || !answer.contains(hidden), "{module} {tool} {arguments}: {answer}");
            }
        }
        for (symbol, line) in [("token", 6), ("SECRET_KEY", 6), ("Vault", 4)] {
            let hover =
                workspace.ok("lsp_hover", json!({"path": "app.py", "line": line, "symbol": symbol})).await;
            assert!(hover["notes"].to_string().contains("a rule hides"), "{hover}");
        }
        // Definitions elsewhere are shown as without the rule.
        let place = json!({"path": "app.py", "line": 11, "symbol": "open_function"});
        let hover = workspace.ok("lsp_hover", place).await;
        assert!(hover["contents"].to_string().contains("Is for all to see"), "{hover}");
        let called = json!({"path": "app.py", "line": 11, "character": 25});
        let signature = workspace.ok("lsp_signature", called).await;
        assert!(signature["signatures"].to_string().contains("count"), "{signature}");
        assert_eq!(project.read("keys/a.py"), SECRET_MODULE);
        workspace.shutdown().await;
    }
}
