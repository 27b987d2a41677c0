//! The text of an answer for models, which every door shows.
//!
//! | in the answer | in the text |
//! |---|---|
//! | `"count": 3` | `count: 3` |
//! | a text of several lines | its name on a line, and the text as it is |
//! | a range | `4:2-4:9`, 0-based like the answer |
//! | an object with a path and a range or a line and a character | `src/app.py:4:2-4:9` or `src/app.py:4:2`, then its other fields |
//! | the places of a file | its path, and `4:2` and the source line from its first letter on for each; a single one on the line of its path |
//! | a finding | `src/app.py:4:2-4:9 error E501: Line too long (ruff)` |
//! | a list | one line for each item |
//! | a server that is ready, a complete verdict, `ok`, a URI beside its path | nothing, the verdict in one word |
//! | the number of things of which all are listed | nothing |
//! | what was asked about | nothing, or where it was found, if that was not said |

use std::fmt::Write;

use serde_json::{Map, Value};

/// The text of `answer`, a result with `ok`; positions stay 0-based.
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

/// Whether a field says nothing that a reader needs.
fn is_needless(map: &Map<String, Value>, key: &str, value: &Value) -> bool {
    match key {
        "ok" => value == &Value::Bool(true),
        "uri" => map.contains_key("path"),
        "server_status" => {
            value.get("state").is_some_and(|state| state == "ready") && value.get("detail").is_none()
        }
        "name" => map.get("path") == Some(value),
        // The first of `locations`, which follow.
        "location" => map.contains_key("locations"),
        "has_more" | "truncated" => value == &Value::Bool(false),
        // Whoever sees all of them can count them.
        "count" => map.get("has_more") == Some(&Value::Bool(false)) && value != &Value::from(0),
        // The name that was asked about.
        "range" => map.contains_key("contents"),
        "resolved" => value.get("moved") != Some(&Value::Bool(true)),
        _ => value.is_null(),
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
            Value::String(text) if text.contains('\n') => {
                let _ = writeln!(out, "{pad}{key}:\n{}", text.trim_end_matches('\n'));
            }
            Value::Array(items) if !items.iter().all(is_word) => {
                // Whoever reads compilers' messages takes a number behind a colon for 1-based.
                let zero = ["range", "places", "character"]
                    .iter()
                    .any(|key| items.iter().any(|item| item.get(*key).is_some()));
                let _ = writeln!(out, "{pad}{key}{}:", if zero && indent == 0 { " (0-based)" } else { "" });
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

/// An item of a list, on a line of its own; what does not fit on one follows below it.
fn write_list_item(item: &Value, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    let Value::Object(map) = item else {
        out.push_str(&pad);
        write_inline(item, out);
        out.push('\n');
        return;
    };
    if let (Some(Value::String(path)), Some(Value::Array(places))) = (map.get("path"), map.get("places")) {
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

/// The places of one file: its path by itself where there are several.
fn write_places(path: &str, places: &[Value], indent: usize, out: &mut String) {
    let share_path = places.len() > 1;
    if share_path {
        let _ = writeln!(out, "{}{path}", "  ".repeat(indent));
    }
    for place in places.iter().filter_map(Value::as_object) {
        let mut place = place.clone();
        if !share_path {
            place.insert("path".to_owned(), path.into());
        }
        // How far a line is indented says nothing of the place.
        if let Some(Value::String(line)) = place.get_mut("text") {
            *line = line.trim_start().to_owned();
        }
        write_list_item(&Value::Object(place), indent + usize::from(share_path), out);
    }
}

/// Writes what `map` says of its place, if it is a finding, with the first line of its message; returns the fields that are said by it.
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

/// An object on the line of its name.
fn write_object(map: &Map<String, Value>, out: &mut String) {
    if point(map).is_none() {
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

/// Writes where `map` is, if it is a place; returns the fields that were said by it.
fn write_location(map: &Map<String, Value>, out: &mut String) -> Vec<&'static str> {
    let path = map.get("path").and_then(Value::as_str);
    let span = map.get("range").and_then(Value::as_object).and_then(range);
    match (path, span) {
        (Some(path), Some(span)) => {
            let _ = write!(out, "{path}:{span}");
            vec!["path", "range"]
        }
        (Some(path), None) => {
            out.push_str(path);
            match (point(map), map.get("line").and_then(Value::as_u64)) {
                (Some(_), _) => {
                    out.push(':');
                    [vec!["path"], write_span(map, out)].concat()
                }
                (None, Some(line)) => {
                    let _ = write!(out, ":{line}");
                    vec!["path", "line"]
                }
                (None, None) => vec!["path"],
            }
        }
        (None, Some(span)) => {
            out.push_str(&span);
            vec!["range"]
        }
        (None, None) => write_span(map, out),
    }
}

/// Writes `line:character`, and the end where it has one; returns the fields that were said by it.
fn write_span(map: &Map<String, Value>, out: &mut String) -> Vec<&'static str> {
    let Some((line, character)) = point(map) else { return Vec::new() };
    let mut said = vec!["line", "character"];
    let _ = write!(out, "{line}:{character}");
    if let Some((line, character)) = map.get("end").and_then(Value::as_object).and_then(point) {
        let _ = write!(out, "-{line}:{character}");
        said.push("end");
    }
    said
}

/// A range in short, if it is one.
fn range(map: &Map<String, Value>) -> Option<String> {
    let end = |key: &str| point(map.get(key)?.as_object()?);
    let ((line, character), (last_line, last_character)) = (end("start")?, end("end")?);
    Some(format!("{line}:{character}-{last_line}:{last_character}"))
}

/// Whether a value is written without spaces or names of fields, so that several of them make a list on a line.
fn is_word(value: &Value) -> bool {
    match value {
        Value::Object(map) => is_point(map),
        other => !other.is_array(),
    }
}

fn is_point(map: &Map<String, Value>) -> bool {
    map.len() == 2 && point(map).is_some()
}

fn point(map: &Map<String, Value>) -> Option<(u64, u64)> {
    Some((map.get("line")?.as_u64()?, map.get("character")?.as_u64()?))
}

/// Whether a value fits on a line with others.
fn fits_inline(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\n'),
        Value::Array(items) => items.iter().all(|item| is_word(item) && fits_inline(item)),
        Value::Object(map) => range(map).is_some() || is_point(map),
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
        // What stands in a source line, and what a message says, need no name.
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
        Value::Object(map) => match (range(map), point(map)) {
            (Some(span), _) => out.push_str(&span),
            (None, Some((line, character))) if is_point(map) => {
                let _ = write!(out, "{line}:{character}");
            }
            (None, _) => write_object(map, out),
        },
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests;
