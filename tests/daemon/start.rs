//! The start of the daemon, and the cases without one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use serde_json::json;

use super::house::{House, SOON, ended, output, said};
use crate::support::wait_until;

#[test]
fn concurrent_commands_start_one_daemon_and_one_server() {
    let house = House::new();
    let children: Vec<_> = (0..20).map(|_| house.begin(&["hover", "a.scr:1:5"])).collect();
    let answers: Vec<_> = children.into_iter().map(|child| ended(child, "hover")).collect();
    assert!(answers.iter().all(|said| *said == answers[0] && said.code == Some(0)), "{answers:?}");
    assert_eq!((answers[0].err.as_str(), house.project.log().starts()), ("", 1));
    let status = house.status().expect("a daemon");
    let hover = status["calls"].as_array().unwrap().iter().find(|call| call["name"] == "lsp-tools hover");
    assert_eq!(hover.map(|call| call["calls"].clone()), Some(json!(20)));
    assert_eq!(house.daemons().len(), 1);
    assert_eq!(house.pid(), house.daemons()[0]);
}

#[test]
fn daemon_status_lists_servers_and_calls_after_command_ended() {
    let house = House::new();
    assert_eq!(house.status(), None);
    assert_eq!(house.run(&["check", "a.scr"]).code, Some(1));
    let status = house.status().expect("a daemon");
    assert_eq!(status["workspace"], json!(house.project.root()));
    assert_eq!(status["socket"], json!(house.socket()));
    let server = &status["servers"][0];
    assert_eq!((server["server"].clone(), server["open_documents"].clone()), (json!("scripted"), json!(1)));
    assert_eq!((server["restarts"].clone(), server["state"].clone()), (json!(0), json!("ready")));
    assert!(server["latency_p99_ms"].is_number() && status["memory_bytes"].is_number(), "{status}");
    let text = house.run(&["daemon", "status"]);
    assert!(text.out.contains("lsp_diagnostics  1 ") && text.out.contains("scripted"), "{text:?}");
    let logged = house.run(&["daemon", "logs"]);
    assert!(logged.out.contains("the daemon listens"), "{logged:?}");
}

#[test]
fn daemon_start_and_stop_are_reported() {
    let house = House::new();
    assert_eq!(house.run(&["daemon", "stop"]).code, Some(1));
    let started = house.run(&["daemon", "start"]);
    assert!(
        started.code == Some(0) && started.out.starts_with("the daemon was started (pid "),
        "{started:?}"
    );
    assert!(house.run(&["daemon", "start"]).out.starts_with("the daemon runs already (pid "));
    assert!(house.run(&["daemon", "status", "--all"]).out.contains("workspace "));
    let stopped = house.run(&["daemon", "stop"]);
    assert!(stopped.code == Some(0) && stopped.out.starts_with("daemon stopped (pid "), "{stopped:?}");
    assert_eq!((house.status(), house.files(".sock").len()), (None, 0));
}

#[test]
fn stale_socket_of_killed_daemon_is_replaced() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let socket = house.socket();
    house.kill(house.pid(), rustix::process::Signal::KILL);
    wait_until("it is dead", SOON, || house.daemons().is_empty());
    assert!(socket.exists());
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).err, "");
    assert_eq!((house.socket(), house.daemons().len()), (socket, 1));
}

#[test]
fn daemon_socket_refuses_other_users() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(house.sockets()), mode(house.socket())), (0o700, 0o700));
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run as root: another user cannot be tried");
        return;
    }
    // Makes the folders accessible, which normally keep others out: the daemon itself also checks
    // its clients.
    for folder in [house.project.beside(""), house.runtime(), house.sockets()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(house.socket(), fs::Permissions::from_mode(0o777)).unwrap();
    let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(20)\ns.connect(sys.argv[1])\n\
                  s.sendall(b'{\"lsp-tools\":1,\"door\":\"status\"}\\n')\nprint(repr(s.recv(100)))\n";
    let ask = |user: Option<u32>| {
        let mut python = std::process::Command::new("python3");
        python.args(["-c", script]).arg(house.socket()).stdin(Stdio::null());
        if let Some(user) = user {
            python.uid(user).gid(user);
        }
        output(python.output().expect("python3"))
    };
    assert!(ask(None).out.contains("ok"), "its own user is answered");
    let other = ask(Some(65_534));
    assert!(other.out == "b''\n" || other.err.contains("Error"), "another user gets no answer: {other:?}");
    assert!(house.status().is_none(), "a folder that others can enter is no longer used");
}

/// The command runs without the daemon and reports the reason.
#[track_caller]
fn alone(house: &House, why: &str) {
    let answer = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(
        answer.err.starts_with("warning: without the daemon: ") && answer.err.contains(why),
        "{answer:?}"
    );
    assert_eq!(answer.err.lines().count(), 1, "{answer:?}");
    assert_eq!((house.daemons().len(), house.servers()), (0, 0));
}

