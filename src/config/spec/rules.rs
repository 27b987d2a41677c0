//! The rules of a server for its text, its diagnostics and the completeness of its answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{MembershipRule, RegexPattern};
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
    /// Cells without commands of IPython, which are errors of syntax to the server.
    WithoutCommands,
    /// Cells that are opened as text documents as well; the server finds nothing in others.
    OpenedCells,
    /// Cells whose diagnostics the server pushes; its response to a pull may be about another cell.
    PushedCells,
}

/// The rule by which a server's diagnostics for exactly our text are recognised.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct DiagnosticsRule {
    /// The way in which the server delivers fresh diagnostics.
    pub(crate) source: DiagnosticsSource,
    /// The longest pause that was measured between a change and its diagnostics, in milliseconds.
    /// If no better sign is known, unversioned pushes count as settled after a silence of twice
    /// this time. If the key is absent, the silence is 500 milliseconds, or 1,000 if `source` is
    /// `auto`.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(crate) quiet_ms: Option<u64>,
    /// True if the server's first push after opening is an empty list without meaning.
    pub(crate) first_empty_is_noise: bool,
    /// The number of pushes that the server sends for each version; those before the last are about
    /// an older text (1 if absent).
    #[schemars(range(min = 1, max = 10))]
    pub(crate) pushes_per_version: u64,
    /// True if the server checks a text, or finds more in it, only when the text is saved. A
    /// `didSave` then follows each change of the text on disk. A server whose `source` is `auto`
    /// also gets it, if the server announces saves.
    pub(crate) on_save: bool,
    /// The notification by which the server reports that it is done with a document (clangd's file
    /// status).
    pub(crate) idle: Option<IdleSign>,
    /// True if the server publishes nothing when nothing changed. After a change that leaves its
    /// findings as they are, silence then means that the last push still holds, once a barrier
    /// request was answered and the silence of `quiet-ms` has passed.
    pub(crate) silent_when_same: bool,
    /// True if the server publishes nothing after one of its `complaints`. The error that it sent
    /// before is part of the reason.
    pub(crate) silent_if_refused: bool,
    /// True if the server checks only the document that changed last, so that documents are sent to
    /// it one after the other.
    pub(crate) one_at_a_time: bool,
    /// True if the server may report old diagnostics of a document after a request for a signature
    /// in it, until the document's text is sent again.
    pub(crate) stale_after_signature: bool,
    /// True if the server's hints are findings that its command line reports too; they are shown as
    /// information.
    pub(crate) hints_are_findings: bool,
    /// Members added to the `didChange` that makes the server check an unchanged text again, after
    /// another file changed (clangd's `forceRebuild`). The server then pushes for that version in
    /// any case.
    #[schemars(with = "AnyTable", extend("x-launch" = true))]
    pub(crate) recheck: toml::Table,
    /// A checker of the whole project that the server runs beside its answers to pulls
    /// (rust-analyzer's `cargo check`), and whose findings it pushes.
    #[schemars(extend("x-launch" = true))]
    pub(crate) background_check: Option<BackgroundCheckRule>,
    /// The way in which the server reads notebooks (`announced` if absent).
    pub(crate) notebooks: NotebookRule,
    /// True if the server's findings in a file depend on unsaved text of other files.
    pub(crate) sees_unsaved: bool,
    /// True if the server's findings in a file depend on no other file.
    pub(crate) own_text: bool,
    /// True if the server's findings in a file change only after changes of which it is notified,
    /// so that they can be kept.
    pub(crate) keeps_findings: bool,
    /// The checkers (a diagnostic's `source`) whose start columns count bytes of UTF-8, regardless
    /// of the server's encoding.
    pub(crate) byte_columns: Vec<String>,
    /// Codes of findings that depend only on which files exist and on the text of their own file.
    #[schemars(extend("x-launch" = true))]
    pub(crate) about_files: Vec<String>,
    /// The lists of globs, in settings of the project, of the files that the server's command line
    /// checks. Of several settings files the first that exists counts.
    #[schemars(extend("x-launch" = true))]
    pub(crate) includes: Vec<ConfigMarker>,
    /// The lists of globs, in settings of the project, of the files that the server's command line
    /// does not check. Of several settings files the first that exists counts.
    #[schemars(extend("x-launch" = true))]
    pub(crate) excludes: Vec<ConfigMarker>,
    /// The request, sent behind each text, whose response shows that the server checks nothing in
    /// the file.
    #[schemars(extend("x-launch" = true))]
    pub(crate) skips: Option<MembershipRule>,
    /// Findings by which the server reports that there may be more; diagnostics are then `partial`.
    pub(crate) falls_short: Vec<FallsShort>,
    /// The notification by which the server reports whether it could check a document.
    pub(crate) check_status: Option<CheckStatusRule>,
    /// A regular expression for lines of standard error by which the server reports that it could
    /// not check a document. The groups are the document's URI and the reason.
    #[schemars(extend("x-launch" = true))]
    pub(crate) failures_on_stderr: Option<RegexPattern>,
    /// The project's settings that suppress errors of its compiler.
    #[schemars(extend("x-launch" = true))]
    pub(crate) suppressed_by: Option<SuppressionRule>,
    /// Findings that are not shown, because they are no faults in most projects.
    #[schemars(extend("x-launch" = true))]
    pub(crate) left_out: Vec<LeftOutFinding>,
    /// Findings by which the server reports that one of its checkers has failed on a text. They are
    /// not shown; the text is sent to the server again.
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
    /// The method of the notification that starts the checker over the whole project.
    pub(crate) start: String,
    /// The start of the tokens of the checker's work-done progress; a run is over when its progress
    /// has ended.
    pub(crate) progress_token: String,
    /// The dotted key of the server's setting that disables the checker if it is `false`.
    pub(crate) off_by: Option<String>,
}

