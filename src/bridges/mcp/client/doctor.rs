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
use crate::tools::api::source::{ToolSourceFinding, ToolSourceOutcome};

/// Examines `server`. The first failure that prevents all further checks is the last finding.
pub(super) async fn examine(server: &Arc<MountedMcpServer>) -> Vec<ToolSourceFinding> {
    let mut examination = MountExamination { server, findings: Vec::new() };
    settings(&mut examination);
    if !check_target(&mut examination) {
        return examination.findings;
    }
    let began = Instant::now();
    let connection = match server.refresh().await {
        Ok(connection) => connection,
        Err(error) => {
            let detail = match (&server.mount.transport, server.challenge()) {
                (MountTransport::Http { url, .. }, Some(challenge)) => {
                    let reason = challenge.explain(server.name(), url, server.context.allowed_hosts()).await;
                    examination.add("authorization", ToolSourceOutcome::Fault, reason);
                    return examination.findings;
                }
                (MountTransport::Http { .. }, None) => {
                    format!("{}; are the address and the headers right?", error.error)
                }
                (MountTransport::Stdio { .. }, _) => error.error,
            };
            examination.add("start", ToolSourceOutcome::Fault, detail);
            return examination.findings;
        }
    };
    add_start_findings(&mut examination, &connection, began.elapsed());
    tools(&mut examination);
    examination.findings
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
fn check_target(examination: &mut MountExamination<'_>) -> bool {
    let (mount, context) = (&examination.server.mount, &examination.server.context);
    match &mount.transport {
        MountTransport::Http { url, .. } => {
            let private =
                if names_private(url) { ", on this machine or network as set in the settings" } else { "" };
            examination.add("address", ToolSourceOutcome::Ok, format!("{url}{private}"));
            true
        }
        MountTransport::Stdio { .. } => match (program(mount, context), working_folder(mount, context)) {
            (Ok((program, _)), Ok(folder)) => {
                examination.add(
                    "program",
                    ToolSourceOutcome::Ok,
                    format!("{} in {}", program.display(), folder.display()),
                );
                true
            }
            (Err(error), _) | (_, Err(error)) => {
                examination.add("program", ToolSourceOutcome::Fault, error.to_string());
                false
            }
        },
    }
}

fn add_start_findings(examination: &mut MountExamination<'_>, connection: &MountConnection, all: Duration) {
    let limit = examination.server.mount.timeout;
    let about = connection.server.clone().unwrap_or_else(|| "it has no name".to_owned());
    let took = connection.began_in.as_millis();
    examination.add(
        "start",
        ToolSourceOutcome::Ok,
        format!("{about}; MCP {} in {took} ms", connection.protocol),
    );
    let most = connection.began_in.max(all);
    match most * 2 > limit {
        true => examination.add(
            "time",
            ToolSourceOutcome::Note,
            format!(
                "it took {} ms of its limit of {} ms; consider a larger `timeout`",
                most.as_millis(),
                limit.as_millis()
            ),
        ),
        false => examination.add(
            "time",
            ToolSourceOutcome::Ok,
            format!("{} ms of {} ms", most.as_millis(), limit.as_millis()),
        ),
    }
}

fn tools(examination: &mut MountExamination<'_>) {
    let report = examination.server.report();
    let all = examination.server.all_names();
    match all.len() {
        0 => examination.add("tools", ToolSourceOutcome::Fault, "it lists no tools"),
        count => examination.add(
            "tools",
            ToolSourceOutcome::Ok,
            format!("it lists {count}, and {} of them are offered", report.tools.len()),
        ),
    }
    if let MountedTools::Named(names) = &examination.server.mount.tools {
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        let missing: Vec<String> = names
            .iter()
            .filter(|name| !all.contains(name))
            .map(|name| format!("`{name}`{}", suggestion(name, &known)))
            .collect();
        match missing.is_empty() {
            true => examination.add(
                "filter",
                ToolSourceOutcome::Ok,
                format!("all {} names of `tools` exist", names.len()),
            ),
            false => examination.add(
                "filter",
                ToolSourceOutcome::Fault,
                format!("`tools` names unknown tools: {}", missing.join("; ")),
            ),
        }
    }
    for tool in &report.held {
        let (name, server) = (&tool.name, examination.server.name());
        let detail = format!(
            "`{name}` is {} and is not approved; `lsp-tools mcp show {server}` shows the difference, `lsp-tools mcp approve {server}` approves it",
            tool.change.as_str()
        );
        examination.add("definitions", ToolSourceOutcome::Fault, detail);
    }
    if report.held.is_empty() {
        examination.add("definitions", ToolSourceOutcome::Ok, "approvals");
    }
    let unusable = report
        .left_out
        .iter()
        .filter(|left| !report.held.iter().any(|held| left.file.ends_with(&format!("/{}", held.name))));
    for left in unusable.collect::<Vec<_>>() {
        examination.add("names", ToolSourceOutcome::Fault, format!("{} is no tool: {}", left.file, left.why));
    }
}
