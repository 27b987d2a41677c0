//! The readiness of a server: whether its answers across files are complete yet.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::config::spec::ReadinessRule;
use crate::text::{truncate_chars, truncate_with_note};

/// The longest description of a server's work that is shown, in characters: servers name whole
/// paths and crates.
const MAX_WORK_PROGRESS_CHARS: usize = 160;
/// The maximum size of such a text that is kept, in bytes.
const MAX_STATUS_TEXT_BYTES: usize = 1_000;

/// The server's reports of its own work: progress (LSP 3.17, *Work Done Progress*),
/// `experimental/serverStatus` and the catalogue's signs.
#[derive(Debug)]
pub(crate) struct Readiness {
    active: ActiveWork,
    /// The time when its answers were last complete; its start, if they never were.
    since: Instant,
    /// True if a progress that the rule names has begun and ended.
    named_ended: bool,
    /// The time of the first sign that the project is loaded.
    loaded: Option<Instant>,
    named_begun: bool,
    /// The last `quiescent` of `experimental/serverStatus`.
    quiescent: Option<bool>,
    /// True if the rule's notification has come.
    signalled: bool,
    /// The time when the first document was opened: only then do servers begin to load a project.
    first_open: Option<Instant>,
    /// The time until which its answers may be about the old files.
    settling: Option<Instant>,
    /// The health message of `experimental/serverStatus`, when it is not "ok".
    pub(crate) health: Option<String>,
    /// True if that health is "error": it could not read the project.
    pub(crate) broken: bool,
}

impl Default for Readiness {
    fn default() -> Self {
        Self {
            active: ActiveWork::default(),
            since: Instant::now(),
            named_ended: false,
            loaded: None,
            named_begun: false,
            quiescent: None,
            signalled: false,
            first_open: None,
            settling: None,
            health: None,
            broken: false,
        }
    }
}

/// A progress that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkProgress {
    /// The title of the work ("Indexing").
    pub(crate) title: String,
    /// The present message ("12/40 crates").
    pub(crate) message: Option<String>,
    /// 0 to 100.
    pub(crate) percentage: Option<u8>,
}

/// The work that has begun and not ended (LSP 3.17, *Work Done Progress*).
#[derive(Debug, Default)]
pub(crate) struct ActiveWork(HashMap<String, WorkProgress>);

/// The content of a progress notification.
#[derive(Debug)]
pub(crate) enum ProgressStep {
    /// The work has begun.
    Begun(WorkProgress),
    /// The work has reached this point.
    Reported(WorkProgress),
    /// The work has ended.
    Ended(WorkProgress),
}

impl ActiveWork {
    /// Takes the params of `$/progress`; `None` if they belong to no work that has begun.
    pub(crate) fn on_progress(&mut self, params: &Value) -> Option<ProgressStep> {
        let token = progress_token(params);
        let value = &params["value"];
        let message = value["message"].as_str().map(truncate_status);
        let percentage = value["percentage"].as_f64().map(|part| part.clamp(0.0, 100.0) as u8);
        match value["kind"].as_str()? {
            "begin" => {
                let title = value["title"].as_str().filter(|title| !title.is_empty());
                let work =
                    WorkProgress { title: truncate_status(title.unwrap_or("working")), message, percentage };
                self.0.insert(token, work.clone());
                Some(ProgressStep::Begun(work))
            }
            "report" => {
                let work = self.0.get_mut(&token)?;
                work.message = message.or(work.message.take());
                work.percentage = percentage.or(work.percentage);
                Some(ProgressStep::Reported(work.clone()))
            }
            "end" => self.0.remove(&token).map(ProgressStep::Ended),
            _ => None,
        }
    }

    /// Returns the works, in no order.
    pub(crate) fn works(&self) -> impl Iterator<Item = &WorkProgress> {
        self.0.values()
    }
}

/// The token of a `$/progress`, as text.
pub(crate) fn progress_token(params: &Value) -> String {
    match &params["token"] {
        Value::String(token) => token.clone(),
        token => token.to_string(),
    }
}

