//! A project with a scripted server, and a runtime on it.

use std::future::Future;
use std::ops::Deref;
use std::time::{Duration, Instant};

use lsp_tools::answer::{DiagnosticsOutput, HoverOutput, LocationsOutput};
use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Answer, ErrorCode, Position, ServerState, Target, ToolError, Verdict};
use serde_json::Value;

use crate::support::{Project, ServerLog, TestWorkspace, fingerprint};

/// The upper bound for every expected event, on a slow and busy machine.
pub const SOON: Duration = Duration::from_secs(60);
/// The text in most tests: `foo` is defined on line 0 and used on line 1.
pub const TEXT: &str = "def foo\nfoo bar\n";

/// A workspace with the scripted server for `.scr` files. The server ends with it.
pub struct Play(TestWorkspace);

impl Deref for Play {
    type Target = TestWorkspace;

    fn deref(&self) -> &TestWorkspace {
        &self.0
    }
}

impl Play {
    /// With the file `a.scr` of [`TEXT`].
    pub fn new(scenario: &Value) -> Self {
        Self::with(scenario, "", [("a.scr", TEXT)])
    }

    /// With lines for the server's table in the catalogue, and files.
    pub fn with<'a>(
        scenario: &Value,
        table: &str,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self::open(&Project::scripted(scenario, table, files), None)
    }

    /// With `timeout` instead of the deadlines of the settings.
    pub fn limited(scenario: &Value, timeout: Duration) -> Self {
        Self::open(&Project::scripted(scenario, "", [("a.scr", TEXT)]), Some(timeout))
    }

    /// On an existing project.
    pub fn open(project: &Project, timeout: Option<Duration>) -> Self {
        Self(project.opening().timeout(timeout).open())
    }

    pub fn log(&self) -> ServerLog {
        self.project.log()
    }

    /// Hovers over the first name in line 0 that begins at `character`.
    pub async fn hover(&self, path: &str) -> Result<Answer<HoverOutput>, ToolError> {
        self.runtime.hover(at(path, 0, 0)).await
    }

    /// The server's statement about its text: `v3 len=12 hash=…` without the name.
    pub async fn seen(&self, path: &str) -> String {
        let answer = in_time(self.hover(path)).await.expect("a hover");
        answer.output.contents.split_once(' ').map(|(_, seen)| seen.to_owned()).unwrap_or_default()
    }

    pub async fn check(&self, path: &str) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        self.runtime.diagnose(vec![path.into()], Some(Severity::Hint), 1_000).await
    }

    pub async fn references(&self, path: &str) -> Result<Answer<LocationsOutput>, ToolError> {
        self.runtime.references(at(path, 0, 4), 100).await
    }

    /// The verdict and the number of findings.
    pub async fn findings(&self, path: &str) -> (Verdict, usize) {
        let answer = in_time(self.check(path)).await.expect("a check");
        // Shown if the test fails.
        println!("{answer:?}");
        (answer.verdict, answer.output.count)
    }

    /// Compares hover and check with the text on disk: returns the difference, if any.
    pub async fn stale(&self, path: &str) -> Option<String> {
        let text = self.project.read(path);
        let wrong = text.split_whitespace().filter(|word| *word == "WRONG").count();
        let found = self.findings(path).await;
        if found != (Verdict::Complete, wrong) {
            return Some(format!("{found:?}, {wrong} are in {text:?}"));
        }
        let seen = self.seen(path).await;
        (!seen.ends_with(&fingerprint(&text)))
            .then(|| format!("the server has {seen}, on disk is {}", fingerprint(&text)))
    }

    /// Ends the servers; the protocol must have been followed.
    pub async fn end(self) {
        in_time(self.runtime.shutdown()).await;
        assert_eq!(self.log().violations(), Vec::<String>::new());
    }
}

/// A position, 0-based.
pub fn at(path: &str, line: u32, character: u32) -> Target {
    Target::Position { path: path.into(), position: Position::new(line, character) }
}

/// Waits for `future`, which must complete soon.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("an end within bounds")
}

/// Waits for `future` and returns the time it took.
pub async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let begun = Instant::now();
    (in_time(future).await, begun.elapsed())
}

/// The server's state when it gave no answer: from an error, or from an answer by text search.
pub fn failure<T: std::fmt::Debug>(answer: Result<Answer<T>, ToolError>) -> (ServerState, String) {
    match answer {
        Ok(answer) => {
            assert!(matches!(answer.verdict, Verdict::Hints | Verdict::NoData), "{answer:?}");
            (answer.server_status.state, answer.server_status.detail.unwrap_or_default())
        }
        Err(error) => {
            let state = match error.code {
                ErrorCode::Timeout => ServerState::Timeout,
                ErrorCode::ServerFailed => ServerState::Crashed,
                ErrorCode::Unsupported => ServerState::Unsupported,
                ErrorCode::ServerMissing => ServerState::Missing,
                _ => panic!("no failure of a server: {error:?}"),
            };
            (state, error.error)
        }
    }
}
