//! Subscriptions of clients: changes of the tool list and of resources.
//!
//! A subscriber is a receiver created *before* its client's subscription is acknowledged. It sees
//! every later change whenever it is read, so no change is lost between the acknowledgement and the
//! first read.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{pending, select_all};
use parking_lot::{Mutex, MutexGuard};
use rmcp::model::SubscriptionFilter;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::options::ServerOptions;
use super::resources::{self, ResourceTarget};
use crate::runtime::calls::observe::{DiagnosticsMark, OfferedTools};
use crate::workspace::WorkspacePath;

/// The polling interval for folders and files with subscribers. Servers report changes by
/// themselves.
const RESOURCE_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The delay that merges frequent messages of a server into one.
const SERVER_CHANGE_DEBOUNCE_DELAY: Duration = Duration::from_millis(150);
/// The number of accepted subscriptions that have not been picked up yet.
const MAX_PENDING_SUBSCRIPTIONS: usize = 64;
/// The number of resources whose last read content is remembered.
const MAX_REMEMBERED_RESOURCES: usize = 1024;
/// The limit on watched resources per client.
pub(super) const MAX_WATCHED_RESOURCES: usize = 256;

/// The list of tools at one time.
#[derive(Clone)]
struct ToolList {
    tools: OfferedTools,
    print: u64,
}

/// Watches tools and resources for all clients that share it.
pub(super) struct SubscriptionHub {
    options: ServerOptions,
    disconnected: CancellationToken,
    inner: Mutex<SubscriptionHubInner>,
}

#[derive(Default)]
struct SubscriptionHubInner {
    /// Counts changes of the list of tools; `None` without subscribers.
    tools: Option<watch::Sender<u64>>,
    /// Counts changes of resources with subscribers.
    resources: HashMap<String, watch::Sender<u64>>,
    /// The fingerprint of each resource when it was last read.
    read: HashMap<String, u64>,
    /// Accepted subscriptions that have not been picked up yet.
    noted: VecDeque<(SubscriptionFilter, Subscription)>,
}

/// The receivers of one subscription.
#[derive(Clone, Default)]
pub(super) struct Subscription {
    /// The receiver for the list of tools.
    pub(super) tools: Option<watch::Receiver<u64>>,
    /// The receiver for each resource.
    pub(super) resources: Vec<(String, watch::Receiver<u64>)>,
}

/// A change reported by a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubscriptionChange {
    /// The list of tools has changed.
    Tools,
    /// The resource with this URI has changed.
    Resource(String),
}

impl SubscriptionHub {
    pub(super) fn new(options: ServerOptions, disconnected: CancellationToken) -> Arc<Self> {
        Arc::new(Self { options, disconnected, inner: Mutex::default() })
    }

