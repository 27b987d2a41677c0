//! The servers of a workspace, as a table.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::lsp::servers::install_advice;
use crate::tools::language::servers::{ServerRow, ServerRunState, ServersOutput};

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BAD, BOLD, DIM, GOOD, WARN};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table, wrap_words};

/// One line per server, on a narrow terminal with the rest below it, then the commands that install
/// missing ones.
pub(crate) fn render(output: &ServersOutput, display: &DisplayCapabilities) -> String {
    if output.servers.is_empty() {
        return "no file of a known language in this workspace\n".to_owned();
    }
    let rows: Vec<Vec<Cell>> =
        output.servers.iter().map(|row| [short_cells(row), more_cells(row)].concat()).collect();
    // Not limited in width: output for other programs stays one line per server.
    let mut out = table(&[SHORT, MORE].concat(), &rows, &DisplayCapabilities { terminal: false, ..*display });
    if display.terminal && out.lines().any(|line| strip(line).width() > display.width) {
        out = narrow(output, display);
    }
    let advice: Vec<Vec<Cell>> = output
        .servers
        .iter()
        .filter_map(|row| {
            let command = install_advice::commands(row.install.as_deref()?, row.installer.as_ref());
            let command = Cell::new(escape::words(&command), BOLD);
            Some(vec![Cell::plain(escape::words(&row.server)), command])
        })
        .collect();
    if !advice.is_empty() {
        out.push_str("\nto install missing servers:\n");
        let beside = table(&[], &advice, &DisplayCapabilities { terminal: false, ..*display });
        // A command to be copied is not wrapped.
        let fits = !display.terminal || beside.lines().all(|line| strip(line).width() <= display.width);
        out.push_str(&if fits { beside } else { narrow_advice(output, display) });
    }
    if !output.notes.is_empty() {
        out.push('\n');
    }
    let note = display.paint(WARN, "note:");
    out.extend(output.notes.iter().map(|words| format!("{note} {}\n", escape::words(words))));
    out
}

/// The columns that fit on any terminal.
const SHORT: &[&str] = &["LANGUAGES", "FILES", "SERVER", "STATE", "PID", "MEMORY"];
/// The columns that are below these on a narrow terminal.
const MORE: &[&str] = &["MEDIAN", "P99", "OPEN", "RESTARTS", "ROOT", "DETAIL"];
/// The indentation of those columns.
const SERVER_DETAIL_INDENT_COLUMNS: usize = 4;

fn short_cells(row: &ServerRow) -> Vec<Cell> {
    let (state, style) = state(row.state);
    vec![
        Cell::plain(escape::words(&row.languages.join(", "))),
        Cell::plain(row.files.to_string()),
        Cell::new(escape::words(&row.server), BOLD),
        Cell::new(state, style),
        Cell::plain(row.pid.map(|pid| pid.to_string()).unwrap_or_default()),
        Cell::plain(row.memory_bytes.map(memory).unwrap_or_default()),
    ]
}

fn more_cells(row: &ServerRow) -> Vec<Cell> {
    vec![
        Cell::plain(row.latency_ms.map(milliseconds).unwrap_or_default()),
        Cell::plain(row.latency_p99_ms.map(milliseconds).unwrap_or_default()),
        Cell::plain(row.open_documents.map(|open| open.to_string()).unwrap_or_default()),
        Cell::plain(row.restarts.map(|restarts| restarts.to_string()).unwrap_or_default()),
        Cell::plain(root(row).unwrap_or_default()),
        Cell::new(row.detail.as_deref().map(escape::words).unwrap_or_default(), DIM),
    ]
}

fn root(row: &ServerRow) -> Option<String> {
    row.root.as_deref().map(|root| if root.is_empty() { ".".into() } else { escape::words(root) })
}

/// Renders each server with its short columns, and the others below it as wrapped text.
fn narrow(output: &ServersOutput, display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = output.servers.iter().map(short_cells).collect();
    let columns = table(SHORT, &rows, &DisplayCapabilities { terminal: false, ..*display });
    if columns.lines().any(|line| strip(line).width() > display.width) {
        let more = |row| Cell::new(describe_row(row), DIM);
        let rows: Vec<Vec<Cell>> =
            output.servers.iter().map(|row| [short_cells(row), vec![more(row)]].concat()).collect();
        return table(&[SHORT, &[""]].concat(), &rows, display);
    }
    let mut lines = columns.lines();
    let mut out: String = lines.next().map(|header| format!("{header}\n")).unwrap_or_default();
    for (line, row) in lines.zip(&output.servers) {
        out.push_str(&format!("{line}\n"));
        for below in
            wrap_words(&describe_row(row), display.width.saturating_sub(SERVER_DETAIL_INDENT_COLUMNS))
        {
            out.push_str(&format!("{:SERVER_DETAIL_INDENT_COLUMNS$}{}\n", "", display.paint(DIM, &below)));
        }
    }
    out
}

