//! The console: stdout and stderr of the process, and the lines printed there.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use anstream::{AutoStream, ColorChoice};
use serde::{Deserialize, Serialize};

use super::args::Color;
use super::render::{DisplayCapabilities, escape};

/// Columns where the terminal does not tell.
const DEFAULT_TERMINAL_COLUMNS: usize = 80;

/// How stdout and stderr look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Console {
    /// stdout: answers, and nothing else.
    pub(crate) out: DisplayCapabilities,
    /// stderr: everything about answers.
    pub(crate) err: DisplayCapabilities,
}

impl Console {
    /// The process's own streams, coloured as asked for.
    pub(super) fn open(color: Color) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            out: detect_capabilities(&out, color, AutoStream::choice(&out)),
            err: detect_capabilities(&err, color, AutoStream::choice(&err)),
        }
    }

    /// Writes `text` to stdout. That nobody reads any more is no error: the status tells what the answer was.
    pub(super) fn print(&self, text: &str) -> io::Result<()> {
        ignore_broken_pipe(write_all(&mut io::stdout().lock(), text))
    }

    /// Writes the hints of a start, which may name files of the workspace, to stderr.
    pub(super) fn print_startup_hints(&self, hints: &[String]) {
        let lines: Vec<String> = hints.iter().map(|hint| escape::line(hint).into_owned()).collect();
        self.print_error_lines(&lines);
    }

    /// Writes lines to stderr; where that fails there is nobody left to tell.
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

/// The columns of the terminal at `stream`.
pub(super) fn width(stream: &impl AsFd) -> usize {
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_TERMINAL_COLUMNS,
    }
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A closed pipe ends the writing, not the program.
fn ignore_broken_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
