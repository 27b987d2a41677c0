//! What a caller sees: the disk, and over it texts that are nowhere saved (an edit that is only tried, an editor's buffer).
//!
//! A server has one text per document, so callers with the same view share it and one with another view has it to itself
//! for the time of its question: [`Session::enter`] changes what the server has, as little as can be, and nobody else asks
//! meanwhile. Whoever comes next with another view changes it back. Callers come to their turn in the order in which they
//! asked, so nobody waits for ever.

use std::collections::{BTreeMap, BTreeSet};
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

impl Unsaved {
    /// `text`, told apart from every other.
    pub fn new(text: Arc<str>) -> Self {
        Self { text, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

/// What a caller sees. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct View(Arc<BTreeMap<WorkspacePath, Unsaved>>);

impl View {
    /// The disk and nothing else.
    pub fn disk() -> Self {
        Self::default()
    }

    /// Whether nothing hides the disk.
    pub fn is_disk(&self) -> bool {
        self.0.is_empty()
    }

    /// This view with `texts` over it.
    pub fn with(&self, texts: impl IntoIterator<Item = (WorkspacePath, Arc<str>)>) -> Self {
        self.covered(texts.into_iter().map(|(path, text)| (path, Unsaved::new(text))))
    }

    /// This view with `unsaved` over it.
    pub fn covered(&self, unsaved: impl IntoIterator<Item = (WorkspacePath, Unsaved)>) -> Self {
        let mut unsaved = unsaved.into_iter().peekable();
        if unsaved.peek().is_none() {
            return self.clone();
        }
        let mut all = (*self.0).clone();
        all.extend(unsaved);
        Self(Arc::new(all))
    }

    /// This view over `below`: where both hide a file, this one's text counts.
    pub fn over(&self, below: &Self) -> Self {
        below.covered(self.0.iter().map(|(path, unsaved)| (path.clone(), unsaved.clone())))
    }

    /// The part of this view of which `keep` says so.
    pub fn only(&self, keep: impl Fn(&WorkspacePath, &str) -> bool) -> Self {
        if self.0.iter().all(|(path, unsaved)| keep(path, &unsaved.text)) {
            return self.clone();
        }
        let kept = self.0.iter().filter(|(path, unsaved)| keep(path, &unsaved.text));
        Self(Arc::new(kept.map(|(path, unsaved)| (path.clone(), unsaved.clone())).collect()))
    }

    /// The text that hides what is on disk at `path`.
    pub fn unsaved(&self, path: &WorkspacePath) -> Option<&Unsaved> {
        self.0.get(path)
    }

    /// The files that are hidden.
    pub fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.0.keys()
    }

    /// The texts that hide files.
    pub fn texts(&self) -> BTreeMap<WorkspacePath, Arc<str>> {
        self.0.iter().map(|(path, unsaved)| (path.clone(), unsaved.text.clone())).collect()
    }

    /// Whether both show the same.
    fn is(&self, other: &Self) -> bool {
        // An id is of one text at one path.
        let same = || self.0.values().map(|one| one.id).eq(other.0.values().map(|one| one.id));
        Arc::ptr_eq(&self.0, &other.0) || same()
    }

    /// The files that the two show differently.
    fn difference(&self, other: &Self) -> BTreeSet<WorkspacePath> {
        let id = |view: &Self, path| view.unsaved(path).map(|unsaved| unsaved.id);
        let paths = self.paths().chain(other.paths());
        paths.filter(|path| id(self, path) != id(other, path)).cloned().collect()
    }
}

/// What a server has been shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    view: View,
    /// Files that it may still have as another view shows them: whoever changed the view was interrupted.
    behind: BTreeSet<WorkspacePath>,
}

impl Shown {
    fn is(&self, view: &View) -> bool {
        self.behind.is_empty() && self.view.is(view)
    }
}

/// While it lives, the server has what one view shows. Callers must not enter a session twice at once.
#[derive(Debug)]
pub struct Viewing<'a>(#[allow(dead_code)] /* held, not read */ RwLockReadGuard<'a, Shown>);

impl Session {
    /// Lets the server have what `view` shows; waits, at most until `deadline`, for callers with other views. Of the view
    /// only what concerns this server counts: callers who differ in nothing else do not wait for each other.
    pub async fn enter(&self, view: &View, deadline: Instant) -> Result<Viewing<'_>, AskError> {
        let began = Instant::now();
        let view = &view.only(|path, text| self.concerns_text(path, text.lines().next()));
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
            method: "the end of another caller's questions about unsaved text".to_owned(),
            waited: began.elapsed(),
        })?;
        Ok(Viewing(shown))
    }

    /// The text that hides `path` from whoever is in the session now.
    pub(super) fn unsaved_text(&self, path: &WorkspacePath) -> Option<Arc<str>> {
        let unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        unsaved.unsaved(path).map(|unsaved| unsaved.text.clone())
    }

    /// Sends what differs between two views.
    async fn show(&self, shown: &mut Shown, wanted: &View) {
        shown.behind.append(&mut shown.view.difference(wanted));
        shown.view = wanted.clone();
        *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = wanted.clone();
        self.state.advance_epoch();
        self.sync_all(&shown.behind.iter().collect::<Vec<_>>()).await;
        shown.behind.clear();
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

    #[test]
    fn a_view_over_another_hides_it_and_only_what_differs_is_sent() {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let path = |name: &str| workspace.path(Path::new(name)).expect("a path");
        let text = |view: &View, name: &str| view.unsaved(&path(name)).map(|one| one.text.to_string());
        let below = View::disk().with([(path("a.py"), "a".into()), (path("b.py"), "b".into())]);
        let above = View::disk().with([(path("b.py"), "B".into()), (path("c.py"), "C".into())]);
        let both = above.over(&below);
        let texts = ["a.py", "b.py", "c.py"].map(|name| text(&both, name));
        assert_eq!(texts, ["a", "B", "C"].map(|text| Some(text.to_owned())));
        assert_eq!(both.difference(&below), BTreeSet::from([path("b.py"), path("c.py")]));
        assert!(both.difference(&above.over(&below)).is_empty() && both.is(&above.over(&below)));
        assert!(both.only(|one, _| *one != path("a.py")).is(&above));
        assert!(View::disk().over(&View::disk()).is_disk());
    }
}
