//! Views: the disk, with a caller's unsaved texts over it (a trial edit, an editor's buffer).
//! [`view_switch`](super::view_switch) describes how callers with different views share a server.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::text::Buffer;
use crate::workspace::WorkspacePath;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A text that is not on disk. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct UnsavedText {
    forms: Arc<TextForms>,
    /// The id that distinguishes it from every other, also from one with the same text.
    pub(super) id: u64,
}

/// A text in one form or both: an editor's keystroke changes a rope, and the text in one piece is
/// made when it is read.
#[derive(Debug, Default)]
struct TextForms {
    text: OnceLock<Arc<str>>,
    buffer: OnceLock<Buffer>,
}

impl UnsavedText {
    /// Creates an unsaved text with a new id.
    pub(crate) fn new(text: Arc<str>) -> Self {
        Self::of_forms(TextForms { text: text.into(), ..TextForms::default() })
    }

    /// Creates an unsaved text of `buffer` with a new id.
    pub(crate) fn of_buffer(buffer: Buffer) -> Self {
        Self::of_forms(TextForms { buffer: buffer.into(), ..TextForms::default() })
    }

    fn of_forms(forms: TextForms) -> Self {
        Self { forms: Arc::new(forms), id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &Arc<str> {
        self.forms.text.get_or_init(|| self.buffer().to_string().into())
    }

    /// The whole text as a rope.
    pub(crate) fn buffer(&self) -> &Buffer {
        self.forms.buffer.get_or_init(|| Buffer::new(self.forms.text.get().map_or("", |text| text)))
    }

    /// Its first line, without the line break.
    pub(crate) fn first_line(&self) -> Option<Cow<'_, str>> {
        match self.forms.text.get() {
            Some(text) => text.lines().next().map(Cow::Borrowed),
            None => self.buffer().line(0),
        }
    }

    /// Returns true if the text equals `other`.
    pub(crate) fn is(&self, other: &str) -> bool {
        match self.forms.text.get() {
            Some(text) => **text == *other,
            None => *self.buffer().rope() == *other,
        }
    }

    /// The length in bytes of UTF-8.
    pub(crate) fn len_bytes(&self) -> usize {
        self.forms.text.get().map_or_else(|| self.buffer().len_bytes(), |text| text.len())
    }
}

/// A caller that keeps texts over the disk for longer than one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ViewHolder(u64);

impl ViewHolder {
    /// Creates a holder with a new id.
    pub(crate) fn new() -> Self {
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for ViewHolder {
    fn default() -> Self {
        Self::new()
    }
}

/// The texts that a caller sees. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct View {
    texts: Arc<BTreeMap<WorkspacePath, UnsavedText>>,
    holder: Option<ViewHolder>,
}

impl View {
    /// The view of the disk alone.
    pub fn disk() -> Self {
        Self::default()
    }

    /// Returns true if nothing hides the disk.
    pub(crate) fn is_disk(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns this view with `texts` over it.
    pub fn with_texts(&self, texts: impl IntoIterator<Item = (WorkspacePath, Arc<str>)>) -> Self {
        self.with_unsaved(texts.into_iter().map(|(path, text)| (path, UnsavedText::new(text))))
    }

    /// Returns this view with `unsaved` over it.
    pub(crate) fn with_unsaved(
        &self,
        unsaved: impl IntoIterator<Item = (WorkspacePath, UnsavedText)>,
    ) -> Self {
        let mut unsaved = unsaved.into_iter().peekable();
        if unsaved.peek().is_none() {
            return self.clone();
        }
        let mut all = (*self.texts).clone();
        all.extend(unsaved);
        Self { texts: Arc::new(all), holder: self.holder }
    }

    /// Sets the holder, for a view that lasts longer than one question.
    pub(crate) fn with_holder(self, holder: ViewHolder) -> Self {
        Self { holder: Some(holder), ..self }
    }

    /// The holder of a view that lasts longer than one question, if the view is not the disk.
    pub(crate) fn holder(&self) -> Option<ViewHolder> {
        self.holder.filter(|_| !self.is_disk())
    }

    /// Puts this view over `below`: if both hide a file, this one's text counts.
    pub(crate) fn layered_on(&self, below: &Self) -> Self {
        if below.is_disk() {
            return Self { holder: self.holder.or(below.holder), ..self.clone() };
        }
        let own = self.texts.iter().map(|(path, unsaved)| (path.clone(), unsaved.clone()));
        Self { holder: self.holder.or(below.holder), ..below.with_unsaved(own) }
    }

    /// Returns the part of this view that `keep` selects.
    pub(crate) fn filtered(&self, keep: impl Fn(&WorkspacePath, &UnsavedText) -> bool) -> Self {
        if self.texts.iter().all(|(path, unsaved)| keep(path, unsaved)) {
            return self.clone();
        }
        let kept = self.texts.iter().filter(|(path, unsaved)| keep(path, unsaved));
        let kept = kept.map(|(path, unsaved)| (path.clone(), unsaved.clone())).collect();
        Self { texts: Arc::new(kept), holder: self.holder }
    }

    /// Returns the text that hides the disk at `path`.
    pub(crate) fn unsaved(&self, path: &WorkspacePath) -> Option<&UnsavedText> {
        self.texts.get(path)
    }

    /// The hidden files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.texts.keys()
    }

