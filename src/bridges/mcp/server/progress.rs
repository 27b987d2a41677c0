//! `notifications/progress`: progress of slow work, only for calls with a token, and never after
//! their answer.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lsp::session::progress::ProgressEvent;

/// The minimum interval between two notifications. Of faster events only the last one is sent.
const PROGRESS_NOTIFICATION_INTERVAL: Duration = Duration::from_millis(100);

/// Sends `events` to `peer` until `answered` is cancelled. A notification in progress is completed.
pub(super) async fn forward(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut events: UnboundedReceiver<ProgressEvent>,
    answered: CancellationToken,
) {
    let mut counter = ProgressCounter::default();
    let mut next = Instant::now();
    loop {
        let event = tokio::select! {
            biased;
            () = answered.cancelled() => return,
            event = events.recv() => event,
        };
        let Some(mut event) = event else {
            // The channel is closed; the answer is on its way.
            return;
        };
        tokio::select! {
            biased;
            () = answered.cancelled() => return,
            () = tokio::time::sleep_until(next) => {}
        }
        while let Ok(later) = events.try_recv() {
            event = later;
        }
        let Some((progress, total)) = counter.count(&event) else { continue };
        let mut params =
            ProgressNotificationParam::new(token.clone(), progress).with_message(message(&event));
        params.total = total;
        if peer.notify_progress(params).await.is_err() {
            return;
        }
        next = Instant::now() + PROGRESS_NOTIFICATION_INTERVAL;
    }
}

/// The progress counter of a call, which only increases.
///
/// The counter counts checked files or lines of output. Events without a count add a growing
/// fraction between two counts. Servers' percentages are part of the message, since they can
/// decrease.
#[derive(Debug, Default)]
struct ProgressCounter {
    done: usize,
    total: Option<usize>,
    /// The number of events since `done` increased.
    steps: usize,
    last: Option<ProgressEvent>,
}

impl ProgressCounter {
    /// Returns the progress at `event`, with its total if known. Returns `None` for a repeated
    /// event.
    fn count(&mut self, event: &ProgressEvent) -> Option<(f64, Option<f64>)> {
        if self.last.as_ref() == Some(event) {
            return None;
        }
        let (done, total) = match event {
            ProgressEvent::FilesChecked { done, total } => (*done, Some(*total)),
            ProgressEvent::CommandRuns { lines, .. } => (*lines, None),
            ProgressEvent::ServerStarting { .. }
            | ProgressEvent::ServerProgress { .. }
            | ProgressEvent::ServerReady { .. }
            | ProgressEvent::Installing { .. } => (self.done, self.total),
        };
        let is_counted = done > self.done;
        if !is_counted && self.total == Some(self.done) {
            return None;
        }
        self.last = Some(event.clone());
        (self.done, self.steps) = if is_counted { (done, 0) } else { (self.done, self.steps + 1) };
        self.total = total.filter(|total| *total >= self.done).or(self.total);
        let fraction = 1.0 - 1.0 / (self.steps as f64 + 1.0);
        Some((self.done as f64 + fraction, self.total.map(|total| total as f64)))
    }
}

fn message(event: &ProgressEvent) -> String {
    match event {
        ProgressEvent::ServerStarting { server } => format!("{server} is starting"),
        ProgressEvent::ServerReady { server } => format!("{server} is ready"),
        ProgressEvent::FilesChecked { done, total } => format!("{done} of {total} files checked"),
        ProgressEvent::CommandRuns { lines, seconds } => {
            let ending = if *lines == 1 { "" } else { "s" };
            format!("{lines} line{ending} of output after {seconds} s")
        }
        ProgressEvent::Installing { server, step } => format!("installing {server}: {step}"),
        ProgressEvent::ServerProgress { server, title, message, percentage } => {
            let percentage = percentage.map(|percentage| format!(" {percentage}%")).unwrap_or_default();
            let message = message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
            format!("{server}: {title}{percentage}{message}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_grows_with_every_change_and_has_the_total_where_it_is_known() {
        let starting = || ProgressEvent::ServerStarting { server: "pylsp".into() };
        let checked = |done| ProgressEvent::FilesChecked { done, total: 4 };
        let mut counter = ProgressCounter::default();
        let events = [starting(), starting(), checked(0), checked(1), checked(1), starting(), checked(3)];
        let counted: Vec<_> = events.iter().filter_map(|event| counter.count(event)).collect();
        let total = Some(4.0);
        assert_eq!(counted[1].1, total);
        assert_eq!(counted[2], (1.0, total));
        assert_eq!(counted[4], (3.0, total));
        assert_eq!(counted.len(), 5);
        assert!(counted.is_sorted_by(|(earlier, _), (later, _)| earlier < later), "{counted:?}");
        let mut counter = ProgressCounter::default();
        let ran = |lines, seconds| ProgressEvent::CommandRuns { lines, seconds };
        let events = [ran(0, 1), ran(0, 2), ran(5, 2), ran(5, 3)];
        let counted: Vec<_> = events.iter().filter_map(|event| counter.count(event)).collect();
        assert!(counted.is_sorted_by(|(earlier, _), (later, _)| earlier < later), "{counted:?}");
        assert_eq!(counted[2], (5.0, None));
    }
}
