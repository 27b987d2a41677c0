//! The command `trust`.

use std::io::{self, BufRead, IsTerminal, Write};

use super::{CliContext, Reply, output_reply};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::{CliOutputFormat, TrustCommandArgs};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::trust::{render, render_revoked};
use crate::tools::language::trust::{TrustOutput, TrustRequest};

/// Shows the commands that the project would run and, if the owner agrees, grants trust.
pub(super) async fn run(arguments: &TrustCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    if arguments.revoke {
        let output = cli.runtime.trust(TrustRequest::Revoke).await?;
        return output_reply(cli, &output, CliExitStatus::Answered, |output| {
            render_revoked(output, &cli.console.out)
        });
    }
    let proposal = cli.runtime.trust(TrustRequest::Show).await?;
    if proposal.trusted {
        return trust_reply(cli, &proposal);
    }
    if !arguments.yes && !confirm(&proposal, cli).await? {
        let error = "nothing was allowed: the project's settings still do not count";
        return Err(ToolError::new(ErrorCode::Denied, error));
    }
    let granted = cli.runtime.trust(TrustRequest::Grant { fingerprint: proposal.fingerprint }).await?;
    trust_reply(cli, &granted)
}

fn trust_reply(cli: CliContext<'_>, output: &TrustOutput) -> Result<Reply, ToolError> {
    output_reply(cli, output, CliExitStatus::Answered, |output| render(output, &cli.console.out))
}

/// Prompts the user at the terminal. Everything except `y` or `yes` is a refusal.
async fn confirm(output: &TrustOutput, cli: CliContext<'_>) -> Result<bool, ToolError> {
    if cli.format != CliOutputFormat::Text || !io::stdin().is_terminal() || !cli.console.err.terminal {
        let error = "not a terminal, so there was no question; the project's programs were not allowed";
        let hint =
            "review them with `lsp-tools trust` on a terminal, or allow them with `lsp-tools trust --yes`";
        return Err(ToolError::new(ErrorCode::Denied, error).with_hint(hint));
    }
    let question = format!("{}\nAllow this? [y/N] ", render(output, &cli.console.err));
    let answer = tokio::task::spawn_blocking(move || {
        let mut err = io::stderr().lock();
        err.write_all(question.as_bytes())?;
        err.flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let failed = |error: &dyn std::fmt::Display| {
        ToolError::new(ErrorCode::Denied, format!("the question could not be asked: {error}"))
    };
    let line = answer.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
