//! The log: a file per day in the user's state folder, and stderr where that is asked for. Never stdout.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// So many days are kept.
const DAYS: usize = 5;
/// What is logged to the file until the settings are read, where the variable does not say otherwise.
const USUAL: &str = "warn,lsp_tools=info";
/// Says what is logged to the file, as `warn,lsp_tools=debug`.
const VARIABLE: &str = "LSP_TOOLS_LOG";

/// The log of commands, which all of them write.
pub const USUAL_NAME: &str = "lsp-tools";
/// How the names of its files end.
pub const SUFFIX: &str = "log";

/// The folder of logs under `state`, the user's state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("log")
}

/// Why there is no log.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be written.
    #[error("no log is written: {} cannot be used: {error}; set LSP_TOOLS_STATE_DIR to a folder that can", folder.display())]
    Folder {
        /// The folder of the log.
        folder: PathBuf,
        /// What is wrong with it.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The variable says nothing that is known.
    #[error(
        "no log is written: LSP_TOOLS_LOG is not understood: {0}; give levels as in warn,lsp_tools=debug"
    )]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something else logs in this process.
    #[error("no log is written: {0}")]
    Taken(#[from] TryInitError),
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log {
    /// The folder of its files.
    pub folder: PathBuf,
    /// What goes into the file; `None` where the variable has decided that.
    filter: Option<Handle<EnvFilter, Registry>>,
}

impl Log {
    /// From now on the file takes what `level`, a level of the settings, says; the variable outweighs the settings. Other
    /// crates are not heard below `warn`: their detail is not about what this program does.
    pub fn set_level(&self, level: &str) {
        let Some(filter) = &self.filter else { return };
        let wanted = match level {
            "off" | "error" | "warn" => level.to_owned(),
            _ => format!("warn,lsp_tools={level}"),
        };
        let set = EnvFilter::try_new(wanted).map_err(|error| error.to_string());
        let set = set.and_then(|wanted| filter.reload(wanted).map_err(|error| error.to_string()));
        if let Err(error) = set {
            tracing::warn!("log.level is `{level}`, and that cannot be used: {error}");
        }
    }
}

/// Starts the log called `name` under `state`, the user's state folder; `verbosity` counts `-v`: 1 tells on stderr what happens, 2
/// everything.
///
/// # Errors
/// When the folder or the variable cannot be used. Nothing is logged then, and stderr stays silent too.
pub fn start(state: &Path, name: &str, verbosity: u8, color: bool) -> Result<Log, LogError> {
    let folder = folder(state);
    let unusable = |error| LogError::Folder { folder: folder.clone(), error };
    std::fs::create_dir_all(&folder).map_err(|error| unusable(error.into()))?;
    let builder = Builder::new().rotation(Rotation::DAILY).max_log_files(DAYS);
    let builder = builder.filename_prefix(name).filename_suffix(SUFFIX);
    let file = builder.build(&folder).map_err(|error| unusable(error.into()))?;
    let said = std::env::var(VARIABLE).unwrap_or_default();
    let (filter, handle) =
        reload::Layer::new(EnvFilter::try_new(if said.is_empty() { USUAL } else { &said })?);
    let to_file = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(file).with_filter(filter);
    let told = EnvFilter::try_new(match verbosity {
        0 => "off",
        1 => "warn,lsp_tools=info",
        2 => "info,lsp_tools=debug",
        _ => "trace",
    })?;
    let to_stderr = tracing_subscriber::fmt::layer()
        .with_ansi(color)
        .with_target(verbosity > 1)
        .without_time()
        .with_writer(io::stderr)
        .with_filter(told);
    tracing_subscriber::registry().with(to_file).with(to_stderr).try_init()?;
    Ok(Log { folder, filter: said.is_empty().then_some(handle) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = start(file.path(), USUAL_NAME, 0, false).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("no log is written: {}/log cannot be used: ", file.path().display())),
            "{error}"
        );
    }
}
