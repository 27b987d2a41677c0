//! The command `index`.

use crate::analysis::code_index::INDEX_FILE;
use crate::analysis::error::ToolError;
use crate::analysis::items::named_places::abbreviate_list;
use crate::cli::args::IndexCommandArgs;
use crate::cli::commands::{CliContext, Reply, output_reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::terminal::escape;
use crate::text::words::file_count_text;
use crate::tools::language::scip_index::CodeIndexOutput;

/// The most symbols and files that the output names.
const MAX_NAMED: usize = 5;

/// Writes an index of the workspace.
pub(crate) async fn run(arguments: &IndexCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let file = match &arguments.output {
        Some(given) => cli.cwd.join(given),
        None => cli.runtime.workspace().root().join(INDEX_FILE),
    };
    let output = cli.runtime.write_index(&file).await?;
    let is_whole = output.left_out.is_empty() && output.unlisted.is_empty();
    let status = if is_whole { CliExitStatus::Answered } else { CliExitStatus::Unpleasant };
    output_reply(cli, &output, status, text)
}

fn text(output: &CodeIndexOutput) -> String {
    let symbols = |count: usize| if count == 1 { "1 symbol".to_owned() } else { format!("{count} symbols") };
    let file = escape::line(&output.file.to_string_lossy()).into_owned();
    let mut text = format!("{file} has {} of {}\n", symbols(output.symbols), file_count_text(output.files));
    if output.resumed > 0 {
        text.push_str(&format!("indexed before an interruption: {}\n", file_count_text(output.resumed)));
    }
    text.push_str(&list_text("without a complete answer", &output.left_out));
    text.push_str(&list_text("of files whose symbols no server lists", &output.unlisted));
    text
}

/// Names of symbols or files that were left out for one reason.
fn list_text(reason: &str, all: &[String]) -> String {
    let names = abbreviate_list(all.iter().cloned(), all.len(), MAX_NAMED);
    if all.is_empty() { names } else { format!("left out, {reason}: {}\n", escape::line(&names)) }
}
