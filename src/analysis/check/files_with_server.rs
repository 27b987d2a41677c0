//! Files of a folder that an installed language server supports.

use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::config::spec::ServerFeatures;
use crate::workspace::WorkspacePath;

/// The files in `folder` whose language has a server here with the features that are `wanted`.
///
/// # Errors
/// The errors of [`Context::source_files`].
pub(crate) fn files_with_server(
    context: &Context,
    folder: &WorkspacePath,
    wanted: impl Fn(&ServerFeatures) -> bool,
) -> Result<Vec<LanguageFile>, ToolError> {
    let mut files = context.source_files(folder)?;
    files.retain(|subject| {
        let servers = context.servers_for(subject, &wanted);
        servers.iter().any(|(server, _)| context.manager.locate(server, &subject.path).is_ok())
    });
    Ok(files)
}
