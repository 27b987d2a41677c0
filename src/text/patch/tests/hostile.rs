use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// A time limit that is generous for an unoptimised build on a busy machine; an algorithm of
/// quadratic time takes minutes.
const SOON: Duration = Duration::from_secs(60);

fn many_hunks(count: usize, line: impl Fn(usize) -> usize, text: impl Fn(usize) -> String) -> String {
    let mut patch = String::from("--- a/f\n+++ b/f\n");
    for n in 0..count {
        let at = line(n);
        let text = text(n);
        writeln!(patch, "@@ -{at} +{at} @@\n-{text}\n+new {n}").unwrap();
    }
    patch
}

fn soon<T>(what: &str, act: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = act();
    println!("{what}: {:?}", begun.elapsed());
    assert!(begun.elapsed() < SOON, "{what}: {:?}", begun.elapsed());
    result
}

#[test]
fn patch_of_hundred_thousand_hunks_is_applied_in_bounded_time() {
    const COUNT: usize = 100_000;
    let old: String = (0..COUNT).map(|n| format!("line {n}\n")).collect();
    let new: String = (0..COUNT).map(|n| format!("new {n}\n")).collect();
    let line = |n| format!("line {n}");
    let apply = |patch: &str, old: &str| apply(&file(patch), old, ApplyOptions::default());
    let placed = soon("where they say", || apply(&many_hunks(COUNT, |n| n + 1, line), &old));
    assert_eq!(placed.map(|applied| applied.text), Ok(new.clone()));
    let moved = soon("all moved", || apply(&many_hunks(COUNT, |n| n + 1, line), &format!("x\ny\n{old}")));
    assert_eq!(moved.map(|applied| applied.text), Ok(format!("x\ny\n{new}")));
    let wrong = soon("none there", || apply(&many_hunks(COUNT, |n| n + 1, |n| format!("none {n}")), &old));
    assert!(matches!(wrong, Err(ApplyError::Mismatch(mismatch)) if mismatch.failed.len() == COUNT));
    let same = "same\n".repeat(COUNT);
    let alike = soon("all alike", || apply(&many_hunks(COUNT, |_| COUNT + 5, |_| "same".to_owned()), &same));
    assert!(matches!(alike, Err(ApplyError::Mismatch(mismatch)) if mismatch.failed.len() == COUNT));
}

#[test]
fn patch_with_repeating_lines_is_refused_in_bounded_time() {
    let old = "}\n".repeat(50_000) + "end\n";
    let body = " }\n".repeat(20_000) + "-x\n+y\n";
    let result =
        soon("one long hunk", || apply(&hunks(&format!("@@\n{body}")), &old, ApplyOptions::default()));
    assert!(result.is_err());
    let chunks = "@@ }\n@@ }\n-}\n+x\n".repeat(20_000);
    let text = format!("*** Begin Patch\n*** Update File: f\n{chunks}*** End Patch\n");
    let result = soon("many chunks", || apply(&file(&text), &old, ApplyOptions::default()));
    assert!(result.is_err());
}

