//! The servers of a workspace, as a table.

use anstyle::Style;

use crate::hints;
use crate::tools::servers::{RunState, ServerRow, ServersOutput};

use super::look::{BAD, BOLD, DIM, GOOD, WARN};
use super::table::{Cell, table};
use super::{Look, escape};

/// One line per server; below, how to install what is missing.
pub fn render(output: &ServersOutput, look: &Look) -> String {
    if output.servers.is_empty() {
        return "no file of a known language in this workspace\n".to_owned();
    }
    let rows: Vec<Vec<Cell>> = output.servers.iter().map(row).collect();
    let header = [
        "LANGUAGES",
        "FILES",
        "SERVER",
        "STATE",
        "PID",
        "MEMORY",
        "MEDIAN",
        "P99",
        "OPEN",
        "RESTARTS",
        "ROOT",
        "DETAIL",
    ];
    let mut out = table(&header, &rows, look);
    let advice: Vec<Vec<Cell>> = output
        .servers
        .iter()
        .filter_map(|row| {
            let command = hints::commands(row.install.as_deref()?, row.installer.as_ref());
            let command = Cell::new(escape::words(&command), BOLD);
            Some(vec![Cell::plain(escape::words(&row.server)), command])
        })
        .collect();
    if !advice.is_empty() {
        out.push_str("\nto install what is missing:\n");
        out.push_str(&table(&[], &advice, look));
    }
    if !output.notes.is_empty() {
        out.push('\n');
    }
    out.extend(output.notes.iter().map(|note| format!("{}\n", escape::words(note))));
    out
}

fn row(row: &ServerRow) -> Vec<Cell> {
    let (state, style) = state(row.state);
    let root = row.root.as_deref().map(|root| if root.is_empty() { ".".into() } else { escape::words(root) });
    vec![
        Cell::plain(escape::words(&row.languages.join(", "))),
        Cell::plain(row.files.to_string()),
        Cell::new(escape::words(&row.server), BOLD),
        Cell::new(state, style),
        Cell::plain(row.pid.map(|pid| pid.to_string()).unwrap_or_default()),
        Cell::plain(row.memory_bytes.map(memory).unwrap_or_default()),
        Cell::plain(row.latency_ms.map(milliseconds).unwrap_or_default()),
        Cell::plain(row.latency_p99_ms.map(milliseconds).unwrap_or_default()),
        Cell::plain(row.open_documents.map(|open| open.to_string()).unwrap_or_default()),
        Cell::plain(row.restarts.map(|restarts| restarts.to_string()).unwrap_or_default()),
        Cell::plain(root.unwrap_or_default()),
        Cell::new(row.detail.as_deref().map(escape::words).unwrap_or_default(), DIM),
    ]
}

fn state(state: RunState) -> (&'static str, Style) {
    match state {
        RunState::Ready => ("ready", GOOD),
        RunState::Indexing => ("indexing", WARN),
        RunState::Starting => ("starting", WARN),
        RunState::Installed => ("installed", Style::new()),
        RunState::Crashed => ("crashed", BAD),
        RunState::Missing => ("missing", BAD),
        RunState::Disabled => ("disabled", DIM),
    }
}

/// As tables show a time.
pub fn milliseconds(time: f64) -> String {
    format!("{time:.1} ms")
}

/// As tables show an amount of memory.
pub fn memory(bytes: u64) -> String {
    const MEGABYTE: f64 = 1_000_000.0;
    format!("{:.1} MB", bytes as f64 / MEGABYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_what_is_missing_is_told() {
        let running = ServerRow {
            languages: vec!["python".into()],
            files: 12,
            server: "pylsp".into(),
            state: RunState::Ready,
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
            state: RunState::Missing,
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

to install what is missing:
bash-language-server  npm install -g bash-language-server (or: lsp-tools install shell)

pylsp finds little
";
        assert_eq!(render(&output, &Look::PLAIN), expected);
    }
}
