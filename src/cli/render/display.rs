//! The capabilities of the output: terminal, colours, width, links.

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

/// What the output's reader can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DisplayCapabilities {
    /// It is a terminal, made for eyes; otherwise plain lines, made for other programs and agents.
    pub terminal: bool,
    /// Colours and weights are wanted.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

/// Headings, names.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Paths and places.
pub(crate) const PLACE: Style = AnsiColor::Magenta.on_default();
/// The name that was asked about, in its line.
pub(crate) const MATCH: Style = AnsiColor::Green.on_default().bold().underline();
/// Code.
pub(crate) const CODE: Style = AnsiColor::Cyan.on_default();
/// Kinds of symbols.
pub(crate) const KIND: Style = AnsiColor::Blue.on_default();
/// All is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Suspicious.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// Wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Good to know.
pub(crate) const INFO: Style = AnsiColor::Cyan.on_default().bold();

impl DisplayCapabilities {
    /// Plain lines for a pipe.
    pub(crate) const PLAIN: Self = Self { terminal: false, color: false, width: 80 };

    /// `text` in `style`, where colour is wanted.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// `text`, which leads to `url` where terminals know links (OSC 8). `url` must be free of control characters.
    pub(crate) fn link(&self, text: &str, url: &str) -> String {
        if self.terminal && self.color && !url.chars().any(char::is_control) {
            format!("\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\")
        } else {
            text.to_owned()
        }
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, singular: &str) -> String {
    match number {
        1 => format!("1 {singular}"),
        _ => format!("{number} {singular}s"),
    }
}
