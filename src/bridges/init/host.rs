//! The configuration file of each host, and our entry in it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::InitError;
use super::edit::{HostFileFormat, has_entry, insert_entry, remove_entry, value_of};
use super::entry::HostConfigEntry;
use super::file::{InitFileChange, check_inside, text_of, unless_emptied};
use crate::config::Catalogue;
use crate::platform::user::application_settings;

/// Our name in the files of hosts.
const NAME: &str = "lsp-tools";
/// The time limit for calls in goose, equal to its own default.
const GOOSE_TIMEOUT_SECONDS: u32 = 300;

/// A host that can start us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpHost {
    /// Claude Code.
    ClaudeCode,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// Codex CLI.
    Codex,
    /// opencode.
    OpenCode,
    /// Zed.
    Zed,
    /// goose.
    Goose,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    QwenCode,
    /// Cline, in the terminal and in editors.
    Cline,
    /// Crush.
    Crush,
    /// Kiro.
    Kiro,
    /// Windsurf.
    Windsurf,
}

/// The scope of a host's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostScope {
    /// All users of that host in this project.
    Project,
    /// The user, in all projects.
    User,
}

/// The folders of configuration files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostDirectories {
    /// The project.
    pub(crate) project: PathBuf,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// The folder for settings of programs (`~/.config`, or the value of `XDG_CONFIG_HOME`).
    pub(crate) config: PathBuf,
    /// The value of `CODEX_HOME`.
    pub(crate) codex: Option<PathBuf>,
    /// The value of `COPILOT_HOME`.
    pub(crate) copilot: Option<PathBuf>,
    /// The value of `CLAUDE_CONFIG_DIR`.
    pub(crate) claude: Option<PathBuf>,
}

/// The requested configuration of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostSetupRequest {
    /// The host.
    pub(crate) host: McpHost,
    /// The scope; by default the usual one of the host.
    pub(crate) scope: Option<HostScope>,
    /// The program that the host starts.
    pub(crate) program: String,
    /// The profile of tools.
    pub(crate) profile: Option<String>,
    /// Configures a language server in front of all language servers, instead of the tools.
    pub(crate) editor_door: bool,
    /// Replaces a different entry of our name.
    pub(crate) force: bool,
}

struct HostConfigTarget {
    path: PathBuf,
    format: HostFileFormat,
    entry: HostConfigEntry,
}

/// Computes the change for `request`.
///
/// # Errors
/// The host does not support it, its file cannot be preserved, or it has another entry of our name.
pub(crate) fn configure(
    request: &HostSetupRequest,
    places: &HostDirectories,
    catalogue: &Catalogue,
) -> Result<InitFileChange, InitError> {
    let (target, before) = target(request, places, catalogue)?;
    let file = target.path.display().to_string();
    let after = insert_entry(target.format, &file, before.as_deref(), &target.entry, request.force)?;
    Ok(InitFileChange { path: target.path, before, after: Some(after) })
}

/// Computes the change after which the host no longer starts us.
///
/// # Errors
/// Those of [`configure`].
pub(crate) fn unconfigure(
    request: &HostSetupRequest,
    places: &HostDirectories,
    catalogue: &Catalogue,
) -> Result<InitFileChange, InitError> {
    let (target, before) = target(request, places, catalogue)?;
    let file = target.path.display().to_string();
    let after = match &before {
        Some(text) => unless_emptied(text, remove_entry(target.format, &file, text, &target.entry.path)?),
        None => None,
    };
    Ok(InitFileChange { path: target.path, before, after })
}

/// Returns the file for our entry, and its current text.
fn target(
    request: &HostSetupRequest,
    places: &HostDirectories,
    catalogue: &Catalogue,
) -> Result<(HostConfigTarget, Option<String>), InitError> {
    let scope = request.scope.unwrap_or_else(|| usual_scope(request.host));
    let mut target = match request.editor_door {
        true => editor_door(request, scope, places, catalogue)?,
        false => tools(request, scope, places)?,
    };
    if scope == HostScope::Project {
        check_inside(&target.path, &places.project)?;
    }
    let before = text_of(&target.path)?;
    target.entry = with_existing_layout(request.host, target.entry, before.as_deref());
    Ok((target, before))
}

/// Returns the file of `scope` if it has our entry for the tools.
pub(super) fn entered_in(host: McpHost, scope: HostScope, places: &HostDirectories) -> Option<PathBuf> {
    let request = HostSetupRequest {
        host,
        scope: Some(scope),
        program: String::new(),
        profile: None,
        editor_door: false,
        force: false,
    };
    entry_file(&request, places, Catalogue::built_in()).ok()?
}