    /// The texts that hide files.
    pub(crate) fn texts(&self) -> BTreeMap<WorkspacePath, Arc<str>> {
        self.texts.iter().map(|(path, unsaved)| (path.clone(), unsaved.text().clone())).collect()
    }

    /// Returns true if both show the same texts.
    fn shows_same(&self, other: &Self) -> bool {
        // An id is of one text at one path.
        let same = || self.texts.values().map(|one| one.id).eq(other.texts.values().map(|one| one.id));
        Arc::ptr_eq(&self.texts, &other.texts) || same()
    }

    /// Returns the files that differ between the two.
    fn difference(&self, other: &Self) -> BTreeSet<WorkspacePath> {
        let id = |view: &Self, path| view.unsaved(path).map(|unsaved| unsaved.id);
        let paths = self.paths().chain(other.paths());
        paths.filter(|path| id(self, path) != id(other, path)).cloned().collect()
    }
}

/// The view that a server has.
#[derive(Debug, Default)]
pub(crate) struct ShownView {
    view: View,
    /// The files that it may still have from another view, because a change of the view was
    /// interrupted.
    stale_paths: BTreeSet<WorkspacePath>,
}

impl ShownView {
    /// Returns true if the server has exactly the texts of `view`.
    pub(super) fn shows(&self, view: &View) -> bool {
        self.stale_paths.is_empty() && self.view.shows_same(view)
    }

    /// Begins to show `wanted`: the files that differ are stale until
    /// [`finish_switch`](Self::finish_switch).
    pub(super) fn begin_switch(&mut self, wanted: &View) {
        self.stale_paths.append(&mut self.view.difference(wanted));
        self.view = wanted.clone();
    }

    /// The files that the server still has from another view.
    pub(super) fn stale_paths(&self) -> &BTreeSet<WorkspacePath> {
        &self.stale_paths
    }

    /// Records that the server has all texts of the view.
    pub(super) fn finish_switch(&mut self) {
        self.stale_paths.clear();
    }
}

/// The number of overlay switches within [`VIEW_SWITCH_WINDOW`] after which a second server is
/// started. A start takes as long as some hundred switches.
const VIEW_SWITCH_THRESHOLD: usize = 24;
const VIEW_SWITCH_WINDOW: Duration = Duration::from_secs(20);

/// The switches of a server between holders of texts over the same files.
#[derive(Debug, Default)]
pub(crate) struct ViewContention {
    /// The last holder, with the files of its view.
    last: Option<(ViewHolder, View)>,
    switches: VecDeque<Instant>,
}

impl ViewContention {
    /// Records the present holder of the server.
    pub(super) fn record_holder(&mut self, view: &View, now: Instant) {
        let Some(holder) = view.holder() else { return };
        let rivals = |(last, held): &(ViewHolder, View)| {
            *last != holder && view.paths().any(|path| held.unsaved(path).is_some())
        };
        if self.last.as_ref().is_some_and(rivals) {
            self.switches.push_back(now);
        }
        self.last = Some((holder, view.clone()));
        while self.switches.front().is_some_and(|old| now.duration_since(*old) > VIEW_SWITCH_WINDOW) {
            self.switches.pop_front();
        }
    }

