//! No process that a server started outlives it, and no server outlives lsp-tools, for any kind of
//! end.
//!
//! Every process of a test has a marker in its arguments, by which living ones are counted through
//! `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lsp_tools::internals::process::{Exit, ServerProcess, Spawn, SpawnError, Spawner};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SUPERVISOR: &str = env!("CARGO_BIN_EXE_lsp-tools");
/// The argument that makes the program a supervisor.
const SUPERVISE: &str = "__supervise";
const PATIENCE: Duration = Duration::from_secs(60);
/// Processes that have left their parent and group also end if the kernel reparents them to the
/// supervisor.
const LOST: &[&str] = if cfg!(linux_kernel) { &["daemon"] } else { &[] };

/// A server that starts others as given by `mode`. Each process writes its name to a file when it
/// is ready.
const TREE: &str = r"
import os, signal, sys, time
marker, folder, mode = sys.argv[1:4]
def stay(name):
    with open(os.path.join(folder, name + '.tmp'), 'w') as file:
        file.write(str(os.getpid()))
    os.rename(os.path.join(folder, name + '.tmp'), os.path.join(folder, name))
    while True:
        time.sleep(1000)
if mode == 'stubborn':
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    if mode == 'session':
        os.setsid()
    if mode == 'daemon':
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        stay('grandchild')
    stay('child')
if mode == 'leaves':
    while not os.path.exists(os.path.join(folder, 'grandchild')):
        time.sleep(0.01)
    sys.exit(5)
stay('server')
";

/// Starts its arguments under a supervisor and waits.
const PARENT: &str = r"
import os, subprocess, sys, time
supervisor, word = sys.argv[1:3]
life, _ = os.pipe()
os.set_inheritable(life, True)
subprocess.Popen([supervisor, word, str(os.getpid()), f'/dev/fd/{life}'] + sys.argv[3:], close_fds=False)
while True:
    time.sleep(1000)
";

struct Scene {
    folder: tempfile::TempDir,
    marker: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let marker = format!("marker-{}", folder.path().file_name().unwrap().display());
        Self { folder, marker }
    }

    fn tree(&self, mode: &str) -> Vec<String> {
        let folder = self.folder.path().to_str().unwrap();
        ["-c", TREE, &self.marker, folder, mode].map(str::to_owned).to_vec()
    }

    fn python(&self, code: &str) -> Spawn {
        self.spawn(["-c", code, &self.marker].map(str::to_owned).to_vec())
    }

    fn spawn(&self, args: Vec<String>) -> Spawn {
        Spawn {
            name: "test".into(),
            program: python(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: self.folder.path().to_owned(),
            pins: Vec::new(),
        }
    }

    /// The living processes with the marker.
    fn alive(&self) -> Vec<i32> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let marked = |pid: &i32| {
            let of = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let arguments = of("cmdline");
            let stat = String::from_utf8_lossy(&of("stat")).into_owned();
            let state = stat.rfind(')').and_then(|end| stat[end + 1..].trim_start().chars().next());
            String::from_utf8_lossy(&arguments).contains(&self.marker)
                && !matches!(state, None | Some('Z' | 'X'))
        };
        pids.filter(marked).collect()
    }

    fn is_up(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    fn wait_for(&self, names: &[&str]) {
        until(&format!("{names:?} are up"), || names.iter().all(|name| self.is_up(name)));
    }

    fn wait_for_nothing(&self) {
        until("nothing is left", || self.alive().is_empty());
    }
}

