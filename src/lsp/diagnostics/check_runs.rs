//! The runs of a server's background check: the state of the project that each is about, and its
//! progress.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::config::spec::BackgroundCheckRule;
use crate::lsp::session::readiness::{ActiveWork, ProgressStep, WorkProgress, progress_token};

/// The time after its end within which a check may begin again. rust-analyzer reports a cancelled
/// check like a finished one, and takes a twentieth of a second, and the start of a process, until
/// the next.
const RESTART_PAUSE: Duration = Duration::from_millis(250);

/// A state of the project that a check can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ProjectState {
    /// The number of changes of files on disk.
    disk: u64,
    /// The number of new texts, as they are on disk, that the server was sent.
    texts: u64,
    /// The number of reloads of the project.
    reloads: u64,
}

/// The runs of the background check, as far as the server has reported them.
#[derive(Debug, Default)]
pub(crate) struct BackgroundCheckRuns {
    texts: u64,
    reloads: u64,
    /// The last `quiescent` of `experimental/serverStatus`.
    quiescent: Option<bool>,
    running: ActiveWork,
    /// The time at which one ended last.
    ended: Option<Instant>,
    /// The number of checks begun.
    begun: u64,
    asked: Option<AskedCheck>,
    /// The state for which all findings have been pushed.
    done: Option<ProjectState>,
    /// The state for which no check has begun although one was requested.
    refused: Option<ProjectState>,
}

/// The last requested check.
#[derive(Debug, Clone, Copy)]
struct AskedCheck {
    of: ProjectState,
    /// The number of checks begun before.
    begun_before: u64,
    at: Instant,
}

/// The stage of the check of one state of the project.
#[derive(Debug)]
pub(super) enum CheckStage {
    /// The server reloads the project, which ends the running checks.
    Reloading,
    /// No caller has requested it.
    Unasked,
    /// The check was requested at this time, and has not begun.
    Asked(Instant),
    /// The check runs.
    Running(WorkProgress),
    /// The check has just ended. Until this time it may turn out to be cancelled, and begin again.
    Ending(Instant),
    /// The check has ended; its findings may still be on their way.
    Ended,
    /// All its findings were pushed.
    Done,
    /// The check does not begin.
    Refused,
}

/// Returns true if the params of a `$/progress` belong to such a check.
pub(crate) fn is_check_progress(rule: &BackgroundCheckRule, params: &Value) -> bool {
    progress_token(params).starts_with(rule.progress_token.as_str())
}

impl BackgroundCheckRuns {
    /// Records that a changed file was sent to the server.
    pub(crate) fn on_text_changed(&mut self) {
        self.texts += 1;
    }

    /// Takes the params of `experimental/serverStatus`: a server that reloads the project cancels
    /// its checks and starts others.
    pub(crate) fn on_server_status(&mut self, params: &Value) {
        let Some(quiescent) = params["quiescent"].as_bool() else { return };
        let was = self.quiescent.replace(quiescent);
        let begins = was == Some(true) && !quiescent;
        let ends = was == Some(false) && quiescent && self.reloads > 0;
        self.reloads += u64::from(begins || ends);
    }

    /// Takes the params of the `$/progress` of a check; returns its work.
    pub(crate) fn on_progress(&mut self, params: &Value) -> Option<WorkProgress> {
        match self.running.on_progress(params)? {
            ProgressStep::Begun(work) => {
                self.begun += 1;
                Some(work)
            }
            ProgressStep::Reported(work) => Some(work),
            ProgressStep::Ended(_) => {
                self.ended = Some(Instant::now());
                None
            }
        }
    }

    fn project_state(&self, disk: u64) -> ProjectState {
        ProjectState { disk, texts: self.texts, reloads: self.reloads }
    }

    /// Returns the stage of the check of the present state, with `disk` as the number of changes on
    /// disk.
    pub(super) fn stage(&self, disk: u64) -> CheckStage {
        let state = self.project_state(disk);
        if self.quiescent == Some(false) {
            return CheckStage::Reloading;
        }
        if self.done == Some(state) {
            return CheckStage::Done;
        }
        let begun_before = match &self.asked {
            Some(request) if request.of == state && request.begun_before == self.begun => {
                let is_refused = self.refused == Some(state);
                return if is_refused { CheckStage::Refused } else { CheckStage::Asked(request.at) };
            }
            Some(request) if request.of == state => request.begun_before,
            // The one with which the server starts is about the state that it started with.
            None if state == ProjectState::default() => 0,
            _ => return CheckStage::Unasked,
        };
        match self.running.works().next() {
            Some(work) => CheckStage::Running(work.clone()),
            None if self.begun > begun_before => match self.ended.map(|ended| ended + RESTART_PAUSE) {
                Some(until) if Instant::now() < until => CheckStage::Ending(until),
                _ => CheckStage::Ended,
            },
            None => CheckStage::Unasked,
        }
    }

    /// Records a request for a check of the present state. Returns false if another caller was
    /// first.
    pub(super) fn ask(&mut self, disk: u64) -> bool {
        let is_due = matches!(self.stage(disk), CheckStage::Unasked);
        if is_due {
            let of = self.project_state(disk);
            self.asked = Some(AskedCheck { of, begun_before: self.begun, at: Instant::now() });
        }
        is_due
    }

    /// Records that all findings of the ended check have arrived, unless another check is due.
    pub(super) fn finish(&mut self, disk: u64) {
        if matches!(self.stage(disk), CheckStage::Ended) {
            self.done = Some(self.project_state(disk));
        }
    }

    /// Records that the requested check has not begun, if `timeout` has passed since.
    pub(super) fn refuse_after(&mut self, timeout: Duration, disk: u64) {
        if let CheckStage::Asked(at) = self.stage(disk)
            && at.elapsed() >= timeout
        {
            self.refused = Some(self.project_state(disk));
        }
    }
}
