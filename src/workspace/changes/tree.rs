//! The remembered tree: watched directories, known files, and their differences from the disk.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::{ChangeBatch, ChangeFeedLimits, ChangeKind, SourceNames, merge_all};
use crate::platform::inode::{ChangeMarks, InodeIdentity};
use crate::platform::shared_file_system::may_have_unseen_writers;
use crate::platform::watches::{KernelWatchError, KernelWatchEvent, Watches};
use crate::workspace::edit::is_temporary;
use crate::workspace::path::MAX_PATH_DEPTH;
use crate::workspace::read::MAX_TIMESTAMP_GRANULARITY;
use crate::workspace::tree_digest::CACHE_MARK;
use crate::workspace::walk::rules::{WatchRules, is_generated_folder};
use crate::workspace::{Workspace, WorkspacePath};

/// A hash of size, times and inode: enough to recognise a changed file, small enough to keep for
/// every file.
type FileFingerprint = u64;

/// Names of files that decide which other files count.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The time for which one drain reads events before it scans the whole tree instead.
const EVENT_DRAIN_TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
struct WatchedDirectory {
    /// `None` if the directory has to be scanned.
    watch: Option<i32>,
    /// True if the directory, or one above it, is hidden or ignored, so that only sources count.
    aside: bool,
    files: HashMap<OsString, FileFingerprint>,
}

/// The tree as of the last scan.
#[derive(Debug)]
pub(super) struct WatchedTree {
    workspace: Workspace,
    limits: ChangeFeedLimits,
    /// The identity of the root directory; `None` while there is none.
    root: Option<InodeIdentity>,
    watches: Option<Watches>,
    rules: WatchRules,
    sources: Arc<dyn SourceNames>,
    /// By path relative to the root.
    directories: BTreeMap<PathBuf, WatchedDirectory>,
    by_watch: HashMap<i32, PathBuf>,
    /// Directories without a watch.
    polled: BTreeSet<PathBuf>,
    /// The number of files, without those in `aside` directories.
    files: usize,
    /// The numbers of directories that are hidden or ignored, and of the sources in them.
    aside: usize,
    aside_files: usize,
    /// True if some of them are not watched, because they are too many.
    leaves_aside_out: bool,
    /// True if there were more files than the limit.
    too_many: bool,
    /// The changes that were noticed and not drained, at first those from before the watches were
    /// in place.
    pending: BTreeMap<PathBuf, ChangeKind>,
    /// The undrained changes of sources that are hidden or ignored.
    pending_aside: BTreeMap<PathBuf, ChangeKind>,
    /// The undrained changes of directories.
    pending_folders: BTreeMap<PathBuf, ChangeKind>,
    /// True if there may be others.
    overflowed: bool,
    /// The number of times that changes were noticed.
    revision: u64,
    /// True if the tree is on a file system that other machines may write to.
    has_unseen_writers: bool,
}

/// The paths that one drain has to examine.
#[derive(Default)]
struct Suspects {
    files: BTreeMap<PathBuf, Suspect>,
    directories: BTreeSet<PathBuf>,
    overflowed: bool,
}

impl Suspects {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }
}

/// A file that may differ from its recorded state.
struct Suspect {
    before: Option<FileFingerprint>,
    certain: bool,
}

impl WatchedTree {
    /// Scans the tree of `workspace` and sets all its watches; also returns the changes after
    /// `since`. Ends early, incomplete, when `stop` is set.
    pub(super) fn new(
        workspace: &Workspace,
        sources: Arc<dyn SourceNames>,
        limits: ChangeFeedLimits,
        since: SystemTime,
        stop: &AtomicBool,
    ) -> Self {
        let mut tree = Self {
            workspace: workspace.clone(),
            limits,
            root: directory_identity(workspace.root()),
            watches: Watches::new(),
            rules: WatchRules::new(workspace),
            sources,
            directories: BTreeMap::new(),
            by_watch: HashMap::new(),
            polled: BTreeSet::new(),
            files: 0,
            aside: 0,
            aside_files: 0,
            leaves_aside_out: false,
            too_many: false,
            pending: BTreeMap::new(),
            pending_aside: BTreeMap::new(),
            pending_folders: BTreeMap::new(),
            overflowed: false,
            revision: 0,
            has_unseen_writers: may_have_unseen_writers(workspace.root()),
        };
        let since = since.checked_sub(MAX_TIMESTAMP_GRANULARITY).unwrap_or(since);
        let mut pending = BTreeMap::new();
        let go_on = || !stop.load(Ordering::Relaxed);
        tree.watch_tree(PathBuf::new(), &go_on, &mut |path, metadata| {
            if let Some(kind) = change_since(metadata, since) {
                pending.insert(path, kind);
            }
        });
        tree.note_changes(pending);
        // The rules compiled for the whole tree are seldom needed again.
        tree.rules = WatchRules::new(workspace);
        tree
    }

