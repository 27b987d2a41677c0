//! A runtime, and clients that see different texts.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lsp_tools::internals::lsp::{Severity, View};
use lsp_tools::{Client, Position, Runtime, Target};

use crate::support::{Project, TestWorkspace};

/// The upper bound for every expected event, on a slow and busy machine.
pub const SOON: Duration = Duration::from_secs(120);

/// Waits for `future`, which must complete soon.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("an end within bounds")
}

/// A workspace with the deadlines of its settings and no approver.
pub fn open(project: &Project, servers: &[&str]) -> TestWorkspace {
    project.opening().servers(servers).nobody_to_ask().answering_within(SOON).open()
}

/// A view with these unsaved texts.
pub fn view(runtime: &Runtime, texts: &[(&str, &str)]) -> View {
    let path = |name: &str| runtime.workspace().path(Path::new(name)).expect("a path");
    View::disk().with_texts(texts.iter().map(|(name, text)| (path(name), Arc::from(*text))))
}

/// A client that sees these unsaved texts.
pub fn client(workspace: &TestWorkspace, texts: &[(&str, &str)]) -> TestWorkspace {
    seeing(workspace, view(workspace, texts))
}

/// A client with this view.
pub fn seeing(workspace: &TestWorkspace, view: View) -> TestWorkspace {
    workspace.for_client(Client { view, ..Client::default() })
}

/// A position, 0-based.
pub fn at(path: &str, line: u32, character: u32) -> Target {
    Target::Position { path: path.into(), position: Position::new(line, character) }
}

/// The scripted server's statement about its text, without name and version.
pub async fn fingerprint_seen(runtime: &Runtime, path: &str) -> String {
    let answer = in_time(runtime.hover(at(path, 0, 4))).await.expect("a hover");
    let contents = answer.output.contents;
    contents.find("len=").map_or(contents.clone(), |begin| contents[begin..].to_owned())
}

/// The diagnostics' messages in `path`.
pub async fn findings(runtime: &Runtime, path: &str) -> Vec<String> {
    let answer =
        in_time(runtime.diagnose(vec![path.into()], Some(Severity::Hint), 1_000)).await.expect("a check");
    assert_eq!(answer.verdict, lsp_tools::Verdict::Complete, "{answer:?}");
    answer.output.diagnostics.into_iter().map(|item| item.message).collect()
}
