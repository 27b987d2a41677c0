//! The first sentence of each module's comment, which names the contents of the file.

use std::collections::BTreeSet;
use std::path::Path;

use super::GRAPH;

/// A listing of the files shows each sentence on one line.
const MAX_SENTENCE_CHARS: usize = 140;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of the binary and the library relative to `src`, without tests.
fn files() -> Vec<&'static str> {
    GRAPH.files().chain(["main.rs"]).collect()
}

/// The first sentence of the `//!` comment of `file`; empty if there is no comment.
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
