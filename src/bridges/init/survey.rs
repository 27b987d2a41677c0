//! The hosts on this machine, and those of them that start us already.

use std::path::PathBuf;

use super::host::{HostDirectories, HostScope, McpHost, entered_in};
use super::{host_hooks, instructions};
use crate::process::ProgramPath;

/// The findings about one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostSurvey {
    /// The host.
    pub(crate) host: McpHost,
    /// The host's program on `PATH`.
    pub(crate) program: Option<PathBuf>,
    /// The folder of the host's settings.
    pub(crate) folder: Option<PathBuf>,
    /// The files with our entry.
    pub(crate) entered: Vec<PathBuf>,
    /// The files with our hooks.
    pub(crate) hooks: Vec<PathBuf>,
    /// The instruction files with our block.
    pub(crate) instructions: Vec<PathBuf>,
}

impl HostSurvey {
    /// Returns true if the host is on this machine.
    pub(crate) fn is_found(&self) -> bool {
        self.program.is_some() || self.folder.is_some()
    }

    /// Returns the next command for the user. Returns `None` if nothing is left to do, or the host
    /// is not on this machine.
    pub(crate) fn next_command(&self) -> Option<String> {
        let name = self.host.name();
        if !self.is_found() {
            return None;
        }
        if self.entered.is_empty() {
            return Some(format!("lsp-tools init {name}"));
        }
        let hooks = (self.hooks.is_empty() && self.host.takes_hooks()).then_some(" --hooks");
        let block = self.instructions.is_empty().then_some(" --instructions");
        let options = format!("{}{}", hooks.unwrap_or_default(), block.unwrap_or_default());
        (!options.is_empty()).then(|| format!("lsp-tools init {name}{options}"))
    }
}

/// Detects every host. Starts and writes nothing.
pub(crate) fn survey(places: &HostDirectories, path: &ProgramPath) -> Vec<HostSurvey> {
    McpHost::ALL.into_iter().map(|host| survey_host(host, places, path)).collect()
}

fn survey_host(host: McpHost, places: &HostDirectories, path: &ProgramPath) -> HostSurvey {
    let scopes = [HostScope::Project, HostScope::User];
    let in_scopes = |path_of: fn(McpHost, HostScope, &HostDirectories) -> Option<PathBuf>| {
        scopes.into_iter().filter_map(|scope| path_of(host, scope, places)).collect()
    };
    HostSurvey {
        host,
        program: path.find(host.program()),
        folder: Some(settings_folder(host, places)).filter(|folder| folder.is_dir()),
        entered: in_scopes(entered_in),
        hooks: in_scopes(host_hooks::has_hooks),
        instructions: in_scopes(instructions::has_block),
    }
}

fn settings_folder(host: McpHost, places: &HostDirectories) -> PathBuf {
    match host {
        McpHost::ClaudeCode => places.claude_folder(),
        McpHost::Codex => places.codex_folder(),
        McpHost::CopilotCli => places.copilot_folder(),
        McpHost::Cursor => places.home.join(".cursor"),
        McpHost::Gemini => places.home.join(".gemini"),
        McpHost::QwenCode => places.home.join(".qwen"),
        McpHost::OpenCode => places.config.join("opencode"),
        McpHost::VsCode => places.code_folder(),
        McpHost::Zed => places.config.join("zed"),
        McpHost::Goose => places.config.join("goose"),
        McpHost::Cline => places.home.join(".cline"),
        McpHost::Crush => places.config.join("crush"),
        McpHost::Kiro => places.home.join(".kiro"),
        McpHost::Windsurf => places.home.join(".codeium/windsurf"),
    }
}
