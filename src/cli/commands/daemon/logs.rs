//! The command `daemon logs`.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Reply;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::doors::DaemonLogsArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::logging;
use crate::cli::render::terminal::escape;
use crate::cli::signals::Signals;
use crate::config::Folders;

/// The polling interval of a followed log, since its file system may not report changes.
const FOLLOWED_LOG_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The number of bytes read from a log at once.
const MAX_LOG_READ_BYTES: u64 = 8 << 20;

/// Prints the last lines of the log of the daemon with the key `key`, and follows it on request.
pub(super) async fn run(
    arguments: &DaemonLogsArgs,
    folders: &Folders,
    key: &str,
) -> Result<Reply, ToolError> {
    let folder = logging::folder(&folders.state);
    let nothing = || {
        let error = "the daemon for this workspace and environment has logged nothing";
        ToolError::nothing_found(error).with_hint(format!("all logs are in {}", folder.display()))
    };
    let Some(file) = newest_log(&folder, key) else {
        return Err(nothing());
    };
    let failed = |error: io::Error| {
        ToolError::new(ErrorCode::Internal, format!("{} cannot be read: {error}", file.display()))
    };
    let mut open = File::open(&file).map_err(failed)?;
    let last = last_lines(&mut open, arguments.lines, MAX_LOG_READ_BYTES).map_err(failed)?;
    if arguments.follow {
        follow(&folder, key, file.clone(), open, &last).await.map_err(failed)?;
        return Ok(Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted });
    }
    Ok(Reply { out: escape_lines(&last), lines: Vec::new(), status: CliExitStatus::Answered })
}

/// Returns the last lines of the log of the daemon with the key `key`, within its last `max_bytes`.
/// Returns none if there is no log.
pub(crate) fn recent_lines(folders: &Folders, key: &str, most: usize, max_bytes: u64) -> Vec<String> {
    let file = newest_log(&logging::folder(&folders.state), key).and_then(|file| File::open(file).ok());
    let lines = file.and_then(|mut file| last_lines(&mut file, most, max_bytes).ok());
    lines.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Returns the log of the last day on which the daemon wrote. The date is part of the name.
fn newest_log(folder: &Path, key: &str) -> Option<PathBuf> {
    let begin = format!("{}.", logging::daemon_log(key));
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin))).max()
}

fn last_lines(file: &mut File, most: usize, max_bytes: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max_bytes)))?;
    let mut kept: VecDeque<String> = VecDeque::new();
    let mut reader = BufReader::new(&*file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        if kept.len() == most {
            kept.pop_front();
        }
        if most > 0 {
            kept.push_back(String::from_utf8_lossy(&line).into_owned());
        }
        line.clear();
    }
    Ok(kept.into_iter().collect())
}

/// Prints existing and new lines until an interrupt, or until the output is closed.
async fn follow(folder: &Path, key: &str, mut file: PathBuf, mut open: File, last: &str) -> io::Result<()> {
    let mut signals = Signals::listen().map_err(|error| io::Error::other(error.error))?;
    let mut text = last.to_owned();
    loop {
        let written =
            io::stdout().lock().write_all(escape_lines(&text).as_bytes()).and_then(|()| io::stdout().flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
        tokio::select! {
            () = signals.next() => return Ok(()),
            () = tokio::time::sleep(FOLLOWED_LOG_POLL_INTERVAL) => {}
        }
        let mut bytes = Vec::new();
        (&mut open).take(MAX_LOG_READ_BYTES).read_to_end(&mut bytes)?;
        text = String::from_utf8_lossy(&bytes).into_owned();
        // A new day has a new file. The former one has been read completely by then.
        if text.is_empty()
            && let Some(newer) = newest_log(folder, key).filter(|newer| *newer != file)
        {
            open = File::open(&newer)?;
            file = newer;
        }
    }
}

/// Escapes lines for a terminal.
fn escape_lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            format!("{}{end}", escape::line(line.trim_end_matches('\n')))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemon_logs_show_last_lines_of_newest_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("daemon-ab.2026-01-02.log", "one\ntwo\nthree\n");
        write("daemon-ab.2026-01-01.log", "old\n");
        write("daemon-abc.2026-01-03.log", "another's\n");
        write("lsp-tools.2026-01-03.log", "commands'\n");
        let file = newest_log(folder.path(), "ab").unwrap();
        assert!(file.ends_with("daemon-ab.2026-01-02.log"), "{}", file.display());
        let lines = |most| last_lines(&mut File::open(&file).unwrap(), most, 1 << 20).unwrap();
        assert_eq!(
            (lines(2).as_str(), lines(9).as_str(), lines(0).as_str()),
            ("two\nthree\n", "one\ntwo\nthree\n", "")
        );
        assert_eq!(newest_log(folder.path(), "x"), None);
    }

    #[test]
    fn daemon_log_line_escapes_terminal_control_sequences() {
        assert_eq!(escape_lines("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\nc");
    }
}
