//! The tests that reach a change, with their ways and the commands that run them.

use std::fmt::Write;

use serde_json::Value;

use super::DisplayCapabilities;
use super::escape;
use crate::tools::test_reach::output::{ReachKind, ReachedTest, TestReachOutput};

/// The tests by the strength of their links.
pub(crate) fn render(output: &TestReachOutput, _look: &DisplayCapabilities) -> String {
    let mut out = String::new();
    for (kind, heading) in [
        (ReachKind::Changed, "changed tests"),
        (ReachKind::Calls, "tests that call what changed"),
        (ReachKind::References, "tests that use what changed"),
        (ReachKind::Names, "tests that may use it: a name on their way is of a type that no server knows"),
        (ReachKind::Imports, "files that only import it"),
    ] {
        let tests: Vec<&ReachedTest> = output.tests.iter().filter(|test| test.how == kind).collect();
        if tests.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{heading} ({}):", tests.len());
        for test in tests {
            let _ = writeln!(out, "  {}", escape::line(&line(test)));
        }
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

/// `tests/test_cart.py::test_total ← pricing.py:total ← rates.py:vat`.
fn line(test: &ReachedTest) -> String {
    let mut line = match &test.name {
        Some(name) => format!("{}::{name}", test.path),
        None => test.path.clone(),
    };
    for link in &test.way {
        line.push_str(" ← ");
        line.push_str(link);
    }
    line
}

/// What a command printed, and how it ended.
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
