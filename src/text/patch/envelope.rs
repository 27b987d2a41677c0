//! The parser of the `*** Begin Patch` form: whole files, and chunks that are found by their text.

use super::error::error_excerpt;
use super::hunks::{body_line, parse_anchor};
use super::names::PatchPath;
use super::{
    FilePatch, FilePatchOperation, Hunk, HunkAnchor, HunkLine, LineKind, MAX_FILES, MAX_HUNKS, PatchError,
};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Returns the 0-based line behind `*** Begin Patch`, if that comes before any header of a unified
/// diff.
pub(super) fn start(lines: &[&str]) -> Option<usize> {
    let unified = |line: &&str| line.starts_with("diff --git ") || line.starts_with("@@ -");
    let at = lines.iter().position(|line| line.trim() == BEGIN || unified(line))?;
    (lines[at].trim() == BEGIN).then_some(at + 1)
}

/// Removes the indentation from a patch whose markers, or all of whose lines, models have indented;
/// `start` is the line behind `*** Begin Patch`. Other indented lines are context, which begins
/// with a space.
fn unindented<'a>(lines: &[&'a str], start: usize) -> Vec<&'a str> {
    let is_end = |line: &&str| line.trim() == END;
    let end = lines[start..].iter().position(is_end).map_or(lines.len(), |end| start + end + 1);
    let whole = indent(lines[start - 1]);
    let is_indented = |line: &&str| line.starts_with(whole) || line.trim().is_empty();
    if !whole.is_empty() && lines[start..end].iter().all(is_indented) {
        return lines.iter().map(|line| line.strip_prefix(whole).unwrap_or(line)).collect();
    }
    let first = lines[start..].iter().find(|line| !line.trim().is_empty());
    let style = first.map_or("", |line| indent(line));
    // If the patch has no other end, its last one is the end.
    let has_end = lines.iter().any(|line| line.trim_end() == END);
    let last_end = lines.iter().rposition(is_end).filter(|_| !has_end);
    let is_marker = |at: usize, line: &str| {
        let bare = line.trim();
        let starts = [ADD, UPDATE, DELETE, MOVE].iter().any(|keyword| bare.starts_with(keyword));
        Some(at) == last_end || indent(line) == style && (starts || [END, END_OF_FILE].contains(&bare))
    };
    let lines = lines.iter().enumerate();
    lines.map(|(at, line)| if is_marker(at, line) { line.trim_start() } else { line }).collect()
}

/// The white space at the start of a line.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Reads the file sections from line `at` to `*** End Patch`.
pub(super) fn parse(lines: &[&str], mut at: usize) -> Result<Vec<FilePatch>, PatchError> {
    let lines = &unindented(lines, at)[..];
    let mut files: Vec<FilePatch> = Vec::new();
    let mut remaining = MAX_HUNKS;
    loop {
        let Some(line) = lines.get(at) else {
            return Err(PatchError::Incomplete { line: lines.len(), what: "`*** End Patch` is missing" });
        };
        if line.trim() == END {
            break;
        }
        if line.trim().is_empty() {
            at += 1;
            continue;
        }
        if files.len() == MAX_FILES {
            return Err(PatchError::TooMany { what: "files", most: MAX_FILES });
        }
        let file = read_file(lines, &mut at, remaining)?;
        remaining -= file.hunks.len();
        files.push(file);
    }
    if files.is_empty() { Err(PatchError::Nothing) } else { Ok(files) }
}

fn read_file(lines: &[&str], at: &mut usize, remaining: usize) -> Result<FilePatch, PatchError> {
    let begin = *at;
    let line = lines[begin].trim_end();
    *at += 1;
    let named = |keyword: &str| line.strip_prefix(keyword).map(|name| path(name, begin)).transpose();
    let (operation, hunks) = if let Some(path) = named(ADD)? {
        (FilePatchOperation::Create { path }, read_added(lines, at)?)
    } else if let Some(path) = named(DELETE)? {
        (FilePatchOperation::Delete { path }, Vec::new())
    } else if let Some(path) = named(UPDATE)? {
        let moved = lines.get(*at).and_then(|line| line.trim_end().strip_prefix(MOVE));
        let operation = match moved {
            Some(to) => FilePatchOperation::Rename { from: path, to: self::path(to, *at)? },
            None => FilePatchOperation::Modify { path },
        };
        *at += usize::from(moved.is_some());
        (operation, read_chunks(lines, at, remaining)?)
    } else {
        let what = format!(
            "`{}` is not expected here; write `*** Add File: `, `*** Update File: `, `*** Delete File: ` or `{END}`",
            error_excerpt(line)
        );
        return Err(PatchError::Header { line: begin + 1, what });
    };
    if let (FilePatchOperation::Modify { path }, true) = (&operation, hunks.is_empty()) {
        return Err(PatchError::NoHunks { line: begin + 1, path: error_excerpt(&path.clean) });
    }
    let repairs = Vec::new();
    Ok(FilePatch { operation, old_mode: None, new_mode: None, hunks, line: begin + 1, repairs })
}

