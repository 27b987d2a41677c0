//! A project, a runtime on it, and a caller who approves every command.

use std::fs;
use std::future::Future;
use std::ops::Deref;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Marker, Project, TestWorkspace};

/// The upper bound for every expected event, on a slow and busy machine.
pub const SOON: Duration = Duration::from_secs(30);
/// The time limit of a call whose command ends at once or after a timeout of a second: less than
/// the sleeps of its remaining processes, and not a measure of speed.
pub const PROMPT: Duration = Duration::from_secs(40);

/// A workspace, and a marker for the processes of its commands.
pub struct Scene {
    workspace: TestWorkspace,
    pub marker: Marker,
}

impl Deref for Scene {
    type Target = TestWorkspace;

    fn deref(&self) -> &TestWorkspace {
        &self.workspace
    }
}

impl Scene {
    pub fn new() -> Self {
        Self::with("")
    }

    /// With these settings.
    pub fn with(settings: &str) -> Self {
        Self::open(
            &Project::new([("a.txt", "a\n"), ("src/b.txt", "b\n"), (".gitignore", "ignored/\n")]),
            settings,
        )
    }

    /// On an existing project.
    pub fn open(project: &Project, settings: &str) -> Self {
        fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        let workspace = project.opening().timeout(None).answering_within(SOON).open();
        Self { workspace, marker: Marker::new() }
    }

    /// Like [`bash`](Self::bash), without a time limit.
    pub async fn bash_for_long(&self, command: &str) -> Value {
        let arguments = json!({"command": command, "timeout_ms": 500_000});
        self.call_until(CancellationToken::new(), "bash", arguments).await.value
    }

    /// Runs a command to its end.
    pub async fn bash(&self, command: &str) -> Value {
        let result = self.call("bash", json!({"command": command})).await;
        assert_eq!(result.value["command"], command, "{}", result.value);
        result.value
    }

    /// Runs a command to its end, or for a second.
    pub async fn bash_for_a_second(&self, command: &str) -> (Value, Duration) {
        self.bash_for(1_000, command).await
    }

    /// Runs a command to its end, or for as many milliseconds.
    pub async fn bash_for(&self, milliseconds: u64, command: &str) -> (Value, Duration) {
        let begun = Instant::now();
        let result = self.call("bash", json!({"command": command, "timeout_ms": milliseconds})).await;
        (result.value, begun.elapsed())
    }

    /// The output of a command.
    pub async fn stdout(&self, command: &str) -> String {
        let answer = self.bash(command).await;
        answer["stdout"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Starts a command in the background.
    pub async fn start(&self, command: &str) -> String {
        let result = self.call("bash", json!({"command": command, "background": true})).await;
        result.value["id"].as_str().unwrap_or_else(|| panic!("{}", result.value)).to_owned()
    }

    pub async fn output(&self, id: &str, wait_ms: u64) -> Value {
        self.call("bash_output", json!({"id": id, "wait_ms": wait_ms})).await.value
    }

    /// Waits until no process of its commands is alive.
    pub async fn nothing_is_left(&self) {
        self.lives(|count| count == 0).await;
    }

    /// Waits until `wanted` accepts the number of processes with the marker.
    pub async fn lives(&self, wanted: impl Fn(usize) -> bool) {
        let deadline = Instant::now() + PROMPT;
        while !wanted(self.marker.living()) {
            assert!(Instant::now() < deadline, "{} are left", self.marker.living());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Polls output until `done`, and joins it.
    pub async fn output_until(&self, id: &str, done: impl Fn(&str, &Value) -> bool) -> (String, Value) {
        let mut all = String::new();
        let deadline = Instant::now() + SOON;
        loop {
            let answer = self.output(id, 1_000).await;
            all.push_str(answer["stdout"].as_str().unwrap_or_else(|| panic!("{answer}")));
            if done(&all, &answer) {
                return (all, answer);
            }
            assert!(Instant::now() < deadline, "{all:?} {answer}");
        }
    }
}

/// Waits for `future`, which must complete soon.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("an end within bounds")
}
