//! Daemons as tables: the machine's usage by all, then each one's status, clients, calls and
//! servers.

use crate::bridges::daemon::preamble::DoorName;
use crate::bridges::daemon::status::DaemonStatus;
use crate::runtime::machine_status::MachineStatus;
use crate::tools::language::servers::ServersOutput;

use super::servers::{self, memory, milliseconds};
use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, DIM, PLACE};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};

/// Renders the machine's usage by the language servers of all processes.
pub(crate) fn machine(machine: &MachineStatus, display: &DisplayCapabilities) -> String {
    let MachineStatus { memory_bytes, budget_bytes, servers, starting, starting_limit, waiting, processes } =
        machine;
    let of_budget = format!("{} of {}", memory(*memory_bytes), memory(*budget_bytes));
    let starts = format!("{starting} of {starting_limit} being started, {waiting} waiting");
    let mut out = format!(
        "{} language servers: {servers} running, {starts}, {of_budget}\n",
        display.paint(BOLD, "machine")
    );
    if processes.is_empty() {
        return out;
    }
    let rows: Vec<Vec<Cell>> = processes
        .iter()
        .map(|process| {
            vec![
                Cell::plain(process.pid.to_string()),
                Cell::plain(process.servers.to_string()),
                Cell::plain(process.starting.to_string()),
                Cell::plain(process.waiting.to_string()),
                Cell::plain(memory(process.memory_bytes)),
                Cell::new(escape::words(&process.workspace), PLACE),
            ]
        })
        .collect();
    out.push_str(&table(&["PID", "SERVERS", "STARTING", "WAITING", "MEMORY", "WORKSPACE"], &rows, display));
    out
}

/// Renders the status of one daemon.
pub(crate) fn status(status: &DaemonStatus, display: &DisplayCapabilities) -> String {
    let DaemonStatus { pid, version, workspace, socket, uptime_s, memory_bytes, running, .. } = status;
    let mut about = vec![
        format!("pid {pid}"),
        format!("version {}", escape::words(version)),
        format!("up {}", format_duration(*uptime_s)),
    ];
    about.extend(memory_bytes.map(memory));
    about.push(format!("{running} running"));
    let mut out = format!("{} {}\n", display.paint(BOLD, "daemon"), about.join(", "));
    let place = |path: &str| display.paint(PLACE, &escape::words(path));
    out.push_str(&format!("workspace {}\nsocket {}\n", place(workspace), place(socket)));
    if !status.clients.is_empty() {
        out.push('\n');
        out.push_str(&clients(status, display));
    }
    if !status.calls.is_empty() {
        out.push('\n');
        out.push_str(&calls(status, display));
    }
    if !status.servers.is_empty() {
        out.push('\n');
        let (servers, notes) = (status.servers.clone(), status.notes.clone());
        out.push_str(&servers::render(&ServersOutput { ok: true, servers, notes }, display));
    }
    out
}

fn clients(status: &DaemonStatus, display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = status
        .clients
        .iter()
        .map(|client| {
            vec![
                Cell::new(door(client.door), BOLD),
                Cell::plain(escape::words(client.client.as_deref().unwrap_or_default())),
                Cell::plain(client.pid.map(|pid| pid.to_string()).unwrap_or_default()),
                Cell::plain(format_duration(client.since_s)),
                Cell::plain(client.calls.to_string()),
                Cell::new(escape::words(&client.session), DIM),
            ]
        })
        .collect();
    table(&["DOOR", "CLIENT", "PID", "SINCE", "CALLS", "SESSION"], &rows, display)
}

fn calls(status: &DaemonStatus, display: &DisplayCapabilities) -> String {
    // Leaves out commands, since the tool calls that they make are counted as well.
    let rows: Vec<Vec<Cell>> = status
        .calls
        .iter()
        .filter(|call| !call.name.starts_with("lsp-tools "))
        .map(|call| {
            vec![
                Cell::new(escape::words(&call.name), BOLD),
                Cell::plain(call.calls.to_string()),
                Cell::plain(milliseconds(call.median_ms)),
                Cell::plain(milliseconds(call.p99_ms)),
            ]
        })
        .collect();
    table(&["CALL", "CALLS", "MEDIAN", "P99"], &rows, display)
}

fn door(door: DoorName) -> &'static str {
    match door {
        DoorName::Mcp => "mcp",
        DoorName::Lsp => "lsp",
        DoorName::Command => "command",
        DoorName::Status => "status",
        DoorName::Hints => "hints",
        DoorName::View => "view",
        DoorName::Tools => "tools",
        DoorName::Stop => "stop",
    }
}

/// Formats a duration: `42 s`, `3 min`, `5 h`, `2 d`.
fn format_duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridges::daemon::clients::ClientStatus;
    use crate::runtime::calls::call_stats::CallStatistics;
    use crate::runtime::machine_status::ProcessShare;

    #[test]
    fn machine_status_is_one_line_and_a_row_for_each_process() {
        let mut status = MachineStatus {
            memory_bytes: 812_000_000,
            budget_bytes: 4_294_967_296,
            servers: 3,
            starting: 1,
            starting_limit: 2,
            waiting: 4,
            processes: Vec::new(),
        };
        let line =
            "machine language servers: 3 running, 1 of 2 being started, 4 waiting, 812.0 MB of 4295.0 MB\n";
        assert_eq!(machine(&status, &DisplayCapabilities::PLAIN), line);
        status.processes.push(ProcessShare {
            pid: 42,
            workspace: "/w\x1b[2J".into(),
            memory_bytes: 812_000_000,
            servers: 3,
            starting: 1,
            waiting: 4,
        });
        let expected = "\
PID  SERVERS  STARTING  WAITING  MEMORY    WORKSPACE
42   3        1         4        812.0 MB  /w\\u{1b}[2J
";
        assert_eq!(machine(&status, &DisplayCapabilities::PLAIN), format!("{line}{expected}"));
    }

    #[test]
    fn daemon_status_is_rendered_with_control_characters_escaped() {
        let status = DaemonStatus {
            ok: true,
            pid: 42,
            version: "0.1.0".into(),
            workspace: "/w\x1b[2J".into(),
            socket: "/run/ab.sock".into(),
            started_at: 0,
            uptime_s: 300,
            memory_bytes: Some(21_000_000),
            running: 1,
            clients: vec![ClientStatus {
                door: DoorName::Mcp,
                session: "0123abcd".into(),
                client: None,
                pid: Some(7),
                since_s: 9,
                calls: 3,
            }],
            calls: ["read", "lsp-tools read"]
                .map(|name| CallStatistics { name: name.into(), calls: 3, median_ms: 0.84, p99_ms: 12.0 })
                .into(),
            servers: Vec::new(),
            notes: Vec::new(),
        };
        let expected = "\
daemon pid 42, version 0.1.0, up 5 min, 21.0 MB, 1 running
workspace /w\\u{1b}[2J
socket /run/ab.sock

DOOR  CLIENT  PID  SINCE  CALLS  SESSION
mcp           7    9 s    3      0123abcd

CALL  CALLS  MEDIAN  P99
read  3      0.8 ms  12.0 ms
";
        assert_eq!(super::status(&status, &DisplayCapabilities::PLAIN), expected);
    }
}
