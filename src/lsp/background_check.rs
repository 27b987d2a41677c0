//! The background check of a server: a checker of the whole project, whose findings it pushes beside its answers.
//!
//! rust-analyzer runs `cargo check` like that, over what is on disk. Such a server says "nothing wrong" of a text that its checker has not seen yet. So a check is started for each state of the project
//! about which somebody asks, and its end is waited for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::documents::Snapshot;
use super::readiness::{ActiveWork, ProgressStep, WorkProgress, progress_token};
use super::session::{AskError, Session};
use crate::config::spec::BackgroundCheckRule;
use crate::rpc::RequestError;

/// How long a check may take to begin after it was asked for: longer than a busy machine takes to start a process.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A state of the project that a check can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ProjectState {
    /// How often files have changed on disk.
    disk: u64,
    /// How often the server was sent another text of a file, as it is on disk.
    texts: u64,
    /// How often the server has read the project anew.
    reloads: u64,
}

/// The runs of the background check, as far as the server has told of them.
#[derive(Debug, Default)]
pub(super) struct BackgroundCheckRuns {
    texts: u64,
    reloads: u64,
    quiescent: bool,
    running: ActiveWork,
    /// How many have begun.
    begun: u64,
    asked: Option<AskedCheck>,
    /// The state of which all findings have been pushed.
    done: Option<ProjectState>,
    /// The state for which no check has begun though one was asked for.
    refused: Option<ProjectState>,
}

/// The check that was asked for last.
#[derive(Debug, Clone, Copy)]
struct AskedCheck {
    of: ProjectState,
    /// How many checks had begun before.
    begun_before: u64,
    at: Instant,
}

/// How far the check of one state of the project is.
#[derive(Debug)]
enum CheckStage {
    /// Nobody has asked for it.
    Unasked,
    /// It was asked for then, and has not begun.
    Asked(Instant),
    /// It goes on.
    Running(WorkProgress),
    /// It has ended; what it found may still be on its way.
    Ended,
    /// All that it found was pushed.
    Done,
    /// It does not begin.
    Refused,
}

/// What a question does about the background check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckDemand {
    /// It is started where it is due, and its end is waited for.
    Awaited,
    /// It is started where it is due: whoever asks hears of what it finds later.
    Started,
    /// What it has found so far is enough.
    AsKnown,
}

/// What the findings that were pushed so far are.
#[derive(Debug)]
pub(super) enum CheckFindings {
    /// Those of what is on disk now.
    Current,
    /// Those of an earlier state, or a part; says why, to somebody who wanted them all.
    Outdated(Option<String>),
}

/// Whether the params of a `$/progress` speak of such a check.
pub(super) fn is_check_progress(rule: &BackgroundCheckRule, params: &Value) -> bool {
    progress_token(params).starts_with(rule.progress_token.as_str())
}

impl BackgroundCheckRuns {
    /// The server was sent another text of a file, as it is on disk.
    pub(super) fn on_text_changed(&mut self) {
        self.texts += 1;
    }

    /// Takes the params of `experimental/serverStatus`: a server that reads the project anew ends its checks and starts others.
    pub(super) fn on_server_status(&mut self, params: &Value) {
        let quiescent = params["quiescent"].as_bool().unwrap_or(self.quiescent);
        self.reloads += u64::from(self.quiescent && !quiescent);
        self.quiescent = quiescent;
    }

    /// Takes the params of the `$/progress` of a check; returns the work it speaks of.
    pub(super) fn on_progress(&mut self, params: &Value) -> Option<WorkProgress> {
        match self.running.on_progress(params)? {
            ProgressStep::Begun(work) => {
                self.begun += 1;
                Some(work)
            }
            ProgressStep::Reported(work) => Some(work),
            ProgressStep::Ended(_) => None,
        }
    }

    fn project_state(&self, disk: u64) -> ProjectState {
        ProjectState { disk, texts: self.texts, reloads: self.reloads }
    }

    fn stage(&self, disk: u64) -> CheckStage {
        let state = self.project_state(disk);
        if self.done == Some(state) {
            return CheckStage::Done;
        }
        if self.refused == Some(state) {
            return CheckStage::Refused;
        }
        let begun_before = match &self.asked {
            Some(asked) if asked.of == state && asked.begun_before == self.begun => {
                return CheckStage::Asked(asked.at);
            }
            Some(asked) if asked.of == state => asked.begun_before,
            // The one with which the server starts is about the state that it started with.
            None if state == ProjectState::default() => 0,
            _ => return CheckStage::Unasked,
        };
        match self.running.works().next() {
            Some(work) => CheckStage::Running(work.clone()),
            None if self.begun > begun_before => CheckStage::Ended,
            None => CheckStage::Unasked,
        }
    }

