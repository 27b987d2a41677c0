//! The console: stdout and stderr of the process, and the lines printed there.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use serde::{Deserialize, Serialize};

use super::args::Color;
use super::render::DisplayCapabilities;
use super::render::terminal::escape;
use crate::platform::files::AsFd;
use crate::platform::stdio;

/// The default width if the terminal does not report one.
const DEFAULT_TERMINAL_COLUMNS: usize = 80;

/// The display capabilities of stdout and stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Console {
    /// The capabilities of stdout, which has only answers.
    pub(crate) out: DisplayCapabilities,
    /// The capabilities of stderr, which has everything else.
    pub(crate) err: DisplayCapabilities,
}

impl Console {
    /// Detects the capabilities of the process's own streams, with colours as requested.
    pub(super) fn open(color: Color) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            out: detect_capabilities(&out, color, AutoStream::choice(&out)),
            err: detect_capabilities(&err, color, AutoStream::choice(&err)),
        }
    }

    /// Writes `text` to stdout. A closed pipe is not an error; the exit status is unaffected.
    pub(super) fn print(&self, text: &str) -> io::Result<()> {
        ignore_broken_pipe(write_all(&mut io::stdout().lock(), text))
    }

    /// Writes startup hints, which may name files of the workspace, to stderr.
    pub(super) fn print_startup_hints(&self, hints: &[String]) {
        let lines: Vec<String> = hints.iter().map(|hint| escape::line(hint).into_owned()).collect();
        self.print_error_lines(&lines);
    }

    /// Writes lines to stderr. Failures are ignored.
    pub(super) fn print_error_lines(&self, lines: &[String]) {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let _ = write_all(&mut io::stderr().lock(), &text);
    }
}

fn detect_capabilities(
    stream: &(impl IsTerminal + AsFd),
    color: Color,
    automatic: ColorChoice,
) -> DisplayCapabilities {
    let color = match color {
        Color::Auto => automatic != ColorChoice::Never,
        Color::Always => true,
        Color::Never => false,
    };
    DisplayCapabilities { terminal: stream.is_terminal(), color, width: width(stream) }
}

/// Returns the width of the terminal at `stream`, in columns.
pub(super) fn width(stream: &impl AsFd) -> usize {
    stdio::terminal_width(stream).unwrap_or(DEFAULT_TERMINAL_COLUMNS)
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Ignores a closed pipe, so that it ends only the writing.
fn ignore_broken_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
