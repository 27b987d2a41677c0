//! Exact replacements, each of an old text that must occur exactly once.

use std::collections::{HashMap, HashSet};

use super::difference::{Difference, shown_line};
use super::lines::{LineEnd, common_line_end, line_end};
use super::patch::has_too_many_lines;

/// The maximum number of replacements in one call.
pub(crate) const MAX_REPLACEMENTS: usize = 1_000;
/// The maximum number of reported lines for a repeated old text.
const MAX_REPORTED_MATCH_LINES: usize = 20;
/// The maximum number of lines of the nearest text that are shown.
const MAX_NEAREST_TEXT_LINES: usize = 20;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReplacement {
    /// The text to replace, byte by byte except for line ends (see [`replace()`]).
    pub(crate) old: String,
    /// The replacement text.
    pub(crate) new: String,
    /// True to replace every occurrence instead of the only one.
    pub(crate) all: bool,
}

/// The result of a list of replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacedText {
    /// The new text.
    pub(crate) text: String,
    /// Per replacement, in the order given.
    pub(crate) made: Vec<ReplacementEffect>,
}

/// The effect of one replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacementEffect {
    /// The number of occurrences of the old text.
    pub(crate) count: usize,
    /// The 1-based line of its first occurrence, in the text after the earlier replacements.
    pub(crate) line: usize,
    /// True if line ends of the old or the new text were converted to those of the file.
    pub(crate) line_ends_adapted: bool,
}

/// The reasons why nothing was replaced. `index` is the 0-based number of the replacement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplaceError {
    /// The list is empty.
    #[error("no replacement was given; give at least one with `old` and `new`")]
    None,
    /// The list has more replacements than the limit.
    #[error("{count} replacements exceed the limit of {MAX_REPLACEMENTS}; split them")]
    TooMany {
        /// The number of replacements.
        count: usize,
    },
    /// The old text is empty, and would match everywhere.
    #[error("replacement {}: `old` is empty; give the text to replace, or write the file anew", .index + 1)]
    Empty {
        /// The number of the replacement.
        index: usize,
    },
    /// The replacement would change nothing.
    #[error("replacement {}: `old` and `new` are the same; leave it out", .index + 1)]
    Same {
        /// The number of the replacement.
        index: usize,
    },
    /// The old text does not occur.
    #[error("replacement {}: `old` is not in the file{}", .index + 1, nearest_text_hint(.nearest.as_deref()))]
    NotFound {
        /// The number of the replacement.
        index: usize,
        /// The most similar text; `None` if none is similar.
        nearest: Option<Box<NearestText>>,
    },
    /// The old text occurs several times, and only one is to be replaced.
    #[error(
        "replacement {}: `old` is in the file {count} times (lines {}); give more of the text around it, or set `all`",
        .index + 1, format_line_numbers(.lines, *.count)
    )]
    Several {
        /// The number of the replacement.
        index: usize,
        /// The number of occurrences; those that overlap count once.
        count: usize,
        /// The 1-based lines of the occurrences, at most twenty, in the text after the earlier
        /// replacements.
        lines: Vec<usize>,
    },
}

/// The text that is most similar to a missing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NearestText {
    /// The 1-based line of its start, in the text after the earlier replacements.
    pub(crate) line: usize,
    /// Its lines, at most twenty, shortened.
    pub(crate) text: Vec<String>,
    /// The 1-based line that is the first to differ.
    pub(crate) differs_at: usize,
    /// The line expected there, shortened.
    pub(crate) expected: String,
    /// The difference between the two lines.
    pub(crate) difference: Difference,
}

/// Makes all replacements, or none: each in the text that those before it have left.
///
/// Line ends: if `old` is not found byte by byte, its line ends may be the file's (an agent writes
/// LF for a CRLF file); `new` then gets the file's, too. A `new` with line breaks for an `old`
/// without any gets those around it. [`ReplacementEffect`] reports the adaptation.
///
/// # Errors
/// [`ReplaceError`] for the first replacement that cannot be made.
pub(crate) fn replace(text: &str, replacements: &[TextReplacement]) -> Result<ReplacedText, ReplaceError> {
    match replacements.len() {
        0 => return Err(ReplaceError::None),
        count if count > MAX_REPLACEMENTS => return Err(ReplaceError::TooMany { count }),
        _ => {}
    }
    let mut text = text.to_owned();
    let mut made = Vec::with_capacity(replacements.len());
    for (index, replacement) in replacements.iter().enumerate() {
        let (next, what) = apply_one(&text, index, replacement)?;
        text = next;
        made.push(what);
    }
    Ok(ReplacedText { text, made })
}

fn apply_one(
    text: &str,
    index: usize,
    replacement: &TextReplacement,
) -> Result<(String, ReplacementEffect), ReplaceError> {
    let TextReplacement { old, new, all } = replacement;
    if old.is_empty() {
        return Err(ReplaceError::Empty { index });
    }
    if old == new {
        return Err(ReplaceError::Same { index });
    }
    let Some((old, first, converted)) = find(text, old) else {
        return Err(ReplaceError::NotFound { index, nearest: find_nearest_text(text, old).map(Box::new) });
    };
    let again = first + text[first..].chars().next().map_or(1, char::len_utf8);
    if !all && text[again..].contains(&old) {
        let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
        // Overlapping occurrences are one in `places`, but count as two.
        let count = places.len().max(2);
        return Err(ReplaceError::Several { index, count, lines: line_numbers(text, &places) });
    }
    let (new, adapted) = with_line_ends(text, first, &old, new, converted);
    let count = if *all { text.matches(&old).count() } else { 1 };
    let line = line_numbers(text, &[first]).first().copied().unwrap_or(1);
    let next = text.replacen(&old, &new, count);
    Ok((next, ReplacementEffect { count, line, line_ends_adapted: converted.is_some() || adapted }))
}

