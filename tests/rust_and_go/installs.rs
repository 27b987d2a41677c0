//! Packages from `go get` and `cargo add` count from the next answer on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Runtime, Verdict};

use super::real::{PATIENCE, open};
use crate::support::{Project, real_servers, skipped};

async fn errors(runtime: &Runtime, path: &str) -> (Vec<String>, Verdict) {
    let found = runtime.diagnose(vec![path.into()], Some(Severity::Error), 100).await.expect("an answer");
    (found.output.diagnostics.iter().map(|item| item.message.clone()).collect(), found.verdict)
}

/// Returns true if a package manager succeeded; if not, the test reports itself as skipped.
fn brings(command: &mut Command) -> bool {
    let output = command.output().expect("a package manager");
    if !output.status.success() {
        skipped(&format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    output.status.success()
}

/// A module proxy in a folder, which `go` uses like any other.
fn module_proxy(project: &Project) -> String {
    let folder = project.beside("proxy");
    let versions = folder.join("example.com/lib/@v");
    let module = folder.join("made/example.com/lib@v1.0.0");
    fs::create_dir_all(&versions).expect("a folder");
    fs::create_dir_all(&module).expect("a folder");
    let declared = "module example.com/lib\n\ngo 1.21\n";
    let answer = "// Package lib answers.\npackage lib\n\n// Answer does.\nfunc Answer() int { return 42 }\n";
    for (path, text) in [
        (versions.join("list"), "v1.0.0\n"),
        (versions.join("v1.0.0.info"), "{\"Version\": \"v1.0.0\", \"Time\": \"2024-01-01T00:00:00Z\"}"),
        (versions.join("v1.0.0.mod"), declared),
        (module.join("go.mod"), declared),
        (module.join("lib.go"), answer),
    ] {
        fs::write(path, text).expect("a file");
    }
    // Only files: `go` refuses an archive with folder entries.
    let pack = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as made:\n    for name in sys.argv[2:]: made.write(name)\n";
    let mut zip = Command::new("python3");
    zip.args(["-c", pack]).arg(versions.join("v1.0.0.zip"));
    zip.args(["go.mod", "lib.go"].map(|name| format!("example.com/lib@v1.0.0/{name}")));
    assert!(zip.current_dir(folder.join("made")).status().expect("python3").success());
    format!("file://{}", folder.display())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn go_get_counts_from_next_answer() {
    let project = Project::new([
        ("go.mod", "module example.com/app\n\ngo 1.21\n"),
        (
            "main.go",
            "package main\n\nimport \"example.com/lib\"\n\nfunc main() {\n\tprintln(lib.Answer())\n}\n",
        ),
    ]);
    let runtime = open(&project, "gopls");
    let (found, verdict) = errors(&runtime, "main.go").await;
    assert!(found.len() == 1 && verdict == Verdict::Partial, "{found:?}");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = real_servers(&["gopls"]).join("servers/gopls/current/venv/bin");
    let folders = std::env::split_paths(&path).chain([own]).collect::<Vec<PathBuf>>();
    let mut get = Command::new("sh");
    get.args(["-c", "go get example.com/lib@v1.0.0"]).current_dir(project.root());
    get.env("PATH", std::env::join_paths(folders).expect("a path"));
    get.env("GOPROXY", module_proxy(&project)).env("GOSUMDB", "off").env("GOTOOLCHAIN", "local");
    let output = get.output().expect("sh");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(errors(&runtime, "main.go").await, (Vec::new(), Verdict::Complete));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn cargo_add_counts_from_next_answer() {
    let project = Project::of_fixture("projects/cargo");
    project.write("tally/src/lib.rs", "/// Adds.\npub fn add(left: u64, right: u64) -> u64 {\n    left + right\n}\n\npub fn text() -> String {\n    itoa::Buffer::new().format(1).to_owned()\n}\n");
    let runtime = open(&project, "rust-analyzer");
    runtime.grant_trust().await;
    runtime.shutdown().await;
    let runtime = open(&project, "rust-analyzer");
    let (found, _) = errors(&runtime, "tally/src/lib.rs").await;
    assert!(found.iter().any(|message| message.contains("itoa")), "{found:?}");
    let mut add = Command::new("cargo");
    add.args(["add", "--quiet", "-p", "tally", "itoa@1.0.11"]).current_dir(project.root());
    if !brings(&mut add) {
        return;
    }
    let (mut found, mut verdict) = errors(&runtime, "tally/src/lib.rs").await;
    let begun = Instant::now();
    while verdict == Verdict::Partial && begun.elapsed() < PATIENCE {
        (found, verdict) = errors(&runtime, "tally/src/lib.rs").await;
    }
    assert_eq!((found, verdict), (Vec::new(), Verdict::Complete));
    runtime.shutdown().await;
}
