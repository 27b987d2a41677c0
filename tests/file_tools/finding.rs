//! `glob` and `grep`.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{notes, open_files};

fn hits(answer: &Value) -> Vec<String> {
    let matches = answer["matches"].as_array().expect("matches");
    assert_eq!(answer["count"], matches.len());
    let hit = |hit: &Value| {
        format!(
            "{}:{}:{} {}",
            hit["path"].as_str().unwrap(),
            hit["line"],
            hit["column"],
            hit["text"].as_str().unwrap()
        )
    };
    matches.iter().map(hit).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn glob_finds_files_below_the_workspace_only() {
    let bench = open_files([
        ("a.rs", ""),
        ("src/b.rs", ""),
        ("src/c.ts", ""),
        (".hidden/d.rs", ""),
        ("node_modules/e.rs", ""),
    ]);
    let found = bench.ok("glob", json!({"pattern": "**/*.rs"})).await;
    assert_eq!((&found["matches"], &found["has_more"]), (&json!(["a.rs", "src/b.rs"]), &json!(false)));
    let all = bench.ok("glob", json!({"pattern": "**/*.rs", "hidden": true, "no_ignore": true})).await;
    assert_eq!(all["matches"], json!([".hidden/d.rs", "a.rs", "node_modules/e.rs", "src/b.rs"]));
    let first = bench.ok("glob", json!({"pattern": "**/*", "limit": 1})).await;
    assert_eq!((&first["matches"], &first["has_more"]), (&json!(["a.rs"]), &json!(true)));
    let none = bench.ok("glob", json!({"pattern": "*.ts"})).await;
    assert_eq!(none["matches"], json!([]));
    assert!(notes(&none, "`**/*.ts` searches all below it"));
    let later = fs::File::options().write(true).open(bench.project.path("src/b.rs")).unwrap();
    later.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap();
    let newest = bench.ok("glob", json!({"pattern": "**/*.rs", "sort": "newest"})).await;
    assert_eq!(newest["matches"], json!(["src/b.rs", "a.rs"]));
    for (arguments, code) in [
        (json!({"pattern": "/etc/*"}), "outside_workspace"),
        (json!({"pattern": "../*"}), "outside_workspace"),
        (json!({"pattern": "*", "path": "gone"}), "not_found"),
        (json!({"pattern": "a{b"}), "invalid_args"),
        (json!({"pattern": ""}), "invalid_args"),
        (json!({}), "invalid_args"),
        (json!({"pattern": "*", "sort": "size"}), "invalid_args"),
    ] {
        let (given, sentence) = bench.failure("glob", arguments.clone()).await;
        assert_eq!(given, code, "{arguments}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_returns_lines_files_or_counts_by_output_mode() {
    let bench = open_files([
        ("a.rs", "fn one() {}\nlet x = 1;\nfn two() {}\n"),
        ("b.py", "def fn():\n    pass\n"),
        ("bin.rs", "fn\0\n"),
    ]);
    let found = bench.ok("grep", json!({"pattern": r"\bfn\b"})).await;
    assert_eq!(hits(&found), ["a.rs:1:1 fn one() {}", "a.rs:3:1 fn two() {}", "b.py:1:5 def fn():"]);
    assert_eq!(found["has_more"], json!(false));
    let one = bench.ok("grep", json!({"pattern": "fn", "max_matches": 1})).await;
    assert_eq!((hits(&one).len(), &one["has_more"]), (1, &json!(true)));
    let typed = bench.ok("grep", json!({"pattern": "fn", "type": "py"})).await;
    assert_eq!(hits(&typed), ["b.py:1:5 def fn():"]);
    let without =
        bench.ok("grep", json!({"pattern": "FN", "case": "ignore", "glob": ["*.{rs,py}", "!a.*"]})).await;
    assert_eq!(hits(&without), ["b.py:1:5 def fn():"]);
    let around = bench.ok("grep", json!({"pattern": "let", "context": 1})).await;
    let hit = &around["matches"][0];
    assert_eq!((&hit["before"], &hit["after"]), (&json!(["fn one() {}"]), &json!(["fn two() {}"])));
    let over = bench.ok("grep", json!({"pattern": r"one\(\) \{\}\nlet", "multiline": true})).await;
    assert_eq!((&over["matches"][0]["line"], &over["matches"][0]["end_line"]), (&json!(1), &json!(2)));
    let files = bench.ok("grep", json!({"pattern": "fn", "output_mode": "files_with_matches"})).await;
    assert_eq!((&files["files"], &files["count"]), (&json!(["a.rs", "b.py"]), &json!(2)));
    let counts = bench.ok("grep", json!({"pattern": "fn", "output_mode": "count"})).await;
    assert_eq!(counts["counts"], json!([{"path": "a.rs", "count": 2}, {"path": "b.py", "count": 1}]));
    assert_eq!(counts["count"], 3);
    let none = bench.ok("grep", json!({"pattern": "absent"})).await;
    assert_eq!((&none["count"], &none["matches"]), (&json!(0), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_says_what_it_could_not_search() {
    let late = format!("{}{}\0{}", "needle\n", "-\n".repeat(40_000), "needle\n".repeat(2));
    let long = "x".repeat(300_000);
    let bench = open_files([("bin", "\0needle"), ("late", late.as_str()), ("long", long.as_str())]);
    let found = bench.ok("grep", json!({"pattern": "needle"})).await;
    assert_eq!(found["count"], 1, "{found}");
    assert!(notes(&found, "in which the pattern matches or may match: 1"), "{found}");
    assert!(notes(&found, "`late` was searched only up to byte 80007"), "{found}");
    let found = bench.ok("grep", json!({"pattern": "(x{1,1000}){10}z"})).await;
    assert!(notes(&found, "too slow for their length: 1;"), "{found}");
    let found = bench.ok("glob", json!({"pattern": "**/.none*"})).await;
    assert_eq!(found["matches"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_default_limit_and_answer_size_are_bounded() {
    let many = "hit\n".repeat(1_000);
    let wide = format!("{}needle\n", "x".repeat(300)).repeat(400);
    let bench = open_files([("many.txt", many.as_str()), ("wide.txt", wide.as_str())]);
    let found = bench.ok("grep", json!({"pattern": "hit"})).await;
    assert_eq!((hits(&found).len(), &found["has_more"]), (200, &json!(true)));
    let found = bench.ok("grep", json!({"pattern": "needle", "max_matches": 400})).await;
    assert!(hits(&found).len() < 100 && found["has_more"] == json!(true));
    assert!(notes(&found, "narrow it"), "{:?}", found["notes"]);
    assert!(found.to_string().len() < 26_000, "{}", found.to_string().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_invalid_arguments_are_refused_with_reason() {
    let bench = open_files([("a", "x")]);
    for (arguments, code, part) in [
        (json!({"pattern": "a(b"}), "invalid_args", "at character 2: unclosed group"),
        (json!({"pattern": ""}), "invalid_args", "empty"),
        (json!({"pattern": "a\nb"}), "invalid_args", "line break"),
        (json!({"pattern": "x", "type": "pyton"}), "invalid_args", "the nearest is `python`"),
        (json!({"pattern": "x", "glob": "a{"}), "invalid_args", "the glob `a{`"),
        (json!({"pattern": "x", "glob": "../*"}), "outside_workspace", "leads out"),
        (json!({"pattern": "x", "path": "gone"}), "not_found", "gone"),
        (json!({"pattern": "x", "path": "../"}), "outside_workspace", "outside"),
        (json!({"pattern": "x", "output_mode": "lines"}), "invalid_args", "files_with_matches"),
        (json!({"pattern": "x", "maxmatches": 3}), "invalid_args", "did you mean `max_matches`"),
    ] {
        let (given, sentence) = bench.failure("grep", arguments.clone()).await;
        assert_eq!(given, code, "{arguments}: {sentence}");
        assert!(sentence.contains(part), "{arguments}: {sentence}");
    }
}

/// Row 17: an argument that looks like an option of another program is a pattern.
#[tokio::test(flavor = "multi_thread")]
async fn grep_pattern_is_never_parsed_as_option() {
    let bench =
        open_files([("a", "--help\n--pre=./pwn\n-f/etc/passwd\n"), ("pwn", "#!/bin/sh\ntouch PWNED\n")]);
    for pattern in ["--help", "--pre=./pwn", "-f/etc/passwd"] {
        let found = bench.ok("grep", json!({"pattern": pattern})).await;
        assert_eq!(found["count"], 1, "{found}");
    }
    assert!(!bench.project.path("PWNED").exists());
}

/// Row 33: patterns with exponential cost are refused or answered in linear time.
#[tokio::test(flavor = "multi_thread")]
async fn pattern_bombs_are_refused_or_answered_in_bounded_time() {
    let text = "a".repeat(100_000);
    let bench = open_files([("a", text.as_str())]);
    let begun = Instant::now();
    let (code, sentence) = bench.failure("grep", json!({"pattern": "(((a{0,100}){100}){100})"})).await;
    assert_eq!(code, "invalid_args");
    assert!(sentence.contains("too large"), "{sentence}");
    assert_eq!(bench.ok("grep", json!({"pattern": "(a*)*b"})).await["count"], 0);
    bench.ok("glob", json!({"pattern": "**/**/**/**/**/*"})).await;
    // An unoptimised build on a busy machine; a non-linear search would take years.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Row 34: loops of links, deep directories and odd names. Directories deeper than the limit are
/// reported, not walked.
#[tokio::test(flavor = "multi_thread")]
async fn symlink_loops_and_deep_trees_are_walked_once() {
    let bench = open_files([("d/a.rs", "x\n")]);
    let root = bench.project.root();
    std::os::unix::fs::symlink("..", root.join("d/up")).unwrap();
    std::os::unix::fs::symlink("self", root.join("self")).unwrap();
    fs::create_dir_all(root.join("n/".repeat(900))).unwrap();
    fs::write(root.join("n/".repeat(900)).join("deep.rs"), "x\n").unwrap();
    fs::write(root.join("new\nline.rs"), "x\n").unwrap();
    for recursive in [false, true] {
        let listed = bench.ok("list", json!({"recursive": recursive})).await;
        assert!(listed["items"].as_array().unwrap().len() >= 4);
    }
    let found = bench.ok("glob", json!({"pattern": "**/*.rs"})).await;
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(json!(matches), json!(["d/a.rs", "new\\nline.rs"]));
    assert_eq!(found["notes"], json!(["folders at a depth of 256 were not searched"]));
    let found = bench.ok("grep", json!({"pattern": "x"})).await;
    assert_eq!(found["count"], 2);
    assert!(found["notes"][0].as_str().unwrap().contains("depth of 256"), "{found}");
}
