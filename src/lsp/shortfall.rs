//! The part of its answers and diagnostics that a server leaves out, since the project is not trusted or not set up.

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
