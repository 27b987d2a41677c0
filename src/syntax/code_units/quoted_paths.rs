//! Files that code names by their paths in strings: programs that tests start, modules that are
//! loaded at run time.

use std::collections::HashMap;

use super::CodeIndex;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The longest string that may be a path, in bytes.
const MAX_QUOTED_PATH_BYTES: usize = 256;

/// The paths in strings of one file, as written, with their places.
pub(super) type QuotedPaths = Vec<(String, Position)>;

/// Returns true if a string may be the path of a file.
pub(super) fn may_be_path(text: &str) -> bool {
    text.len() <= MAX_QUOTED_PATH_BYTES
        && text.contains(['/', '.'])
        && (text.starts_with("..") || text.contains(char::is_alphanumeric))
        && text.chars().all(|letter| letter.is_alphanumeric() || "_-./@+".contains(letter))
}

/// The path that adjacent strings spell, as in `join(here, "fixtures", "run")` and
/// `here / "fixtures" / "run"`.
#[derive(Default)]
pub(super) struct JoinedPath {
    path: String,
    /// True if a comma or slash follows the last string.
    is_joint: bool,
}

impl JoinedPath {
    /// Adds the next string. Returns the path so far, if it has several parts.
    pub(super) fn add(&mut self, text: &str) -> Option<&str> {
        let is_part = self.is_joint && !self.path.is_empty();
        self.is_joint = false;
        if is_part {
            self.path.push('/');
            self.path.push_str(text);
            if may_be_path(&self.path) {
                return Some(&self.path);
            }
        }
        self.path.clear();
        self.path.push_str(text);
        None
    }

    /// Adds another token of this kind.
    pub(super) fn pass(&mut self, kind: &str) {
        match kind {
            "," | "/" => self.is_joint = true,
            "string_start" | "string_end" | "\"" | "'" => {}
            _ => self.path.clear(),
        }
    }
}

impl CodeIndex {
    /// The places, with their files, that name the file number `file` by its path in a string.
    pub(crate) fn quoting(&self, file: usize) -> &[(usize, Position)] {
        self.quoting.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Finds the files that `quoted` names; it has an entry for each file.
    pub(super) fn link_quoted_paths(&mut self, quoted: &[QuotedPaths]) {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, file) in self.files.iter().enumerate() {
            by_name.entry(file.path.file_name().unwrap_or_default()).or_default().push(number);
        }
        let mut found: HashMap<usize, Vec<(usize, Position)>> = HashMap::new();
        for (number, paths) in quoted.iter().enumerate() {
            for (path, at) in paths {
                let target = self.file_at(number, path).or_else(|| self.file_ending_in(path, &by_name));
                if let Some(target) = target.filter(|target| *target != number) {
                    found.entry(target).or_default().push((number, *at));
                }
            }
        }
        self.quoting = found;
    }

    /// Returns the file that `path` leads to from the folder of the file number `from` or from the
    /// root. The path may omit the ending and the name `index`.
    fn file_at(&self, from: usize, path: &str) -> Option<usize> {
        let folder = self.files[from].path.parent().unwrap_or_else(WorkspacePath::root);
        let mut names = vec![path.to_owned()];
        names.extend(self.endings.iter().map(|ending| format!("{path}.{ending}")));
        // Scripts name a folder for its `index`.
        names.extend(self.endings.iter().map(|ending| format!("{path}/index.{ending}")));
        let at = |base: &WorkspacePath| {
            names.iter().find_map(|name| base.join(name).ok().and_then(|path| self.file(&path)))
        };
        at(&folder).or_else(|| at(&WorkspacePath::root()))
    }

    /// Returns the only file whose path ends in `path`, since its folder may be given elsewhere.
    fn file_ending_in(&self, path: &str, by_name: &HashMap<&str, Vec<usize>>) -> Option<usize> {
        let path = path.trim_start_matches("./");
        let same = by_name.get(path.rsplit('/').next()?)?;
        let mut ending = same.iter().filter(|file| self.files[**file].path.as_path().ends_with(path));
        ending.next().copied().filter(|_| ending.next().is_none())
    }
}
