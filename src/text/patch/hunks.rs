//! The hunks of a unified diff: headers, bodies, and the repair of wrong line counts.

use super::error::error_excerpt;
use super::names::{PatchSide, clean_pair, parse_side};
use super::{
    Hunk, HunkAnchor, HunkLine, LineKind, MAX_HUNKS, PatchError, Repair, RepairKind, UnsupportedPatchKind,
};
use crate::text::diff::TRUNCATED;

/// The old and the new number of lines.
type HunkLineCounts = (usize, usize);

/// Reads hunks as long as they follow one another; `at` is the 0-based line, and moves behind them.
pub(super) fn read_all(
    lines: &[&str],
    at: &mut usize,
    repairs: &mut Vec<Repair>,
    remaining: usize,
) -> Result<Vec<Hunk>, PatchError> {
    let mut hunks = Vec::new();
    while lines.get(*at).is_some_and(|line| line.starts_with("@@")) {
        if hunks.len() == remaining {
            return Err(PatchError::TooMany { what: "hunks", most: MAX_HUNKS });
        }
        let begin = *at;
        let (place, stated) = read_place(lines, at, repairs)?;
        let body = read_body(lines, at, stated)?;
        if body.is_empty() {
            return Err(PatchError::EmptyHunk { line: begin + 1 });
        }
        let actual = count_hunk_lines(&body);
        if let Some(stated) = stated.filter(|stated| *stated != actual) {
            repairs.push(Repair { line: begin + 1, kind: RepairKind::Counts { stated, actual } });
        }
        hunks.push(Hunk { place, lines: body, line: begin + 1 });
        skip_blank_before_hunk(lines, at);
    }
    Ok(hunks)
}

/// Skips blank lines between two hunks, which have no meaning.
fn skip_blank_before_hunk(lines: &[&str], at: &mut usize) {
    let blank = lines[*at..].iter().take_while(|line| line.trim().is_empty()).count();
    if lines.get(*at + blank).is_some_and(|line| line.starts_with("@@")) {
        *at += blank;
    }
}

fn count_hunk_lines(body: &[HunkLine]) -> HunkLineCounts {
    let count = |not: LineKind| body.iter().filter(|line| line.kind != not).count();
    (count(LineKind::Add), count(LineKind::Remove))
}

/// Reads the header of a hunk: one with numbers, or one or several that only name lines before it.
fn read_place(
    lines: &[&str],
    at: &mut usize,
    repairs: &mut Vec<Repair>,
) -> Result<(HunkAnchor, Option<HunkLineCounts>), PatchError> {
    let begin = *at;
    if let Some((place, stated)) = parse_hunk_header(lines[begin], begin)? {
        *at += 1;
        return Ok((place, stated));
    }
    let mut after = Vec::new();
    while let Some(line) = lines.get(*at).filter(|line| line.starts_with("@@")) {
        if *at > begin && parse_hunk_header(line, *at)?.is_some() {
            return Err(PatchError::EmptyHunk { line: begin + 1 });
        }
        after.extend(parse_anchor(line));
        *at += 1;
    }
    repairs.push(Repair { line: begin + 1, kind: RepairKind::NoPlace });
    Ok((HunkAnchor::Text { after, at_end: false }, None))
}

/// The line that a header without numbers names; `None` for a bare `@@` or `@@ ... @@`.
pub(super) fn parse_anchor(header: &str) -> Option<String> {
    let named = header.trim().trim_start_matches('@').trim_end_matches("@@").trim();
    (!named.is_empty() && named != "...").then(|| named.to_owned())
}

/// Parses `@@ -12,3 +14,5 @@`, or the part of it that gives a place; `None` for a header without
/// numbers.
fn parse_hunk_header(
    header: &str,
    at: usize,
) -> Result<Option<(HunkAnchor, Option<HunkLineCounts>)>, PatchError> {
    if header.starts_with("@@@") {
        return Err(PatchError::Unsupported { line: at + 1, what: UnsupportedPatchKind::Combined });
    }
    let wrong = || PatchError::HunkHeader { line: at + 1, found: error_excerpt(header) };
    let rest = header["@@".len()..].trim_start();
    let Some(rest) = rest.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Ok(None);
    };
    let (old_start, old_count, rest) = range(rest).ok_or_else(wrong)?;
    let (new_start, new_count, rest) = match rest.trim_start().strip_prefix('+') {
        Some(rest) => {
            let (start, count, rest) = range(rest).ok_or_else(wrong)?;
            (start, Some(count), rest)
        }
        None => (old_start, None, rest),
    };
    let rest = rest.trim();
    if !rest.is_empty() && !rest.starts_with("@@") {
        return Err(wrong());
    }
    let stated = new_count.map(|new_count| (old_count, new_count));
    Ok(Some((HunkAnchor::Line { old_start, new_start }, stated)))
}

