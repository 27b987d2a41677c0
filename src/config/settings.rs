//! The settings of `lsp-tools.toml`, in the same layers as the catalogue.
//!
//! ```toml
//! disabled = ["ruff"]            # servers that never run
//! prefer.python = ["pyright", "ruff"]  # servers of a language, the navigating one first
//!
//! [deadlines]                    # milliseconds by kind of request
//! hover = 10_000
//!
//! [servers]
//! idle-stop-s = 600
//!
//! [skills]
//! directories = ["~/skills"]     # beside the usual ones
//! disabled = ["noisy"]
//!
//! [editor]
//! share-overlays = false         # agents see unsaved text of editors too
//!
//! [chats]                        # only in the user's own settings
//! enabled = false                # true: agents may read the requests in the user's chats
//!
//! [agents.researcher]            # an agent that `task` can run
//! description = "Looks things up"
//! tools = ["read", "lsp_*"]
//! runner = ["my-agent", "--json"]
//! ```

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use super::access::{AccessLayer, AccessSettings, AgentSettings};
use super::catalogue::{Catalogue, problem_at};
use super::error::{ConfigError, ConfigProblem};
use super::layer::{Layer, LayerOrigin, merge};
use super::mounts::{McpTable, MountConfig};
use super::schema::{self, ConfigField, strip_launch_fields};
use crate::text::{quoted_list, suggestion};

mod bash;
mod chats;
mod daemon;
mod editor;
mod milliseconds;
mod servers;
mod shared_answers;
mod web;

use self::milliseconds::Milliseconds;

pub(crate) use bash::{BashSettings, CacheSharing, NetworkAccess, SandboxMode};
pub(crate) use chats::ChatSettings;
pub(crate) use daemon::DaemonSettings;
pub(super) use editor::EditorSettings;
pub(crate) use servers::ServerSettings;
pub(crate) use shared_answers::{SharedAnswerSettings, TrustedWriter, is_writer_name};
pub(crate) use web::{FetchSettings, LibraryDocsSettings};

/// The longest deadline, in milliseconds.
const MAX_DEADLINE_MS: u64 = 3_600_000;

/// The tables that count only in the user's own settings, with the reasons.
const USERS_OWN: [(&str, &str); 2] = [
    ("chats", "only the user's own settings give access to chats"),
    ("shared-answers", "only the user's own settings say whose answers are believed"),
];

/// The keys of `lsp-tools.toml`.
pub(super) static SETTINGS_FIELDS: LazyLock<Vec<ConfigField>> = LazyLock::new(schema::fields_of::<Settings>);

/// The settings in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// The time limit of each kind of request, in milliseconds.
    pub(crate) deadlines: Deadlines,
    /// The resource limits of running language servers.
    pub(crate) servers: ServerSettings,
    /// The size limits of files and answers.
    pub(crate) limits: LimitSettings,
    /// The settings of the log.
    pub(crate) log: LogSettings,
    /// Settings of the commands that the tool `bash` runs.
    pub(crate) bash: BashSettings,
    /// The conditions on which the daemon ends.
    pub(crate) daemon: DaemonSettings,
    /// The settings of the tool `fetch_web_page`.
    pub(crate) fetch: FetchSettings,
    /// The source of library documentation.
    pub(crate) library_docs: LibraryDocsSettings,
    /// Keys of language servers that never run.
    #[schemars(extend("x-launch" = true))]
    pub(crate) disabled: Vec<String>,
    /// Keys of the language servers that run, by language, the navigating one first. They run
    /// regardless of which servers are installed.
    #[schemars(extend("x-launch" = true))]
    pub(crate) prefer: BTreeMap<String, Vec<String>>,
    /// The settings of the record of calls.
    #[schemars(extend("x-launch" = true))]
    pub(crate) audit: AuditSettings,
    /// The access settings of each file, from the weakest layer to the strongest.
    #[serde(skip)]
    #[schemars(!skip, flatten, with = "AccessSettings")]
    pub access: Vec<AccessLayer>,
    /// The folders of skills, and the skills that are off.
    #[schemars(extend("x-launch" = true))]
    pub(crate) skills: SkillSettings,
    /// The MCP servers that are mounted.
    #[serde(skip)]
    #[schemars(!skip, rename = "mcp", with = "McpTable")]
    pub(crate) mounts: MountConfig,
    /// The sharing of an editor's unsaved text.
    #[schemars(extend("x-launch" = true))]
    pub(crate) editor: EditorSettings,
    /// The access of agents to the user's chats (off by default). These settings count only in the
    /// user's own file.
    pub(crate) chats: ChatSettings,
    /// True to store the reports of checks, so that a later check of an unchanged workspace starts
    /// no server; false to store none (absent: those of slow servers).
    pub(crate) answer_store: Option<bool>,
    /// A store of answers that several machines share (none by default). These settings count only
    /// in the user's own file.
    pub(crate) shared_answers: SharedAnswerSettings,
    /// True if hooks of hosts check the edits of a turn at its end (true if absent).
    pub(crate) end_of_turn_gate: Option<bool>,
}

