use proptest::prelude::*;

use super::*;
use crate::text::patch::{ApplyOptions, FilePatchOperation, PatchError, apply, parse};

fn diff(old: &str, new: &str) -> UnifiedDiff {
    unified_diff(Some("f"), old, Some("f"), new, DiffOptions::default())
}

#[test]
fn unified_diff_of_changed_text_matches_git_format() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let made = diff(old, "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n");
    let text = "--- a/f\n+++ b/f\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n";
    assert_eq!(made, UnifiedDiff { text: text.to_owned(), additions: 2, deletions: 1, truncated: None });
    assert_eq!(diff(old, old).text, "");
}

#[test]
fn distant_changes_are_separate_hunks() {
    let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let text = diff(&old, &old.replace("\n2\n", "\ntwo\n").replace("\n19\n", "\nnineteen\n")).text;
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(heads, ["@@ -1,5 +1,5 @@", "@@ -16,5 +16,5 @@"]);
}

#[test]
fn unified_diff_shows_missing_newline_and_crlf() {
    let text = diff("a\r\nb", "a\nb\n").text;
    let end = "\\ No newline at end of file\n";
    assert_eq!(text, format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n-b\n{end}+a\n+b\n"));
}

#[test]
fn unified_diff_headers_mark_created_deleted_and_renamed_files() {
    let made = |old_path, old, new_path, new| {
        unified_diff(old_path, old, new_path, new, DiffOptions::default()).text
    };
    assert_eq!(made(None, "", Some("x"), "a\n"), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(made(Some("x"), "a\n", None, ""), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    assert_eq!(made(None, "", Some("x"), ""), "diff --git a/x b/x\nnew file mode 100644\n");
    assert_eq!(made(Some("x"), "", None, ""), "diff --git a/x b/x\ndeleted file mode 100644\n");
    let renamed = made(Some("x"), "a\n", Some("y z"), "b\n");
    let head = "diff --git a/x b/y z\nrename from x\nrename to y z\n--- a/x\n+++ b/y z\t\n";
    assert_eq!(renamed, format!("{head}@@ -1 +1 @@\n-a\n+b\n"));
}

#[test]
fn huge_diff_is_truncated_with_note_and_refused_as_patch() {
    let old: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
    let new: String =
        (0..40_000).map(|n| if n % 10 == 5 { format!("new {n}\n") } else { format!("line {n}\n") }).collect();
    let made = diff(&old, &new);
    assert_eq!((made.additions, made.deletions), (4000, 4000));
    let truncated = made.truncated.expect("it is longer than what is shown");
    assert!(made.text.len() < 33 * 1024, "{}", made.text.len());
    let last = made.text.lines().last().expect("a line");
    assert_eq!(last, format!("{TRUNCATED}{} hunks, {} lines left out", truncated.hunks, truncated.lines));
    let (shown, all) = (made.text.lines().count() - 3, 4000 * 8);
    assert!(shown + truncated.lines > all, "{shown} {truncated:?}");
    for max_bytes in [0, 60, 100, 1000, 32 * 1024] {
        let options = DiffOptions { max_bytes, ..DiffOptions::default() };
        let text = unified_diff(Some("f"), &old, Some("f"), &new, options).text;
        let refused = matches!(parse(&text), Err(PatchError::Incomplete { .. } | PatchError::NoHunks { .. }));
        assert!(refused, "{max_bytes}: {:?}", parse(&text).map(|patch| patch.files.len()));
    }
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b",
        "a\n",
        "b\n",
        "c\r\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "-",
        "+",
        "--- a/f\n",
        "+++ b/f\n",
        "@@ -1 +1 @@\n",
        "\\ No newline\n",
        "é",
        "🦀\n",
        "𝒳",
        "名\n",
        "\u{feff}",
        "}\n",
        "}\n",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn unified_diff_applied_to_old_text_gives_new_text(old in texts(), new in texts(), context in 0usize..5, name in "[a-c\"ö\t ]{1,4}/x") {
        // A byte order mark that no line of the patch shows stays in front of inserted text.
        prop_assume!(context > 0 || !old.starts_with('\u{feff}'));
        let options = DiffOptions { context, max_bytes: usize::MAX };
        let made = unified_diff(Some(&name), &old, Some(&name), &new, options);
        if old == new {
            prop_assert_eq!(made.text, "");
            return Ok(());
        }
        let patch = match parse(&made.text) {
            Ok(patch) => patch,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}", made.text))),
        };
        prop_assert_eq!(patch.files.len(), 1, "{}", made.text);
        let file = &patch.files[0];
        prop_assert_eq!(file.line_counts(), (made.additions, made.deletions));
        match &file.operation {
            FilePatchOperation::Modify { path } => prop_assert_eq!(&path.clean, &name),
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        }
        match apply(file, &old, ApplyOptions { fuzz: 0 }) {
            Ok(applied) => prop_assert_eq!(applied.text, new, "{}", made.text),
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}", made.text))),
        }
    }
}
