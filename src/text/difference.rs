//! The difference between an expected line and the actual one, in words that name white space.

use super::truncate_chars;

/// The difference between two lines. Columns are 1-based and count Unicode scalar values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Only in the line ends.
    LineEnd,
    /// Only in the white space at the end.
    TrailingSpace {
        /// The end of the expected line, as `2 spaces`.
        expected: String,
        /// The end of the line found.
        found: String,
    },
    /// Only in the white space at the beginning.
    Indentation {
        /// The indentation of the expected line, as `4 spaces`.
        expected: String,
        /// The indentation of the line found.
        found: String,
    },
    /// Only in white space inside.
    InnerSpace {
        /// The column of the difference in the expected line.
        column: usize,
        /// The expected text there.
        expected: String,
        /// The text found there.
        found: String,
    },
    /// First in a character that resembles the expected one (quotes, dashes, spaces).
    Lookalike {
        /// The column of the difference.
        column: usize,
        /// The expected character.
        expected: char,
        /// The character found.
        found: char,
    },
    /// In the text, first at this column.
    Text {
        /// The column of the difference.
        column: usize,
    },
    /// There is no such line: the text ends before it.
    EndOfText,
}

impl Difference {
    /// Compares `found` with `expected`; both without their line ends.
    pub(crate) fn between(expected: &str, found: &str) -> Self {
        if expected == found {
            return Self::LineEnd;
        }
        let (left, right) = (expected.trim_end(), found.trim_end());
        if left == right {
            let (expected, found) = (&expected[left.len()..], &found[right.len()..]);
            return Self::TrailingSpace {
                expected: describe_whitespace(expected),
                found: describe_whitespace(found),
            };
        }
        if left.trim_start() == right.trim_start() {
            return Self::Indentation {
                expected: describe_whitespace(indentation(left)),
                found: describe_whitespace(indentation(right)),
            };
        }
        Self::compare_content(left, right)
    }

    fn compare_content(expected: &str, found: &str) -> Self {
        let same: usize =
            expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let column = expected[..same].chars().count() + 1;
        let words = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        if words(expected) == words(found) {
            // The column where the white space begins, so that all of it is named.
            let from = expected[..same].trim_end().len();
            let run = |line: &str| describe_whitespace(indentation(&line[from..]));
            let column = expected[..from].chars().count() + 1;
            return Self::InnerSpace { column, expected: run(expected), found: run(found) };
        }
        match (expected[same..].chars().next(), found[same..].chars().next()) {
            (Some(a), Some(b)) if ascii_equivalent(a) == ascii_equivalent(b) => {
                Self::Lookalike { column, expected: a, found: b }
            }
            _ => Self::Text { column },
        }
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// `2 tabs, 4 spaces`.
fn describe_whitespace(text: &str) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for c in text.chars() {
        match runs.last_mut() {
            Some((last, count)) if *last == c => *count += 1,
            _ => runs.push((c, 1)),
        }
    }
    let named = |(c, count): &(char, usize)| {
        let name = match c {
            ' ' => "space".to_owned(),
            '\t' => "tab".to_owned(),
            '\r' => "carriage return".to_owned(),
            c => format!("U+{:04X}", u32::from(*c)),
        };
        format!("{count} {name}{}", if *count == 1 { "" } else { "s" })
    };
    if runs.is_empty() {
        "no space".to_owned()
    } else {
        runs.iter().map(named).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the plain character that a typographic one resembles.
fn ascii_equivalent(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{2032}' | '`' | '\u{b4}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}' | '\t' => ' ',
        other => other,
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LineEnd => f.write_str("only the line end differs"),
            Self::TrailingSpace { expected, found } => {
                write!(f, "the line ends in {found}, expected was {expected}")
            }
            Self::Indentation { expected, found } => {
                write!(f, "the line is indented by {found}, expected was {expected}")
            }
            Self::InnerSpace { column, expected, found } => {
                write!(f, "column {column} has {found}, expected was {expected}")
            }
            Self::Lookalike { column, expected, found } => write!(
                f,
                "column {column} has U+{:04X}, expected was U+{:04X}",
                u32::from(*found),
                u32::from(*expected)
            ),
            Self::Text { column } => write!(f, "the text differs from column {column} on"),
            Self::EndOfText => f.write_str("the text ends before it"),
        }
    }
}

/// Shortens a line for an answer.
pub(crate) fn shown_line(line: &str) -> String {
    const MAX_SHOWN_LINE_CHARS: usize = 200;
    truncate_chars(line, MAX_SHOWN_LINE_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_of_two_lines_names_whitespace_and_column() {
        for (expected, found, told) in [
            ("a", "a", "only the line end differs"),
            ("a", "a  ", "the line ends in 2 spaces, expected was no space"),
            ("    a", "\ta", "the line is indented by 1 tab, expected was 4 spaces"),
            ("\t a b", "  a b", "the line is indented by 2 spaces, expected was 1 tab, 1 space"),
            ("x = a  b", "x = a b", "column 6 has 1 space, expected was 2 spaces"),
            ("x = 1", "x=1", "column 2 has no space, expected was 1 space"),
            ("say \"é\" x", "say \"é\u{201d} x", "column 7 has U+201D, expected was U+0022"),
            ("a b", "a\u{a0}b", "column 2 has 1 U+00A0, expected was 1 space"),
            ("let x = 1;", "let y = 1;", "the text differs from column 5 on"),
            ("let", "let x", "the text differs from column 4 on"),
            ("", "x", "the text differs from column 1 on"),
            ("", " ", "the line ends in 1 space, expected was no space"),
        ] {
            assert_eq!(Difference::between(expected, found).to_string(), told, "{expected:?} {found:?}");
        }
    }
}
