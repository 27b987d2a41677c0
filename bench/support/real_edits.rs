//! Edits of real projects: the first one after a start, and warm ones, beside a raw client that
//! sends the server the same texts.
//!
//! httpx 0.28.1 (PyPI), @reduxjs/toolkit 2.9.0 (npm) and pflag (`git clone
//! https://github.com/spf13/pflag`, with gopls in PATH): `--httpx=DIR`, `--toolkit=DIR`,
//! `--pflag=DIR` name copies to use. By default, the first two are fetched into
//! `target/bench/packages`, and pflag is left out. A given folder is copied and not changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lsp_tools::Runtime;
use lsp_tools::internals::config::Catalogue;
use serde_json::{Value, json};

use super::archives;
use super::raw_client::{RawClient, Start, uri};

/// A project, with edits that change its interface and others that change only an implementation.
pub struct RealProject {
    pub name: &'static str,
    package: Option<&'static str>,
    language: &'static str,
    pub server: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
}

pub const PROJECTS: [RealProject; 3] = [
    RealProject {
        name: "httpx",
        package: Some("httpx==0.28.1"),
        language: "python",
        server: "pyright",
        edits: &[
            (
                "httpx/_utils.py",
                "def primitive_value_to_str(value: PrimitiveData)",
                "def primitive_value_to_str(value: PrimitiveData, extra: int)",
            ),
            ("httpx/_models.py", "    def is_success(self)", "    def is_successful(self)"),
            (
                "httpx/_urls.py",
                "    def copy_set_param(self, key: str, value: typing.Any = None)",
                "    def copy_set_param(self, key: str)",
            ),
            (
                "httpx/_auth.py",
                "self._build_auth_header(username, password)",
                "self._build_auth_header(username)",
            ),
            (
                "httpx/_exceptions.py",
                "class TooManyRedirects(RequestError):",
                "class TooManyRedirects(HTTPError):",
            ),
            (
                "httpx/_status_codes.py",
                "    def is_informational(cls, value: int) -> bool:",
                "    def is_informational(cls, value: int) -> str:",
            ),
        ],
    },
    RealProject {
        name: "toolkit",
        package: Some("@reduxjs/toolkit@2.9.0"),
        language: "typescript",
        server: "typescript-language-server",
        edits: &[
            (
                "src/createAction.ts",
                "export function isFSA(action: unknown)",
                "export function isFSA(action: unknown, extra: number)",
            ),
            (
                "src/formatProdErrorMessage.ts",
                "export function formatProdErrorMessage(code: number)",
                "export function formatProdErrorMessage(code: string)",
            ),
            (
                "src/mapBuilders.ts",
                "export function executeReducerBuilderCallback<S>(",
                "export function executeReducerBuilderCallback<S, T>(",
            ),
            (
                "src/nanoid.ts",
                "export let nanoid = (size = 21) => {",
                "export let nanoid = (size: string) => {",
            ),
        ],
    },
    RealProject {
        name: "pflag",
        package: None,
        language: "go",
        server: "gopls",
        edits: &[
            (
                "flag.go",
                "func (f *FlagSet) Changed(name string) bool {",
                "func (f *FlagSet) Changed(name string, more int) bool {",
            ),
            ("flag.go", "func (f *FlagSet) SortFlags", "func (f *FlagSet) SortedFlags"),
            (
                "string.go",
                "func (s *stringValue) String() string { return string(*s) }",
                "func (s *stringValue) String() int { return len(*s) }",
            ),
        ],
    },
];

impl RealProject {
    /// Puts the project into `folder`. Returns `None` if it is not given and cannot be fetched.
    pub fn place(&self, kept: &Path, given: Option<PathBuf>, folder: &Path) -> Result<Option<PathBuf>> {
        let root = folder.join(self.name);
        match (given, self.package) {
            (Some(given), _) => {
                fs::create_dir_all(&root)?;
                let words = ["-a", "--reflink=auto", "-T"];
                archives::run(std::process::Command::new("cp").args(words).arg(given).arg(&root))?;
            }
            (None, Some(package)) => archives::unpack(&archives::fetched(kept, package, false)?, &root)?,
            (None, None) => return Ok(None),
        }
        fs::create_dir_all(root.join(".git"))?;
        Ok(Some(root))
    }

    fn present(&self, root: &Path) -> Vec<(&'static str, String, String)> {
        let edit = |(path, old, new): &(&'static str, &str, &str)| {
            let text = fs::read_to_string(root.join(path)).ok()?;
            text.contains(old).then(|| (*path, text.clone(), text.replacen(old, new, 1)))
        };
        self.edits.iter().filter_map(edit).collect()
    }