    /// Notes that a check of the present state is asked for; false where somebody else has asked meanwhile.
    fn ask(&mut self, disk: u64) -> bool {
        let is_due = matches!(self.stage(disk), CheckStage::Unasked);
        if is_due {
            let of = self.project_state(disk);
            self.asked = Some(AskedCheck { of, begun_before: self.begun, at: Instant::now() });
        }
        is_due
    }

    /// Notes that all findings have come of the check that had ended for `state`, unless another has begun.
    fn finish(&mut self, disk: u64) {
        if matches!(self.stage(disk), CheckStage::Ended) {
            self.done = Some(self.project_state(disk));
        }
    }

    fn refuse(&mut self, disk: u64) {
        if matches!(self.stage(disk), CheckStage::Asked(_)) {
            self.refused = Some(self.project_state(disk));
        }
    }
}

impl Session {
    /// Does what `demand` says about the background check; `snapshot` is of any open document.
    pub(super) async fn background_check(
        &self,
        demand: CheckDemand,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<CheckFindings, AskError> {
        let Some(rule) = &self.state.spec.diagnostics.background_check else {
            return Ok(CheckFindings::Outdated(None));
        };
        if !self.sees_disk() {
            let reason = format!("{} reads what is on disk, and not unsaved texts", rule.name);
            let is_missed = demand == CheckDemand::Awaited && !self.background_check_is_off();
            return Ok(CheckFindings::Outdated(is_missed.then_some(reason)));
        }
        let outdated = |reason: String| Ok(CheckFindings::Outdated(Some(reason)));
        let mut bell = self.state.listen();
        loop {
            let until = match self.state.with_background_check(|runs| runs.stage(self.disk_revision())) {
                CheckStage::Done => return Ok(CheckFindings::Current),
                _ if demand == CheckDemand::AsKnown || self.background_check_is_off() => {
                    return Ok(CheckFindings::Outdated(None));
                }
                CheckStage::Refused => {
                    return outdated(format!("{} did not begin in {} s", rule.name, BEGIN_TIMEOUT.as_secs()));
                }
                CheckStage::Unasked => match self.start_background_check(rule, snapshot, deadline).await? {
                    true => continue,
                    false => return outdated(format!("{} has not begun", rule.name)),
                },
                _ if demand == CheckDemand::Started => return Ok(CheckFindings::Outdated(None)),
                CheckStage::Ended => match self.pass_barrier(snapshot, deadline).await? {
                    // What it found was sent before the answer to anything that is asked now.
                    true => {
                        self.state.with_background_check(|runs| runs.finish(self.disk_revision()));
                        continue;
                    }
                    false => return outdated(format!("{} has not told all that it found", rule.name)),
                },
                CheckStage::Asked(_) if Instant::now() >= deadline => {
                    return outdated(format!("{} has not begun", rule.name));
                }
                CheckStage::Running(work) if Instant::now() >= deadline => {
                    return outdated(format!("{} still runs {}", self.server(), named(rule, &work)));
                }
                CheckStage::Asked(at) => at + BEGIN_TIMEOUT,
                CheckStage::Running(_) => deadline,
            };
            tokio::select! {
                _ = bell.changed() => {}
                reason = self.connection.wait_closed() => {
                    return Err(RequestError::Closed { reason }.into());
                }
                () = tokio::time::sleep_until(until.min(deadline)) => if Instant::now() >= until {
                    self.state.with_background_check(|runs| runs.refuse(self.disk_revision()));
                }
            }
        }
    }

    /// Starts it, unless somebody else has; false where the server was silent until the deadline.
    async fn start_background_check(
        &self,
        rule: &BackgroundCheckRule,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<bool, AskError> {
        // Of checks that began before this one everything has been heard then.
        if !self.pass_barrier(snapshot, deadline).await? {
            return Ok(false);
        }
        if self.state.with_background_check(|runs| runs.ask(self.disk_revision())) {
            self.connection.notify(&rule.start, &json!({}));
        }
        Ok(true)
    }

    /// Whether the settings turn it off.
    fn background_check_is_off(&self) -> bool {
        let rule = self.state.spec.diagnostics.background_check.as_ref();
        let key = rule.and_then(|rule| rule.off_by.as_deref());
        key.is_some_and(|key| self.state.configuration(Some(key)) == Value::Bool(false))
    }

    /// Why its findings lack those of the background check for good: the settings turn it off.
    pub(super) fn missing_background_check(&self) -> Option<String> {
        let rule = self.state.spec.diagnostics.background_check.as_ref()?;
        let key = rule.off_by.as_deref().filter(|_| self.background_check_is_off())?;
        Some(format!("{} is turned off by the setting `{key}`", rule.name))
    }
}

/// "`cargo check`: 12/40 (30 %)"
fn named(rule: &BackgroundCheckRule, work: &WorkProgress) -> String {
    WorkProgress { title: rule.name.clone(), ..work.clone() }.to_string()
}
