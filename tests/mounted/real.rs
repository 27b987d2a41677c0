//! Real servers over stdin and stdout: two of the TypeScript SDK's first line, one of the Python
//! SDK with the newest revision.

use super::house::{json_of, node_server, run, with_settings};
use crate::support::Project;
use crate::support::peers::real_mcp;

/// A server of the Python SDK; the file takes `stdio`, or `http` and a port.
pub const PYTHON: &str = r#"
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("sums")


@server.tool()
def add(one: int, other: int) -> int:
    """Adds two numbers."""
    return one + other


if sys.argv[1] == "http":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run("stdio")
"#;

fn node(servers: &[(&str, &str, &str)]) -> Project {
    let table = |(name, server, argument): &(&str, &str, &str)| {
        format!(
            "[mcp.servers.{name}]\ntype = \"local\"\ncommand = \"node\"\nargs = [{:?}, {argument:?}]\n",
            node_server(server)
        )
    };
    with_settings(&servers.iter().map(table).collect::<String>())
}

#[test]
fn filesystem_server_reads_inside_its_folder_only() {
    let project = node(&[("files", "filesystem", ".")]);
    let (read, status) =
        json_of(&project, &["mcp", "call", "files/read_text_file", r#"{"path": "README.md"}"#]);
    assert_eq!(status, 0, "{read}");
    assert!(read.to_string().contains("hello"), "{read}");
    let (outside, status) =
        json_of(&project, &["mcp", "call", "files/read_text_file", r#"{"path": "/etc/passwd"}"#]);
    assert_eq!((outside["code"].as_str(), status), (Some("server_failed"), 4), "{outside}");
    let (wrong, status) =
        json_of(&project, &["mcp", "call", "files/read_text_file", r#"{"paht": "README.md"}"#]);
    assert_eq!((wrong["code"].as_str(), status), (Some("invalid_args"), 2), "{wrong}");
    let (shown, _) = json_of(&project, &["mcp", "show", "files"]);
    assert_eq!(shown["server"]["protocol"], "2025-11-25");
}

#[test]
#[ignore = "slow: just slow"]
fn everything_server_returns_every_result_kind() {
    let project = node(&[("every", "everything", "stdio")]);
    assert_eq!(
        json_of(&project, &["mcp", "call", "every/echo", r#"{"message": "hi"}"#]).0["text"],
        "Echo: hi"
    );
    let (links, _) = json_of(&project, &["mcp", "call", "every/get-resource-links", r#"{"count": 2}"#]);
    assert_eq!(links["links"].as_array().map(Vec::len), Some(2), "{links}");
    let (data, _) =
        json_of(&project, &["mcp", "call", "every/get-structured-content", r#"{"location": "Chicago"}"#]);
    assert!(data["structured"]["temperature"].is_number(), "{data}");
    let doctor = run(&project, &["mcp", "doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(doctor.status.code(), Some(0), "{told}");
    for check in ["settings", "program", "start", "time", "tools", "definitions"] {
        assert!(told.lines().any(|line| line.starts_with("ok") && line.contains(check)), "{check}: {told}");
    }
}

#[test]
#[ignore = "slow: just slow"]
fn newest_revision_server_is_spoken_to_in_that_revision() {
    let python = real_mcp().join("venv/bin/python");
    let project = with_settings(&format!(
        "[mcp.servers.sums]\ncommand = {python:?}\nargs = [\"-c\", {PYTHON:?}, \"stdio\"]\n"
    ));
    let (sum, _) = json_of(&project, &["mcp", "call", "sums/add", r#"{"one": 40, "other": 2}"#]);
    assert_eq!(sum["structured"]["result"], 42, "{sum}");
    assert_eq!(json_of(&project, &["mcp", "show", "sums"]).0["server"]["protocol"], "2026-07-28");
}

#[test]
fn mcp_doctor_reports_each_configuration_fault() {
    let server = node_server("everything");
    let project = with_settings(&format!(
        "[mcp.servers.gone]\ncommand = \"no-such-program-anywhere\"\n\
         [mcp.servers.filter]\ncommand = \"node\"\nargs = [{server:?}]\ntools = [\"ecko\"]\nenv = {{A = \"${{B}}\"}}\n\
         [mcp.servers.none]\ncommand = \"node\"\nargs = [{server:?}]\ntools = []\n\
         [mcp.servers.place]\ncommand = \"node\"\ncwd = \"nowhere\"\n"
    ));
    let doctor = run(&project, &["mcp", "doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(doctor.status.code(), Some(1), "{told}");
    for (server, check, what) in [
        ("gone", "program", "`no-such-program-anywhere` was not found"),
        ("filter", "filter", "`ecko`; did you mean `echo`?"),
        ("none", "filter", "offers none"),
        ("place", "program", "is not a folder"),
    ] {
        let found = |line: &&str| line.starts_with("fault") && line.contains(server) && line.contains(check);
        assert!(told.lines().find(found).is_some_and(|line| line.contains(what)), "{server} {check}: {told}");
    }
    assert!(
        told.lines().any(|line| line.starts_with("note") && line.contains("is sent literally")),
        "{told}"
    );
}
