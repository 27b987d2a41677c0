//! The samples of the page's data, taken every few seconds while the page has a viewer.
//!
//! Without a viewer nothing is sampled or kept.

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

/// The interval between samples of servers, files, clients and the log.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(2);
/// The minimum interval between updates of calls.
const CALLS_INTERVAL: Duration = Duration::from_millis(150);
/// The time that sampling continues after the last request, so that a reloaded page keeps its
/// history.
const LINGER: Duration = Duration::from_secs(60);
/// The time limit for the first samples.
const FIRST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for the texts of an edit.
const EDIT_TIMEOUT: Duration = Duration::from_secs(10);
/// The limit on concurrent event streams.
const MAX_STREAMS: usize = 16;

/// Each part as JSON, by its name. An unchanged part keeps its allocation.
pub(super) type PageParts = BTreeMap<&'static str, Arc<str>>;

/// The published data, and the activity of viewers.
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

/// Clears the running mark if the sampler panics, so that the next request starts another one.
struct RunningSampler<'a>(&'a PageSampler);

impl Drop for RunningSampler<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.activity.lock().is_running = false;
        }
    }
}

/// Counts one viewer until dropped.
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

    /// Returns all parts as one JSON object.
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

    /// Subscribes a viewer to current and future parts. Returns `None` if there are too many
    /// streams.
    pub(super) fn follow(self: &Arc<Self>) -> Option<(watch::Receiver<Arc<PageParts>>, StreamGuard)> {
        if self.streams.fetch_add(1, Ordering::Relaxed) >= MAX_STREAMS {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let guard = StreamGuard(Arc::clone(self));
        self.wake();
        Some((self.published.subscribe(), guard))
    }

    /// Returns the changes of an edit as JSON. Returns `None` if the edit does not exist, or all of
    /// it is hidden.
    pub(super) async fn edit(self: &Arc<Self>, id: String) -> Option<String> {
        self.wake();
        let runtime = self.setup.live.current();
        let overview =
            tokio::task::spawn_blocking(move || runtime.edit_overview(&id, &runtime.overview_veil()));
        let edit = tokio::time::timeout(EDIT_TIMEOUT, overview).await.ok()?.ok()?.ok()?;
        let has_files = edit["files"].as_array().is_some_and(|files| !files.is_empty());
        has_files.then(|| edit.to_string())
    }

    /// Records a request, and starts the sampler if it is not running.
    fn wake(self: &Arc<Self>) {
        let mut activity = self.activity.lock();
        activity.last_request = Instant::now();
        if !activity.is_running {
            activity.is_running = true;
            tokio::spawn(Arc::clone(self).run());
        }
    }

    /// Returns true if the page has had no viewer for a while. Then sampling stops until the next
    /// request.
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
            let redactor = runtime.overview_veil();
            if Instant::now() >= due {
                memory = self.sample(&runtime, &redactor, memory, &mut parts).await;
                due = Instant::now() + SAMPLE_INTERVAL;
            }
            changes.borrow_and_update();
            publish(&mut parts, "calls", &parts::calls(&runtime, &redactor));
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
        redactor: &OverviewVeil,
        mut memory: PageMemory,
        parts: &mut PageParts,
    ) -> PageMemory {
        publish(parts, "servers", &memory.servers(runtime, &self.setup, redactor).await);
        // These read files, so they run on a blocking thread.
        let (runtime, redactor, setup) = (runtime.clone(), redactor.clone(), self.setup.clone());
        let snapshot = tokio::task::spawn_blocking(move || {
            let mut files = runtime.files_overview(&redactor);
            let root = runtime.workspace().clone();
            memory.forget_files(|path| {
                let shown = root.path(std::path::Path::new(path));
                files.clean.contains(path)
                    || !shown.is_ok_and(|path| root.exists(&path) && !redactor.hides(&path))
            });
            files.files.iter_mut().for_each(|file| {
                file.first.iter_mut().for_each(|finding| redactor.redact_all(finding));
            });
            let made = [
                ("files", memory.files(files)),
                ("edits", parts::edits(&runtime, &redactor)),
                ("clients", parts::clients(&runtime, &setup, &redactor)),
                ("log", parts::log(&setup, &redactor)),
            ];
            (memory, made)
        });
        match snapshot.await {
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

/// Stores `value` as a part, unless it is unchanged.
fn publish(parts: &mut PageParts, name: &'static str, value: &Value) {
    let json = value.to_string();
    if parts.get(name).is_none_or(|known| **known != *json) {
        parts.insert(name, json.into());
    }
}