/// A finding by which a server reports that it has not checked everything.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FallsShort {
    /// The code of the finding; any if absent.
    pub(crate) code: Option<String>,
    /// A regular expression for the message of the finding; any if absent.
    pub(crate) matches: Option<RegexPattern>,
    /// True if the rule applies only in a project without a build file.
    #[serde(default)]
    pub(crate) without_build_file: bool,
    /// The part that may be missing, as a sentence without its full stop.
    pub(crate) reason: String,
}

/// A notification that states whether a check of a document succeeded.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct CheckStatusRule {
    /// The method of the notification; its params name the document in `uri`.
    pub(crate) method: String,
    /// The member of the params to check.
    pub(crate) field: String,
    /// The value of `field`, in JSON, that means success.
    pub(crate) success: String,
    /// The reason of a failure that the server does not explain by one of its `complaints`.
    pub(crate) reason: String,
}

/// Settings in YAML by which a project suppresses findings. Each part of a file may be limited to
/// some files by regular expressions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SuppressionRule {
    /// The file of settings, in any folder above a source file.
    pub(crate) file: String,
    /// The user's file, relative to the configuration folder (`XDG_CONFIG_HOME`).
    pub(crate) user_file: String,
    /// The key whose values name the suppressed findings.
    pub(crate) key: String,
    /// A regular expression for the values that suppress errors.
    pub(crate) values: RegexPattern,
    /// The key of the patterns of which a file must match one.
    pub(crate) only_in: String,
    /// The key of the patterns of which a file must match none.
    pub(crate) not_in: String,
    /// The loss, as answers state it.
    pub(crate) hides: String,
}

/// A finding that is shown only in projects whose own settings ask for it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct LeftOutFinding {
    /// The checker that reports the finding: its `source`.
    pub(crate) source: String,
    /// A regular expression for the message of the finding.
    pub(crate) matches: RegexPattern,
    /// Extensions of the only files in which the finding is not shown; all files if empty.
    #[serde(default)]
    pub(crate) only_in: Vec<String>,
    /// Project settings with which the finding is shown.
    #[serde(default)]
    pub(crate) unless: Vec<ConfigMarker>,
}

/// A finding by which a server reports that one of its checkers has failed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FailedCheck {
    /// The checker that reports the finding: its `source`.
    pub(crate) source: String,
    /// A regular expression for the message of the finding.
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
    /// the text that tsserver has.
    Tsserver,
    /// The server has no diagnostics.
    None,
}

/// A notification that a server is done with a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct IdleSign {
    /// The method of the notification; its params name the document in `uri`.
    pub(crate) method: String,
    /// The member of the params to check.
    pub(crate) field: String,
    /// The value of `field`, or its start, that means "done".
    pub(crate) value: String,
    /// The start of the value that `field` has at least once while the server works on a new text;
    /// until then, "done" is about an older text.
    #[serde(default)]
    pub(crate) work: Option<String>,
}

