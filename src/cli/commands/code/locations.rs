//! The commands `definition`, `declaration`, `type-definition`, `implementation` and `references`.

use crate::analysis::answer::{Answer, LocationsOutput};
use crate::analysis::error::ToolError;
use crate::cli::args::{AddressArgs, CliOutputFormat, LimitedAddressArgs};
use crate::cli::commands::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::render::locations::render;

/// Lists the definitions of a symbol.
pub(crate) async fn definition(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    locations_reply(
        cli,
        cli.runtime.definition(parse_place(&arguments.address, cli.cwd)?).await?,
        "definition",
    )
}

/// Lists the declarations of a symbol.
pub(crate) async fn declaration(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    locations_reply(
        cli,
        cli.runtime.declaration(parse_place(&arguments.address, cli.cwd)?).await?,
        "declaration",
    )
}

/// Lists the definitions of a symbol's type.
pub(crate) async fn type_definition(
    arguments: &AddressArgs,
    cli: CliContext<'_>,
) -> Result<Reply, ToolError> {
    locations_reply(
        cli,
        cli.runtime.type_definition(parse_place(&arguments.address, cli.cwd)?).await?,
        "type definition",
    )
}

/// Lists the implementations of a symbol.
pub(crate) async fn implementation(arguments: &AddressArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    locations_reply(
        cli,
        cli.runtime.implementation(parse_place(&arguments.address, cli.cwd)?).await?,
        "implementation",
    )
}

/// Lists the references to a symbol.
pub(crate) async fn references(
    arguments: &LimitedAddressArgs,
    cli: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let target = parse_place(&arguments.at.address, cli.cwd)?;
    let answer = cli.runtime.references(target, arguments.limit).await?;
    let (listed, all) = (answer.output.locations.len(), answer.output.count);
    let more = answer.output.has_more && cli.format == CliOutputFormat::Text;
    let mut reply = locations_reply(cli, answer, "reference")?;
    if more {
        reply.lines.push(format!("{listed} of {all} references shown; --limit shows more"));
    }
    Ok(reply)
}

fn locations_reply(
    cli: CliContext<'_>,
    answer: Answer<LocationsOutput>,
    what: &str,
) -> Result<Reply, ToolError> {
    answer_reply(cli, answer, |output| render(output, what, &cli.console.out), &format!("no {what} found"))
}