    /// Returns the changes since the last call.
    pub(super) fn drain(&mut self) -> ChangeBatch {
        self.observe();
        let overflowed = std::mem::take(&mut self.overflowed) || self.too_many;
        let listed = |changes: &mut BTreeMap<PathBuf, ChangeKind>| {
            let changes = std::mem::take(changes).into_iter();
            changes.map(|(path, kind)| (WorkspacePath::new(path), kind)).collect()
        };
        ChangeBatch {
            changes: listed(&mut self.pending),
            aside: listed(&mut self.pending_aside),
            folders: listed(&mut self.pending_folders),
            overflowed,
        }
    }

    /// Returns a number that grows with each change; `None` if there are more files than are
    /// recorded, writers that the kernel does not see, or directories without a watch, whose scan
    /// would take long.
    pub(super) fn revision(&mut self) -> Option<u64> {
        if self.too_many || self.has_unseen_writers || !self.polled.is_empty() {
            return None;
        }
        self.observe();
        self.polled.is_empty().then_some(self.revision)
    }

    /// Notices the changes since the last call.
    fn observe(&mut self) {
        let mut suspects = self.read_events();
        self.poll(&mut suspects);
        // The workspace holds the root open, so the kernel sends no event for its removal.
        let root = directory_identity(self.workspace.root());
        if suspects.overflowed || root != self.root {
            self.root = root;
            self.start_over(&mut suspects);
        }
        self.overflowed |= suspects.overflowed;
        self.revision += u64::from(suspects.overflowed);
        if suspects.is_empty() {
            return;
        }
        let changes = self.compare_suspects(suspects);
        self.revision += u64::from(!changes.is_empty());
        self.note_changes(changes);
    }

    /// Adds changes to those that are not drained yet.
    fn note_changes(&mut self, changes: BTreeMap<PathBuf, ChangeKind>) {
        let (aside, ordinary): (BTreeMap<_, _>, BTreeMap<_, _>) = changes
            .into_iter()
            .partition(|(path, _)| path.ancestors().skip(1).any(is_hidden) || self.is_ignored(path));
        merge_all(&mut self.pending, ordinary);
        merge_all(&mut self.pending_aside, aside);
    }

    fn is_ignored(&self, file: &Path) -> bool {
        // An ignore file may name itself, and decides about others all the same.
        let decides = IGNORE_FILES.iter().any(|name| file.ends_with(name));
        !decides && self.rules.is_ignored(file, false)
    }

    /// Compares the suspects with the disk. If ignore files are among them, all files under their
    /// rules are compared as well.
    fn compare_suspects(&mut self, mut suspects: Suspects) -> BTreeMap<PathBuf, ChangeKind> {
        self.reconcile(&mut suspects);
        let mut changes = self.resolve_suspects(suspects.files);
        let mut ruled = Suspects::default();
        let ignore_files = changes.keys().filter(|path| IGNORE_FILES.iter().any(|name| path.ends_with(name)));
        ruled.directories.extend(ignore_files.filter_map(|path| path.parent()).map(Path::to_owned));
        if !ruled.is_empty() {
            self.rules = WatchRules::new(&self.workspace);
            self.reconcile(&mut ruled);
            merge_all(&mut changes, self.resolve_suspects(ruled.files));
        }
        changes
    }

    #[cfg(test)]
    pub(super) fn known_files(&self) -> usize {
        assert_eq!(
            self.files,
            self.directories
                .values()
                .filter(|directory| !directory.aside)
                .map(|directory| directory.files.len())
                .sum::<usize>()
        );
        self.files
    }

    fn mark_of(&self, path: &Path) -> Option<FileFingerprint> {
        self.directories.get(path.parent()?)?.files.get(path.file_name()?).copied()
    }

    /// Reads the events of the kernel.
    fn read_events(&mut self) -> Suspects {
        let mut suspects = Suspects::default();
        let Some(mut watches) = self.watches.take() else { return suspects };
        let mut began = None;
        watches.read(|event| {
            self.note_event(event, &mut suspects);
            let began = *began.get_or_insert_with(Instant::now);
            // A writer that is faster than this reader must not keep it busy without end.
            suspects.overflowed |= began.elapsed() > EVENT_DRAIN_TIMEOUT;
            !suspects.overflowed
        });
        self.watches = Some(watches);
        suspects
    }