/// Returns the file for `request` if it has an entry of our name, with any value.
///
/// # Errors
/// The host does not support the request, or its file cannot be read.
pub(crate) fn entry_file(
    request: &HostSetupRequest,
    places: &HostDirectories,
    catalogue: &Catalogue,
) -> Result<Option<PathBuf>, InitError> {
    let (target, before) = target(request, places, catalogue)?;
    let has_entry = before.is_some_and(|text| has_entry(target.format, &text, &target.entry.path));
    Ok(has_entry.then_some(target.path))
}

pub(super) fn usual_scope(host: McpHost) -> HostScope {
    match host {
        McpHost::CopilotCli
        | McpHost::Codex
        | McpHost::Zed
        | McpHost::Goose
        | McpHost::Cline
        | McpHost::Windsurf => HostScope::User,
        McpHost::ClaudeCode
        | McpHost::VsCode
        | McpHost::Cursor
        | McpHost::OpenCode
        | McpHost::Gemini
        | McpHost::QwenCode
        | McpHost::Crush
        | McpHost::Kiro => HostScope::Project,
    }
}

/// Newer files of opencode nest the servers one level deeper.
fn with_existing_layout(host: McpHost, mut entry: HostConfigEntry, before: Option<&str>) -> HostConfigEntry {
    let value = before.and_then(|text| value_of(text).ok());
    let nested = value.as_ref().and_then(|value| value.pointer("/mcp/servers")).is_some_and(Value::is_object);
    if host == McpHost::OpenCode && nested && entry.path.first().is_some_and(|key| key == "mcp") {
        entry.path.insert(1, "servers".to_owned());
    }
    entry
}

/// Returns the arguments of the MCP server in the host's entry, without those that the host
/// expands.
pub(super) fn server_arguments(request: &HostSetupRequest) -> Vec<String> {
    let mut args = vec!["mcp".to_owned()];
    if let Some(profile) = &request.profile {
        args.extend(["--profile".to_owned(), profile.clone()]);
    }
    if request.host.shows_json_answers() {
        args.push("--text-answers".to_owned());
    }
    args
}

