//! The command `policy`.

use serde::Serialize;
use serde_json::Value;

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::{PolicyCheck, PolicyCommand};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::terminal::display::{BOLD, GOOD, WARN};
use crate::cli::render::terminal::escape;
use crate::policy::request::{PolicyDecision, PolicyVerdict};
use crate::text::shell_word;
use crate::tools::api::tool::Caller;

/// The decision of the rules.
#[derive(Debug, Serialize)]
struct PolicyOutput {
    /// Always true.
    ok: bool,
    #[serde(flatten)]
    decision: PolicyDecision,
}

/// Reports the decision on a call.
pub(super) fn run(arguments: PolicyCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let PolicyCommand::Check(PolicyCheck { tool, arguments, agent, command }) = arguments;
    let caller = Caller { agent, ..Caller::default() };
    let decision = match (tool, command.as_slice()) {
        (None, [_, ..]) => cli.runtime.check_command(&caller, &join_words(&command)),
        (Some(tool), []) => {
            cli.runtime.called_by_name().check_call(&caller, &tool, &json(arguments.as_deref())?)?
        }
        _ => {
            let error = "give a tool with its arguments, or a command after `--`";
            let hint = "lsp-tools policy check -- git status; lsp-tools policy check write '{\"path\":\"a\",\"content\":\"\"}'";
            return Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint));
        }
    };
    let status = match decision.verdict {
        PolicyVerdict::Allow => CliExitStatus::Answered,
        PolicyVerdict::Ask => CliExitStatus::Unpleasant,
        PolicyVerdict::Deny => CliExitStatus::Denied,
    };
    let display = &cli.console.out;
    output_reply(cli, &PolicyOutput { ok: true, decision }, status, |PolicyOutput { decision, .. }| {
        let style = match decision.verdict {
            PolicyVerdict::Allow => GOOD,
            PolicyVerdict::Ask => BOLD,
            PolicyVerdict::Deny => WARN,
        };
        format!("{}: {}\n", display.paint(style, decision.verdict.as_str()), escape::line(&decision.why))
    })
}

fn json(text: Option<&str>) -> Result<Value, ToolError> {
    serde_json::from_str(text.unwrap_or("{}")).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the arguments are not JSON: {error}"))
            .with_hint("give one object in single quotes: '{\"path\": \"src/main.rs\"}'")
    })
}

/// Joins the words of a command. A single word is a whole command line; several are the words of
/// one command as split by a shell.
fn join_words(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_command_words_are_quoted_for_the_shell() {
        let joined_words =
            |words: &[&str]| join_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(joined_words(&["ls; rm x"]), "ls; rm x");
        assert_eq!(joined_words(&["git", "commit", "-m", "it's; rm"]), r#"git commit -m "it's; rm""#);
        assert_eq!(joined_words(&["ls", ""]), "ls ''");
    }
}
