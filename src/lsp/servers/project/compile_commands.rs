//! The source files that a JSON Compilation Database names
//! (<https://clang.llvm.org/docs/JSONCompilationDatabase.html>).

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::platform::canonicalize;
use crate::workspace::normalise;

/// The largest database that is read, in bytes.
const MAX_DATABASE_BYTES: u64 = 512 << 20;

/// The files that have an entry.
#[derive(Debug, Default)]
pub(super) struct CompileCommands {
    /// Their absolute paths, normalised, links not followed.
    files: BTreeSet<PathBuf>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
}

impl CompileCommands {
    /// Reads a database of `size` bytes; `None` if it cannot be read. Entries whose paths remain
    /// relative are left out, as clangd does.
    pub(super) fn read(database: File, size: u64) -> Option<Self> {
        if size > MAX_DATABASE_BYTES {
            return None;
        }
        serde_json::from_reader(BufReader::new(database)).ok()
    }

    /// Returns true if a file has an entry, perhaps under another path.
    pub(super) fn has(&self, absolute: &Path) -> bool {
        if self.files.contains(absolute) {
            return true;
        }
        let mut namesakes = self.files.iter().filter(|file| file.file_name() == absolute.file_name());
        namesakes.any(|file| canonicalize(file).is_ok_and(|real| real == absolute))
    }
}

impl<'de> Deserialize<'de> for CompileCommands {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntryVisitor)
    }
}

/// Collects the files entry by entry, since their commands may take much memory.
struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = CompileCommands;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of compile commands")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<CompileCommands, A::Error> {
        let mut files = BTreeSet::new();
        while let Some(entry) = entries.next_element::<Entry>()? {
            let path = entry.directory.join(entry.file);
            files.extend(Some(path).filter(|path| path.is_absolute()).and_then(|path| normalise(&path)));
        }
        Ok(CompileCommands { files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::files::symlink;

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn files_are_found_by_directory_and_through_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = canonicalize(folder.path()).expect("a path");
        std::fs::create_dir_all(root.join("real/src")).expect("a folder");
        std::fs::write(root.join("real/src/c.c"), "").expect("a file");
        symlink("real", root.join("link")).expect("a link");
        let text = serde_json::json!([
            { "directory": root.join("build"), "file": "../src/a.c", "command": "cc" },
            { "directory": ".", "file": "src/b.c", "arguments": ["cc"] },
            { "directory": root.join("link"), "file": "src/c.c", "output": "c.o" },
        ]);
        std::fs::write(root.join("db"), text.to_string()).expect("a file");
        let read = || {
            let database = File::open(root.join("db")).expect("a file");
            let size = database.metadata().expect("its size").len();
            CompileCommands::read(database, size)
        };
        let commands = read().expect("a database");
        let has = |path: &str| commands.has(&root.join(path));
        assert!(has("src/a.c") && has("real/src/c.c"));
        assert!(!has("src/b.c"), "a relative directory leads nowhere");
        std::fs::write(root.join("db"), "[{]").expect("a file");
        assert!(read().is_none());
    }
}
