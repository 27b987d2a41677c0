use std::os::unix::fs::PermissionsExt;

use lsp_tools::Approval;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn audit_log_has_one_line_per_call_without_content() {
    let stage = Stage::new("[permissions]\ndeny = ['test_edit(secret)']\nallow = ['test_fetch(docs.rs)']\n");
    let runtime = stage.runtime();
    stage.call(&runtime, "test_read", json!({"path": "src/a.rs", "text": "hunter2"})).await;
    stage.call(&runtime, "test_edit", json!({"path": "secret/key", "text": "hunter2"})).await;
    stage.call_with(&runtime, "test_run", json!({"command": "ls"}), Approval::ForSession).await;
    stage.call(&runtime, "test_run", json!({"command": "ls"})).await;
    stage.call(&runtime, "test_fetch", json!({"url": "https://docs.rs/a?token=hunter2"})).await;
    stage.call(&runtime, "test_raed", json!({"text": "hunter2"})).await;
    stage.call(&runtime, "test_read", json!({"txt": "hunter2"})).await;
    stage.call(&runtime, "test_read", json!({"text": "fail"})).await;
    let entries = stage.audit();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| {
            let word = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {} {} {}",
                word("tool"),
                word("effect"),
                word("decision"),
                word("approval"),
                word("outcome")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "test_read read allow - ok",
            "test_edit edit deny - denied",
            "test_run execute ask session ok",
            "test_run execute ask before ok",
            "test_fetch network allow - ok",
            "test_raed - - - unknown_tool",
            "test_read - - - invalid_args",
            "test_read read allow - not_found",
        ]
    );
    assert_eq!(entries[0]["paths"], json!(["src/a.rs"]));
    assert_eq!(entries[1]["rule"], "test_edit(secret)");
    assert_eq!(entries[2]["commands"], json!(["ls"]));
    assert_eq!(entries[4]["hosts"], json!(["https://docs.rs"]));
    assert_eq!(entries[0]["bytes_in"], json!({"path": "src/a.rs", "text": "hunter2"}).to_string().len());
    assert_eq!(entries[0]["bytes_out"], json!({"ok": true, "said": "hunter2"}).to_string().len());
    let path = stage.project.beside("state").join("audit.jsonl");
    assert!(!std::fs::read_to_string(&path).unwrap().contains("hunter2"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn audit_log_records_dropped_call_as_cancelled() {
    let stage = Stage::new("");
    let runtime = stage.runtime();
    let call = stage.call(&runtime, "test_read", json!({"text": "sleep"}));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(100), call).await.is_err());
    assert_eq!(stage.audit()[0]["outcome"], "cancelled");
}

#[tokio::test]
async fn audit_log_is_disabled_by_user_but_not_by_project() {
    let off = "[audit]\nenabled = false\n";
    let stage = Stage::new(off);
    stage.call(&stage.runtime(), "test_read", json!({})).await;
    assert!(stage.audit().is_empty());
    let stage = Stage::new("");
    stage.project.write(".lsp-tools/lsp-tools.toml", off);
    stage.call(&stage.runtime(), "test_read", json!({})).await;
    assert_eq!(stage.audit().len(), 1);
}
