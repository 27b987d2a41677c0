//! Files with line ranges, as typed: `FILE`, `FILE:LINE`, `FILE:FIRST-LAST`, `FILE:FIRST-`.

use crate::platform::{OsStrExt, OsStringExt};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reasons why a span is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SpanError {
    /// Line 0.
    #[error("{given}: lines start at 1")]
    BelowOne {
        /// The argument.
        given: String,
    },
    /// The first line is after the last.
    #[error("{given}: the first line is after the last")]
    Backwards {
        /// The argument.
        given: String,
    },
    /// A number too large for a line.
    #[error("{given}: {number} is too large for a line")]
    TooLarge {
        /// The argument.
        given: String,
        /// The number.
        number: String,
    },
}

/// A file with an optional line range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// The file as spelled in the argument.
    pub(crate) path: PathBuf,
    /// The lines; `None` for the whole file.
    pub(crate) lines: Option<SpanLines>,
}

/// A 1-based line range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanLines {
    /// The first line.
    pub(crate) first: u32,
    /// The last line; `None` for the end of the file.
    pub(crate) last: Option<u32>,
}

/// Parses `given`. If a file with the whole name `exists`, it is that file. A text without line
/// numbers at its end is a file too, so that the lookup reports a missing one.
pub(crate) fn parse(given: &OsStr, exists: impl Fn(&Path) -> bool) -> Result<Span, SpanError> {
    let whole = || Span { path: PathBuf::from(given), lines: None };
    if exists(Path::new(given)) {
        return Ok(whole());
    }
    let bytes = given.as_bytes();
    let Some(colon) = bytes.iter().rposition(|byte| *byte == b':').filter(|at| *at > 0) else {
        return Ok(whole());
    };
    let Some((first, last)) = std::str::from_utf8(&bytes[colon + 1..]).ok().and_then(parse_numbers) else {
        return Ok(whole());
    };
    let shown = || given.to_string_lossy().into_owned();
    let number = |digits: &str| match digits.parse::<u32>() {
        Ok(0) => Err(SpanError::BelowOne { given: shown() }),
        Ok(line) => Ok(line),
        Err(_) => Err(SpanError::TooLarge { given: shown(), number: digits.to_owned() }),
    };
    let first = number(first)?;
    let last = match last {
        None => Some(first),
        Some("") => None,
        Some(last) => Some(number(last)?),
    };
    if last.is_some_and(|last| last < first) {
        return Err(SpanError::Backwards { given: shown() });
    }
    let path = PathBuf::from(OsString::from_vec(bytes[..colon].to_vec()));
    Ok(Span { path, lines: Some(SpanLines { first, last }) })
}

/// Splits `12`, `12-20` or `12-` into its numbers.
fn parse_numbers(tail: &str) -> Option<(&str, Option<&str>)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (first, last) = match tail.split_once('-') {
        Some((first, last)) => (first, Some(last)),
        None => (tail, None),
    };
    (!first.is_empty() && digits(first) && last.is_none_or(digits)).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &str) -> Result<Span, SpanError> {
        parse(OsStr::new(given), |path| ["a.py", "odd:3"].iter().any(|file| Path::new(file) == path))
    }

    fn span(path: &str, lines: Option<(u32, Option<u32>)>) -> Span {
        Span { path: path.into(), lines: lines.map(|(first, last)| SpanLines { first, last }) }
    }

    #[test]
    fn line_span_of_every_form_is_parsed() {
        for (given, expected) in [
            ("a.py", span("a.py", None)),
            ("a.py:3", span("a.py", Some((3, Some(3))))),
            ("a.py:3-9", span("a.py", Some((3, Some(9))))),
            ("a.py:3-", span("a.py", Some((3, None)))),
            ("odd:3", span("odd:3", None)),
            ("odd:3:4", span("odd:3", Some((4, Some(4))))),
            ("a.py:greet", span("a.py:greet", None)),
            ("a.py:", span("a.py:", None)),
            ("a.py:-3", span("a.py:-3", None)),
            (":3", span(":3", None)),
        ] {
            assert_eq!(read(given), Ok(expected), "{given}");
        }
    }

    #[test]
    fn malformed_line_span_is_refused_with_reason() {
        for (given, expected) in [
            ("a.py:0", "a.py:0: lines start at 1"),
            ("a.py:9-3", "a.py:9-3: the first line is after the last"),
            ("a.py:99999999999", "a.py:99999999999: 99999999999 is too large for a line"),
        ] {
            assert_eq!(read(given).unwrap_err().to_string(), expected);
        }
    }
}
