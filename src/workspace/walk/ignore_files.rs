//! The verdict of ignore files on a path: `.gitignore` and `.ignore` of each folder, git's
//! `info/exclude`, and the user's own excludes.
//!
//! Patterns and their precedence are those of the `ignore` crate. The files are read here, because
//! they come from a repository and may be replaced by a link, a FIFO or an endless file.

use crate::platform::OsStrExt;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::RwLock;

use super::walk_gaps::WalkGaps;
use crate::text::glob_fault;
use crate::workspace::{ReadError, Workspace};

/// The largest ignore file that is read: a compiled pattern is many times its size.
const MAX_IGNORE_FILE_BYTES: u64 = 1 << 20;
/// The largest file that only points to another one.
const MOST_POINTER_BYTES: u64 = 16 << 10;

/// The verdict of ignore files on a path.
pub(super) type IgnoreVerdict = Match<()>;

/// A predicate that decides, by its verdict, whether a folder is left out.
pub(super) type LeavesOut<'f> = &'f dyn Fn(&Path, &IgnoreVerdict) -> bool;

/// The ignore files that apply below one folder, each read once. Shared by the threads of a walk.
#[derive(Debug)]
pub(super) struct IgnoreFiles {
    workspace: Workspace,
    /// The top folder of all paths, absolute.
    top: PathBuf,
    /// The rules of the folders above it.
    above: Arc<FolderIgnoreRules>,
    /// The user's own excludes.
    global: Gitignore,
    /// By absolute path; those without ignore files share the rules of the folder above.
    folders: RwLock<HashMap<OsString, FolderIgnoreState>>,
    gaps: Arc<WalkGaps>,
}

/// The rules of one folder.
#[derive(Debug)]
struct FolderIgnoreRules {
    dot_ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    above: Option<Arc<FolderIgnoreRules>>,
}

#[derive(Debug, Clone)]
enum FolderIgnoreState {
    /// The rules for its content, together with those above.
    Open(Arc<FolderIgnoreRules>),
    /// The folder is ignored, with all its content.
    Ignored,
}

impl IgnoreFiles {
    /// Collects the rules below the absolute folder `top`, including those of the folders above if
    /// they are `inherited`.
    pub(super) fn below(workspace: &Workspace, top: &Path, inherited: bool, gaps: Arc<WalkGaps>) -> Self {
        let (global, _) = GitignoreBuilder::new(workspace.root()).build_global();
        let nothing = FolderIgnoreRules {
            dot_ignore: Gitignore::empty(),
            gitignore: Gitignore::empty(),
            exclude: Gitignore::empty(),
            above: None,
        };
        let mut ignored = Self {
            workspace: workspace.clone(),
            top: top.to_owned(),
            above: Arc::new(nothing),
            global,
            folders: RwLock::default(),
            gaps,
        };
        if inherited {
            let mut above: Vec<&Path> = top.ancestors().skip(1).collect();
            while let Some(folder) = above.pop() {
                ignored.above = ignored.rules_of(&ignored.above, folder);
            }
        }
        ignored
    }

    /// Returns the verdict on `path`, which is absolute and below the top. Its folder must not be
    /// ignored, which holds for every folder that a walk reaches.
    pub(super) fn verdict(&self, path: &Path, is_dir: bool) -> IgnoreVerdict {
        self.match_path(path, is_dir, None)
    }

    /// Like [`verdict`](Self::verdict), for a path anywhere below the top: the content of a folder
    /// that `is_left_out` is ignored.
    pub(super) fn verdict_from_top(
        &self,
        path: &Path,
        is_dir: bool,
        is_left_out: LeavesOut<'_>,
    ) -> IgnoreVerdict {
        self.match_path(path, is_dir, Some(is_left_out))
    }

    fn match_path(&self, path: &Path, is_dir: bool, is_left_out: Option<LeavesOut<'_>>) -> IgnoreVerdict {
        match path.parent().map(|folder| self.folder_state(folder, is_left_out)) {
            Some(FolderIgnoreState::Open(rules)) => self.match_rules(&rules, path, is_dir),
            Some(FolderIgnoreState::Ignored) => Match::Ignore(()),
            None => Match::None,
        }
    }

    /// Returns the rules of the absolute `folder`, and whether a folder between the top and it is
    /// left out.
    fn folder_state(&self, folder: &Path, is_left_out: Option<LeavesOut<'_>>) -> FolderIgnoreState {
        let known = |folder: &Path| self.folders.read().get(folder.as_os_str()).cloned();
        let mut unknown = Vec::new();
        let mut found = FolderIgnoreState::Open(Arc::clone(&self.above));
        for folder in folder.ancestors() {
            if let Some(known) = known(folder) {
                found = known;
                break;
            }
            unknown.push(folder);
            if folder == self.top {
                break;
            }
        }
        while let Some(folder) = unknown.pop() {
            if let FolderIgnoreState::Open(rules) = &found {
                let is_out = folder != self.top
                    && is_left_out
                        .is_some_and(|is_out| is_out(folder, &self.match_rules(rules, folder, true)));
                found = if is_out {
                    FolderIgnoreState::Ignored
                } else {
                    FolderIgnoreState::Open(self.rules_of(rules, folder))
                };
            }
            let mut folders = self.folders.write();
            folders.insert(folder.as_os_str().to_owned(), found.clone());
        }
        found
    }

