//! The reasons why answers of a server at rest may be incomplete.

use super::session::Session;

/// What a server leaves undone because the project is not trusted, or not set up, in sentences without their full stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// What its answers may lack; `None` where they lack nothing.
    pub(crate) answers: Option<String>,
    /// What its diagnostics may lack.
    pub(crate) diagnostics: Option<String>,
}

impl Shortfall {
    /// The same, where there is no other reason, for what all answers lack.
    pub(super) fn or_reason(self, reason: Option<String>) -> Self {
        Self { answers: self.answers.or_else(|| reason.clone()), diagnostics: self.diagnostics.or(reason) }
    }

    /// The same, with what `other` says where there is no reason here.
    pub(super) fn or_else(self, other: Self) -> Self {
        Self { answers: self.answers.or(other.answers), diagnostics: self.diagnostics.or(other.diagnostics) }
    }
}

impl Session {
    /// Assumes what it leaves undone because the project is not trusted, until that was looked at in the turn that is returned.
    pub(super) fn assume_shortfall(&self, shortfall: Shortfall) -> u64 {
        let mut known = self.shortfall.lock();
        *known = (known.0 + 1, shortfall);
        known.0
    }

    /// Notes what was found in a turn, unless another has begun since: files have changed under it.
    pub(super) fn set_shortfall(&self, turn: u64, shortfall: Shortfall) {
        let mut known = self.shortfall.lock();
        if known.0 == turn {
            known.1 = shortfall;
        }
    }

    fn shortfall(&self) -> Shortfall {
        self.shortfall.lock().1.clone()
    }

    /// Why its answers may fall short of what is there though it has come to rest: what it leaves undone because the project is
    /// not trusted, or its own word that it is not well.
    pub(crate) fn shortfall_reason(&self) -> Option<String> {
        self.shortfall().answers.or_else(|| self.health())
    }

    /// The same of its diagnostics.
    pub(crate) fn diagnostics_shortfall_reason(&self) -> Option<String> {
        self.shortfall().diagnostics.or_else(|| self.health())
    }

    /// Whether it was started with a file that tells how the project is built.
    pub(super) fn has_build_file(&self) -> bool {
        let launch_inputs = self.launch_inputs.get();
        launch_inputs.is_some_and(|known| known.lock().build.file.is_some())
    }
}
