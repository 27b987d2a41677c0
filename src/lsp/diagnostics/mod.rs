//! Diagnostics of exactly the text that is on disk now, or an explicit statement that there are
//! none yet.
//!
//! There are three ways, chosen by the server's capabilities and the catalogue's rule: pulls
//! ([`pull`]), pushes ([`push`]), and requests to tsserver through a command ([`tsserver`]). None
//! of them ever accepts findings that may belong to an older text. [`notebook`] checks the cells of
//! notebooks.

pub(crate) mod background_check;
pub(super) mod cache;
pub(crate) mod check_runs;
pub(crate) mod diagnostics_invalidation;
mod failed_check;
pub(crate) mod findings;
pub(crate) mod known;
mod notebook;
mod pull;
mod push;
pub(crate) mod refreshes;
mod tsserver;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use tokio::time::Instant;

use self::background_check::CheckDemand;
use super::model::{Diagnostic, Severity};
use super::session::ask::AskError;
use super::session::decode::PositionDecoder;
use super::session::live_session::Session;
use super::session::readiness::UnfinishedWork;
use super::session::request::DependencyScope;
use crate::config::spec::{DiagnosticsSource, FallsShort};
use crate::workspace::WorkspacePath;

use cache::CachedFindings;
use findings::{CollectedDiagnostics, DiagnosticsCompleteness, RawDiagnostics, ServerFileDiagnostics};
use pull::PULL;

impl Session {
    /// Returns a number that changes with each change on disk.
    pub(super) fn disk_revision(&self) -> u64 {
        self.disk.load(Ordering::Relaxed)
    }

