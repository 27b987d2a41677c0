//! The examination of a mounted server for reasons why its tools cannot be called.
//!
//! The checks run in this order: settings, program or address, start, tools, filter, names,
//! definitions held back, time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connect::{MountConnection, program, working_folder};
use super::http::names_private;
use super::server::MountedMcpServer;
use crate::config::{MountTransport, MountedTools};
use crate::text::suggestion;
use crate::tools::source::{ToolSourceFinding, ToolSourceOutcome};

/// Examines `server`. The first failure that prevents all further checks is the last finding.
pub(super) async fn examine(server: &Arc<MountedMcpServer>) -> Vec<ToolSourceFinding> {
    let mut told = MountExamination { server, findings: Vec::new() };
    settings(&mut told);
    if !check_target(&mut told) {
        return told.findings;
    }
    let began = Instant::now();
    let connection = match server.refresh().await {
        Ok(connection) => connection,
        Err(error) => {
            let detail = match (&server.mount.transport, server.challenge()) {
                (MountTransport::Http { url, .. }, Some(challenge)) => {
                    let why = challenge.explain(server.name(), url, server.context.allowed_hosts()).await;
                    told.add("authorization", ToolSourceOutcome::Fault, why);
                    return told.findings;
                }
                (MountTransport::Http { .. }, None) => {
                    format!("{}; are the address and the headers right?", error.error)
                }
                (MountTransport::Stdio { .. }, _) => error.error,
            };
            told.add("start", ToolSourceOutcome::Fault, detail);
            return told.findings;
        }
    };
    add_start_findings(&mut told, &connection, began.elapsed());
    tools(&mut told);
    told.findings
}

struct MountExamination<'a> {
    server: &'a Arc<MountedMcpServer>,
    findings: Vec<ToolSourceFinding>,
}

impl MountExamination<'_> {
    fn add(&mut self, check: &str, outcome: ToolSourceOutcome, detail: impl Into<String>) {
        let server = self.server.name().to_owned();
        self.findings.push(ToolSourceFinding {
            server,
            check: check.to_owned(),
            outcome,
            detail: detail.into(),
        });
    }
}

fn settings(examination: &mut MountExamination<'_>) {
    let mount = &examination.server.mount;
    let values = match &mount.transport {
        MountTransport::Stdio { env, .. } => env,
        MountTransport::Http { headers, .. } => headers,
    };
    let unfilled: Vec<&str> =
        values.iter().filter(|(_, value)| value.contains("${")).map(|(name, _)| name.as_str()).collect();
    let (file, timeout) = (mount.file.clone(), mount.timeout.as_millis());
    if !unfilled.is_empty() {
        let names = unfilled.join(", ");
        examination.add(
            "settings",
            ToolSourceOutcome::Note,
            format!("{names} in {file} contain `${{…}}`, which is sent literally"),
        );
    } else {
        examination.add("settings", ToolSourceOutcome::Ok, format!("from {file}; timeout {timeout} ms"));
    }
    if let MountTransport::Http { sse: true, .. } = &examination.server.mount.transport {
        examination.add(
            "transport",
            ToolSourceOutcome::Note,
            "`sse` uses streamable HTTP, whose responses may be event streams; the retired transport with two addresses is not supported",
        );
    }
    if matches!(&examination.server.mount.tools, MountedTools::Named(names) if names.is_empty()) {
        examination.add(
            "filter",
            ToolSourceOutcome::Fault,
            "`tools = []` offers none; `tools = [\"*\"]` offers all",
        );
    }
}

/// Returns true if a program can be started or an address contacted.
fn check_target(told: &mut MountExamination<'_>) -> bool {
    let (mount, room) = (&told.server.mount, &told.server.context);
    match &mount.transport {
        MountTransport::Http { url, .. } => {
            let private =
                if names_private(url) { ", on this machine or network as set in the settings" } else { "" };
            told.add("address", ToolSourceOutcome::Ok, format!("{url}{private}"));
            true
        }
        MountTransport::Stdio { .. } => match (program(mount, room), working_folder(mount, room)) {
            (Ok((program, _)), Ok(folder)) => {
                told.add(
                    "program",
                    ToolSourceOutcome::Ok,
                    format!("{} in {}", program.display(), folder.display()),
                );
                true
            }
            (Err(error), _) | (_, Err(error)) => {
                told.add("program", ToolSourceOutcome::Fault, error.to_string());
                false
            }
        },
    }
}

fn add_start_findings(told: &mut MountExamination<'_>, connection: &MountConnection, all: Duration) {
    let limit = told.server.mount.timeout;
    let about = connection.server.clone().unwrap_or_else(|| "it has no name".to_owned());
    let took = connection.began_in.as_millis();
    told.add("start", ToolSourceOutcome::Ok, format!("{about}; MCP {} in {took} ms", connection.protocol));
    let most = connection.began_in.max(all);
    match most * 2 > limit {
        true => told.add(
            "time",
            ToolSourceOutcome::Note,
            format!(
                "it took {} ms of its limit of {} ms; consider a larger `timeout`",
                most.as_millis(),
                limit.as_millis()
            ),
        ),
        false => told.add(
            "time",
            ToolSourceOutcome::Ok,
            format!("{} ms of {} ms", most.as_millis(), limit.as_millis()),
        ),
    }
}

fn tools(told: &mut MountExamination<'_>) {
    let report = told.server.report();
    let all = told.server.all_names();
    match all.len() {
        0 => told.add("tools", ToolSourceOutcome::Fault, "it lists no tools"),
        count => told.add(
            "tools",
            ToolSourceOutcome::Ok,
            format!("it lists {count}, and {} of them are offered", report.tools.len()),
        ),
    }
    if let MountedTools::Named(names) = &told.server.mount.tools {
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        let missing: Vec<String> = names
            .iter()
            .filter(|name| !all.contains(name))
            .map(|name| format!("`{name}`{}", suggestion(name, &known)))
            .collect();
        match missing.is_empty() {
            true => told.add(
                "filter",
                ToolSourceOutcome::Ok,
                format!("all {} names of `tools` exist", names.len()),
            ),
            false => told.add(
                "filter",
                ToolSourceOutcome::Fault,
                format!("`tools` names unknown tools: {}", missing.join("; ")),
            ),
        }
    }
    for tool in &report.held {
        let (name, server) = (&tool.name, told.server.name());
        let detail = format!(
            "`{name}` is {} and is not approved; `lsp-tools mcp show {server}` shows the difference, `lsp-tools mcp approve {server}` approves it",
            tool.change.as_str()
        );
        told.add("definitions", ToolSourceOutcome::Fault, detail);
    }
    if report.held.is_empty() {
        told.add("definitions", ToolSourceOutcome::Ok, "approvals");
    }
    let unusable = report
        .left_out
        .iter()
        .filter(|left| !report.held.iter().any(|held| left.file.ends_with(&format!("/{}", held.name))));
    for left in unusable.collect::<Vec<_>>() {
        told.add("names", ToolSourceOutcome::Fault, format!("{} is no tool: {}", left.file, left.why));
    }
}
