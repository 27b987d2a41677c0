//! A project whose commands use a separate daemon.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Project, count_processes, processes, signal_processes, wait_until};

/// The time limit of a command on a busy machine.
pub const SOON: Duration = Duration::from_secs(60);

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A project whose commands use its own daemon, which ends with it.
pub struct House {
    pub project: Project,
    /// A replacement for the tested program.
    pub program: Option<PathBuf>,
    /// The prefix of real servers; none by default.
    pub prefix: Option<PathBuf>,
    /// The folder with the user's state and socket folders: beside this project, or beside that of
    /// another house of the same user.
    pub user: PathBuf,
}

impl House {
    /// Uses the scripted server for `.scr` files, whose answers do not depend on the number of
    /// requests.
    pub fn new() -> Self {
        Self::playing(&json!({"hover_version": false}))
    }

    /// Uses the scripted server playing `scenario`.
    pub fn playing(scenario: &Value) -> Self {
        Self::of(Project::scripted(scenario, "", [("a.scr", "def foo\nfoo WRONG\n"), ("b.scr", "foo\n")]))
    }

    pub fn of(project: Project) -> Self {
        let user = project.beside("");
        let house = Self { project, program: None, prefix: None, user };
        fs::create_dir_all(house.runtime()).expect("a folder");
        fs::set_permissions(house.runtime(), fs::Permissions::from_mode(0o700)).expect("its mode");
        house
    }

    /// The runtime folder of the user's session.
    pub fn runtime(&self) -> PathBuf {
        self.user.join("run")
    }

    /// The folder of sockets.
    pub fn sockets(&self) -> PathBuf {
        self.runtime().join("lsp-tools")
    }

    /// The names in the folder of sockets that end with `ending`.
    pub fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sockets()).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
    }

    /// The only socket.
    pub fn socket(&self) -> PathBuf {
        let sockets = self.files(".sock");
        assert_eq!(sockets.len(), 1, "{sockets:?}");
        sockets[0].clone()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.project.command(self.prefix.as_deref());
        if let Some(program) = &self.program {
            command = Command::new(program);
            command.current_dir(self.project.root()).envs(self.project.environment(self.prefix.as_deref()));
        }
        command.args(words).stdin(Stdio::null()).env_remove("LSP_TOOLS_NO_DAEMON");
        command.env("XDG_RUNTIME_DIR", self.runtime()).env("LSP_TOOLS_STATE_DIR", self.user.join("state"));
        command
    }

    pub fn run(&self, words: &[&str]) -> Said {
        said(self.command(words), "", &words.join(" "))
    }

    /// Runs a command without the daemon.
    pub fn run_alone(&self, words: &[&str]) -> Said {
        let mut command = self.command(words);
        command.env("LSP_TOOLS_NO_DAEMON", "1");
        said(command, "", &words.join(" "))
    }

    /// Starts a command and leaves it running.
    pub fn begin(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program")
    }

    /// The output of `daemon status`; `None` if no daemon is running.
    pub fn status(&self) -> Option<Value> {
        let said = self.run(&["daemon", "status", "--format", "json"]);
        let value: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        (said.code == Some(0)).then_some(value)
    }

    /// The process of the daemon, which must be running.
    pub fn pid(&self) -> i32 {
        let status = self.status().expect("a daemon");
        status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("its pid")
    }

    /// The daemon processes of this project.
    pub fn daemons(&self) -> Vec<i32> {
        processes(&self.marker())
    }

    /// The number of living servers of this project.
    pub fn servers(&self) -> usize {
        count_processes(&self.project.marker())
    }

    /// Arguments that only a daemon of this project has.
    fn marker(&self) -> String {
        format!("run\0--workspace\0{}\0", self.project.root().display())
    }

    pub fn kill(&self, pid: i32, signal: Signal) {
        kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("a signal");
    }

    /// Waits until no process of this project is running.
    #[track_caller]
    pub fn wait_until_empty(&self, deadline: Duration) {
        wait_until("nothing is left", deadline, || self.daemons().is_empty() && self.servers() == 0);
    }
}

impl Drop for House {
    fn drop(&mut self) {
        signal_processes(&self.marker(), Signal::KILL);
    }
}

/// The output of `command`, given `input`.
#[track_caller]
pub fn said(mut command: Command, input: &str, what: &str) -> Said {
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).expect("its input");
    }
    ended(child, what)
}

/// The final output of a started command.
#[track_caller]
pub fn ended(mut child: Child, what: &str) -> Said {
    let begun = Instant::now();
    // Reads the output concurrently, since it may exceed the size of a pipe.
    let (out, err) = (child.stdout.take().expect("stdout"), child.stderr.take().expect("stderr"));
    let out = std::thread::spawn(move || std::io::read_to_string(out).expect("UTF-8"));
    let err = std::thread::spawn(move || std::io::read_to_string(err).expect("UTF-8"));
    wait_until(what, SOON, || child.try_wait().expect("its status").is_some());
    let status = child.wait().expect("its status");
    let said = Said {
        code: status.code(),
        out: out.join().expect("its output"),
        err: err.join().expect("its errors"),
    };
    eprintln!("{what} ({:?}): {said:?}", begun.elapsed());
    assert!(!said.err.contains("panicked"), "{said:?}");
    said
}

/// The output of a finished process.
pub fn output(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