fn tools(
    request: &HostSetupRequest,
    scope: HostScope,
    places: &HostDirectories,
) -> Result<HostConfigTarget, InitError> {
    use HostScope::{Project, User};
    let (project, home) = (&places.project, &places.home);
    let mut args = server_arguments(request);
    // These hosts start us in another folder than the open one, and expand this variable to the
    // latter.
    if matches!((request.host, scope), (McpHost::VsCode | McpHost::Cursor, Project)) {
        args.extend(["--workspace".to_owned(), "${workspaceFolder}".to_owned()]);
    }
    let program = &request.program;
    let (path, format, table, value) = match (request.host, scope) {
        (McpHost::ClaudeCode, Project) => {
            (project.join(".mcp.json"), HostFileFormat::Json, "mcpServers", stdio(program, &args))
        }
        (McpHost::ClaudeCode, User) => {
            let folder = places.claude.as_ref().unwrap_or(home);
            (folder.join(".claude.json"), HostFileFormat::Json, "mcpServers", stdio(program, &args))
        }
        (McpHost::CopilotCli, scope) => {
            let path = match scope {
                Project => project.join(".mcp.json"),
                User => places.copilot_folder().join("mcp-config.json"),
            };
            let value = json!({"type": "local", "command": program, "args": args, "tools": ["*"]});
            (path, HostFileFormat::Json, "mcpServers", value)
        }
        (McpHost::VsCode, Project) => {
            (project.join(".vscode/mcp.json"), HostFileFormat::Json, "servers", stdio(program, &args))
        }
        (McpHost::VsCode, User) => {
            (places.code_folder().join("mcp.json"), HostFileFormat::Json, "servers", stdio(program, &args))
        }
        (McpHost::Cursor, scope) => {
            let folder = if scope == Project { project } else { home };
            (folder.join(".cursor/mcp.json"), HostFileFormat::Json, "mcpServers", stdio(program, &args))
        }
        (McpHost::Codex, scope) => {
            let folder = match scope {
                Project => project.join(".codex"),
                User => places.codex_folder(),
            };
            let value = json!({"command": program, "args": args});
            (folder.join("config.toml"), HostFileFormat::Toml, "mcp_servers", value)
        }
        (McpHost::OpenCode, scope) => {
            let command: Vec<&str> =
                std::iter::once(program.as_str()).chain(args.iter().map(String::as_str)).collect();
            let value = json!({"type": "local", "command": command, "enabled": true});
            (opencode(scope, places), HostFileFormat::Json, "mcp", value)
        }
        (McpHost::Zed, User) => {
            let value = json!({"command": program, "args": args, "env": {}});
            (places.config.join("zed/settings.json"), HostFileFormat::Json, "context_servers", value)
        }
        (McpHost::Goose, User) => {
            let value = json!({
                "enabled": true,
                "type": "stdio",
                "name": NAME,
                "description": "What language servers know of this code",
                "cmd": program,
                "args": args,
                "timeout": GOOSE_TIMEOUT_SECONDS,
            });
            (places.config.join("goose/config.yaml"), HostFileFormat::Yaml, "extensions", value)
        }
        (McpHost::Zed | McpHost::Goose | McpHost::Cline | McpHost::Windsurf, Project) => {
            let title = request.host.title();
            let reason = format!("{title} takes MCP servers from its user's settings; use --scope user");
            return Err(InitError::Unsupported(reason));
        }
        (McpHost::Cline, User) => {
            let path = home.join(".cline/data/settings/cline_mcp_settings.json");
            (path, HostFileFormat::Json, "mcpServers", json!({"transport": stdio(program, &args)}))
        }
        (McpHost::Windsurf, User) => {
            let value = json!({"command": program, "args": args});
            (home.join(".codeium/windsurf/mcp_config.json"), HostFileFormat::Json, "mcpServers", value)
        }
        (McpHost::Kiro, scope) => {
            let folder = if scope == Project { project } else { home };
            let value = json!({"command": program, "args": args});
            (folder.join(".kiro/settings/mcp.json"), HostFileFormat::Json, "mcpServers", value)
        }
        (McpHost::Crush, scope) => {
            let folder = if scope == Project { project.clone() } else { places.config.join("crush") };
            (folder.join("crush.json"), HostFileFormat::Json, "mcp", stdio(program, &args))
        }
        (McpHost::Gemini | McpHost::QwenCode, scope) => {
            let folder = if scope == Project { project } else { home };
            let name = if request.host == McpHost::Gemini { ".gemini" } else { ".qwen" };
            let value = json!({"command": program, "args": args});
            (folder.join(name).join("settings.json"), HostFileFormat::Json, "mcpServers", value)
        }
    };
    let path_in_it = vec![table.to_owned(), NAME.to_owned()];
    Ok(HostConfigTarget { path, format, entry: HostConfigEntry { path: path_in_it, value } })
}

fn editor_door(
    request: &HostSetupRequest,
    scope: HostScope,
    places: &HostDirectories,
    catalogue: &Catalogue,
) -> Result<HostConfigTarget, InitError> {
    let unsupported =
        |reason: &str| Err(InitError::Unsupported(format!("{} {reason}", request.host.title())));
    if request.profile.is_some() {
        return unsupported("is to get the editor door, which has no profile of tools");
    }
    let (path, table, value) = match request.host {
        McpHost::CopilotCli => {
            let path = copilot_servers(scope, places);
            let files: Map<String, Value> =
                extensions(catalogue).map(|(ending, id)| (ending, json!(id))).collect();
            let value = json!({"command": request.program, "args": ["lsp"], "fileExtensions": files});
            (path, "lspServers", value)
        }
        McpHost::OpenCode => {
            let endings: Vec<String> = extensions(catalogue).map(|(ending, _)| ending).collect();
            let value = json!({"command": [request.program, "lsp"], "extensions": endings});
            (opencode(scope, places), "lsp", value)
        }
        McpHost::ClaudeCode => {
            return unsupported(
                "takes language servers only from plugins that it installs itself; its tools come over MCP",
            );
        }
        McpHost::VsCode | McpHost::Cursor | McpHost::Zed | McpHost::Kiro | McpHost::Windsurf => {
            return unsupported("takes language servers only from extensions; its tools come over MCP");
        }
        McpHost::Crush => {
            return unsupported(
                "starts one language server per entry, for the files in the entry; its tools come over MCP",
            );
        }
        McpHost::Codex | McpHost::Gemini | McpHost::QwenCode | McpHost::Goose | McpHost::Cline => {
            return unsupported("does not use language servers; its tools come over MCP");
        }
    };
    let entry = HostConfigEntry { path: vec![table.to_owned(), NAME.to_owned()], value };
    Ok(HostConfigTarget { path, format: HostFileFormat::Json, entry })
}