/// The time limit of each kind of request, from the caller's question to the answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
// Defaults that a schema lists must have a serialized form, which these durations lack.
#[schemars(!default)]
pub(crate) struct Deadlines {
    /// The time limit of a hover request, in milliseconds (10,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) hover: Duration,
    /// The time limit of a request for definitions, declarations, type definitions or
    /// implementations, in milliseconds (10,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) definition: Duration,
    /// The time limit of a request for references, in milliseconds (30,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) references: Duration,
    /// The time limit of a request for callers, callees, supertypes or subtypes, in milliseconds
    /// (30,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) hierarchy: Duration,
    /// The time limit of a request for the symbols of one document, in milliseconds (10,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) symbols: Duration,
    /// The time limit of a request for the symbols of the workspace, in milliseconds (20,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) workspace_symbols: Duration,
    /// The time limit of a completion request, in milliseconds (10,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) completion: Duration,
    /// The time limit of a request for signature help, in milliseconds (10,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) signature: Duration,
    /// The time limit of a request for the diagnostics of one document, in milliseconds (15,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) diagnostics: Duration,
    /// The time limit of a request for a rename, code actions or formatting, in milliseconds
    /// (20,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) edit: Duration,
    /// The time limit of `initialize` for servers without a `start-timeout` in `servers.toml`, in
    /// milliseconds (45,000). Failed starts raise the limit for the next start.
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) start: Duration,
    /// The time limit of `shutdown` and `exit`, in milliseconds (3,000). The server is killed after
    /// that.
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) stop: Duration,
    /// The time limit of a tool call, including all that it does, in milliseconds (1,800,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) tool: Duration,
    /// The time limit of a task of another agent, in milliseconds (600,000).
    #[serde(with = "Milliseconds::<MAX_DEADLINE_MS>")]
    pub(crate) task: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            hover: seconds(10),
            definition: seconds(10),
            references: seconds(30),
            hierarchy: seconds(30),
            symbols: seconds(10),
            workspace_symbols: seconds(20),
            completion: seconds(10),
            signature: seconds(10),
            diagnostics: seconds(15),
            edit: seconds(20),
            start: seconds(45),
            stop: seconds(3),
            tool: seconds(1_800),
            task: seconds(600),
        }
    }
}

/// The size limits of files and answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct LimitSettings {
    /// The size of the largest file that is opened as text, in bytes (67,108,864: 64 MiB).
    #[schemars(range(min = 1, max = 1_u64 << 31))]
    pub(crate) max_file_bytes: u64,
    /// The size limit of the text in an answer, in bytes (24,000). A list may have four times as
    /// much for each `answer-items` entries.
    #[schemars(range(min = 1_000, max = 1 << 24))]
    pub(crate) answer_bytes: usize,
    /// The number of locations, symbols or diagnostics in an answer if the caller gives no limit
    /// (100).
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) answer_items: usize,
    /// The number of files at which a walk through the workspace stops (100,000).
    #[schemars(range(min = 1, max = 10_000_000))]
    pub(crate) walk_files: usize,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self { max_file_bytes: 64 << 20, answer_bytes: 24_000, answer_items: 100, walk_files: 100_000 }
    }
}

/// The selection of skills.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct SkillSettings {
    /// Folders of skills, or skills themselves, beside the usual ones (none by default): absolute,
    /// below `~/`, or relative to the workspace. Later ones override earlier ones.
    pub(crate) directories: Vec<String>,
    /// Names of skills that are off (none by default).
    pub(crate) disabled: Vec<String>,
}

/// The settings of the log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct LogSettings {
    /// The least severe level that is logged: `off`, `error`, `warn`, `info` (the default), `debug`
    /// or `trace`.
    #[schemars(extend("enum" = ["off", "error", "warn", "info", "debug", "trace"]))]
    pub(crate) level: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: "info".to_owned() }
    }
}

/// The record of calls.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct AuditSettings {
    /// True to keep a record of calls (true if absent).
    pub(crate) enabled: bool,
    /// The size at which the record's file replaces the previous old one, in bytes (8,388,608: 8
    /// MiB).
    #[schemars(range(min = 10_000, max = 1_u64 << 32))]
    pub(crate) max_bytes: u64,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 8 << 20 }
    }
}

impl Settings {
    /// Returns the JSON Schema of `lsp-tools.toml`.
    pub(crate) fn json_schema() -> serde_json::Value {
        schema::json_schema::<Settings>("lsp-tools.toml")
    }

