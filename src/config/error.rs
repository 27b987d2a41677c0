//! Errors in configuration files, with their file and line.

use std::fmt;

use super::trust::error::TrustError;

/// One fault of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigProblem {
    /// The file as people know it (`.lsp-tools/servers.toml`).
    pub(crate) file: String,
    /// The line, 1-based.
    pub(crate) line: usize,
    /// The fault and its correction.
    pub(crate) message: String,
}

impl ConfigProblem {
    /// Creates a problem that is safe to display: the message contains keys and values of the file.
    pub(super) fn new(file: &str, line: usize, message: &str) -> Self {
        Self { file: file.to_owned(), line, message: escape_unprintable(message) }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` line {}: {}", self.file, self.line, self.message)
    }
}

/// The configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The files contain invalid settings; every such place, in the order of the layers and lines.
    #[error("{}", joined(.0))]
    Invalid(Vec<ConfigProblem>),
    /// A file exists and cannot be read.
    #[error("`{file}` cannot be read: {reason}")]
    Unreadable {
        /// The file as people know it.
        file: String,
        /// The reason, and the remedy.
        reason: String,
    },
    /// The trust in the project cannot be determined.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// Escapes every character that a terminal would obey or that would hide others, because settings
/// of a project's file are shown to people who decide on them.
pub(super) fn escape_unprintable(text: &str) -> String {
    let hides = |character| matches!(character, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || hides(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The problems on a line each, numbered if there are several: a terminal shows them as one line.
fn joined(problems: &[ConfigProblem]) -> String {
    if let [problem] = problems {
        return problem.to_string();
    }
    let numbered = |(at, problem): (usize, &ConfigProblem)| format!("{}. {problem}", at + 1);
    problems.iter().enumerate().map(numbered).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_escapes_terminal_control_characters() {
        assert_eq!(escape_unprintable("a\u{1b}[2Kb\u{202e}c\nü"), "a\\u{1b}[2Kb\\u{202e}c\\u{a}ü");
    }
}
