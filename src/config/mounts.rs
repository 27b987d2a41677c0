//! Settings of mounted MCP servers.
//!
//! ```toml
//! [mcp]
//! files = [".mcp.json"]          # also the `mcpServers` of these files
//!
//! [mcp.servers.files]            # a program that speaks MCP on its stdin and stdout
//! type = "stdio"                 # or "local"; may be left out
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-filesystem", "docs"]
//! env = {DEBUG = "1"}            # literal: no variables are expanded
//! cwd = "tools"                  # relative to the workspace
//! tools = ["*"]                  # or the names of some; none with []
//! timeout = 30_000               # milliseconds, for a start and for each call
//!
//! [mcp.servers.issues]           # a running server
//! type = "http"
//! url = "https://example.com/mcp"
//! headers = {Authorization = "Bearer …"}
//! ```
//!
//! An entry comes whole from one file. If files were merged key by key, a project could send the
//! headers of one entry to the address of another. A project's servers count only if it is trusted;
//! a file of `files` that lies in the project is trusted entry by entry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Table;
use url::Url;

use super::catalogue::command_files::CommandWords;
use super::error::{ConfigError, ConfigProblem, escape_unprintable};
use super::files::{project_text, user_text};
use super::launch::LaunchFields;
use super::layer::{Layer, LayerOrigin};
use super::schema::untrusted_sentence;
use super::trust::{TrustState, TrustStore};

const USUAL_MS: u64 = 60_000;
/// The maximum time limit of a mounted server.
const MAX_MOUNT_TIMEOUT_MS: u64 = 3_600_000;
const MAX_MOUNT_NAME_BYTES: usize = 32;

/// One entry as it is written. Files of other programs may have further keys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct McpServerEntry {
    /// The transport: a program that speaks MCP on its stdin and stdout (`local` or `stdio`), or a
    /// server that runs already (`http` or `sse`). If absent, `command` or `url` decides.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["local", "stdio", "http", "sse"]))]
    kind: Option<String>,
    /// The program of the server: a name on PATH, or a path relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// The arguments of `command`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    /// Environment variables for `command`, beside the few that every server gets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    /// The working directory of `command`, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Names of the server's tools that are offered; all (`*`) if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    /// The time limit of the server's start, and of each call, in milliseconds (60,000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_MOUNT_TIMEOUT_MS))]
    timeout: Option<u64>,
    /// The address of a server that runs already.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Headers of every request to `url`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

/// The table `[mcp]`, in which every key that names a server is a launch field.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct McpTable {
    /// Files whose `mcpServers` are mounted as well, like `.mcp.json`.
    #[schemars(extend("x-launch" = true))]
    files: Vec<String>,
    /// MCP servers by name.
    #[schemars(extend("x-launch" = true))]
    servers: BTreeMap<String, McpServerEntry>,
}

/// A server whose tools are mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The prefix of its tools' names: 1 to 32 of A-Z, a-z, 0-9, `_` and `-`.
    pub(crate) name: String,
    /// The transport to the server.
    pub(crate) transport: MountTransport,
    /// The offered tools.
    pub(crate) tools: MountedTools,
    /// The time limit of its start, and of each call.
    pub(crate) timeout: Duration,
    /// The origin of the entry.
    pub(crate) origin: MountOrigin,
    /// The file that names it, as people know it.
    pub(crate) file: String,
}

/// The transport to a mounted server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MountTransport {
    /// A program of ours that speaks on its stdin and stdout.
    Stdio {
        /// The program: a name on PATH, or a path relative to the workspace.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside the few that every server gets.
        env: BTreeMap<String, String>,
        /// Its working directory, relative to the workspace.
        cwd: Option<PathBuf>,
    },
    /// A server that runs elsewhere.
    Http {
        /// Its address.
        url: Url,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// The settings call it `sse`.
        sse: bool,
    },
}

/// The tools of a server that are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MountedTools {
    /// All.
    All,
    /// The tools with these names; none if the list is empty.
    Named(Vec<String>),
}

impl MountedTools {
    /// Returns true if the tool that its server calls `name` is offered.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|known| known == name),
        }
    }
}

