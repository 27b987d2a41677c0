//! The tests that reach a change, with their call paths and the commands that run them.

use std::fmt::Write;

use serde_json::Value;

use super::DisplayCapabilities;
use super::terminal::escape;
use crate::analysis::reach::test_reach::output::{ReachKind, TestReachOutput, TestsByWay, TestsOfFile};

/// Renders the tests by the strength of their links, then by call path.
pub(crate) fn render(output: &TestReachOutput, _look: &DisplayCapabilities) -> String {
    let mut out = String::new();
    if output.whole_suite {
        out.push_str("this is the whole suite\n");
    }
    for groups in output.tests.chunk_by(|one, other| one.how == other.how) {
        let count: usize = groups.iter().map(|group| group.count).sum();
        let _ = writeln!(out, "{} ({count}):", heading(groups[0].how));
        for group in groups {
            write_group(group, &mut out);
        }
    }
    if output.has_more {
        let listed = output.tests.iter().flat_map(|group| &group.files).map(|file| file.names.len().max(1));
        let listed: usize = listed.sum();
        let all = output.count + output.importing_files;
        let _ = writeln!(out, "{listed} of {all} are listed; --limit {all} lists all");
    }
    for run in &output.runs {
        let _ = writeln!(out, "\nrun: {}", escape::line(&run.command));
        for note in &run.notes {
            let _ = writeln!(out, "     ({})", escape::line(note));
        }
    }
    if !output.without_run.is_empty() {
        let _ = writeln!(
            out,
            "\nno project says how these are run: {}",
            escape::line(&output.without_run.join(", "))
        );
    }
    out
}

fn heading(how: ReachKind) -> &'static str {
    match how {
        ReachKind::Changed => "changed tests",
        ReachKind::Calls => "tests that call what changed",
        ReachKind::References => "tests that use what changed",
        ReachKind::Mentions => "tests whose code only mentions it as a type",
        ReachKind::Names => "tests that may use it: a name on their way is of a type that no server knows",
        ReachKind::Imports => "files that only import it",
    }
}

/// Formats `tests/test_cart.py::test_total ← pricing.py:total ← rates.py:vat`, or the call path
/// once above several tests.
fn write_group(group: &TestsByWay, out: &mut String) {
    let way: String = group.way.iter().map(|link| format!(" ← {link}")).collect();
    let has_own_line = group.count > 1 && !way.is_empty();
    if has_own_line {
        let _ = writeln!(out, "  {} tests{}", group.count, escape::line(&way));
    }
    for TestsOfFile { path, names } in &group.files {
        let names = names.iter().map(|name| format!("{path}::{name}"));
        let whole = Some(path.clone()).filter(|_| names.len() == 0);
        for test in names.chain(whole) {
            let line = if has_own_line { format!("  {test}") } else { format!("{test}{way}") };
            let _ = writeln!(out, "  {}", escape::line(&line));
        }
    }
}

/// Renders the output and exit status of a command.
pub(crate) fn render_run(command: &str, result: &Value) -> String {
    let mut out = format!("$ {}\n", escape::line(command));
    for stream in ["stdout", "stderr"] {
        if let Some(text) = result[stream].as_str().filter(|text| !text.trim().is_empty()) {
            out.push_str(&escape::block(text.trim_end()));
            out.push('\n');
        }
    }
    if let Some(code) = result["exit_code"].as_i64().filter(|code| *code != 0) {
        let _ = writeln!(out, "exit status {code}");
    }
    out
}