/// The rule for making a server notice files that were created, deleted or changed on disk while it
/// did not have them open.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ReloadRule {
    /// The names of the files to which the rule applies, perhaps with folders above; all files that
    /// concern the server if empty.
    pub(crate) files: Vec<String>,
    /// The method of a request that makes the server examine the disk; it is sent before the next
    /// question.
    pub(crate) method: Option<String>,
    /// The params of `method`.
    #[schemars(with = "AnyTable")]
    pub(crate) params: toml::Table,
    /// True to send a document to the server again, with the same text, and to await its push,
    /// before a question about the document.
    pub(crate) touch: bool,
    /// True if the server never notices changes on disk; it is restarted for the next question.
    pub(crate) restart: bool,
    /// True if the rule also applies to changes of open documents, of which the server is notified.
    pub(crate) also_open: bool,
    /// The names of files, such as settings, after whose changes the server is restarted for the
    /// next question.
    pub(crate) restart_files: Vec<String>,
    /// The time after a change on disk in which the server's answers may still be about the old
    /// files, in milliseconds (0 if absent).
    #[schemars(range(min = 1, max = 60_000))]
    pub(crate) settle_ms: Option<u64>,
}

impl ReloadRule {
    /// The time for which the server's answers may be about the old files.
    pub(crate) fn settle(&self) -> Option<Duration> {
        self.settle_ms.map(Duration::from_millis)
    }
}

/// The way in which a server moves a symbol to a file that the client names. LSP has no request for
/// this: a code action has a command that takes the file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MoveSymbolRule {
    /// The kind of the code action whose command moves the symbol.
    pub(crate) kind: String,
    /// The location of the absolute path in the first argument of the command, as a JSON Pointer
    /// (RFC 6901).
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
    /// The time after the first document was opened, in milliseconds, after which the server counts
    /// as ready without its sign. If absent, `progress` must begin within 1,000 milliseconds, and
    /// the wait for `notification` has no limit.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(crate) grace_ms: Option<u64>,
    /// True if the server's answers about single files are correct before `progress` ends and
    /// before `notification` comes. Only questions across files then wait for these.
    pub(crate) files_first: bool,
    /// True if the server reports `experimental/serverStatus` with `quiescent` (rust-analyzer).
    pub(crate) server_status: bool,
    /// Starts of the titles of work-done progress during which the server only fills its caches.
    /// Its answers about single files are correct then, though it is not quiescent.
    pub(crate) files_during: Vec<String>,
    /// Starts of the titles of work-done progress that is not indexing (a linter's run); `*` for
    /// all.
    pub(crate) not_indexing: Vec<String>,
    /// True if the server knows, of the files that no index covers, only those that are open.
    pub(crate) knows_open_files: bool,
    /// Settings that list the files of a project. If the root has one of them, the server knows, of
    /// the files not listed, only those that are open.
    pub(crate) knows_open_files_where: Vec<ConfigMarker>,
    /// Settings that exclude files. If the root has one of them, the server knows nothing of the
    /// excluded files, even if they are open.
    pub(crate) leaves_files_out_where: Vec<ConfigMarker>,
    /// Names of files that mark a folder of which the server knows all files, at any depth, in
    /// spite of `knows-open-files`.
    pub(crate) knows_all_below: Vec<String>,
    /// True if the server knows, of the projects within its root, only those with an open file.
    pub(crate) knows_open_projects: bool,
    /// True if the server lists symbols by name only from the project of the last queried file.
    #[serde(default)]
    pub(crate) symbols_of_last_file: bool,
    /// True if the server compiles the project in one configuration, and knows nothing of the code
    /// of others.
    pub(crate) knows_one_configuration: bool,
    /// The time after the first document was opened in which an empty answer is requested again, in
    /// milliseconds (0 if absent), because the server may not have looked yet.
    #[schemars(range(min = 0, max = 60_000))]
    pub(crate) distrust_empty_ms: u64,
    /// True if the server reads the project's files when a request is about them, so that its first
    /// answer across files is as complete as any later one.
    pub(crate) reads_on_request: bool,
    /// The notification by which the server reports, once, that it is ready.
    pub(crate) notification: Option<ReadySign>,
    /// True if the server registers its capabilities shortly before `notification`, so that its
    /// start ends with that notification.
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
    /// The method of the notification.
    pub(crate) method: String,
    /// The member of the params to check.
    pub(crate) field: Option<String>,
    /// A regular expression for the value of `field` that means "ready"; any value if absent.
    pub(crate) matches: Option<RegexPattern>,
}
