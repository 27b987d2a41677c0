//! Output of the Copilot commands: status, tool list, and turns.

use anstyle::Style;

use crate::bridges::copilot::server::register::{CopilotRegistration, CopilotToolOwner};
use crate::bridges::copilot::server::sign_in::DeviceCode;
use crate::bridges::copilot::server::status::CopilotServerStatus;
use crate::bridges::copilot::server::{CallState, CopilotEvent, CopilotStatusReport, TurnOutcome};
use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, DIM};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};

/// `copilot status`.
pub(crate) fn report(report: &CopilotStatusReport, display: &DisplayCapabilities) -> String {
    let word = |key: &str| report.server[key].as_str().map(escape::words);
    let name = word("name").unwrap_or_else(|| "GitHub Copilot Language Server".to_owned());
    let version = word("version").map(|version| format!(" {version}")).unwrap_or_default();
    let mut out = format!("{}{version}\n", display.paint(BOLD, &name));
    out.push_str(&sign_in_status(&report.status));
    if let Some(models) = &report.models {
        let describe = |model: &crate::bridges::copilot::server::models::Model| {
            let id = escape::words(&model.id);
            if model.is_chat_default { format!("{id} (default)") } else { id }
        };
        let models: Vec<String> = models.iter().map(describe).collect();
        out.push_str(&format!("models: {}\n", models.join(", ")));
    }
    let registration = &report.registration;
    let servers = registration.tools.iter().filter(|tool| tool.origin == CopilotToolOwner::Server).count();
    let left_out = match registration.left_out.len() {
        0 => String::new(),
        count => format!("; {count} left out, see `lsp-tools copilot tools`"),
    };
    out.push_str(&format!("tools: {} of ours, {servers} of the server's{left_out}\n", registration.ours()));
    out
}

/// Renders the sign-in state, with the command to run if no user is signed in.
pub(crate) fn sign_in_status(status: &CopilotServerStatus) -> String {
    match (&status.user, status.signed_in()) {
        (Some(user), true) => format!("signed in as {}\n", escape::words(user)),
        (None, true) => "signed in\n".to_owned(),
        (_, false) => {
            let word = status.auth.as_deref().unwrap_or("unknown");
            format!("not signed in ({}); run: lsp-tools copilot sign-in\n", escape::words(word))
        }
    }
}

/// Renders the instructions for a device code.
pub(crate) fn code(code: &DeviceCode) -> Vec<String> {
    let minutes = code.expires_in.map(|seconds| format!(" within {} minutes", seconds.div_ceil(60)));
    vec![
        format!("open {} and enter the code:", escape::words(&code.verification_uri)),
        format!("    {}", escape::words(&code.user_code)),
        format!("waiting for it{}; Ctrl-C cancels", minutes.unwrap_or_default()),
    ]
}

/// `copilot tools`.
pub(crate) fn tools(registration: &CopilotRegistration, display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = registration
        .tools
        .iter()
        .map(|tool| {
            let whose = match tool.origin {
                CopilotToolOwner::Ours => "ours",
                CopilotToolOwner::Server => "the server's",
                CopilotToolOwner::Other => "another's",
            };
            let state = if tool.enabled { "enabled" } else { "disabled" };
            let note = if tool.replaces_servers { "instead of the server's own" } else { "" };
            let style = if tool.enabled { Style::new() } else { DIM };
            vec![
                Cell::new(escape::words(&tool.name), style),
                Cell::plain(whose),
                Cell::plain(state),
                Cell::plain(note),
            ]
        })
        .collect();
    table(&["tool", "whose", "state", ""], &rows, display)
}

/// Lists deviations of the registered tools from the intended ones.
pub(crate) fn left_out(registration: &CopilotRegistration) -> Vec<String> {
    let left_out = registration.left_out.iter();
    let left_out = left_out.map(|tool| {
        format!("warning: {} is not registered: {}", escape::words(&tool.name), escape::words(&tool.why))
    });
    let hidden = registration.hidden.iter();
    let hidden = hidden.map(|name| format!("the server's own {} is hidden", escape::words(name)));
    let unlocked = registration.unlocked.iter();
    let unlocked =
        unlocked.map(|name| format!("the server's {} writes through lsp-tools", escape::words(name)));
    let names = registration.names.iter().filter(|named| !named.registered);
    let names = names.map(|named| format!("{} is not offered: {}", named.name, escape::words(&named.why)));
    let oddities = registration.oddities.iter().map(|oddity| format!("warning: {}", escape::words(oddity)));
    left_out.chain(hidden).chain(unlocked).chain(names).chain(oddities).collect()
}

/// Renders the model's text.
pub(crate) fn words(text: &str) -> String {
    escape::block(text)
}

/// Renders an event as a line for stderr, if it is worth one.
pub(crate) fn event(event: &CopilotEvent, display: &DisplayCapabilities) -> Option<String> {
    let line = match event {
        CopilotEvent::Starting => "the Copilot language server is being started".to_owned(),
        CopilotEvent::Ended { detail, pause_ms } => {
            let detail = escape::words(detail);
            return Some(format!(
                "warning: the Copilot language server ended ({detail}); again in {pause_ms} ms"
            ));
        }
        CopilotEvent::Restarted { tools } => {
            return Some(format!(
                "it is running again, with {tools} tools of lsp-tools; a new conversation begins"
            ));
        }
        CopilotEvent::Said(message) => format!("Copilot: {}", escape::words(message)),
        CopilotEvent::Call { name, state, detail } => {
            let mark = match state {
                CallState::Running => "→",
                CallState::Completed => "✓",
                CallState::Error => "✗",
                CallState::Cancelled => "–",
            };
            let detail = detail.as_ref().map(|detail| format!(": {}", escape::words(detail)));
            format!("{mark} {}{}", escape::words(name), detail.unwrap_or_default())
        }
        CopilotEvent::Step { title, status } => {
            format!("{}: {}", escape::words(title), escape::words(status))
        }
        CopilotEvent::Begun { .. } | CopilotEvent::Reply(_) => return None,
    };
    Some(display.paint(DIM, &line))
}

/// Renders the summary of a finished turn.
pub(crate) fn end(outcome: &TurnOutcome, display: &DisplayCapabilities) -> Vec<String> {
    let mut lines: Vec<String> = outcome.edits.iter().map(|edit| escape::words(edit)).collect();
    if !outcome.edits.is_empty() {
        lines.push(display.paint(DIM, &format!("to undo that: lsp-tools copilot undo {}", outcome.turn)));
    }
    if let Some(error) = &outcome.error {
        lines.push(format!("error: the turn failed: {}", escape::words(error)));
    }
    if outcome.cancelled {
        lines.push("the turn was cancelled".to_owned());
    }
    lines
}
