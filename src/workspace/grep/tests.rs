//! Lines found in real files.

use std::fs;
use std::time::{Duration, Instant};

use super::*;
use crate::workspace::WorkDeadline;

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

fn pattern(text: &str) -> GrepPattern {
    GrepPattern {
        text: text.to_owned(),
        fixed: false,
        case: CaseMode::Sensitive,
        whole_word: false,
        multiline: false,
        invert: false,
    }
}

fn query(text: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern(text),
        under: WorkspacePath::root(),
        select: Selection::default(),
        wanted: GrepWanted::Lines { before: 0, after: 0 },
        max: 1_000,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(60)),
    }
}

fn with(text: &str, change: impl FnOnce(&mut GrepPattern)) -> GrepQuery {
    let mut query = query(text);
    change(&mut query.pattern);
    query
}

/// Formats matches as `path:line:column text`, 0-based; `-end` behind the line if there are
/// several.
fn found(workspace: &Workspace, query: &GrepQuery) -> Vec<String> {
    let result = workspace.grep(query).unwrap();
    let mut lines = Vec::new();
    for file in &result.files {
        assert_eq!(file.count, file.lines.len());
        for line in &file.lines {
            let end =
                if line.end_line > line.start.line { format!("-{}", line.end_line) } else { String::new() };
            let Position { line: number, character } = line.start;
            lines.push(format!("{}:{number}{end}:{character} {}", file.path.display(), line.text));
        }
    }
    lines
}

#[test]
fn grep_lines_and_columns_equal_buffer_positions() {
    let (_keep, workspace) = workspace(&[
        ("a.txt", "😀é x, x\r\nno\r\n\te\u{301} x".as_bytes()),
        ("bom.txt", b"\xef\xbb\xbfx\n"),
        ("latin.txt", b"\xe9\xe9 x\n"),
        ("mac.txt", b"one\rtwo x\rno\rx\r\nfour\nx"),
    ]);
    let expected = [
        "a.txt:0:3 😀é x, x",
        "a.txt:2:4 \te\u{301} x",
        "bom.txt:0:0 x",
        "latin.txt:0:3 \u{fffd}\u{fffd} x",
        "mac.txt:1:4 two x",
        "mac.txt:3:0 x",
        "mac.txt:5:0 x",
    ];
    assert_eq!(found(&workspace, &query("x")), expected);
    assert_eq!(found(&workspace, &query("x$"))[0], "a.txt:0:6 😀é x, x", "CR is no part of the line");
}

