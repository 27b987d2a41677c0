//! Searching real files.

use std::fs;
use std::time::Duration;

use super::*;

fn workspace(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let file = dir.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    let workspace = Workspace::open(dir.path()).unwrap();
    (dir, workspace)
}

fn query(pattern: &str) -> SearchQuery {
    SearchQuery {
        pattern: pattern.to_owned(),
        literal: true,
        whole_word: false,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: None,
        max_hits: 1000,
        deadline: Instant::now() + Duration::from_secs(60),
    }
}

/// `path:line:start-line:end`, 0-based.
fn places(result: &SearchResult) -> Vec<String> {
    let place = |hit: &Hit| {
        let Range { start, end } = hit.range;
        format!("{}:{}:{}-{}:{}", hit.path.display(), start.line, start.character, end.line, end.character)
    };
    result.hits.iter().map(place).collect()
}

fn found(workspace: &Workspace, query: &SearchQuery) -> Vec<String> {
    let result = workspace.search(query).unwrap();
    assert!(!result.truncated && !result.timed_out);
    places(&result)
}

#[test]
fn search_hit_positions_equal_buffer_positions() {
    let (_keep, workspace) = workspace(&[
        ("a.txt", "😀é x, x\r\nno\r\n\te\u{301} x".as_bytes()),
        ("bom.txt", b"\xef\xbb\xbfx\n"),
        ("latin.txt", b"\xe9\xe9 x\n"),
        ("mac.txt", b"one\rtwo x\rx\r\nfour\nx"),
    ]);
    let expected = [
        "a.txt:0:3-0:4",
        "a.txt:0:6-0:7",
        "a.txt:2:4-2:5",
        "bom.txt:0:0-0:1",
        "latin.txt:0:3-0:4",
        "mac.txt:1:4-1:5",
        "mac.txt:2:0-2:1",
        "mac.txt:4:0-4:1",
    ];
    assert_eq!(found(&workspace, &query("x")), expected);
    let lines: Vec<String> =
        workspace.search(&query("x")).unwrap().hits.into_iter().map(|hit| hit.line).collect();
    assert_eq!(lines, ["😀é x, x", "😀é x, x", "\te\u{301} x", "x", "\u{fffd}\u{fffd} x", "two x", "x", "x"]);
    for hit in workspace.search(&query("x")).unwrap().hits {
        if hit.path.display() != "latin.txt" {
            let buffer = crate::text::Buffer::new(&workspace.read_text(&hit.path).unwrap().text);
            assert_eq!(buffer.line(hit.range.start.line).unwrap(), hit.line);
            let character = hit.range.start.character as usize;
            assert_eq!(hit.line.chars().nth(character), Some('x'));
        }
    }
}

#[test]
fn search_obeys_case_whole_word_and_literal_modes() {
    let (_keep, workspace) = workspace(&[("a.py", "foo Foo foo_bar föo (foo) a.b axb\n".as_bytes())]);
    let with = |pattern: &str, change: &dyn Fn(&mut SearchQuery)| {
        let mut query = query(pattern);
        change(&mut query);
        found(&workspace, &query).len()
    };
    assert_eq!(with("foo", &|_| {}), 3);
    assert_eq!(with("foo", &|query| query.whole_word = true), 2);
    assert_eq!(with("foo", &|query| query.case_insensitive = true), 4);
    assert_eq!(with("FÖO", &|query| query.case_insensitive = true), 1);
    assert_eq!(with("a.b", &|_| {}), 1);
    assert_eq!(with("a.b", &|query| query.literal = false), 2);
    assert_eq!(with("(foo)", &|_| {}), 1);
    assert_eq!(with(r"^foo|axb$", &|query| query.literal = false), 2);
}

#[test]
fn search_skips_binary_and_ignored_files() {
    let (_keep, workspace) = workspace(&[
        ("b.rs", b"needle"),
        ("a/c.PY", b"needle"),
        ("z.md", b"needle"),
        ("late.bin", &[b"needle\n".as_slice(), &b"x".repeat(300_000), b"\0"].concat()),
        ("utf16", b"\xff\xfen\0e\0e\0d\0l\0e\0"),
        ("ignored.rs", b"needle"),
        (".gitignore", b"ignored.rs\n"),
        ("node_modules/m.js", b"needle"),
    ]);
    assert_eq!(found(&workspace, &query("needle")), ["a/c.PY:0:0-0:6", "b.rs:0:0-0:6", "z.md:0:0-0:6"]);
    let mut some = query("needle");
    some.extensions = Some(vec!["rs".to_owned(), ".py".to_owned()]);
    assert_eq!(found(&workspace, &some), ["a/c.PY:0:0-0:6", "b.rs:0:0-0:6"]);
    let mut below = query("needle");
    below.under = workspace.path(Path::new("a")).unwrap();
    assert_eq!(found(&workspace, &below), ["a/c.PY:0:0-0:6"]);
    below.under = workspace.path(Path::new("ignored.rs")).unwrap();
    assert_eq!(found(&workspace, &below), ["ignored.rs:0:0-0:6"], "asked for by name");
}

