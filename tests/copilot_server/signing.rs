//! Signing in, and the messages without it.

use serde_json::json;

use super::stage::{copilot, plays, project};

#[test]
fn signed_out_turn_fails_and_names_sign_in_command() {
    let project = project(&json!({}), "", []);
    for words in [&["agent", "go"][..], &["agent", "--model", "m", "--provider", "p", "go"]] {
        let ran = copilot(&project, words);
        assert_eq!(ran.status, 4);
        assert!(ran.err.contains("you are not signed in to GitHub Copilot"), "{}", ran.err);
        assert!(ran.err.contains("lsp-tools copilot sign-in"), "{}", ran.err);
    }
}

#[test]
fn sign_in_device_code_is_shown_and_never_logged() {
    let project = project(&json!({}), "[log]\nlevel = \"trace\"\n", []);
    let mut command = project.command(None);
    let trace = project.beside("logs").join("trace");
    let output = command.arg("--trace").arg(&trace).args(["copilot", "sign-in"]).output().expect("lsp-tools");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "signed in as somebody\n");
    assert!(
        err.contains("open https://example.invalid/device and enter the code:\n    ABCD-1234\n"),
        "{err}"
    );
    assert!(err.contains("within 15 minutes"), "{err}");
    let mut folders = vec![project.beside("state"), project.beside("logs"), project.beside("cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(&entry).expect("a file")).into_owned();
                assert!(!text.contains("ABCD-1234"), "{} has the code", entry.display());
            }
        }
    }
}

#[test]
fn sign_in_already_done_or_refused_is_reported() {
    let known = project(&json!({"sign_in": "already"}), "", []);
    let ran = copilot(&known, &["sign-in"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "signed in as somebody\n"), "{}", ran.err);
    let refused = project(&json!({"sign_in": "refused"}), "", []);
    let ran = copilot(&refused, &["sign-in"]);
    assert_eq!(ran.status, 4);
    assert!(ran.err.contains("signInConfirm failed: the code has run out (code 1001)"), "{}", ran.err);
}

#[test]
fn status_names_the_user_and_the_models() {
    let project = project(&plays(json!([])), "", []);
    let ran = copilot(&project, &[]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(
        ran.out,
        "Scripted Copilot 1.0\nsigned in as somebody\nmodels: usual (default)\ntools: 30 of ours, 9 of the server's\n"
    );
    let json = copilot(&project, &["--format", "json", "status"]).json();
    assert_eq!((&json["signed_in"], &json["models"][0]["id"]), (&json!(true), &json!("usual")));
}

#[test]
fn copilot_server_missing_error_names_install_command() {
    let project = project(&json!({}), "", []);
    let catalogue = "[server.copilot]\ncommand = [\"no-such-copilot-anywhere\"]\n";
    std::fs::write(project.beside("config").join("servers.toml"), catalogue).unwrap();
    let ran = copilot(&project, &["agent", "go"]);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.err.contains("lsp-tools install copilot"), "{}", ran.err);
}