impl HostDirectories {
    /// The folder of Claude Code's user settings.
    pub(super) fn claude_folder(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// The folder of Codex's user settings.
    pub(super) fn codex_folder(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    /// The folder of Copilot CLI's user settings.
    pub(super) fn copilot_folder(&self) -> PathBuf {
        self.copilot.clone().unwrap_or_else(|| self.home.join(".copilot"))
    }

    /// The folder of VS Code's user settings.
    pub(super) fn code_folder(&self) -> PathBuf {
        application_settings(&self.home, &self.config).join("Code/User")
    }
}

impl McpHost {
    /// All hosts, sorted by name.
    pub(crate) const ALL: [Self; 14] = [
        Self::ClaudeCode,
        Self::Cline,
        Self::Codex,
        Self::CopilotCli,
        Self::Crush,
        Self::Cursor,
        Self::Gemini,
        Self::Goose,
        Self::Kiro,
        Self::OpenCode,
        Self::QwenCode,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
    ];

    /// The display name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::CopilotCli => "Copilot CLI",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Codex => "Codex",
            Self::OpenCode => "opencode",
            Self::Zed => "Zed",
            Self::Goose => "goose",
            Self::Gemini => "Gemini CLI",
            Self::QwenCode => "Qwen Code",
            Self::Cline => "Cline",
            Self::Crush => "Crush",
            Self::Kiro => "Kiro",
            Self::Windsurf => "Windsurf",
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::CopilotCli => "copilot-cli",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Goose => "goose",
            Self::Gemini => "gemini",
            Self::QwenCode => "qwen-code",
            Self::Cline => "cline",
            Self::Crush => "crush",
            Self::Kiro => "kiro",
            Self::Windsurf => "windsurf",
        }
    }

    /// The default tool profile. All of these hosts have tools of their own to read, search, edit
    /// and run commands.
    pub(crate) fn usual_profile(self) -> &'static str {
        "lsp"
    }

    /// Returns true if the host's model receives the JSON form of answers, alone or beside the
    /// shorter text form.
    pub(crate) fn shows_json_answers(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::CopilotCli | Self::QwenCode)
    }

    /// Returns true if the host has hooks that reach its model.
    pub(crate) fn takes_hooks(self) -> bool {
        match self {
            Self::ClaudeCode
            | Self::Codex
            | Self::CopilotCli
            | Self::Gemini
            | Self::OpenCode
            | Self::QwenCode => true,
            Self::VsCode
            | Self::Cursor
            | Self::Zed
            | Self::Goose
            | Self::Cline
            | Self::Crush
            | Self::Kiro
            | Self::Windsurf => false,
        }
    }

    /// The name of the host's program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::CopilotCli => "copilot",
            Self::VsCode => "code",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Goose => "goose",
            Self::Gemini => "gemini",
            Self::QwenCode => "qwen",
            Self::Cline => "cline",
            Self::Crush => "crush",
            Self::Kiro => "kiro",
            Self::Windsurf => "windsurf",
        }
    }
}

fn stdio(program: &str, args: &[String]) -> Value {
    json!({"type": "stdio", "command": program, "args": args})
}

/// The path of Copilot CLI's file of language servers.
pub(super) fn copilot_servers(scope: HostScope, places: &HostDirectories) -> PathBuf {
    match scope {
        HostScope::Project => places.project.join(".github/lsp.json"),
        HostScope::User => places.copilot_folder().join("lsp-config.json"),
    }
}

/// The two possible paths of opencode's settings.
pub(super) fn opencode_files(scope: HostScope, places: &HostDirectories) -> [PathBuf; 2] {
    let folder: &Path = match scope {
        HostScope::Project => &places.project,
        HostScope::User => &places.config.join("opencode"),
    };
    ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name))
}

/// The existing one of opencode's settings files.
fn opencode(scope: HostScope, places: &HostDirectories) -> PathBuf {
    let [plain, commented] = opencode_files(scope, places);
    if commented.exists() { commented } else { plain }
}

/// Every file extension (with a dot) of a language with an enabled server in the catalogue, with
/// the language's id.
fn extensions(catalogue: &Catalogue) -> impl Iterator<Item = (String, String)> + '_ {
    let languages = catalogue.languages.iter().filter(|(key, _)| !catalogue.servers_for(key).is_empty());
    languages.flat_map(|(key, language)| {
        let id = |ending: &String| catalogue.language_id(key, Some(ending)).to_owned();
        language.extensions.iter().map(move |ending| (format!(".{ending}"), id(ending)))
    })
}

#[cfg(test)]
mod tests;