    fn note_event(&mut self, event: KernelWatchEvent, suspects: &mut Suspects) {
        match event {
            KernelWatchEvent::Overflow => suspects.overflowed = true,
            KernelWatchEvent::Gone { watch } => {
                // A watch that was removed here is not known any more.
                if let Some(directory) = self.by_watch.get(&watch) {
                    suspects.directories.insert(directory.clone());
                }
            }
            KernelWatchEvent::Entry { watch, name, is_dir, certain } => {
                let Some(directory) = self.by_watch.get(&watch) else { return };
                let path = directory.join(&name);
                if is_dir {
                    suspects.directories.insert(path);
                } else {
                    self.add_suspect(path, certain, suspects);
                }
            }
        }
    }

    fn add_suspect(&self, path: PathBuf, certain: bool, suspects: &mut Suspects) {
        if let Some(suspect) = suspects.files.get_mut(&path) {
            suspect.certain |= certain;
            return;
        }
        let before = self.mark_of(&path);
        suspects.files.insert(path, Suspect { before, certain });
    }

    /// Scans the directories that have no watch.
    fn poll(&mut self, suspects: &mut Suspects) {
        if self.polled.is_empty() {
            return;
        }
        let deadline = Instant::now() + self.limits.polling;
        for directory in &self.polled {
            if Instant::now() > deadline {
                suspects.overflowed = true;
                return;
            }
            self.poll_one(directory, suspects);
        }
    }

