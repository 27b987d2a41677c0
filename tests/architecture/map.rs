//! The map of the source, `docs/map.md`: the first sentence of each file's documentation, floor by floor.
//!
//! To write it anew: `UPDATE_MAP=1 cargo test --test integration architecture::map`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{FLOORS, floor};

const MAX_SENTENCE_CHARS: usize = 250;

const HEAD: &str = "# Map of the source

The first sentence of each file's documentation, floor by floor, the lowest first. A test keeps this page as the source is; `just map` writes
it anew. [ARCHITECTURE.md](../ARCHITECTURE.md) says what the floors are, and [the glossary](glossary.md) has the words.
";

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of Rust below `folder` that are no tests, a folder's `mod.rs` before the others.
fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            found.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort_by_key(|path| path.to_string_lossy().replace("/mod.rs", "/"));
    found
}

fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    match paragraph.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => paragraph,
    }
}

/// Each file below `src`, as a path from there, with its first sentence.
fn sentences() -> Vec<(String, String)> {
    let source = package().join("src");
    let described = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a file of the source");
        let below = path.strip_prefix(&source).expect("a path below it").to_string_lossy().into_owned();
        (below, first_sentence(&text))
    };
    source_files(&source).into_iter().map(described).collect()
}

fn render() -> String {
    let files = sentences();
    let mut map = HEAD.to_owned();
    let mut section = |title: &str, wanted: Option<usize>| {
        write!(map, "\n## {title}\n\n").expect("a text grows");
        for (path, sentence) in files.iter().filter(|(path, _)| floor(path) == wanted) {
            writeln!(map, "- `{path}`: {sentence}").expect("a text grows");
        }
    };
    section("The crate", None);
    for (index, name) in FLOORS.iter().enumerate() {
        section(name, Some(index));
    }
    map
}

#[test]
fn map_of_source_is_as_the_source_says() {
    let page = package().join("docs/map.md");
    let current = render();
    if std::env::var_os("UPDATE_MAP").is_some() {
        fs::write(&page, &current).expect("docs/map.md");
    }
    let kept = fs::read_to_string(&page).expect("docs/map.md");
    let differs = kept.lines().zip(current.lines()).find(|(kept, current)| kept != current);
    assert!(kept == current, "docs/map.md is not as the source says; run `just map`; first: {differs:?}");
}

#[test]
fn source_file_documentation_begins_with_one_short_sentence() {
    let is_bad = |sentence: &str| !sentence.ends_with('.') || sentence.chars().count() > MAX_SENTENCE_CHARS;
    let bad: Vec<_> = sentences().into_iter().filter(|(_, sentence)| is_bad(sentence)).collect();
    assert!(bad.is_empty(), "no sentence, or more than {MAX_SENTENCE_CHARS} characters: {bad:#?}");
}
