//! The command `init`: a host's configuration that starts us, and the import of hosts' language servers.

use std::path::PathBuf;

use clap::ValueEnum;
use etcetera::BaseStrategy;
use serde_json::json;

use super::{CliContext, Reply, output_reply};
use crate::bridges::init::{
    HostDirectories, HostSetupRequest, InitFileChange, McpHost, configure, import, usual_files,
};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::doors::{HostName, InitCommand, InitCommandArgs, InitImportArgs};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::escape;
use crate::config::Folders;
use crate::tools::error::{ErrorCode, ToolError};

/// Answers `init`.
pub(super) async fn run(init: InitCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    match init.import {
        Some(InitCommand::Import(import)) => import_servers(&import, door),
        None => configure_host(init, door),
    }
}

fn configure_host(init: InitCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let Some(host) = init.host else { return Err(no_host()) };
    let request = HostSetupRequest {
        host: host.into(),
        scope: init.scope.map(Into::into),
        program: own_program(),
        profile: init.profile.and_then(|profile| Some(profile.to_possible_value()?.get_name().to_owned())),
        editor_door: init.editor_door,
        force: init.force,
    };
    let change = configure(&request, &host_directories(door)?, door.runtime.catalogue())?;
    let mut reply = finish(&change, init.print, Vec::new(), door)?;
    if !init.print && door.format == CliOutputFormat::Text {
        reply.lines.push(format!("next: {}", next_step(request.host)));
    }
    Ok(reply)
}

/// Which hosts there are, and which of them are on this machine.
fn no_host() -> ToolError {
    let hosts = HostName::value_variants();
    let name = |host: &HostName| host.to_possible_value().map(|value| value.get_name().to_owned());
    let found = hosts.iter().filter(|host| which::which(McpHost::from(**host).program()).is_ok());
    let found: Vec<String> = found.filter_map(name).collect();
    let all: Vec<String> = hosts.iter().filter_map(name).collect();
    let found = match found.is_empty() {
        true => String::new(),
        false => format!("on this machine: {}; ", found.join(", ")),
    };
    let hint = format!("{found}all: {}", all.join(", "));
    ToolError::new(ErrorCode::InvalidArgs, "no host is named").with_hint(hint)
}

/// What is left to do until a host that was configured uses us.
fn next_step(host: McpHost) -> &'static str {
    match host {
        McpHost::ClaudeCode => {
            "start `claude` in this project and approve the server; `claude mcp list` shows it"
        }
        McpHost::CopilotCli => "restart `copilot`; `/mcp show` shows the server",
        McpHost::VsCode => "open this project in VS Code and start the server (MCP: List Servers)",
        McpHost::Cursor => "restart Cursor and switch the server on in its settings (MCP)",
        McpHost::Codex => "restart `codex`; `codex mcp list` shows the server",
        McpHost::OpenCode => "restart `opencode`; `opencode mcp list` shows the server",
        McpHost::Zed => "restart Zed, which lists the server in the settings of its agent panel",
        McpHost::Gemini => {
            "start `gemini` in this project and trust the folder; `gemini mcp list` shows the server"
        }
    }
}

fn import_servers(arguments: &InitImportArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let places = host_directories(door)?;
    let files: Vec<PathBuf> = match arguments.files.is_empty() {
        true => usual_files(&places),
        false => arguments.files.iter().map(|file| door.cwd.join(file)).collect(),
    };
    if files.is_empty() {
        let error = ToolError::nothing_found("there is no file of a host that defines language servers");
        return Err(error.with_hint("name one: lsp-tools init import FILE"));
    }
    let folders =
        Folders::find().map_err(|error| ToolError::new(ErrorCode::InvalidArgs, error.to_string()))?;
    let scope = arguments.scope.unwrap_or(crate::cli::args::doors::ScopeName::Project).into();
    let imported = import(&files, scope, &places, &folders.servers_file(), arguments.force)?;
    let mut lines: Vec<String> =
        imported.left_out.iter().map(|what| format!("left out: {}", escape::words(what))).collect();
    if scope == crate::bridges::init::HostScope::Project && !arguments.print {
        lines.push("a project's servers run once it is trusted: lsp-tools trust".to_owned());
    }
    finish(&imported.change, arguments.print, lines, door)
}

/// Shows the text, or writes it and shows what changed.
fn finish(
    change: &InitFileChange,
    print: bool,
    lines: Vec<String>,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    if !print {
        change.write()?;
    }
    let (path, diff) = (change.path.display().to_string(), change.diff());
    let output = json!({
        "ok": true, "path": path, "written": !print && !change.is_done(), "changed": !change.is_done(), "diff": diff,
        "left_out": lines,
    });
    let text = |_: &serde_json::Value| match print {
        true => escape::block(&change.after),
        false => escape::block(&diff),
    };
    let mut reply = output_reply(door, &output, CliExitStatus::Answered, text)?;
    if door.format == CliOutputFormat::Text {
        reply.lines.extend(lines);
        let path = escape::words(&path);
        reply.lines.push(match (print, change.is_done()) {
            (true, _) => format!("this is what {path} would say"),
            (false, true) => format!("{path} says so already"),
            (false, false) => format!("written: {path}"),
        });
    }
    Ok(reply)
}

/// How a host finds us: by name where that leads to this program, else by its path.
fn own_program() -> String {
    let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let found = which::which("lsp-tools").ok().and_then(|path| path.canonicalize().ok());
    match own {
        Some(own) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "lsp-tools".to_owned(),
    }
}

fn host_directories(door: CliContext<'_>) -> Result<HostDirectories, ToolError> {
    let base = etcetera::base_strategy::Xdg::new();
    let base = base.map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("there is no home directory: {error}"))
    })?;
    let folder =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    Ok(HostDirectories {
        project: door.runtime.workspace().root().to_owned(),
        home: base.home_dir().to_owned(),
        config: base.config_dir(),
        codex: folder("CODEX_HOME"),
        copilot: folder("COPILOT_HOME"),
        claude: folder("CLAUDE_CONFIG_DIR"),
    })
}