#[test]
fn patch_with_long_blank_runs_is_parsed_in_linear_time() {
    let blank = "\n".repeat(200_000);
    for text in [
        format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n{blank}x"),
        format!("--- a/f\n+++ b/f\n@@\n-a\n{blank}+b\n"),
        format!("*** Begin Patch\n*** Update File: f\n@@\n-a\n{blank}+b\n*** End Patch\n"),
        format!("*** Begin Patch\n*** Add File: f\n+a\n{blank}*** End Patch\n"),
        format!("--- a/f\n+++ b/f\n{}", "@@ -1 +1 @@\n-a\n+b\n\n".repeat(100_000)),
        "--- ".repeat(200_000),
        format!("diff --git {}\n", "a ".repeat(200_000)),
        format!("--- {}\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "2024-01-31 ".repeat(300_000)),
    ] {
        // The result does not matter.
        let _ = soon("reading", || parse(&text));
    }
}

#[test]
fn patch_over_limit_of_hunks_files_or_bytes_is_refused() {
    let hunks = many_hunks(MAX_HUNKS + 1, |n| n + 1, |_| "a".to_owned());
    assert_eq!(parse(&hunks), Err(PatchError::TooMany { what: "hunks", most: MAX_HUNKS }));
    let files = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n".repeat(MAX_FILES + 1);
    assert_eq!(parse(&files), Err(PatchError::TooMany { what: "files", most: MAX_FILES }));
    let lines = "\n".repeat(MAX_PATCH_LINES + 1);
    assert_eq!(parse(&lines), Err(PatchError::TooMany { what: "lines", most: MAX_PATCH_LINES }));
    let large = " ".repeat(MAX_PATCH_BYTES + 1);
    assert!(matches!(parse(&large), Err(PatchError::TooLarge { .. })));
}

/// Lines of patches, and lines that resemble them.
fn line() -> impl Strategy<Value = String> {
    let lines = vec![
        "--- a/f",
        "+++ b/f",
        "--- /dev/null",
        "+++ /dev/null",
        "diff --git a/f b/f",
        "diff --git \"a/\\303",
        "old mode 100644",
        "new mode 100755",
        "new file mode 100644",
        "deleted file mode 100644",
        "rename from f",
        "rename to g",
        "copy from f",
        "copy to \"g\\t\"",
        "index 1..2 100644",
        "@@ -1 +1 @@",
        "@@ -1,2 +1,3 @@ fn",
        "@@ -0,0 +1 @@",
        "@@",
        "@@ a",
        "@@ -",
        "@@ -1,",
        "@@@ -1 @@@",
        "-a",
        "+a",
        " a",
        " b",
        "-b",
        "+b",
        "",
        " ",
        "a",
        "\\ No newline at end of file",
        "\\",
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File: f",
        "*** Update File: f",
        "*** Delete File: f",
        "*** Move to: g",
        "*** End of File",
        "-- ",
        "2.47.3",
        "***************",
        "é🦀",
        "--- \"\\0\"",
        "+++ \"b/\\777\"",
    ];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", ""]);
    (prop::sample::select(lines), end).prop_map(|(line, end)| format!("{line}{end}"))
}

fn try_everything(patch: &str, old: &str) {
    let Ok(patch) = parse(patch) else { return };
    for file in &patch.files {
        assert_eq!(
            file.line_counts().0,
            file.hunks.iter().flat_map(|h| &h.lines).filter(|l| l.kind == LineKind::Add).count()
        );
        if let Err(error) = apply(file, old, ApplyOptions::default()) {
            assert!(!error.to_string().is_empty());
        }
    }
    let outcome = apply_all(&patch, ApplyOptions::default(), |_| Ok::<_, ()>(Some(old.to_owned())));
    if let Err(SequenceError::Sections(failures)) = &outcome {
        assert!(!failures.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn parse_of_random_patch_lines_never_panics(lines in prop::collection::vec(line(), 0..24), old in "[ab\n\r]{0,12}") {
        try_everything(&lines.concat(), &old);
    }

    #[test]
    fn parse_of_random_text_never_panics(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        try_everything(&text, "a\nb\n");
        try_everything(&format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n{text}"), "a\nb\n");
        try_everything(&String::from_utf8_lossy(&bytes), "");
    }

    #[test]
    fn parse_of_damaged_diff_never_panics(
        old in "([ab]?(\n|\r\n)){0,12}[ab]?",
        new in "([ab]?(\n|\r\n)){0,12}[ab]?",
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, any::<char>()), 1..6),
    ) {
        let options = crate::text::diff::DiffOptions::default();
        let diff = crate::text::diff::unified_diff(Some("f"), &old, Some("f"), &new, options).text;
        let mut characters: Vec<char> = diff.chars().collect();
        for (at, how, with) in damage {
            if characters.is_empty() {
                break;
            }
            let at = at.index(characters.len());
            match how {
                0 => characters[at] = with,
                1 => characters.insert(at, with),
                2 => { characters.remove(at); }
                _ => characters.truncate(at),
            }
        }
        try_everything(&characters.into_iter().collect::<String>(), &old);
    }
}