    /// Returns true if the threshold is reached, and resets the count.
    pub(super) fn take_exceeded(&mut self) -> bool {
        let too_much = self.switches.len() >= VIEW_SWITCH_THRESHOLD;
        if too_much {
            self.switches.clear();
        }
        too_much
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn views_are_equal_only_if_they_share_every_text() {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let path = workspace.path(Path::new("a.py")).expect("a path");
        let disk = View::disk();
        let one = disk.with_texts([(path.clone(), Arc::from("x = 1\n"))]);
        let other = disk.with_texts([(path.clone(), Arc::from("x = 1\n"))]);
        assert!(disk.shows_same(&View::disk()) && one.shows_same(&one.clone()));
        assert!(!one.shows_same(&disk) && !one.shows_same(&other));
        assert_eq!(&**one.unsaved(&path).expect("a text").text(), "x = 1\n");
    }

    #[test]
    fn unsaved_text_is_same_as_text_and_as_rope() {
        for text in ["", "\n", "one\r\ntwo\r\n", "ä = 1"] {
            for unsaved in [UnsavedText::new(text.into()), UnsavedText::of_buffer(Buffer::new(text))] {
                let first = unsaved.first_line().unwrap_or_default().into_owned();
                assert_eq!(first, text.lines().next().unwrap_or_default(), "{text:?}");
                assert_eq!(unsaved.len_bytes(), text.len());
                assert!(unsaved.is(text) && !unsaved.is("other"));
                assert_eq!((&**unsaved.text(), unsaved.buffer().to_string().as_str()), (text, text));
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn view_contention_counts_alternating_holders_of_the_same_file() {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let path = |name: &str| workspace.path(Path::new(name)).expect("a path");
        let held =
            |name: &str| View::disk().with_texts([(path(name), "x".into())]).with_holder(ViewHolder::new());
        let (one, other, elsewhere) = (held("a.py"), held("a.py"), held("b.py"));
        let passing = View::disk().with_texts([(path("a.py"), "y".into())]);
        let many = |turns: &[&View]| {
            let mut contention = ViewContention::default();
            for view in turns.iter().cycle().take(turns.len() * VIEW_SWITCH_THRESHOLD) {
                contention.record_holder(view, Instant::now());
            }
            contention.take_exceeded()
        };
        assert!(many(&[&one, &other]) && many(&[&one, &View::disk(), &other]));
        assert!(!many(&[&one]) && !many(&[&one, &elsewhere]) && !many(&[&one, &passing]));
        let mut contention = ViewContention::default();
        for view in [&one, &other].into_iter().cycle().take(4 * VIEW_SWITCH_THRESHOLD) {
            contention.record_holder(view, Instant::now());
            tokio::time::advance(VIEW_SWITCH_WINDOW / 10).await;
        }
        assert!(!contention.take_exceeded());
    }

    #[test]
    fn view_over_another_overrides_texts_and_difference_lists_changes() {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let path = |name: &str| workspace.path(Path::new(name)).expect("a path");
        let text = |view: &View, name: &str| view.unsaved(&path(name)).map(|one| one.text().to_string());
        let below = View::disk().with_texts([(path("a.py"), "a".into()), (path("b.py"), "b".into())]);
        let above = View::disk().with_texts([(path("b.py"), "B".into()), (path("c.py"), "C".into())]);
        let both = above.layered_on(&below);
        let texts = ["a.py", "b.py", "c.py"].map(|name| text(&both, name));
        assert_eq!(texts, ["a", "B", "C"].map(|text| Some(text.to_owned())));
        assert_eq!(both.difference(&below), BTreeSet::from([path("b.py"), path("c.py")]));
        assert!(
            both.difference(&above.layered_on(&below)).is_empty()
                && both.shows_same(&above.layered_on(&below))
        );
        assert!(both.filtered(|one, _| *one != path("a.py")).shows_same(&above));
        assert!(View::disk().layered_on(&View::disk()).is_disk());
    }
}