/// The origin of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountOrigin {
    /// The user's own.
    User,
    /// A project's that its owner trusted.
    Project,
}

/// Everything that is mounted, and the entries for which a project needs trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MountConfig {
    /// By name.
    pub(crate) servers: BTreeMap<String, Mount>,
    /// Files that may name more.
    files: Vec<ListedFile>,
    /// The absolute paths of the files that were searched for; they need not exist.
    pub(crate) listed: Vec<PathBuf>,
    /// Each entry in files of the project, by its name in the trust store, with its whole content.
    pub(crate) pins: Vec<(String, String)>,
    /// One sentence for each server that is named and not mounted.
    pub(crate) left_out: Vec<String>,
    /// All commands, including those of entries that do not count yet. A project file among them
    /// would be run, or read by a program that runs.
    pub(crate) commands: Vec<CommandWords>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedFile {
    path: String,
    /// True if the settings that list it count.
    counts: bool,
    of_user: bool,
}

impl MountConfig {
    /// Takes the servers out of a layer's checked table. Must come before the untrusted part is
    /// removed: files that an untrusted project lists are read as well, so that its owner is asked
    /// about all at once.
    pub(super) fn take_servers(
        &mut self,
        layer: &Layer,
        table: &mut Table,
    ) -> Result<Vec<String>, ConfigError> {
        let Some(value) = table.remove("mcp") else { return Ok(Vec::new()) };
        let invalid = |message: &str| {
            let line = layer.line_of(&["mcp"]).unwrap_or(1);
            ConfigError::Invalid(vec![ConfigProblem::new(&layer.file, line, message)])
        };
        let parsed: McpTable = value.try_into().map_err(|error: toml::de::Error| invalid(error.message()))?;
        let counts = layer.origin != (LayerOrigin::Project { trusted: false });
        let of_user = matches!(layer.origin, LayerOrigin::User | LayerOrigin::Flags | LayerOrigin::BuiltIn);
        let files = parsed.files.into_iter().map(|path| ListedFile { path, counts, of_user });
        self.files.extend(files);
        if !counts {
            let words = [
                ("files", layer.line_of(&["mcp", "files"])),
                ("servers", layer.line_of(&["mcp", "servers"])),
            ];
            let ignored = words.iter().filter(|(_, line)| line.is_some());
            let sentences: Vec<String> = ignored
                .map(|(word, _)| untrusted_sentence(&format!("`mcp.{word}` of `{}`", layer.file)))
                .collect();
            self.left_out.extend(sentences.iter().cloned());
            return Ok(sentences);
        }
        let origin = if of_user { MountOrigin::User } else { MountOrigin::Project };
        let mut left_out = Vec::new();
        for (name, words) in parsed.servers {
            let mount = read(&name, words, origin, &layer.file).map_err(|reason| {
                let line = layer.line_of(&["mcp", "servers", &name]).unwrap_or(1);
                let message = format!("[mcp.servers.{name}] {reason}");
                ConfigError::Invalid(vec![ConfigProblem::new(&layer.file, line, &message)])
            })?;
            left_out.extend(self.add(mount));
        }
        self.left_out.extend(left_out.iter().cloned());
        Ok(left_out)
    }

