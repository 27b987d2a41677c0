//! The text of an answer for models, which every entry point shows.
//!
//! | in the answer | in the text |
//! |---|---|
//! | `"count": 3` | `count: 3` |
//! | a text of several lines | its name on a line, and the unchanged text |
//! | a range | `4:2-4:9`; every position in the text is 1-based |
//! | an object with a path and a position | `src/app.py:4:2` (or `4:2-9`), then its other fields |
//! | the places of a file | its path, then `4:2` and the source line of each place |
//! | a finding | `src/app.py:4:2-9 error E501: Line too long (ruff)` |
//! | a list | one line for each item |
//! | new findings of an edit | by file, like findings; `the same` for a repeated message |
//! | the reason that an edit was not compared | the reason alone |
//! | Markdown of a hover | unchanged, without the fence around the signature |
//! | a ready server, `ok`, a URI beside its path | nothing |
//! | a complete verdict | one word |
//! | of an edit: fields shown by the diff, unchanged counts, the files if complete | nothing |
//! | the count of items that are all listed | nothing |
//! | the queried symbol | its place, if the question did not give it |

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::analysis::items::place::file_places;

/// The text of `answer`, a result with `ok`.
pub(super) fn answer_text(answer: &Value) -> String {
    let mut out = String::new();
    match answer {
        Value::Object(map) if map.get("ok") == Some(&Value::Bool(false)) && map.contains_key("error") => {
            write_failure(map, &mut out);
        }
        Value::Object(map) => write_fields(map, 0, &mut out),
        other => write_inline(other, &mut out),
    }
    let length = out.trim_end().len();
    out.truncate(length);
    if out.is_empty() {
        out.push_str("ok");
    }
    out
}

fn write_failure(map: &Map<String, Value>, out: &mut String) {
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let _ = writeln!(out, "{}: {}", text("code").unwrap_or("failed"), text("error").unwrap_or_default());
    if let Some(hint) = text("hint") {
        let _ = writeln!(out, "hint: {hint}");
    }
    let others = map.iter().filter(|(key, _)| !matches!(key.as_str(), "ok" | "code" | "error" | "hint"));
    let others: Map<String, Value> = others.map(|(key, value)| (key.clone(), value.clone())).collect();
    write_fields(&others, 0, out);
}

/// Returns true if a field adds nothing that a reader needs.
fn is_needless(map: &Map<String, Value>, key: &str, value: &Value) -> bool {
    match key {
        "ok" => value == &Value::Bool(true),
        "uri" => map.contains_key("path"),
        "server_status" => is_needless_status(map, value),
        // The diff names the file and shows the changes.
        "path" | "operation" | "size" | "additions" | "deletions" if is_shown_by_diff(map) => true,
        "removed" | "unchanged" if map.contains_key("added") => {
            key == "unchanged" || value == &Value::from(0)
        }
        "files" if map.contains_key("added") => is_complete(map),
        // The verdict of the whole answer precedes it.
        "verdict" if map.contains_key("added") && map.contains_key("removed") => true,
        "name" => map.contains_key("is_dir") && ends_path(map, value),
        // The first of `locations`, which follow.
        "location" => map.contains_key("locations"),
        "has_more" | "truncated" => value == &Value::Bool(false),
        "diff" => value == "",
        // The reader sees all items.
        "count" => lists_all(map) && value != &Value::from(0),
        // The range of the name that was asked about.
        "range" => map.contains_key("contents"),
        // A count beside it shows that the list is empty.
        _ if is_empty_list(value) => map.contains_key("count") || map.contains_key("errors"),
        _ => value.is_null(),
    }
}

