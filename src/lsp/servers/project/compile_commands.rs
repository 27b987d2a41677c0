//! The source files that a JSON Compilation Database names
//! (<https://clang.llvm.org/docs/JSONCompilationDatabase.html>).

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::platform::canonicalize;
use crate::workspace::normalise;

/// The largest database that is read, in bytes.
const MAX_DATABASE_BYTES: u64 = 512 << 20;

/// Flags that name outputs, with a value in the same or the next word. They change no findings.
const OUTPUT_FLAGS: [&str; 4] = ["-o", "-MF", "-MT", "-MQ"];
/// Flags that change no findings.
const SILENT_FLAGS: [&str; 4] = ["-c", "-MD", "-MMD", "-MP"];
/// The beginnings of further words that only name outputs.
const SILENT_PREFIXES: [&str; 2] = ["--output=", "-Wp,-M"];

/// The files that have an entry.
#[derive(Debug, Default)]
pub(super) struct CompileCommands {
    /// Their absolute paths, normalised, links not followed.
    files: BTreeMap<PathBuf, FileCommands>,
}

/// The commands of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileCommands {
    /// One, or several that differ in nothing that changes findings; with a hash of it.
    One(u64),
    /// Several; a server uses one of them.
    Several,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(flatten)]
    words: EntryWords,
}

/// The command of an entry. Without one, clangd refuses the whole database.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryWords {
    Arguments(Vec<String>),
    Command(String),
}

impl Entry {
    /// A hash of the folder and the words that may change the findings of the file at `path`.
    fn relevant_hash(&self, path: &Path) -> u64 {
        let words = match &self.words {
            EntryWords::Arguments(words) => words.clone(),
            EntryWords::Command(command) => shlex::split(command).unwrap_or_else(|| vec![command.clone()]),
        };
        let mut hasher = DefaultHasher::new();
        // Folders of headers may be relative to it.
        self.directory.hash(&mut hasher);
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if OUTPUT_FLAGS.contains(&word) {
                words.next();
                continue;
            }
            let names_output = OUTPUT_FLAGS.iter().chain(&SILENT_PREFIXES).any(|flag| word.starts_with(flag));
            let names_file = normalise(&self.directory.join(word)).is_some_and(|named| named == path);
            if !(names_output || names_file || SILENT_FLAGS.contains(&word)) {
                word.hash(&mut hasher);
            }
        }
        hasher.finish()
    }
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

    /// The commands of a file, perhaps under another path.
    pub(super) fn of(&self, absolute: &Path) -> Option<FileCommands> {
        if let Some(commands) = self.files.get(absolute) {
            return Some(*commands);
        }
        let mut namesakes = self.files.iter().filter(|(file, _)| file.file_name() == absolute.file_name());
        let found = namesakes.find(|(file, _)| canonicalize(file).is_ok_and(|real| real == absolute));
        found.map(|(_, commands)| *commands)
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
        let mut files = BTreeMap::new();
        while let Some(entry) = entries.next_element::<Entry>()? {
            let path = entry.directory.join(&entry.file);
            let Some(path) = Some(path).filter(|path| path.is_absolute()).and_then(|path| normalise(&path))
            else {
                continue;
            };
            let commands = FileCommands::One(entry.relevant_hash(&path));
            let known = files.entry(path).or_insert(commands);
            if *known != commands {
                *known = FileCommands::Several;
            }
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
            { "directory": root.join("link"), "file": "src/c.c", "command": "cc" },
        ]);
        std::fs::write(root.join("db"), text.to_string()).expect("a file");
        let read = || {
            let database = File::open(root.join("db")).expect("a file");
            let size = database.metadata().expect("its size").len();
            CompileCommands::read(database, size)
        };
        let commands = read().expect("a database");
        let has = |path: &str| commands.of(&root.join(path)).is_some();
        assert!(has("src/a.c") && has("real/src/c.c"));
        assert!(!has("src/b.c"), "a relative directory leads nowhere");
        std::fs::write(root.join("db"), "[{]").expect("a file");
        assert!(read().is_none());
    }

    #[test]
    fn commands_differ_by_what_may_change_findings() {
        let several = |first: &str, second: &str| {
            let entry =
                |command: &str| serde_json::json!({ "directory": "/b", "file": "a.c", "command": command });
            let words: Vec<&str> = second.split(' ').collect();
            let listed = serde_json::json!({ "directory": "/b", "file": "a.c", "arguments": words });
            let commands: CompileCommands =
                serde_json::from_value(serde_json::json!([entry(first), listed])).expect("commands");
            commands.of(Path::new("/b/a.c")) == Some(FileCommands::Several)
        };
        assert!(several("cc -DA -c a.c", "cc -DB -c a.c") && several("cc a.c", "c++ a.c"));
        assert!(several("cc a.c", "cc -fPIC a.c"), "`__PIC__` tells them apart");
        assert!(!several("cc -c a.c -o a.o", "cc -Wp,-MMD,a.d -c /b/a.c -oshared/a.o -MF a.d -MTa"));
        assert!(!several("cc '-DA=1' a.c", "cc -DA=1 a.c"));
        let elsewhere = r#"[{"directory": "/b", "file": "/a.c", "command": "cc -I."},
            {"directory": "/c", "file": "/a.c", "command": "cc -I."}]"#;
        let commands: CompileCommands = serde_json::from_str(elsewhere).expect("commands");
        assert_eq!(commands.of(Path::new("/a.c")), Some(FileCommands::Several));
        let without = r#"[{"directory": "/b", "file": "a.c", "output": "a.o"}]"#;
        assert!(serde_json::from_str::<CompileCommands>(without).is_err(), "clangd refuses it too");
    }
}
