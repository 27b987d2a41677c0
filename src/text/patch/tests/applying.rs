use proptest::prelude::*;

use super::*;
use crate::text::patch::mismatch::PatchMismatch;

fn patched(hunks_text: &str, old: &str) -> AppliedFilePatch {
    apply(&hunks(hunks_text), old, ApplyOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{hunks_text}"))
}

fn mismatch(file: &FilePatch, old: &str) -> PatchMismatch {
    match apply(file, old, ApplyOptions::default()) {
        Err(ApplyError::Mismatch(mismatch)) => mismatch,
        other => panic!("{other:?}"),
    }
}

fn envelope(chunks: &str) -> FilePatch {
    file(&format!("*** Begin Patch\n*** Update File: f\n{chunks}*** End Patch\n"))
}

fn reason(file: &FilePatch, old: &str) -> MismatchReason {
    mismatch(file, old).failed.swap_remove(0).reason
}

#[test]
fn hunk_at_moved_place_is_applied_with_its_offset_reported() {
    let old = "new\nnew\na\nb\nc\nd\ne\n";
    let applied = patched("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -5 +5,2 @@\n e\n+f\n", old);
    assert_eq!(applied.text, "new\nnew\na\nB\nc\nd\ne\nf\n");
    let told: Vec<_> =
        applied.hunks.iter().map(|h| (h.index, h.old_start, h.applied_at, h.offset, h.fuzz)).collect();
    assert_eq!(told, [(0, Some(1), 3, 2, 0), (1, Some(5), 7, 2, 0)]);
}

#[test]
fn hunk_matching_several_places_is_applied_at_the_nearest() {
    let old = "x\na\nx\n-\n-\nx\na\nx\n-\nx\na\nx\n";
    for (line, found) in [(3, 1), (4, 6), (5, 6), (9, 10), (8, 10)] {
        let hunk = format!("@@ -{line},3 +{line},3 @@\n x\n-a\n+b\n x\n");
        let at = patched(&hunk, old).hunks[0].applied_at;
        assert_eq!(at, found, "line {line}");
    }
}

#[test]
fn hunk_without_context_at_moved_place_needs_a_unique_match() {
    let old = "new\na\nb\na\n";
    assert_eq!(patched("@@ -2 +2 @@\n-b\n+B\n", old).text, "new\na\nB\na\n");
    assert_eq!(reason(&hunks("@@ -1 +1 @@\n-a\n+A\n"), old), MismatchReason::Ambiguous { lines: vec![2, 4] });
    let moved = mismatch(&hunks("@@ -2 +2 @@\n-b\n+B\n@@ -3,0 +4 @@\n+c\n"), old);
    assert_eq!(moved.failed[0].reason, MismatchReason::Unanchored);
    assert_eq!(moved.fitting.len(), 1);
    assert_eq!(reason(&hunks("@@ -9,0 +10 @@\n+c\n"), old), MismatchReason::PastEnd { lines: 4 });
    assert_eq!(patched("@@ -1,0 +2 @@\n+c\n", old).text, "new\nc\na\nb\na\n");
    assert_eq!(patched("@@ -0,0 +1 @@\n+c\n", old).text, "c\nnew\na\nb\na\n");
}

#[test]
fn fuzz_drops_context_only_when_one_place_matches() {
    let hunk = "@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n";
    let applied = patched(hunk, "A\nb\nc\nd\ne\nf\nG\n");
    assert_eq!((applied.text.as_str(), applied.hunks[0].fuzz), ("A\nb\nc\nD\ne\nf\nG\n", 1));
    let moved = patched(hunk, "0\nA\nB\nc\nd\ne\nF\nG\n");
    assert_eq!((moved.hunks[0].fuzz, moved.hunks[0].applied_at, moved.hunks[0].offset), (2, 2, 1));
    let exactly = apply(&hunks(hunk), "A\nb\nc\nd\ne\nf\nG\n", ApplyOptions { fuzz: 0 });
    assert!(matches!(exactly, Err(ApplyError::Mismatch(_))));
    let twice = "A\nb\nc\nd\ne\nf\nG\n".repeat(2);
    assert_eq!(reason(&hunks(hunk), &twice), MismatchReason::Ambiguous { lines: vec![2, 9] });
    assert_eq!(reason(&hunks(hunk), "a\nb\nx\nd\ne\nf\ng\n"), MismatchReason::NotFound);
}

#[test]
fn hunk_mismatch_reports_the_nearest_place_and_difference() {
    let old = "fn a() {\n\tone();\n\ttwo();\n}\n\nfn b() {\n    three();\n}\n";
    let file = hunks(
        "@@ -1,3 +1,3 @@\n fn a() {\n-    one();\n+    uno();\n \ttwo();\n@@ -6,3 +6,3 @@\n fn b() {\n-    three();\n+    tres();\n }\n\
         @@ -20,2 +20,2 @@\n nowhere\n-here\n+there\n@@ -4,2 +4,1 @@\n }\n-}\n",
    );
    let told = mismatch(&file, old);
    assert_eq!(told.fitting.iter().map(|hunk| hunk.index).collect::<Vec<_>>(), [1]);
    let near = told.failed[0].nearest.clone().unwrap();
    assert_eq!((near.line, near.same, near.of, near.differs_at), (1, 2, 3, 2));
    assert_eq!((near.expected.as_str(), near.found.as_deref()), ("    one();", Some("\tone();")));
    assert_eq!(near.difference.to_string(), "the line is indented by 1 tab, expected was 4 spaces");
    let words = told.to_string();
    assert!(words.starts_with("3 of 4 hunks do not fit\nhunk 1 (line 3 of the patch): its lines are not in the file; nearest is line 1 (2 of 3 lines the same): line 2 should be `    one();` but is `\tone();` (the line is indented"), "{words}");
    assert_eq!(told.failed[1].nearest, None);
    assert_eq!(told.failed[2].index, 3);
}

#[test]
fn hunk_already_applied_is_reported() {
    let hunk = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    let told = mismatch(&hunks(hunk), "a\nB\nc\n");
    assert!(told.failed[0].already_applied, "{told}");
    assert!(!mismatch(&hunks(hunk), "a\nX\nc\n").failed[0].already_applied);
}

#[test]
fn hunks_sharing_context_apply_and_overlapping_changes_are_refused() {
    let old = "a\nb\nc\nd\ne\n";
    let shared = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n";
    assert_eq!(patched(shared, old).text, "a\nB\nc\nD\ne\n");
    let clash = hunks("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n");
    assert_eq!(mismatch(&clash, old).failed[0].reason, MismatchReason::Overlap);
    let order = "@@ -4,2 +4,2 @@\n-d\n+D\n e\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n";
    assert_eq!(patched(order, old).text, "A\nb\nc\nD\ne\n");
}

#[test]
fn patch_keeps_line_endings_of_file_unless_it_changes_them() {
    let crlf = "a\r\nb\r\nc\r\n";
    let hunk = "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n";
    let applied = patched(hunk, crlf);
    assert_eq!((applied.text.as_str(), applied.line_ends_adapted()), ("a\r\nB\r\nx\r\nc\r\n", true));
    let carried = apply(&hunks(&hunk.replace('\n', "\r\n")), "a\nb\nc\n", ApplyOptions::default()).unwrap();
    assert_eq!((carried.text.as_str(), carried.line_ends_adapted()), ("a\nB\nx\nc\n", true));
    let exact = patched("@@ -1,3 +1,3 @@\n a\r\n-b\r\n+b\n c\r\n", crlf);
    assert_eq!((exact.text.as_str(), exact.line_ends_adapted()), ("a\r\nb\nc\r\n", false));
    let verbatim = patched("@@ -1,0 +2 @@\n+x\n", crlf);
    assert_eq!((verbatim.text.as_str(), verbatim.line_ends_adapted()), ("a\r\nx\nb\r\nc\r\n", false));
    let beside = patched("@@ -1,0 +2 @@\n+x\n@@ -3 +4 @@\n-c\n+C\n", crlf);
    assert_eq!(beside.text, "a\r\nx\r\nb\r\nC\r\n");
    let appended = apply(&envelope("@@\n+x\n"), crlf, ApplyOptions::default()).unwrap();
    assert_eq!(appended.text, "a\r\nb\r\nc\r\nx\r\n");
    let mixed = patched("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n", "a\nb\r\nc\n");
    assert_eq!(mixed.text, "a\nB\r\nx\r\nc\n");
}

#[test]
fn patch_keeps_final_newline_of_file_unless_it_changes_it() {
    let mark = "\\ No newline at end of file\n";
    for (hunk, old, becomes) in [
        ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n".to_owned(), "a\nb", "a\nc"),
        ("@@ -1,2 +1,3 @@\n a\n b\n+c\n".to_owned(), "a\nb", "a\nb\nc"),
        ("@@ -1,2 +1,2 @@\n-a\n+A\n b\n".to_owned(), "a\nb", "A\nb"),
        (format!("@@ -1,2 +1,2 @@\n a\n-b\n{mark}+c\n{mark}"), "a\nb\n", "a\nc\n"),
        (format!("@@ -1,2 +1,2 @@\n a\n-b\n{mark}+c\n"), "a\nb", "a\nc\n"),
        (format!("@@ -1,2 +1,2 @@\n a\n-b\n+c\n{mark}"), "a\nb\n", "a\nc"),
        (format!("@@ -1,2 +1,1 @@\n-a\n b\n{mark}"), "a\nb", "b"),
        ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n".to_owned(), "a\r\nb", "a\r\nc"),
    ] {
        assert_eq!(patched(&hunk, old).text, becomes, "{hunk}{old:?}");
    }
    let behind = hunks(&format!("@@ -1,2 +1,2 @@\n a\n-b\n{mark}+c\n{mark}"));
    assert!(matches!(apply(&behind, "a\nb\nmore\n", ApplyOptions::default()), Err(ApplyError::Mismatch(_))));
}

#[test]
fn envelope_addition_behind_a_text_without_final_newline_leaves_it_without() {
    let applied =
        |chunk: &str, old: &str| apply(&envelope(chunk), old, ApplyOptions::default()).unwrap().text;
    for chunk in ["@@\n+c\n", "@@\n b\n+c\n", "@@\n b\n+c\n*** End of File\n"] {
        assert_eq!(applied(chunk, "a\nb"), "a\nb\nc", "{chunk}");
        assert_eq!(applied(chunk, "a\nb\n"), "a\nb\nc\n", "{chunk}");
    }
    assert_eq!(applied("@@\n+c\n", ""), "c\n");
}

#[test]
fn hunk_that_only_looks_like_the_text_is_applied_at_the_only_such_place() {
    let old = "a = 1  \nsay(\u{201c}it\u{2019}s\u{201d})\nb\u{a0}= 2 \u{2013} 1\t\nc\n";
    let applied = apply(
        &envelope("@@\n a = 1\n-say(\"it's\")\n+say(\"so\")\n b = 2 - 1\n"),
        old,
        ApplyOptions::default(),
    );
    let applied = applied.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(applied.text, "a = 1  \nsay(\"so\")\nb\u{a0}= 2 \u{2013} 1\t\nc\n");
    assert_eq!(applied.hunks[0].fuzz, 3);
    let numbered = patched("@@ -1,2 +1,2 @@\n a = 1 \n-say(\"it's\")\n+x\n", old);
    assert!(numbered.text.starts_with("a = 1  \nx\n"), "{}", numbered.text);
    let twice = "x = \u{2018}1\u{2019}\ny\nx = '1' \ny\n";
    let doubtful = MismatchReason::Ambiguous { lines: vec![1, 3] };
    assert_eq!(reason(&envelope("@@\n-x = '1'\n+x = 2\n y\n"), twice), doubtful);
    let strict = apply(&envelope("@@\n-c \n+d\n"), old, ApplyOptions { fuzz: 0 });
    assert!(matches!(strict, Err(ApplyError::Mismatch(_))), "{strict:?}");
}

#[test]
fn patch_keeps_byte_order_mark_unless_it_changes_it() {
    assert_eq!(patched("@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "\u{feff}a\nb\n").text, "\u{feff}A\nb\n");
    assert_eq!(patched("@@ -1,2 +1,2 @@\n-\u{feff}a\n+a\n b\n", "\u{feff}a\nb\n").text, "a\nb\n");
}

#[test]
fn patch_creates_and_deletes_files() {
    let new = file("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    assert_eq!(apply(&new, "", ApplyOptions::default()).unwrap().text, "a\nb");
    let gone = file("--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    assert_eq!(apply(&gone, "a\nb\n", ApplyOptions::default()).unwrap().text, "");
    let left = apply(&gone, "a\nb\nc\n", ApplyOptions::default());
    assert_eq!(left, Err(ApplyError::NotAll { lines: 1, first: 3 }));
    let envelope = file("*** Begin Patch\n*** Delete File: f\n*** End Patch\n");
    assert_eq!(apply(&envelope, "a\n", ApplyOptions::default()).unwrap().text, "");
}

#[test]
fn envelope_chunk_is_located_by_text_and_refused_when_ambiguous() {
    let old = "class A:\n    def x(self):\n        return 1\n\n    def y(self):\n        return 1\n\nclass B:\n    def x(self):\n        return 1\n";
    let change = "-        return 1\n+        return 2\n";
    let apply_chunks = |chunks: &str| apply(&envelope(chunks), old, ApplyOptions::default());
    let lines = vec![3, 6, 10];
    assert_eq!(reason(&envelope(&format!("@@\n{change}")), old), MismatchReason::Ambiguous { lines });
    for (chunks, at) in [
        (format!("@@ class B:\n{change}"), 10),
        (format!("@@ class A:\n@@     def y(self):\n{change}"), 6),
        (format!("@@ def y(self):\n{change}"), 6),
        (format!("@@ class A:\n{change}"), 3),
        (format!("@@\n     def y(self):\n{change}"), 5),
        (format!("@@\n{change}*** End of File\n"), 10),
    ] {
        let applied = apply_chunks(&chunks).unwrap_or_else(|error| panic!("{error}\n{chunks}"));
        assert_eq!(applied.hunks[0].applied_at, at, "{chunks}");
        assert_eq!((applied.hunks[0].old_start, applied.hunks[0].offset), (None, 0));
    }
    let doubtful = MismatchReason::Ambiguous { lines: vec![3, 10] };
    assert_eq!(reason(&envelope(&format!("@@ def x(self):\n{change}")), old), doubtful);
    let both = apply_chunks(&format!("@@ class A:\n{change}@@ class B:\n{change}")).unwrap();
    assert_eq!(both.hunks.iter().map(|hunk| hunk.applied_at).collect::<Vec<_>>(), [3, 10]);
    assert_eq!(apply_chunks("@@\n+# end\n").unwrap().text, format!("{old}# end\n"));
    assert_eq!(reason(&envelope("@@ class B:\n+# end\n"), old), MismatchReason::NothingToFind);
}

/// Returns lines that all differ.
fn numbered(from: usize, count: usize) -> String {
    (from..from + count).map(|n| format!("line {n}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn diff_applies_to_file_shifted_by_inserted_lines(
        length in 8usize..60,
        edits in prop::collection::btree_set(0usize..60, 1..6),
        above in 0usize..30,
        crlf in any::<bool>(),
        context in 1usize..4,
    ) {
        let old = numbered(0, length);
        let changed = |text: String| -> String {
            let line = |(at, line): (usize, &str)| if edits.contains(&at) { format!("changed {at}\n") } else { format!("{line}\n") };
            text.lines().enumerate().map(line).collect()
        };
        let new = changed(old.clone());
        prop_assume!(new != old);
        let options = crate::text::diff::DiffOptions { context, max_bytes: usize::MAX };
        let diff = crate::text::diff::unified_diff(Some("f"), &old, Some("f"), &new, options).text;
        let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
        let above_text = numbered(1000, above);
        let target = ends(format!("{above_text}{old}"));
        let applied = apply(&file(&diff), &target, ApplyOptions { fuzz: 0 });
        let applied = applied.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&applied.text, &ends(format!("{above_text}{new}")));
        prop_assert!(applied.hunks.iter().all(|hunk| hunk.offset == above as isize));
        prop_assert_eq!(applied.line_ends_adapted(), crlf);
    }
}
