//! Unsaved texts of callers without a conversation, kept by unguessable handles. Each set of texts
//! belongs to the holder of its handle.
//!
//! An editor's texts are kept by its own connection. A caller without state between two calls
//! passes the handle in each of them. The number, size and age of the texts are limited.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::lsp::documents::view::{View, ViewHolder};
use crate::text::hex;
use crate::workspace::WorkspacePath;

/// The idle time after which a handle is dropped.
pub(crate) const OVERLAY_IDLE_TTL: Duration = Duration::from_secs(30 * 60);
/// The most handles. A further one evicts the least recently used.
const MAX_OVERLAY_HANDLES: usize = 64;
/// The most files with an unsaved text under one handle.
const MAX_OVERLAY_FILES: usize = 64;
/// The limit for all texts of all handles, in bytes.
const MAX_OVERLAY_TOTAL_BYTES: usize = 64 << 20;

/// The reason that a text is not stored or not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OverlayError {
    /// The handle does not exist, or not any more.
    #[error(
        "there is no overlay `{0}`: it was dropped, was unused for 30 minutes, or lsp-tools was restarted"
    )]
    Unknown(String),
    /// The handle has the most files allowed.
    #[error("an overlay has at most {MAX_OVERLAY_FILES} files")]
    Files,
    /// The text exceeds the limit for all texts.
    #[error(
        "the text has {bytes} bytes, and all overlays together can have at most {MAX_OVERLAY_TOTAL_BYTES}"
    )]
    Large {
        /// The size of the text in bytes.
        bytes: usize,
    },
    /// No handle could be generated.
    #[error("the system provides no random bytes ({0}) for a handle")]
    NoRandom(#[from] getrandom::Error),
}

/// All handles, and the texts behind them.
#[derive(Debug, Default)]
pub(crate) struct HeldOverlays(Mutex<HashMap<String, HeldOverlay>>);

#[derive(Debug)]
struct HeldOverlay {
    view: View,
    bytes: usize,
    used: Instant,
}

impl HeldOverlays {
    fn live_overlays(&self, now: Instant) -> MutexGuard<'_, HashMap<String, HeldOverlay>> {
        let mut held = self.0.lock();
        held.retain(|_, held| now.saturating_duration_since(held.used) < OVERLAY_IDLE_TTL);
        held
    }

    /// Stores `text` as the unsaved text of `path` for `handle`, or for a new handle if none is
    /// given. Returns the handle.
    ///
    /// # Errors
    /// If the handle is unknown or has the most files allowed, or the text is too large.
    pub(crate) fn put_text(
        &self,
        handle: Option<&str>,
        path: WorkspacePath,
        text: Arc<str>,
    ) -> Result<String, OverlayError> {
        self.put_text_at(Instant::now(), handle, path, text)
    }

    fn put_text_at(
        &self,
        now: Instant,
        handle: Option<&str>,
        path: WorkspacePath,
        text: Arc<str>,
    ) -> Result<String, OverlayError> {
        let bytes = text.len();
        if bytes > MAX_OVERLAY_TOTAL_BYTES {
            return Err(OverlayError::Large { bytes });
        }
        let mut all = self.live_overlays(now);
        let (handle, before) = match handle {
            None => (new_handle()?, View::disk().with_holder(ViewHolder::new())),
            Some(handle) => {
                let known = all.get(handle).ok_or_else(|| OverlayError::Unknown(printable(handle)))?;
                (handle.to_owned(), known.view.clone())
            }
        };
        if before.unsaved(&path).is_none() && before.paths().count() >= MAX_OVERLAY_FILES {
            return Err(OverlayError::Files);
        }
        let view = before.with_texts([(path, text)]);
        let bytes = view.texts().values().map(|text| text.len()).sum();
        if bytes > MAX_OVERLAY_TOTAL_BYTES {
            return Err(OverlayError::Large { bytes });
        }
        all.insert(handle.clone(), HeldOverlay { view, bytes, used: now });
        evict_overlays(&mut all, &handle);
        Ok(handle)
    }

    /// Removes the unsaved text of `path`, so that the holder of `handle` sees the content on disk.
    /// The handle stays.
    ///
    /// # Errors
    /// [`OverlayError::Unknown`].
    pub(crate) fn remove(&self, handle: &str, path: &WorkspacePath) -> Result<(), OverlayError> {
        let now = Instant::now();
        let mut all = self.live_overlays(now);
        let held = all.get_mut(handle).ok_or_else(|| OverlayError::Unknown(printable(handle)))?;
        held.view = held.view.filtered(|known, _| known != path);
        held.bytes = held.view.texts().values().map(|text| text.len()).sum();
        held.used = now;
        Ok(())
    }

    /// Drops `handle` and its texts.
    ///
    /// # Errors
    /// [`OverlayError::Unknown`].
    pub(crate) fn remove_handle(&self, handle: &str) -> Result<(), OverlayError> {
        let forgotten = self.live_overlays(Instant::now()).remove(handle);
        forgotten.map(drop).ok_or_else(|| OverlayError::Unknown(printable(handle)))
    }

    /// The view for the holder of `handle`; resets its idle time.
    ///
    /// # Errors
    /// [`OverlayError::Unknown`].
    pub(crate) fn view(&self, handle: &str) -> Result<View, OverlayError> {
        self.view_at(Instant::now(), handle)
    }

    /// The view of each handle, without the handles.
    pub(crate) fn views(&self) -> Vec<View> {
        self.live_overlays(Instant::now()).values().map(|held| held.view.clone()).collect()
    }

    fn view_at(&self, now: Instant, handle: &str) -> Result<View, OverlayError> {
        let mut all = self.live_overlays(now);
        let held = all.get_mut(handle).ok_or_else(|| OverlayError::Unknown(printable(handle)))?;
        held.used = now;
        Ok(held.view.clone())
    }
}

