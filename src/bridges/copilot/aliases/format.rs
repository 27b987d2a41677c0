//! Plain text made from our tools' answers, with 1-based lines and columns as in compilers'
//! messages.

use std::fmt::Write;

use serde_json::Value;

use crate::analysis::items::short_range::ShortRange;
use crate::text::LineColumn;

/// Returns a list of an answer.
pub(super) fn list_field<'a>(answer: &'a Value, name: &str) -> Option<&'a Vec<Value>> {
    answer.get(name).and_then(Value::as_array)
}

/// Returns a string of an answer, or an empty one if it is missing.
pub(super) fn text_field<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Adds the answer's notes, one per line.
pub(super) fn notes(answer: &Value, out: &mut String) {
    for note in list_field(answer, "notes").into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(out, "note: {note}");
    }
}

/// Formats an edit: each file with its diff, then the new diagnostics.
pub(super) fn format_edit(answer: &Value) -> Option<String> {
    let files = list_field(answer, "results").map_or_else(|| std::slice::from_ref(answer), Vec::as_slice);
    let mut out = String::new();
    for file in files {
        let (operation, path) = (file.get("operation")?.as_str()?, file.get("path")?.as_str()?);
        let from = file.get("from").and_then(Value::as_str).map(|from| format!(" from {from}"));
        let _ = writeln!(
            out,
            "{operation} {path}{} (+{} -{})",
            from.unwrap_or_default(),
            file["additions"],
            file["deletions"]
        );
        let diff = text_field(file, "diff").trim_end();
        if !diff.is_empty() {
            let _ = writeln!(out, "{diff}");
        }
    }
    for repair in list_field(answer, "repairs").into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(out, "note: {repair}");
    }
    if let Some(delta) = answer.get("diagnostics") {
        delta_lines(delta, &mut out);
    }
    Some(trim_line_ends(out))
}

/// Formats the change of the diagnostics by an edit.
fn delta_lines(delta: &Value, out: &mut String) {
    let added = list_field(delta, "added").map_or(&[][..], Vec::as_slice);
    let _ = writeln!(
        out,
        "diagnostics: {} added, {} removed, {} as before ({})",
        added.len(),
        delta["removed"],
        delta["unchanged"],
        text_field(delta, "verdict")
    );
    added.iter().for_each(|item| format_finding(item, out));
    notes(delta, out);
}

/// Formats one diagnostic.
pub(super) fn format_finding(item: &Value, out: &mut String) {
    let start = ShortRange::parse(text_field(item, "at")).map(|ShortRange(range)| range.start);
    let LineColumn { line, column } = start.unwrap_or_default().into();
    let said_by = [text_field(item, "code"), text_field(item, "source"), text_field(item, "server")];
    let mut said_by: Vec<&str> = said_by.into_iter().filter(|word| !word.is_empty()).collect();
    said_by.dedup();
    let _ = writeln!(
        out,
        "{}:{line}:{column} {}: {} ({})",
        text_field(item, "path"),
        text_field(item, "severity"),
        text_field(item, "message"),
        said_by.join(", ")
    );
}

/// Formats a command's output and exit status.
pub(super) fn command(answer: &Value) -> Option<String> {
    let mut out = String::new();
    let (stdout, stderr) =
        (answer.get("stdout")?.as_str()?.trim_end(), text_field(answer, "stderr").trim_end());
    for part in [stdout, stderr].into_iter().filter(|part| !part.is_empty()) {
        let _ = writeln!(out, "{part}");
    }
    if let Some(left_out) = answer.get("left_out") {
        let _ = writeln!(
            out,
            "note: {} bytes of standard output and {} of standard error were left out",
            left_out["stdout"], left_out["stderr"]
        );
    }
    if let Some(code) = answer.get("exit_code") {
        let _ = writeln!(out, "exit code {code} after {} ms", answer["duration_ms"]);
    }
    let changed: Vec<String> = list_field(answer, "changed")
        .into_iter()
        .flatten()
        .map(|file| format!("{} {}", text_field(file, "operation"), text_field(file, "path")))
        .collect();
    if !changed.is_empty() {
        let more = if answer.get("changed_truncated").is_some() { ", …" } else { "" };
        let _ = writeln!(out, "files: {}{more}", changed.join(", "));
    }
    if !text_field(answer, "error").is_empty() {
        let _ = writeln!(out, "{}; {}", text_field(answer, "error"), text_field(answer, "hint"));
    }
    Some(trim_line_ends(out))
}

/// Removes trailing line breaks.
pub(super) fn trim_line_ends(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text
}
