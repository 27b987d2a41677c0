//! Commands through the daemon: the messages on the connection after the preamble.
//!
//! The client ([`client`]) sends the [`RemoteCommandRequest`] (JSON) and the piped input, with the
//! lengths in its preamble. The daemon ([`serve`]) sends [`RemoteCommandEvent`]s, one line of JSON
//! each. The last one is the reply, followed by the bytes for stdout. Both sides parse the words of
//! the command line with the same program.

pub(super) mod client;
pub(super) mod serve;

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::args::doors::McpCommandArgs;
use super::args::tools::ToolsCommand;
use super::args::{CliCommand, GlobalArgs, StoreCommand};
use super::console::Console;
use super::exit::CliExitStatus;
use crate::bridges::daemon::identity;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::lsp::session::progress::ProgressEvent;

/// A command as typed, with its current folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteCommandRequest {
    /// The command line, the program's name first.
    words: Vec<OsString>,
    /// The current folder.
    cwd: OsString,
    /// The display capabilities of the client's streams.
    console: Console,
    /// True if the user sees progress.
    progress: bool,
    /// The language of messages to the user.
    speech: SpokenLanguage,
}

/// A message of the daemon while a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RemoteCommandEvent {
    /// A heartbeat.
    Alive,
    /// Progress of the command.
    Progress(ProgressEvent),
    /// The reply of the command.
    Reply {
        /// The lines for stderr.
        lines: Vec<String>,
        /// The exit status.
        status: CliExitStatus,
        /// The number of bytes for stdout after this line.
        out: usize,
    },
}

/// Returns true if a command runs through the daemon.
pub(super) fn uses_daemon(global: &GlobalArgs, command: &CliCommand) -> bool {
    // A trace and a log on stderr belong to a single process: this one.
    !identity::is_daemon_disabled()
        && !global.no_daemon
        && global.verbose == 0
        && global.trace.is_none()
        && daemon_accepts(command)
}

/// Returns true if the daemon accepts such a command.
///
/// Commands that grant trust or prompt the user run in the user's own process. So does the
/// installation and the exchange with the shared store, which need secrets of the environment that
/// a daemon may not have.
pub(super) fn daemon_accepts(command: &CliCommand) -> bool {
    match command {
        CliCommand::Trust(_)
        | CliCommand::Index(_)
        | CliCommand::Install(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_)
        | CliCommand::Schema(_)
        | CliCommand::Init(_)
        | CliCommand::Daemon(_)
        | CliCommand::View(_)
        | CliCommand::Lsp(_) => false,
        CliCommand::Store(store) => matches!(store, StoreCommand::Status | StoreCommand::Forget),
        CliCommand::Copilot(copilot) => copilot.is_undo(),
        CliCommand::Mcp(McpCommandArgs { mounted, .. }) => mounted.is_some(),
        // Git's variables are those of this process, and so are the files of reports.
        CliCommand::Check(check) => check.index_file.is_none() && check.report.is_empty(),
        _ => true,
    }
}

/// Returns true if a command may be repeated after an unknown outcome.
pub(super) fn is_repeatable(command: &CliCommand) -> bool {
    !matches!(
        command,
        CliCommand::Edits(_)
            | CliCommand::Tools(ToolsCommand::Call(_))
            | CliCommand::Mcp(_)
            | CliCommand::Copilot(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;

    fn command(words: &[&str]) -> CliCommand {
        let all = std::iter::once("lsp-tools").chain(words.iter().copied());
        Cli::parse_words(all.map(Into::into)).unwrap().cli.command
    }

    #[test]
    fn commands_granting_trust_or_serving_are_not_sent_to_daemon() {
        for words in [
            &["trust"][..],
            &["trust", "--yes"],
            &["install", "python"],
            &["daemon", "stop"],
            &["mcp"],
            &["lsp"],
            &["copilot", "chat"],
        ] {
            assert!(!daemon_accepts(&command(words)), "{words:?}");
        }
        for words in [
            &["hover", "a.py:1:1"][..],
            &["tools", "call", "read"],
            &["servers"],
            &["write", "a"],
            &["mcp", "list"],
            &["copilot", "undo", "turn-1"],
        ] {
            assert!(daemon_accepts(&command(words)), "{words:?}");
        }
    }

    #[test]
    fn command_is_repeatable_only_without_side_effects() {
        for words in [
            &["edit", "a", "--old", "x", "--new", "y"][..],
            &["tools", "call", "bash"],
            &["undo"],
            &["copilot", "undo", "turn-1"],
        ] {
            assert!(!is_repeatable(&command(words)), "{words:?}");
        }
        for words in [&["hover", "a.py:1:1"][..], &["check"], &["grep", "x"], &["tools", "list"]] {
            assert!(is_repeatable(&command(words)), "{words:?}");
        }
    }

    #[test]
    fn non_utf8_command_words_round_trip_through_json() {
        use crate::platform::OsStringExt;
        let word = OsString::from_vec(b"caf\xe9.py".to_vec());
        let json = serde_json::to_string(&vec![word.clone()]).unwrap();
        assert_eq!(serde_json::from_str::<Vec<OsString>>(&json).unwrap(), [word]);
    }
}
