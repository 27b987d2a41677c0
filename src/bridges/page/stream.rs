//! Server-sent events: each part after a change, and heartbeats in between.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::stream;
use http::Response;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::response::{PageResponse, with_kind};
use super::sampler::{PageParts, PageSampler, StreamGuard};

/// The interval of heartbeats while nothing changes. A disconnected viewer is detected by them.
const LIFE_SIGN_INTERVAL: Duration = Duration::from_secs(15);
/// The delay before a disconnected browser retries, in milliseconds.
const RETRY_MS: u64 = 2_000;

struct EventSource {
    published: watch::Receiver<Arc<PageParts>>,
    sent: PageParts,
    current: CancellationToken,
    is_first: bool,
    _looking: StreamGuard,
}

/// Streams all parts until `current` is cancelled. Returns `None` if there are too many streams.
pub(super) async fn events(sampler: &Arc<PageSampler>, current: CancellationToken) -> Option<PageResponse> {
    let (mut published, looking) = sampler.follow()?;
    published.mark_changed();
    let source =
        EventSource { published, sent: PageParts::new(), current, is_first: true, _looking: looking };
    let events = stream::unfold(source, |mut source| async move {
        let text = source.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), source))
    });
    Some(with_kind(Response::new(StreamBody::new(events).boxed_unsync()), "text/event-stream"))
}

impl EventSource {
    async fn next(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                changed = self.published.changed() => changed.ok()?,
                () = tokio::time::sleep(LIFE_SIGN_INTERVAL) => return Some(":\n\n".to_owned()),
                () = self.current.cancelled() => return None,
            }
            let parts = Arc::clone(&self.published.borrow_and_update());
            let mut text = String::new();
            if std::mem::take(&mut self.is_first) {
                text.push_str(&format!("retry: {RETRY_MS}\n\n"));
            }
            for (name, json) in parts.iter() {
                if self.sent.get(name).is_some_and(|sent| Arc::ptr_eq(sent, json)) {
                    continue;
                }
                // JSON on one line contains no line break.
                text.push_str(&format!("event: {name}\ndata: {json}\n\n"));
                self.sent.insert(name, Arc::clone(json));
            }
            if !text.is_empty() {
                return Some(text);
            }
        }
    }
}