/// Returns true if `name` is the last name of the `path` beside it.
fn ends_path(map: &Map<String, Value>, name: &Value) -> bool {
    let (Some(path), Some(name)) = (map.get("path").and_then(Value::as_str), name.as_str()) else {
        return false;
    };
    path.rsplit('/').next() == Some(name)
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn is_complete(map: &Map<String, Value>) -> bool {
    map.get("verdict").is_some_and(|verdict| verdict == "complete")
}

/// Returns true if the status needs no mention: the server is ready, or it still loads the project
/// but its answer is complete.
fn is_needless_status(map: &Map<String, Value>, status: &Value) -> bool {
    match status.get("state").and_then(Value::as_str) {
        Some("ready") => status.get("detail").is_none(),
        Some("indexing") => is_complete(map),
        _ => false,
    }
}

/// Returns true for the answer of an edit of one file, whose diff shows the file and the change.
fn is_shown_by_diff(map: &Map<String, Value>) -> bool {
    map.get("diff").and_then(Value::as_str).is_some_and(|diff| !diff.is_empty())
        && map.get("operation").is_some_and(|operation| operation == "modified")
}

/// Returns true if the list of an answer is complete. Answers of language servers omit `has_more`
/// in that case.
fn lists_all(map: &Map<String, Value>) -> bool {
    match map.get("has_more") {
        Some(has_more) => has_more == &Value::Bool(false),
        None => map.contains_key("server_status"),
    }
}

fn write_fields(map: &Map<String, Value>, indent: usize, out: &mut String) {
    for (key, value) in map {
        if is_needless(map, key, value) {
            continue;
        }
        let pad = "  ".repeat(indent);
        match value {
            Value::Object(resolved) if key == "resolved" => {
                let _ = write!(out, "{pad}{key}: ");
                write_location(resolved, out);
                let symbol = resolved.get("symbol").and_then(Value::as_str).unwrap_or_default();
                let _ = writeln!(out, " {symbol}");
            }
            Value::String(verdict) if key == "verdict" && verdict == "complete" && indent == 0 => {
                let _ = writeln!(out, "{verdict}");
            }
            Value::Object(stated) if key == "diagnostics" && stated.contains_key("reason") => {
                let reason = stated.get("reason").and_then(Value::as_str).unwrap_or_default();
                let _ = writeln!(out, "{pad}{reason}");
            }
            Value::String(path) if key == "path" && map.contains_key("at") => {
                let _ = write!(out, "{pad}at: {path}:");
            }
            Value::String(at) if key == "at" && map.contains_key("path") => {
                let _ = writeln!(out, "{at}");
            }
            Value::String(page) if key == "contents" && !page.trim().is_empty() => write_page(page, out),
            Value::String(text) if text.contains('\n') => {
                let _ = writeln!(out, "{pad}{key}:\n{}", text.trim_end_matches('\n'));
            }
            Value::Array(items) if key == "locations" && indent == 0 && is_single_place(items) => {
                items.iter().for_each(|item| write_list_item(item, 0, out));
            }
            Value::Array(items)
                if matches!(key.as_str(), "added" | "gone")
                    && !items.is_empty()
                    && items.iter().all(is_finding) =>
            {
                let _ = writeln!(out, "{pad}{key}:");
                write_delta(items, indent + 1, out);
            }
            Value::Array(items) if !items.iter().all(is_word) => {
                let _ = writeln!(out, "{pad}{key}:");
                items.iter().for_each(|item| write_list_item(item, indent + 1, out));
            }
            Value::Object(inner)
                if range(inner).is_none() && inner.values().any(|value| !fits_inline(value)) =>
            {
                let _ = writeln!(out, "{pad}{key}:");
                write_fields(inner, indent + 1, out);
            }
            other => {
                let _ = write!(out, "{pad}{key}: ");
                write_inline(other, out);
                out.push('\n');
            }
        }
    }
}

/// Writes Markdown that is the whole answer, and drops layout that plain text does not need.
fn write_page(page: &str, out: &mut String) {
    let mut lines = page.trim_end().lines().peekable();
    if lines.next_if(|line| line.starts_with("```")).is_some() {
        // The signature; most servers draw a line below it.
        for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
            let _ = writeln!(out, "{}", line.trim_end());
        }
        while lines.next_if(|line| matches!(line.trim(), "" | "---")).is_some() {}
    }
    for line in lines {
        let _ = writeln!(out, "{}", line.replace("&nbsp;", " ").trim_end());
    }
}

