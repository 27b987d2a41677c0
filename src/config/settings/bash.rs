//! `[bash]`: time limits, output limits, sandbox and caches of commands.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::milliseconds::Milliseconds;

/// The longest time limit of a command, in milliseconds.
const MAX_COMMAND_MS: u64 = 86_400_000;

/// The restriction of commands to the folders that they may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SandboxMode {
    /// Wherever the kernel supports it; each answer states whether it is active.
    #[default]
    Auto,
    /// Always: if the kernel does not support it, no command runs.
    Required,
    /// Never.
    Off,
}

/// The network access of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NetworkAccess {
    /// The access of their user.
    #[default]
    Open,
    /// No TCP, neither out nor in; if the kernel cannot block it, no command runs. Other protocols
    /// stay open.
    NoTcp,
}

/// The caches of package managers and build tools that commands write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CacheSharing {
    /// Their own, one set for each workspace. The user's can be read.
    #[default]
    Private,
    /// The user's: other programs of the user run the files that a command leaves there.
    Shared,
}

/// Commands that the tool `bash` runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
// As for the deadlines: these durations have no serialized form.
#[schemars(!default)]
pub(crate) struct BashSettings {
    /// The time limit of a command if the caller gives none, in milliseconds (120,000).
    #[serde(rename = "timeout-ms", with = "Milliseconds::<MAX_COMMAND_MS>")]
    pub(crate) timeout: Duration,
    /// The longest time limit that a caller may set, in milliseconds (600,000). Commands in the
    /// background may take longer.
    #[serde(rename = "max-timeout-ms", with = "Milliseconds::<MAX_COMMAND_MS>")]
    pub(crate) max_timeout: Duration,
    /// The size limit of each of the two output streams in an answer, in bytes (10,000).
    #[schemars(range(min = 1_000, max = 1 << 24))]
    pub(crate) output_bytes: usize,
    /// The number of background commands per session (16). Commands that have ended count until
    /// newer ones replace them.
    #[schemars(range(min = 0, max = 1_000))]
    pub(crate) background: usize,
    /// The restriction of commands to the folders that they may write (`auto`).
    #[schemars(extend("x-launch" = true))]
    pub(crate) sandbox: SandboxMode,
    /// The network access of sandboxed commands (`open`).
    #[schemars(extend("x-launch" = true))]
    pub(crate) network: NetworkAccess,
    /// The caches that sandboxed commands write (`private`). Other commands write all that their
    /// user may.
    #[schemars(extend("x-launch" = true))]
    pub(crate) caches: CacheSharing,
    /// The paths that commands may write beside the workspace and the folders for temporary files
    /// and caches (none by default), each with all that is beneath it. A path is absolute, or
    /// begins with `~/` or a variable (`$CARGO_HOME/registry`). A path that does not exist is
    /// ignored.
    #[schemars(extend("x-launch" = true))]
    pub(crate) writable: Vec<String>,
    /// Names of further environment variables for commands (none by default), beside those that
    /// language servers get; `*` at the end stands for anything. Only these can contain a secret.
    #[schemars(extend("x-launch" = true))]
    pub(crate) env: Vec<String>,
}

impl Default for BashSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            output_bytes: 10_000,
            background: 16,
            sandbox: SandboxMode::default(),
            network: NetworkAccess::default(),
            caches: CacheSharing::default(),
            writable: Vec::new(),
            env: Vec::new(),
        }
    }
}

/// Returns the fault of an entry of `writable`, if it has one.
pub(super) fn writable_fault(entry: &str) -> Option<String> {
    let rooted = entry.starts_with('/')
        || entry == "~"
        || entry.starts_with("~/")
        || entry
            .strip_prefix('$')
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_alphabetic()));
    let climbs = entry.split('/').any(|name| name == "..");
    (!rooted || climbs).then(|| {
        format!("`bash.writable` names `{entry}`; give a path from `/`, `~/` or a `$VARIABLE`, without `..`")
    })
}
