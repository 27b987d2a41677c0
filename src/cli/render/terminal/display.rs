//! The capabilities of the output: terminal, colours, width, links.

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

/// The capabilities of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DisplayCapabilities {
    /// True for a terminal, which a user reads; false for plain lines, which programs and agents
    /// read.
    pub terminal: bool,
    /// True if colours and bold text are wanted.
    pub color: bool,
    /// The width of the terminal in columns.
    pub width: usize,
}

/// Style of headings and names.
pub(crate) const BOLD: Style = Style::new().bold();
/// Style of less important text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Style of paths and positions.
pub(crate) const PLACE: Style = AnsiColor::Magenta.on_default();
/// Style of the queried name in its line.
pub(crate) const MATCH: Style = AnsiColor::Green.on_default().bold().underline();
/// Style of code.
pub(crate) const CODE: Style = AnsiColor::Cyan.on_default();
/// Style of symbol kinds.
pub(crate) const KIND: Style = AnsiColor::Blue.on_default();
/// Style of success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Style of warnings.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// Style of errors.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of information.
pub(crate) const INFO: Style = AnsiColor::Cyan.on_default().bold();

impl DisplayCapabilities {
    /// Plain lines for a pipe.
    pub(crate) const PLAIN: Self = Self { terminal: false, color: false, width: 80 };

    /// Renders `text` in `style` if colours are wanted.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Renders `text` as a link to `url` on terminals that support links (OSC 8). `url` must be
    /// free of control characters.
    pub(crate) fn link(&self, text: &str, url: &str) -> String {
        if self.terminal && self.color && !url.chars().any(char::is_control) {
            format!("\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\")
        } else {
            text.to_owned()
        }
    }
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub(crate) fn count(number: usize, singular: &str) -> String {
    match number {
        1 => format!("1 {singular}"),
        _ => format!("{number} {singular}s"),
    }
}