fn is_single_place(items: &[Value]) -> bool {
    matches!(items, [file] if file_places(file).is_some_and(|(_, places)| places.len() == 1))
}

fn is_finding(item: &Value) -> bool {
    ["path", "at", "severity", "message"].iter().all(|key| item.get(*key).is_some_and(Value::is_string))
}

/// Writes the added or removed findings of an edit: the path once per file, and a repeated message
/// once.
fn write_delta(findings: &[Value], indent: usize, out: &mut String) {
    let words =
        |finding: &Value| ["severity", "code", "message", "server"].map(|key| finding.get(key).cloned());
    for file in findings.chunk_by(|one, other| one["path"] == other["path"]) {
        let path = file[0]["path"].as_str().unwrap_or_default();
        let _ = writeln!(out, "{}{path}", "  ".repeat(indent));
        let mut above = None;
        for finding in file {
            let mut finding = finding.as_object().cloned().unwrap_or_default();
            finding.shift_remove("path");
            // The start position is enough to find it.
            if let Some(Value::String(at)) = finding.get_mut("at") {
                at.truncate(at.find('-').unwrap_or(at.len()));
            }
            let finding = Value::Object(finding);
            let line = words(&finding);
            if above.as_ref() == Some(&line) && finding.get("help").is_none() {
                let at = finding["at"].as_str().unwrap_or_default();
                let _ = writeln!(out, "{}{at} the same", "  ".repeat(indent + 1));
            } else {
                write_list_item(&finding, indent + 1, out);
            }
            above = Some(line);
        }
    }
}

/// Writes an item of a list on a line of its own, and its long fields below it.
fn write_list_item(item: &Value, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    let Value::Object(map) = item else {
        out.push_str(&pad);
        write_inline(item, out);
        out.push('\n');
        return;
    };
    if let Some((path, places)) = file_places(item) {
        return write_places(path, places, indent, out);
    }
    out.push_str(&pad);
    let mut placed = write_location(map, out);
    let finding = write_finding(map, out);
    placed.extend(finding);
    let short: Map<String, Value> = map
        .iter()
        .filter(|(key, value)| !placed.contains(&key.as_str()) && fits_inline(value))
        .map(owned)
        .collect();
    if !placed.is_empty() && short.iter().any(|(key, value)| !is_needless(map, key, value)) {
        out.push(' ');
    }
    write_pairs(&short, map, out);
    out.push('\n');
    if !finding.is_empty() {
        let message = map.get("message").and_then(Value::as_str).unwrap_or_default();
        for line in message.lines().skip(1) {
            let _ = writeln!(out, "{pad}  {}", line.trim_end());
        }
    }
    let long: Map<String, Value> = map
        .iter()
        .filter(|(key, value)| !placed.contains(&key.as_str()) && !fits_inline(value))
        .map(owned)
        .collect();
    write_fields(&long, indent + 1, out);
}

/// Writes the places of one file. The path has its own line if there are several places.
fn write_places(path: &str, places: &[Value], indent: usize, out: &mut String) {
    let share_path = places.len() > 1;
    if share_path {
        let _ = writeln!(out, "{}{path}", "  ".repeat(indent));
    }
    for row in places.iter().filter_map(Value::as_array) {
        let mut place = Map::new();
        if !share_path {
            place.insert("path".to_owned(), path.into());
        }
        for (name, column) in [("at", 0), ("in", 2), ("text", 1), ("why", 3)] {
            if let Some(value) = row.get(column).filter(|value| !value.is_null()) {
                place.insert(name.to_owned(), value.clone());
            }
        }
        write_list_item(&Value::Object(place), indent + usize::from(share_path), out);
    }
}

