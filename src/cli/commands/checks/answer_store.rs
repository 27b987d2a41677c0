//! The command `store`.

use crate::analysis::check::answer_store::folder::AnswerStoreStatus;
use crate::analysis::check::shared_exchange::{ExchangeDirection, create_key};
use crate::analysis::check::stored_reports::SharedExchange;
use crate::analysis::error::ToolError;
use crate::cli::args::StoreCommand;
use crate::cli::commands::{CliContext, Reply, output_reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::servers::memory;
use crate::cli::render::terminal::escape;
use crate::text::words::age::age;
use crate::text::words::file_count_text;

/// Shows or empties the answer store, or exchanges answers with the shared one.
pub(crate) async fn run(command: StoreCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let (output, does) = match command {
        StoreCommand::Key { name } => {
            let key = create_key(&name)?;
            return output_reply(cli, &key, CliExitStatus::Answered, |key| {
                format!("LSP_TOOLS_STORE_KEY={}\nwriters = [\"{}\"]\n", key.secret, key.writer)
            });
        }
        StoreCommand::Push => return exchange(ExchangeDirection::Push, cli).await,
        StoreCommand::Pull => return exchange(ExchangeDirection::Pull, cli).await,
        StoreCommand::Status => (cli.runtime.answer_store().await?, "contains"),
        StoreCommand::Forget => {
            let before = cli.runtime.forget_answers().await?;
            let does = if before.checks == 0 { "contains" } else { "no longer contains" };
            (before, does)
        }
    };
    output_reply(cli, &output, CliExitStatus::Answered, |output| text(output, does))
}

async fn exchange(direction: ExchangeDirection, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let output = cli.runtime.exchange_answers(direction).await?;
    let status =
        if output.files + output.known == 0 { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    output_reply(cli, &output, status, |output| exchange_text(output, direction))
}

fn exchange_text(output: &SharedExchange, direction: ExchangeDirection) -> String {
    let (here, there) = match direction {
        ExchangeDirection::Push => ("the answer store", "the shared store"),
        ExchangeDirection::Pull => ("the shared store", "the answer store"),
    };
    let count = file_count_text;
    match (output.files, output.known) {
        (0, 0) => {
            let why = output.fault.iter().map(|why| format!(": {}", escape::line(why))).collect::<String>();
            format!("{here} has no findings for this state of the workspace{why}\n")
        }
        (0, known) => format!("{there} already has the findings of {}\n", count(known)),
        (files, _) => {
            let by: Vec<&str> = output.writers.iter().map(String::as_str).collect();
            let by = if by.is_empty() { String::new() } else { format!(", by {}", by.join(" and ")) };
            format!("the findings of {} are now in {there}{by}\n", count(files))
        }
    }
}

fn text(output: &AnswerStoreStatus, does: &str) -> String {
    let checks = match output.checks {
        0 => "no stored check".to_owned(),
        1 => "1 stored check".to_owned(),
        several => format!("{several} stored checks"),
    };
    let size = output
        .oldest_seconds
        .map(|oldest| format!(", {}, the oldest from {} ago", memory(output.bytes), age(oldest)));
    format!("{} {does} {checks}{}\n", escape::line(&output.folder), size.unwrap_or_default())
}
