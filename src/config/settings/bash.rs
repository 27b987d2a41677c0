//! `[bash]`: time limits, output limits, sandbox and caches of commands.

use std::time::Duration;

use serde::Deserialize;

use super::milliseconds::milliseconds;
use crate::config::schema::ConfigFieldType::{Choice, Number, Texts};
use crate::config::schema::{ConfigField, launch, plain};

pub(super) const BASH: &[ConfigField] = &[
    plain("timeout-ms", Number(1, 86_400_000)),
    plain("max-timeout-ms", Number(1, 86_400_000)),
    plain("output-bytes", Number(1_000, 1 << 24)),
    plain("background", Number(0, 1_000)),
    launch("sandbox", Choice(&["auto", "required", "off"])),
    launch("network", Choice(&["open", "no-tcp"])),
    launch("caches", Choice(&["private", "shared"])),
    launch("writable", Texts),
    launch("env", Texts),
];

/// Whether commands are kept to the folders that they may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SandboxMode {
    /// Where the kernel can; each answer says whether it does.
    #[default]
    Auto,
    /// Always: where the kernel cannot, no command runs.
    Required,
    /// Never.
    Off,
}

/// What commands may do on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NetworkAccess {
    /// Whatever their user may.
    #[default]
    Open,
    /// No TCP, neither out nor in; where the kernel cannot keep it from them, no command runs. Other protocols stay open.
    NoTcp,
}

/// Which caches of package managers and build tools commands write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CacheSharing {
    /// Their own, one set for each workspace. The user's can be read.
    #[default]
    Private,
    /// The user's: what a command leaves there, other programs of the user run.
    Shared,
}

/// Commands that the tool `bash` runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct BashSettings {
    /// How long a command may take where the caller says nothing (120 s).
    #[serde(rename = "timeout-ms", deserialize_with = "milliseconds")]
    pub(crate) timeout: Duration,
    /// The longest that a caller may ask for (600 s). Commands in the background may take longer.
    #[serde(rename = "max-timeout-ms", deserialize_with = "milliseconds")]
    pub(crate) max_timeout: Duration,
    /// How much of each of the two output streams an answer holds, in bytes (10,000).
    pub(crate) output_bytes: usize,
    /// How many commands one session may have in the background, those that have ended and were not pushed out by newer
    /// ones included (16).
    pub(crate) background: usize,
    /// Whether commands are kept to the folders that they may write (`auto`).
    pub(crate) sandbox: SandboxMode,
    /// What they may do on the network (`open`). Only where they are kept to their folders.
    pub(crate) network: NetworkAccess,
    /// Which caches they write (`private`). Only where they are kept to their folders: elsewhere they write what their user may.
    pub(crate) caches: CacheSharing,
    /// What they may write beside the workspace, the folders for temporary files and caches (none), each with all that is
    /// beneath it: absolute, or from `~/` or a variable (`$CARGO_HOME/registry`). What is not there does not count.
    pub(crate) writable: Vec<String>,
    /// Names of variables that they get beside those that language servers get; `*` at the end stands for anything. Only
    /// these can bring a secret in.
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

/// What is wrong with an entry of `writable`, if something is.
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
