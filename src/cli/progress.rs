//! The progress line on stderr, shown only on a terminal and erased before the answer.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use unicode_width::UnicodeWidthChar;

use crate::lsp::session::progress::ProgressEvent;

use super::console;
use super::render::terminal::escape;

/// The delay before the line is drawn, so that fast commands show none.
const PROGRESS_INITIAL_DELAY: Duration = Duration::from_millis(200);
/// The minimum interval between two redraws.
const PROGRESS_REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// The number of cells of the bar.
const PROGRESS_BAR_CELLS: usize = 12;

/// The line, drawn by a task until it is stopped.
#[derive(Debug)]
pub(super) struct ProgressLine {
    task: JoinHandle<()>,
    stop: DropGuard,
}

impl ProgressLine {
    /// Starts to draw the progress of `events` on stderr, which must be a terminal.
    pub(super) fn start(events: UnboundedReceiver<ProgressEvent>) -> Self {
        let stop = CancellationToken::new();
        let width = || console::width(&io::stderr());
        let task = tokio::spawn(draw(events, io::stderr(), width, stop.clone()));
        Self { task, stop: stop.drop_guard() }
    }

    /// Clears the line and stops drawing.
    pub(super) async fn finish(self) {
        self.stop.disarm().cancel();
        // The panic hook has reported a panic of the task.
        let _ = self.task.await;
    }
}

async fn draw(
    mut events: UnboundedReceiver<ProgressEvent>,
    mut out: impl Write,
    width: impl Fn() -> usize,
    stop: CancellationToken,
) {
    let mut state = ProgressLineState::default();
    let mut next = Instant::now() + PROGRESS_INITIAL_DELAY;
    let mut drawn = String::new();
    let mut open = true;
    loop {
        let line = truncate_to_width(&state.line(), width());
        tokio::select! {
            () = stop.cancelled() => break,
            event = events.recv(), if open => match event {
                Some(event) => state.apply(event),
                None => open = false,
            },
            () = sleep_until(next), if line != drawn => {
                // A closed terminal ends the drawing, not the work.
                if write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush()).is_err() {
                    return;
                }
                drawn = line;
                next = Instant::now() + PROGRESS_REDRAW_INTERVAL;
            }
        }
    }
    if !drawn.is_empty() {
        let _ = write!(out, "\r\x1b[2K").and_then(|()| out.flush());
    }
}

/// The work in progress.
#[derive(Debug, Default)]
struct ProgressLineState {
    servers: BTreeMap<String, String>,
    installing: Option<String>,
    files: Option<(usize, usize)>,
}

impl ProgressLineState {
    fn apply(&mut self, event: ProgressEvent) {
        match event {
            ProgressEvent::ServerStarting { server } => {
                self.installing = None;
                self.servers.insert(server, "starting".to_owned());
            }
            ProgressEvent::ServerProgress { server, title, message, percentage } => {
                self.servers.insert(server, activity_text(&title, message.as_deref(), percentage));
            }
            ProgressEvent::ServerReady { server } => {
                self.servers.remove(&server);
            }
            ProgressEvent::FilesChecked { done, total } => self.files = Some((done, total)),
            ProgressEvent::CommandRuns { .. } => {}
            ProgressEvent::Installing { server, step } => {
                self.installing = Some(format!("installing {server}: {step}"));
            }
        }
    }

    /// Formats one line of safe text; empty without work in progress.
    fn line(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.installing.clone());
        if let Some((done, total)) = self.files {
            parts.push(format!("{} checked {done} of {total} files", bar(done, total)));
        }
        parts.extend(self.servers.iter().map(|(server, doing)| format!("{server} {doing}")));
        escape::words(&parts.join(" · "))
    }
}

/// Formats an activity, such as `indexing 40 %  src/lib.rs`.
fn activity_text(title: &str, message: Option<&str>, percentage: Option<u8>) -> String {
    let mut out = lowercase_title(title);
    if let Some(percentage) = percentage {
        out.push_str(&format!(" {} %", percentage.min(100)));
    }
    if let Some(message) = message.filter(|message| !message.is_empty()) {
        out.push_str(&format!(" ({message})"));
    }
    out
}

