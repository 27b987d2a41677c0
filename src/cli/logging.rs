//! The log: a file per day in the user's state folder, and stderr on request, but never stdout.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use thiserror::Error;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::platform::private;

/// The number of days kept.
const MAX_LOG_DAYS: usize = 5;
/// The length of a date.
const LOG_DATE_BYTES: usize = "2026-01-31".len();
/// The filter of the file until the settings are read, unless the variable overrides it.
const USUAL: &str = "warn,lsp_tools=info";
/// The variable with the filter of the file, such as `warn,lsp_tools=debug`.
const VARIABLE: &str = "LSP_TOOLS_LOG";

/// The name of the log shared by all commands.
pub(super) const USUAL_NAME: &str = "lsp-tools";
/// The prefix of the names of daemons' logs.
pub(super) const DAEMON_LOGS: &str = "daemon-";
/// The suffix of the log's files.
pub(super) const SUFFIX: &str = "log";

/// Returns the name of the log of the daemon with the key `key`.
pub(super) fn daemon_log(key: &str) -> String {
    format!("{DAEMON_LOGS}{key}")
}

/// Returns the folder of logs under `state`, the user's state folder.
pub(super) fn folder(state: &Path) -> PathBuf {
    state.join("log")
}

/// Reasons for a missing log.
#[derive(Debug, Error)]
pub(super) enum LogError {
    /// The file cannot be written.
    #[error("no log is written: {} is not writable: {error}; set LSP_TOOLS_STATE_DIR to a writable folder", folder.display())]
    Folder {
        /// The folder of the log.
        folder: PathBuf,
        /// The error.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The variable is invalid.
    #[error("no log is written: LSP_TOOLS_LOG is invalid: {0}; give levels like warn,lsp_tools=debug")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Another log is active in this process.
    #[error("no log is written: {0}")]
    Taken(#[from] TryInitError),
}

/// An active log.
#[derive(Debug)]
pub(super) struct TracingLog {
    /// The folder of its files.
    pub(crate) folder: PathBuf,
    /// The handle to change the file's filter; `None` if the variable determines it.
    filter: Option<Handle<EnvFilter, Registry>>,
}

impl TracingLog {
    /// Sets the file's level to `level`, a level of the settings, unless the variable is set. Other
    /// crates are logged at `warn` or above, since their details do not concern this program.
    pub(super) fn set_level(&self, level: &str) {
        let Some(filter) = &self.filter else { return };
        let wanted = match level {
            "off" | "error" | "warn" => level.to_owned(),
            _ => format!("warn,lsp_tools={level}"),
        };
        let set = EnvFilter::try_new(wanted).map_err(|error| error.to_string());
        let set = set.and_then(|wanted| filter.reload(wanted).map_err(|error| error.to_string()));
        if let Err(error) = set {
            tracing::warn!("log.level `{level}` is invalid: {error}");
        }
    }
}

/// Starts the log called `name` under `state`, the user's state folder. `verbosity` counts `-v`: 1
/// logs events of this program to stderr, 2 all events.
///
/// # Errors
/// The folder or the variable cannot be used. Then nothing is logged, and stderr stays silent too.
pub(super) fn start(state: &Path, name: &str, verbosity: u8, color: bool) -> Result<TracingLog, LogError> {
    let folder = folder(state);
    let unusable = |error| LogError::Folder { folder: folder.clone(), error };
    let mut file = DailyLogWriter::new(folder.clone(), name);
    file.file_for_day(today()).map_err(|error| unusable(error.into()))?;
    let levels = std::env::var(VARIABLE).unwrap_or_default();
    let (filter, handle) =
        reload::Layer::new(EnvFilter::try_new(if levels.is_empty() { USUAL } else { &levels })?);
    let to_file =
        tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(file)).with_filter(filter);
    let level_filter = EnvFilter::try_new(match verbosity {
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
        .with_filter(level_filter);
    tracing_subscriber::registry().with(to_file).with(to_stderr).try_init()?;
    Ok(TracingLog { folder, filter: levels.is_empty().then_some(handle) })
}

/// A log with a file for each day (UTC), readable by the user alone. Events are written whole.
struct DailyLogWriter {
    folder: PathBuf,
    name: String,
    open: Option<(String, File)>,
}

impl DailyLogWriter {
    fn new(folder: PathBuf, name: &str) -> Self {
        Self { folder, name: name.to_owned(), open: None }
    }

    /// Returns the file of `day`, and opens it if necessary. Opening a file removes the oldest
    /// ones.
    fn file_for_day(&mut self, day: String) -> io::Result<&File> {
        let (_, file) = match self.open.take() {
            Some(open) if open.0 == day => self.open.insert(open),
            _ => {
                private::make_folder(&self.folder)?;
                let path = self.folder.join(format!("{}.{day}.{SUFFIX}", self.name));
                let file = private::open(private::open_options().append(true).create(true), &path)?;
                self.forget_oldest();
                self.open.insert((day, file))
            }
        };
        Ok(file)
    }

    fn forget_oldest(&self) {
        let begin = format!("{}.", self.name);
        let of_a_day = |name: &str| {
            let day = name.strip_prefix(&begin).and_then(|name| name.strip_suffix(&format!(".{SUFFIX}")));
            day.is_some_and(|day| {
                day.len() == LOG_DATE_BYTES && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
            })
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| of_a_day(name));
        // The names sort by date.
        names.sort();
        let old = names.len().saturating_sub(MAX_LOG_DAYS);
        for name in names.iter().take(old) {
            // Another process may have removed it first.
            let _ignored = fs::remove_file(self.folder.join(name));
        }
    }
}

impl Write for DailyLogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file_for_day(today())?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the current date, such as `2026-01-31`.
fn today() -> String {
    let mut now = String::new();
    // Writing to a string cannot fail.
    let _written = SystemTime.format_time(&mut Writer::new(&mut now));
    now.truncate(LOG_DATE_BYTES);
    now
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::PermissionsExt;

    use super::*;

    #[test]
    fn daily_log_files_are_private_and_old_ones_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("log");
        let mut log = DailyLogWriter::new(folder.clone(), "a");
        for day in 1..8 {
            log.file_for_day(format!("2026-01-{day:02}")).unwrap().write_all(b"line\n").unwrap();
        }
        let mut other = DailyLogWriter::new(folder.clone(), "a.b");
        other.file_for_day("2026-01-01".to_owned()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let mut files: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let kept = (3..8).map(|day| format!("a.2026-01-{day:02}.log"));
        assert_eq!(files, kept.chain(["a.b.2026-01-01.log".to_owned()]).collect::<Vec<_>>());
        assert!(files.iter().all(|file| mode(&folder.join(file)) == 0o600) && mode(&folder) == 0o700);
        assert_eq!(today().len(), LOG_DATE_BYTES);
    }

    #[test]
    fn unusable_log_folder_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = start(file.path(), USUAL_NAME, 0, false).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("no log is written: {}/log is not writable: ", file.path().display())),
            "{error}"
        );
    }
}
