//! The access of a caller: its choice of tools, and its standing consent.

use serde::{Deserialize, Serialize};

use crate::config::Profile;

/// What a caller may be offered, and what it has agreed to. The default leaves all to the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerAccess {
    /// Instead of the settings' profile: which tools there are for this caller.
    pub profile: Option<Profile>,
    /// Names of tools (`lsp_*`); none but these are offered.
    pub available: Option<Vec<String>>,
    /// Names of tools that are not offered; goes after `available`.
    pub excluded: Vec<String>,
    /// Whether calling is consenting. Nobody can say so of a call that it passes on.
    #[serde(skip)]
    pub consent: Consent,
}

/// Whether calling is consenting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    /// Where rules say `ask`, someone has to be asked.
    #[default]
    Asked,
    /// The call was typed by whoever would be asked: a person or script with a shell needs no tool of ours to run a
    /// command. `ask` is `allow`; `deny` stays.
    Typed,
}

impl CallerAccess {
    /// For a tool that was typed at a shell.
    pub(crate) fn typed() -> Self {
        Self { consent: Consent::Typed, ..Self::default() }
    }
}