/// Converts a title for use within a sentence: `Indexing` becomes `indexing`, `LSP` stays.
fn lowercase_title(title: &str) -> String {
    let mut characters = title.chars();
    match (characters.next(), characters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}

fn bar(done: usize, total: usize) -> String {
    let filled = (done.min(total) * PROGRESS_BAR_CELLS).checked_div(total).unwrap_or(PROGRESS_BAR_CELLS);
    format!("{}{}", "━".repeat(filled), "─".repeat(PROGRESS_BAR_CELLS - filled))
}

/// Truncates `line` so that it never fills the last column, where terminals wrap lines.
fn truncate_to_width(line: &str, width: usize) -> String {
    let mut left = width.saturating_sub(1);
    let mut out = String::new();
    for character in line.chars() {
        let wide = character.width().unwrap_or(0);
        if wide > left {
            break;
        }
        left -= wide;
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    fn line(events: Vec<ProgressEvent>) -> String {
        let mut state = ProgressLineState::default();
        events.into_iter().for_each(|event| state.apply(event));
        state.line()
    }

    fn starting() -> ProgressEvent {
        ProgressEvent::ServerStarting { server: "pylsp".into() }
    }

    fn indexing(percentage: Option<u8>, message: Option<&str>) -> ProgressEvent {
        ProgressEvent::ServerProgress {
            server: "pylsp".into(),
            title: "Indexing".into(),
            message: message.map(Into::into),
            percentage,
        }
    }

    #[test]
    fn progress_line_names_pending_servers_and_checked_files() {
        assert_eq!(line(vec![]), "");
        assert_eq!(line(vec![starting()]), "pylsp starting");
        assert_eq!(line(vec![starting(), indexing(Some(40), None)]), "pylsp indexing 40 %");
        assert_eq!(line(vec![indexing(None, Some("a\n\x1b[2Jb"))]), "pylsp indexing (a \\u{1b}[2Jb)");
        assert_eq!(line(vec![starting(), ProgressEvent::ServerReady { server: "pylsp".into() }]), "");
        let checked = ProgressEvent::FilesChecked { done: 12, total: 340 };
        assert_eq!(line(vec![checked]), "──────────── checked 12 of 340 files");
        let half = ProgressEvent::FilesChecked { done: 1, total: 2 };
        let both = line(vec![half, starting()]);
        assert_eq!(both, "━━━━━━────── checked 1 of 2 files · pylsp starting");
    }

    #[test]
    fn progress_line_is_cut_below_terminal_width() {
        assert_eq!(truncate_to_width("pylsp starting", 6), "pylsp");
        assert_eq!(truncate_to_width("名前", 4), "名");
        assert_eq!(truncate_to_width("abc", 0), "");
    }

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().map_err(|_| io::Error::other("poisoned"))?.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
        }
    }

    #[tokio::test]
    async fn progress_that_ends_immediately_is_not_drawn() {
        let (sender, receiver) = unbounded_channel();
        let (screen, stop) = (Screen::default(), CancellationToken::new());
        let task = tokio::spawn(draw(receiver, screen.clone(), || 80, stop.clone()));
        sender.send(starting()).unwrap();
        stop.cancel();
        task.await.unwrap();
        assert_eq!(screen.text(), "");
    }

    #[tokio::test]
    async fn progress_redraw_is_rate_limited_and_line_cleared_at_end() {
        let (sender, receiver) = unbounded_channel();
        let (screen, stop) = (Screen::default(), CancellationToken::new());
        let task = tokio::spawn(draw(receiver, screen.clone(), || 80, stop.clone()));
        let from = std::time::Instant::now();
        let mut done = 0;
        while from.elapsed() < Duration::from_millis(650) {
            done += 1;
            sender.send(ProgressEvent::FilesChecked { done, total: 1_000_000 }).unwrap();
            tokio::task::yield_now().await;
        }
        stop.cancel();
        task.await.unwrap();
        let text = screen.text();
        let frames = text.matches("checked").count();
        assert!((1..=6).contains(&frames), "{frames} frames of {done} events");
        assert!(text.ends_with("\r\x1b[2K"), "{text:?}");
    }
}
