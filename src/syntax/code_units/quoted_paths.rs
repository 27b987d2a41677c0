//! Files that code names by their paths in strings: programs that tests start, modules that are
//! loaded at run time.

use std::collections::HashMap;

use tree_sitter::Node;

use super::CodeIndex;
use crate::syntax::resolution::source::ParsedSource;
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

/// The path that the string with the content `text` ends, if the strings before it are parts of it:
/// `join(here, "fixtures", "run")`, `here / "fixtures" / "run"`.
pub(super) fn joined_path(source: &ParsedSource, text: Node<'_>) -> Option<String> {
    let string = text.parent()?;
    let content = |string: Node<'_>| {
        let mut cursor = string.walk();
        let found = string.named_children(&mut cursor).find(|child| child.kind() == text.kind());
        found.map(|content| source.text_of(content))
    };
    let is_string = |node: &Node<'_>| node.kind() == string.kind();
    let around = string.parent()?;
    let mut parts: Vec<&str> = match around.kind() {
        "arguments" | "argument_list" => {
            let before = std::iter::successors(Some(string), |at| at.prev_named_sibling());
            before.take_while(is_string).filter_map(content).collect()
        }
        "binary_operator" => {
            let steps = std::iter::successors(Some(around).filter(is_slash), |at| {
                at.child_by_field_name("left").filter(is_slash)
            });
            let right = steps.map_while(|at| at.child_by_field_name("right").filter(is_string));
            right.filter_map(content).collect()
        }
        _ => return None,
    };
    parts.reverse();
    (parts.len() > 1).then(|| parts.join("/")).filter(|path| may_be_path(path))
}

fn is_slash(node: &Node<'_>) -> bool {
    node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "/")
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
