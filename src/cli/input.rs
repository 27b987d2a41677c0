//! The input of a command: piped text, and files named as arguments.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::args::CliCommand;
use super::args::doors::{McpCommandArgs, MountedCall, MountedServersCommand};
use super::args::edits::{EditingCommand, PatchCommandArgs, SymbolEditArgs, WriteCommandArgs};
use super::args::tools::{ToolsCallArgs, ToolsCommand};
use crate::analysis::error::{ErrorCode, ToolError};

/// The size limit of stdin, in bytes.
const MAX_CLI_INPUT_BYTES: u64 = 64 << 20;

/// The piped input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PipedInput {
    /// The process's own stdin, not read yet.
    Stdin,
    /// The whole input, up to a little more than the limit.
    Read(Vec<u8>),
    /// Reading failed with this message.
    Failed(String),
}

impl PipedInput {
    /// Reads the process's stdin up to the limit.
    pub(super) fn read() -> Self {
        let mut bytes = Vec::new();
        match std::io::stdin().lock().take(MAX_CLI_INPUT_BYTES + 1).read_to_end(&mut bytes) {
            Ok(_) => Self::Read(bytes),
            Err(error) => Self::Failed(error.to_string()),
        }
    }

    /// Returns the input as text. `what` names it in errors.
    ///
    /// # Errors
    /// `invalid_args` if it exceeds the limit, is not text, or cannot be read.
    pub(super) async fn text(&self, what: &'static str) -> Result<String, ToolError> {
        let failed = |error: &dyn std::fmt::Display| {
            ToolError::new(ErrorCode::InvalidArgs, format!("{what} cannot be read from stdin: {error}"))
        };
        let bytes = match self {
            Self::Stdin => {
                match tokio::task::spawn_blocking(Self::read).await.map_err(|error| failed(&error))? {
                    Self::Read(bytes) => bytes,
                    Self::Failed(error) => return Err(failed(&error)),
                    Self::Stdin => return Err(failed(&"nothing was read")),
                }
            }
            Self::Read(bytes) => bytes.clone(),
            Self::Failed(error) => return Err(failed(error)),
        };
        if bytes.len() as u64 > MAX_CLI_INPUT_BYTES {
            return Err(failed(&format!("it is more than {} MiB", MAX_CLI_INPUT_BYTES >> 20)));
        }
        String::from_utf8(bytes).map_err(|error| failed(&error.utf8_error()))
    }
}

/// Reads a file named on the command line. The file may be a pipe that another program writes to,
/// but must end.
///
/// # Errors
/// The file cannot be read, is not text, or exceeds the limit of stdin.
pub(super) fn named_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_CLI_INPUT_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_CLI_INPUT_BYTES {
        return Err(io::Error::other(format!("it is more than {} MiB", MAX_CLI_INPUT_BYTES >> 20)));
    }
    Ok(text)
}

/// Returns true if `command` reads stdin.
pub(super) fn is_read_by(command: &CliCommand) -> bool {
    match command {
        CliCommand::Edits(EditingCommand::Write(WriteCommandArgs { content, .. })) => content.is_none(),
        CliCommand::Edits(EditingCommand::Edit(edit)) => {
            edit.of_symbol.as_ref().is_some_and(SymbolEditArgs::takes_input)
        }
        CliCommand::Edits(EditingCommand::Patch(PatchCommandArgs { file, .. })) => {
            file.as_deref().is_none_or(|file| file == std::path::Path::new("-"))
        }
        CliCommand::Tools(ToolsCommand::Call(ToolsCallArgs { arguments, .. })) => {
            arguments.as_deref() == Some("-")
        }
        CliCommand::Mcp(McpCommandArgs {
            mounted: Some(MountedServersCommand::Call(MountedCall { arguments, .. })),
            ..
        }) => arguments.as_deref() == Some("-"),
        CliCommand::Hook(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn commands_reading_stdin_are_recognised() {
        let reads = |words: &[&str]| {
            let all = std::iter::once("lsp-tools").chain(words.iter().copied());
            is_read_by(&Cli::parse_words(all.map(Into::into)).unwrap().cli.command)
        };
        for words in [&["write", "a"][..], &["patch"], &["patch", "-"], &["tools", "call", "read", "-"]] {
            assert!(reads(words), "{words:?}");
        }
        for words in [
            &["write", "a", "--content", "x"][..],
            &["patch", "a.diff"],
            &["tools", "call", "read", "{}"],
            &["tools", "call", "todoread"],
            &["read", "a"],
        ] {
            assert!(!reads(words), "{words:?}");
        }
    }

    #[tokio::test]
    async fn stdin_input_invalid_or_too_large_is_refused_with_reason() {
        let text =
            |input: PipedInput| async move { input.text("the patch").await.map_err(|error| error.error) };
        assert_eq!(text(PipedInput::Read(b"x".to_vec())).await, Ok("x".to_owned()));
        for (input, said) in [
            (PipedInput::Read(vec![0xff]), "the patch cannot be read from stdin: invalid utf-8"),
            (PipedInput::Failed("gone".into()), "the patch cannot be read from stdin: gone"),
            (PipedInput::Read(vec![b'x'; (MAX_CLI_INPUT_BYTES + 1) as usize]), "it is more than 64 MiB"),
        ] {
            let error = text(input).await.unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