    /// Returns the verdict of `rules` and those above on `path`. Of each kind of file the nearest
    /// with a verdict decides; `.ignore` ranks before `.gitignore`, then git's own excludes, then
    /// the user's.
    fn match_rules(&self, rules: &FolderIgnoreRules, path: &Path, is_dir: bool) -> IgnoreVerdict {
        let (mut dot_ignore, mut gitignore, mut exclude) = (Match::None, Match::None, Match::None);
        let apply = |found: &mut IgnoreVerdict, rules: &Gitignore| {
            if found.is_none() {
                *found = rules.matched(path, is_dir).map(|_| ());
            }
        };
        for rules in std::iter::successors(Some(rules), |rules| rules.above.as_deref()) {
            apply(&mut dot_ignore, &rules.dot_ignore);
            apply(&mut gitignore, &rules.gitignore);
            apply(&mut exclude, &rules.exclude);
        }
        dot_ignore.or(gitignore).or(exclude).or(self.global.matched(path, is_dir).map(|_| ()))
    }

    /// The rules of the absolute `folder`, below those of the folder above it.
    fn rules_of(&self, above: &Arc<FolderIgnoreRules>, folder: &Path) -> Arc<FolderIgnoreRules> {
        let rules = FolderIgnoreRules {
            dot_ignore: self.compile_gitignore(folder, self.read(&folder.join(".ignore"))),
            gitignore: self.compile_gitignore(folder, self.read(&folder.join(".gitignore"))),
            exclude: self.compile_gitignore(folder, self.exclude_of(folder)),
            above: Some(Arc::clone(above)),
        };
        if rules.dot_ignore.is_empty() && rules.gitignore.is_empty() && rules.exclude.is_empty() {
            return Arc::clone(above);
        }
        Arc::new(rules)
    }

    /// Reads the ignore file at the absolute `file`. In the workspace it is opened like every other
    /// file. Above it, if the repository has its top there, it may be any regular file.
    fn read(&self, file: &Path) -> Option<Vec<u8>> {
        let read = match file.strip_prefix(self.workspace.root()) {
            Ok(relative) => self.workspace.read_rules(relative, MAX_IGNORE_FILE_BYTES),
            Err(_) => Workspace::read_bytes_outside(file, MAX_IGNORE_FILE_BYTES),
        };
        self.content_or_record_gap(file, read)
    }

    /// Reads git's `info/exclude` of a working tree whose top is `folder`. It lies in the
    /// repository's own folder, which may be elsewhere.
    fn exclude_of(&self, folder: &Path) -> Option<Vec<u8>> {
        let dot_git = folder.join(".git");
        let kind = std::fs::metadata(&dot_git).ok()?.file_type();
        let outside =
            |file: &Path, most| self.content_or_record_gap(file, Workspace::read_bytes_outside(file, most));
        if !kind.is_file() {
            return outside(&dot_git.join("info/exclude"), MAX_IGNORE_FILE_BYTES);
        }
        let first_line = |file: &Path| {
            let text = outside(file, MOST_POINTER_BYTES)?;
            Some(PathBuf::from(OsStr::from_bytes(text.split(|byte| matches!(byte, b'\n' | b'\r')).next()?)))
        };
        let says = first_line(&dot_git)?;
        let own = folder.join(OsStr::from_bytes(says.as_os_str().as_bytes().strip_prefix(b"gitdir: ")?));
        let common = own.join(first_line(&own.join("commondir"))?);
        outside(&common.join("info/exclude"), MAX_IGNORE_FILE_BYTES)
    }

    fn content_or_record_gap(&self, file: &Path, read: Result<Vec<u8>, ReadError>) -> Option<Vec<u8>> {
        match read {
            Ok(bytes) => Some(bytes),
            Err(ReadError::NotFound { .. }) => None,
            Err(error) => {
                self.gaps.record_unread(&self.workspace, file, &error);
                None
            }
        }
    }

    /// Compiles the patterns of a file in the absolute `folder`, up to the first line that is not
    /// UTF-8; empty if there is no file.
    fn compile_gitignore(&self, folder: &Path, content: Option<Vec<u8>>) -> Gitignore {
        let Some(content) = content else { return Gitignore::empty() };
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
        let mut builder = GitignoreBuilder::new(folder);
        for line in content.split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) else { break };
            if glob_fault(line).is_none() {
                // Invalid patterns are skipped.
                let _not_a_pattern = builder.add_line(None, line);
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

#[cfg(test)]
mod tests;
