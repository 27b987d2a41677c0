//! The command `symbols`.

use std::path::Path;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::Target;
use crate::cli::args::{CliOutputFormat, SymbolsCommandArgs};
use crate::cli::commands::{CliContext, Reply, answer_reply, parse_target};
use crate::cli::render::symbols::render;

/// Lists the outline of a file, or symbols of the workspace.
pub(crate) async fn run(arguments: &SymbolsCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let given = Path::new(&arguments.address);
    if given.components().count() > 1 && cli.cwd.join(given).is_dir() {
        let error = format!("{} is a folder; symbols need a file or the workspace", given.display());
        return Err(ToolError::new(ErrorCode::InvalidArgs, error)
            .with_hint("give a FILE in it, or a NAME to look for"));
    }
    let target = parse_target(&arguments.address, cli.cwd)?;
    let (path, nothing) = match &target {
        Target::File(path) => {
            (Some(path.to_string_lossy().into_owned()), "the file has no symbols".to_owned())
        }
        Target::Name(name) if cli.cwd.join(name).is_dir() => {
            let name = crate::cli::render::terminal::escape::words(name);
            (None, format!("no symbol matches `{name}`, which is a folder; give a file in it"))
        }
        Target::Name(name) => {
            let name = crate::cli::render::terminal::escape::words(name);
            (None, format!("no symbol matches `{name}`, and no file has that name"))
        }
        Target::Position { .. } | Target::NameOnLine { .. } | Target::NameInFile { .. } => {
            let given = arguments.address.to_string_lossy();
            let error = format!("{given} is a position; symbols need a file or the workspace");
            let hint = "give a FILE for its outline, or a NAME to look for";
            return Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint));
        }
    };
    let answer = cli.runtime.symbols_with_locals(target, arguments.limit, arguments.all).await?;
    let display = &cli.console.out;
    let more = answer.output.has_more && cli.format == CliOutputFormat::Text;
    let mut reply = answer_reply(cli, answer, |output| render(output, path.as_deref(), display), &nothing)?;
    if more {
        reply.lines.push("not all symbols are shown; --limit shows more".to_owned());
    }
    Ok(reply)
}
