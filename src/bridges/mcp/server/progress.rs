//! `notifications/progress`: progress of slow work, only for a call that brought a token, and never after its answer.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lsp::progress::ProgressEvent;

/// So much time lies between two notifications; what comes faster is told by the last of it.
const PROGRESS_NOTIFICATION_INTERVAL: Duration = Duration::from_millis(100);

/// Tells `peer` of `events` until `answered` is cancelled; what is being told then is told to its end.
pub(super) async fn forward(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut events: UnboundedReceiver<ProgressEvent>,
    answered: CancellationToken,
) {
    let mut step = 0.0;
    let mut next = Instant::now();
    loop {
        let event = tokio::select! {
            biased;
            () = answered.cancelled() => return,
            event = events.recv() => event,
        };
        let Some(mut event) = event else {
            // Nobody can tell anything any more; the answer is on its way.
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
        // Servers count each for itself, and their percentages go up and down; MCP wants numbers that only grow.
        step += 1.0;
        let told = ProgressNotificationParam::new(token.clone(), step).with_message(message(&event));
        if peer.notify_progress(told).await.is_err() {
            return;
        }
        next = Instant::now() + PROGRESS_NOTIFICATION_INTERVAL;
    }
}

fn message(event: &ProgressEvent) -> String {
    match event {
        ProgressEvent::ServerStarting { server } => format!("{server} is starting"),
        ProgressEvent::ServerReady { server } => format!("{server} is ready"),
        ProgressEvent::FilesChecked { done, total } => format!("{done} of {total} files checked"),
        ProgressEvent::Installing { server, step } => format!("installing {server}: {step}"),
        ProgressEvent::ServerProgress { server, title, message, percentage } => {
            let percentage = percentage.map(|percentage| format!(" {percentage}%")).unwrap_or_default();
            let message = message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
            format!("{server}: {title}{percentage}{message}")
        }
    }
}
