//! The part of its answers and diagnostics that a server leaves out because the project is not
//! trusted or not set up.

/// The omissions of a server because the project is not trusted, or not set up, in sentences
/// without their full stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shortfall {
    /// The gap in its answers; `None` if there is none.
    pub(crate) answers: Option<String>,
    /// The gap in its diagnostics.
    pub(crate) diagnostics: Option<String>,
}

impl Shortfall {
    /// Fills in `reason` for the gaps that have no other one.
    pub(crate) fn or_reason(self, reason: Option<String>) -> Self {
        Self { answers: self.answers.or_else(|| reason.clone()), diagnostics: self.diagnostics.or(reason) }
    }

    /// Fills in the gaps of `other` if there is none here.
    pub(crate) fn or_else(self, other: Self) -> Self {
        Self { answers: self.answers.or(other.answers), diagnostics: self.diagnostics.or(other.diagnostics) }
    }
}