impl From<&str> for WorkProgress {
    fn from(title: &str) -> Self {
        Self { title: title.to_owned(), message: None, percentage: None }
    }
}

impl std::fmt::Display for WorkProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut what = self.title.clone();
        if let Some(message) = self.message.as_deref().filter(|message| !message.is_empty()) {
            what = format!("{what}: {message}");
        }
        f.write_str(&truncate_chars(&what, MAX_WORK_PROGRESS_CHARS))?;
        match self.percentage {
            Some(percentage) => write!(f, " ({percentage} %)"),
            None => Ok(()),
        }
    }
}

/// The readiness of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadinessLevel {
    /// Its answers are complete.
    Yes,
    /// The work in progress does not affect answers about single files.
    Working(WorkProgress),
    /// Even answers about single files are wrong until this ends.
    No(WorkProgress),
}

/// The work for which a server's answers are still incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnfinishedWork {
    /// The work.
    pub(crate) work: WorkProgress,
    /// The time for which its answers have been incomplete: since its start, or since they last
    /// were complete.
    pub(crate) so_far: Duration,
    /// True if its answers about single files are correct all the same.
    pub(crate) files_are_right: bool,
}

impl UnfinishedWork {
    /// "rust-analyzer is indexing: 312/845 (37 %), 12 s so far"
    pub(crate) fn sentence(&self, server: &str) -> String {
        let text = self.to_string();
        let first = text.split([' ', ':']).next().unwrap_or_default();
        match first.strip_suffix("ing") {
            Some(stem) if stem.chars().skip(1).all(char::is_lowercase) => {
                let (head, tail) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
                format!("{server} is {}{tail}", head.to_lowercase())
            }
            _ => format!("{server} is still working: {text}"),
        }
    }
}

impl std::fmt::Display for UnfinishedWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} s so far", self.work, self.so_far.as_secs())
    }
}

impl Readiness {
    /// Returns the unfinished work of the server, if its answers are incomplete.
    pub(crate) fn unfinished_work(&self, rule: &ReadinessRule) -> Option<UnfinishedWork> {
        let so_far = self.since.elapsed();
        match self.level(rule) {
            ReadinessLevel::Yes => None,
            ReadinessLevel::Working(work) => Some(UnfinishedWork { work, so_far, files_are_right: true }),
            ReadinessLevel::No(work) => Some(UnfinishedWork { work, so_far, files_are_right: false }),
        }
    }

    /// Records a coming message: if the answers were complete until now, the time counts from here.
    fn mark_event(&mut self, rule: &ReadinessRule) {
        if self.level(rule) == ReadinessLevel::Yes {
            self.since = Instant::now();
        }
    }

    /// Records that a document was opened.
    pub(crate) fn on_document_opened(&mut self) {
        self.first_open.get_or_insert_with(Instant::now);
    }

    /// Records that its answers may be about the old files until `until`.
    pub(crate) fn mark_settling(&mut self, until: Instant) {
        if self.settling.is_none_or(|settling| settling < Instant::now()) {
            self.since = Instant::now();
        }
        self.settling = Some(until);
    }

    /// Returns true if an empty answer may mean that the server has not looked yet.
    pub(crate) fn empty_is_doubtful(&self, rule: &ReadinessRule) -> bool {
        self.first_open.is_some_and(|opened| opened.elapsed() < Duration::from_millis(rule.distrust_empty_ms))
    }

    /// Takes the params of `$/progress`; returns its work.
    pub(crate) fn on_progress(&mut self, rule: &ReadinessRule, params: &Value) -> Option<WorkProgress> {
        self.mark_event(rule);
        match self.active.on_progress(params)? {
            ProgressStep::Begun(work) => {
                self.named_begun |= matches_title(&rule.progress, &work.title);
                Some(work)
            }
            ProgressStep::Reported(work) => Some(work),
            ProgressStep::Ended(work) => {
                if matches_title(&rule.progress, &work.title) {
                    self.named_ended = true;
                    self.mark_loaded();
                }
                None
            }
        }
    }

