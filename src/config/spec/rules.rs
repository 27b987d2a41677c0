//! The rules of a server: when its text, its diagnostics and its answers are right.

use std::time::Duration;

use serde::Deserialize;

use super::RegexPattern;
use crate::config::marker::ConfigMarker;

/// How a server must be told of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SyncRule {
    /// As it announced.
    #[default]
    Announced,
    /// The whole text whenever the text has characters outside the Basic Multilingual Plane, as announced otherwise.
    FullIfAstral,
    /// Always the whole text.
    Full,
}

/// How a server's diagnostics for exactly our text are known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct DiagnosticsRule {
    /// The way to use.
    pub(crate) source: DiagnosticsSource,
    /// Milliseconds of silence after which unversioned pushes are taken as settled, where nothing better is known.
    pub(crate) quiet_ms: Option<u64>,
    /// The first push after opening is an empty list that says nothing.
    pub(crate) first_empty_is_noise: bool,
    /// How many pushes each version gets; those before the last speak of an older text (0 stands for 1).
    pub(crate) pushes_per_version: u64,
    /// It checks only what was saved: a `didSave` follows each change of the file on disk.
    pub(crate) on_save: bool,
    /// A notification that says "done with this document" (clangd's file status).
    pub(crate) idle: Option<IdleSign>,
    /// Milliseconds to wait for the first diagnostics of a document, beyond the usual deadline (slow linters).
    pub(crate) timeout_ms: Option<u64>,
    /// It publishes nothing when nothing changed: after a change that leaves its findings as they are, silence means
    /// that the last push still holds once a barrier request was answered and `quiet-ms` have passed.
    pub(crate) silent_when_same: bool,
    /// It checks only the document that changed last, so documents are given to it one after the other.
    pub(crate) one_at_a_time: bool,
    /// What it gives as hints are findings, as its command line shows them.
    pub(crate) hints_are_findings: bool,
    /// Members added to the `didChange` that makes it check a text again which is the same, after another file changed
    /// (clangd's `forceRebuild`); it then pushes for that version in any case.
    pub(crate) recheck: toml::Table,
    /// A checker of the whole project that it runs beside what it answers to pulls (rust-analyzer's `cargo check`); it pushes what that
    /// finds.
    pub(crate) background_check: Option<BackgroundCheckRule>,
    /// What it finds in a file follows unsaved text of others.
    pub(crate) sees_unsaved: bool,
    /// Findings by which it says that there may be more.
    pub(crate) falls_short: Vec<FallsShort>,
    /// Findings that are not shown, because they are no faults in most projects.
    pub(crate) left_out: Vec<LeftOutFinding>,
    /// Findings by which it says that one of its checkers has failed on a text: the text is given to it again.
    pub(crate) failed_checks: Vec<FailedCheck>,
    /// Checkers (a diagnostic's `source`) whose start columns count bytes of UTF-8, whatever the server counts.
    pub(crate) byte_columns: Vec<String>,
    /// Codes of findings that follow from which files there are and from the text they are in, and from no other text.
    pub(crate) about_files: Vec<String>,
    /// Lists of globs by which a project says which files its command line checks; of several files the first that is there.
    pub(crate) includes: Vec<ConfigMarker>,
    /// The same of the files that it does not check.
    pub(crate) excludes: Vec<ConfigMarker>,
}

/// A checker that a server runs in the background, over the project as it is on disk.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BackgroundCheckRule {
    /// What people call it.
    pub(crate) name: String,
    /// The notification that starts it over the whole project.
    pub(crate) start: String,
    /// What the tokens of its work-done progress begin with: a run is over when its progress has ended.
    pub(crate) progress_token: String,
    /// The dotted key of a setting that turns it off where it is `false`.
    pub(crate) off_by: Option<String>,
}

/// A finding by which a server says that it has not looked at everything.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FallsShort {
    /// Its code.
    pub(crate) code: Option<String>,
    /// What its message reads like.
    pub(crate) matches: Option<RegexPattern>,
    /// It counts only where the project has no build file.
    #[serde(default)]
    pub(crate) without_build_file: bool,
    /// What may be missing, as a sentence without its full stop.
    pub(crate) reason: String,
}

/// A finding that is shown only in projects whose own settings ask for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct LeftOutFinding {
    /// The checker: the `source` of the finding.
    pub(crate) source: String,
    /// A pattern of its message.
    pub(crate) matches: RegexPattern,
    /// The settings of a project with which it is shown.
    pub(crate) unless: Vec<ConfigMarker>,
}

/// A finding by which a server says that one of its checkers has failed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FailedCheck {
    /// The checker: the `source` of the finding.
    pub(crate) source: String,
    /// What its message reads like.
    pub(crate) matches: RegexPattern,
}

