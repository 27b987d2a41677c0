//! A project's granted permissions and restrictions in running processes: neither outlives the
//! trust in silence.

use std::fs;

use lsp_tools::internals::policy::PolicyVerdict;
use lsp_tools::internals::runtime::LiveRuntime;
use lsp_tools::{Runtime, TrustRequest};
use serde_json::json;

use super::stage::{Stage, code, error};

const SETTINGS: &str = ".lsp-tools/lsp-tools.toml";

async fn trust(runtime: &Runtime) {
    let shown = runtime.trust(TrustRequest::Show).await.expect("a list");
    runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.expect("a grant");
}

/// A process that survives in a project with permission for `bash`.
async fn living(stage: &Stage) -> LiveRuntime {
    stage.project.write(SETTINGS, "[permissions]\nallow = ['bash']\n");
    trust(&stage.runtime()).await;
    LiveRuntime::new(stage.runtime())
}

#[tokio::test]
async fn trust_revoked_elsewhere_ends_in_running_process() {
    let stage = Stage::new("");
    let live = living(&stage).await;
    let arguments = json!({"command": "true"});
    let verdict =
        || live.current().check_call(&stage.caller, "bash", &arguments).expect("a decision").verdict;
    assert_eq!(verdict(), PolicyVerdict::Allow);
    // As `lsp-tools trust --revoke` does in another process.
    stage.runtime().trust(TrustRequest::Revoke).await.expect("revoked");
    assert_eq!(verdict(), PolicyVerdict::Ask);
    live.shutdown().await;
}

/// A command that tries to keep its permissions: unreadable settings do not prevent revoking trust,
/// and processes with the old settings lose their permissions.
#[tokio::test]
async fn trust_revoked_with_broken_settings_denies_calls() {
    let stage = Stage::new("");
    let live = living(&stage).await;
    assert!(stage.call(&live.current(), "test_edit", json!({})).await.ok());
    stage.project.write(SETTINGS, "[permissions\n");
    let revoked =
        stage.project.command(None).args(["--no-daemon", "trust", "--revoke"]).output().expect("a run");
    let said = String::from_utf8_lossy(&revoked.stdout);
    assert!(revoked.status.success() && said.contains("is no longer trusted"), "{revoked:?}");
    let denied = stage.call(&live.current(), "test_edit", json!({})).await;
    assert_eq!(code(&denied), "denied");
    assert!(error(&denied).contains("no longer trusted"), "{}", error(&denied));
    stage.project.write(SETTINGS, "");
    assert!(stage.call(&live.current(), "test_edit", json!({})).await.ok());
    live.shutdown().await;
}

#[tokio::test]
async fn trusted_project_hooks_removed_by_edit_still_deny() {
    let stage = Stage::new("");
    stage.project.write(SETTINGS, "[[hooks.pre]]\ncommand = ['/bin/false']\ntools = ['test_edit']\n");
    let runtime = stage.runtime();
    assert!(stage.call(&runtime, "test_edit", json!({})).await.ok() || !stage.diary().is_empty());
    trust(&runtime).await;
    let denied = stage.call(&stage.runtime(), "test_edit", json!({})).await;
    assert!(error(&denied).contains("failed"), "{}", error(&denied));
    let text = stage.project.read(SETTINGS);
    for changed in [format!("{text}[bash]\nenv = ['X']\n"), String::new()] {
        stage.project.write(SETTINGS, changed);
        let denied = stage.call(&stage.runtime(), "test_edit", json!({})).await;
        assert_eq!(code(&denied), "denied");
        assert!(error(&denied).contains("has changed since"), "{}", error(&denied));
    }
    for without_hooks in [TrustRequest::Revoke, TrustRequest::Show] {
        stage.project.write(SETTINGS, &text);
        trust(&stage.runtime()).await;
        fs::remove_file(stage.project.path(SETTINGS)).expect("a file");
        assert_eq!(code(&stage.call(&stage.runtime(), "test_edit", json!({})).await), "denied");
        // Trusting the remaining settings, which are empty, ends it as well.
        let shown = stage.runtime().trust(without_hooks.clone()).await.expect("an answer");
        if without_hooks == TrustRequest::Show {
            assert!(!shown.trusted, "{shown:?}");
            assert!(shown.changed.iter().any(|what| what.contains("was removed")), "{shown:?}");
            trust(&stage.runtime()).await;
        }
        assert_ne!(code(&stage.call(&stage.runtime(), "test_edit", json!({})).await), "denied");
    }
}

/// A command that tries to redirect the file tools: the settings are read again by the workspace's
/// path.
#[tokio::test]
async fn workspace_swapped_for_symlink_is_not_reopened() {
    let stage = Stage::new("");
    let live = living(&stage).await;
    let (root, victim) = (stage.project.root(), stage.project.beside("logs").join("victim"));
    fs::create_dir_all(&victim).expect("a folder");
    fs::rename(&root, root.with_extension("old")).expect("moved");
    std::os::unix::fs::symlink(&victim, &root).expect("a link");
    let store = stage.project.beside("state").join("trust.json");
    let text = fs::read(&store).expect("a store");
    fs::write(&store, text).expect("another stamp");
    assert_eq!(live.current().workspace().root(), root);
    let denied = stage.call(&live.current(), "test_edit", json!({})).await;
    assert_eq!(code(&denied), "denied");
    assert!(error(&denied).contains("leads to"), "{}", error(&denied));
    assert!(live.refresh().is_err_and(|error| error.error.contains("was replaced by a link")));
    live.shutdown().await;
}
