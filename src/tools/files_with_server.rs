//! Files of a folder that an installed language server can do something with.

use std::time::{Duration, Instant};

use super::context::{Context, LanguageFile};
use super::error::{ErrorCode, ToolError};
use crate::config::spec::ServerFeatures;
use crate::workspace::{WalkLimits, WorkspacePath};

/// How long the look into a folder may take.
const SERVER_FILES_WALK_TIMEOUT: Duration = Duration::from_secs(10);

/// The files in `folder` whose language has a server here with the features that are `wanted`.
///
/// # Errors
/// `too_large` where the folder has more files than are looked at.
pub(crate) fn files_with_server(
    context: &Context,
    folder: &WorkspacePath,
    wanted: impl Fn(&ServerFeatures) -> bool,
) -> Result<Vec<LanguageFile>, ToolError> {
    let limits = WalkLimits {
        max_files: context.config.settings.limits.walk_files,
        deadline: Instant::now() + SERVER_FILES_WALK_TIMEOUT,
    };
    let walk = context.workspace.files(folder, &limits);
    if walk.truncated {
        let error = format!("{} has too many files to look at", folder.display());
        return Err(ToolError::new(ErrorCode::TooLarge, error)
            .with_hint("name a folder inside it, or raise limits.walk-files"));
    }
    let has_server = |subject: &LanguageFile| {
        let servers = context.servers_for(subject, &wanted);
        servers.iter().any(|(server, _)| context.manager.locate(server, &subject.path).is_ok())
    };
    // What cannot be read is no source file.
    let subjects = walk.files.into_iter().filter_map(|path| context.language_file_unchecked(path).ok());
    Ok(subjects.filter(has_server).collect())
}