fn path(name: &str, at: usize) -> Result<PatchPath, PatchError> {
    match name.trim() {
        "" => Err(PatchError::Header { line: at + 1, what: "the file name is missing".to_owned() }),
        name => Ok(PatchPath::unprefixed(name)),
    }
}

/// Returns true if a section or the patch ends at this line.
fn ends(line: &str) -> bool {
    let line = line.trim_end();
    line == END || [ADD, UPDATE, DELETE].iter().any(|keyword| line.starts_with(keyword))
}

/// Reads the lines of a new file, each behind a `+`.
fn read_added(lines: &[&str], at: &mut usize) -> Result<Vec<Hunk>, PatchError> {
    let begin = *at;
    let mut body: Vec<HunkLine> = Vec::new();
    while let Some(line) = lines.get(*at).filter(|line| !ends(line)) {
        let blank = blank_lines(lines, *at);
        if blank > 0 && lines.get(*at + blank).is_none_or(|line| ends(line)) {
            *at += blank;
            break;
        }
        match body_line(line) {
            Some(read) if read.kind == LineKind::Add => body.push(read),
            _ if line.trim_end() == END_OF_FILE => {}
            _ => return Err(PatchError::HunkLine { line: *at + 1, found: error_excerpt(line) }),
        }
        *at += 1;
    }
    let place = HunkAnchor::Line { old_start: 0, new_start: 1 };
    Ok(if body.is_empty() { Vec::new() } else { vec![Hunk { place, lines: body, line: begin + 1 }] })
}

/// Counts the empty lines from line `at` on. A line with a space is not empty.
fn blank_lines(lines: &[&str], at: usize) -> usize {
    lines[at..].iter().take_while(|line| line.trim_end_matches(['\n', '\r']).is_empty()).count()
}

/// The chunks of an updated file. The first may come without `@@`.
fn read_chunks(lines: &[&str], at: &mut usize, remaining: usize) -> Result<Vec<Hunk>, PatchError> {
    let mut hunks = Vec::new();
    while lines.get(*at).is_some_and(|line| !ends(line)) {
        if hunks.len() == remaining {
            return Err(PatchError::TooMany { what: "hunks", most: MAX_HUNKS });
        }
        let begin = *at;
        let mut after = Vec::new();
        while let Some(line) = lines.get(*at).filter(|line| line.starts_with("@@")) {
            after.extend(parse_anchor(line));
            *at += 1;
        }
        let (body, at_end) = read_chunk(lines, at)?;
        if body.is_empty() {
            return Err(PatchError::EmptyHunk { line: begin + 1 });
        }
        hunks.push(Hunk { place: HunkAnchor::Text { after, at_end }, lines: body, line: begin + 1 });
    }
    Ok(hunks)
}

fn read_chunk(lines: &[&str], at: &mut usize) -> Result<(Vec<HunkLine>, bool), PatchError> {
    let mut body = Vec::new();
    while let Some(line) = lines.get(*at).filter(|line| !line.starts_with("@@") && !ends(line)) {
        if line.trim_end() == END_OF_FILE {
            *at += 1 + blank_lines(lines, *at + 1);
            return Ok((body, true));
        }
        let blank = blank_lines(lines, *at);
        if blank > 0 {
            // Blank lines are context that lost its space, unless the chunk ends behind them.
            if lines.get(*at + blank).is_some_and(|line| !line.starts_with("@@") && !ends(line)) {
                body.extend(lines[*at..*at + blank].iter().filter_map(|line| body_line(line)));
            }
            *at += blank;
            continue;
        }
        let Some(read) = body_line(line) else {
            return Err(PatchError::HunkLine { line: *at + 1, found: error_excerpt(line) });
        };
        body.push(read);
        *at += 1;
    }
    Ok((body, false))
}
