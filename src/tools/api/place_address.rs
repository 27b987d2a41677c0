//! Addresses: a place or a name as one string, in the form of answers, accepted by the shell and
//! the argument `at`.

use crate::platform::{OsStrExt, OsStringExt};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::Target;
use crate::text::LineColumn;

/// The problem of an invalid address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum AddressError {
    /// The address is empty.
    #[error("the address is empty; give FILE:LINE:COL, FILE:LINE:NAME, FILE:NAME or NAME")]
    Empty,
    /// A line or a column is 0 or negative.
    #[error("{address}: lines and columns start at 1")]
    BelowOne {
        /// The given address.
        address: String,
    },
    /// A number is too large.
    #[error("{address}: {number} is too large for a line or column")]
    TooLarge {
        /// The given address.
        address: String,
        /// The number in the address.
        number: String,
    },
    /// The address has a line but no column or name.
    #[error("{address}: give a column or a name on that line: {address}:COL or {address}:NAME")]
    LineOnly {
        /// The given address.
        address: String,
    },
    /// The address ends with a colon.
    #[error("{address}: nothing follows the last colon; give a column or a name, or omit the colon")]
    NoName {
        /// The given address.
        address: String,
    },
    /// The name is not UTF-8.
    #[error("{address}: the name after the file is not valid UTF-8")]
    NotUtf8 {
        /// The given address, with invalid bytes replaced.
        address: String,
    },
}

impl From<AddressError> for ToolError {
    fn from(error: AddressError) -> Self {
        Self::new(ErrorCode::InvalidArgs, error.to_string())
    }
}

/// The place or name that `address` means. An address of a whole file is an error.
pub(crate) fn parse_place(address: &OsStr, exists: impl Fn(&Path) -> bool) -> Result<Target, ToolError> {
    match parse(address, exists)? {
        Target::File(path) => {
            let path = path.display();
            let error = format!("{path} is a whole file; give a position or name in it");
            let hint = format!("{path}:LINE:COL, {path}:LINE:NAME or {path}:NAME, counted from 1");
            Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint))
        }
        target => Ok(target),
    }
}

/// The part after the file in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AddressTail {
    LineColumn(u32, u32),
    LineName(u32, String),
    Line,
    Name(String),
}

/// The target that `address` means: `FILE:LINE:COL`, `FILE:LINE:NAME` (1-based), `FILE:NAME`,
/// `FILE` or `NAME`. The end that answers print after a column (`FILE:LINE:COL-END`) is accepted
/// and ignored.
///
/// File names may contain colons. If several readings are possible, the one whose file exists wins,
/// the longest file name first; `exists` returns true for an existing path. A word that is no
/// existing file and has no `/` is a name.
pub(crate) fn parse(address: &OsStr, exists: impl Fn(&Path) -> bool) -> Result<Target, AddressError> {
    let bytes = address.as_bytes();
    if bytes.is_empty() {
        return Err(AddressError::Empty);
    }
    if exists(Path::new(address)) {
        return Ok(Target::File(PathBuf::from(address)));
    }
    let colons: Vec<usize> = (1..bytes.len()).filter(|&at| bytes[at] == b':').rev().collect();
    if let Some(target) = existing_file(address, &colons, &exists)? {
        return Ok(target);
    }
    no_such_file(address, &colons)
}

/// The reading whose file exists. A bare line is accepted only if no shorter file name gives a
/// better reading.
fn existing_file(
    address: &OsStr,
    colons: &[usize],
    exists: &impl Fn(&Path) -> bool,
) -> Result<Option<Target>, AddressError> {
    let mut refused = None;
    for &at in colons {
        let (file, rest) = split(address, at);
        if !exists(&file) {
            continue;
        }
        match parse_tail(address, rest).and_then(|tail| target(address, file, tail)) {
            Ok(target) => return Ok(Some(target)),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    refused.map_or(Ok(None), Err)
}

/// The reading of an address if no file of any reading exists: the lookup then reports the missing
/// file.
fn no_such_file(address: &OsStr, colons: &[usize]) -> Result<Target, AddressError> {
    let bytes = address.as_bytes();
    let readings: Vec<_> = colons.iter().map(|&at| (at, parse_tail(address, &bytes[at + 1..]))).collect();
    // `a:3:4` splits at `:4` and at `:3`: the split whose rest starts with a line and continues is
    // meant.
    let bare_line = |tail: &Result<AddressTail, AddressError>| {
        matches!(tail, Ok(AddressTail::Line) | Err(AddressError::NoName { .. }))
    };
    let with_line = |tail: &Result<AddressTail, AddressError>| {
        !bare_line(tail) && !matches!(tail, Ok(AddressTail::Name(_)))
    };
    let meant = readings.iter().rfind(|(_, tail)| with_line(tail));
    if let Some((at, tail)) = meant.or_else(|| readings.iter().find(|(_, tail)| bare_line(tail))) {
        return target(address, split(address, *at).0, tail.clone()?);
    }
    let Some((at, name)) = readings.into_iter().next_back() else { return parse_bare(address) };
    let (file, rest) = split(address, at);
    // `module::name` and `Type::method` are names; `dir/file:name` and `file.py:name` are not.
    let qualified =
        rest.starts_with(b":") && !file.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b'/' | b'.'));
    if qualified { parse_bare(address) } else { target(address, file, name?) }
}

