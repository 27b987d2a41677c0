//! The access of a caller: its choice of tools, and its standing consent.

use serde::{Deserialize, Serialize};

use crate::config::Profile;

/// The tools offered to a caller, and its consent. The default leaves both to the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerAccess {
    /// The profile of tools for this caller, instead of the settings' profile.
    pub profile: Option<Profile>,
    /// Names of tools (`lsp_*`); only these are offered.
    pub available: Option<Vec<String>>,
    /// Names of tools that are not offered; takes precedence over `available`.
    pub excluded: Vec<String>,
    /// The caller's consent. It is not serialized, so a forwarded call cannot claim it.
    #[serde(skip)]
    pub consent: Consent,
}

/// The consent that a call itself expresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    /// Rules with `ask` need a person's approval.
    #[default]
    Asked,
    /// The call was typed by the person or script that would be asked and has a shell anyway. `ask`
    /// becomes `allow`; `deny` stays.
    Typed,
}

impl CallerAccess {
    /// The access of a call that was typed at a shell.
    pub(crate) fn typed() -> Self {
        Self { consent: Consent::Typed, ..Self::default() }
    }
}
