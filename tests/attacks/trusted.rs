//! Only the trusted program runs, even if a program of the project is constantly replaced by
//! another one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use lsp_tools::TrustRequest;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::support::{Project, copy_executable};

const ROUNDS: usize = 200;

/// Swaps two files constantly, until it is dropped.
struct Loop {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Loop {
    fn between(one: PathBuf, other: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let exchange = move || {
            while !told.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).expect("two files");
            }
        };
        Self { stop, thread: Some(std::thread::spawn(exchange)) }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// A program of the system that is not a script.
fn binary(name: &str) -> Option<PathBuf> {
    let found = which::which(name).ok()?;
    fs::read(&found).is_ok_and(|content| content.starts_with(b"\x7fELF")).then_some(found)
}

/// A hook that is a program of the project: `true`, and beside it `touch`, which makes a file. The
/// hook's argument is that file.
fn hooked(mark: &Path) -> Option<Project> {
    let (Some(trusted), Some(other)) = (binary("true"), binary("touch")) else {
        crate::support::skipped("true and touch are no binaries here");
        return None;
    };
    let project = Project::new([("a.txt", "text\n")]);
    for (from, to) in [(trusted, "tools/guard"), (other, "tools/other")] {
        copy_executable(from, project.path(to));
    }
    project.write(
        ".lsp-tools/lsp-tools.toml",
        format!("[[hooks.pre]]\ncommand = ['tools/guard', {}]\n", json!(mark)),
    );
    Some(project)
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_hook_binary_swapped_constantly_other_never_runs() {
    let outside = tempfile::tempdir().expect("a folder");
    let mark = outside.path().join("mark");
    let Some(project) = hooked(&mark) else { return };
    let first = project.open();
    let shown = first.trust(TrustRequest::Show).await.expect("what to trust");
    first.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.expect("trust");
    drop(first);
    let workspace = project.open();
    let _exchanging = Loop::between(project.path("tools/guard"), project.path("tools/other"));
    let (mut ran, mut refused, mut other) = (0, 0, 0);
    for _ in 0..ROUNDS {
        let result = workspace.call("read", json!({"path": "a.txt"})).await;
        match result.ok() {
            true => ran += 1,
            false => {
                assert_eq!(result.value["code"], "denied", "{}", result.value);
                refused += 1;
            }
        }
        if mark.exists() {
            fs::remove_file(&mark).expect("the mark");
            other += 1;
        }
    }
    assert_eq!(other, 0, "runs of the other program; {ran} calls went through, {refused} were refused");
    assert!(
        ran > 0 && refused > 0,
        "the exchange was never caught: {ran} went through, {refused} were refused"
    );
}