    /// Takes the params of `experimental/serverStatus`.
    pub(crate) fn server_status(&mut self, rule: &ReadinessRule, params: &Value) {
        self.mark_event(rule);
        self.quiescent = params["quiescent"].as_bool().or(self.quiescent);
        if self.quiescent == Some(true) {
            self.mark_loaded();
        }
        let healthy = params["health"].as_str().is_none_or(|health| health == "ok");
        self.broken = params["health"] == "error";
        self.health = if healthy { None } else { params["message"].as_str().map(truncate_status) };
    }

    /// Takes any other notification: it may be the rule's sign.
    pub(crate) fn on_notification(&mut self, rule: &ReadinessRule, method: &str, params: &Value) {
        let Some(sign) = &rule.notification else { return };
        if self.signalled || sign.method != method {
            return;
        }
        let value = sign.field.as_ref().and_then(|field| params[field].as_str()).unwrap_or_default();
        if sign.matches.as_ref().is_none_or(|pattern| pattern.is_in(value)) {
            self.signalled = true;
            self.mark_loaded();
        }
    }

    fn mark_loaded(&mut self) {
        self.loaded.get_or_insert_with(Instant::now);
    }

    /// Returns the present readiness of the server.
    pub(crate) fn level(&self, rule: &ReadinessRule) -> ReadinessLevel {
        let named = self.active.works().find(|work| matches_title(&rule.progress, &work.title));
        if let Some(work) = named {
            return not_yet(rule, work.clone());
        }
        if rule.server_status && self.quiescent != Some(true) {
            let only_fills = |work: &&WorkProgress| matches_title(&rule.files_during, &work.title);
            let loads =
                |work: &&WorkProgress| !only_fills(work) && !matches_title(&rule.not_indexing, &work.title);
            return match (self.active.works().find(loads), self.active.works().find(only_fills)) {
                (Some(work), _) => ReadinessLevel::No(work.clone()),
                (None, Some(work)) => ReadinessLevel::Working(work.clone()),
                (None, None) => ReadinessLevel::No("loading the project".into()),
            };
        }
        if rule.notification.is_some() && !self.signalled && !self.is_overdue(rule.grace_ms) {
            return not_yet(rule, "loading the project".into());
        }
        if !rule.progress.is_empty() && !self.named_ended && !self.named_begun {
            let waited = self.first_open.map(|opened| opened.elapsed());
            if waited.is_none_or(|waited| waited < rule.grace()) {
                return not_yet(rule, "loading the project".into());
            }
        }
        if self.settling.is_some_and(|until| Instant::now() < until) {
            return ReadinessLevel::No("reading changed files".into());
        }
        let other = self.active.works().find(|work| !matches_title(&rule.not_indexing, &work.title));
        other.map_or(ReadinessLevel::Yes, |work| ReadinessLevel::Working(work.clone()))
    }

    /// Returns true if the server loads the project for the first time, by the signs of the rule.
    pub(crate) fn is_loading(&self, rule: &ReadinessRule) -> bool {
        let gives_sign = !rule.progress.is_empty() || rule.server_status || rule.notification.is_some();
        gives_sign && self.loaded.is_none() && self.level(rule) != ReadinessLevel::Yes
    }

    /// Returns true if the server gave the first sign that the project is loaded within `time`.
    pub(crate) fn has_just_loaded(&self, time: Duration) -> bool {
        self.loaded.is_some_and(|loaded| loaded.elapsed() < time)
    }

    /// Returns true if `grace_ms` milliseconds have passed since the first document was opened.
    fn is_overdue(&self, grace_ms: Option<u64>) -> bool {
        let waited = self.first_open.map(|opened| opened.elapsed());
        waited.zip(grace_ms).is_some_and(|(waited, grace)| waited >= Duration::from_millis(grace))
    }

