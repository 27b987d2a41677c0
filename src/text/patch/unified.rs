//! The parser of unified diffs, as git, `diff -u` and people write them, with any text around them.

use super::header::FilePatchHeader;
use super::names::{PatchSide, git_line, parse_side};
use super::{
    FilePatch, FilePatchOperation, LineKind, MAX_FILES, MAX_HUNKS, PatchError, UnsupportedPatchKind,
    error::error_excerpt, hunks,
};
use crate::text::diff::TRUNCATED;

/// Reads all file sections. `lines` still have their line ends.
pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, PatchError> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut remaining = MAX_HUNKS;
    let mut at = 0;
    while at < lines.len() {
        let Some(header) = read_header(lines, &mut at)? else {
            refuse_unsupported(lines[at], at)?;
            at += 1;
            continue;
        };
        if files.len() == MAX_FILES {
            return Err(PatchError::TooMany { what: "files", most: MAX_FILES });
        }
        let file = read_file(lines, &mut at, &header, remaining)?;
        remaining -= file.hunks.len();
        files.push(file);
    }
    if files.is_empty() { Err(no_patch_error(lines)) } else { Ok(files) }
}

fn read_file(
    lines: &[&str],
    at: &mut usize,
    header: &FilePatchHeader,
    remaining: usize,
) -> Result<FilePatch, PatchError> {
    let mut repairs = Vec::new();
    let hunks = hunks::read_all(lines, at, &mut repairs, remaining)?;
    if let Some(line) = lines.get(*at) {
        refuse_unsupported(line, *at)?;
    }
    let operation = header.operation()?;
    let file = FilePatch {
        operation,
        old_mode: header.old_mode,
        new_mode: header.new_mode,
        hunks,
        line: header.line,
        repairs,
    };
    check_hunks(file)
}

/// Checks that the hunks match the operation.
fn check_hunks(file: FilePatch) -> Result<FilePatch, PatchError> {
    let has = |kind| file.hunks.iter().any(|hunk| hunk.lines.iter().any(|line| line.kind == kind));
    let wrong = |what: &str| Err(PatchError::Header { line: file.line, what: what.to_owned() });
    match &file.operation {
        FilePatchOperation::Modify { path } if file.hunks.is_empty() && file.new_mode.is_none() => {
            Err(PatchError::NoHunks { line: file.line, path: error_excerpt(&path.clean) })
        }
        FilePatchOperation::Create { .. } if has(LineKind::Remove) || has(LineKind::Context) => {
            wrong("the file is new, but hunks remove or keep lines; remove `/dev/null` and `new file mode`")
        }
        FilePatchOperation::Delete { .. } if has(LineKind::Add) || has(LineKind::Context) => {
            wrong("the file is deleted, but hunks keep or add lines of it; every line must begin with `-`")
        }
        _ => Ok(file),
    }
}

/// Reads the headers of a file section, if one begins at `at`; `at` moves behind them.
fn read_header(lines: &[&str], at: &mut usize) -> Result<Option<FilePatchHeader>, PatchError> {
    let mut header = FilePatchHeader::at_line(*at + 1);
    if let Some(names) = lines[*at].strip_prefix("diff --git ") {
        header.is_git = true;
        header.git = git_line(names);
        *at += 1;
        while *at < lines.len() && header.parse_git_line(lines[*at], *at)? {
            *at += 1;
        }
    }
    let new_line = lines.get(*at + 1).and_then(|line| line.strip_prefix("+++ "));
    if let (Some(old), Some(new)) = (lines.get(*at).and_then(|line| line.strip_prefix("--- ")), new_line) {
        header.sides = Some((read_side(old, *at)?, read_side(new, *at + 1)?));
        *at += 2;
    }
    Ok((header.is_git || header.sides.is_some()).then_some(header))
}

fn read_side(text: &str, at: usize) -> Result<PatchSide, PatchError> {
    parse_side(text).ok_or_else(|| PatchError::Header {
        line: at + 1,
        what: format!("`{}` is not a file name in UTF-8; write `a/FILE` or `/dev/null`", error_excerpt(text)),
    })
}

/// Refuses a line outside of hunks that is part of another kind of patch.
fn refuse_unsupported(line: &str, at: usize) -> Result<(), PatchError> {
    let unsupported = |what| Err(PatchError::Unsupported { line: at + 1, what });
    let trimmed = line.trim_end();
    if line.starts_with("GIT binary patch")
        || (line.starts_with("Binary files ") && trimmed.ends_with(" differ"))
    {
        return unsupported(UnsupportedPatchKind::Binary);
    }
    if line.starts_with("@@@ ") || line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
        return unsupported(UnsupportedPatchKind::Combined);
    }
    if trimmed == "***************" {
        return unsupported(UnsupportedPatchKind::Context);
    }
    if line.starts_with("@@") {
        return Err(PatchError::HunkWithoutFile { line: at + 1 });
    }
    if line.starts_with(TRUNCATED) {
        return Err(PatchError::Incomplete { line: at + 1, what: "the diff is a shortened display" });
    }
    Ok(())
}

/// Returns the reason why no patch was found: another kind of diff, or none at all.
fn no_patch_error(lines: &[&str]) -> PatchError {
    for (at, pair) in lines.windows(2).enumerate() {
        if !is_ed_command(pair[0].trim_end()) {
            continue;
        }
        let normal = pair[1].starts_with("< ") || pair[1].starts_with("> ");
        let what = if normal { UnsupportedPatchKind::Normal } else { UnsupportedPatchKind::EdScript };
        return PatchError::Unsupported { line: at + 1, what };
    }
    PatchError::Nothing
}

/// Recognises `12c`, `3,4d`, `5a6,7`: an address and a command.
fn is_ed_command(line: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let range =
        |text: &str| text.split_once(',').map_or(number(text), |(from, to)| number(from) && number(to));
    let Some(at) = line.find(['a', 'c', 'd']) else { return false };
    range(&line[..at]) && (line.len() == at + 1 || range(&line[at + 1..]))
}
