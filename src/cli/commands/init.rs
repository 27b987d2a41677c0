//! The command `init`: the hosts of this machine, and the files that make one of them start us.

use std::path::PathBuf;

use clap::ValueEnum;
use etcetera::BaseStrategy;
use serde_json::json;

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::init::{
    HostDirectories, HostScope, HostSetupRequest, HostSurvey, InitFileChange, InitRecords, McpHost,
    configure, entry_file, handshake, hook_changes, instruct, survey, unconfigure, write_changes,
};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::doors::InitCommandArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::hosts;
use crate::cli::render::setup::hosts::{HostRow, ShortenedFolders};
use crate::cli::render::terminal::escape;
use crate::platform::canonicalize;
use crate::process::ProgramPath;
use crate::workspace::Workspace;

/// Runs `init`.
pub(super) async fn run(init: InitCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let places = host_directories(cli)?;
    let Some(host) = init.host.map(McpHost::from) else { return list_hosts(&places, cli) };
    let request = setup_request(&init, host, cli);
    let changes = changes(&init, &request, &places, cli)?;
    let state = &cli.runtime.context().folders.state;
    let records = InitRecords::new(state);
    if !init.print {
        records.keep(&changes, init.remove).map_err(|error| {
            let what = format!("backups of host files cannot be written to {}: {error}", state.display());
            ToolError::new(ErrorCode::Internal, what)
        })?;
    }
    let mut check = None;
    if !init.print {
        write_changes(&changes, cli.runtime.workspace(), &cli.runtime.context().edits)?;
        records.forget(&changes);
        if !init.remove && !init.editor_door {
            let context = cli.runtime.context();
            check = Some(handshake(context.manager.spawner(), &request, &context.workspace).await);
        }
    }
    let mut reply = report(&changes, (init.print, check.as_ref()), cli)?;
    if !init.print && !init.remove && cli.format == CliOutputFormat::Text {
        reply.lines.extend(check.as_ref().map(check_line));
        reply.lines.push(format!("next: {}", next_step(host, init.scope.map(Into::into))));
        reply.lines.extend(init.hooks.then(|| hook_step(host)).flatten().map(str::to_owned));
    }
    Ok(reply)
}

/// Returns the requested configuration.
fn setup_request(init: &InitCommandArgs, host: McpHost, cli: CliContext<'_>) -> HostSetupRequest {
    let profile = init.profile.and_then(|profile| Some(profile.to_possible_value()?.get_name().to_owned()));
    let usual = (!init.editor_door).then(|| host.usual_profile().to_owned());
    HostSetupRequest {
        host,
        scope: init.scope.map(Into::into),
        program: own_program(cli.runtime.workspace()),
        profile: profile.or(usual),
        editor_door: init.editor_door,
        force: init.force,
    }
}

/// Formats the result of the check of an entry in one line.
fn check_line(check: &Result<Vec<String>, String>) -> String {
    match check {
        Ok(tools) => {
            format!("checked: the server starts; the host shows {} tools: {}", tools.len(), tools.join(", "))
        }
        Err(error) => format!("the entry does not work: {}", escape::words(error)),
    }
}

/// Computes the changes by `init` before the first file is written.
fn changes(
    init: &InitCommandArgs,
    request: &HostSetupRequest,
    places: &HostDirectories,
    cli: CliContext<'_>,
) -> Result<Vec<InitFileChange>, ToolError> {
    let (catalogue, host) = (cli.runtime.catalogue(), request.host);
    let scope = request.scope.unwrap_or(HostScope::Project);
    let only_named = init.hooks || init.instructions;
    let mut changes = Vec::new();
    match init.remove {
        true if only_named => {}
        true => changes.push(unconfigure(request, places, catalogue)?),
        // Hooks and instructions work with an entry that was created in another way.
        false
            if only_named
                && init.profile.is_none()
                && !init.force
                && entry_file(request, places, catalogue)?.is_some() => {}
        false => changes.push(configure(request, places, catalogue)?),
    }
    let all = init.remove && !only_named;
    if init.hooks || (all && host.takes_hooks()) {
        let change = hook_changes(host, scope, places, (&request.program, init.remove), &changes)?;
        changes.retain(|earlier| earlier.path != change.path);
        changes.push(change);
    }
    if init.instructions {
        changes.extend(instruct(host, scope, places, init.remove)?);
    } else if all {
        // A host without such a file has nothing to remove.
        changes.extend(instruct(host, scope, places, true).unwrap_or_default());
    }
    changes.retain(|change| !init.remove || change.before.is_some());
    if init.remove {
        let records = InitRecords::new(&cli.runtime.context().folders.state);
        changes = changes.into_iter().map(|change| records.restored(change, all)).collect();
    }
    Ok(changes)
}

/// Lists the supported hosts: presence, our entries, and the next command.
fn list_hosts(places: &HostDirectories, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let hosts = survey(places, &ProgramPath::of_user(cli.runtime.workspace()));
    let rows: Vec<HostRow> = hosts.iter().map(HostRow::from).collect();
    let folders = ShortenedFolders { project: &places.project, home: &places.home };
    let status = match hosts.iter().any(HostSurvey::is_found) {
        true => CliExitStatus::Answered,
        false => CliExitStatus::Unpleasant,
    };
    let output = json!({"ok": true, "hosts": rows});
    output_reply(cli, &output, status, |_| hosts::render(&rows, &folders, &cli.console.out))
}