    /// Returns the time when the state may change without any message of the server: the end of the
    /// grace period.
    pub(crate) fn next_change(&self, rule: &ReadinessRule) -> Option<Instant> {
        if let Some(settling) = self.settling.filter(|until| Instant::now() < *until) {
            return Some(settling);
        }
        let waits_for_progress = !rule.progress.is_empty() && !self.named_begun;
        let waits_for_sign = rule.notification.is_some() && !self.signalled && rule.grace_ms.is_some();
        (waits_for_progress || waits_for_sign).then_some(self.first_open? + rule.grace())
    }
}

/// Returns the readiness during the progress that a rule names.
fn not_yet(rule: &ReadinessRule, work: WorkProgress) -> ReadinessLevel {
    if rule.files_first { ReadinessLevel::Working(work) } else { ReadinessLevel::No(work) }
}

/// Shortens a server's report of its own state, of which answers show one line.
fn truncate_status(text: &str) -> String {
    truncate_with_note(text, MAX_STATUS_TEXT_BYTES).into_owned()
}

fn matches_title(titles: &[String], title: &str) -> bool {
    titles.iter().any(|start| start == "*" || title.starts_with(start.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(progress: &[&str]) -> ReadinessRule {
        ReadinessRule {
            progress: progress.iter().map(|title| (*title).to_owned()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn readiness_waits_for_named_progress_to_begin_and_end() {
        let rule = rule(&["Initializing"]);
        let mut readiness = Readiness::default();
        readiness.on_document_opened();
        assert!(matches!(readiness.level(&rule), ReadinessLevel::No(_)));
        readiness.on_progress(
            &rule,
            &json!({ "token": 1, "value": { "kind": "begin", "title": "Initializing JS" } }),
        );
        assert_eq!(readiness.level(&rule), ReadinessLevel::No("Initializing JS".into()));
        readiness.on_progress(&rule, &json!({ "token": 1, "value": { "kind": "end" } }));
        assert_eq!(readiness.level(&rule), ReadinessLevel::Yes);
    }

    #[test]
    fn readiness_with_files_first_allows_single_file_requests() {
        let rule = ReadinessRule { files_first: true, ..rule(&["indexing"]) };
        let mut readiness = Readiness::default();
        readiness.on_document_opened();
        assert_eq!(readiness.level(&rule), ReadinessLevel::Working("loading the project".into()));
        readiness
            .on_progress(&rule, &json!({ "token": 1, "value": { "kind": "begin", "title": "indexing" } }));
        assert_eq!(readiness.level(&rule), ReadinessLevel::Working("indexing".into()));
        readiness.on_progress(&rule, &json!({ "token": 1, "value": { "kind": "end" } }));
        assert_eq!(readiness.level(&rule), ReadinessLevel::Yes);
    }

    #[test]
    fn readiness_waits_for_ready_notification_until_grace_period_ends() {
        let sign =
            json!({ "method": "window/logMessage", "field": "message", "matches": "^(Found|No source)" });
        let rule = ReadinessRule {
            files_first: true,
            grace_ms: Some(60_000),
            notification: serde_json::from_value(sign).ok(),
            ..Default::default()
        };
        let mut readiness = Readiness::default();
        readiness.on_document_opened();
        assert_eq!(readiness.level(&rule), ReadinessLevel::Working("loading the project".into()));
        assert!(readiness.next_change(&rule).is_some());
        readiness.on_notification(
            &rule,
            "window/logMessage",
            &json!({ "message": "Searching for source files" }),
        );
        assert!(matches!(readiness.level(&rule), ReadinessLevel::Working(_)));
        let impatient = ReadinessRule { grace_ms: Some(0), ..rule.clone() };
        assert_eq!(readiness.level(&impatient), ReadinessLevel::Yes);
        readiness.on_notification(&rule, "window/logMessage", &json!({ "message": "Found 36 source files" }));
        assert_eq!((readiness.level(&rule), readiness.next_change(&rule)), (ReadinessLevel::Yes, None));
    }

    #[test]
    fn unnamed_progress_is_reported_as_work_with_percentage() {
        let rule = rule(&[]);
        let mut readiness = Readiness::default();
        readiness
            .on_progress(&rule, &json!({ "token": "t", "value": { "kind": "begin", "title": "Indexing" } }));
        readiness.on_progress(
            &rule,
            &json!({ "token": "t", "value": { "kind": "report", "percentage": 40, "message": "2/5" } }),
        );
        assert!(matches!(
            readiness.level(&rule),
            ReadinessLevel::Working(work) if work.to_string() == "Indexing: 2/5 (40 %)"
        ));
    }

    #[test]
    fn readiness_follows_quiescent_server_status() {
        let rule = ReadinessRule { server_status: true, ..Default::default() };
        let mut readiness = Readiness::default();
        assert!(matches!(readiness.level(&rule), ReadinessLevel::No(_)));
        readiness.server_status(&rule, &json!({ "health": "ok", "quiescent": true }));
        assert_eq!(readiness.level(&rule), ReadinessLevel::Yes);
    }

    fn begin(readiness: &mut Readiness, rule: &ReadinessRule, token: u8, title: &str) {
        let value = json!({ "kind": "begin", "title": title });
        readiness.on_progress(rule, &json!({ "token": token, "value": value }));
    }

    #[test]
    fn readiness_during_indexing_allows_single_file_requests() {
        let rule = ReadinessRule {
            server_status: true,
            files_during: vec!["Indexing".to_owned()],
            not_indexing: vec!["cargo check".to_owned()],
            ..Default::default()
        };
        let mut readiness = Readiness::default();
        begin(&mut readiness, &rule, 0, "cargo check");
        assert_eq!(readiness.level(&rule), ReadinessLevel::No("loading the project".into()));
        begin(&mut readiness, &rule, 1, "Indexing");
        assert_eq!(readiness.level(&rule), ReadinessLevel::Working("Indexing".into()));
        begin(&mut readiness, &rule, 2, "Fetching");
        assert_eq!(readiness.level(&rule), ReadinessLevel::No("Fetching".into()));
    }

    #[test]
    fn busy_time_counts_from_start_or_from_last_quiescence() {
        let rule = ReadinessRule { server_status: true, ..Default::default() };
        let mut readiness = Readiness::default();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(40)).unwrap();
        readiness.since = long_ago;
        begin(&mut readiness, &rule, 1, "Fetching");
        readiness.on_progress(&rule, &json!({ "token": 1, "value": { "kind": "end" } }));
        begin(&mut readiness, &rule, 2, "Indexing");
        assert!(readiness.unfinished_work(&rule).unwrap().so_far >= Duration::from_secs(40));
        readiness.on_progress(&rule, &json!({ "token": 2, "value": { "kind": "end" } }));
        readiness.server_status(&rule, &json!({ "health": "ok", "quiescent": true }));
        assert_eq!(readiness.unfinished_work(&rule), None);
        readiness.server_status(&rule, &json!({ "health": "ok", "quiescent": false }));
        assert!(readiness.unfinished_work(&rule).unwrap().so_far < Duration::from_secs(40));
    }

    #[test]
    fn unfinished_work_is_described_in_a_sentence() {
        let busy = |title: &str, message: Option<&str>, percentage| UnfinishedWork {
            work: WorkProgress { title: title.into(), message: message.map(str::to_owned), percentage },
            so_far: Duration::from_millis(12_400),
            files_are_right: false,
        };
        for (busy, expected) in [
            (busy("Indexing", Some("312/845"), Some(37)), "x is indexing: 312/845 (37 %), 12 s so far"),
            (busy("Loading workspace", None, None), "x is loading workspace, 12 s so far"),
            (busy("Roots Scanned", Some("3/4"), None), "x is still working: Roots Scanned: 3/4, 12 s so far"),
            (busy("JSIndexing", None, None), "x is still working: JSIndexing, 12 s so far"),
        ] {
            assert_eq!(busy.sentence("x"), expected);
        }
        let long = busy(&"é".repeat(1_000), None, None).to_string();
        assert_eq!(long.chars().filter(|one| *one == 'é').count(), MAX_WORK_PROGRESS_CHARS);
    }
}
