//! Files, folders and lists of files: unchanged for programs, escaped and coloured on a terminal.

use std::collections::HashSet;

use super::DisplayCapabilities;
use super::terminal::display::{BOLD, DIM, PLACE};
use super::terminal::escape;
use crate::cli::exit::CliExitStatus;
use crate::cli::paths::PathSpelling;
use crate::cli::reply::Reply;
use crate::tools::files::glob::GlobOutput;
use crate::tools::files::list::{ListItem, ListOutput};
use crate::tools::files::read::ReadOutput;

/// Formats the notes of an answer for stderr, including its omissions.
pub(crate) fn notes(notes: &[String], left_out: Option<String>) -> Vec<String> {
    let notes = distinct(notes).map(|note| format!("note: {}", escape::words(note)));
    notes.chain(left_out.map(|what| format!("note: {what}"))).collect()
}

/// Removes duplicates of `notes`, which several files or servers may share.
pub(super) fn distinct(notes: &[String]) -> impl Iterator<Item = &String> {
    let mut seen = HashSet::new();
    notes.iter().filter(move |note| seen.insert(*note))
}

/// Renders the lines of a file; `numbered` if the answer has line numbers.
pub(crate) fn page(page: &ReadOutput, numbered: bool, display: &DisplayCapabilities) -> Reply {
    let text = escape::content(&page.content, display);
    let mut out = match numbered && display.terminal {
        true => text.split_inclusive('\n').map(|line| numbered_line(line, display)).collect(),
        false => text.into_owned(),
    };
    // The description of an image has no line break, and without one the prompt would follow the
    // last line.
    let ended = out.is_empty() || out.ends_with('\n');
    if !ended && (page.kind.is_some() || (display.terminal && !page.has_more)) {
        out.push('\n');
    }
    Reply { out, lines: notes(&page.notes, None), status: CliExitStatus::Answered }
}

fn numbered_line(line: &str, display: &DisplayCapabilities) -> String {
    match line.split_once('\t') {
        Some((number, rest)) => format!("{}  {rest}", display.paint(DIM, &format!("{number:>5}"))),
        None => line.to_owned(),
    }
}

/// Renders the definitions of a file, one per line.
pub(crate) fn outline(page: &ReadOutput, display: &DisplayCapabilities) -> Reply {
    let text = page.outline.as_deref().unwrap_or_default();
    let out: String = text.lines().map(|line| outline_line(line, display)).collect();
    let mut lines = notes(&page.notes, None);
    let status = if out.is_empty() { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    if out.is_empty() {
        lines.push("it has no definitions".to_owned());
    }
    Reply { out, lines, status }
}

/// Formats a line of the outline, such as `10-20 function greet`, keeping its indentation.
fn outline_line(line: &str, display: &DisplayCapabilities) -> String {
    let bare = line.trim_start();
    let indent = &line[..line.len() - bare.len()];
    let mut words = bare.splitn(3, ' ');
    let mut next = || escape::name(words.next().unwrap_or_default(), display).into_owned();
    let (place, kind, name) = (next(), next(), next());
    format!(
        "{indent}{} {} {}\n",
        display.paint(PLACE, &place),
        display.paint(DIM, &kind),
        display.paint(BOLD, &name)
    )
}

/// Renders the entries of a folder. In a recursive listing they have paths.
pub(crate) fn render_listing(
    entries: ListOutput,
    deep: Option<&PathSpelling>,
    display: &DisplayCapabilities,
) -> Reply {
    let widest = entries.items.iter().map(|entry| size(entry).len()).max().unwrap_or(0);
    let mut out = String::new();
    for entry in &entries.items {
        let name = deep.map_or_else(|| entry.name.clone(), |paths| paths.display_path(&entry.path));
        let name = escape::name(&name, display);
        let mut shown =
            if entry.is_dir { display.paint(BOLD, &format!("{name}/")) } else { name.into_owned() };
        if display.terminal {
            shown = format!("{}  {shown}", display.paint(DIM, &format!("{:>widest$}", size(entry))));
            shown.push_str(&display.paint(DIM, &what_else(entry)));
        }
        out.push_str(&shown);
        out.push('\n');
    }
    let left_out = entries.has_more.then(|| format!("the first {}; --limit shows more", entries.items.len()));
    Reply { out, lines: notes(&entries.notes, left_out), status: CliExitStatus::Answered }
}

/// Formats a file's size in a short form.
fn size(entry: &ListItem) -> String {
    if entry.is_dir || entry.kind.is_some() {
        return "-".to_owned();
    }
    const UNITS: [&str; 4] = ["K", "M", "G", "T"];
    let (mut value, mut unit) = (entry.size_bytes as f64, "");
    for next in UNITS {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit.is_empty() { format!("{value}") } else { format!("{value:.1}{unit}") }
}

fn what_else(entry: &ListItem) -> String {
    match (&entry.target, &entry.kind) {
        (Some(target), _) => format!(" -> {}", escape::line(target)),
        (None, Some(kind)) => format!("  ({})", escape::line(kind)),
        (None, None) => String::new(),
    }
}

/// Renders files, one per line.
pub(crate) fn render_glob(found: &GlobOutput, paths: &PathSpelling, display: &DisplayCapabilities) -> Reply {
    let shown = |path: &String| format!("{}\n", escape::name(&paths.display_path(path), display));
    let left_out = found.has_more.then(|| format!("the first {}; --limit shows more", found.matches.len()));
    let mut lines = notes(&found.notes, left_out);
    let none = found.matches.is_empty();
    if none {
        lines.push("no file matches".to_owned());
    }
    let status = if none { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    Reply { out: found.matches.iter().map(shown).collect(), lines, status }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    #[test]
    fn file_page_is_raw_in_pipe_and_escaped_on_terminal() {
        let answer = json!({
            "path": "a", "content": "9\ta\u{1b}[2J\n10\tb", "start_line": 9, "end_line": 10, "has_more": false,
        });
        let given: ReadOutput = serde_json::from_value(answer).unwrap();
        assert_eq!(page(&given, true, &DisplayCapabilities::PLAIN).out, "9\ta\u{1b}[2J\n10\tb");
        assert_eq!(page(&given, true, &TERMINAL).out, "    9  a\\u{1b}[2J\n   10  b\n");
    }

    #[test]
    fn list_entries_mark_folders_sizes_and_symlink_targets() {
        let answer = json!({"path": "a", "has_more": true, "items": [
            {"name": "src", "path": "a/src", "is_dir": true, "size_bytes": 0},
            {"name": "big", "path": "a/big", "is_dir": false, "size_bytes": 2048},
            {"name": "out", "path": "a/out", "is_dir": false, "size_bytes": 0, "kind": "symlink", "target": "(outside)"},
        ]});
        let given: ListOutput = serde_json::from_value(answer).unwrap();
        assert_eq!(render_listing(given.clone(), None, &DisplayCapabilities::PLAIN).out, "src/\nbig\nout\n");
        let shown = render_listing(given.clone(), None, &TERMINAL);
        assert_eq!(shown.out, "   -  src/\n2.0K  big\n   -  out -> (outside)\n");
        assert_eq!(shown.lines, ["note: the first 3; --limit shows more"]);
        let inside = PathSpelling::Inside(vec!["a".to_owned()]);
        assert_eq!(render_listing(given, Some(&inside), &DisplayCapabilities::PLAIN).out, "src/\nbig\nout\n");
    }
}
