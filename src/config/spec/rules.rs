//! The rules of a server for its text, its diagnostics and the completeness of its answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::RegexPattern;
use crate::config::catalogue::marker::ConfigMarker;
use crate::config::schema::AnyTable;

/// The silence after which a server that was not measured counts as done.
const UNMEASURED_QUIET_TIME: Duration = Duration::from_secs(1);
/// The silence after which a measured server counts as done, if no figure is given.
const MEASURED_QUIET_TIME: Duration = Duration::from_millis(500);

/// The rule for sending changes to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SyncRule {
    /// The announced kind of synchronization.
    #[default]
    Announced,
    /// The whole text whenever the text has characters outside the Basic Multilingual Plane, as
    /// announced otherwise.
    FullIfAstral,
    /// Always the whole text.
    Full,
}

/// The way in which a server reads the notebooks that it announces to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NotebookRule {
    /// Cells with commands of IPython.
    #[default]
    Announced,
    /// Cells without commands of IPython, which are errors of syntax to it.
    WithoutCommands,
    /// Cells that are opened as text documents as well; it finds nothing in others.
    OpenedCells,
    /// Cells whose diagnostics it pushes; its response to a pull may be about another cell.
    PushedCells,
}

/// The rule by which a server's diagnostics for exactly our text are recognised.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct DiagnosticsRule {
    /// The source to use.
    pub(crate) source: DiagnosticsSource,
    /// Milliseconds of silence after which unversioned pushes count as settled, if no better sign
    /// is known.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(crate) quiet_ms: Option<u64>,
    /// True if the first push after opening is an empty list without meaning.
    pub(crate) first_empty_is_noise: bool,
    /// The number of pushes for each version; those before the last are about an older text (0
    /// stands for 1).
    #[schemars(range(min = 1, max = 10))]
    pub(crate) pushes_per_version: u64,
    /// True if it checks only saved text: a `didSave` follows each change of the file on disk.
    pub(crate) on_save: bool,
    /// A notification that means "done with this document" (clangd's file status).
    pub(crate) idle: Option<IdleSign>,
    /// Milliseconds to wait for the first diagnostics of a document, beyond the usual deadline
    /// (slow linters).
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(crate) timeout_ms: Option<u64>,
    /// True if it publishes nothing when nothing changed. After a change that leaves its findings
    /// as they are, silence then means that the last push still holds, once a barrier request was
    /// answered and `quiet-ms` have passed.
    pub(crate) silent_when_same: bool,
    /// True if it checks only the document that changed last, so documents are sent to it one after
    /// the other.
    pub(crate) one_at_a_time: bool,
    /// True if it may report old diagnostics of a document after a request for a signature in it,
    /// until it gets the text again.
    pub(crate) stale_after_signature: bool,
    /// True if its hints are findings, as its command line shows them.
    pub(crate) hints_are_findings: bool,
    /// Members added to the `didChange` that makes it check an unchanged text again, after another
    /// file changed (clangd's `forceRebuild`); it then pushes for that version in any case.
    #[schemars(with = "AnyTable", extend("x-launch" = true))]
    pub(crate) recheck: toml::Table,
    /// A checker of the whole project that it runs beside its answers to pulls (rust-analyzer's
    /// `cargo check`); it pushes that checker's findings.
    #[schemars(extend("x-launch" = true))]
    pub(crate) background_check: Option<BackgroundCheckRule>,
    /// The way in which it reads notebooks.
    pub(crate) notebooks: NotebookRule,
    /// True if its findings in a file depend on unsaved text of other files.
    pub(crate) sees_unsaved: bool,
    /// True if its findings in a file depend on no other file.
    pub(crate) own_text: bool,
    /// True if its findings in a file change only after changes of which it is notified, so that
    /// they can be kept.
    pub(crate) keeps_findings: bool,
    /// The checkers (a diagnostic's `source`) whose start columns count bytes of UTF-8, regardless
    /// of the server's encoding.
    pub(crate) byte_columns: Vec<String>,
    /// Codes of findings that depend only on the existence of files and on their own text.
    #[schemars(extend("x-launch" = true))]
    pub(crate) about_files: Vec<String>,
    /// Lists of globs by which a project selects the files of its command line's check; of several
    /// files the first that exists.
    #[schemars(extend("x-launch" = true))]
    pub(crate) includes: Vec<ConfigMarker>,
    /// The lists of globs by which a project excludes files from its command line's check; of
    /// several files the first that exists.
    #[schemars(extend("x-launch" = true))]
    pub(crate) excludes: Vec<ConfigMarker>,
    /// Findings by which it reports that there may be more.
    pub(crate) falls_short: Vec<FallsShort>,
    /// Findings that are not shown, because they are no faults in most projects.
    #[schemars(extend("x-launch" = true))]
    pub(crate) left_out: Vec<LeftOutFinding>,
    /// Findings by which it reports that one of its checkers has failed on a text: the text is sent
    /// to it again.
    pub(crate) failed_checks: Vec<FailedCheck>,
}