/// Where fresh diagnostics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DiagnosticsSource {
    /// Not measured: pull where offered, else pushes, versioned where they are.
    #[default]
    Auto,
    /// `textDocument/diagnostic` (3.17), also when it is registered late.
    Pull,
    /// Pushes that carry the document's version.
    VersionedPush,
    /// Pushes without version.
    Push,
    /// Asked through `workspace/executeCommand typescript.tsserverRequest`, whose answer is for the text it has.
    Tsserver,
    /// It gives none.
    None,
}

/// A notification that tells that a server is done with a document.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct IdleSign {
    /// The notification's method; its params name the document in `uri`.
    pub(crate) method: String,
    /// The member that tells the state.
    pub(crate) field: String,
    /// The member's value (or the start of it) that means "done".
    pub(crate) value: String,
    /// The start of what it says at least once while it works on a new text: until then "done" is about an older one.
    #[serde(default)]
    pub(crate) work: Option<String>,
}

/// What it takes for a server to see other files as they are on disk, once they came, went or changed while it had them not open.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ReloadRule {
    /// It holds for changes of files with these names; for all that concern the server, where there are none.
    pub(crate) files: Vec<String>,
    /// A request that makes it look at the disk. It is put before the next question.
    pub(crate) method: Option<String>,
    /// The params of that request.
    pub(crate) params: toml::Table,
    /// A document is sent to it again, with the same text, and what it pushes for it is waited for, before it is asked about it.
    pub(crate) touch: bool,
    /// It never sees them, and is started anew.
    pub(crate) restart: bool,
    /// Milliseconds in which its answers may still be about the files as they were.
    pub(crate) settle_ms: Option<u64>,
}

impl ReloadRule {
    /// How long its answers may be about the files as they were.
    pub(crate) fn settle(&self) -> Option<Duration> {
        self.settle_ms.map(Duration::from_millis)
    }
}

/// How a server moves a symbol to a file that the client names, which LSP has no request for: a code action whose command takes that file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MoveSymbolRule {
    /// The kind of that code action.
    pub(crate) kind: String,
    /// Where in the first argument of its command the absolute path goes (RFC 6901).
    pub(crate) argument: String,
    /// It makes the file on disk, empty, where there is none.
    #[serde(default)]
    pub(crate) makes_file: bool,
}

/// When answers across files are whole.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ReadinessRule {
    /// Starts of the titles of work-done progress that must begin and end after the first document was opened.
    pub(crate) progress: Vec<String>,
    /// Milliseconds within which that progress begins; where it does not, the server is taken as ready.
    pub(crate) grace_ms: Option<u64>,
    /// What it says of single files is right before that progress ends: only questions across files wait for it.
    pub(crate) files_first: bool,
    /// It reports `experimental/serverStatus` with `quiescent` (rust-analyzer).
    pub(crate) server_status: bool,
    /// Starts of the titles of work-done progress during which what it says of single files is right already, though it is
    /// not quiescent: it only fills its caches.
    pub(crate) files_during: Vec<String>,
    /// A notification that says "ready" once.
    pub(crate) notification: Option<ReadySign>,
    /// Milliseconds after its first document was opened in which "nothing" is not believed and asked again: it answers
    /// before it has looked.
    pub(crate) distrust_empty_ms: u64,
    /// Starts of the titles of work-done progress that is not indexing (a linter's run); `*` for all.
    pub(crate) not_indexing: Vec<String>,
    /// Of the files that no index covers it knows those that are open.
    pub(crate) knows_open_files: bool,
    /// But it knows all that lie in, or below, a folder with one of these files.
    pub(crate) knows_all_below: Vec<String>,
    /// Where the root has one of these settings, which say what files it lists, it knows of the others those that are open.
    pub(crate) knows_open_files_where: Vec<ConfigMarker>,
    /// Where the root has one of these settings, it knows nothing of the files that they leave out.
    pub(crate) leaves_files_out_where: Vec<ConfigMarker>,
    /// Of the projects within its root it knows those with an open file.
    pub(crate) knows_open_projects: bool,
    /// The symbols that it lists by name are those of the project of the file that it was asked about last.
    #[serde(default)]
    pub(crate) symbols_of_last_file: bool,
    /// It compiles the project in one configuration, and knows nothing of the code of others.
    pub(crate) knows_one_configuration: bool,
}

impl ReadinessRule {
    /// How long the announced progress may take to begin.
    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms.unwrap_or(1_000))
    }
}

/// A notification by which a server says that it is ready.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ReadySign {
    /// The notification's method.
    pub(crate) method: String,
    /// The member to look at.
    pub(crate) field: Option<String>,
    /// What that member reads like when it means "ready"; any value does where there is none.
    pub(crate) matches: Option<RegexPattern>,
}
