//! The program of the Copilot command line: its location, its start and its end.
//!
//! PATH is searched for the program, then the private prefix (`<data>/servers/copilot-cli`), where
//! it can be installed from npm. It inherits all of the user's variables: it is the user's own
//! program with its own account, and lsp-tools reads none of these values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};

use super::error::HostError;
use super::options::{HostEvent, HostOptions};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::spec::ServerSpec;
use crate::lsp::servers::install::{InstallProgress, Installer};
use crate::lsp::servers::locate;
use crate::process::{ProgramPath, ServerProcess, Spawn, Spawner, is_program};
use crate::runtime::Runtime;
use crate::workspace::Workspace;

/// The name in the private prefix.
pub(crate) const KEY: &str = "copilot-cli";
/// The installation recipe, with the version that this protocol was tested with.
const RECIPE: &str = include_str!("recipe.toml");
/// The arguments for the SDK's protocol on the standard streams.
const ARGUMENTS: [&str; 3] = ["--headless", "--no-auto-update", "--stdio"];
/// The variable that would disable all permission requests and run a repository's hooks. It is the
/// only variable that is not passed on.
pub(super) const ALLOW_ALL: &str = "COPILOT_ALLOW_ALL";
/// The time to exit after the end of the input.
const HOST_EXIT_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// Finds the command line, and installs it if requested.
pub(super) async fn find(runtime: &Runtime, options: &HostOptions) -> Result<PathBuf, HostError> {
    if let Some(program) = &options.program {
        let searched = || HostError::Missing { searched: format!("not a program at {}", program.display()) };
        return is_program(program).then(|| program.clone()).ok_or_else(searched);
    }
    let data = runtime.context().folders.data.clone();
    let path = ProgramPath::of_user(runtime.workspace());
    let installed = || path.clone().after(locate::prefix_folders(&data, KEY)).find("copilot");
    if let Some(program) = path.find("copilot").or_else(installed) {
        return Ok(program);
    }
    if !options.install {
        return Err(HostError::Missing { searched: "neither on PATH nor in the private prefix".to_owned() });
    }
    let server: ServerSpec = toml::from_str(RECIPE)
        .map_err(|error| ToolError::new(ErrorCode::Internal, format!("the recipe: {error}")))?;
    let installer = Installer::new(data, runtime.workspace());
    let tell = |progress: InstallProgress<'_>| match progress {
        InstallProgress::Waiting => {
            options.send_event(HostEvent::Note("another process installs it; waiting".to_owned()))
        }
        InstallProgress::Step(text) | InstallProgress::InVain(text) | InstallProgress::Note(text) => {
            options.send_event(HostEvent::Note(text.to_owned()));
        }
        InstallProgress::Line(line) => tracing::debug!("{line}"),
    };
    Ok(installer.install(KEY, &server, &tell).await?.program)
}

/// A running command line.
#[derive(Debug)]
pub(super) struct HostProcess {
    process: ServerProcess,
}

/// Starts the command line in the root of `workspace`.
pub(super) async fn start(program: &Path, workspace: &Workspace) -> Result<HostProcess, HostError> {
    let inherited = std::env::vars_os().filter(|(name, _)| *name != *ALLOW_ALL);
    let spawn = Spawn {
        name: KEY.to_owned(),
        program: program.to_owned(),
        args: ARGUMENTS.map(Into::into).into(),
        env: inherited.chain([ProgramPath::of_user(workspace).variable()]).collect::<BTreeMap<_, _>>(),
        cwd: workspace.root().to_owned(),
        pins: Vec::new(),
    };
    Ok(HostProcess { process: Spawner::new(None).spawn(spawn).await? })
}

impl HostProcess {
    /// Takes the standard streams, once.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        Some((self.process.take_stdin()?, self.process.take_stdout()?))
    }

    /// Ends the command line and all its children, after the end of its input. Returns the last
    /// lines of its standard error.
    pub(super) async fn end(self) -> Vec<String> {
        self.process.terminate(HOST_EXIT_GRACE_PERIOD).await;
        self.process.stderr_tail()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::servers::install::recipes::CheckedRecipe;

    #[test]
    fn copilot_cli_recipe_is_one_pinned_package_with_lock() {
        let server: ServerSpec = toml::from_str(RECIPE).unwrap();
        let recipes = server.install.recipes();
        let packages: Vec<_> = recipes.iter().flat_map(|recipe| recipe.packages()).collect();
        assert!(
            matches!(&packages[..], [package] if package.starts_with("@github/copilot@")),
            "{packages:?}"
        );
        let unlocked = CheckedRecipe::new(KEY, recipes[0].clone()).unwrap().locks().unlocked.clone();
        assert!(unlocked.is_empty(), "run `just locks {KEY}`: {unlocked:?}");
    }
}