#[test]
fn grep_obeys_case_whole_word_fixed_and_invert_modes() {
    let (_keep, workspace) = workspace(&[("a", b"Foo\nfoobar\nfoo.bar\nnothing\n")]);
    let lines = |query: GrepQuery| {
        found(&workspace, &query)
            .iter()
            .map(|line| line.split(' ').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(query("foo")), ["foobar", "foo.bar"]);
    assert_eq!(
        lines(with("foo", |pattern| pattern.case = CaseMode::Insensitive)),
        ["Foo", "foobar", "foo.bar"]
    );
    assert_eq!(lines(with("foo", |pattern| pattern.case = CaseMode::Smart)), ["Foo", "foobar", "foo.bar"]);
    assert_eq!(lines(with("Foo", |pattern| pattern.case = CaseMode::Smart)), ["Foo"]);
    assert_eq!(lines(with("foo", |pattern| pattern.whole_word = true)), ["foo.bar"]);
    assert_eq!(lines(with("o.b", |pattern| pattern.fixed = true)), ["foo.bar"]);
    assert_eq!(lines(with("foo", |pattern| pattern.invert = true)), ["Foo", "nothing"]);
}

#[test]
fn multiline_grep_match_has_exact_start_and_end() {
    let (_keep, workspace) = workspace(&[("a.rs", b"fn a(\n    x: u8,\n) {}\nfn b() {}\nfn c(\r\n) {}\n")]);
    let over_lines = with(r"fn \w+\(\s+[^)]*\)", |pattern| pattern.multiline = true);
    assert_eq!(
        found(&workspace, &over_lines),
        ["a.rs:0-2:0 fn a(\n    x: u8,\n) {}", "a.rs:4-5:0 fn c(\r\n) {}"]
    );
    let literal = with("u8,\n)", |pattern| (pattern.multiline, pattern.fixed) = (true, true));
    assert_eq!(found(&workspace, &literal), ["a.rs:1-2:7     x: u8,\n) {}"]);
    let late = with("b|c", |pattern| pattern.multiline = true);
    assert_eq!(found(&workspace, &late), ["a.rs:3:3 fn b() {}", "a.rs:4:3 fn c("]);
}

#[test]
fn grep_context_lines_are_given_once_for_neighbouring_matches() {
    let text: String = (0..10)
        .map(|line| if matches!(line, 2 | 4 | 8) { format!("hit {line}\n") } else { format!("{line}\n") })
        .collect();
    let (_keep, workspace) = workspace(&[("a", text.as_bytes())]);
    let around = GrepQuery { wanted: GrepWanted::Lines { before: 2, after: 1 }, ..query("hit") };
    let result = workspace.grep(&around).unwrap();
    let context: Vec<(&[String], &[String])> =
        result.files[0].lines.iter().map(|line| (&line.before[..], &line.after[..])).collect();
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let expected: [(&[String], &[String]); 3] =
        [(&owned(&["0", "1"]), &owned(&["3"])), (&[], &owned(&["5"])), (&owned(&["6", "7"]), &owned(&["9"]))];
    assert_eq!(context, expected);
    let first = workspace.grep(&GrepQuery { max: 1, ..around }).unwrap();
    assert!(first.has_more);
    assert_eq!(first.files[0].lines.len(), 1);
    assert_eq!(first.files[0].lines[0].after, ["3"], "the context of the last match is not lost");
}

#[test]
fn grep_for_files_and_counts_obeys_the_limit() {
    let (_keep, workspace) = workspace(&[("a", b"x\nx\n"), ("b", b"y\n"), ("c", b"x x\ny\n")]);
    let paths = |wanted, max| {
        let result = workspace.grep(&GrepQuery { wanted, max, ..query("x") }).unwrap();
        let files: Vec<_> = result.files.iter().map(|file| (file.path.display(), file.count)).collect();
        (files, result.has_more)
    };
    assert_eq!(paths(GrepWanted::Counts, 9), (vec![("a".to_owned(), 2), ("c".to_owned(), 1)], false));
    let (files, has_more) = paths(GrepWanted::Files, 1);
    assert_eq!((files[0].0.as_str(), has_more), ("a", true));
}

#[test]
fn grep_searches_files_selected_by_globs_types_and_ignore_rules() {
    let (_keep, workspace) = workspace(&[
        (".gitignore", b"*.log\n"),
        (".hidden/h.rs", b"x"),
        (".git/config", b"x"),
        ("a.rs", b"x"),
        ("b.py", b"x"),
        ("c.log", b"x"),
        ("node_modules/m.js", b"x"),
        ("sub/d.rs", b"x"),
        ("sub/bin", b"x\n\0x\n"),
    ]);
    let files = |under: &str, select: Selection| {
        let under = workspace.path(std::path::Path::new(under)).unwrap();
        let result = workspace.grep(&GrepQuery { under, select, ..query("x") }).unwrap();
        result.files.iter().map(|file| file.path.display()).collect::<Vec<_>>()
    };
    let globs = |globs: &[&str]| Selection {
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..Selection::default()
    };
    let types = |types: &[&str]| Selection {
        types: types.iter().map(|name| (*name).to_owned()).collect(),
        ..Selection::default()
    };
    assert_eq!(files("", Selection::default()), ["a.rs", "b.py", "sub/d.rs"]);
    assert_eq!(files("sub", Selection::default()), ["sub/d.rs"]);
    assert_eq!(files("a.rs", Selection::default()), ["a.rs"]);
    assert_eq!(files("", globs(&["*.rs"])), ["a.rs", "sub/d.rs"]);
    assert_eq!(files("", globs(&["/*.rs"])), ["a.rs"]);
    assert_eq!(files("", globs(&["!*.rs"])), ["b.py"]);
    assert_eq!(files("", globs(&["*.rs", "!sub/**"])), ["a.rs"]);
    assert_eq!(files("", globs(&["**/.hidden/**/*.rs"])), [".hidden/h.rs"]);
    assert_eq!(files("", types(&["rust"])), ["a.rs", "sub/d.rs"]);
    assert_eq!(files("", types(&["!rust"])), ["b.py"]);
    let all = Selection { hidden: true, no_ignore: true, ..Selection::default() };
    assert_eq!(
        files("", all),
        [".hidden/h.rs", "a.rs", "b.py", "c.log", "node_modules/m.js", "sub/d.rs"],
        "never what version control keeps, nor what is binary"
    );
    assert_eq!(files("", Selection { no_ignore: true, ..types(&["js"]) }), ["node_modules/m.js"]);
    assert_eq!(workspace.grep(&query("x")).unwrap().binary, 1);
}

#[test]
fn grep_in_large_file_finds_the_same_through_small_buffer() {
    let mut text = "\u{feff}start x\n".to_owned();
    text.push_str(&"padding of some length\r\n".repeat(60_000));
    text.push_str("lone\rx before\nlast x");
    let (_keep, workspace) = workspace(&[("big", text.as_bytes())]);
    assert!(text.len() as u64 > 1 << 20);
    assert_eq!(
        found(&workspace, &query("x")),
        ["big:0:6 start x", "big:60002:0 x before", "big:60003:5 last x"]
    );
    let nul_at = text.len() as u64 - 3;
    fs::write(workspace.root().join("big"), text + "\0x").unwrap();
    let result = workspace.grep(&query("x")).unwrap();
    assert_eq!((result.files[0].lines.len(), result.binary), (3, 0));
    assert_eq!(result.cut.into_values().collect::<Vec<_>>(), [nul_at]);
}

#[test]
fn grep_with_limit_returns_the_first_matches_deterministically() {
    let files: Vec<(String, String)> =
        (0..200).map(|file| (format!("d{}/f{file:03}", file % 7), "x\n".repeat(file % 5))).collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let (_keep, workspace) = workspace(&files);
    let all = found(&workspace, &query("x"));
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(all, sorted);
    for max in [1, 10, 37, all.len() - 1, all.len()] {
        let some = GrepQuery { max, ..query("x") };
        assert_eq!(found(&workspace, &some), all[..max]);
        assert_eq!(workspace.grep(&some).unwrap().has_more, max < all.len());
    }
}

#[test]
fn grep_line_over_limit_is_cut_around_the_match() {
    let line = format!("{}needle{}\n", "a".repeat(1_000_000), "é".repeat(100_000));
    let (_keep, workspace) = workspace(&[("a", line.as_bytes())]);
    let result = workspace.grep(&query("needle")).unwrap();
    let line = &result.files[0].lines[0];
    assert_eq!(line.start, Position::new(0, 1_000_000));
    assert!(line.text.starts_with('…') && line.text.ends_with('…') && line.text.contains("needle"));
    assert_eq!(line.text.chars().count(), 402);
}

#[test]
fn invalid_regex_is_refused_with_position_and_bomb_is_bounded() {
    let (_keep, workspace) = workspace(&[("a", "a".repeat(50_000).as_bytes())]);
    let message = |query: GrepQuery| workspace.grep(&query).unwrap_err().to_string();
    assert_eq!(
        message(query("é(a")),
        "the pattern `é(a` is not a valid regular expression at character 2: unclosed group"
    );
    assert!(
        message(query(r"(?<=a)b")).contains("at character 1: look-around"),
        "{}",
        message(query(r"(?<=a)b"))
    );
    assert!(message(query(r"(a)\1")).contains("at character 4: backreferences"));
    assert!(message(query("")).contains("empty"));
    assert_eq!(
        message(query(r"a\nb")),
        r"the pattern `a\nb` contains a line break, but lines are searched one by one"
    );
    assert!(message(with("a\nb", |pattern| pattern.fixed = true)).contains("line break"));
    let begun = Instant::now();
    assert!(message(query("(((a{0,100}){100}){100})")).contains("too large"));
    assert!(workspace.grep(&query("(a*)*b")).unwrap().files.is_empty());
    let glob = Selection {
        globs: vec!["**/**/**/**/**/*{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".into()],
        ..Selection::default()
    };
    workspace.grep(&GrepQuery { select: glob, ..query("a") }).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn grep_with_invalid_glob_or_type_is_refused_with_advice() {
    let (_keep, workspace) = workspace(&[("a", b"x")]);
    let message = |globs: &[&str], types: &[&str]| {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let select = Selection { globs: own(globs), types: own(types), ..Selection::default() };
        workspace.grep(&GrepQuery { select, ..query("x") }).unwrap_err().to_string()
    };
    assert_eq!(message(&[], &["pyton"]), "unknown file type `pyton`; the nearest is `python`");
    assert!(
        message(&["a{b"], &[]).starts_with("the glob `a{b` is not valid: unclosed alternate group"),
        "{}",
        message(&["a{b"], &[])
    );
    assert!(message(&["../x"], &[]).contains("leads out"));
    let nowhere = workspace.path(std::path::Path::new("nowhere")).unwrap();
    let error = workspace.grep(&GrepQuery { under: nowhere, ..query("x") }).unwrap_err();
    assert_eq!(error.to_string(), "`nowhere` does not exist");
}

#[test]
fn grep_ends_at_deadline_and_on_cancellation() {
    let (_keep, workspace) = workspace(&[("a", b"x")]);
    let late = GrepQuery { deadline: WorkDeadline::new(Instant::now()), ..query("x") };
    assert!(workspace.grep(&late).unwrap().timed_out);
    let given_up = query("x");
    drop(given_up.deadline.cancel_on_drop());
    assert!(workspace.grep(&given_up).unwrap().timed_out);
}

#[test]
fn grep_stops_within_a_line_and_skips_lines_too_long_for_the_pattern() {
    let line = "x".repeat(300_000);
    let text = format!("{line}\nx{}z\n", "x".repeat(40));
    let (_keep, workspace) = workspace(&[("a", text.as_bytes())]);
    let slow = "(x{1,1000}){10}z";
    let begun = Instant::now();
    for change in [|_: &mut GrepPattern| {}, |pattern: &mut GrepPattern| pattern.multiline = true] {
        let result = workspace.grep(&with(slow, change)).unwrap();
        assert!(result.skipped_lines >= 1 && !result.timed_out);
    }
    assert_eq!(found(&workspace, &query(slow)), [format!("a:1:0 x{}z", "x".repeat(40))]);
    let inverted = workspace.grep(&with(slow, |pattern| pattern.invert = true)).unwrap();
    assert!(inverted.files.is_empty() && inverted.skipped_lines == 1, "{inverted:?}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let ordinary = with(r"\w{2,}.{0,200}z$", |pattern| pattern.invert = true);
    assert_eq!(workspace.grep(&ordinary).unwrap().skipped_lines, 0, "a large pattern that is fast");
    let many = format!("{}\n", "x".repeat(2_000)).repeat(2_000);
    fs::write(workspace.root().join("a"), many).unwrap();
    let deadline = WorkDeadline::new(Instant::now() + Duration::from_millis(200));
    let begun = Instant::now();
    assert!(workspace.grep(&GrepQuery { deadline, ..query(slow) }).unwrap().timed_out);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn grep_decodes_utf16_and_names_what_binary_data_hides() {
    let utf16 = |text: &str, mark: &[u8], unit: fn(u16) -> [u8; 2]| {
        [mark.to_vec(), text.encode_utf16().flat_map(unit).collect()].concat()
    };
    let little = utf16("no\r\n\u{1f980} needle\r\n", b"\xff\xfe", u16::to_le_bytes);
    let big = utf16(&("needle\n".to_owned() + &"-\n".repeat(300_000)), b"\xfe\xff", u16::to_be_bytes);
    let late = ["needle\n".repeat(2).as_bytes(), &b"-\n".repeat(40_000), b"\0needle\n"].concat();
    let silent = [&b"-\n".repeat(40_000)[..], b"\0-\n"].concat();
    let files: [(&str, &[u8]); 5] =
        [("big", &big), ("late", &late), ("little", &little), ("silent", &silent), ("zip", b"PK\0needle\n")];
    let (_keep, workspace) = workspace(&files);
    let result = workspace.grep(&query("needle")).unwrap();
    assert_eq!(
        found(&workspace, &query("needle")),
        ["big:0:0 needle", "late:0:0 needle", "late:1:0 needle", "little:1:2 \u{1f980} needle"]
    );
    assert_eq!(result.binary, 1);
    let cut: Vec<_> = result.cut.iter().map(|(path, at)| (path.display(), *at)).collect();
    assert_eq!(cut, [("late".to_owned(), 80_014)]);
}