#[test]
fn squatted_socket_folder_command_runs_without_daemon() {
    let house = House::new();
    symlink(house.project.beside("logs"), house.sockets()).unwrap();
    alone(&house, "it is a link or a file, not a folder");
    fs::remove_file(house.sockets()).unwrap();
    fs::create_dir(house.sockets()).unwrap();
    fs::set_permissions(house.sockets(), fs::Permissions::from_mode(0o770)).unwrap();
    alone(&house, "others can enter it");
    if rustix::process::geteuid().is_root() {
        fs::set_permissions(house.sockets(), fs::Permissions::from_mode(0o700)).unwrap();
        chown(house.sockets(), Some(65_534), Some(65_534)).unwrap();
        alone(&house, "it belongs to another user");
        assert_eq!(fs::metadata(house.sockets()).unwrap().uid(), 65_534);
    }
}

#[test]
#[ignore = "slow: just slow"]
fn deaf_socket_listener_command_runs_without_daemon_soon() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let socket = house.socket();
    house.run(&["daemon", "stop"]);
    let _deaf = UnixListener::bind(&socket).unwrap();
    alone(&house, "does not answer");
}

#[test]
#[cfg_attr(not(linux_kernel), ignore = "the path of a socket is limited")]
fn socket_path_longer_than_limit_daemon_still_starts() {
    let house = House::new();
    let deep = house.project.beside(&"x".repeat(180));
    fs::create_dir(&deep).unwrap();
    let mut command = house.command(&["hover", "a.scr:1:5"]);
    command.env("XDG_RUNTIME_DIR", &deep);
    let answer = said(command, "", "hover");
    assert_eq!((answer.code, answer.err.as_str(), house.daemons().len()), (Some(0), "", 1));
}

#[test]
fn no_daemon_verbose_or_trace_option_starts_no_daemon() {
    let house = House::new();
    for words in [
        &["hover", "a.scr:1:5", "--no-daemon"][..],
        &["hover", "a.scr:1:5", "-v"],
        &["hover", "a.scr:1:5", "--trace", "../trace"],
    ] {
        assert_eq!(house.run(words).code, Some(0));
        assert_eq!(house.daemons().len(), 0, "{words:?}");
    }
    assert_eq!(house.run_alone(&["hover", "a.scr:1:5"]).code, Some(0));
    assert_eq!(house.daemons().len(), 0);
}

#[test]
fn daemon_is_keyed_by_environment_but_not_by_terminal() {
    let house = House::new();
    let run = |name: &str, value: &str| {
        let mut command = house.command(&["list"]);
        command.env(name, value);
        said(command, "", name).code
    };
    assert_eq!(
        (run("TERM", "dumb"), run("TERM", "xterm"), run("LC_ALL", "C"), run("MY_SECRET", "x")),
        (Some(0), Some(0), Some(0), Some(0))
    );
    assert_eq!(house.daemons().len(), 1);
    assert_eq!(run("VIRTUAL_ENV", "/nowhere"), Some(0));
    assert_eq!(house.daemons().len(), 2);
}

/// `bash` runs its commands in a sandbox; lsp-tools commands among them run there as well.
#[test]
#[ignore = "slow: just slow"]
fn sandboxed_command_cannot_control_the_daemon() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    // Even if it is refused before it has sent anything, the refusal is readable.
    let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ntry:\n\
                  \x20   s.sendall(b'{\"lsp-tools\":1,\"door\":\"stop\"}\\n')\nexcept BrokenPipeError:\n\
                  \x20   pass\nprint(s.recv(1000))";
    let bash = |command: String| {
        let arguments = json!({"command": command}).to_string();
        house.run(&["tools", "call", "bash", &arguments, "--format", "json"])
    };
    let answer = bash(format!("python3 -c \"$(cat <<'END'\n{script}\nEND\n)\" {}", house.socket().display()));
    assert!(answer.out.contains("cannot use its daemon"), "{answer:?}");
    let folders: String = ["CONFIG", "DATA", "STATE", "CACHE"]
        .iter()
        .map(|name| format!("LSP_TOOLS_{name}_DIR={} ", house.project.beside(&name.to_lowercase()).display()))
        .collect();
    let inner = format!(
        "{folders} XDG_RUNTIME_DIR={} {} read a.scr",
        house.runtime().display(),
        env!("CARGO_BIN_EXE_lsp-tools")
    );
    let answer = bash(inner);
    assert!(answer.out.contains("def foo") && !answer.out.contains("without the daemon"), "{answer:?}");
    assert_eq!(house.daemons().len(), 1);
}