impl DiagnosticsRule {
    /// Returns true if the server's behaviour was measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.source != DiagnosticsSource::Auto
    }

    /// The silence after which the server counts as done.
    pub(crate) fn quiet_time(&self) -> Duration {
        let unstated = if self.is_measured() { MEASURED_QUIET_TIME } else { UNMEASURED_QUIET_TIME };
        // Twice the longest delay that was measured, since machines differ in speed.
        self.quiet_ms.map_or(unstated, |quiet| Duration::from_millis(quiet * 2))
    }
}

/// A checker that a server runs in the background, over the project on disk.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BackgroundCheckRule {
    /// The usual name of the checker.
    pub(crate) name: String,
    /// The notification that starts it over the whole project.
    pub(crate) start: String,
    /// The start of its work-done progress tokens: a run is over when its progress has ended.
    pub(crate) progress_token: String,
    /// The dotted key of a setting that turns it off if it is `false`.
    pub(crate) off_by: Option<String>,
}

/// A finding by which a server reports that it has not checked everything.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FallsShort {
    /// Its code.
    pub(crate) code: Option<String>,
    /// A pattern of its message.
    pub(crate) matches: Option<RegexPattern>,
    /// True if it counts only in a project without a build file.
    #[serde(default)]
    pub(crate) without_build_file: bool,
    /// The part that may be missing, as a sentence without its full stop.
    pub(crate) reason: String,
}

/// A finding that is shown only in projects whose own settings ask for it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct LeftOutFinding {
    /// The checker: the `source` of the finding.
    pub(crate) source: String,
    /// A pattern of its message.
    pub(crate) matches: RegexPattern,
    /// The settings of a project with which it is shown.
    pub(crate) unless: Vec<ConfigMarker>,
}

/// A finding by which a server reports that one of its checkers has failed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FailedCheck {
    /// The checker: the `source` of the finding.
    pub(crate) source: String,
    /// A pattern of its message.
    pub(crate) matches: RegexPattern,
}

/// The source of fresh diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DiagnosticsSource {
    /// Not measured: pull if offered, else pushes, by version if they have one.
    #[default]
    Auto,
    /// `textDocument/diagnostic` (3.17), also when it is registered late.
    Pull,
    /// Pushes that carry the document's version.
    VersionedPush,
    /// Pushes without version.
    Push,
    /// Requests through `workspace/executeCommand typescript.tsserverRequest`, whose answer is for
    /// the text it has.
    Tsserver,
    /// The server has no diagnostics.
    None,
}

/// A notification that a server is done with a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct IdleSign {
    /// The notification's method; its params name the document in `uri`.
    pub(crate) method: String,
    /// The member with the state.
    pub(crate) field: String,
    /// The member's value (or the start of it) that means "done".
    pub(crate) value: String,
    /// The start of the value that it sends at least once while it works on a new text: until then
    /// "done" is about an older one.
    #[serde(default)]
    pub(crate) work: Option<String>,
}

