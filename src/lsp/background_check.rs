//! The background check of a server: a checker of the whole project, whose findings it pushes beside its answers.
//!
//! rust-analyzer runs `cargo check` like that, over what is on disk. Such a server says "nothing wrong" of a text that its checker has not seen yet. So a check is started for each state of the project
//! about which somebody asks, and its end is waited for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::check_runs::CheckStage;
use super::documents::Snapshot;
use super::readiness::WorkProgress;
use super::session::{AskError, Session};
use crate::config::spec::BackgroundCheckRule;
use crate::rpc::RequestError;

/// How long a check may take to begin after it was asked for: longer than a busy machine takes to start a process.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(5);

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
