//! The commands `definition`, `declaration`, `type-definition`, `implementation` and `references`.

use super::{CliContext, Reply, answered, place};
use crate::cli::args::{AddressArgs, CliOutputFormat, LimitedAddressArgs};
use crate::cli::render::locations::render;
use crate::tools::answer::{Answer, LocationsOutput};
use crate::tools::error::ToolError;

/// Where something is defined.
pub(super) async fn definition(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    shown(door, door.runtime.definition(place(&arguments.address, door.cwd)?).await?, "definition")
}

/// Where something is declared.
pub(super) async fn declaration(arguments: &AddressArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    shown(door, door.runtime.declaration(place(&arguments.address, door.cwd)?).await?, "declaration")
}

/// Where the type of something is defined.
pub(super) async fn type_definition(
    arguments: &AddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    shown(door, door.runtime.type_definition(place(&arguments.address, door.cwd)?).await?, "type definition")
}

/// What implements something.
pub(super) async fn implementation(
    arguments: &AddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    shown(door, door.runtime.implementation(place(&arguments.address, door.cwd)?).await?, "implementation")
}

/// Where something is used.
pub(super) async fn references(
    arguments: &LimitedAddressArgs,
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let target = place(&arguments.at.address, door.cwd)?;
    let answer = door.runtime.references(target, arguments.limit).await?;
    let (listed, all) = (answer.output.locations.len(), answer.output.count);
    let more = answer.output.has_more && door.format == CliOutputFormat::Text;
    let mut reply = shown(door, answer, "reference")?;
    if more {
        reply.lines.push(format!("{listed} of {all} references shown; --limit shows more"));
    }
    Ok(reply)
}

fn shown(door: CliContext<'_>, answer: Answer<LocationsOutput>, what: &str) -> Result<Reply, ToolError> {
    answered(door, answer, |output| render(output, what, &door.console.out), &format!("no {what} found"))
}
