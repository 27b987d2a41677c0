//! The report of a panic: one line for the user, and details in the log.

use std::backtrace::Backtrace;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::render::DisplayCapabilities;
use super::render::terminal::display::BAD;
use super::render::terminal::escape;
use crate::analysis::error::from_panic_text;

static LOG: OnceLock<PathBuf> = OnceLock::new();

/// Installs a panic hook that prints one line to stderr and logs a backtrace.
pub(super) fn install(display: DisplayCapabilities) {
    std::panic::set_hook(Box::new(move |info| {
        let what = panic_message(info);
        tracing::error!(backtrace = %Backtrace::force_capture(), "panic: {what}");
        // The error of the call reports it.
        if from_panic_text(&what).is_some() {
            return;
        }
        let line = panic_report(&what, LOG.get(), &display);
        // Failures are ignored if stderr is closed.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }));
}

/// Sets the folder of the log, once it is known.
pub(super) fn details_are_in(folder: PathBuf) {
    // The first folder stays, since each process has one log.
    let _ = LOG.set(folder);
}

fn panic_message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    match info.location() {
        Some(location) => format!("{message} ({}:{})", without_folders(location.file()), location.line()),
        None => message,
    }
}

/// Returns the path of a source file without the folders of the build machine.
fn without_folders(file: &str) -> &str {
    let in_package = file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    in_package.map_or(file, |(_, rest)| rest)
}

fn panic_report(what: &str, log: Option<&PathBuf>, display: &DisplayCapabilities) -> String {
    let error = display.paint(BAD, "error:");
    let log = log.map(|folder| format!("; details are in {}", escape::line(&folder.to_string_lossy())));
    format!("{error} a fault in lsp-tools itself: {}{}\n", escape::words(what), log.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_message_is_one_escaped_line_naming_the_log() {
        let expected = "error: a fault in lsp-tools itself: index out of bounds: \\u{1b} (a.rs:1); details are in /s/log\n";
        let log = PathBuf::from("/s/log");
        assert_eq!(
            without_folders("/b/.cargo/registry/src/index-1/tokio-1.54.1/src/a.rs"),
            "tokio-1.54.1/src/a.rs"
        );
        assert_eq!(without_folders("src/cli/run.rs"), "src/cli/run.rs");
        assert_eq!(
            panic_report("index out of\nbounds: \x1b (a.rs:1)", Some(&log), &DisplayCapabilities::PLAIN),
            expected
        );
    }
}
