//! Tables of mounted MCP servers and of findings about them.

use anstyle::Style;

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BAD, BOLD, CODE, DIM, GOOD, WARN};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};
use crate::tools::api::source::{
    HeldTool, MountedServer, MountedState, ToolSourceFinding, ToolSourceOutcome,
};

/// One line per server, and one for each of its problems.
pub(crate) fn list(servers: &[MountedServer], display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = servers
        .iter()
        .map(|server| {
            let held = server.held.len();
            let held = if held > 0 { format!("{held} held back") } else { String::new() };
            vec![
                Cell::new(escape::line(&server.name), BOLD),
                Cell::new(server.state.as_str(), style(server.state)),
                Cell::plain(crate::cli::render::terminal::display::count(server.tools.len(), "tool")),
                Cell::new(held, WARN),
                Cell::plain(server.transport.clone()),
                Cell::new(escape::words(server.detail.as_deref().unwrap_or(&server.target)), DIM),
            ]
        })
        .collect();
    table(&[], &rows, display)
}

/// Renders all details of one server.
pub(crate) fn one(server: &MountedServer, display: &DisplayCapabilities) -> String {
    let text_of = |text: &Option<String>| escape::words(text.as_deref().unwrap_or("not known yet"));
    let mut rows = vec![
        ("target", format!("{} ({})", escape::words(&server.target), server.transport)),
        ("file", escape::words(&server.file)),
        ("state", server.state.as_str().to_owned()),
        ("server", text_of(&server.server)),
        ("protocol", text_of(&server.protocol)),
    ];
    rows.extend(server.pid.map(|pid| ("pid", pid.to_string())));
    rows.extend(server.detail.as_deref().map(|detail| ("detail", escape::words(detail))));
    let rows: Vec<Vec<Cell>> =
        rows.into_iter().map(|(name, what)| vec![Cell::new(name, DIM), Cell::plain(what)]).collect();
    let mut out =
        format!("{}\n{}", display.paint(BOLD, &escape::line(&server.name)), table(&[], &rows, display));
    if !server.tools.is_empty() {
        let tools: Vec<Vec<Cell>> = server
            .tools
            .iter()
            .map(|tool| {
                vec![Cell::new(escape::line(&tool.name), CODE), Cell::plain(escape::words(&tool.summary))]
            })
            .collect();
        out.push('\n');
        out.push_str(&table(&[], &tools, display));
    }
    for left in
        server.left_out.iter().filter(|left| !server.held.iter().any(|held| left.file.ends_with(&held.name)))
    {
        out.push_str(&format!(
            "\n{} {}: {}\n",
            display.paint(WARN, "no tool:"),
            escape::words(&left.file),
            escape::words(&left.why)
        ));
    }
    out.push_str(&differences("held back:", WARN, &server.held, display));
    if !server.held.is_empty() {
        out.push_str(&format!("\nto approve this: lsp-tools mcp approve {}\n", escape::words(&server.name)));
    }
    out
}

/// Renders the definitions that were just agreed to, since they may have changed since the last
/// display.
pub(crate) fn render_approved(held: &[HeldTool], display: &DisplayCapabilities) -> String {
    differences("agreed:", GOOD, held, display)
}

/// One line per check.
pub(crate) fn findings(findings: &[ToolSourceFinding], display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = findings
        .iter()
        .map(|finding| {
            let (word, style) = match finding.outcome {
                ToolSourceOutcome::Ok => ("ok", GOOD),
                ToolSourceOutcome::Note => ("note", WARN),
                ToolSourceOutcome::Fault => ("fault", BAD),
            };
            vec![
                Cell::new(word, style),
                Cell::new(escape::line(&finding.server), BOLD),
                Cell::plain(finding.check.clone()),
                Cell::plain(escape::words(&finding.detail)),
            ]
        })
        .collect();
    table(&[], &rows, display)
}

fn differences(word: &str, style: Style, held: &[HeldTool], display: &DisplayCapabilities) -> String {
    let mut out = String::new();
    for tool in held {
        let (name, change) = (escape::words(&tool.name), tool.change.as_str());
        out.push_str(&format!(
            "\n{} {name} ({change})\n{}",
            display.paint(style, word),
            escape::block(&tool.diff)
        ));
    }
    out
}

fn style(state: MountedState) -> Style {
    match state {
        MountedState::Running => GOOD,
        MountedState::Idle => DIM,
        MountedState::Failed | MountedState::Stopped => BAD,
    }
}