/// Evicts the least recently used handles, but never `newest`, until the limits hold.
fn evict_overlays(all: &mut HashMap<String, HeldOverlay>, newest: &str) {
    let is_too_much = |all: &HashMap<String, HeldOverlay>| {
        all.len() > MAX_OVERLAY_HANDLES
            || all.values().map(|held| held.bytes).sum::<usize>() > MAX_OVERLAY_TOTAL_BYTES
    };
    while is_too_much(all) {
        let others = all.iter().filter(|(handle, _)| *handle != newest);
        let Some(oldest) = others.min_by_key(|(_, held)| held.used).map(|(handle, _)| handle.clone()) else {
            return;
        };
        all.remove(&oldest);
    }
}

/// 128 random bits as hexadecimal digits.
fn new_handle() -> Result<String, OverlayError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn printable(handle: &str) -> String {
    handle.chars().take(64).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::workspace::Workspace;

    fn path(name: &str) -> WorkspacePath {
        let temp = tempfile::tempdir().unwrap();
        Workspace::open(temp.path()).unwrap().path(Path::new(name)).unwrap()
    }

    fn seen(overlays: &HeldOverlays, handle: &str, name: &str) -> Option<String> {
        overlays.view(handle).unwrap().unsaved(&path(name)).map(|unsaved| unsaved.text().to_string())
    }

    #[test]
    fn overlay_texts_are_visible_through_their_own_handle_only() {
        let overlays = HeldOverlays::default();
        let one = overlays.put_text(None, path("a.py"), "one".into()).unwrap();
        let other = overlays.put_text(None, path("a.py"), "other".into()).unwrap();
        assert_ne!(one, other);
        assert_eq!(overlays.put_text(Some(&one), path("b.py"), "two".into()).as_ref(), Ok(&one));
        assert_eq!(seen(&overlays, &one, "a.py").as_deref(), Some("one"));
        assert_eq!(seen(&overlays, &other, "a.py").as_deref(), Some("other"));
        assert_eq!(seen(&overlays, &other, "b.py"), None);
        overlays.remove(&one, &path("a.py")).unwrap();
        assert_eq!((seen(&overlays, &one, "a.py"), seen(&overlays, &one, "b.py").is_some()), (None, true));
        overlays.remove_handle(&one).unwrap();
        assert!(matches!(overlays.view(&one), Err(OverlayError::Unknown(_))));
        assert!(matches!(overlays.remove_handle(&one), Err(OverlayError::Unknown(_))));
        assert!(matches!(
            overlays.put_text(Some("guess"), path("a.py"), "x".into()),
            Err(OverlayError::Unknown(_))
        ));
        assert_eq!(seen(&overlays, &other, "a.py").as_deref(), Some("other"));
    }

    #[test]
    fn idle_overlay_expires_and_used_overlay_does_not() {
        let (overlays, begun) = (HeldOverlays::default(), Instant::now());
        let used = overlays.put_text_at(begun, None, path("a.py"), "x".into()).unwrap();
        let unused = overlays.put_text_at(begun, None, path("a.py"), "x".into()).unwrap();
        assert!(overlays.view_at(begun + OVERLAY_IDLE_TTL / 2, &used).is_ok());
        assert!(overlays.view_at(begun + OVERLAY_IDLE_TTL, &used).is_ok());
        assert!(overlays.view_at(begun + OVERLAY_IDLE_TTL, &unused).is_err());
    }

    #[test]
    fn overlay_count_and_size_are_bounded_by_lru_eviction() {
        let (overlays, begun) = (HeldOverlays::default(), Instant::now());
        let at = |second: usize| begun + Duration::from_secs(second as u64);
        let handles: Vec<String> = (0..=MAX_OVERLAY_HANDLES)
            .map(|number| overlays.put_text_at(at(number), None, path("a.py"), "x".into()).unwrap())
            .collect();
        let now = at(MAX_OVERLAY_HANDLES);
        assert!(overlays.view_at(now, &handles[0]).is_err() && overlays.view_at(now, &handles[1]).is_ok());
        let whole: Arc<str> = "x".repeat(MAX_OVERLAY_TOTAL_BYTES).into();
        let large = overlays.put_text_at(now, None, path("a.py"), whole.clone()).unwrap();
        assert!(overlays.view_at(now, &large).is_ok() && overlays.view_at(now, &handles[1]).is_err());
        let more = overlays.put_text_at(now, Some(&large), path("b.py"), "x".into());
        assert_eq!(more, Err(OverlayError::Large { bytes: MAX_OVERLAY_TOTAL_BYTES + 1 }));
        let handle = overlays.put_text_at(now, None, path("0"), "x".into()).unwrap();
        for number in 1..MAX_OVERLAY_FILES {
            overlays.put_text_at(now, Some(&handle), path(&number.to_string()), "x".into()).unwrap();
        }
        assert_eq!(
            overlays.put_text_at(now, Some(&handle), path("more"), "x".into()),
            Err(OverlayError::Files)
        );
        assert!(overlays.put_text_at(now, Some(&handle), path("0"), "y".into()).is_ok());
    }
}
