//! The reasons why answers of an idle server may be incomplete.

use super::live_session::Session;
use crate::lsp::servers::project::shortfall::Shortfall;
use crate::workspace::WorkspacePath;

impl Session {
    /// Assumes the omissions of an untrusted start until they are examined, in the turn that is
    /// returned.
    pub(crate) fn assume_shortfall(&self, shortfall: Shortfall) -> u64 {
        let mut known = self.shortfall.lock();
        *known = (known.0 + 1, shortfall);
        known.0
    }

    /// Records the result of a turn, unless another has begun since, because files have changed.
    pub(crate) fn set_shortfall(&self, turn: u64, shortfall: Shortfall) {
        let mut known = self.shortfall.lock();
        if known.0 == turn {
            known.1 = shortfall;
        }
    }

    /// Returns its omissions in the project of `path`.
    fn shortfall(&self, path: &WorkspacePath) -> Shortfall {
        let differs = self.judge.get().and_then(|judge| judge.difference.clone());
        let refused = || self.configuration_complaint(path);
        let reason = differs.or_else(refused);
        Shortfall::default().or_reason(reason).or_else(self.shortfall.lock().1.clone())
    }

    /// Its own report on its health, if that is not "ok".
    pub(crate) fn health(&self) -> Option<String> {
        let (reason, broken) =
            self.state.with_readiness(|readiness| (readiness.health.clone(), readiness.broken));
        let reason = reason.map(|reason| reason.split_whitespace().collect::<Vec<_>>().join(" "));
        if !broken {
            return reason;
        }
        let why = reason.as_deref().unwrap_or("no reason given");
        Some(format!("{} could not read the project: {why}", self.server()))
    }

    /// The reason why its answers about `path` may be incomplete although it is idle: the project
    /// pins another version, is not trusted or not set up, or the server reports a fault of its
    /// own. The [exclusion](Self::exclusion) of the file from the project is another reason.
    pub(crate) fn shortfall_reason(&self, path: &WorkspacePath) -> Option<String> {
        self.shortfall(path).answers.or_else(|| self.health())
    }

    /// The reason why its diagnostics may be incomplete.
    pub(crate) fn diagnostics_shortfall_reason(&self, path: &WorkspacePath) -> Option<String> {
        self.shortfall(path)
            .diagnostics
            .or_else(|| self.health())
            .or_else(|| self.diagnostics_exclusion(path))
            .or_else(|| self.suppression(path))
    }

    /// That reason behind a semicolon, for the end of a sentence; empty if there is none.
    pub(crate) fn diagnostics_shortfall_clause(&self, path: &WorkspacePath) -> String {
        self.diagnostics_shortfall_reason(path).map(|why| format!("; {why}")).unwrap_or_default()
    }

    /// Returns true if it was started with a file that describes the project's build.
    pub(crate) fn has_build_file(&self) -> bool {
        let launch_inputs = self.launch_inputs.get();
        launch_inputs.is_some_and(|known| known.lock().build.file.is_some())
    }
}