    /// Records a change on disk that findings may depend on.
    pub(super) fn disk_changed(&self) {
        self.disk.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the last result of [`diagnostics`](Self::diagnostics) for `path`, if nothing on disk
    /// has changed since. Valid only after the manager has looked for changes, and for callers
    /// whose view is the disk.
    pub(crate) fn kept_diagnostics(&self, path: &WorkspacePath) -> Option<ServerFileDiagnostics> {
        let kept = self.cached_findings(path)?;
        let is_whole = kept.fresh.known == DiagnosticsCompleteness::Complete;
        (is_whole && self.state.spec.diagnostics.sees_unsaved).then_some(kept.fresh)
    }

    fn cached_findings(&self, path: &WorkspacePath) -> Option<CachedFindings> {
        let kept = self.diagnostics_cache.lock().get(path, self.disk_revision())?.clone();
        (self.workspace.stamp(path).ok()? == kept.stamp).then_some(kept)
    }

    /// Like [`kept_diagnostics`](Self::kept_diagnostics), for a question of any age. Only for
    /// servers whose findings change only after notifications: others read the disk or remote
    /// schemas.
    pub(crate) fn lasting_diagnostics(&self, path: &WorkspacePath) -> Option<ServerFileDiagnostics> {
        let rule = &self.state.spec.diagnostics;
        let is_kept = rule.source == DiagnosticsSource::Pull && (rule.keeps_findings || rule.own_text);
        let kept = self.cached_findings(path).filter(|_| is_kept)?;
        let settings_changes = self.diagnostics_cache.lock().settings_changes();
        let holds = !kept.is_assumed
            && kept.settings_changes == settings_changes
            && kept.refreshes == self.state.refreshes()
            && self.is_final(path, &kept.fresh);
        holds.then_some(kept.fresh)
    }

    /// Returns true if another request would not change the completeness of findings.
    fn is_final(&self, path: &WorkspacePath, fresh: &ServerFileDiagnostics) -> bool {
        match &fresh.known {
            // A reason may have arisen without any change of a file.
            DiagnosticsCompleteness::Complete => self.diagnostics_shortfall_reason(path).is_none(),
            DiagnosticsCompleteness::Partial(why) => {
                self.is_lasting_lack(path, why) || self.admitted_shortfall(fresh).as_ref() == Some(why)
            }
            DiagnosticsCompleteness::NoData(_) | DiagnosticsCompleteness::Skipped(_) => false,
        }
    }

    /// Keeps the findings from before an edit of files for which `is_edited` holds, in the files
    /// for which `stays` does: the edit does not concern them. Nothing is kept if other files have
    /// changed as well.
    pub(crate) fn carry_over_diagnostics(
        &self,
        is_edited: impl Fn(&WorkspacePath) -> bool,
        stays: impl Fn(&WorkspacePath) -> bool,
    ) {
        self.diagnostics_cache.lock().carry_over(self.disk_revision(), is_edited, stays, false);
    }

    /// Keeps final findings about the text on disk, if the disk is unchanged since the marks
    /// `before` the request: changes on disk, refreshes, and changes of settings.
    fn cache_diagnostics(
        &self,
        path: &WorkspacePath,
        fresh: &ServerFileDiagnostics,
        before: (u64, u64, u64),
    ) {
        let (disk, refreshes, settings_changes) = before;
        // Others find more in the background without any change.
        let rule = &self.state.spec.diagnostics;
        let on_demand = matches!(rule.source, DiagnosticsSource::Pull | DiagnosticsSource::Tsserver);
        let holds = on_demand && self.is_final(path, fresh);
        if !holds || !self.sees_disk() || disk != self.disk_revision() {
            return;
        }
        let Ok(stamp) = self.workspace.stamp(path) else { return };
        let found =
            CachedFindings { stamp, refreshes, settings_changes, is_assumed: false, fresh: fresh.clone() };
        self.diagnostics_cache.lock().insert(path.clone(), found, disk);
    }

    /// Returns the server's findings in `path` as it is on disk now.
    pub(crate) async fn diagnostics(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<ServerFileDiagnostics, AskError> {
        let _use_guard = self.mark_in_use();
        let settings_changes = self.diagnostics_cache.lock().settings_changes();
        let before = (self.disk_revision(), self.state.refreshes(), settings_changes);
        let started = Instant::now();
        let fresh = match self.collect_diagnostics(path, CheckDemand::Awaited, deadline).await? {
            CollectedDiagnostics::Decoded(fresh) => fresh,
            CollectedDiagnostics::Raw(raw) => {
                if raw.known == DiagnosticsCompleteness::Complete {
                    self.note_latency(started.elapsed());
                }
                self.decode_all(raw, deadline)
            }
        };
        let fresh = self.judge_findings(path, fresh, deadline).await;
        self.cache_diagnostics(path, &fresh, before);
        Ok(fresh)
    }

    /// The visible findings in `path`, with their completeness by the server's reports on the
    /// project.
    async fn judge_findings(
        &self,
        path: &WorkspacePath,
        mut fresh: ServerFileDiagnostics,
        deadline: Instant,
    ) -> ServerFileDiagnostics {
        self.find_limits(path, deadline).await;
        fresh.items.retain(|item| !self.leaves_out(path, item.source.as_deref(), &item.message));
        if self.state.spec.diagnostics.hints_are_findings {
            for hint in fresh.items.iter_mut().filter(|item| item.severity == Severity::Hint) {
                hint.severity = Severity::Information;
            }
        }
        let shortfall = || {
            let admitted = || self.admitted_shortfall(&fresh);
            self.diagnostics_shortfall_reason(path)
                .or_else(admitted)
                .or_else(|| self.missing_background_check())
        };
        if !fresh.known.lacks_findings()
            && let Some(shortfall) = shortfall()
        {
            fresh.known = DiagnosticsCompleteness::Partial(shortfall);
        }
        fresh
    }

    /// Returns the gap that the server itself admits by one of its findings.
    fn admitted_shortfall(&self, fresh: &ServerFileDiagnostics) -> Option<String> {
        let rules = &self.state.spec.diagnostics.falls_short;
        let says = |rule: &FallsShort, item: &Diagnostic| {
            rule.code.as_ref().is_none_or(|code| item.code.as_ref() == Some(code))
                && rule.matches.as_ref().is_none_or(|pattern| pattern.is_in(&item.message))
                && !(rule.without_build_file && self.has_build_file())
        };
        let rule = rules.iter().find(|rule| fresh.items.iter().any(|item| says(rule, item)));
        rule.map(|rule| format!("{}: {}", self.server(), rule.reason))
    }

    /// Returns the findings as LSP 3.17 *Diagnostic*s, for a request about them to the server.
    pub(super) async fn raw_diagnostics(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Arc<Vec<Value>>, AskError> {
        Ok(match self.collect_diagnostics(path, CheckDemand::AsKnown, deadline).await? {
            CollectedDiagnostics::Raw(raw) => raw.items,
            CollectedDiagnostics::Decoded(fresh) => {
                let encoding = self.capabilities.encoding;
                Arc::new(fresh.items.iter().map(|item| item.to_lsp(&fresh.text, encoding)).collect())
            }
        })
    }

    pub(super) async fn collect_diagnostics(
        &self,
        path: &WorkspacePath,
        demand: CheckDemand,
        deadline: Instant,
    ) -> Result<CollectedDiagnostics, AskError> {
        let _turn = match self.state.spec.diagnostics.one_at_a_time {
            true => Some(self.checking.lock().await),
            false => None,
        };
        self.reload_if_due(deadline).await;
        // Pushes for a document are lost when it is closed.
        let _kept = self.documents.keep_open(path);
        let raw = match self.state.spec.diagnostics.source {
            DiagnosticsSource::Tsserver if self.capabilities.supports_command(tsserver::COMMAND) => {
                return self.tsserver_diagnostics(path, deadline).await.map(CollectedDiagnostics::Decoded);
            }
            DiagnosticsSource::Pull => self.pull_diagnostics(path, demand, deadline).await?,
            DiagnosticsSource::None => {
                let (_, snapshot) = self.sync(path).await?;
                let known =
                    DiagnosticsCompleteness::NoData(format!("{} gives no diagnostics", self.server()));
                RawDiagnostics::without_findings(snapshot, known)
            }
            DiagnosticsSource::Auto
            | DiagnosticsSource::VersionedPush
            | DiagnosticsSource::Push
            | DiagnosticsSource::Tsserver => self.push_or_pull(path, demand, deadline).await?,
        };
        Ok(CollectedDiagnostics::Raw(raw))
    }

    /// Pulls if the server offers it, even if it registers that only during the wait; otherwise
    /// awaits pushes.
    async fn push_or_pull(
        &self,
        path: &WorkspacePath,
        demand: CheckDemand,
        deadline: Instant,
    ) -> Result<RawDiagnostics, AskError> {
        let (synced, snapshot) = self.sync(path).await?;
        drop(synced);
        if self.offers(PULL, path, &snapshot.language_id) {
            return self.pull_diagnostics(path, demand, deadline).await;
        }
        let offered = self.wait_for_offer(path, &snapshot.language_id, deadline);
        tokio::select! {
            pushed = self.pushed_diagnostics(path, deadline) => pushed,
            true = offered => self.pull_diagnostics(path, demand, deadline).await,
        }
    }

    /// Waits until the server registers pull diagnostics for `path`; false at the deadline or its
    /// end.
    async fn wait_for_offer(&self, path: &WorkspacePath, language_id: &str, deadline: Instant) -> bool {
        self.wait_until(deadline, || self.offers(PULL, path, language_id)).await
    }

    /// The message that a server has more findings in one file than the limit.
    fn too_much(&self, left_out: usize) -> String {
        format!("{} has {left_out} findings above the limit", self.server())
    }

    fn decode_all(&self, raw: RawDiagnostics, deadline: Instant) -> ServerFileDiagnostics {
        let mut notes = raw.notes;
        let mut texts = PositionDecoder::new(self, &raw.snapshot).with_deadline(deadline);
        let decoded: Vec<_> = raw.items.iter().map(|item| texts.diagnostic(item)).collect();
        let odd = decoded.iter().filter(|item| item.is_none()).count();
        if odd > 0 {
            notes.push(format!("{} sent {odd} diagnostics that cannot be decoded", self.server()));
        }
        let last = |count: usize| decoded.iter().skip(decoded.len() - count).flatten().cloned().collect();
        let background = raw.background.map(last);
        let items = decoded.into_iter().flatten().collect();
        ServerFileDiagnostics { items, known: raw.known, text: raw.snapshot.buffer, notes, background }
    }

    /// Waits for the end of indexing; returns the work that is unfinished at the deadline.
    async fn wait_for_idle(&self, deadline: Instant) -> Option<UnfinishedWork> {
        self.wait_ready(DependencyScope::Project, deadline).await
    }
}