/// Renders the commands that install missing servers, each on a line of its own.
fn narrow_advice(output: &ServersOutput, display: &DisplayCapabilities) -> String {
    let missing = output.servers.iter().filter_map(|row| Some((row, row.install.as_deref()?)));
    let advice = missing.map(|(row, install)| {
        let commands = [Some(install), row.installer.as_deref()].into_iter().flatten();
        let commands = commands.map(|command| display.paint(BOLD, &escape::words(command)));
        let commands: Vec<String> =
            commands.map(|command| format!("{:SERVER_DETAIL_INDENT_COLUMNS$}{command}\n", "")).collect();
        format!("{}\n{}", escape::words(&row.server), commands.concat())
    });
    advice.collect()
}

fn describe_row(row: &ServerRow) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(root(row).filter(|root| root != ".").map(|root| format!("in {root}")));
    if let (Some(median), Some(p99)) = (row.latency_ms, row.latency_p99_ms) {
        parts.push(format!("answers in {} (p99 {})", milliseconds(median), milliseconds(p99)));
    }
    parts.extend(row.open_documents.map(|open| format!("{open} open")));
    parts.extend(
        row.restarts.filter(|restarts| *restarts > 0).map(|restarts| format!("restarts: {restarts}")),
    );
    parts.extend(row.detail.as_deref().map(escape::words));
    parts.join("; ")
}

/// Removes the colours of a line.
fn strip(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}

fn state(state: ServerRunState) -> (&'static str, Style) {
    match state {
        ServerRunState::Ready => ("ready", GOOD),
        ServerRunState::Indexing => ("indexing", WARN),
        ServerRunState::Starting => ("starting", WARN),
        ServerRunState::Installed => ("installed", Style::new()),
        ServerRunState::Crashed => ("crashed", BAD),
        ServerRunState::Missing => ("missing", BAD),
        ServerRunState::Disabled => ("disabled", DIM),
    }
}

/// Formats a time for tables.
pub(crate) fn milliseconds(time: f64) -> String {
    format!("{time:.1} ms")
}

/// Formats an amount of memory for tables.
pub(crate) fn memory(bytes: u64) -> String {
    const BYTES_PER_MEGABYTE: f64 = 1_000_000.0;
    format!("{:.1} MB", bytes as f64 / BYTES_PER_MEGABYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_table_aligns_columns_and_reports_missing_servers() {
        let running = ServerRow {
            languages: vec!["python".into()],
            files: 12,
            server: "pylsp".into(),
            state: ServerRunState::Ready,
            root: Some(String::new()),
            pid: Some(4242),
            memory_bytes: Some(61_400_000),
            latency_ms: Some(3.21),
            latency_p99_ms: Some(8.06),
            open_documents: Some(2),
            restarts: Some(0),
            detail: None,
            install: None,
            installer: None,
        };
        let missing = ServerRow {
            languages: vec!["bash".into(), "zsh".into()],
            files: 1,
            server: "bash-language-server".into(),
            state: ServerRunState::Missing,
            root: None,
            pid: None,
            memory_bytes: None,
            latency_ms: None,
            latency_p99_ms: None,
            open_documents: None,
            restarts: None,
            detail: Some("not on PATH\x1b[2J".into()),
            install: Some("npm install -g bash-language-server".into()),
            installer: Some("lsp-tools install shell".into()),
        };
        let output = ServersOutput {
            ok: true,
            servers: vec![running, missing],
            notes: vec!["pylsp finds little".into()],
        };
        let expected = "\
LANGUAGES  FILES  SERVER                STATE    PID   MEMORY   MEDIAN  P99     OPEN  RESTARTS  ROOT  DETAIL
python     12     pylsp                 ready    4242  61.4 MB  3.2 ms  8.1 ms  2     0         .
bash, zsh  1      bash-language-server  missing                                                       not on PATH\\u{1b}[2J

to install missing servers:
bash-language-server  npm install -g bash-language-server (or: lsp-tools install shell)

note: pylsp finds little
";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
        let terminal = DisplayCapabilities { terminal: true, color: false, width: 64 };
        let notes = vec!["too much".to_owned()];
        let expected = "\
LANGUAGES  FILES  SERVER                STATE    PID   MEMORY
python     12     pylsp                 ready    4242  61.4 MB
    answers in 3.2 ms (p99 8.1 ms); 2 open
bash, zsh  1      bash-language-server  missing
    not on PATH\\u{1b}[2J

to install missing servers:
bash-language-server
    npm install -g bash-language-server
    lsp-tools install shell

note: too much
";
        assert_eq!(render(&ServersOutput { notes, ..output }, &terminal), expected);
    }
}
