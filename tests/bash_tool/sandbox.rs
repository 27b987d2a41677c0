//! The reach of a command: files, secrets, processes, the network.
//!
//! The project is in the folder for temporary files, which is writable; files outside are made
//! below Cargo's own folder for tests.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use lsp_tools::internals::process::{sandbox_status, supports_pid_namespace};
use serde_json::json;
use tempfile::TempDir;

use super::scene::Scene;

/// A folder that is not writable for commands: not in a temporary folder, where this checkout
/// itself may be.
pub fn outside() -> TempDir {
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

/// Fails on a machine without the sandbox, where the other tests would prove nothing.
#[test]
fn row_21_landlock_is_supported_on_test_machine() {
    let status = sandbox_status();
    assert_eq!(status.files, Ok(()));
    assert!(status.tcp && status.signals, "{status:?}");
}

#[tokio::test]
async fn row_21_writes_outside_workspace_are_denied_and_inside_allowed() {
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
async fn row_21_sandboxed_command_has_no_new_privs() {
    let scene = Scene::new();
    assert_eq!(scene.stdout("grep NoNewPrivs /proc/self/status").await, "NoNewPrivs:\t1\n");
}

/// A process outside, found by its marker and not by its id, which a process inside may share.
#[tokio::test]
async fn row_21_processes_outside_sandbox_cannot_be_signalled_or_read() {
    let scene = Scene::new();
    let mut other = std::process::Command::new("sleep");
    let mut other =
        other.arg("98.5").env("LSP_TOOLS_TEST_SECRET", scene.marker.as_str()).spawn().expect("sleep");
    let id = other.id();
    let answer = scene.bash(&format!("test \"$(cat /proc/{id}/comm)\" = sleep && kill {id}")).await;
    assert_ne!(answer["exit_code"], 0, "{answer}");
    let seen = scene
        .stdout(&format!("cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c {}", scene.marker.as_str()))
        .await;
    assert_eq!(seen, "0\n");
    assert_eq!(other.try_wait().expect("a child"), None, "it lives");
    other.kill().expect("a kill");
    other.wait().expect("its end");
    // Its own children are.
    assert_eq!(scene.bash("sleep 93 & kill $!").await["exit_code"], 0);
}

/// A command can change the limits and priorities of the processes that it can name.
#[tokio::test]
async fn sandboxed_command_has_own_pid_namespace_if_kernel_allows() {
    let scene = Scene::new();
    let spawner = lsp_tools::internals::process::Spawner::new(Some(env!("CARGO_BIN_EXE_lsp-tools").into()));
    let own = supports_pid_namespace(&spawner).await;
    let by_another = std::process::Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--mount-proc", "true"])
        .output();
    assert_eq!(own, by_another.is_ok_and(|unshare| unshare.status.success()), "as another program finds it");
    let other = std::process::id();
    let answer =
        scene.bash(&format!("echo $PPID; cat /proc/1/comm; test -e /proc/{other}/exe; echo $?")).await;
    let told = answer["stdout"].as_str().unwrap();
    if !own {
        assert!(!told.starts_with("1\n"), "{told}");
        return;
    }
    let first: Vec<&str> = told.lines().take(2).collect();
    assert_eq!(first, ["1", "lsp-tools"], "{answer}");
    let numbers = scene.stdout("ls -d /proc/[0-9]* | wc -l").await;
    assert!(numbers.trim().parse::<u32>().unwrap() < 10, "{numbers}");
    // No other process has the ids of this test.
    if other > 100 {
        for attack in [format!("prlimit --pid {other} --nofile"), format!("renice -n 0 -p {other}")] {
            let answer = scene.bash(&attack).await;
            assert!(answer["exit_code"].as_i64().is_some_and(|code| code == 1), "{attack}: {answer}");
        }
    }
    // Signals to the first process neither escape nor harm it.
    let answer = scene.bash("kill -9 1; kill -STOP 1; sleep 0.1; echo on; exit 7").await;
    assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("on\n"), &json!(7)), "{answer}");
    assert_eq!(scene.bash("kill -9 $$").await["exit_code"], 137);
}

