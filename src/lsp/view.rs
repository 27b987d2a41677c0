//! What a caller sees: the disk, and over it texts that are nowhere saved (an edit that is only tried, an editor's buffer).
//!
//! A server has one text per document, so callers with the same view share it and one with another view has it to itself
//! for the time of its question: [`Session::enter`] changes what the server has, as little as can be, and nobody else asks
//! meanwhile. Whoever comes next with another view changes it back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};
use tokio::time::Instant;

use super::connection::RequestError;
use super::session::{AskError, Session};
use crate::workspace::WorkspacePath;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A text that is not on disk.
#[derive(Debug, Clone)]
pub struct Unsaved {
    /// The whole text.
    pub text: Arc<str>,
    /// Tells it from every other, also from one with the same text.
    pub(super) id: u64,
}

/// What a caller sees. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct View(Arc<BTreeMap<WorkspacePath, Unsaved>>);

impl View {
    /// The disk and nothing else.
    pub fn disk() -> Self {
        Self::default()
    }

    /// This view with `texts` over it.
    pub fn with(&self, texts: impl IntoIterator<Item = (WorkspacePath, Arc<str>)>) -> Self {
        let mut unsaved = (*self.0).clone();
        for (path, text) in texts {
            unsaved.insert(path, Unsaved { text, id: NEXT.fetch_add(1, Ordering::Relaxed) });
        }
        Self(Arc::new(unsaved))
    }

    /// The text that hides what is on disk at `path`.
    pub fn unsaved(&self, path: &WorkspacePath) -> Option<&Unsaved> {
        self.0.get(path)
    }

    /// The files that are hidden.
    pub fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.0.keys()
    }

    /// Whether both show the same.
    fn is(&self, other: &Self) -> bool {
        // An id is of one text at one path.
        let same = || self.0.values().map(|one| one.id).eq(other.0.values().map(|one| one.id));
        Arc::ptr_eq(&self.0, &other.0) || same()
    }
}

/// While it lives, the server has what one view shows. Callers must not enter a session twice at once.
#[derive(Debug)]
pub struct Viewing<'a>(#[allow(dead_code)] /* held, not read */ RwLockReadGuard<'a, View>);

impl Session {
    /// Lets the server have what `view` shows; waits, at most until `deadline`, for callers with other views.
    pub async fn enter(&self, view: &View, deadline: Instant) -> Result<Viewing<'_>, AskError> {
        let began = Instant::now();
        let entered = tokio::time::timeout_at(deadline, async {
            let shown = self.view.read().await;
            if shown.is(view) {
                return shown;
            }
            drop(shown);
            let mut shown = self.view.write().await;
            if !shown.is(view) {
                self.show(&mut shown, view).await;
            }
            RwLockWriteGuard::downgrade(shown)
        });
        let shown = entered.await.map_err(|_| RequestError::Timeout {
            method: "the end of another caller's trial".to_owned(),
            waited: began.elapsed(),
        })?;
        Ok(Viewing(shown))
    }

    /// Sends what differs between two views.
    async fn show(&self, shown: &mut View, wanted: &View) {
        let mut paths: Vec<WorkspacePath> = shown.paths().cloned().collect();
        *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = wanted.clone();
        *shown = wanted.clone();
        paths.extend(wanted.paths().filter(|path| self.concerns(path)).cloned());
        paths.sort();
        paths.dedup();
        self.state.advance_epoch();
        self.sync_all(&paths.iter().collect::<Vec<_>>()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn views_are_the_same_only_if_every_text_is() {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let path = workspace.path(Path::new("a.py")).expect("a path");
        let disk = View::disk();
        let one = disk.with([(path.clone(), Arc::from("x = 1\n"))]);
        let other = disk.with([(path.clone(), Arc::from("x = 1\n"))]);
        assert!(disk.is(&View::disk()) && one.is(&one.clone()));
        assert!(!one.is(&disk) && !one.is(&other));
        assert_eq!(&*one.unsaved(&path).expect("a text").text, "x = 1\n");
    }
}
