//! The background check of a server: a checker of the whole project, whose findings it pushes
//! beside its answers.
//!
//! An example is rust-analyzer with `cargo check`, which reads the files on disk. Such a server
//! reports no findings for a text that its checker has not read. So a question starts a check of
//! the present state of the project, and waits for its end.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::check_runs::CheckStage;
use crate::config::spec::BackgroundCheckRule;
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::documents::view::View;
use crate::lsp::session::ask::{AskError, readiness_deadline};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::readiness::WorkProgress;
use crate::rpc::RequestError;
use crate::workspace::WorkspacePath;

/// The time within which a requested check must begin. It is longer than a busy machine takes to
/// start a process.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The demand of a question on the background check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckDemand {
    /// The answer waits for the check; without it, the answer is incomplete.
    Awaited,
    /// The check is started if it is due. Its findings arrive later.
    Started,
    /// The findings so far are enough.
    AsKnown,
}

/// The state of the pushed findings.
#[derive(Debug)]
pub(super) enum CheckFindings {
    /// The server runs no such check.
    None,
    /// The findings are those of the present state of the disk.
    Current,
    /// The findings are those of an earlier state, or a part; with the reason, if the caller wanted
    /// them all.
    Outdated(Option<String>),
}

impl Session {
    /// Runs the background check of the present state of the disk to its end, as long as `deadline`
    /// leaves time for a question. Returns false if it did not end. Others can ask the server
    /// meanwhile. `path` is any of its files.
    pub(crate) async fn run_background_check(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<bool, AskError> {
        let Some(rule) = self.background_check_rule() else { return Ok(true) };
        let deadline = readiness_deadline(deadline);
        let mut changes = self.state.listen();
        while Instant::now() < deadline {
            let until = match self.check_stage() {
                CheckStage::Done | CheckStage::Ended | CheckStage::Refused => return Ok(true),
                CheckStage::Unasked => {
                    let _view_guard = self.enter_view(&View::disk(), deadline).await?;
                    let (synced, snapshot) = self.sync(path).await?;
                    drop(synced);
                    self.start_background_check(rule, &snapshot, deadline).await?;
                    continue;
                }
                CheckStage::Reloading | CheckStage::Running(_) => deadline,
                CheckStage::Asked(at) => at + BEGIN_TIMEOUT,
                CheckStage::Ending(until) => until,
            };
            tokio::select! {
                _ = changes.changed() => {}
                reason = self.connection.wait_closed() => {
                    return Err(RequestError::Closed { reason }.into());
                }
                () = tokio::time::sleep_until(until.min(deadline)) => {
                    self.state.with_background_check(|runs| runs.refuse_after(BEGIN_TIMEOUT, self.disk_revision()));
                }
            }
        }
        Ok(false)
    }

    /// Returns true if the server runs a background check.
    pub(crate) fn has_background_check(&self) -> bool {
        self.background_check_rule().is_some()
    }

    /// Returns true if the background check has still to examine the present state of the disk, and
    /// can.
    pub(crate) fn owes_background_check(&self) -> bool {
        self.has_background_check()
            && self.sees_disk()
            && !matches!(self.check_stage(), CheckStage::Done | CheckStage::Refused)
    }

    /// Runs or awaits the background check according to `demand`, and returns the state of its
    /// findings; `snapshot` is of any open document.
    pub(super) async fn background_check(
        &self,
        demand: CheckDemand,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<CheckFindings, AskError> {
        if self.state.spec.diagnostics.background_check.is_none() {
            return Ok(CheckFindings::None);
        }
        let Some(rule) = self.background_check_rule() else { return Ok(CheckFindings::Outdated(None)) };
        if !self.sees_disk() {
            let is_missed = demand == CheckDemand::Awaited;
            return Ok(CheckFindings::Outdated(is_missed.then(|| unsaved_sentence(rule))));
        }
        match self.check_stage() {
            // The findings of the check were sent before the response to any request that is sent
            // now.
            CheckStage::Ended if self.pass_barrier(snapshot, deadline).await? => {
                self.state.with_background_check(|runs| runs.finish(self.disk_revision()));
            }
            CheckStage::Unasked if demand == CheckDemand::Started => {
                self.start_background_check(rule, snapshot, deadline).await?;
            }
            _ => {}
        }
        let reason = match self.check_stage() {
            CheckStage::Done => return Ok(CheckFindings::Current),
            CheckStage::Refused => format!("{} did not begin in {} s", rule.name, BEGIN_TIMEOUT.as_secs()),
            CheckStage::Running(work) => format!("{} still runs {}", self.server(), named(rule, &work)),
            CheckStage::Reloading => {
                format!("{} reads the project anew before it runs {}", self.server(), rule.name)
            }
            CheckStage::Unasked | CheckStage::Asked(_) => format!("{} has not begun", rule.name),
            CheckStage::Ending(_) | CheckStage::Ended => {
                format!("{} has not reported all of its findings", rule.name)
            }
        };
        Ok(CheckFindings::Outdated((demand == CheckDemand::Awaited).then_some(reason)))
    }

    /// Returns the rule, if the settings do not turn the check off.
    fn background_check_rule(&self) -> Option<&BackgroundCheckRule> {
        let rule = self.state.spec.diagnostics.background_check.as_ref()?;
        (!self.background_check_is_off()).then_some(rule)
    }

    fn check_stage(&self) -> CheckStage {
        self.state.with_background_check(|runs| runs.stage(self.disk_revision()))
    }

    /// Returns true if `why` is a gap in the findings that waiting does not close.
    pub(crate) fn is_lasting_lack(&self, path: &WorkspacePath, why: &str) -> bool {
        let unsaved = self.background_check_rule().map(unsaved_sentence);
        let reasons = [self.diagnostics_shortfall_reason(path), self.missing_background_check(), unsaved];
        reasons.iter().flatten().any(|reason| reason == why)
    }

    /// Starts the check, unless another caller has, or the server is silent until the deadline.
    async fn start_background_check(
        &self,
        rule: &BackgroundCheckRule,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<(), AskError> {
        // All findings of earlier checks have then arrived.
        if self.pass_barrier(snapshot, deadline).await?
            && self.state.with_background_check(|runs| runs.ask(self.disk_revision()))
        {
            self.connection.notify(&rule.start, &json!({}));
        }
        Ok(())
    }

    /// Returns true if the settings turn the check off.
    fn background_check_is_off(&self) -> bool {
        let rule = self.state.spec.diagnostics.background_check.as_ref();
        let key = rule.and_then(|rule| rule.off_by.as_deref());
        key.is_some_and(|key| self.state.configuration(Some(key)) == Value::Bool(false))
    }

    /// Returns the reason why the findings of the background check are missing permanently: the
    /// settings turn it off.
    pub(super) fn missing_background_check(&self) -> Option<String> {
        let rule = self.state.spec.diagnostics.background_check.as_ref()?;
        let key = rule.off_by.as_deref().filter(|_| self.background_check_is_off())?;
        Some(format!("{} is turned off by the setting `{key}`", rule.name))
    }
}

fn unsaved_sentence(rule: &BackgroundCheckRule) -> String {
    format!("{} reads what is on disk, and not unsaved texts", rule.name)
}

/// "`cargo check`: 12/40 (30 %)"
fn named(rule: &BackgroundCheckRule, work: &WorkProgress) -> String {
    WorkProgress { title: rule.name.clone(), ..work.clone() }.to_string()
}