impl Drop for Scene {
    /// A failed test leaves no process behind either.
    fn drop(&mut self) {
        for pid in self.alive() {
            let _gone = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }
}

/// The interpreter itself: the `python3` on PATH may be a script that searches for it.
fn python() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let ask =
        || Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap().stdout;
    FOUND.get_or_init(|| String::from_utf8(ask()).unwrap().trim().into()).clone()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn spawner() -> Spawner {
    Spawner::new(Some(SUPERVISOR.into()))
}

async fn start(spawn: Spawn) -> ServerProcess {
    spawner().spawn(spawn).await.unwrap()
}

fn parent_of_tree(scene: &Scene, mode: &str) -> Child {
    let mut command = Command::new(python());
    command.args(["-c", PARENT, SUPERVISOR, SUPERVISE]).arg(python()).args(scene.tree(mode));
    command.stdin(Stdio::null()).process_group(0).spawn().unwrap()
}

/// Kills the parent with the signal that cannot be handled.
fn kill_parent(mut parent: Child) {
    parent.kill().unwrap();
    parent.wait().unwrap();
}

#[test]
fn parent_killed_supervisor_ends_whole_process_tree() {
    for mode in ["plain", "session", "stubborn"].iter().chain(LOST) {
        let scene = Scene::new();
        let parent = parent_of_tree(&scene, mode);
        scene.wait_for(&["server", "child", "grandchild"]);
        assert!(scene.alive().len() >= 5, "{mode}: parent, supervisor, server, child and grandchild");
        kill_parent(parent);
        let killed = Instant::now();
        scene.wait_for_nothing();
        let took = killed.elapsed();
        assert!(took < Duration::from_secs(60), "{mode} took {took:?}");
    }
}

#[test]
fn supervisor_with_foreign_parent_starts_nothing() {
    let scene = Scene::new();
    let mut command = Command::new(SUPERVISOR);
    command.args([SUPERVISE, "1", "kernel"]).arg(python()).args(scene.tree("plain"));
    assert_eq!(command.status().unwrap().code(), Some(127));
    assert!(scene.alive().is_empty());
    assert!(!scene.is_up("server"));
}

#[tokio::test]
async fn server_exit_leaves_no_processes_and_keeps_status() {
    for mode in ["leaves"].iter().chain(LOST) {
        let scene = Scene::new();
        let process = start(scene.spawn(scene.tree(mode))).await;
        scene.wait_for(&["child", "grandchild"]);
        if *mode == "leaves" {
            assert_eq!(process.wait().await, Exit::Code(5));
        } else {
            scene.wait_for(&["server"]);
            let server = Pid::from_raw(process.pid().unwrap().try_into().unwrap()).unwrap();
            kill_process(server, Signal::KILL).unwrap();
            assert_eq!(process.wait().await, Exit::Signal(9));
        }
        // The supervisor ends after the last of them, so no wait is needed.
        assert!(scene.alive().is_empty(), "{mode}");
    }
}

#[tokio::test]
async fn supervised_process_stdin_and_stdout_are_its_own() {
    let scene = Scene::new();
    let code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)\nprint('end')";
    let mut process = start(scene.python(code)).await;
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    stdin.write_all(b"hello\n").await.unwrap();
    let mut answer = [0; 6];
    stdout.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HELLO\n");
    drop(stdin);
    let mut rest = String::new();
    tokio::time::timeout(PATIENCE, stdout.read_to_string(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, "end\n");
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(process.pid(), None);
}

#[tokio::test]
async fn supervised_process_stderr_tail_and_exit_status_are_kept() {
    let scene = Scene::new();
    let code = r"
import sys
for n in range(100): print('line', n, file=sys.stderr)
sys.stderr.write('\x1b[31mred\x1b[0m\nlast without end')
sys.exit(3)";
    let process = start(scene.python(code)).await;
    assert_eq!(process.wait().await, Exit::Code(3));
    let lines = process.stderr_tail();
    assert_eq!(lines.len(), 30);
    assert_eq!(lines[27], "line 99");
    assert_eq!(lines[28], r"\u{1b}[31mred\u{1b}[0m");
    assert_eq!(lines[29], "last without end");
}

#[tokio::test]
async fn supervised_process_killed_by_signal_reports_signal() {
    let scene = Scene::new();
    let process = start(scene.python("import os; os.kill(os.getpid(), 11)")).await;
    let exit = process.wait().await;
    assert_eq!(exit, Exit::Signal(11));
    assert_eq!(exit.to_string(), "signal 11 (SIGSEGV)");
}

#[tokio::test]
async fn missing_program_exit_is_127_with_reason() {
    let scene = Scene::new();
    let mut spawn = scene.python("");
    spawn.program = scene.folder.path().join("no-such-program");
    let process = start(spawn.clone()).await;
    assert_eq!(process.wait().await, Exit::Code(127));
    let words = process.stderr_tail().join("\n");
    assert!(words.contains("no-such-program cannot be started"), "{words}");
    spawn.cwd = scene.folder.path().join("no-such-folder");
    assert!(matches!(spawner().spawn(spawn).await, Err(SpawnError::Refused { .. })));
}

#[tokio::test]
async fn terminate_kills_process_ignoring_sigterm() {
    let scene = Scene::new();
    let process = start(scene.spawn(scene.tree("stubborn"))).await;
    scene.wait_for(&["server", "child", "grandchild"]);
    let asked = Instant::now();
    process.terminate(Duration::from_millis(100)).await;
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(60), "took {took:?}");
    assert_eq!(process.wait().await, Exit::Signal(9));
    assert!(scene.alive().is_empty());
}

