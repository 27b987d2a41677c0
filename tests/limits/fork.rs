//! A server of ours at its limit of processes and threads. Running parts continue to answer, others
//! report the limit, and all works again after the limit is raised.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{NOBODY, give_to};
use crate::support::mcp::Mcp;
use crate::support::{Project, copy_executable, skipped};

/// Another user than in the other tests, whose processes count as well.
const USER: u32 = NOBODY + 1;

fn may_start(client: &Mcp, number: &str) {
    // The soft limit, set by its own user: that needs no privilege.
    let (limit, user) = (format!("--nproc={number}:"), USER.to_string());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "prlimit", "--pid"]);
    let set = command.args([&client.pid().to_string(), &limit]).status();
    assert!(set.is_ok_and(|status| status.success()), "prlimit {limit}");
}

fn tool(client: &mut Mcp, name: &str, arguments: Value) -> Value {
    client.call(name, arguments)["structuredContent"].clone()
}

/// Gives the project its own copies of our binary and of the scripted server: another user cannot
/// run files that only their owner may read.
fn lend_programs(project: &Project) -> PathBuf {
    let folder = project.beside("bin");
    let lend = |program: &Path| {
        let own = folder.join(program.file_name().expect("a name"));
        copy_executable(program, &own);
        own
    };
    let [program, _] = project.server_command();
    let own = lend(Path::new(&program));
    let file = project.beside("config").join("servers.toml");
    let text = std::fs::read_to_string(&file).expect("servers.toml");
    assert!(text.contains(&program), "{text}");
    std::fs::write(file, text.replace(&program, &own.display().to_string())).expect("servers.toml");
    lend(Path::new(project.command(None).get_program()))
}

#[test]
fn server_that_cannot_fork_still_answers_and_recovers() {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || which::which("setpriv").is_err() || which::which("prlimit").is_err() {
        skipped("another user's limits need root, setpriv and prlimit");
        return;
    }
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\nfoo\n")]);
    // The limit is tested, not the speed of a busy machine.
    let settings = "[permissions]\nprofile = \"all\"\nallow = [\"*\"]\n[deadlines]\nhover = 60_000\n";
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let program = lend_programs(&project);
    give_to(project.root().parent().and_then(Path::parent).expect("the folder of the test"), USER);
    let own = project.command(None);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"]);
    command.arg(program).current_dir(project.root());
    for (name, value) in own.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut client = Mcp::of(command, &[]);
    client.greet(json!({}));
    let place = json!({"path": "a.scr", "line": 0, "character": 5});
    let hover = tool(&mut client, "lsp_hover", place.clone());
    assert_eq!(hover["verdict"], "complete", "{hover}");

    may_start(&client, "1");
    for _ in 0..3 {
        let hover = tool(&mut client, "lsp_hover", place.clone());
        assert_eq!(hover["verdict"], "complete", "the server runs: {hover}");
        let ran = tool(&mut client, "bash", json!({"command": "echo ran"}));
        assert_eq!(ran["ok"], false, "{ran}");
        let told = format!("{} {}", ran["error"], ran["hint"]);
        assert!(!told.contains("fault") && told.contains("ulimit -u"), "{ran}");
        let read = tool(&mut client, "read", json!({"path": "a.scr"}));
        assert_eq!(read["content"], "def foo\nfoo\n", "{read}");
        let found = tool(&mut client, "grep", json!({"pattern": "foo"}));
        let said = format!("{} {}", found["error"], found["hint"]);
        assert!(found["count"] == 2 || said.contains("ulimit -u"), "{found}");
        let edits = json!([{"old": "def foo", "new": "def foo"}]);
        let edited = tool(&mut client, "edit", json!({"path": "a.scr", "edits": edits, "dry_run": true}));
        assert!(edited["ok"].is_boolean() && !edited.to_string().contains("fault in"), "{edited}");
    }

    may_start(&client, "512");
    let ran = tool(&mut client, "bash", json!({"command": "echo ran"}));
    assert_eq!(ran["stdout"], "ran\n", "{ran}");
    let hover = tool(&mut client, "lsp_hover", place);
    assert_eq!(hover["verdict"], "complete", "{hover}");
    let (status, _) = client.close();
    assert!(status.success(), "{status}");
}
