//! What a command can reach: files, secrets, processes, the network.
//!
//! The project lies in the folder for temporary files, which may be written; what lies outside is made below Cargo's own
//! folder for tests.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use lsp_tools::lsp::process::sandbox;
use serde_json::json;
use tempfile::TempDir;

use crate::scene::Scene;

/// A folder that no command may write to: in no temporary folder, where this checkout itself may lie.
fn outside() -> TempDir {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let places = [Some(env!("CARGO_TARGET_TMPDIR").into()), home, Some("/opt".into()), Some("/srv".into())];
    let folder = places
        .into_iter()
        .flatten()
        .filter(|place| !temporary.iter().any(|temporary| place.starts_with(temporary)))
        .find_map(|place| TempDir::new_in(place).ok())
        .expect("a folder outside all temporary folders");
    fs::write(folder.path().join("kept"), "kept").expect("a file");
    folder
}

/// A machine that cannot do it fails here, rather than passing tests that have tried nothing.
#[test]
fn row_21_this_machine_has_what_the_tests_need() {
    let status = sandbox::status();
    assert_eq!(status.files, Ok(()));
    assert!(status.tcp && status.signals, "{status:?}");
}

#[tokio::test]
async fn row_21_writes_outside_are_denied_and_inside_are_not() {
    let scene = Scene::new();
    let outside = outside();
    let folder = outside.path().display();
    let answer =
        scene.bash("echo x > new; mkdir d; echo y > d/z; mv d/z src/z; rm new; rm -r d; echo $?").await;
    assert_eq!((&answer["stdout"], &answer["sandbox"]), (&json!("0\n"), &json!("landlock")), "{answer}");
    let temporary = scene.bash("f=$(mktemp) && echo x > $f && rm $f && echo > /dev/null").await;
    assert_eq!(temporary["exit_code"], 0, "{temporary}");
    for attack in [
        format!("echo x > {folder}/new"),
        format!("echo x > {folder}/kept"),
        format!("echo x >> {folder}/kept"),
        format!("truncate -s 0 {folder}/kept"),
        format!("rm {folder}/kept"),
        format!("mv {folder}/kept here"),
        format!("mv a.txt {folder}/a.txt"),
        format!("mkdir {folder}/d"),
        format!("ln -s /etc {folder}/l"),
        format!("ln {folder}/kept hard && echo x > hard"),
        format!("ln -s {folder}/kept soft && echo x > soft"),
        format!("ln -s {folder} softdir; echo x > softdir/new"),
        format!("cd {folder} && echo x > new"),
        format!("setsid -w sh -c 'echo x > {folder}/new'"),
        format!("echo x > /proc/self/root{folder}/new"),
        "echo x > /etc/lsp-tools-test".to_owned(),
        "mknod device b 8 0".to_owned(),
        "mount -t tmpfs none src".to_owned(),
    ] {
        let answer = scene.bash(&attack).await;
        assert_ne!(answer["exit_code"], 0, "{attack}: {answer}");
        assert_ne!(answer["exit_code"], 127, "{attack}: {answer}");
    }
    let left: Vec<_> =
        fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["kept"]);
    assert_eq!(fs::read_to_string(outside.path().join("kept")).unwrap(), "kept");
    assert!(!Path::new("/etc/lsp-tools-test").exists());
}

#[tokio::test]
async fn row_21_no_privilege_is_gained() {
    let scene = Scene::new();
    assert_eq!(scene.stdout("grep NoNewPrivs /proc/self/status").await, "NoNewPrivs:\t1\n");
}

#[tokio::test]
async fn row_21_processes_outside_are_neither_signalled_nor_looked_into() {
    let scene = Scene::new();
    let own = std::process::id();
    for attack in [
        format!("kill -0 {own}"),
        "kill -0 $PPID".to_owned(),
        format!("cat /proc/{own}/environ"),
        "cat /proc/$PPID/environ".to_owned(),
    ] {
        let answer = scene.bash(&attack).await;
        assert_ne!(answer["exit_code"], 0, "{attack}: {answer}");
        assert_eq!(answer["stdout"], "", "{attack}");
    }
    // Its own children are.
    assert_eq!(scene.bash("sleep 93 & kill $!").await["exit_code"], 0);
}

#[tokio::test]
async fn row_21_tcp_is_open_unless_the_settings_deny_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connect = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(\"in\")'"
    );
    assert_eq!(Scene::new().stdout(&connect).await, "in\n");
    let denied = Scene::with("[bash]\nnetwork = \"no-tcp\"\n").bash(&connect).await;
    assert_eq!(denied["stdout"], "", "{denied}");
    assert!(denied["stderr"].as_str().unwrap().contains("PermissionError"), "{denied}");
}

#[tokio::test]
async fn the_settings_open_folders_and_close_everything() {
    let open = outside();
    let entry = open.path().display();
    let scene =
        Scene::with(&format!("[bash]\nwritable = [\"{entry}\", \"/no/such/folder\", \"$NOT_SET/x\"]\n"));
    assert_eq!(scene.bash(&format!("echo x > {entry}/new")).await["exit_code"], 0);
    assert!(open.path().join("new").exists());

    let scene = Scene::with("[bash]\nsandbox = \"off\"\n");
    let answer = scene.bash(&format!("echo x > {entry}/free")).await;
    assert_eq!((&answer["exit_code"], &answer["sandbox"]), (&json!(0), &json!("none")), "{answer}");

    let scene = Scene::with("[bash]\nsandbox = \"off\"\nnetwork = \"no-tcp\"\n");
    let answer = scene.call("bash", json!({"command": "true"})).await.value;
    assert_eq!(answer["code"], "denied", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("no-tcp"), "{answer}");
}

/// What decides over the sandbox is nothing that a project may say before its owner has agreed.
#[tokio::test]
async fn row_1_an_untrusted_project_does_not_open_its_own_room() {
    let outside = outside();
    let folder = outside.path().display();
    let settings =
        format!("[bash]\nsandbox = \"off\"\nwritable = [\"{folder}\"]\nenv = [\"*\"]\nnetwork = \"open\"\n");
    let project = crate::support::Project::new([(".lsp-tools/lsp-tools.toml", settings.as_str())]);
    let scene = Scene::open(project, "");
    let answer = scene.bash(&format!("echo x > {folder}/new")).await;
    assert_ne!(answer["exit_code"], 0, "{answer}");
    assert_eq!(answer["sandbox"], "landlock");
    assert!(!outside.path().join("new").exists());
    // What a command writes there is told, and changes nothing for the next.
    let answer = scene.bash("echo '[bash]' > .lsp-tools/lsp-tools.toml").await;
    assert_eq!(answer["changed"], json!([{"path": ".lsp-tools/lsp-tools.toml", "operation": "modified"}]));
}