/// Finds `old` in the text: its exact form there, its first place, and the line ends that it was
/// converted to.
fn find(text: &str, old: &str) -> Option<(String, usize, Option<LineEnd>)> {
    if let Some(at) = text.find(old) {
        return Some((old.to_owned(), at, None));
    }
    if !old.contains('\n') {
        return None;
    }
    [LineEnd::Lf, LineEnd::CrLf].into_iter().find_map(|end| {
        let converted = convert_line_ends(old, end);
        text.find(&converted).map(|at| (converted, at, Some(end)))
    })
}

fn convert_line_ends(text: &str, end: LineEnd) -> String {
    let lf = text.replace("\r\n", "\n");
    if end == LineEnd::Lf { lf } else { lf.replace('\n', "\r\n") }
}

/// Returns `new` with its final line ends, and whether that changed it.
fn with_line_ends(text: &str, at: usize, old: &str, new: &str, of_old: Option<LineEnd>) -> (String, bool) {
    let around = || {
        let line = text[at..].split_inclusive('\n').next().and_then(line_end);
        line.or_else(|| common_line_end(text))
    };
    let end = match of_old {
        Some(end) => Some(end),
        None if !old.contains('\n') && new.contains('\n') => around(),
        None => None,
    };
    let given = end.map_or_else(|| new.to_owned(), |end| convert_line_ends(new, end));
    let changed = given != new;
    (given, changed)
}

/// The 1-based lines of the first places, ascending; the places are ascending byte offsets.
fn line_numbers(text: &str, places: &[usize]) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let number = |at: &usize| {
        line += text.as_bytes()[from..*at].iter().filter(|byte| **byte == b'\n').count();
        from = *at;
        line
    };
    places.iter().take(MAX_REPORTED_MATCH_LINES).map(number).collect()
}

/// Returns the lines most similar to `old`: the place with most of its lines apart from white
/// space, else the line that has most in common with its longest one.
fn find_nearest_text(text: &str, old: &str) -> Option<NearestText> {
    if has_too_many_lines(text) {
        return None;
    }
    let wanted: Vec<&str> = old.lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    let start = best_shared_line(&lines, &wanted).or_else(|| best_trigram_line(&lines, &wanted))?;
    let here = &lines[start..(start + wanted.len()).min(lines.len())];
    let last = wanted.len() - 1;
    let differs = (0..wanted.len())
        .find(|at| !here.get(*at).is_some_and(|line| line_matches(line, wanted[*at], *at, last)));
    let differs = differs.unwrap_or(0);
    let (expected, found) = (wanted[differs], here.get(differs));
    Some(NearestText {
        line: start + 1,
        text: here.iter().take(MAX_NEAREST_TEXT_LINES).map(|line| shown_line(line)).collect(),
        differs_at: start + differs + 1,
        expected: shown_line(expected),
        difference: found.map_or(Difference::EndOfText, |found| Difference::between(expected, found)),
    })
}

/// Returns true if a line of the text contains line `at` of an old text, whose first and last line
/// may be partial.
fn line_matches(line: &str, wanted: &str, at: usize, last: usize) -> bool {
    match (at == 0, at == last) {
        (true, true) => line.contains(wanted),
        (true, false) => line.ends_with(wanted),
        (false, true) => line.starts_with(wanted),
        (false, false) => line == wanted,
    }
}

/// Returns the 0-based line at which most of the wanted lines are, apart from white space around
/// them; `None` if there is none.
fn best_shared_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut wanted_at: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in wanted.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let places = wanted_at.entry(line.trim()).or_default();
        // A line that `old` repeats says little about its start.
        if places.len() < MAX_REPORTED_MATCH_LINES {
            places.push(at);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let places = wanted_at.get(line.trim()).map_or(&[][..], Vec::as_slice);
        for start in places.iter().filter_map(|place| at.checked_sub(*place)) {
            *votes.entry(start).or_default() += line.trim().len();
        }
    }
    votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// Returns the 0-based line at which `wanted` would begin if its longest line were at the line with
/// most of its letter triples; `None` if that has less than half of them.
fn best_trigram_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (number, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let looked_for: HashSet<[char; 3]> = trigrams(longest.trim()).collect();
    let shared = |line: &str| trigrams(line).collect::<HashSet<_>>().intersection(&looked_for).count();
    let best = lines.iter().enumerate().map(|(at, line)| (shared(line), std::cmp::Reverse(at))).max()?;
    let (count, std::cmp::Reverse(at)) = best;
    (count > 0 && 2 * count >= looked_for.len()).then(|| at.saturating_sub(number))
}

/// All runs of three characters.
fn trigrams(line: &str) -> impl Iterator<Item = [char; 3]> {
    let next = line.chars().skip(1).zip(line.chars().skip(2));
    line.chars().zip(next).map(|(first, (second, third))| [first, second, third])
}

fn nearest_text_hint(nearest: Option<&NearestText>) -> String {
    let Some(near) = nearest else { return "; read the file and copy its exact text".to_owned() };
    let found = near.text.get(near.differs_at - near.line);
    let found = found.map_or_else(String::new, |found| format!(" but is `{found}`"));
    format!(
        "; nearest is line {}: line {} should be `{}`{found} ({})",
        near.line, near.differs_at, near.expected, near.difference
    )
}

fn format_line_numbers(lines: &[usize], count: usize) -> String {
    let mut listed = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if count > lines.len() && lines.len() == MAX_REPORTED_MATCH_LINES {
        listed.push_str(", …");
    }
    listed
}

#[cfg(test)]
mod tests;