    /// Reads the files that the settings list, and adds their servers. The entries of a project's
    /// file are added to `launch`, for its owner to approve, and count if `trust` has exactly them.
    pub(super) fn read_files(
        &mut self,
        home: Option<&Path>,
        project: Option<&Path>,
        launch: &mut LaunchFields,
        trust: &TrustStore,
    ) -> Result<Vec<String>, ConfigError> {
        let mut left_out = Vec::new();
        let mut files = std::mem::take(&mut self.files);
        files.dedup_by(|one, other| one.path == other.path && one.of_user == other.of_user);
        for file in files {
            let outside = file.path.starts_with('/') || file.path.starts_with("~/");
            match (outside, project) {
                (true, _) if file.of_user => {
                    let path = match (file.path.strip_prefix("~/"), home) {
                        (Some(rest), Some(home)) => home.join(rest),
                        _ => PathBuf::from(&file.path),
                    };
                    for entry in parse_entries(user_text(&path), &file.path, &mut left_out) {
                        left_out.extend(self.add_entry(entry, MountOrigin::User, &file.path));
                    }
                    self.listed.push(path);
                }
                (true, _) => left_out.push(escape_unprintable(&format!(
                    "`{}` is not read: a project's settings may only name files of the project",
                    file.path
                ))),
                (false, Some(project)) => {
                    let text = project_text(project, &file.path);
                    for entry in parse_entries(text, &file.path, &mut left_out) {
                        let pin = entry.trust_entry();
                        if let Ok(words) = &entry.words {
                            self.commands.push(words.words_of_command());
                        }
                        launch.add_tool(&pin.0, &pin.1);
                        let state = trust.tool_state(project, &pin.0, &pin.1)?;
                        self.pins.push(pin);
                        if file.counts {
                            left_out.extend(match trust_problem(&state, &entry.name, &file.path) {
                                Some(reason) => Some(reason),
                                None => self.add_entry(entry, MountOrigin::Project, &file.path),
                            });
                        }
                    }
                    self.listed.push(project.join(&file.path));
                }
                (false, None) => {}
            }
        }
        self.left_out.extend(left_out.iter().cloned());
        Ok(left_out)
    }

    fn add_entry(
        &mut self,
        FileEntry { name, words, .. }: FileEntry,
        origin: MountOrigin,
        file: &str,
    ) -> Option<String> {
        match words.and_then(|words| read(&name, words, origin, file)) {
            Ok(mount) => self.add(mount),
            Err(reason) => Some(escape_unprintable(&format!(
                "the MCP server `{name}` of `{file}` is not mounted: {reason}"
            ))),
        }
    }

    /// Adds a server; returns the reason if one of that name exists already.
    fn add(&mut self, mount: Mount) -> Option<String> {
        let alike = |known: &&Mount| skeleton(&known.name) == skeleton(&mount.name);
        if let Some(known) = self.servers.values().find(alike) {
            let (name, file, taken) = (&mount.name, &mount.file, &known.name);
            let theirs = &known.file;
            return Some(escape_unprintable(&format!(
                "the MCP server `{name}` of `{file}` is not mounted: its name equals or resembles `{taken}` of `{theirs}`"
            )));
        }
        if let MountTransport::Stdio { command, args, cwd, .. } = &mount.transport {
            let words = std::iter::once(command).chain(args).cloned().collect();
            self.commands.push(CommandWords { words, cwd: cwd.clone() });
        }
        self.servers.insert(mount.name.clone(), mount);
        None
    }
}

/// Maps similar names to one form: upper and lower case, `0` and `o`, `1`, `i` and `l`, `-` and `_`
/// are not distinguished.
pub(crate) fn skeleton(name: &str) -> String {
    let plain = |letter: char| match letter.to_ascii_lowercase() {
        '0' => 'o',
        '1' | 'i' => 'l',
        '-' | '.' => '_',
        letter => letter,
    };
    name.chars().map(plain).collect()
}

impl McpServerEntry {
    fn words_of_command(&self) -> CommandWords {
        let words = self.command.iter().chain(&self.args).cloned().collect();
        CommandWords { words, cwd: self.cwd.as_deref().map(PathBuf::from) }
    }
}

/// One entry of a file with `mcpServers`.
struct FileEntry {
    name: String,
    /// The entry; `Err` if it cannot be read.
    words: Result<McpServerEntry, String>,
    /// Its text, if it cannot be parsed.
    raw: String,
}

impl FileEntry {
    fn new(name: &str, value: &Value) -> Self {
        let words = McpServerEntry::deserialize(value).map_err(|error| error.to_string());
        let raw = if words.is_ok() { String::new() } else { value.to_string() };
        Self { name: name.to_owned(), words, raw }
    }

    /// Returns the entry's name for the trust store, and everything that decides its behaviour.
    fn trust_entry(&self) -> (String, String) {
        let text = self.words.as_ref().ok().and_then(|words| serde_json::to_string(words).ok());
        (format!("MCP server {}", self.name), text.unwrap_or_else(|| self.raw.clone()))
    }
}