/// Parses `12,3` or `12`; returns the rest too.
fn range(text: &str) -> Option<(usize, usize, &str)> {
    let (start, rest) = parse_number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => parse_number(rest).map(|(count, rest)| (start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

fn parse_number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let value: u32 = text[..digits].parse().ok()?;
    Some((value as usize, &text[digits..]))
}

/// Reads the lines of a hunk: by the stated numbers if the hunk ends there, else as far as the
/// lines look like a hunk.
fn read_body(
    lines: &[&str],
    at: &mut usize,
    stated: Option<HunkLineCounts>,
) -> Result<Vec<HunkLine>, PatchError> {
    if let Some((body, next)) = stated.and_then(|stated| by_counts(lines, *at, stated)) {
        *at = next;
        return Ok(body);
    }
    by_shape(lines, at, stated)
}

fn by_counts(
    lines: &[&str],
    mut at: usize,
    (mut old, mut new): HunkLineCounts,
) -> Option<(Vec<HunkLine>, usize)> {
    let mut body: Vec<HunkLine> = Vec::new();
    while old > 0 || new > 0 {
        let line = lines.get(at)?;
        if starts_file(lines, at) {
            return None;
        }
        if is_no_newline(line) {
            without_newline(body.last_mut()?, line);
        } else {
            let line = body_line(line)?;
            let (from_old, from_new) = (line.kind != LineKind::Add, line.kind != LineKind::Remove);
            old = old.checked_sub(usize::from(from_old))?;
            new = new.checked_sub(usize::from(from_new))?;
            body.push(line);
        }
        at += 1;
    }
    if let (Some(last), Some(line)) = (body.last_mut(), lines.get(at))
        && is_no_newline(line)
    {
        without_newline(last, line);
        at += 1;
    }
    let more = lines.get(at).is_some_and(|line| line.starts_with([' ', '+', '-']));
    (!more || starts_new_section(lines, at)).then_some((body, at))
}

fn by_shape(
    lines: &[&str],
    at: &mut usize,
    stated: Option<HunkLineCounts>,
) -> Result<Vec<HunkLine>, PatchError> {
    let mut body: Vec<HunkLine> = Vec::new();
    // Blank lines are context that lost its space, unless nothing of the hunk follows.
    let mut blank = 0;
    while let Some(line) = lines.get(*at + blank).filter(|_| !starts_new_section(lines, *at + blank)) {
        if line.trim_end_matches(['\n', '\r']).is_empty() {
            blank += 1;
            continue;
        }
        if line.starts_with(TRUNCATED) {
            let what = "the diff is a shortened display";
            return Err(PatchError::Incomplete { line: *at + blank + 1, what });
        }
        let taken = lines[*at..*at + blank].iter().filter_map(|line| body_line(line));
        if is_no_newline(line) {
            if let Some(last) = body.last_mut() {
                without_newline(last, line);
            }
        } else if let Some(read) = body_line(line) {
            body.extend(taken);
            body.push(read);
        } else {
            let short = stated.is_some_and(|stated| {
                let actual = count_hunk_lines(&body);
                actual.0 < stated.0 || actual.1 < stated.1
            });
            if short || blank == 0 {
                return Err(PatchError::HunkLine { line: *at + blank + 1, found: error_excerpt(line) });
            }
            break;
        }
        *at += blank + 1;
        blank = 0;
    }
    Ok(body)
}

/// Recognises `\ No newline at end of file`, in any language.
fn is_no_newline(line: &str) -> bool {
    line.starts_with("\\ ")
}

/// Marks `last` as the end of its text. If the mark itself ends in CRLF, the patch was transported
/// with such line ends, and the CR is not part of the text.
fn without_newline(last: &mut HunkLine, mark: &str) {
    last.newline = false;
    if mark.ends_with("\r\n") && last.text.ends_with('\r') {
        last.text.pop();
    }
}

/// Parses a line of a hunk; `None` if it cannot be one. An empty line is context whose space was
/// stripped.
pub(super) fn body_line(line: &str) -> Option<HunkLine> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let kind = match text.as_bytes().first() {
        None | Some(b'\r') => {
            return Some(HunkLine { kind: LineKind::Context, text: text.to_owned(), newline: true });
        }
        Some(b' ') => LineKind::Context,
        Some(b'+') => LineKind::Add,
        Some(b'-') => LineKind::Remove,
        Some(_) => return None,
    };
    Some(HunkLine { kind, text: text[1..].to_owned(), newline: true })
}

/// Returns true if the text at this line cannot belong to the hunk before it.
fn starts_new_section(lines: &[&str], at: usize) -> bool {
    let Some(line) = lines.get(at) else { return true };
    const STARTS: [&str; 8] =
        ["@@", "diff -", "Index: ", "Only in ", "*** ", "```", "GIT binary patch", "Binary files "];
    STARTS.iter().any(|start| line.starts_with(start))
        || is_mail_start(line)
        || is_signature(lines, at)
        || starts_file(lines, at)
}

/// `From 0123… Mon Sep 17 00:00:00 2001`: the next mail.
fn is_mail_start(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("From ") else { return false };
    rest.len() > 40 && rest.as_bytes()[..40].iter().all(u8::is_ascii_hexdigit)
}

/// The end of a mail that git wrote: `-- `, then its version.
fn is_signature(lines: &[&str], at: usize) -> bool {
    let version = |line: &&str| {
        let line = line.trim_end();
        line.starts_with(|c: char| c.is_ascii_digit()) && line.contains('.')
    };
    lines[at].trim_end() == "--" && lines.get(at + 1).is_some_and(version)
}

/// Returns true if the `---` and `+++` lines of one file and a hunk begin here.
fn starts_file(lines: &[&str], at: usize) -> bool {
    let Some(old) = lines[at].strip_prefix("--- ") else { return false };
    let Some(new) = lines.get(at + 1).and_then(|line| line.strip_prefix("+++ ")) else { return false };
    if !lines.get(at + 2).is_some_and(|line| line.starts_with("@@")) {
        return false;
    }
    match (parse_side(old), parse_side(new)) {
        (Some(PatchSide::File(old)), Some(PatchSide::File(new))) => {
            let (old, new) = clean_pair(&old, &new);
            old.clean == new.clean
        }
        (Some(_), Some(_)) => true,
        _ => false,
    }
}
