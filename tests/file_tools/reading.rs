//! `read` and `list`.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{notes, open_files};

fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}

#[tokio::test]
async fn read_symbol_gives_its_whole_definition_and_refuses_what_is_ambiguous() {
    let text = "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        return 2\n\n\ndef g():\n    pass\n";
    let bench = open_files([("a.py", text)]);
    let read = bench.ok("read", json!({"path": "a.py", "symbol": "B.f"})).await;
    assert_eq!((&read["start_line"], &read["end_line"]), (&json!(7), &json!(8)), "{read}");
    assert_eq!(read["content"], "    def f(self):\n        return 2\n");
    let (code, error) = bench.failure("read", json!({"path": "a.py", "symbol": "f"})).await;
    assert_eq!((code.as_str(), error.as_str()), ("invalid_args", "a.py defines `f` in lines 2, 7"));
    let (code, _) = bench.failure("read", json!({"path": "a.py", "symbol": "h"})).await;
    assert_eq!(code, "not_found");
    let (code, error) = bench.failure("read", json!({"path": "a.py", "symbol": "g", "offset": 3})).await;
    assert!(code == "invalid_args" && error.contains("omit `offset` and `limit`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn read_returns_a_page_with_its_position() {
    let text = lines(500);
    let bench = open_files([("a.txt", text.as_str())]);
    let whole = bench.ok("read", json!({"path": "a.txt"})).await;
    assert_eq!(whole["path"], "a.txt");
    assert_eq!(whole["content"], lines(50));
    for (arguments, start, end) in [
        (json!({"offset": 0, "limit": 0}), 1, 50),
        (json!({"offset": -7, "limit": -1}), 1, 50),
        (json!({"offset": 10, "limit": 3}), 10, 12),
        (json!({"limit": 100_000}), 1, 200),
        (json!({"offset": 490}), 490, 500),
    ] {
        let mut all = arguments.clone();
        all["path"] = json!("a.txt");
        let answer = bench.ok("read", all).await;
        assert_eq!((&answer["start_line"], &answer["end_line"]), (&json!(start), &json!(end)), "{arguments}");
        assert_eq!(answer["has_more"], json!(end < 500), "{arguments}");
        assert_eq!(answer["total_lines"], 500);
    }
    let behind = bench.ok("read", json!({"path": "a.txt", "offset": 501})).await;
    assert_eq!((&behind["content"], &behind["has_more"]), (&json!(""), &json!(false)));
    assert_eq!((&behind["start_line"], &behind["end_line"]), (&json!(0), &json!(0)));
    assert!(notes(&behind, "ends at line 500"));
    let numbered =
        bench.ok("read", json!({"path": "a.txt", "offset": 9, "limit": 2, "line_numbers": true})).await;
    assert_eq!(numbered["content"], "9\tline 9\n10\tline 10\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn read_keeps_bytes_and_truncates_long_lines() {
    let long = format!("{}\nshort\r\n", "é".repeat(30_000));
    let wide = format!("{}\n", "x".repeat(1_500)).repeat(100);
    let bench = open_files([("long.txt", long.as_str()), ("wide.txt", wide.as_str()), ("empty", "")]);
    let answer = bench.ok("read", json!({"path": "long.txt"})).await;
    let content = answer["content"].as_str().unwrap();
    assert!(content.ends_with("é…\nshort\r\n") && content.len() < 2_100, "{}", content.len());
    assert!(notes(&answer, "line 1 has 60000 bytes"));
    let answer = bench.ok("read", json!({"path": "wide.txt", "limit": 200})).await;
    let end = answer["end_line"].as_u64().unwrap();
    assert!((10..16).contains(&end) && answer["has_more"] == json!(true), "{end}");
    assert!(notes(&answer, &format!("continue with offset {}", end + 1)), "{answer}");
    let empty = bench.ok("read", json!({"path": "empty"})).await;
    assert_eq!((&empty["content"], &empty["total_lines"]), (&json!(""), &json!(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn read_outlines_code_and_identifies_non_text_files() {
    let source = "class Greeter:\n    def greet(self):\n        return 1\n\ndef main():\n    pass\n";
    let notebook =
        r#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["print(1)\n"], "outputs": []}]}"#;
    let bench = open_files([("a.py", source), ("n.ipynb", notebook), ("broken.ipynb", "{")]);
    let outlined = bench.ok("read", json!({"path": "a.py", "outline": true})).await;
    assert_eq!(outlined["content"], "");
    assert_eq!(outlined["outline"], "1-3 class Greeter\n  2-3 method greet\n5-6 function main\n");
    let both = bench.ok("read", json!({"path": "a.py", "outline": true, "limit": 1})).await;
    assert_eq!(both["content"], "class Greeter:\n");
    let cells = bench.ok("read", json!({"path": "n.ipynb"})).await;
    assert_eq!(
        (&cells["kind"], &cells["content"]),
        (&json!("notebook"), &json!("# %% [code] cell 1\nprint(1)\n\n"))
    );
    assert_eq!(bench.ok("read", json!({"path": "broken.ipynb"})).await["content"], "{");
    let png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x03\x20\x00\x00\x02\x58\x08\x06\x00\x00\x00";
    bench.project.write("i.png", png);
    let image = bench.ok("read", json!({"path": "i.png"})).await;
    assert_eq!((&image["kind"], &image["content"]), (&json!("image"), &json!("PNG 800x600, 29 bytes")));
    bench.project.write("a.pdf", b"%PDF-1.7\n\x00\x01");
    let pdf = bench.answer("read", json!({"path": "a.pdf"})).await;
    assert_eq!((&pdf["code"], &pdf["hint"]), (&json!("not_text"), &json!("it is a PDF document")));
}

/// Row 38: invisible text is reported, and kept.
#[tokio::test(flavor = "multi_thread")]
async fn read_flags_invisible_unicode() {
    let text = "ok\na\u{e0041}b\u{202e}c\n";
    let bench = open_files([("u", text)]);
    let answer = bench.ok("read", json!({"path": "u"})).await;
    assert_eq!(answer["content"], text);
    assert!(notes(&answer, "hidden characters: 2 (U+E0041 is an invisible tag at 2:2, U+202E"), "{answer}");
}

/// Row 31: special and huge files.
#[tokio::test(flavor = "multi_thread")]
async fn read_of_special_and_huge_files_is_answered_at_once() {
    let bench = open_files([("a.txt", "a\n")]);
    let root = bench.project.root();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("f"), rustix::fs::Mode::RWXU).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    fs::File::create(root.join("s")).unwrap().set_len(1 << 40).unwrap();
    fs::write(root.join("t"), lines(100_000)).unwrap();
    fs::File::options().write(true).open(root.join("t")).unwrap().set_len(1 << 40).unwrap();
    let begun = Instant::now();
    assert_eq!(bench.failure("read", json!({"path": "f"})).await.0, "not_text");
    assert_eq!(bench.failure("read", json!({"path": "zero"})).await.0, "outside_workspace");
    assert_eq!(bench.failure("read", json!({"path": "/dev/zero"})).await.0, "outside_workspace");
    assert_eq!(bench.failure("read", json!({"path": "s"})).await.0, "not_text");
    let sparse = bench.ok("read", json!({"path": "t", "offset": 100})).await;
    assert_eq!((&sparse["start_line"], &sparse["has_more"]), (&json!(100), &json!(true)));
    assert!(sparse["total_lines"].is_null());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let found = bench.ok("grep", json!({"pattern": "^a$", "path": "a.txt"})).await;
    assert_eq!(found["count"], 1);
    assert_eq!(bench.failure("grep", json!({"pattern": "a", "path": "zero"})).await.0, "outside_workspace");
}

#[tokio::test(flavor = "multi_thread")]
async fn read_and_list_invalid_arguments_are_refused_with_reason() {
    let bench = open_files([("src/a.rs", "x\n")]);
    symlink("/etc/passwd", bench.project.path("out")).unwrap();
    bench.project.write("latin", b"caf\xe9\n");
    for (tool, arguments, code, part) in [
        ("read", json!({}), "invalid_args", "`path` is missing"),
        ("read", json!({"path": "a", "ofset": 1}), "invalid_args", "did you mean `offset`"),
        ("read", json!({"path": "a", "offset": "x"}), "invalid_args", "a whole number"),
        ("read", json!({"path": "gone"}), "not_found", "`gone` does not exist"),
        ("read", json!({"path": "../x"}), "outside_workspace", "outside the workspace"),
        ("read", json!({"path": "/etc/passwd"}), "outside_workspace", "outside the workspace"),
        ("read", json!({"path": "out"}), "outside_workspace", "leads out"),
        ("read", json!({"path": "src"}), "not_text", "is a directory"),
        ("read", json!({"path": "latin"}), "not_text", "0xE9 at line 1, column 4"),
        ("list", json!({"path": "gone"}), "not_found", "gone"),
        ("list", json!({"path": ".."}), "outside_workspace", "outside"),
        ("list", json!({"path": "src/a.rs"}), "invalid_args", "not a directory"),
        ("list", json!({"dir": "."}), "invalid_args", "unknown field `dir`"),
    ] {
        let (given, sentence) = bench.failure(tool, arguments.clone()).await;
        assert_eq!(given, code, "{tool} {arguments}: {sentence}");
        assert!(sentence.contains(part), "{tool} {arguments}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_path_error_suggests_what_is_meant() {
    let mut files =
        vec![("src/shop/cart.py", "x = 1\n"), ("src/README.md", "#\n"), ("src/shop/a/mod.py", "")];
    files.extend(["src/shop/b/mod.py", "src/shop/c/mod.py", "src/shop/d/mod.py"].map(|path| (path, "")));
    let bench = open_files(files);
    for (tool, arguments, hint) in [
        ("read", json!({"path": "src/shop/crat.py"}), json!("did you mean `src/shop/cart.py`?")),
        ("read", json!({"path": "shop/cart.py"}), json!("did you mean `src/shop/cart.py`?")),
        (
            "lsp_hover",
            json!({"path": "src/Readme.md", "line": 0, "character": 0}),
            json!("did you mean `src/README.md`?"),
        ),
        ("list", json!({"path": "src/shp"}), json!("did you mean `src/shop`?")),
        ("move", json!({"from": "cart.py", "to": "b.py"}), json!("did you mean `src/shop/cart.py`?")),
        (
            "edit",
            json!({"path": "cart.py", "edits": [{"old": "x", "new": "y"}]}),
            json!("did you mean `src/shop/cart.py`? Otherwise, make it with `write`"),
        ),
        // Four files have that name, so the request is ambiguous.
        ("read", json!({"path": "mod.py"}), serde_json::Value::Null),
        ("read", json!({"path": "src/unlike-anything.py"}), serde_json::Value::Null),
    ] {
        let result = bench.call(tool, arguments.clone()).await;
        assert_eq!(result.value["code"], "not_found", "{tool} {arguments}: {}", result.value);
        assert_eq!(result.value["hint"], hint, "{tool} {arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn list_reports_kind_of_each_entry() {
    let bench = open_files([("a.rs", "12345"), (".env", ""), ("src/b.rs", ""), ("src/deep/c.rs", "")]);
    let root = bench.project.root();
    symlink("src", root.join("link")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"n\xff\x1b")), "").unwrap();
    let listed = bench.ok("list", json!({})).await;
    assert_eq!((&listed["path"], &listed["has_more"]), (&json!("."), &json!(false)));
    assert_eq!(
        listed["items"],
        json!([
            {"name": ".env", "path": ".env", "is_dir": false, "size_bytes": 0},
            {"name": "a.rs", "path": "a.rs", "is_dir": false, "size_bytes": 5},
            {"name": "link", "path": "link", "is_dir": true, "size_bytes": 0, "kind": "symlink", "target": "src"},
            {"name": "n\\xff\\u{1b}", "path": "n\\xff\\u{1b}", "is_dir": false, "size_bytes": 0, "escaped": true},
            {"name": "out", "path": "out", "is_dir": false, "size_bytes": 0, "kind": "symlink", "target": "(outside)"},
            {"name": "src", "path": "src", "is_dir": true, "size_bytes": 0},
        ])
    );
    let below = bench.ok("list", json!({"path": "src", "recursive": true, "limit": 2})).await;
    assert_eq!(below["has_more"], json!(true));
    let paths: Vec<_> = below["items"].as_array().unwrap().iter().map(|item| item["path"].clone()).collect();
    assert_eq!(paths, [json!("src/b.rs"), json!("src/deep")]);
}
