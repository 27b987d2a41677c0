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

/// Names of functions whose arguments are the parts of a path.
const JOINING: [&str; 5] = ["join", "Join", "joinpath", "resolve", "Path"];

/// Collects the paths that several strings spell, as `join(here, "fixtures", "run")` and
/// `here / "fixtures" / "run"` do, from the tokens of a file.
#[derive(Default)]
pub(super) struct JoinedPaths {
    run: StringRun,
    /// True within the arguments of a function that joins paths.
    joins: bool,
    /// Both values for each of the enclosing calls.
    around: Vec<(StringRun, bool)>,
}

/// Adjacent strings, with commas or slashes between them.
#[derive(Default)]
struct StringRun {
    path: String,
    parts: usize,
    /// The place of the last string.
    at: Position,
    /// True if a comma or slash follows the last string.
    is_joint: bool,
}

impl StringRun {
    /// Ends it. Returns the path, if it has several parts.
    fn end(&mut self) -> Option<(String, Position)> {
        let Self { path, parts, at, .. } = std::mem::take(self);
        (parts > 1 && may_be_path(&path)).then_some((path, at))
    }
}

impl JoinedPaths {
    /// Ends the file. Returns the path that ends there.
    pub(super) fn end(&mut self) -> Option<(String, Position)> {
        self.run.end()
    }

    /// Adds a string. Returns the path that ends before it.
    pub(super) fn add(&mut self, text: &str, at: Position) -> Option<(String, Position)> {
        let ended = if self.run.is_joint { None } else { self.run.end() };
        let run = &mut self.run;
        if run.parts > 0 {
            run.path.push('/');
        }
        // A longer one is no path, and stays so.
        if run.path.len() <= MAX_QUOTED_PATH_BYTES {
            run.path.push_str(text);
        }
        (run.parts, run.at, run.is_joint) = (run.parts + 1, at, false);
        ended
    }

    /// Adds another token. `called` is the name of the function whose arguments it begins. Returns
    /// the path that ends before it.
    pub(super) fn pass(&mut self, token: &str, called: Option<&str>) -> Option<(String, Position)> {
        match token {
            "string_start" | "string_end" | "\"" | "'" => None,
            "," | "/" if self.joins || token == "/" => {
                self.run.is_joint = self.run.parts > 0;
                None
            }
            "(" => {
                self.around.push((std::mem::take(&mut self.run), self.joins));
                self.joins = called.is_some_and(|name| JOINING.contains(&name));
                None
            }
            ")" => {
                let ended = self.run.end();
                (self.run, self.joins) = self.around.pop().unwrap_or_default();
                ended
            }
            _ => self.run.end(),
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
                match target {
                    Some(target) if target == number => {}
                    Some(target) => found.entry(target).or_default().push((number, *at)),
                    None => self.dangling.push((number, *at, path.clone())),
                }
            }
        }
        self.quoting = found;
    }

    /// The places, with their files, that may name `gone`, which no longer exists, in a string.
    pub(crate) fn quoting_gone(&self, gone: &WorkspacePath) -> Vec<(usize, Position)> {
        let is_meant = |(from, _, path): &&(usize, Position, String)| {
            let at = |base: &WorkspacePath, name: &str| base.join(name).is_ok_and(|path| path == *gone);
            let folder = self.folder_of(*from);
            gone.as_path().ends_with(path.trim_start_matches("./"))
                || self.names_of(path).any(|name| at(&folder, &name) || at(&WorkspacePath::root(), &name))
        };
        self.dangling.iter().filter(is_meant).map(|(from, at, _)| (*from, *at)).collect()
    }

    fn folder_of(&self, file: usize) -> WorkspacePath {
        self.files[file].path.parent().unwrap_or_else(WorkspacePath::root)
    }

    /// The paths that `path` may stand for: it may omit the ending and the name `index`.
    fn names_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = String> + 'a {
        let with_ending = |between: &'static str| {
            self.endings.iter().map(move |ending| format!("{path}{between}.{ending}"))
        };
        // Scripts name a folder for its `index`.
        std::iter::once(path.to_owned()).chain(with_ending("")).chain(with_ending("/index"))
    }

    /// Returns the file that `path` leads to from the folder of the file number `from` or from the
    /// root.
    fn file_at(&self, from: usize, path: &str) -> Option<usize> {
        let at = |base: &WorkspacePath| {
            self.names_of(path).find_map(|name| base.join(&name).ok().and_then(|path| self.file(&path)))
        };
        at(&self.folder_of(from)).or_else(|| at(&WorkspacePath::root()))
    }

    /// Returns the only file whose path ends in `path`, since its folder may be given elsewhere.
    fn file_ending_in(&self, path: &str, by_name: &HashMap<&str, Vec<usize>>) -> Option<usize> {
        let path = path.trim_start_matches("./");
        let same = by_name.get(path.rsplit('/').next()?)?;
        let mut ending = same.iter().filter(|file| self.files[**file].path.as_path().ends_with(path));
        ending.next().copied().filter(|_| ending.next().is_none())
    }
}
