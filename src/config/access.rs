//! Access settings: allow, ask and deny lists, profiles, hooks and agents.
//!
//! ```toml
//! [permissions]
//! profile = "edit"               # core, lsp, read-only, edit, all
//! allow = ["bash(git status)"]   # runs without asking
//! ask = ["effect:edit(/docs)"]   # needs approval
//! deny = ["read(.env)"]          # denied to all tools that read or edit
//! available = ["lsp_*", "read"]  # only these
//! excluded = ["lsp_rename"]      # none of these
//!
//! [agents.reviewer]
//! description = "Reads and comments"
//! tools = ["read", "grep", "lsp_*"]
//!
//! [[hooks.pre]]
//! command = ["my-check", "--strict"]
//! tools = ["bash"]
//! ```
//!
//! Unlike the other tables, these are not merged key by key: the rules of one file must not replace
//! those of another. Each layer keeps its own rules, and a reader consults all layers.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::error::{ConfigError, ConfigProblem};
use super::layer::{Layer, LayerOrigin};

/// The access settings of one file. Keys that widen access (an allowed call, a larger profile) or
/// run something (hooks, runners) are launch fields; keys that narrow it count from every project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct AccessSettings {
    /// The available tools and the rules for calls.
    pub(crate) permissions: Permissions,
    /// Programs that are notified of calls, and may reject them.
    #[schemars(extend("x-launch" = true))]
    pub(crate) hooks: HookLists,
    /// Agents by name, with the tools and calls of each.
    pub(crate) agents: BTreeMap<String, AgentSettings>,
}

/// `[permissions]`: lists of rules.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Permissions {
    /// The profile of callers that choose none (`core`, or `all` if a list of available tools is
    /// given).
    #[schemars(extend("x-launch" = true))]
    pub(crate) profile: Option<Profile>,
    /// Rules for calls that run without an approval (`bash(git status)`).
    #[schemars(extend("x-launch" = true))]
    pub(crate) allow: Vec<String>,
    /// Rules for calls that need an approval (`effect:network`).
    pub(crate) ask: Vec<String>,
    /// Rules for calls that never run (`*(.env)`).
    pub(crate) deny: Vec<String>,
    /// Names of tools (`lsp_*`); only these are offered. All if absent.
    pub(crate) available: Option<Vec<String>>,
    /// Names of tools that are not offered.
    pub(crate) excluded: Vec<String>,
}

/// A list of tools. [`Profile::ReadOnly`] and [`Profile::Edit`] also limit which tools can be
/// called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The tools that agents need every day: files, edits, commands, the common questions to
    /// servers.
    Core,
    /// The language tools, for hosts with file tools of their own.
    Lsp,
    /// The tools that only read the workspace.
    ReadOnly,
    /// The tools that read and change the workspace; no programs, no network.
    Edit,
    /// All tools.
    All,
}

/// `[[hooks.pre]]` and `[[hooks.post]]`, in the order in which they run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct HookLists {
    /// Hooks that run before a call.
    pub(crate) pre: Vec<HookSettings>,
    /// Hooks that run after a call.
    pub(crate) post: Vec<HookSettings>,
}

/// A program that is notified of a call and may reject it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct HookSettings {
    /// The program of the hook and its arguments; no shell is involved.
    pub(crate) command: Vec<String>,
    /// Names of the tools whose calls the hook sees; all if empty.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// The time limit of the hook, in milliseconds (10,000).
    #[serde(default = "hook_timeout")]
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: u64,
}

impl HookSettings {
    /// The time limit of the hook.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

fn hook_timeout() -> u64 {
    10_000
}

/// The settings of `[agents.NAME]`: the tools and calls of an agent. No list of them widens access.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct AgentSettings {
    /// The purpose of the agent, for callers that choose among agents.
    pub(crate) description: Option<String>,
    /// Names of tools; only these are offered to the agent. All if absent.
    pub(crate) tools: Option<Vec<String>>,
    /// Names of tools that are not offered to the agent.
    pub(crate) excluded: Vec<String>,
    /// Rules for calls of the agent that need an approval.
    pub(crate) ask: Vec<String>,
    /// Calls that the agent may not make.
    pub(crate) deny: Vec<String>,
    /// The program that performs a task as this agent, and its arguments.
    #[schemars(extend("x-launch" = true))]
    pub(crate) runner: Option<Vec<String>>,
}

/// The access settings of one layer, and their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccessLayer {
    layer: Layer,
    /// The access settings.
    pub(crate) access: AccessSettings,
}

impl AccessLayer {
    /// Takes the access settings out of `table`, the checked text of `layer`.
    pub(super) fn take_from(layer: &Layer, table: &mut Table) -> Result<Self, ConfigError> {
        let mut taken = Table::new();
        for key in ["permissions", "hooks", "agents"] {
            if let Some(value) = table.remove(key) {
                taken.insert(key.to_owned(), value);
            }
        }
        let access: AccessSettings = taken.try_into().map_err(|error: toml::de::Error| {
            ConfigError::Invalid(vec![ConfigProblem::new(&layer.file, 1, error.message())])
        })?;
        Ok(Self { layer: layer.clone(), access })
    }

    /// The origin of the layer.
    pub(crate) fn origin(&self) -> LayerOrigin {
        self.layer.origin
    }

    /// Describes the origin without any detail of the machine.
    pub(crate) fn origin_text(&self) -> &str {
        match self.layer.origin {
            LayerOrigin::BuiltIn => "the defaults",
            LayerOrigin::User => "the user's settings",
            LayerOrigin::Project { .. } => &self.layer.file,
            LayerOrigin::Flags => "the command line",
        }
    }

    /// Creates a problem for the value at `path` (`["permissions", "deny", "the rule"]`).
    pub(crate) fn problem(&self, path: &[&str], message: &str) -> ConfigProblem {
        ConfigProblem::new(&self.layer.file, self.layer.line_of(path).unwrap_or(1), message)
    }
}

#[cfg(test)]
mod tests;
