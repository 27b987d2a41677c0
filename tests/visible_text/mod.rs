//! The text for people and models, as recorded in `snapshots/`: the help of every command, answers,
//! and errors. A record has sections, each below a heading. `just snapshots` accepts new text.
//!
//! The scripted server is the only server; the text does not depend on the machine's installed
//! servers, settings or language.

mod errors;
mod faults;
mod help;
mod models;
mod people;
mod shop;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::Settings;
use regex::Regex;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

/// A section of a record: `said`, below a heading.
fn section(heading: &str, said: &str) -> String {
    format!("=== {heading} ===\n{said}\n")
}

/// Compares `sections` with the record of `name`. If one differs, prints its heading, since the
/// difference that insta shows may be far below it.
fn compare(name: &str, sections: &[String]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.snap"));
    // The empty line at the end is not recorded.
    let recorded = fs::read_to_string(file).unwrap_or_default() + "\n";
    for section in sections.iter().filter(|section| !recorded.contains(section.as_str())) {
        eprintln!("{name}.snap differs in the section {}", section.lines().next().unwrap_or_default());
    }
    let said = sections.concat();
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, said));
}

/// The details that differ between two runs: times, processes, and the build folder of the scripted
/// server. Even the mention of a wait may differ.
const VARYING: [(&str, &str); 4] = [
    (r"\b\d+(\.\d+)? (ms|s)\b", "N $2"),
    (r"\b(pid|memory_bytes|latency_ms|latency_p99_ms): [0-9.]+", "$1: N"),
    (r", waited_ms: \d+", ""),
    (r"\S+/scripted-server\b", "@/scripted-server"),
];

/// A section with the text of `project`, without details that differ between two runs.
fn steady_section(heading: &str, project: &Project, said: &str) -> String {
    section(heading, &steady(project, said))
}

/// The text of `project` without details that differ between two runs. (The filters of insta would
/// add a second version of a crate.)
fn steady(project: &Project, said: &str) -> String {
    let folder = project.beside("");
    let said = said.replace(folder.to_string_lossy().trim_end_matches('/'), "@");
    VARYING.iter().fold(said, |said, (pattern, instead)| {
        Regex::new(pattern).expect("a regular expression").replace_all(&said, *instead).into_owned()
    })
}

/// The program in `project`, with an empty environment: no programs, no settings, no language.
fn program(project: &Project) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    command.env_clear().envs(project.environment(None)).current_dir(project.root()).stdin(Stdio::null());
    command.env("HOME", project.beside("home")).env("PATH", project.beside("bin"));
    command
}

/// The output of a command line, below it: stdout, stderr, and the exit status.
fn say(project: &Project, words: &[&str]) -> String {
    let output = program(project).args(words).output().expect("lsp-tools");
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("UTF-8");
        let open = !text.is_empty() && !text.ends_with('\n');
        if open { text + "\n(no line end)\n" } else { text }
    };
    let command = shlex::try_join(std::iter::once("lsp-tools").chain(words.iter().copied()));
    let mut said = format!("$ {}\n{}", command.expect("words"), text(output.stdout));
    if !output.stderr.is_empty() {
        said.push_str(&format!("[stderr]\n{}", text(output.stderr)));
    }
    said + &format!("[exit status {}]\n", output.status.code().expect("a status"))
}

/// A model that works in `project`, with all tools.
fn model(project: &Project) -> Mcp {
    let mut client = Mcp::of(program(project), &["--profile", "all"]);
    client.greet(json!({}));
    client
}

/// The text of a call's answer, below the call.
fn answer(client: &mut Mcp, tool: &str, arguments: &Value) -> String {
    let answer = client.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    let result = &answer["result"];
    let text = match result["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => answer["error"].to_string(),
    };
    let failed = if result["isError"] == false { "" } else { "  (failed)" };
    format!("> {tool} {arguments}{failed}\n{text}\n")
}