#[tokio::test]
async fn dropped_process_handle_ends_its_tree() {
    let scene = Scene::new();
    let mode = LOST.first().unwrap_or(&"session");
    let process = start(scene.spawn(scene.tree(mode))).await;
    scene.wait_for(&["server", "child", "grandchild"]);
    drop(process);
    tokio::task::spawn_blocking(move || scene.wait_for_nothing()).await.unwrap();
}

#[test]
fn tokio_runtime_dropped_ends_process_tree() {
    let scene = Scene::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let spawn = scene.spawn(scene.tree("session"));
    let task = runtime.spawn(async move {
        let _process = start(spawn).await;
        std::future::pending::<()>().await;
    });
    scene.wait_for(&["server", "child", "grandchild"]);
    drop((runtime, task));
    scene.wait_for_nothing();
}

#[tokio::test]
#[cfg_attr(not(linux_kernel), ignore = "the kernel tells servers nothing of their supervisor's death")]
async fn supervisor_killed_ends_its_server() {
    let scene = Scene::new();
    let process = start(scene.spawn(scene.tree("plain"))).await;
    scene.wait_for(&["server", "child", "grandchild"]);
    let supervisor = parent_of(process.pid().unwrap());
    kill_process(Pid::from_raw(supervisor).unwrap(), Signal::KILL).unwrap();
    assert_eq!(process.wait().await, Exit::Signal(9));
    tokio::task::spawn_blocking(move || scene.wait_for_nothing()).await.unwrap();
}

/// The server's orphans become children of the supervisor; unless it waits for them, they stay as
/// zombies for days.
#[tokio::test]
async fn orphans_are_reaped_while_the_server_lives() {
    let scene = Scene::new();
    let code = r"
import os, time
for _ in range(5):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            time.sleep(0.05)
        os._exit(0)
    os.waitpid(child, 0)
open('orphaned', 'w').close()
time.sleep(1000)";
    let process = start(scene.python(code)).await;
    scene.wait_for(&["orphaned"]);
    let server = process.pid().unwrap();
    let supervisor = parent_of(server);
    let children = || {
        let listed = fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children")).unwrap();
        listed.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()).collect::<Vec<_>>()
    };
    until("the orphans are gone", || children() == [server]);
}

#[tokio::test]
async fn tree_rss_includes_memory_of_supervised_process() {
    let scene = Scene::new();
    let code = "import time; block = bytearray(64 << 20); open('grown', 'w').close(); time.sleep(1000)";
    let process = start(scene.python(code)).await;
    scene.wait_for(&["grown"]);
    let bytes = process.tree_rss().await.unwrap();
    assert!((64 << 20..256 << 20).contains(&bytes), "{bytes}");
    process.terminate(Duration::ZERO).await;
    assert_eq!(process.tree_rss().await, None);
}

fn parent_of(pid: u32) -> i32 {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap();
    stat[stat.rfind(')').unwrap() + 1..].split_whitespace().nth(1).unwrap().parse().unwrap()
}
