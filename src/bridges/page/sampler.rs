//! The samples that are shown: taken every few seconds while somebody looks, and neither taken nor kept otherwise.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::parts::{self, PageMemory};
use super::setup::PageSetup;
use crate::runtime::Runtime;
use crate::runtime::overview::OverviewVeil;

/// How often servers, files, clients and the log are looked at.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(2);
/// Calls are shown at most so often.
const CALLS_INTERVAL: Duration = Duration::from_millis(150);
/// Sampling goes on for this time after the last request, so that a page that is loaded anew has its history.
const LINGER: Duration = Duration::from_secs(60);
/// The first samples are there within this time.
const FIRST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);
/// An edit's texts are there within this time.
const EDIT_TIMEOUT: Duration = Duration::from_secs(10);
/// The most event streams at a time.
const MAX_STREAMS: usize = 16;

/// Each part as JSON, by its name. Parts that did not change are the same allocation.
pub(super) type PageParts = BTreeMap<&'static str, Arc<str>>;

/// What is shown, and who looks.
pub(super) struct PageSampler {
    setup: PageSetup,
    end: CancellationToken,
    published: watch::Sender<Arc<PageParts>>,
    streams: AtomicUsize,
    activity: Mutex<SamplerActivity>,
}

struct SamplerActivity {
    last_request: Instant,
    is_running: bool,
}

/// A sampler that runs; where it fails, the next request starts another.
struct RunningSampler<'a>(&'a PageSampler);

impl Drop for RunningSampler<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.activity.lock().is_running = false;
        }
    }
}

/// Somebody looks, until this is dropped.
pub(super) struct StreamGuard(Arc<PageSampler>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
        self.0.activity.lock().last_request = Instant::now();
    }
}

impl PageSampler {
    pub(super) fn new(setup: PageSetup, end: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            setup,
            end,
            published: watch::Sender::default(),
            streams: AtomicUsize::new(0),
            activity: Mutex::new(SamplerActivity { last_request: Instant::now(), is_running: false }),
        })
    }

    /// Everything as one JSON object.
    pub(super) async fn state(self: &Arc<Self>) -> String {
        self.wake();
        let mut published = self.published.subscribe();
        let ready = published.wait_for(|parts| !parts.is_empty());
        let parts = match tokio::time::timeout(FIRST_SAMPLE_TIMEOUT, ready).await {
            Ok(Ok(parts)) => Arc::clone(&parts),
            Ok(Err(_)) | Err(_) => Arc::default(),
        };
        let fields: Vec<String> = parts.iter().map(|(name, json)| format!("\"{name}\":{json}")).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// The parts now and in future, for one who looks; `None` where too many do.
    pub(super) fn follow(self: &Arc<Self>) -> Option<(watch::Receiver<Arc<PageParts>>, StreamGuard)> {
        if self.streams.fetch_add(1, Ordering::Relaxed) >= MAX_STREAMS {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let guard = StreamGuard(Arc::clone(self));
        self.wake();
        Some((self.published.subscribe(), guard))
    }

    /// What an edit did, as JSON; `None` where there is none, or nothing of it may be seen.
    pub(super) async fn edit(self: &Arc<Self>, id: String) -> Option<String> {
        self.wake();
        let runtime = self.setup.live.current();
        let look = tokio::task::spawn_blocking(move || runtime.edit_overview(&id, &runtime.overview_veil()));
        let edit = tokio::time::timeout(EDIT_TIMEOUT, look).await.ok()?.ok()?.ok()?;
        let has_files = edit["files"].as_array().is_some_and(|files| !files.is_empty());
        has_files.then(|| edit.to_string())
    }

    /// Sees to it that samples are taken from now on.
    fn wake(self: &Arc<Self>) {
        let mut activity = self.activity.lock();
        activity.last_request = Instant::now();
        if !activity.is_running {
            activity.is_running = true;
            tokio::spawn(Arc::clone(self).run());
        }
    }

    /// Whether nobody has looked for a while; nothing is sampled then until somebody does.
    fn is_abandoned(&self) -> bool {
        let mut activity = self.activity.lock();
        let idle = self.streams.load(Ordering::Relaxed) == 0 && activity.last_request.elapsed() > LINGER;
        if idle {
            activity.is_running = false;
            self.published.send_replace(Arc::default());
        }
        idle
    }

    async fn run(self: Arc<Self>) {
        let _running = RunningSampler(&self);
        let mut memory = PageMemory::default();
        let feed = self.setup.live.current().call_feed().clone();
        let _watching = feed.watch();
        let mut changes = feed.changes();
        let mut parts = PageParts::new();
        let mut due = Instant::now();
        while !self.end.is_cancelled() && !self.is_abandoned() {
            let runtime = self.setup.live.current();
            let veil = runtime.overview_veil();
            if Instant::now() >= due {
                memory = self.sample(&runtime, &veil, memory, &mut parts).await;
                due = Instant::now() + SAMPLE_INTERVAL;
            }
            changes.borrow_and_update();
            publish(&mut parts, "calls", &parts::calls(&runtime, &veil));
            drop(runtime);
            self.published.send_replace(Arc::new(parts.clone()));
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => {}
                _ = changes.changed() => tokio::time::sleep(CALLS_INTERVAL).await,
                () = self.end.cancelled() => {}
            }
        }
    }

    async fn sample(
        &self,
        runtime: &Runtime,
        veil: &OverviewVeil,
        mut memory: PageMemory,
        parts: &mut PageParts,
    ) -> PageMemory {
        publish(parts, "servers", &memory.servers(runtime, &self.setup, veil).await);
        // These read files.
        let (runtime, veil, setup) = (runtime.clone(), veil.clone(), self.setup.clone());
        let look = tokio::task::spawn_blocking(move || {
            let mut files = runtime.files_overview(&veil);
            let root = runtime.workspace().clone();
            memory.forget_files(|path| {
                let shown = root.path(std::path::Path::new(path));
                files.clean.contains(path)
                    || !shown.is_ok_and(|path| root.exists(&path) && !veil.hides(&path))
            });
            files.files.iter_mut().for_each(|file| {
                file.first.iter_mut().for_each(|finding| veil.redact_all(finding));
            });
            let made = [
                ("files", memory.files(files)),
                ("edits", parts::edits(&runtime, &veil)),
                ("clients", parts::clients(&runtime, &setup, &veil)),
                ("log", parts::log(&setup, &veil)),
            ];
            (memory, made)
        });
        match look.await {
            Ok((memory, made)) => {
                for (name, value) in &made {
                    publish(parts, name, value);
                }
                memory
            }
            Err(error) => {
                tracing::error!("the page cannot be filled: {error}");
                PageMemory::default()
            }
        }
    }
}

/// Puts `value` into the parts unless it is there already.
fn publish(parts: &mut PageParts, name: &'static str, value: &Value) {
    let json = value.to_string();
    if parts.get(name).is_none_or(|known| **known != *json) {
        parts.insert(name, json.into());
    }
}