    fn poll_one(&self, directory: &Path, suspects: &mut Suspects) {
        let Some(known) = self.directories.get(directory) else { return };
        let mut missing: HashSet<&OsStr> = known.files.keys().map(OsString::as_os_str).collect();
        let Ok(entries) = std::fs::read_dir(self.workspace.root().join(directory)) else {
            suspects.directories.insert(directory.to_owned());
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let path = directory.join(name);
                    if !self.directories.contains_key(&path) {
                        suspects.directories.insert(path);
                    }
                }
                Ok(kind) if kind.is_file() => {
                    missing.remove(name.as_os_str());
                    // On Windows the listing has the attributes, and another look opens the file.
                    let now = entry.metadata().ok().map(|metadata| fingerprint(&metadata));
                    if now.is_none() || now.as_ref() != known.files.get(&name) {
                        self.add_suspect(directory.join(name), false, suspects);
                    }
                }
                _ => {}
            }
        }
        for name in missing {
            self.add_suspect(directory.join(name), false, suspects);
        }
    }

    /// Scans everything again, with new watches, after lost events or for another root. The old
    /// watches may belong to directories that moved.
    fn start_over(&mut self, suspects: &mut Suspects) {
        self.watches = Watches::new();
        self.by_watch.clear();
        self.rules = WatchRules::new(&self.workspace);
        suspects.directories.clear();
        suspects.directories.insert(PathBuf::new());
    }

    /// Scans the suspected directories as if they were new: their watches are set again, and every
    /// file that was or is below them becomes a suspect.
    fn reconcile(&mut self, suspects: &mut Suspects) {
        // All are left before one is entered: a directory that moved keeps its watch, and must not
        // lose it to its old path after it got it under the new one.
        let mut folders = BTreeMap::new();
        for directory in &suspects.directories {
            let known = self.directories_below(directory);
            merge_all(&mut folders, known.map(|path| (path.clone(), ChangeKind::Deleted)));
            for (path, mark) in self.forget_tree(directory) {
                suspects.files.entry(path).or_insert(Suspect { before: Some(mark), certain: false });
            }
        }
        for directory in &suspects.directories {
            let is_there = || self.workspace.root().join(directory).is_dir();
            let is_watchable = || self.is_watchable(directory, self.is_aside(directory));
            if self.directories.contains_key(directory) || !is_watchable() || !is_there() {
                continue;
            }
            let files = &mut suspects.files;
            self.watch_tree(directory.clone(), &|| true, &mut |path, _| {
                files.entry(path).or_insert(Suspect { before: None, certain: false });
            });
            let found = self.directories_below(directory);
            merge_all(&mut folders, found.map(|path| (path.clone(), ChangeKind::Created)));
        }
        // A folder that is not watched any more may still be there.
        folders.retain(|path, kind| match kind {
            ChangeKind::Created => true,
            ChangeKind::Changed => false,
            ChangeKind::Deleted => !self.workspace.root().join(path).exists(),
        });
        self.revision += u64::from(!folders.is_empty());
        merge_all(&mut self.pending_folders, folders);
    }

    /// Returns true if `directory` is to be watched: it is below a watched one, and neither
    /// generated nor, if it is hidden or ignored (`aside`), a cache or an environment.
    fn is_watchable(&self, directory: &Path, aside: bool) -> bool {
        let Some(parent) = directory.parent() else { return true };
        let absolute = self.workspace.root().join(directory);
        self.directories.contains_key(parent)
            && !is_generated_folder(&absolute)
            && !(aside && [CACHE_MARK, "pyvenv.cfg"].iter().any(|mark| absolute.join(mark).exists()))
    }

    /// Returns true if the directory, or one above it, is hidden or ignored.
    fn is_aside(&self, directory: &Path) -> bool {
        let Some(parent) = directory.parent() else { return false };
        self.directories.get(parent).is_some_and(|parent| parent.aside)
            || is_hidden(directory)
            || self.rules.is_ignored(directory, true)
    }

    /// Returns true if the file counts, in the directory `parent`, which is watched.
    fn is_recorded(&self, path: &Path, parent: &WatchedDirectory) -> bool {
        if is_temporary(path) {
            return false;
        }
        !parent.aside && !self.is_ignored(path)
            || path.file_name().and_then(OsStr::to_str).is_some_and(|name| self.sources.has(name))
    }

    /// The watched directories from `top` on downwards.
    fn directories_below(&self, top: &Path) -> impl Iterator<Item = &PathBuf> {
        let below = self.directories.range(top.to_owned()..).map(|(path, _)| path);
        below.take_while(move |path| path.starts_with(top))
    }

    /// Forgets `top` and everything below it; returns the files that were known there.
    fn forget_tree(&mut self, top: &Path) -> Vec<(PathBuf, FileFingerprint)> {
        let below: Vec<PathBuf> = self.directories_below(top).cloned().collect();
        let mut files = Vec::new();
        for path in below {
            let Some(directory) = self.directories.remove(&path) else { continue };
            self.polled.remove(&path);
            if let Some(watch) = directory.watch
                && self.by_watch.remove(&watch).is_some()
                && let Some(watches) = &self.watches
            {
                watches.remove(watch);
            }
            *self.count_of_files(directory.aside) -= directory.files.len();
            self.aside -= usize::from(directory.aside);
            files.extend(directory.files.into_iter().map(|(name, mark)| (path.join(name), mark)));
        }
        files
    }

    /// Watches `top` and the relevant directories below it, and records the files, as long as
    /// `go_on` allows; each is passed to `found`. A directory is watched before it is listed, so
    /// that no change is missed in between.
    fn watch_tree(
        &mut self,
        top: PathBuf,
        go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(PathBuf, &Metadata),
    ) {
        let aside = self.is_aside(&top);
        let mut waiting = vec![(top, aside)];
        while let Some((path, aside)) = waiting.pop() {
            let absolute = self.workspace.root().join(&path);
            if aside && self.aside >= self.limits.aside {
                self.leave_aside_out();
                continue;
            }
            let Ok(watch) = self.watch_directory(&path, &absolute) else { continue };
            self.aside += usize::from(aside);
            let mut directory = WatchedDirectory { watch, aside, files: HashMap::new() };
            let mut below = Vec::new();
            // A directory that may not be listed has no files for anyone.
            for entry in std::fs::read_dir(&absolute).into_iter().flatten().flatten() {
                if !go_on() {
                    return;
                }
                let Ok(kind) = entry.file_type() else { continue };
                let child = path.join(entry.file_name());
                if kind.is_dir() {
                    if child.components().count() <= MAX_PATH_DEPTH {
                        below.push(child);
                    }
                } else if kind.is_file() && self.is_recorded(&child, &directory) {
                    if aside && self.aside_files >= self.limits.aside_files {
                        self.leave_aside_out();
                        continue;
                    }
                    if !aside && self.files >= self.limits.files {
                        self.too_many = true;
                        continue;
                    }
                    let Ok(metadata) = entry.metadata() else { continue };
                    directory.files.insert(entry.file_name(), fingerprint(&metadata));
                    *self.count_of_files(aside) += 1;
                    found(child, &metadata);
                }
            }
            directory.files.shrink_to_fit();
            self.directories.insert(path, directory);
            waiting.extend(below.into_iter().filter_map(|child| {
                let aside = self.is_aside(&child);
                self.is_watchable(&child, aside).then_some((child, aside))
            }));
        }
    }

    /// Returns the watch of the directory at `path`; `None` if it has to be scanned instead.
    fn watch_directory(&mut self, path: &Path, absolute: &Path) -> Result<Option<i32>, KernelWatchError> {
        let added = match &self.watches {
            Some(watches) if self.by_watch.len() < self.limits.watches => watches.add(absolute),
            _ => Err(KernelWatchError::NoWatch),
        };
        match added {
            Ok(watch) => {
                self.by_watch.insert(watch, path.to_owned());
                Ok(Some(watch))
            }
            Err(KernelWatchError::NoWatch) => {
                self.polled.insert(path.to_owned());
                Ok(None)
            }
            Err(KernelWatchError::NotThere) => Err(KernelWatchError::NotThere),
        }
    }

    /// Compares each suspect with the disk, and records the present state.
    fn resolve_suspects(&mut self, suspects: BTreeMap<PathBuf, Suspect>) -> BTreeMap<PathBuf, ChangeKind> {
        let mut changes = BTreeMap::new();
        for (path, suspect) in suspects {
            let metadata = std::fs::symlink_metadata(self.workspace.root().join(&path)).ok();
            let metadata = metadata.filter(Metadata::is_file);
            let on_disk = metadata.is_some();
            let now = metadata.filter(|_| self.is_watched(&path)).map(|metadata| fingerprint(&metadata));
            let kind = match (suspect.before, now) {
                (None, None) => None,
                (None, Some(_)) => Some(ChangeKind::Created),
                // The file is ignored from now on: it has not changed, and is not reported any
                // more.
                (Some(_), None) if on_disk => None,
                (Some(_), None) => Some(ChangeKind::Deleted),
                (Some(before), Some(now)) => {
                    (suspect.certain || before != now).then_some(ChangeKind::Changed)
                }
            };
            self.remember_file(&path, now);
            changes.extend(kind.map(|kind| (path, kind)));
        }
        changes
    }

    fn is_watched(&self, path: &Path) -> bool {
        let parent = path.parent().and_then(|parent| self.directories.get(parent));
        parent.is_some_and(|parent| self.is_recorded(path, parent))
    }

    fn remember_file(&mut self, path: &Path, now: Option<FileFingerprint>) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        let Some(directory) = self.directories.get_mut(parent) else { return };
        let (before, aside) = (directory.files.len(), directory.aside);
        match now {
            Some(mark) => directory.files.insert(name.to_owned(), mark),
            None => directory.files.remove(name),
        };
        let after = directory.files.len();
        let count = self.count_of_files(aside);
        *count = *count + after - before;
    }

    fn count_of_files(&mut self, aside: bool) -> &mut usize {
        if aside { &mut self.aside_files } else { &mut self.files }
    }

    /// Records that hidden or ignored sources are not watched.
    fn leave_aside_out(&mut self) {
        if !std::mem::replace(&mut self.leaves_aside_out, true) {
            tracing::warn!("hidden or ignored folders are too many: changes in some are not noticed");
        }
    }
}

/// Returns the identity of the directory at the absolute path `dir`.
fn directory_identity(dir: &Path) -> Option<InodeIdentity> {
    InodeIdentity::of_real_folder(dir)
}

/// Returns true for hidden directories, which contain private data of tools. The exceptions are
/// directories that people write.
fn is_hidden(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or(OsStr::new(""));
    let kept = [".github", ".cargo", ".config", ".vscode", ".lsp-tools"];
    name.as_encoded_bytes().starts_with(b".") && !kept.iter().any(|kept| *kept == name)
}

fn fingerprint(metadata: &Metadata) -> FileFingerprint {
    let mut hasher = DefaultHasher::new();
    (metadata.len(), ChangeMarks::new(metadata)).hash(&mut hasher);
    hasher.finish()
}

/// Returns the change, if any, of a file with `metadata` after `since`.
fn change_since(metadata: &Metadata, since: SystemTime) -> Option<ChangeKind> {
    if ChangeMarks::new(metadata).changed() < since {
        return None;
    }
    // Not every file system records the time of creation.
    let created = metadata.created().is_ok_and(|created| created >= since);
    Some(if created { ChangeKind::Created } else { ChangeKind::Changed })
}
