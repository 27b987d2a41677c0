//! The commands `read`, `list` and `glob`.

use std::time::{Duration, Instant};

use serde_json::json;

use super::grep;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::approval::TerminalApprover;
use crate::cli::args::CliOutputFormat;
use crate::cli::args::files::{FileReadingCommand, GlobCommandArgs, ListCommandArgs, ReadCommandArgs};
use crate::cli::commands::tool_call;
use crate::cli::commands::tool_call::{call_and_render, call_tool, default_folder, path};
use crate::cli::commands::{CliContext, Reply};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::files as render;
use crate::cli::span::SpanLines;
use crate::runtime::calls::call::CallOptions;
use crate::tools::api::tool::Caller;
use crate::tools::files::glob::GlobOutput;
use crate::tools::files::list::ListOutput;
use crate::tools::files::read::{BULK_READ_LINES, MAX_READ_LINES, ReadArgs, ReadOutput, ReadTool};

/// The time limit for all pages of a file, unless `--timeout` is given.
const DEFAULT_READ_ALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a command that reads files.
pub(crate) async fn run(command: FileReadingCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    match command {
        FileReadingCommand::Read(arguments) => read(arguments, cli).await,
        FileReadingCommand::List(arguments) => list(arguments, cli).await,
        FileReadingCommand::Glob(arguments) => glob(arguments, cli).await,
        FileReadingCommand::Grep(arguments) => grep::run(arguments, cli).await,
    }
}

async fn read(arguments: ReadCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let span = tool_call::parse_span(&arguments.file, cli.cwd)?;
    let path = path(&span.path)?;
    let display = &cli.console.out;
    if arguments.outline {
        let given = json!({"path": path, "outline": true});
        return call_and_render(cli, "read", given, |page: ReadOutput| render::outline(&page, display)).await;
    }
    let (first, last) = span.lines.map_or((1, None), |SpanLines { first, last }| (first, last));
    if cli.format == CliOutputFormat::Json {
        // JSON shows a single answer; text output continues with further pages until the end.
        let limit = last.map_or(MAX_READ_LINES, |last| MAX_READ_LINES.min((last - first) as usize + 1));
        let given = json!({"path": path, "offset": first, "limit": limit, "line_numbers": arguments.numbers});
        return tool_call::raw_reply(&call_tool(cli, "read", given).await, cli);
    }
    let timeout = cli.runtime.context().timeout.unwrap_or(DEFAULT_READ_ALL_TIMEOUT);
    let deadline = Instant::now() + timeout;
    let (mut next, mut whole) =
        (first, Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Answered });
    loop {
        if Instant::now() > deadline {
            let error = format!("`{path}` was not read beyond line {} within {timeout:?}", next - 1);
            let hint = format!("read a part of it ({path}:{next}-{}), or give --timeout", next + 999);
            return Err(ToolError::new(ErrorCode::Timeout, error).with_hint(hint));
        }
        let left = last.map_or(BULK_READ_LINES, |last| (last - next) as usize + 1);
        let mut page = read_page(cli, path, (next, left), arguments.numbers).await?;
        let end = u32::try_from(page.end_line).unwrap_or(u32::MAX);
        let goes_on = page.has_more && end >= next && last.is_none_or(|last| end < last);
        if goes_on {
            // Removes the note about the page's end, since reading continues.
            page.notes.retain(|note| !note.starts_with("the page ended at line "));
        }
        let shown = render::page(&page, arguments.numbers, display);
        whole.out.push_str(&shown.out);
        whole.lines.extend(shown.lines);
        // The requested lines do not exist in the file.
        if end == 0 && next == first && span.lines.is_some() {
            whole.status = CliExitStatus::Unpleasant;
        }
        if !goes_on {
            return Ok(whole);
        }
        next = end.saturating_add(1);
    }
}

/// Reads at most `count` lines from `first` (1-based) on.
async fn read_page(
    cli: CliContext<'_>,
    path: &str,
    (first, count): (u32, usize),
    line_numbers: bool,
) -> Result<ReadOutput, ToolError> {
    let args = ReadArgs {
        path: path.to_owned(),
        offset: Some(first.into()),
        limit: i64::try_from(count).ok(),
        line_numbers: Some(line_numbers),
        in_bulk: true,
        ..ReadArgs::default()
    };
    let caller = Caller::at_shell();
    let terminal = TerminalApprover::find();
    let mut options = CallOptions::new(&caller);
    if let Some(terminal) = &terminal {
        options.approver = terminal;
    }
    let answer = cli.runtime.call_as(ReadTool, args, options).await?;
    let mut page = answer.output;
    page.notes.extend(answer.hook_notes);
    Ok(page)
}

async fn list(arguments: ListCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let folder = arguments.folder.as_deref().map(path).transpose()?.or(default_folder(cli));
    let given = json!({"path": folder, "recursive": arguments.recursive, "limit": arguments.limit});
    let (paths, display) = (cli.paths, &cli.console.out);
    let shown =
        |entries: ListOutput| render::render_listing(entries, arguments.recursive.then_some(paths), display);
    call_and_render(cli, "list", given, shown).await
}

async fn glob(arguments: GlobCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let given = json!({
        "pattern": arguments.pattern, "path": default_folder(cli), "sort": arguments.newest.then_some("newest"),
        "hidden": arguments.hidden, "no_ignore": arguments.no_ignore, "limit": arguments.limit,
    });
    let (paths, display) = (cli.paths, &cli.console.out);
    call_and_render(cli, "glob", given, |found: GlobOutput| render::render_glob(&found, paths, display)).await
}
