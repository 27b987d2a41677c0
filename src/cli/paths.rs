//! Paths relative to the shell's folder, so that printed paths can be typed there.
//!
//! Answers name files relative to the workspace; a shell is in some folder of it, or elsewhere.
//! Only text output is converted: JSON, SARIF and annotations keep paths relative to the workspace.

use std::collections::HashMap;
use std::path::Path;

use crate::analysis::answer::{
    Answer, CompletionsOutput, DiagnosticsOutput, HierarchyItem, HierarchyOutput, HoverOutput,
    LocationsOutput, SignaturesOutput, SymbolItem, SymbolsOutput,
};
use crate::analysis::reach::test_reach::output::TestReachOutput;
use crate::analysis::trees::changes::output::ChangesOutput;
use crate::tools::language::explore::output::ExploreOutput;

/// The spelling of workspace paths in the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathSpelling {
    /// The current folder is below the root, by these components (none: it is the root).
    Inside(Vec<String>),
    /// The current folder is outside of the workspace, so paths are absolute.
    Elsewhere(String),
}

impl PathSpelling {
    /// Creates the spelling in `cwd` for paths below `root`; both absolute and without symlinks.
    pub(crate) fn new(root: &Path, cwd: &Path) -> Self {
        match cwd.strip_prefix(root) {
            Ok(below) => Self::Inside(
                below.components().map(|folder| folder.as_os_str().to_string_lossy().into_owned()).collect(),
            ),
            Err(_) => Self::Elsewhere(root.to_string_lossy().trim_end_matches('/').to_owned()),
        }
    }

    /// Converts `path`, which is relative to the workspace. Absolute paths and URIs stay unchanged.
    pub(crate) fn display_path(&self, path: &str) -> String {
        if path.starts_with('/') || path.contains("://") {
            return path.to_owned();
        }
        match self {
            Self::Elsewhere(root) => format!("{root}/{path}"),
            Self::Inside(folders) => {
                let mut parts: Vec<&str> = path.split('/').collect();
                // The last component is the file, not a folder.
                let common =
                    folders.iter().zip(&parts[..parts.len() - 1]).take_while(|(one, other)| one == *other);
                let common = common.count();
                parts.drain(..common);
                "../".repeat(folders.len() - common) + &parts.join("/")
            }
        }
    }

    /// Converts the paths in `sentence` to the current folder `cwd`: words that begin with a folder
    /// of the root that `cwd` does not contain as well.
    pub(crate) fn respell_sentence(&self, sentence: &str, root: &Path, cwd: &Path) -> String {
        let Self::Inside(folders) = self else { return sentence.to_owned() };
        if folders.is_empty() {
            return sentence.to_owned();
        }
        let is_path = |word: &str| {
            let first = word.split_once('/').map(|(first, _)| first);
            first.is_some_and(|first| {
                !matches!(first, "" | "." | "..") && root.join(first).is_dir() && !cwd.join(first).exists()
            })
        };
        let mut respelled = String::with_capacity(sentence.len());
        let ends_word = |letter: char| letter.is_whitespace() || "`'\"(),;=".contains(letter);
        for part in sentence.split_inclusive(ends_word) {
            let word = part.trim_end_matches(ends_word);
            let path = word.split_once(':').map_or(word, |(path, _)| path);
            match is_path(path) {
                true => respelled.push_str(&self.display_path(path)),
                false => respelled.push_str(path),
            }
            respelled.push_str(&part[path.len()..]);
        }
        respelled
    }

    /// Converts every path of `answer`. Returns the original path of each new spelling.
    pub(crate) fn respell<T: HasPaths>(&self, answer: &mut Answer<T>) -> HashMap<String, String> {
        let mut before = HashMap::new();
        let mut respell = |path: &mut String| {
            let shown = self.display_path(path);
            before.insert(shown.clone(), std::mem::replace(path, shown));
        };
        answer.output.each_path(&mut respell);
        if let Some(resolved) = &mut answer.resolved {
            respell(&mut resolved.place.path);
        }
        before
    }
}

/// An output that names files.
pub(crate) trait HasPaths {
    /// Passes every path to `change`.
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String));
}

impl HasPaths for HoverOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.candidates.0.iter_mut().for_each(|place| change(&mut place.path));
    }
}

impl HasPaths for ExploreOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.path);
        for list in [&mut self.callers, &mut self.implementations, &mut self.tests, &mut self.callees] {
            list.items.iter_mut().for_each(|item| change(&mut item.path));
        }
    }
}