#[test]
fn search_with_limit_returns_the_first_hits_deterministically() {
    let files: Vec<(String, Vec<u8>)> =
        (0..300).map(|n| (format!("d{}/f{n:03}", n % 7), "hit hit\n".repeat(n % 4).into_bytes())).collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let (_keep, workspace) = workspace(&files);
    let all = found(&workspace, &SearchQuery { max_hits: 5000, ..query("hit") });
    assert_eq!(all.len(), (0..300).map(|n| n % 4 * 2).sum::<usize>());
    for max_hits in [0, 1, 7, 100, all.len() - 1] {
        let result = workspace.search(&SearchQuery { max_hits, ..query("hit") }).unwrap();
        assert!(result.truncated, "{max_hits}");
        assert_eq!(places(&result), all[..max_hits]);
    }
    let exactly = workspace.search(&SearchQuery { max_hits: all.len(), ..query("hit") }).unwrap();
    assert!(!exactly.truncated);
    assert_eq!(exactly.files_searched, 300);
}

#[test]
fn search_in_minified_file_takes_linear_time() {
    let line = format!("{}NEEDLE{}", "é;".repeat(1_000_000), "var a=1;".repeat(100_000));
    let (_keep, workspace) = workspace(&[("min.js", line.as_bytes())]);
    let began = Instant::now();
    let result = workspace.search(&query("NEEDLE")).unwrap();
    assert_eq!(places(&result), ["min.js:0:2000000-0:2000006"]);
    assert_eq!(result.hits[0].line.chars().count(), 402);
    assert!(result.hits[0].line.starts_with("…é;") && result.hits[0].line.contains("NEEDLEvar"));
    let many = workspace.search(&SearchQuery { max_hits: 50_000, ..query("a=1") }).unwrap();
    assert!(many.truncated);
    assert_eq!(many.hits.len(), 50_000);
    assert_eq!(many.hits[1].range.start.character - many.hits[0].range.start.character, 8);
    // If each hit read the line from its start, this would take minutes. A busy machine may need
    // seconds.
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn search_deadline_holds_inside_a_big_file() {
    let (_keep, workspace) = workspace(&[]);
    let file = fs::File::create(workspace.root().join("big.txt")).unwrap();
    let mut writer = std::io::BufWriter::new(file);
    for _ in 0..3_000_000 {
        std::io::Write::write_all(&mut writer, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n").unwrap();
    }
    drop(writer);
    let began = Instant::now();
    let slow = SearchQuery {
        literal: false,
        deadline: Instant::now() + Duration::from_millis(300),
        max_hits: usize::MAX,
        ..query("a")
    };
    let result = workspace.search(&slow).unwrap();
    assert!(result.timed_out);
    assert!(!result.hits.is_empty());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let none = workspace.search(&SearchQuery { deadline: Instant::now(), ..query("a") }).unwrap();
    assert!(none.timed_out && none.hits.is_empty());
}

#[test]
fn search_with_invalid_pattern_is_refused_with_reason() {
    let (_keep, workspace) = workspace(&[("a", b"x")]);
    let message = |query: SearchQuery| workspace.search(&query).unwrap_err().to_string();
    assert_eq!(
        message(SearchQuery { literal: false, ..query("(a") }),
        "the pattern `(a` is not a valid regular expression at character 1: unclosed group"
    );
    assert!(message(query("")).contains("empty"));
    assert!(message(query("a\nb")).contains("line break"));
    assert!(message(SearchQuery { literal: false, ..query(r"a\nb") }).contains("line break"));
    let nowhere = workspace.path(Path::new("nowhere")).unwrap();
    assert_eq!(message(SearchQuery { under: nowhere, ..query("x") }), "`nowhere` does not exist");
}

#[test]
fn search_reads_unsaved_overlay_texts_instead_of_files() {
    let (_keep, workspace) = workspace(&[("a.txt", b"old x\n"), ("b.txt", b"x\n"), ("c.txt", b"nothing\n")]);
    let path = |name: &str| workspace.path(Path::new(name)).unwrap();
    let texts = [("a.txt", "new\n"), ("c.txt", "\u{feff}\u{1f980} x\rx\n"), ("gone.txt", "x\n")];
    let texts = texts.into_iter().map(|(name, text)| (path(name), text.into())).collect();
    let overlaid = workspace.with_unsaved_texts(texts);
    assert_eq!(found(&overlaid, &query("x")), ["b.txt:0:0-0:1", "c.txt:0:2-0:3", "c.txt:1:0-1:1"]);
    assert_eq!(found(&workspace, &query("x")), ["a.txt:0:4-0:5", "b.txt:0:0-0:1"]);
}

#[test]
fn search_that_cannot_read_a_file_is_incomplete() {
    let (folder, workspace) = workspace(&[("a.py", b"target\n"), ("b.py", b"target\n")]);
    let result = workspace.search(&query("target")).unwrap();
    assert_eq!((result.hits.len(), result.truncated), (2, false));
    fs::write(folder.path().join("b.py"), vec![b'x'; MAX_SEARCH_HEAP_BYTES + 1]).unwrap();
    let result = workspace.search(&query("target")).unwrap();
    assert_eq!((result.hits.len(), result.truncated), (1, true), "a line too long to hold");
}
