//! Whether a server's answers across files are whole yet.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::config::spec::ReadinessRule;

/// What a server has said of its own work: progress (LSP 3.17, *Work Done Progress*), `experimental/serverStatus` and
/// the catalogue's signs.
#[derive(Debug, Default)]
pub struct Readiness {
    active: HashMap<String, Work>,
    /// A progress that the rule names has begun and ended.
    named_ended: bool,
    named_begun: bool,
    /// The last `quiescent` of `experimental/serverStatus`.
    quiescent: Option<bool>,
    /// The rule's notification has come.
    signalled: bool,
    /// When the first document was opened: only then do servers begin to load a project.
    first_open: Option<Instant>,
    /// The health message of `experimental/serverStatus`, when it is not "ok".
    pub health: Option<String>,
}

/// A progress that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// What it is ("Indexing").
    pub title: String,
    /// How it goes ("12/40 crates").
    pub message: Option<String>,
    /// 0 to 100.
    pub percentage: Option<u8>,
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.title)?;
        if let Some(message) = &self.message {
            write!(f, ": {message}")?;
        }
        match self.percentage {
            Some(percentage) => write!(f, " ({percentage} %)"),
            None => Ok(()),
        }
    }
}

/// How ready a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// Its answers are whole.
    Yes,
    /// Work goes on that does not keep it from answering about single files.
    Working(String),
    /// Even answers about single files are wrong until this ends.
    No(String),
}

impl Readiness {
    /// A document was opened.
    pub fn opened(&mut self) {
        self.first_open.get_or_insert_with(Instant::now);
    }

    /// Whether the server may still answer "nothing" because it has not looked yet.
    pub fn may_not_have_looked(&self, rule: &ReadinessRule) -> bool {
        self.first_open.is_some_and(|opened| opened.elapsed() < Duration::from_millis(rule.distrust_empty_ms))
    }

    /// Takes the params of `$/progress`; returns the work it speaks of.
    pub fn progress(&mut self, rule: &ReadinessRule, params: &Value) -> Option<Work> {
        let token = match &params["token"] {
            Value::String(token) => token.clone(),
            token => token.to_string(),
        };
        let value = &params["value"];
        let message = value["message"].as_str().map(str::to_owned);
        let percentage = value["percentage"].as_f64().map(|part| part.clamp(0.0, 100.0) as u8);
        match value["kind"].as_str() {
            Some("begin") => {
                let title = value["title"].as_str().unwrap_or("working").to_owned();
                self.named_begun |= names(&rule.progress, &title);
                let work = Work { title, message, percentage };
                self.active.insert(token, work.clone());
                Some(work)
            }
            Some("report") => {
                let work = self.active.get_mut(&token)?;
                work.message = message.or(work.message.take());
                work.percentage = percentage.or(work.percentage);
                Some(work.clone())
            }
            Some("end") => {
                let work = self.active.remove(&token)?;
                self.named_ended |= names(&rule.progress, &work.title);
                None
            }
            _ => None,
        }
    }

    /// Takes the params of `experimental/serverStatus`.
    pub fn server_status(&mut self, params: &Value) {
        self.quiescent = params["quiescent"].as_bool().or(self.quiescent);
        let healthy = params["health"].as_str().is_none_or(|health| health == "ok");
        self.health = if healthy { None } else { params["message"].as_str().map(str::to_owned) };
    }

    /// Takes any other notification: it may be the rule's sign.
    pub fn notification(&mut self, rule: &ReadinessRule, method: &str, params: &Value) {
        let Some(sign) = &rule.notification else { return };
        let fits = match (&sign.field, &sign.value) {
            (Some(field), Some(value)) => {
                params[field].as_str().is_some_and(|said| said.starts_with(value.as_str()))
            }
            _ => true,
        };
        self.signalled |= sign.method == method && fits;
    }

    /// How ready the server is by now.
    pub fn state(&self, rule: &ReadinessRule) -> Ready {
        let named = self.active.values().find(|work| names(&rule.progress, &work.title));
        if let Some(work) = named {
            return not_yet(rule, work.to_string());
        }
        if rule.server_status && self.quiescent != Some(true) {
            let work = self.active.values().next().map_or("loading the project".to_owned(), Work::to_string);
            return Ready::No(work);
        }
        if rule.notification.is_some() && !self.signalled {
            return Ready::No("starting".to_owned());
        }
        if !rule.progress.is_empty() && !self.named_ended && !self.named_begun {
            let waited = self.first_open.map(|opened| opened.elapsed());
            if waited.is_none_or(|waited| waited < rule.grace()) {
                return not_yet(rule, "loading the project".to_owned());
            }
        }
        let other = self.active.values().find(|work| !names(&rule.not_indexing, &work.title));
        other.map_or(Ready::Yes, |work| Ready::Working(work.to_string()))
    }

    /// When the state may change without any word of the server: the end of the grace period.
    pub fn next_change(&self, rule: &ReadinessRule) -> Option<Instant> {
        if rule.progress.is_empty() || self.named_begun {
            return None;
        }
        Some(self.first_open? + rule.grace())
    }
}

/// What the progress that a rule names keeps the server from.
fn not_yet(rule: &ReadinessRule, work: String) -> Ready {
    if rule.files_first { Ready::Working(work) } else { Ready::No(work) }
}

fn names(titles: &[String], title: &str) -> bool {
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
    fn named_progress_must_begin_and_end() {
        let rule = rule(&["Initializing"]);
        let mut readiness = Readiness::default();
        readiness.opened();
        assert!(matches!(readiness.state(&rule), Ready::No(_)));
        readiness.progress(
            &rule,
            &json!({ "token": 1, "value": { "kind": "begin", "title": "Initializing JS" } }),
        );
        assert_eq!(readiness.state(&rule), Ready::No("Initializing JS".into()));
        readiness.progress(&rule, &json!({ "token": 1, "value": { "kind": "end" } }));
        assert_eq!(readiness.state(&rule), Ready::Yes);
    }

    #[test]
    fn questions_about_single_files_need_not_wait_where_the_rule_says_so() {
        let rule = ReadinessRule { files_first: true, ..rule(&["indexing"]) };
        let mut readiness = Readiness::default();
        readiness.opened();
        assert_eq!(readiness.state(&rule), Ready::Working("loading the project".into()));
        readiness.progress(&rule, &json!({ "token": 1, "value": { "kind": "begin", "title": "indexing" } }));
        assert_eq!(readiness.state(&rule), Ready::Working("indexing".into()));
        readiness.progress(&rule, &json!({ "token": 1, "value": { "kind": "end" } }));
        assert_eq!(readiness.state(&rule), Ready::Yes);
    }

    #[test]
    fn other_progress_is_work_with_its_percentage() {
        let rule = rule(&[]);
        let mut readiness = Readiness::default();
        readiness
            .progress(&rule, &json!({ "token": "t", "value": { "kind": "begin", "title": "Indexing" } }));
        readiness.progress(
            &rule,
            &json!({ "token": "t", "value": { "kind": "report", "percentage": 40, "message": "2/5" } }),
        );
        assert_eq!(readiness.state(&rule), Ready::Working("Indexing: 2/5 (40 %)".into()));
    }

    #[test]
    fn quiescence_decides_where_the_rule_says_so() {
        let rule = ReadinessRule { server_status: true, ..Default::default() };
        let mut readiness = Readiness::default();
        assert!(matches!(readiness.state(&rule), Ready::No(_)));
        readiness.server_status(&json!({ "health": "ok", "quiescent": true }));
        assert_eq!(readiness.state(&rule), Ready::Yes);
    }
}