fn trust_problem(state: &TrustState, name: &str, file: &str) -> Option<String> {
    let what = format!("the MCP server `{name}` of `{file}`");
    match state {
        TrustState::Trusted => None,
        TrustState::Untrusted => Some(untrusted_sentence(&what)),
        TrustState::Changed { what } => Some(escape_unprintable(&format!(
            "the MCP server `{name}` of `{file}` is ignored: {}; `lsp-tools trust` shows what it would run now",
            what.join("; ")
        ))),
    }
}

fn read(name: &str, words: McpServerEntry, origin: MountOrigin, file: &str) -> Result<Mount, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > MAX_MOUNT_NAME_BYTES || !name.bytes().all(fits) {
        return Err(format!("its name must be 1 to {MAX_MOUNT_NAME_BYTES} of A-Z, a-z, 0-9, `_` and `-`"));
    }
    let remote = match words.kind.as_deref() {
        Some("local" | "stdio") => false,
        Some("http" | "sse" | "streamable-http" | "streamableHttp") => true,
        Some(other) => return Err(format!("its `type` is `{other}`; it must be local, stdio, http or sse")),
        None => words.command.is_none() && words.url.is_some(),
    };
    let tools = match words.tools {
        None => MountedTools::All,
        Some(names) if names.iter().any(|name| name == "*") => MountedTools::All,
        Some(names) => MountedTools::Named(names),
    };
    let timeout = words.timeout.unwrap_or(USUAL_MS);
    if !(1..=MAX_MOUNT_TIMEOUT_MS).contains(&timeout) {
        return Err(format!(
            "its `timeout` is {timeout}; it must be from 1 to {MAX_MOUNT_TIMEOUT_MS} milliseconds"
        ));
    }
    let transport = if remote {
        let sse = words.kind.as_deref() == Some("sse");
        MountTransport::Http {
            url: parse_address(words.url, words.command.is_some())?,
            headers: words.headers,
            sse,
        }
    } else {
        if words.url.is_some() {
            return Err("it has a `url`, which is only for `type = \"http\"`".to_owned());
        }
        let command = words.command.filter(|command| !command.trim().is_empty());
        let command = command.ok_or("it has no `command`; give one, or a `url` for a remote server")?;
        MountTransport::Stdio { command, args: words.args, env: words.env, cwd: words.cwd.map(PathBuf::from) }
    };
    let timeout = Duration::from_millis(timeout);
    Ok(Mount { name: name.to_owned(), transport, tools, timeout, origin, file: file.to_owned() })
}

fn parse_address(url: Option<String>, has_command: bool) -> Result<Url, String> {
    if has_command {
        return Err("it has a `command`, which is not for remote servers".to_owned());
    }
    let text = url.ok_or("it has no `url`; give one")?;
    let url = Url::parse(&text).map_err(|error| format!("its `url` is invalid: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("its `url` must begin with http:// or https:// and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its `url` contains a user name or password; use `headers` instead".to_owned());
    }
    Ok(url)
}

/// The entries of a file's `mcpServers` (`servers` in some hosts' files), in their order.
fn parse_entries(
    text: Result<Option<String>, String>,
    file: &str,
    left_out: &mut Vec<String>,
) -> Vec<FileEntry> {
    let read = text.and_then(|text| {
        let Some(text) = text else { return Ok(Vec::new()) };
        let whole: Value = serde_json::from_str(&text).map_err(|error| format!("it is not JSON: {error}"))?;
        let servers = whole.get("mcpServers").or_else(|| whole.get("servers"));
        match servers {
            Some(Value::Object(servers)) => {
                Ok(servers.iter().map(|(name, value)| FileEntry::new(name, value)).collect())
            }
            Some(_) => Err("its `mcpServers` is not an object".to_owned()),
            None => Err("it has no `mcpServers`".to_owned()),
        }
    });
    read.unwrap_or_else(|reason| {
        left_out.push(escape_unprintable(&format!("the MCP servers of `{file}` are not mounted: {reason}")));
        Vec::new()
    })
}

#[cfg(test)]
mod tests;