struct Powers {
    effective: u64,
    bounding: u64,
    others: [u64; 3],
}

/// The capability sets of a process, from `/proc`.
fn powers(status: &str) -> Powers {
    let set = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a set");
        u64::from_str_radix(line.trim(), 16).expect("a number")
    };
    let others = ["CapPrm:", "CapInh:", "CapAmb:"].map(set);
    Powers { effective: set("CapEff:"), bounding: set("CapBnd:"), others }
}

fn powers_of(process: &str) -> Powers {
    powers(&fs::read_to_string(format!("/proc/{process}/status")).expect("/proc"))
}

/// The other capabilities are not needed; they are requested by number here, so that no clock or
/// priority really changes.
#[tokio::test]
async fn sandboxed_root_keeps_only_capabilities_that_builds_need() {
    let scene = Scene::new();
    let held = powers(&scene.stdout("cat /proc/self/status").await);
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service
    let kept: u64 = [0, 1, 3, 4, 5, 6, 7, 10].iter().map(|bit| 1 << bit).sum();
    let own = powers_of("self");
    for set in held.others.into_iter().chain([held.effective]) {
        assert_eq!(set & !kept, 0, "{set:x}");
    }
    // Reducing the bounding set also needs a capability (setpcap); without it, the set is useless.
    if own.effective & (1 << 8) != 0 {
        assert_eq!(held.bounding & !kept, 0, "{:x}", held.bounding);
    }
    assert_eq!(held.effective, own.effective & kept);
    assert_ne!(scene.bash("chroot . /bin/true").await["exit_code"], 0);
    // In a nested sandbox.
    let again = format!(
        "{} __sandbox --landlock /dev/null -- cat /proc/self/status",
        env!("CARGO_BIN_EXE_lsp-tools")
    );
    assert_eq!(powers(&scene.stdout(&again).await).effective, held.effective);
}

#[tokio::test]
async fn abstract_socket_outside_sandbox_cannot_be_connected() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    let scene = Scene::new();
    let address = SocketAddr::from_abstract_name(scene.marker.as_str()).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("a listener");
    let connect = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{}\"); print(\"in\")'",
        scene.marker.as_str()
    );
    let answer = scene.bash(&connect).await;
    assert_eq!(answer["stdout"], "", "{answer}");
    assert!(answer["stderr"].as_str().unwrap().contains("PermissionError"), "{answer}");
    let open = Scene::with("[bash]\nsandbox = \"off\"\n");
    assert_eq!(open.stdout(&connect).await, "in\n");
}

#[tokio::test]
async fn row_21_tcp_is_open_unless_settings_deny_it() {
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
async fn sandbox_settings_add_writable_folders_or_switch_it_off() {
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

/// The settings that control the sandbox cannot come from a project before its owner has trusted
/// it.
#[tokio::test]
async fn row_1_untrusted_project_cannot_relax_its_sandbox() {
    let outside = outside();
    let folder = outside.path().display();
    let settings =
        format!("[bash]\nsandbox = \"off\"\nwritable = [\"{folder}\"]\nenv = [\"*\"]\nnetwork = \"open\"\n");
    let project = crate::support::Project::new([(".lsp-tools/lsp-tools.toml", settings.as_str())]);
    let scene = Scene::open(&project, "");
    let answer = scene.bash(&format!("echo x > {folder}/new")).await;
    assert_ne!(answer["exit_code"], 0, "{answer}");
    assert_eq!(answer["sandbox"], "landlock");
    assert!(!outside.path().join("new").exists());
    // Files that a command writes there are reported, and change nothing for the next.
    let answer = scene.bash("echo '[bash]' > .lsp-tools/lsp-tools.toml").await;
    assert_eq!(answer["changed"], json!([{"path": ".lsp-tools/lsp-tools.toml", "operation": "modified"}]));
}