/// Writes the position and the first line of the message of `map`, if it is a finding. Returns the
/// fields that it wrote.
fn write_finding(map: &Map<String, Value>, out: &mut String) -> &'static [&'static str] {
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let (Some(severity), Some(message)) = (text("severity"), text("message")) else { return &[] };
    let enclosing = text("in").map(|name| format!(" in {name}:"));
    let _ = write!(out, "{} {severity}", enclosing.unwrap_or_default());
    if let Some(code) = text("code") {
        let _ = write!(out, " {code}");
    }
    let _ = write!(out, ": {}", message.lines().next().unwrap_or_default());
    if let Some(server) = text("server") {
        let _ = write!(out, " ({server})");
    }
    &["severity", "message", "code", "server", "source", "in"]
}

/// Writes an object on the line of its name.
fn write_object(map: &Map<String, Value>, out: &mut String) {
    if !map.get("at").is_some_and(Value::is_string) {
        return write_pairs(map, map, out);
    }
    let placed = write_location(map, out);
    let others = map.iter().filter(|(key, _)| !placed.contains(&key.as_str())).map(owned).collect();
    out.push(' ');
    write_pairs(&others, map, out);
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Writes the position of `map`, if it is a place. Returns the fields that it wrote.
fn write_location(map: &Map<String, Value>, out: &mut String) -> Vec<&'static str> {
    let path = map.get("path").and_then(Value::as_str);
    let number = |key: &str| map.get(key).filter(|_| path.is_some()).and_then(Value::as_u64);
    let (mut used_keys, place) = match (map.get("at"), number("line"), number("column")) {
        (Some(Value::String(at)), ..) => (vec!["at"], Some(at.clone())),
        (Some(Value::Array(starts)), ..) if starts.iter().all(Value::is_string) => {
            let starts: Vec<&str> = starts.iter().filter_map(Value::as_str).collect();
            (vec!["at"], Some(starts.join(", ")))
        }
        (_, Some(line), Some(column)) => (vec!["line", "column"], Some(format!("{line}:{column}"))),
        (_, Some(line), None) => (vec!["line"], Some(line.to_string())),
        _ => match map.get("range").and_then(Value::as_object).and_then(range) {
            Some(range) => (vec!["range"], Some(range)),
            None => (Vec::new(), None),
        },
    };
    out.push_str(path.unwrap_or_default());
    if path.is_some() && place.is_some() {
        out.push(':');
    }
    out.push_str(&place.unwrap_or_default());
    used_keys.extend(path.map(|_| "path"));
    used_keys
}

/// A protocol range in short 1-based form; `None` for other objects.
fn range(map: &Map<String, Value>) -> Option<String> {
    let end = |key: &str| {
        let end = map.get(key)?;
        Some((end.get("line")?.as_u64()?, end.get("character")?.as_u64()?))
    };
    let ((line, character), (last_line, last_character)) = (end("start")?, end("end")?);
    Some(format!("{}:{}-{}:{}", line + 1, character + 1, last_line + 1, last_character + 1))
}

/// Returns true if a value is written without spaces or field names, so that several fit on one
/// line.
fn is_word(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Returns true if a value fits on a line with others.
fn fits_inline(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\n'),
        Value::Array(items) => items.iter().all(|item| is_word(item) && fits_inline(item)),
        Value::Object(map) => range(map).is_some(),
        _ => true,
    }
}

fn write_pairs(shown: &Map<String, Value>, whole: &Map<String, Value>, out: &mut String) {
    let mut separator = "";
    for (key, value) in shown {
        if is_needless(whole, key, value) {
            continue;
        }
        out.push_str(separator);
        separator = ", ";
        if key == "in" {
            separator = ": ";
            out.push_str("in ");
            write_inline(value, out);
            continue;
        }
        // A source line and a message need no field name.
        if !matches!(key.as_str(), "text" | "message" | "name") {
            let _ = write!(out, "{key}: ");
        }
        write_inline(value, out);
    }
}

fn write_inline(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write_inline(item, out);
            }
        }
        Value::Object(map) => match range(map) {
            Some(span) => out.push_str(&span),
            None => write_object(map, out),
        },
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod sizes;
#[cfg(test)]
mod tests;
