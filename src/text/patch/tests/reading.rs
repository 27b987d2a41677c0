use super::*;

fn refused(text: &str) -> String {
    match parse(text) {
        Ok(patch) => panic!("{patch:?}\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Operation, raw and clean names.
fn told(text: &str) -> String {
    let file = file(text);
    let shown =
        |path: Option<&PatchPath>| path.map_or("-".to_owned(), |path| format!("{}>{}", path.raw, path.clean));
    format!("{} {} {}", file.operation.name(), shown(file.old_path()), shown(file.new_path()))
}

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn patch_paths_lose_prefixes_and_timestamps_of_tools() {
    for (old, new, expected) in [
        ("a/x/f", "b/x/f", "modify b/x/f>x/f b/x/f>x/f"),
        ("i/f", "w/f", "modify w/f>f w/f>f"),
        ("x/f", "x/f", "modify x/f>x/f x/f>x/f"),
        ("f", "f", "modify f>f f>f"),
        ("proj-1.0/src/f", "proj-1.1/src/f", "modify proj-1.1/src/f>src/f proj-1.1/src/f>src/f"),
        ("f.orig", "f", "modify f>f f>f"),
        ("f", "f.new", "modify f>f f>f"),
        ("/dev/null", "b/f", "create - b/f>f"),
        ("a/f", "/dev/null", "delete a/f>f -"),
        ("/dev/null", "src/f", "create - src/f>src/f"),
        ("a/f\t2024-01-31 12:00:00.000000000 +0100", "b/f\t2024-02-01 12:00:00", "modify b/f>f b/f>f"),
        (
            "a/with space.c 2024-01-31 12:00:00",
            "b/with space.c 2024-01-31 12:00:00 +0000",
            "modify b/with space.c>with space.c b/with space.c>with space.c",
        ),
        ("a/f\t1970-01-01 00:00:00.000000000 +0000", "b/f\t2024-02-01 12:00:00", "create - b/f>f"),
        (
            "\"a/\\303\\266 \\\"q\\\"\\t\"",
            "\"b/\\303\\266 \\\"q\\\"\\t\"",
            "modify b/ö \"q\"\t>ö \"q\"\t b/ö \"q\"\t>ö \"q\"\t",
        ),
        (
            "../../etc/passwd",
            "../../etc/passwd",
            "modify ../../etc/passwd>../../etc/passwd ../../etc/passwd>../../etc/passwd",
        ),
        ("/etc/passwd", "/etc/passwd", "modify /etc/passwd>/etc/passwd /etc/passwd>/etc/passwd"),
    ] {
        let hunk = match (old, expected.starts_with("create"), new) {
            (_, true, _) => "@@ -0,0 +1 @@\n+b\n",
            (_, _, "/dev/null") => "@@ -1 +0,0 @@\n-a\n",
            _ => HUNK,
        };
        assert_eq!(told(&format!("--- {old}\n+++ {new}\n{hunk}")), expected);
    }
}

#[test]
fn git_extended_headers_are_parsed() {
    for (text, expected) in [
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "modify x b/x>x"),
        ("diff --git a/x y b/x y\nnew file mode 100755\nindex 0000000..e69de29\n", "create - b/x y>x y"),
        ("diff --git x/y x/y\ndeleted file mode 100644\nindex e69de29..0000000\n", "delete x/y>x/y -"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to a/y\n", "rename x>x a/y>a/y"),
        ("diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to \"\\303\\266\"\n", "copy x>x ö>ö"),
        (
            "diff --git a/x a/x\nnew file mode 100644\n--- /dev/null\n+++ a/x\n@@ -0,0 +1 @@\n+b\n",
            "create - a/x>a/x",
        ),
        (
            "diff --git \"a/\\001\" \"b/\\001\"\nold mode 100755\nnew mode 100644\n",
            "modify \u{1} b/\u{1}>\u{1}",
        ),
    ] {
        let expected = expected.replacen("modify x ", "modify b/x>x ", 1).replacen(
            "modify \u{1} ",
            "modify b/\u{1}>\u{1} ",
            1,
        );
        assert_eq!(told(text), expected);
    }
    let mode = file("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
    assert_eq!((mode.old_mode, mode.new_mode), (Some(FileMode::Regular), Some(FileMode::Executable)));
}

#[test]
fn unsupported_patch_is_refused_with_line_and_reason() {
    for (text, expected) in [
        ("hello\n", "no patch was found in the text; "),
        ("", "no patch was found in the text; "),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\n",
            "line 3: a binary patch cannot be applied; ",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
            "line 3: a binary patch cannot",
        ),
        (
            "*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
            "line 3: a context diff cannot",
        ),
        ("1c1\n< a\n---\n> b\n", "line 1: a diff in the default format of `diff` cannot"),
        ("2,3d\n1c\nfoo\n.\n", "line 1: an ed script cannot"),
        (
            "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n",
            "line 1: the combined diff of a merge",
        ),
        ("diff --git a/x b/x\nnew file mode 120000\n", "line 2: mode 120000 (a symbolic link) is refused; "),
        (
            "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "line 2: mode 120000 (a symbolic",
        ),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 160000\n",
            "line 3: mode 160000 (a submodule) is refused",
        ),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 99\n", "line 3: mode 99 (not a file) is refused"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1: a hunk without the file it belongs to; "),
        ("--- a/x\n+++ b/x\n", "line 1: nothing is changed in `x`; "),
        ("diff --git a/x b/x\nindex 1..2 100644\n", "line 1: nothing is changed in `x`; "),
        ("--- a/x\n+++ b/x\n@@ -1,0 +1,0 @@\n", "line 3: the hunk changes nothing; "),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\nb\n-c\n", "line 5: `b` inside a hunk begins with neither"),
        (
            "--- a/x\n+++ b/x\n@@ -1,99999999999 +1 @@\n-a\n",
            "line 3: `@@ -1,99999999999 +1 @@` is not the header",
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "line 1: both sides are `/dev/null`; "),
        (
            "--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: the file is new, but hunks remove or keep lines",
        ),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: the file is deleted, but hunks keep or add lines",
        ),
        (
            "--- \"a/\\377\"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: `\"a/\\377\"` is not a file name in UTF-8; ",
        ),
        (
            "diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: the two names differ; a rename needs",
        ),
        ("diff --git a/x b/y\nrename from x\n", "line 1: a rename or a copy needs both"),
        (
            "*** Begin Patch\n*** Add File: x\n+a\n",
            "line 3: `*** End Patch` is missing; give the whole patch",
        ),
        (
            "*** Begin Patch\n*** Change File: x\n+a\n*** End Patch\n",
            "line 2: `*** Change File: x` is not expected here; ",
        ),
        (
            "*** Begin Patch\n*** Add File: x\na\n*** End Patch\n",
            "line 3: `a` inside a hunk begins with neither",
        ),
        ("*** Begin Patch\n*** Update File: x\n*** End Patch\n", "line 2: nothing is changed in `x`; "),
        (
            "*** Begin Patch\n*** Update File: x\n@@\n@@ a\n*** End Patch\n",
            "line 3: the hunk changes nothing; ",
        ),
        ("*** Begin Patch\n*** Update File: \n@@\n-a\n*** End Patch\n", "line 2: "),
        ("*** Begin Patch\n*** End Patch\n", "no patch was found"),
    ] {
        let told = refused(text);
        assert!(told.starts_with(expected), "{text}\n{told}\n{expected}");
    }
}

#[test]
fn text_around_diffs_is_ignored() {
    let mail = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\n\
                Subject: [PATCH 1/2] x\n\n- a list\n+ another\n---\n f | 2 +-\n 1 file changed\n\n\
                diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ fn x\n-a\n+b\n c\n-- \n2.47.3\n\n\
                From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: [PATCH 2/2] y\n\n\
                --- a/g\n+++ b/g\n@@ -3 +3,2 @@\n a\n+b\n";
    let files = parse(mail).unwrap().files;
    let told: Vec<_> =
        files.iter().map(|file| (file.line, lines(&file.hunks[0]), file.repairs.len())).collect();
    assert_eq!(told, [(11, "-a\n+b\n c\n".to_owned(), 0), (25, " a\n+b\n".to_owned(), 0)]);
    let fenced = "Here it is:\n\n```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n```\n\n- I changed a\n";
    assert_eq!(lines(&file(fenced).hunks[0]), "-a\n+b\n");
    let short = fenced.replace("-1 +1", "-1,7 +1,9");
    assert_eq!(lines(&file(&short).hunks[0]), "-a\n+b\n");
}

#[test]
fn hunk_with_wrong_counts_is_repaired_and_reported() {
    let second = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    for (stated, old, new) in
        [("-1,2 +1,2", 2, 2), ("-1,3 +1,3", 3, 3), ("-1 +1", 1, 1), ("-1,9 +1,9", 9, 9), ("-1,3 +1,2", 3, 2)]
    {
        for behind in [
            "",
            second,
            "\nand some text\n",
            "diff --git a/g b/g\nold mode 100644\nnew mode 100755\n",
            "\n\n",
        ] {
            let text = format!("--- a/f\n+++ b/f\n@@ {stated} @@\n a\n-b\n+c\n{behind}");
            let patch = parse(&text);
            if (old == 9 || old > new) && behind.contains("some text") {
                // Text, or context without its space: ambiguous.
                assert!(matches!(patch, Err(PatchError::HunkLine { line: 8, .. })), "{text} {patch:?}");
                continue;
            }
            let patch = patch.unwrap_or_else(|error| panic!("{error}\n{text}"));
            let body = lines(&patch.files[0].hunks[0]);
            let blank = behind.starts_with("\n") && (old, new) == (3, 3);
            assert_eq!(body, if blank { " a\n-b\n+c\n \n" } else { " a\n-b\n+c\n" }, "{text}");
            let kind = RepairKind::Counts { stated: (old, new), actual: (2, 2) };
            let repairs = if (old, new) == (2, 2) || blank { vec![] } else { vec![Repair { line: 3, kind }] };
            assert_eq!(patch.files[0].repairs, repairs, "{text}");
            assert_eq!(patch.files.len(), if behind.contains("/g") { 2 } else { 1 }, "{text}");
        }
    }
}

#[test]
fn hunk_with_right_counts_may_contain_lines_like_headers() {
    let body = "--- a comment\n+++ another\n-- \n+@@ -1 +1 @@\n *** a\n";
    let file = hunks(&format!("@@ -1,3 +1,3 @@\n{body}@@ -9 +9 @@\n-a\n+b\n"));
    assert_eq!((lines(&file.hunks[0]).as_str(), file.hunks.len(), file.repairs.len()), (body, 2, 0));
}

#[test]
fn hunk_without_line_numbers_is_anchored_by_text() {
    let file =
        hunks("@@\n-a\n+b\n\n@@ ... @@\n-c\n+d\n@@ class A:\n@@ def b(self):\n-e\n+f\n@@ -7 @@\n-g\n+h\n");
    let named = |names: &[&str]| HunkAnchor::Text {
        after: names.iter().map(ToString::to_string).collect(),
        at_end: false,
    };
    let places: Vec<HunkAnchor> = file.hunks.iter().map(|hunk| hunk.place.clone()).collect();
    let line = HunkAnchor::Line { old_start: 7, new_start: 7 };
    assert_eq!(places, [named(&[]), named(&[]), named(&["class A:", "def b(self):"]), line]);
    assert_eq!(file.repairs.iter().map(|repair| repair.line).collect::<Vec<_>>(), [3, 7, 10]);
}

#[test]
fn patch_with_stripped_context_or_crlf_transport_is_parsed() {
    let stripped = hunks("@@ -1,5 +1,5 @@\n a\n\n-b\n+c\n\n d\n");
    assert_eq!(lines(&stripped.hunks[0]), " a\n \n-b\n+c\n \n d\n");
    let unended = hunks("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ Kein Zeilenumbruch\n");
    assert_eq!(lines(&unended.hunks[0]), "-a<end>+b<end>");
    let carried =
        file("--- a/f\r\n+++ b/f\r\n@@ -1,2 +1 @@\r\n-a\r\n-b\r\n\\ No newline at end of file\r\n+c\r\n");
    assert_eq!(lines(&carried.hunks[0]), "-a\r\n-b<end>+c\r\n");
    assert_eq!(carried.new_path().map(|path| path.clean.as_str()), Some("f"));
}

#[test]
fn apply_patch_envelope_is_parsed() {
    let patch = parse(
        "I will do this:\n*** Begin Patch\n*** Add File: new.py\n+a\n+\n+b\n\n*** Update File: old.py\n*** Move to: moved.py\n\
         @@ class A\n@@     def b\n x\n-y\n+z\n\n w\n@@\n-last\n+end\n*** End of File\n*** Update File: plain.py\n no header\n\
         -q\n*** Delete File: dead.py\n*** End Patch\nthat is all\n",
    )
    .unwrap();
    assert_eq!(patch.form, PatchForm::Envelope);
    let names: Vec<_> =
        patch.files.iter().map(|file| (file.operation.name(), file.line, file.hunks.len())).collect();
    assert_eq!(names, [("create", 3, 1), ("rename", 8, 2), ("modify", 21, 1), ("delete", 24, 0)]);
    assert_eq!(lines(&patch.files[0].hunks[0]), "+a\n+\n+b\n");
    let update = &patch.files[1].hunks;
    assert_eq!(lines(&update[0]), " x\n-y\n+z\n \n w\n");
    let after = vec!["class A".to_owned(), "def b".to_owned()];
    assert_eq!(update[0].place, HunkAnchor::Text { after, at_end: false });
    assert_eq!(update[1].place, HunkAnchor::Text { after: vec![], at_end: true });
}

#[test]
fn patch_repairs_report_line_and_stated_counts() {
    let file = hunks("@@ -1,9 +1,9 @@\n-a\n+b\n@@\n-c\n");
    let told: Vec<String> = file.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 3 of the patch states 9 old and 9 new lines; the hunk has 1 and 1",
            "line 6 of the patch states no line numbers; the text decides"
        ]
    );
}

