//! The command `store`.

use crate::analysis::check::stored_reports::AnswerStoreStatus;
use crate::analysis::error::ToolError;
use crate::cli::args::StoreCommand;
use crate::cli::commands::{CliContext, Reply, output_reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::servers::memory;
use crate::cli::render::terminal::escape;
use crate::text::words::age::age;

/// Shows or empties the answer store.
pub(crate) async fn run(command: StoreCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let (output, does) = match command {
        StoreCommand::Status => (cli.runtime.answer_store().await?, "contains"),
        StoreCommand::Forget => (cli.runtime.forget_answers().await?, "no longer contains"),
    };
    output_reply(cli, &output, CliExitStatus::Answered, |output| text(output, does))
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
