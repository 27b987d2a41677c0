use std::collections::BTreeMap;

use super::*;

type Tree = BTreeMap<String, String>;

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn applied(patch: &str, before: &Tree) -> Result<Tree, String> {
    let patch = parse(patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
    let read = |path: &PatchPath| Ok::<_, String>(before.get(&path.clean).cloned());
    let outcome = apply_all(&patch, ApplyOptions::default(), read).map_err(|error| error.to_string())?;
    let mut after = before.clone();
    for file in outcome.files {
        match file.text {
            Some(text) => after.insert(file.path.clean, text),
            None => after.remove(&file.path.clean),
        };
    }
    Ok(after)
}

#[test]
fn patch_with_same_file_twice_applies_both_in_sequence() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+c\n";
    assert_eq!(applied(patch, &tree(&[("f", "a\n")])), Ok(tree(&[("f", "c\n")])));
    let created = "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(applied(created, &tree(&[])), Ok(tree(&[("f", "b\n")])));
}

#[test]
fn git_renames_and_copies_read_the_text_before_the_patch() {
    let swap =
        "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/f\nrename from g\nrename to f\n";
    let before = tree(&[("f", "f\n"), ("g", "g\n")]);
    assert_eq!(applied(swap, &before), Ok(tree(&[("f", "g\n"), ("g", "f\n")])));
    let copy = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-f\n+x\ndiff --git a/f b/h\ncopy from f\ncopy to h\n";
    assert_eq!(applied(copy, &before), Ok(tree(&[("f", "x\n"), ("g", "g\n"), ("h", "f\n")])));
    let replace = "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-f\n\
                   diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n";
    assert_eq!(applied(replace, &before), Ok(tree(&[("f", "new\n"), ("g", "g\n")])));
    let over =
        "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/g b/h\nrename from g\nrename to h\n";
    assert_eq!(applied(over, &before), Ok(tree(&[("g", "f\n"), ("h", "g\n")])));
}

#[test]
fn every_failing_file_section_of_patch_is_reported() {
    let patch = "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    let error = applied(patch, &tree(&[("f", "f\n"), ("g", "g\n")])).unwrap_err();
    let told: Vec<&str> = error.lines().map(|line| &line[..line.find(';').unwrap_or(line.len())]).collect();
    assert_eq!(
        told,
        [
            "none: the file does not exist",
            "f: the file exists already",
            "g: 1 of 1 hunks do not fit",
            "hunk 1 (line 12 of the patch): its lines are not in the file"
        ]
    );
}

#[test]
fn hunk_from_empty_range_creates_a_missing_file() {
    let patch = "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(applied(patch, &tree(&[])), Ok(tree(&[("f", "a\n")])));
}

#[test]
fn apply_all_ends_with_the_read_error() {
    let patch = parse("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    let outcome = apply_all(&patch, ApplyOptions::default(), |_| Err("outside"));
    assert_eq!(outcome, Err(SequenceError::Read("outside")));
}