#[test]
fn indented_markers_of_an_envelope_are_markers_and_indented_context_stays_context() {
    let expected = |patch: &str| {
        let patch = parse(patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
        let section = |file: &FilePatch| {
            let path = file.new_path().or(file.old_path()).map(|path| path.clean.clone());
            (path.unwrap_or_default(), file.hunks.iter().map(lines).collect::<String>())
        };
        patch.files.iter().map(section).collect::<Vec<_>>()
    };
    let two = vec![("a".to_owned(), "-x\n+y\n z\n".to_owned()), ("b".to_owned(), "+new\n".to_owned())];
    let plain = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n z\n*** Add File: b\n+new\n*** End Patch\n";
    let whole = plain.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let markers = plain.replace("*** U", "  *** U").replace("*** A", "  *** A").replace("*** E", "  *** E");
    let end = plain.replace("*** E", "  *** E");
    for patch in [plain, &whole, &markers, &end] {
        assert_eq!(expected(patch), two, "{patch}");
    }
    let about_patches = "*** Begin Patch\n*** Update File: a\n@@\n *** Update File: b\n-x\n+y\n *** End Patch\n*** End Patch\n";
    let context = vec![("a".to_owned(), " *** Update File: b\n-x\n+y\n *** End Patch\n".to_owned())];
    assert_eq!(expected(about_patches), context);
}
