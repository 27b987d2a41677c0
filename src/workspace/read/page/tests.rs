//! Pages of files of all sizes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::platform::files::{CWD, Mode, mkfifoat};
use crate::text::Buffer;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    (dir, workspace)
}

fn query(first: u64, max_lines: usize) -> PageQuery {
    PageQuery {
        first,
        max_lines,
        max_bytes: 20_000,
        longest_line: 2_000,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(60)),
    }
}

fn page(workspace: &Workspace, content: impl AsRef<[u8]>, query: &PageQuery) -> Result<FilePage, ReadError> {
    fs::write(workspace.root().join("f"), content).unwrap();
    workspace.read_page(&workspace.path(Path::new("f")).unwrap(), query).map(|(page, _)| page)
}

#[test]
fn pages_cover_the_whole_file_for_every_line_ending() {
    let (_keep, workspace) = workspace();
    for text in ["", "a", "a\n", "a\nb", "a\r\nb\r\n", "a\rb\r\nc\n\nd", "\n\n", "\r", "é\n😀\r\nx"] {
        let mut pieces = String::new();
        let mut first = 0;
        loop {
            let page = page(&workspace, text, &query(first, 1)).unwrap();
            pieces.push_str(&page.text);
            assert!(page.lines <= 1);
            first += page.lines as u64;
            if !page.has_more {
                assert_eq!(page.total_lines, Some(first), "{text:?}");
                break;
            }
        }
        assert_eq!(pieces, text, "{text:?}");
        let whole = page(&workspace, text, &query(0, 100)).unwrap();
        assert_eq!((whole.text.as_str(), whole.lines as u64), (text, first));
        // A line break at the end begins a line for a buffer, and none here.
        let lines = u64::from(Buffer::new(text).line_count());
        assert_eq!(first, lines - u64::from(text.is_empty() || text.ends_with(['\n', '\r'])), "{text:?}");
    }
}

#[test]
fn line_break_on_read_chunk_boundary_counts_once() {
    let (_keep, workspace) = workspace();
    for length in PAGE_READ_CHUNK_BYTES - 3..PAGE_READ_CHUNK_BYTES + 3 {
        for line_break in ["\n", "\r\n", "\r"] {
            let text = format!("{}{line_break}second{line_break}third", "a".repeat(length));
            let page = page(&workspace, &text, &query(1, 1)).unwrap();
            assert_eq!(
                (page.text.as_str(), page.total_lines),
                (format!("second{line_break}").as_str(), Some(3))
            );
        }
    }
}

#[test]
fn page_behind_end_of_file_is_empty() {
    let (_keep, workspace) = workspace();
    let page = page(&workspace, "a\nb\n", &query(7, 50)).unwrap();
    assert_eq!((page.text.as_str(), page.lines, page.has_more, page.total_lines), ("", 0, false, Some(2)));
}

#[test]
fn page_over_limit_ends_between_lines_and_cuts_long_lines() {
    let (_keep, workspace) = workspace();
    let text = format!("short\n{}\nafter\n", "é".repeat(5_000));
    let small = PageQuery { longest_line: 101, ..query(0, 50) };
    let cut = page(&workspace, &text, &small).unwrap();
    assert_eq!(cut.text, format!("short\n{}…\nafter\n", "é".repeat(50)));
    assert_eq!(cut.cut, [CutLine { line: 1, bytes: 10_000 }]);
    let text = "0123456789\n".repeat(100);
    let narrow = PageQuery { max_bytes: 35, ..query(10, 50) };
    let page = page(&workspace, &text, &narrow).unwrap();
    assert_eq!((page.lines, page.has_more, page.ended_early, page.total_lines), (3, true, true, Some(100)));
}

#[test]
fn page_omits_the_byte_order_mark() {
    let (_keep, workspace) = workspace();
    assert_eq!(page(&workspace, "\u{feff}a\n", &query(0, 5)).unwrap().text, "a\n");
}

#[test]
fn page_of_binary_or_special_file_is_refused_with_reason() {
    let (_keep, workspace) = workspace();
    let refused =
        |content: &[u8], query: &PageQuery| page(&workspace, content, query).unwrap_err().to_string();
    assert_eq!(refused(b"a\0b", &query(0, 5)), "`f` is binary (a NUL byte at offset 1), not text");
    assert!(refused(b"\xff\xfea\0", &query(0, 5)).contains("UTF-16"));
    assert!(refused(b"ok\nab\xe9\n", &query(1, 5)).contains("byte 0xE9 at line 2, column 3"));
    assert_eq!(page(&workspace, b"ok\nab\xe9\n", &query(0, 1)).unwrap().text, "ok\n");
    mkfifoat(CWD, workspace.root().join("pipe"), Mode::RWXU).unwrap();
    let begun = Instant::now();
    let pipe = workspace.path(Path::new("pipe")).unwrap();
    assert!(matches!(workspace.read_page(&pipe, &query(0, 5)), Err(ReadError::Special { .. })));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn page_of_terabyte_file_is_read_in_bounded_time() {
    let (_keep, workspace) = workspace();
    let mut file = fs::File::create(workspace.root().join("f")).unwrap();
    file.write_all("line\n".repeat(50_000).as_bytes()).unwrap();
    file.set_len(1 << 40).unwrap();
    let begun = Instant::now();
    let path = workspace.path(Path::new("f")).unwrap();
    let (page, _) = workspace.read_page(&path, &query(20, 50)).unwrap();
    assert_eq!((page.text, page.has_more, page.total_lines), ("line\n".repeat(50), true, None));
    let error = workspace.read_page(&path, &query(60_000, 50)).unwrap_err();
    assert!(matches!(error, ReadError::Binary { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let late = PageQuery { deadline: WorkDeadline::new(Instant::now()), ..query(60_000, 50) };
    assert!(matches!(workspace.read_page(&path, &late), Err(ReadError::Late { line: 1, .. })));
}

#[test]
fn page_cuts_endless_line_without_reading_to_its_end() {
    let (_keep, workspace) = workspace();
    let mut file = fs::File::create(workspace.root().join("f")).unwrap();
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..80 {
        file.write_all(&piece).unwrap();
    }
    let path = workspace.path(Path::new("f")).unwrap();
    let (page, _) = workspace.read_page(&path, &query(0, 50)).unwrap();
    assert_eq!((page.lines, page.has_more, page.total_lines), (1, true, None));
    assert_eq!(page.text.chars().count(), 2_001);
    assert!(page.cut[0].bytes > 64 << 20);
}

#[test]
fn read_head_returns_the_first_bytes_of_the_file() {
    let (_keep, workspace) = workspace();
    fs::write(workspace.root().join("f"), "0123456789").unwrap();
    let (head, stamp) = workspace.read_head(&workspace.path(Path::new("f")).unwrap(), 4).unwrap();
    assert_eq!((head.as_slice(), stamp.size), (&b"0123"[..], 10));
}