/// The rule for making a server notice files that were created, deleted or changed on disk while it
/// did not have them open.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ReloadRule {
    /// The names of the files to which the rule applies; if empty, it applies to all files that
    /// concern the server.
    pub(crate) files: Vec<String>,
    /// A request that makes it examine the disk. It is sent before the next question.
    pub(crate) method: Option<String>,
    /// The params of that request.
    #[schemars(with = "AnyTable")]
    pub(crate) params: toml::Table,
    /// True to send a document to it again, with the same text, and to await its push, before a
    /// question about it.
    pub(crate) touch: bool,
    /// True if it never notices such changes, and is restarted.
    pub(crate) restart: bool,
    /// The milliseconds for which its answers may still be about the old files.
    #[schemars(range(min = 1, max = 60_000))]
    pub(crate) settle_ms: Option<u64>,
}

impl ReloadRule {
    /// The time for which its answers may be about the old files.
    pub(crate) fn settle(&self) -> Option<Duration> {
        self.settle_ms.map(Duration::from_millis)
    }
}

/// The way in which a server moves a symbol to a file that the client names. LSP has no request for
/// this: a code action has a command that takes the file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MoveSymbolRule {
    /// The kind of the code action.
    pub(crate) kind: String,
    /// The location of the absolute path in the first argument of its command (RFC 6901).
    pub(crate) argument: String,
    /// True if the server creates the file on disk, empty, if it does not exist.
    #[serde(default)]
    pub(crate) makes_file: bool,
}

/// The conditions on which answers across files are complete.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ReadinessRule {
    /// Starts of the titles of work-done progress that must begin and end after the first document
    /// was opened.
    pub(crate) progress: Vec<String>,
    /// Milliseconds within which that progress begins; otherwise the server counts as ready.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(crate) grace_ms: Option<u64>,
    /// True if its answers about single files are correct before that progress ends. Only questions
    /// across files then wait for it.
    pub(crate) files_first: bool,
    /// True if it reports `experimental/serverStatus` with `quiescent` (rust-analyzer).
    pub(crate) server_status: bool,
    /// Starts of the titles of work-done progress during which its answers about single files are
    /// correct already, though it is not quiescent: it only fills its caches.
    pub(crate) files_during: Vec<String>,
    /// Starts of the titles of work-done progress that is not indexing (a linter's run); `*` for
    /// all.
    pub(crate) not_indexing: Vec<String>,
    /// True if it knows, of the files outside every index, only those that are open.
    pub(crate) knows_open_files: bool,
    /// Settings that list the files of a project. If the root has one of them, the server knows of
    /// the other files only those that are open.
    pub(crate) knows_open_files_where: Vec<ConfigMarker>,
    /// Settings that exclude files. If the root has one of them, the server knows nothing of the
    /// excluded files.
    pub(crate) leaves_files_out_where: Vec<ConfigMarker>,
    /// Files that mark a folder of which it knows all files, at any depth.
    pub(crate) knows_all_below: Vec<String>,
    /// True if it knows, of the projects within its root, only those with an open file.
    pub(crate) knows_open_projects: bool,
    /// True if the symbols that it lists by name are those of the project of the last queried file.
    #[serde(default)]
    pub(crate) symbols_of_last_file: bool,
    /// True if it compiles the project in one configuration, and knows nothing of the code of
    /// others.
    pub(crate) knows_one_configuration: bool,
    /// Milliseconds after its first document was opened for which an empty answer is not believed
    /// and requested again, because it may come before the server has looked.
    #[schemars(range(min = 0, max = 60_000))]
    pub(crate) distrust_empty_ms: u64,
    /// True if it reads the files of the project when it is asked about them, so that its first
    /// answer across files is as complete as any later one.
    pub(crate) reads_on_request: bool,
    /// A notification that means "ready" once.
    pub(crate) notification: Option<ReadySign>,
    /// True if it registers its capabilities shortly before `notification`, so that its start ends
    /// with it.
    pub(crate) ends_start: bool,
}

impl ReadinessRule {
    /// The time within which the announced progress must begin.
    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms.unwrap_or(1_000))
    }
}

/// A notification by which a server reports that it is ready.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ReadySign {
    /// The notification's method.
    pub(crate) method: String,
    /// The member to check.
    pub(crate) field: Option<String>,
    /// The pattern of that member's value that means "ready"; if absent, any value does.
    pub(crate) matches: Option<RegexPattern>,
}