    /// Measures the first edit of a fresh runtime, then each edit and its reverse, `rounds` times.
    /// Each is compared with the raw client.
    pub async fn measure(&self, runtime: &Runtime, root: &Path, rounds: usize) -> Result<RealEdits> {
        let edits = self.present(root);
        ensure!(!edits.is_empty(), "{}: none of the edits fits this version", self.name);
        let mut measured = RealEdits { name: self.name, ..RealEdits::default() };
        let (path, right, wrong) = &edits[0];
        let begun = Instant::now();
        let first = write(runtime, path, wrong).await?;
        (measured.cold, measured.cold_verdict) = (begun.elapsed(), first["verdict"].to_string());
        write(runtime, path, right).await?;
        let paths: Vec<&str> = edits.iter().map(|(path, ..)| *path).collect();
        let warm =
            super::call(runtime, "lsp_diagnostics", json!({"paths": paths, "timeout_ms": 120_000})).await?;
        ensure!(warm["verdict"] == "complete", "{} does not answer: {warm}", self.server);
        let mut raw = RawEditor::start(self, root)?;
        for round in 0..=rounds {
            for (path, right, wrong) in &edits {
                for text in [wrong, right] {
                    let begun = Instant::now();
                    let answer = write(runtime, path, text).await?;
                    let ours = begun.elapsed();
                    let files = answer["diagnostics"]["files"].as_array().cloned().unwrap_or_default();
                    let files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
                    let theirs = raw.judge(path, text, &files)?;
                    // The first round opens the files.
                    if round > 0 {
                        measured.ours.push(ours);
                        measured.raw.push(theirs);
                        measured.judged += usize::from(answer["verdict"] == "complete");
                    }
                }
            }
        }
        raw.client.stop(Duration::from_secs(10)).context("the raw client's server")?;
        Ok(measured)
    }
}

async fn write(runtime: &Runtime, path: &str, text: &str) -> Result<Value> {
    super::call(runtime, "write", json!({"path": path, "content": text})).await
}

/// The measurements of one project.
#[derive(Default)]
pub struct RealEdits {
    name: &'static str,
    cold: Duration,
    cold_verdict: String,
    ours: Vec<Duration>,
    raw: Vec<Duration>,
    judged: usize,
}

impl RealEdits {
    /// A line of the table, as text and as JSON.
    pub fn row(mut self) -> (String, Value) {
        let seconds = |times: &mut Vec<Duration>, share: f64| {
            times.sort();
            let last = times.len() - 1;
            times[((last as f64) * share).round() as usize].as_secs_f64()
        };
        let (median, p95) = (seconds(&mut self.ours, 0.5), seconds(&mut self.ours, 0.95));
        let raw = seconds(&mut self.raw, 0.5);
        let (cold, count) = (self.cold.as_secs_f64(), self.ours.len());
        let line = format!(
            "{:<10} warm {median:.2} s, p95 {p95:.2} s, × raw {:.2} (raw {raw:.2} s), {} of {count} complete; first {cold:.2} s, {}",
            self.name,
            median / raw,
            self.judged,
            self.cold_verdict
        );
        let row = json!({
            "project": self.name, "edits": count, "complete": self.judged, "median_s": median, "p95_s": p95, "raw_median_s": raw,
            "first_s": cold, "first_verdict": self.cold_verdict,
        });
        (line, row)
    }
}

/// A raw client that sends an edit and requests diagnostics of the files that our answer covers.
struct RawEditor {
    client: RawClient,
    root: PathBuf,
    language: String,
    opened: Vec<String>,
    version: i64,
}

impl RawEditor {
    fn start(project: &RealProject, root: &Path) -> Result<Self> {
        let catalogue = Catalogue::built_in();
        let spec = &catalogue.servers[project.server];
        let program = super::server_program(&spec.command[0])
            .with_context(|| format!("{} is not installed", project.server))?;
        let words = std::iter::once(program).chain(spec.command.iter().skip(1).cloned());
        let client =
            RawClient::start(Start { timeout: Duration::from_secs(120), ..Start::new(words, root) })?;
        Ok(Self {
            client,
            root: root.to_owned(),
            language: project.language.to_owned(),
            opened: Vec::new(),
            version: 1,
        })
    }

    fn judge(&mut self, edited: &str, text: &str, others: &[&str]) -> Result<Duration> {
        for path in std::iter::once(&edited).chain(others) {
            if !self.opened.iter().any(|known| known == path) {
                let uri = uri(&self.root.join(path));
                self.client.open(&uri, &self.language, 1, &fs::read_to_string(self.root.join(path))?)?;
                self.opened.push((*path).to_owned());
            }
        }
        self.version += 1;
        let edited_uri = uri(&self.root.join(edited));
        let begun = Instant::now();
        self.client.change(&edited_uri, self.version, text)?;
        if self.client.pulls() {
            for path in std::iter::once(&edited).chain(others.iter().filter(|path| **path != edited)) {
                self.client.pull(&uri(&self.root.join(path)))?;
            }
        } else {
            let version = self.version;
            let right =
                |publish: &super::raw_client::Publish| publish.version.is_none_or(|said| said == version);
            self.client.next_publish(&edited_uri, Duration::from_secs(20), right)?;
        }
        Ok(begun.elapsed())
    }
}