    /// Loads the settings of `layers`, given from the weakest to the strongest, over the defaults;
    /// and a sentence for each ignored setting of an untrusted project.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with every unknown key, wrong type, and server or language that is
    /// not in `catalogue`.
    pub(crate) fn load(layers: &[Layer], catalogue: &Catalogue) -> Result<(Self, Vec<String>), ConfigError> {
        let (mut merged, mut left_out, mut access) = (Table::new(), Vec::new(), Vec::new());
        let mut mounts = MountConfig::default();
        for layer in layers {
            let mut table = layer.read(&SETTINGS_FIELDS)?;
            left_out.extend(mounts.take_servers(layer, &mut table)?);
            for (key, why) in USERS_OWN {
                if matches!(layer.origin, LayerOrigin::Project { .. }) && table.remove(key).is_some() {
                    left_out.push(format!("`{key}` of `{}` is ignored: {why}", layer.file));
                }
            }
            left_out.extend(servers::strip_project_shares(layer, &mut table));
            if layer.origin == (LayerOrigin::Project { trusted: false }) {
                left_out.extend(strip_launch_fields(&mut table, &SETTINGS_FIELDS, &layer.file));
            }
            access.push(AccessLayer::take_from(layer, &mut table)?);
            merge(&mut merged, table);
        }
        let mut settings: Self = merged.try_into().map_err(|error: toml::de::Error| {
            let file = layers.last().map_or_else(String::new, |layer| layer.file.clone());
            ConfigError::Invalid(vec![ConfigProblem::new(&file, 1, error.message())])
        })?;
        settings.access = access;
        settings.mounts = mounts;
        let mut problems = settings.unknown_names(layers, catalogue);
        problems.extend(settings.unusable_values(layers));
        if problems.is_empty() { Ok((settings, left_out)) } else { Err(ConfigError::Invalid(problems)) }
    }

    /// Returns the agents by name; each key has the value of the strongest file.
    pub(crate) fn agents(&self) -> BTreeMap<String, AgentSettings> {
        let mut agents: BTreeMap<String, AgentSettings> = BTreeMap::new();
        for (name, agent) in self.access.iter().flat_map(|layer| &layer.access.agents) {
            let known = agents.entry(name.clone()).or_default();
            known.description = agent.description.clone().or(known.description.take());
            known.tools = agent.tools.clone().or(known.tools.take());
            known.runner = agent.runner.clone().or(known.runner.take());
        }
        agents
    }

    fn unknown_names(&self, layers: &[Layer], catalogue: &Catalogue) -> Vec<ConfigProblem> {
        let servers = catalogue.servers.keys().map(String::as_str).collect::<Vec<_>>();
        let languages = catalogue.languages.keys().map(String::as_str).collect::<Vec<_>>();
        let mut problems = Vec::new();
        for server in self.disabled.iter().filter(|key| !catalogue.servers.contains_key(*key)) {
            let message =
                format!("`disabled` names the unknown server `{server}`{}", suggestion(server, &servers));
            problems.extend(problem_at(layers, &["disabled", server], message));
        }
        for (language, preferred) in &self.prefer {
            if !catalogue.languages.contains_key(language) {
                let nearest = suggestion(language, &languages);
                let message = format!("`prefer` names the unknown language `{language}`{nearest}");
                problems.extend(problem_at(layers, &["prefer", language], message));
            }
            for key in preferred {
                let message = match catalogue.servers.get(key) {
                    None => format!(
                        "`prefer.{language}` names the unknown server `{key}`{}",
                        suggestion(key, &servers)
                    ),
                    Some(server) if !server.languages.contains(language) => {
                        let spoken = server.languages.iter().map(String::as_str).collect::<Vec<_>>();
                        format!(
                            "`prefer.{language}` names the server `{key}`, which speaks only {}",
                            quoted_list(&spoken)
                        )
                    }
                    Some(_) => continue,
                };
                problems.extend(problem_at(layers, &["prefer", language, key], message));
            }
        }
        problems
    }

    fn unusable_values(&self, layers: &[Layer]) -> Vec<ConfigProblem> {
        let entries = self.bash.writable.iter();
        let faults = entries.filter_map(|entry| Some((entry, bash::writable_fault(entry)?)));
        let chats = self.chats.folders();
        let chats =
            chats.filter_map(|(key, folder)| Some((key, folder, chats::folder_problem(key, folder)?)));
        faults
            .filter_map(|(entry, fault)| problem_at(layers, &["bash", "writable", entry], fault))
            .chain(
                chats.filter_map(|(key, folder, fault)| problem_at(layers, &["chats", key, folder], fault)),
            )
            .chain(
                self.shared_answers.faults().filter_map(|(key, value, fault)| {
                    problem_at(layers, &["shared-answers", key, value], fault)
                }),
            )
            .collect()
    }

    /// Makes the catalogue run the servers that these settings choose.
    pub(crate) fn choose_servers(&self, catalogue: &mut Catalogue) {
        for (language, preferred) in &self.prefer {
            if let Some(language) = catalogue.languages.get_mut(language) {
                language.servers.clone_from(preferred);
                language.fixed = true;
            }
            for server in preferred {
                catalogue.set_disabled(server, false);
            }
        }
        for server in &self.disabled {
            catalogue.set_disabled(server, true);
        }
    }
}

#[cfg(test)]
mod tests;