/// Returns the step that a host requires before it runs a project's hooks.
fn hook_step(host: McpHost) -> Option<&'static str> {
    match host {
        McpHost::Codex => Some("hooks run after you approve them: `/hooks` in `codex`"),
        McpHost::Gemini | McpHost::QwenCode | McpHost::CopilotCli => {
            Some("hooks of a project run where its folder is trusted")
        }
        _ => None,
    }
}

/// Returns the next step until a configured host uses us.
fn next_step(host: McpHost, scope: Option<HostScope>) -> &'static str {
    if scope == Some(HostScope::User) {
        match host {
            McpHost::ClaudeCode => return "restart `claude`; `claude mcp list` shows the server",
            McpHost::VsCode => return "restart VS Code and start the server (MCP: List Servers)",
            McpHost::QwenCode => return "restart `qwen`; `qwen mcp list` shows the server",
            McpHost::Gemini => return "restart `gemini`; `gemini mcp list` shows the server",
            _ => {}
        }
    }
    match host {
        McpHost::ClaudeCode => {
            "start `claude` in this project and approve the server; `claude mcp list` shows it"
        }
        McpHost::CopilotCli => "restart `copilot`; `/mcp show` shows the server",
        McpHost::VsCode => "open this project in VS Code and start the server (MCP: List Servers)",
        McpHost::Cursor => "restart Cursor and switch the server on in its settings (MCP)",
        McpHost::Codex => "restart `codex`; `codex mcp list` shows the server",
        McpHost::OpenCode => "restart `opencode`; `opencode mcp list` shows the server",
        McpHost::Cline => "restart Cline; `cline config mcp` shows the server",
        McpHost::Crush => "restart `crush`, which shows the server beside the chat",
        McpHost::Kiro => "restart Kiro, which lists the server in its panel (MCP servers)",
        McpHost::Windsurf => "refresh the servers in Windsurf's settings of Cascade (MCP)",
        McpHost::Goose => "start a new session of `goose`; `goose info -v` shows the extension",
        McpHost::Zed => "restart Zed, which lists the server in the settings of its agent panel",
        McpHost::QwenCode => {
            "start `qwen` in this project and trust the folder; `qwen mcp list` shows the server"
        }
        McpHost::Gemini => {
            "start `gemini` in this project and trust the folder; `gemini mcp list` shows the server"
        }
    }
}

/// Shows the new texts with `print`; otherwise the changes and the result of the check.
fn report(
    changes: &[InitFileChange],
    (print, check): (bool, Option<&Result<Vec<String>, String>>),
    cli: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let file = |change: &InitFileChange| {
        json!({
            "path": change.path.display().to_string(), "written": !print && !change.is_done(),
            "changed": !change.is_done(), "added": change.added_lines(),
        })
    };
    // The first file is also at the top level, as for a single file.
    let mut output = changes.first().map_or_else(|| json!({"changed": false, "written": false}), file);
    output["ok"] = json!(!matches!(check, Some(Err(_))));
    output["files"] = changes.iter().map(file).collect();
    let status = match check {
        Some(Err(error)) => {
            output["error"] = json!(error);
            CliExitStatus::Failed
        }
        Some(Ok(tools)) => {
            output["tools"] = json!(tools);
            CliExitStatus::Answered
        }
        None => CliExitStatus::Answered,
    };
    let text = |_: &serde_json::Value| match (print, changes) {
        (true, [one]) => escape::block(one.after.as_deref().unwrap_or_default()),
        (true, several) => several.iter().map(shown_file).collect(),
        (false, several) => several.iter().map(|change| escape::block(&change.added_lines())).collect(),
    };
    let mut reply = output_reply(cli, &output, status, text)?;
    if cli.format == CliOutputFormat::Text {
        reply.lines.extend(changes.iter().map(|change| file_line(change, print)));
        if changes.is_empty() {
            reply.lines.push("there is nothing to remove".to_owned());
        }
    }
    Ok(reply)
}

/// Renders one of several files with its name.
fn shown_file(change: &InitFileChange) -> String {
    let path = escape::words(&change.path.display().to_string());
    format!("==> {path} <==\n{}\n", escape::block(change.after.as_deref().unwrap_or_default()))
}

fn file_line(change: &InitFileChange, print: bool) -> String {
    let path = change.path.display().to_string();
    let path = escape::words(&path);
    match (print, change.is_done(), &change.after) {
        (true, _, Some(_)) => format!("{path} would contain"),
        (true, _, None) => format!("{path} would be deleted"),
        (false, true, _) => format!("{path} is up to date"),
        (false, false, Some(_)) => format!("written: {path}"),
        (false, false, None) => format!("deleted: {path}"),
    }
}

/// Returns the program for the host: the plain name if it resolves to this program, else its path.
fn own_program(workspace: &Workspace) -> String {
    let own = std::env::current_exe().ok().and_then(|path| canonicalize(path).ok());
    let found = ProgramPath::of_user(workspace).find("lsp-tools").and_then(|path| canonicalize(path).ok());
    match own {
        Some(own) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "lsp-tools".to_owned(),
    }
}

fn host_directories(cli: CliContext<'_>) -> Result<HostDirectories, ToolError> {
    let base = etcetera::base_strategy::Xdg::new();
    let base = base.map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("there is no home directory: {error}"))
    })?;
    let folder =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    Ok(HostDirectories {
        project: cli.runtime.workspace().root().to_owned(),
        home: base.home_dir().to_owned(),
        config: base.config_dir(),
        codex: folder("CODEX_HOME"),
        copilot: folder("COPILOT_HOME"),
        claude: folder("CLAUDE_CONFIG_DIR"),
    })
}
