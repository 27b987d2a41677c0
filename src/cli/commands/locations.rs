//! The commands `definition`, `declaration`, `type-definition`, `implementation` and `references`.

use super::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::args::{AddressArgs, CliOutputFormat, LimitedAddressArgs};
use crate::cli::render::locations::render;
use crate::tools::answer::{Answer, LocationsOutput};
use crate::tools::error::ToolError;

/// Lists the definitions of a symbol.
pub(super) async fn definition(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    locations_reply(
        door,
        door.runtime.definition(parse_place(&arguments.address, door.cwd)?).await?,
        "definition",
    )
}

/// Lists the declarations of a symbol.
pub(super) async fn declaration(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    locations_reply(
        door,
        door.runtime.declaration(parse_place(&arguments.address, door.cwd)?).await?,
        "declaration",
    )
}

/// Lists the definitions of a symbol's type.
pub(super) async fn type_definition(
    arguments: &AddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    locations_reply(
        door,
        door.runtime.type_definition(parse_place(&arguments.address, door.cwd)?).await?,
        "type definition",
    )
}

/// Lists the implementations of a symbol.
pub(super) async fn implementation(
    arguments: &AddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    locations_reply(
        door,
        door.runtime.implementation(parse_place(&arguments.address, door.cwd)?).await?,
        "implementation",
    )
}

/// Lists the references to a symbol.
pub(super) async fn references(
    arguments: &LimitedAddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let target = parse_place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.references(target, arguments.limit).await?;
    let (listed, all) = (answer.output.locations.len(), answer.output.count);
    let more = answer.output.has_more && door.format == CliOutputFormat::Text;
    let mut reply = locations_reply(door, answer, "reference")?;
    if more {
        reply.lines.push(format!("{listed} of {all} references shown; --limit shows more"));
    }
    Ok(reply)
}

fn locations_reply(
    door: CliContext<'_>,
    answer: Answer<LocationsOutput>,
    what: &str,
) -> Result<Reply, ToolError> {
    answer_reply(door, answer, |output| render(output, what, &door.console.out), &format!("no {what} found"))
}
