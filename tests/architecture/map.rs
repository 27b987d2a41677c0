//! The map of the source, `docs/map.md`: the first sentence of each module's comment, floor by floor.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{FLOORS, GRAPH, floor};

/// Asks for the map to be written instead of compared.
const UPDATE: &str = "LSP_TOOLS_UPDATE";
/// The map shows each sentence on one line.
const MAX_SENTENCE_CHARS: usize = 140;

const HEAD: &str = "# Map of the source

One line per file: the first sentence of its `//!` comment. The floors stand from the lowest to the highest; a file imports only from its own
floor and those above it on this page. [ARCHITECTURE.md](../ARCHITECTURE.md) describes the floors and the way of a call. Tests are left out.

Do not edit this page: `just map` writes it from the comments.
";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> PathBuf {
    root().join("docs/map.md")
}

/// All files of the binary and the library relative to `src`, without tests; a folder's `mod.rs` is its first.
fn files() -> Vec<&'static str> {
    let mut files: Vec<&str> = GRAPH.files().chain(["main.rs"]).collect();
    files.sort_by_cached_key(|file| file.replace("mod.rs", ""));
    files
}

/// The first sentence of the `//!` comment of `file`; empty where there is no comment.
fn first_sentence(file: &str) -> String {
    let path = root().join("src").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let comment = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = comment.take_while(|line| !line.is_empty()).collect();
    let mut sentence = paragraph.join(" ");
    if let Some(stop) = sentence.find(". ") {
        sentence.truncate(stop + 1);
    }
    sentence
}

fn map() -> String {
    let mut map = HEAD.to_owned();
    let floors = FLOORS.iter().enumerate().map(|(index, name)| (Some(index), *name));
    for (index, name) in std::iter::once((None, "crate")).chain(floors) {
        // Writing to a String cannot fail.
        let _ = writeln!(map, "\n## {name}\n");
        for file in files().into_iter().filter(|file| floor(file) == index) {
            let _ = writeln!(map, "- `src/{file}`: {}", first_sentence(file));
        }
    }
    map
}

#[test]
fn source_map_page_matches_first_sentences() {
    let map = map();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(page(), map).expect("the map can be written");
        return;
    }
    let kept = std::fs::read_to_string(page()).expect("docs/map.md");
    let added: Vec<&str> = map.lines().filter(|line| !kept.lines().any(|old| old == *line)).collect();
    assert!(kept == map, "docs/map.md is old; `just map` writes it anew. It lacks:\n{}", added.join("\n"));
}

#[test]
fn source_file_first_sentence_is_short_and_unique() {
    let files = files();
    assert!(files.len() > 600, "only {} files are read", files.len());
    let mut known = BTreeSet::new();
    let mut faults = Vec::new();
    for file in files {
        let sentence = first_sentence(file);
        let checks = [
            (sentence.ends_with('.'), "does not end with a full stop"),
            (sentence.chars().count() <= MAX_SENTENCE_CHARS, "is too long"),
            (known.insert(sentence.clone()), "belongs to another file as well"),
        ];
        let failed = checks.into_iter().filter(|(holds, _)| !holds);
        faults.extend(failed.map(|(_, fault)| format!("src/{file}: “{sentence}” {fault}")));
    }
    assert!(faults.is_empty(), "the first sentence of these `//!` comments:\n{}", faults.join("\n"));
}
