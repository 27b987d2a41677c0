//! The unsaved texts of one client, and those that clients share with all others.
//!
//! A client's question uses its view ([`View`]): the disk, overlaid with the client's own texts.
//! Servers, source lines, hints, diagnostics and dry runs follow the view.
//!
//! Tools that read and change files use the disk. An edit of a file is a conflict if the caller
//! sees another text than the disk's. Texts that equal the disk are left out of the view. Shared
//! texts (`share-overlays` under `[editor]`) are visible to clients without texts of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::lsp::documents::view::{UnsavedText, View, ViewHolder};
use crate::text::Buffer;
use crate::workspace::{FileStamp, Workspace, WorkspacePath};

/// The texts of files, saved or not, that one client has open. All handles of that client share
/// them.
#[derive(Debug, Default)]
pub struct Overlays {
    open: Mutex<BTreeMap<WorkspacePath, OpenOverlay>>,
    holder: ViewHolder,
}

/// A file's text in the client.
#[derive(Debug)]
struct OpenOverlay {
    unsaved: UnsavedText,
    /// The result of the last comparison with the disk, and the file's stamp at that time.
    compared: Option<(FileStamp, bool)>,
}

impl Overlays {
    /// Sets the client's text of `path`.
    pub fn set(&self, path: WorkspacePath, text: Arc<str>) {
        self.set_unsaved(path, UnsavedText::new(text));
    }

    /// Sets the client's text of `path` to the content of `buffer`.
    pub fn set_buffer(&self, path: WorkspacePath, buffer: Buffer) {
        self.set_unsaved(path, UnsavedText::of_buffer(buffer));
    }

    fn set_unsaved(&self, path: WorkspacePath, unsaved: UnsavedText) {
        self.open.lock().insert(path, OpenOverlay { unsaved, compared: None });
    }

    /// Removes the overlay of `path`, so that the client sees the file on disk.
    pub(crate) fn remove(&self, path: &WorkspacePath) {
        self.open.lock().remove(path);
    }

    /// Removes all overlays.
    pub(crate) fn clear(&self) {
        self.open.lock().clear();
    }

    /// Returns the client's current view: its texts that differ from the disk.
    pub fn view(&self, workspace: &Workspace) -> View {
        let mut open = self.open.lock();
        let hiding = open.iter_mut().filter_map(|(path, open)| {
            (!open.is_saved(workspace, path)).then(|| (path.clone(), open.unsaved.clone()))
        });
        View::disk().with_unsaved(hiding).with_holder(self.holder)
    }
}

impl OpenOverlay {
    fn is_saved(&mut self, workspace: &Workspace, path: &WorkspacePath) -> bool {
        // A file without a stamp cannot be compared.
        let Ok(stamp) = workspace.stamp(path) else { return false };
        if let Some((compared, same)) = self.compared
            && compared == stamp
        {
            return same;
        }
        // Equal texts have equal lengths, or differ by the three bytes of a byte order mark.
        let len = self.unsaved.len_bytes() as u64;
        if stamp.size != len && stamp.size != len + 3 {
            return false;
        }
        let Ok(file) = workspace.read_text(path) else { return false };
        let same = self.unsaved.is(&file.text);
        // A file that changed a moment ago may change again without a new stamp.
        self.compared = file.stamp.is_settled(SystemTime::now()).then_some((file.stamp, same));
        same
    }
}

/// The overlays that clients share with all others.
#[derive(Debug, Default)]
pub(super) struct SharedOverlays(Mutex<Vec<Weak<Overlays>>>);

impl SharedOverlays {
    /// Shows `overlays` to all clients while their client keeps them.
    pub(super) fn add(&self, overlays: &Arc<Overlays>) {
        self.0.lock().push(Arc::downgrade(overlays));
    }

    /// Returns the shared view. If two clients share a text of one file, the later one wins.
    pub(super) fn view(&self, workspace: &Workspace) -> View {
        let mut shared = self.0.lock();
        shared.retain(|overlays| overlays.strong_count() > 0);
        let views = shared.iter().filter_map(Weak::upgrade).map(|overlays| overlays.view(workspace));
        views.fold(View::disk(), |below, view| view.layered_on(&below))
    }
}

/// The overlays of each client with a session, while the client keeps them.
#[derive(Debug, Default)]
pub(super) struct KnownOverlays(Mutex<Vec<(String, Weak<Overlays>)>>);

impl KnownOverlays {
    /// Registers `overlays` as those of `session`.
    pub(super) fn add(&self, session: &str, overlays: &Arc<Overlays>) {
        let mut known = self.0.lock();
        known.retain(|(_, overlays)| overlays.strong_count() > 0);
        known.push((session.to_owned(), Arc::downgrade(overlays)));
    }

    /// Returns each client's texts that differ from the disk.
    pub(super) fn views(&self, workspace: &Workspace) -> Vec<(String, View)> {
        let known = self.0.lock().clone();
        let views = known.into_iter().filter_map(|(session, overlays)| Some((session, overlays.upgrade()?)));
        views.map(|(session, overlays)| (session, overlays.view(workspace))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn overlay_hides_file_only_while_its_text_differs_from_disk() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a.py"), "x = 1\n").unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let path = |name: &str| workspace.path(Path::new(name)).unwrap();
        let overlays = Arc::new(Overlays::default());
        let hidden = || overlays.view(&workspace).paths().map(WorkspacePath::display).collect::<Vec<_>>();
        overlays.set(path("a.py"), "x = 1\n".into());
        assert_eq!(hidden(), [""; 0]);
        overlays.set(path("a.py"), "x = 2\n".into());
        overlays.set(path("new.py"), "".into());
        assert_eq!(hidden(), ["a.py", "new.py"]);
        std::fs::write(temp.path().join("a.py"), "x = 2\n").unwrap();
        assert_eq!(hidden(), ["new.py"]);
        std::fs::write(temp.path().join("a.py"), "x = 3\n").unwrap();
        assert_eq!(hidden(), ["a.py", "new.py"]);
        std::fs::write(temp.path().join("a.py"), "\u{feff}x = 2\n").unwrap();
        assert_eq!(hidden(), ["new.py"], "a byte order mark is no part of the text");
        overlays.set_buffer(path("a.py"), Buffer::new("x = 22\n"));
        assert_eq!(hidden(), ["a.py", "new.py"]);
        overlays.remove(&path("a.py"));
        let shared = SharedOverlays::default();
        shared.add(&overlays);
        assert_eq!(shared.view(&workspace).paths().count(), 1);
        drop(overlays);
        assert!(shared.view(&workspace).is_disk());
    }
}