    fn lock_inner(&self) -> MutexGuard<'_, SubscriptionHubInner> {
        // No panic under this lock leaves the state incomplete.
        self.inner.lock()
    }

    /// Accepts the supported part of `wanted`. It is watched from now on, until
    /// [`begin`](Self::begin) passes it to its subscriber.
    pub(super) fn accept(self: &Arc<Self>, wanted: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::default();
        let mut subscription = Subscription::default();
        if wanted.tools_list_changed == Some(true) {
            subscription.tools = Some(self.tools());
            accepted.tools_list_changed = Some(true);
        }
        if let Some(uris) = &wanted.resource_subscriptions {
            let watched = uris
                .iter()
                .take(MAX_WATCHED_RESOURCES)
                .filter_map(|uri| Some((uri.clone(), self.watch_resource(uri)?)));
            subscription.resources = watched.collect();
            accepted.resource_subscriptions =
                Some(subscription.resources.iter().map(|(uri, _)| uri.clone()).collect());
        }
        let mut inner = self.lock_inner();
        if inner.noted.len() == MAX_PENDING_SUBSCRIPTIONS {
            inner.noted.pop_front();
        }
        inner.noted.push_back((wanted.clone(), subscription));
        accepted
    }

    /// Returns the subscription accepted for `wanted`, with all changes since.
    pub(super) fn begin(self: &Arc<Self>, wanted: &SubscriptionFilter) -> Subscription {
        let mut inner = self.lock_inner();
        let place = inner.noted.iter().position(|(noted, _)| noted == wanted);
        // If two clients request the same at once, the first one may get the slightly later
        // subscription of the other.
        match place.and_then(|place| inner.noted.remove(place)) {
            Some((_, subscription)) => subscription,
            None => {
                drop(inner);
                self.accept(wanted);
                self.lock_inner().noted.pop_back().map(|(_, subscription)| subscription).unwrap_or_default()
            }
        }
    }

    /// Returns a receiver that wakes when the list of tools changes.
    pub(super) fn tools(self: &Arc<Self>) -> watch::Receiver<u64> {
        let mut inner = self.lock_inner();
        if let Some(sender) = &inner.tools {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(0);
        inner.tools = Some(sender.clone());
        drop(inner);
        let first = self.list_of_tools(None);
        tokio::spawn(Arc::clone(self).watch_tools(sender, first));
        receiver
    }

    async fn watch_tools(self: Arc<Self>, sender: watch::Sender<u64>, first: ToolList) {
        let mut last = first;
        let mut replaced = self.options.live.changes();
        replaced.mark_unchanged();
        loop {
            tokio::select! {
                () = self.disconnected.cancelled() => return,
                changed = replaced.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(RESOURCE_POLL_INTERVAL) => {}
            }
            let watch = Arc::clone(&self);
            let known = last.clone();
            let listing = tokio::task::spawn_blocking(move || watch.list_of_tools(Some(known)));
            let Ok(now) = listing.await else { return };
            if now.print != last.print {
                sender.send_modify(|count| *count += 1);
            }
            last = now;
            let mut inner = self.lock_inner();
            if sender.receiver_count() == 0 {
                inner.tools = None;
                return;
            }
        }
    }

    /// Returns the current list, or `known` if nothing can have changed since.
    fn list_of_tools(&self, known: Option<ToolList>) -> ToolList {
        let runtime = self.options.live.current();
        let tools = runtime.offered_tools();
        if let Some(known) = known.filter(|known| known.tools == tools) {
            return known;
        }
        let mut hasher = DefaultHasher::new();
        for definition in runtime.definitions(&self.options.caller) {
            definition.card.name.hash(&mut hasher);
            definition.card.description.hash(&mut hasher);
            definition.input.as_value().to_string().hash(&mut hasher);
        }
        ToolList { tools, print: hasher.finish() }
    }

    /// Returns a receiver that wakes when the resource `uri` changes. Returns `None` if it cannot
    /// be watched.
    pub(super) fn watch_resource(self: &Arc<Self>, uri: &str) -> Option<watch::Receiver<u64>> {
        let mut inner = self.lock_inner();
        if let Some(sender) = inner.resources.get(uri) {
            return Some(sender.subscribe());
        }
        let path = self.watchable_path(uri)?;
        let (sender, receiver) = watch::channel(0);
        inner.resources.insert(uri.to_owned(), sender.clone());
        // Content that any client reads from now on may be a change for this one.
        let known = inner.read.get(uri).copied();
        drop(inner);
        tokio::spawn(Arc::clone(self).watch_diagnostics(uri.to_owned(), path, sender, known));
        Some(receiver)
    }

    /// Returns the file or folder of a diagnostics resource. Other resources cannot be watched.
    fn watchable_path(&self, uri: &str) -> Option<WorkspacePath> {
        match resources::parse_target(&self.options.live.current(), uri) {
            Ok(ResourceTarget::Diagnostics(path)) => Some(path),
            _ => None,
        }
    }

    /// Records the content of a watchable resource that a client has read, so that later
    /// differences count as changes.
    pub(super) fn was_read(&self, uri: &str, text: &str) {
        if self.watchable_path(uri).is_none() {
            return;
        }
        let mut inner = self.lock_inner();
        if inner.read.len() >= MAX_REMEMBERED_RESOURCES {
            inner.read.clear();
        }
        inner.read.insert(uri.to_owned(), fingerprint(text));
    }

    async fn watch_diagnostics(
        self: Arc<Self>,
        uri: String,
        path: WorkspacePath,
        sender: watch::Sender<u64>,
        mut reported: Option<u64>,
    ) {
        let mut mark: Option<DiagnosticsMark> = None;
        while self.is_wanted(&uri, &sender) {
            let runtime = self.options.live.current();
            let now = runtime.diagnostics_mark(&path).await;
            if mark != Some(now) {
                let cancelled = self.disconnected.child_token();
                let looked = resources::diagnostics(&runtime, &self.options.caller, &path, cancelled);
                let text = tokio::select! {
                    text = looked => text,
                    () = sender.closed() => continue,
                };
                let print = fingerprint(&text);
                // The text may date from the start of the check, so later changes are checked
                // again. The check itself may cause one server report, which counts once.
                let later = runtime.diagnostics_mark(&path).await;
                let is_settled = reported == Some(print) && later.only_repeats(now);
                mark = Some(if is_settled { later } else { now });
                let known = reported.or_else(|| self.lock_inner().read.get(&uri).copied());
                if known.is_some_and(|known| known != print) {
                    sender.send_modify(|count| *count += 1);
                }
                reported = Some(print);
            }
            tokio::select! {
                () = self.disconnected.cancelled() => {}
                () = sender.closed() => {}
                () = wait_for_any(runtime.server_change_receivers()) => tokio::time::sleep(SERVER_CHANGE_DEBOUNCE_DELAY).await,
                () = tokio::time::sleep(RESOURCE_POLL_INTERVAL) => {}
            }
        }
    }

    /// Returns true if `sender` has receivers; otherwise removes it.
    fn is_wanted(&self, uri: &str, sender: &watch::Sender<u64>) -> bool {
        let mut inner = self.lock_inner();
        let wanted = !self.disconnected.is_cancelled() && sender.receiver_count() > 0;
        if !wanted {
            inner.resources.remove(uri);
        }
        wanted
    }
}

impl Subscription {
    /// Returns the next change. Never returns if no subscription remains.
    pub(super) async fn next(&mut self) -> SubscriptionChange {
        let tools = wait_for_change(&mut self.tools, SubscriptionChange::Tools);
        let resources = async {
            let waiting = self.resources.iter_mut().map(|(uri, receiver)| {
                Box::pin(async {
                    match receiver.changed().await {
                        Ok(()) => SubscriptionChange::Resource(uri.clone()),
                        Err(_) => pending().await,
                    }
                })
            });
            let waiting: Vec<_> = waiting.collect();
            if waiting.is_empty() { pending().await } else { select_all(waiting).await.0 }
        };
        tokio::select! {
            change = tools => change,
            change = resources => change,
        }
    }
}

async fn wait_for_change(
    receiver: &mut Option<watch::Receiver<u64>>,
    change: SubscriptionChange,
) -> SubscriptionChange {
    let Some(receiver) = receiver else { return pending().await };
    match receiver.changed().await {
        Ok(()) => change,
        Err(_) => pending().await,
    }
}

async fn wait_for_any(mut bells: Vec<watch::Receiver<u64>>) {
    if bells.is_empty() {
        return pending().await;
    }
    // The end of a server counts as a change, since it can affect the diagnostics.
    let _ended = select_all(bells.iter_mut().map(|bell| Box::pin(bell.changed()))).await;
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