fn parse_bare(address: &OsStr) -> Result<Target, AddressError> {
    match address.to_str() {
        Some(name) if !name.contains('/') => Ok(Target::Name(name.to_owned())),
        _ => Ok(Target::File(PathBuf::from(address))),
    }
}

fn split(address: &OsStr, at: usize) -> (PathBuf, &[u8]) {
    let bytes = address.as_bytes();
    (PathBuf::from(OsString::from_vec(bytes[..at].to_vec())), &bytes[at + 1..])
}

fn target(address: &OsStr, path: PathBuf, tail: AddressTail) -> Result<Target, AddressError> {
    let shown = || address.to_string_lossy().into_owned();
    let zero = || AddressError::BelowOne { address: shown() };
    match tail {
        AddressTail::LineColumn(line, column) => {
            let position = LineColumn { line, column }.position().ok_or_else(zero)?;
            Ok(Target::Position { path, position })
        }
        AddressTail::LineName(line, name) => {
            Ok(Target::NameOnLine { path, line0: line.checked_sub(1).ok_or_else(zero)?, name })
        }
        AddressTail::Line => Err(AddressError::LineOnly { address: shown() }),
        AddressTail::Name(name) => Ok(Target::NameInFile { path, name }),
    }
}

fn parse_tail(address: &OsStr, rest: &[u8]) -> Result<AddressTail, AddressError> {
    let shown = || address.to_string_lossy().into_owned();
    let rest = std::str::from_utf8(rest).map_err(|_| AddressError::NotUtf8 { address: shown() })?;
    let number = |digits: &str| {
        digits.parse().map_err(|_| AddressError::TooLarge { address: shown(), number: digits.to_owned() })
    };
    let (first, second) = match rest.split_once(':') {
        Some((first, second)) => (first, Some(second)),
        None => (rest, None),
    };
    if first.is_empty() && second.is_none() {
        return Err(AddressError::NoName { address: shown() });
    }
    // No name in any language begins with a minus sign and a digit.
    if [Some(first), second].into_iter().flatten().any(is_negative) {
        return Err(AddressError::BelowOne { address: shown() });
    }
    if !is_number(first) {
        return Ok(AddressTail::Name(rest.to_owned()));
    }
    match second {
        None => number(first).map(|_: u32| AddressTail::Line),
        Some("") => Err(AddressError::NoName { address: shown() }),
        Some(second) => match second.split_once('-').filter(|(_, end)| is_range_end(end)) {
            Some((column, _)) if is_number(column) => {
                Ok(AddressTail::LineColumn(number(first)?, number(column)?))
            }
            _ if is_number(second) => Ok(AddressTail::LineColumn(number(first)?, number(second)?)),
            _ => Ok(AddressTail::LineName(number(first)?, second.to_owned())),
        },
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for `9` or `8:1`, the forms of a range's end in answers.
fn is_range_end(text: &str) -> bool {
    text.split(':').count() <= 2 && text.split(':').all(is_number)
}

fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Position;

    const FILES: [&str; 9] =
        ["app.py", "src/a b.py", "a:b.py", "[id].ts", "名.py", "odd:3", "odd", "Makefile", "x:1:2"];

    fn read(address: &str) -> Result<Target, AddressError> {
        parse(OsStr::new(address), |path| FILES.iter().any(|file| Path::new(file) == path))
    }

    fn at(path: &str, line: u32, character: u32) -> Target {
        Target::Position { path: path.into(), position: Position { line, character } }
    }

    fn on(path: &str, line0: u32, name: &str) -> Target {
        Target::NameOnLine { path: path.into(), line0, name: name.into() }
    }

    fn named(path: &str, name: &str) -> Target {
        Target::NameInFile { path: path.into(), name: name.into() }
    }

    #[test]
    fn address_of_every_form_is_parsed() {
        let cases = [
            ("app.py:3:5", at("app.py", 2, 4)),
            ("app.py:3:5-9", at("app.py", 2, 4)),
            ("app.py:3:5-8:1", at("app.py", 2, 4)),
            ("app.py:3:greet", on("app.py", 2, "greet")),
            ("app.py:3:Foo::bar", on("app.py", 2, "Foo::bar")),
            ("app.py:greet", named("app.py", "greet")),
            ("app.py:Greeter.greet", named("app.py", "Greeter.greet")),
            ("app.py:Foo::bar", named("app.py", "Foo::bar")),
            ("app.py:operator-", named("app.py", "operator-")),
            ("app.py:2:-", on("app.py", 1, "-")),
            ("app.py", Target::File("app.py".into())),
            ("Makefile", Target::File("Makefile".into())),
            ("greet", Target::Name("greet".into())),
            ("Greeter.greet", Target::Name("Greeter.greet".into())),
            ("std::vector", Target::Name("std::vector".into())),
            ("src/a b.py:1:1", at("src/a b.py", 0, 0)),
            ("a:b.py:1:1", at("a:b.py", 0, 0)),
            ("a:b.py:greet", named("a:b.py", "greet")),
            ("[id].ts:10:2", at("[id].ts", 9, 1)),
            ("名.py:2:名", on("名.py", 1, "名")),
            ("x:1:2", Target::File("x:1:2".into())),
            ("x:1:2:3:4", at("x:1:2", 2, 3)),
        ];
        for (address, expected) in cases {
            assert_eq!(read(address), Ok(expected), "{address}");
        }
    }

    #[test]
    fn address_prefers_longer_file_name_only_with_valid_rest() {
        assert_eq!(read("odd:3:4:5"), Ok(at("odd:3", 3, 4)));
        assert_eq!(read("odd:3:4"), Ok(at("odd", 2, 3)));
    }

    #[test]
    fn address_of_missing_file_is_parsed_by_its_form() {
        let cases = [
            ("no.py:3:5", at("no.py", 2, 4)),
            ("no.py:3:5-8:1", at("no.py", 2, 4)),
            ("no.py:3:greet", on("no.py", 2, "greet")),
            ("no.py:greet", named("no.py", "greet")),
            ("dir/no:greet", named("dir/no", "greet")),
            ("dir/no.py", Target::File("dir/no.py".into())),
        ];
        for (address, expected) in cases {
            assert_eq!(read(address), Ok(expected), "{address}");
        }
    }

    #[test]
    fn malformed_address_is_refused_with_reason() {
        let cases = [
            ("", "the address is empty; give FILE:LINE:COL, FILE:LINE:NAME, FILE:NAME or NAME"),
            ("app.py:0:5", "app.py:0:5: lines and columns start at 1"),
            ("app.py:3:0", "app.py:3:0: lines and columns start at 1"),
            ("app.py:0:greet", "app.py:0:greet: lines and columns start at 1"),
            ("no.py:0:1", "no.py:0:1: lines and columns start at 1"),
            ("app.py:-1:1", "app.py:-1:1: lines and columns start at 1"),
            ("app.py:1:-1", "app.py:1:-1: lines and columns start at 1"),
            ("app.py:-3:greet", "app.py:-3:greet: lines and columns start at 1"),
            ("app.py:-1", "app.py:-1: lines and columns start at 1"),
            ("no.py:-1:1", "no.py:-1:1: lines and columns start at 1"),
            ("app.py:99999999999:1", "app.py:99999999999:1: 99999999999 is too large for a line or column"),
            ("no.py:1:99999999999", "no.py:1:99999999999: 99999999999 is too large for a line or column"),
            ("app.py:3", "app.py:3: give a column or a name on that line: app.py:3:COL or app.py:3:NAME"),
            ("no.py:3", "no.py:3: give a column or a name on that line: no.py:3:COL or no.py:3:NAME"),
            (
                "app.py:",
                "app.py:: nothing follows the last colon; give a column or a name, or omit the colon",
            ),
            (
                "app.py:3:",
                "app.py:3:: nothing follows the last colon; give a column or a name, or omit the colon",
            ),
        ];
        for (address, expected) in cases {
            assert_eq!(read(address).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "names are no bytes on Windows")]
    fn address_accepts_non_utf8_file_name_but_not_symbol_name() {
        let there = |path: &Path| path.as_os_str().as_bytes() == b"a\xff.py";
        let parsed = parse(OsStr::from_bytes(b"a\xff.py:2:3"), there);
        let path = PathBuf::from(OsStr::from_bytes(b"a\xff.py"));
        assert_eq!(parsed, Ok(Target::Position { path, position: Position { line: 1, character: 2 } }));
        let refused = parse(OsStr::from_bytes(b"a\xff.py:na\xffme"), there);
        assert!(matches!(refused, Err(AddressError::NotUtf8 { .. })), "{refused:?}");
    }
}