impl HasPaths for TestReachOutput {
    /// Call paths and changes keep the workspace's spelling: they are symbols, not arguments of a
    /// command.
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        let files = self.tests.iter_mut().flat_map(|group| &mut group.files);
        files.for_each(|file| change(&mut file.path));
        self.without_run.iter_mut().for_each(change);
    }
}

impl HasPaths for LocationsOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.locations.0.iter_mut().for_each(|place| change(&mut place.path));
    }
}

impl HasPaths for DiagnosticsOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        for item in &mut self.diagnostics {
            change(&mut item.path);
            item.related.iter_mut().for_each(|related| change(&mut related.place.path));
        }
        self.incomplete.iter_mut().for_each(|file| change(&mut file.path));
    }
}

impl HasPaths for ChangesOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.found.each_path(change);
        self.unjudged.iter_mut().for_each(|file| change(&mut file.path));
        for interface in &mut self.interfaces {
            change(&mut interface.path);
            for user in &mut interface.users {
                if let Some((path, line)) = user.rsplit_once(':') {
                    let mut path = path.to_owned();
                    let line = line.to_owned();
                    change(&mut path);
                    *user = format!("{path}:{line}");
                }
            }
        }
        if let Some(merge) = &mut self.merge {
            merge.conflicts.iter_mut().for_each(|conflict| change(&mut conflict.path));
            merge.combined.iter_mut().for_each(|one| change(&mut one.path));
        }
    }
}

impl HasPaths for SymbolsOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        fn each(symbols: &mut [SymbolItem], change: &mut dyn FnMut(&mut String)) {
            for symbol in symbols {
                symbol.path.iter_mut().for_each(&mut *change);
                each(&mut symbol.children, change);
            }
        }
        each(&mut self.symbols, change);
    }
}

impl HasPaths for HierarchyOutput {
    fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        fn each(items: &mut [HierarchyItem], change: &mut dyn FnMut(&mut String)) {
            for item in items {
                change(&mut item.place.path);
                each(&mut item.children, change);
            }
        }
        each(&mut self.items, change);
    }
}

impl HasPaths for SignaturesOutput {
    fn each_path(&mut self, _: &mut dyn FnMut(&mut String)) {}
}

impl HasPaths for CompletionsOutput {
    fn each_path(&mut self, _: &mut dyn FnMut(&mut String)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cwd: &str, path: &str) -> String {
        PathSpelling::new(Path::new("/w"), Path::new(cwd)).display_path(path)
    }

    #[test]
    fn printed_path_is_relative_to_cwd_inside_workspace() {
        let cases = [
            ("/w", "src/a.py", "src/a.py"),
            ("/w/src", "src/a.py", "a.py"),
            ("/w/src", "src/sub/a.py", "sub/a.py"),
            ("/w/src", "tests/a.py", "../tests/a.py"),
            ("/w/src/sub", "src/a.py", "../a.py"),
            ("/w/src/sub", "a.py", "../../a.py"),
            ("/w/src", "src", "../src"),
            ("/elsewhere", "src/a.py", "/w/src/a.py"),
            ("/w2", "a.py", "/w/a.py"),
            ("/w/src", "/usr/lib/a.py", "/usr/lib/a.py"),
            ("/w/src", "jdt://contents/a.class", "jdt://contents/a.class"),
        ];
        for (cwd, path, expected) in cases {
            assert_eq!(shown(cwd, path), expected, "{path} in {cwd}");
        }
    }

    #[test]
    fn paths_in_sentences_are_those_of_the_current_folder() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["sub/greet", "lib/greet", "both", "sub/greet/both"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let cwd = root.path().join("sub/greet");
        let paths = PathSpelling::new(root.path(), &cwd);
        let cases = [
            ("error: `sub/greet/nope.py` does not exist", "error: `nope.py` does not exist"),
            ("error: sub/greet/a.py: replacement 1: no", "error: a.py: replacement 1: no"),
            (
                "note: also in 2 files: lib/greet/b.py:7, sub/c.py:1:2",
                "note: also in 2 files: ../../lib/greet/b.py:7, ../c.py:1:2",
            ),
            (
                "note: both/a.py, /usr/lib/a.py, ./a.py and ruff/pylsp",
                "note: both/a.py, /usr/lib/a.py, ./a.py and ruff/pylsp",
            ),
        ];
        for (said, expected) in cases {
            assert_eq!(paths.respell_sentence(said, root.path(), &cwd), expected);
        }
        let at_root = PathSpelling::new(root.path(), root.path());
        assert_eq!(at_root.respell_sentence("sub/greet/a.py", root.path(), root.path()), "sub/greet/a.py");
    }
}
