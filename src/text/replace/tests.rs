use proptest::prelude::*;

use super::*;

fn one(old: &str, new: &str) -> TextReplacement {
    TextReplacement { old: old.to_owned(), new: new.to_owned(), all: false }
}

fn all(old: &str, new: &str) -> TextReplacement {
    TextReplacement { all: true, ..one(old, new) }
}

fn made(text: &str, replacements: &[TextReplacement]) -> String {
    replace(text, replacements).map(|replaced| replaced.text).unwrap_or_else(|error| error.to_string())
}

#[test]
fn replacements_apply_in_sequence_to_the_edited_text() {
    let replaced = replace("a b\nc\nc\n", &[one("a", "x"), one("x b", "y\nz"), all("c", "d")]).unwrap();
    assert_eq!(replaced.text, "y\nz\nd\nd\n");
    let told: Vec<(usize, usize)> = replaced.made.iter().map(|made| (made.count, made.line)).collect();
    assert_eq!(told, [(1, 1), (1, 1), (2, 3)]);
}

#[test]
fn invalid_replacement_is_refused_with_advice() {
    for (replacements, told) in [
        (vec![], "no replacement was given; give at least one with `old` and `new`"),
        (
            vec![one("", "x")],
            "replacement 1: `old` is empty; give the text to replace, or write the file anew",
        ),
        (vec![one("a", "a")], "replacement 1: `old` and `new` are the same; leave it out"),
        (
            vec![one("beta", "x"), one("foo", "x")],
            "replacement 2: `old` is in the file 2 times (lines 2, 3); give more of the text around it, or set `all`",
        ),
        (
            vec![one("zzzzz", "x")],
            "replacement 1: `old` is not in the file; read the file and copy its exact text",
        ),
    ] {
        assert_eq!(made("alpha beta\nfoo 1\nfoo 2\n", &replacements), told);
    }
}

#[test]
fn overlapping_occurrences_are_ambiguous_for_replace() {
    let error = replace("aaa", &[one("aa", "b")]).unwrap_err();
    assert_eq!(error, ReplaceError::Several { index: 0, count: 2, lines: vec![1] });
    assert_eq!(made("aaa", &[all("aa", "b")]), "ba");
}

#[test]
fn replace_of_missing_text_reports_nearest_lines_and_difference() {
    let text = "fn main() {\n\tlet x = 1;\n    let y  = 2;\n}\n\nfn other() {\n    let x = 1; \n}\n";
    for (old, told) in [
        ("    let x = 1;\n    let y  = 2;", (2, 2, "the line is indented by 1 tab, expected was 4 spaces")),
        ("    let y = 2;\n}", (3, 3, "column 10 has 2 spaces, expected was 1 space")),
        ("fn other() {\n    let x = 1;\n}", (6, 7, "the line ends in 1 space, expected was no space")),
        ("fn other() {\n    let x = 2;\n}", (6, 7, "the text differs from column 13 on")),
        ("fn mian() {", (1, 1, "the text differs from column 5 on")),
        ("    let x = 1; \n}\nmore", (7, 9, "the text ends before it")),
    ] {
        let Err(ReplaceError::NotFound { nearest: Some(near), .. }) = replace(text, &[one(old, "new")])
        else {
            panic!("{old:?} should have a nearest text");
        };
        assert_eq!((near.line, near.differs_at, near.difference.to_string().as_str()), told, "{old:?}");
    }
    let told = made(text, &[one("    let y = 2;", "")]);
    let words = "replacement 1: `old` is not in the file; nearest is line 3: line 3 should be `    let y = 2;` but is \
                 `    let y  = 2;` (column 10 has 2 spaces, expected was 1 space)";
    assert_eq!(told, words);
}

#[test]
fn replace_adapts_line_endings_to_the_file() {
    let crlf = "a\r\nb\r\nc\r\n";
    for (text, old, new, becomes, adapted) in [
        (crlf, "a\nb", "x\ny", "x\r\ny\r\nc\r\n", true),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n", true),
        (crlf, "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n", true),
        (crlf, "a\r\nb", "x\ny", "x\ny\r\nc\r\n", false),
        (crlf, "b", "x", "a\r\nx\r\nc\r\n", false),
        ("a\nb\r\nc", "b", "x\ny", "a\nx\r\ny\r\nc", true),
        ("a", "a", "x\r\ny", "x\r\ny", false),
    ] {
        let replaced = replace(text, &[one(old, new)]).unwrap();
        assert_eq!(
            (replaced.text.as_str(), replaced.made[0].line_ends_adapted),
            (becomes, adapted),
            "{old:?} {new:?}"
        );
    }
}

#[test]
fn replace_in_huge_text_ends_in_bounded_time() {
    let text = "a ".repeat(100_000);
    let begun = std::time::Instant::now();
    assert!(matches!(replace(&text, &[one("a a", "b")]), Err(ReplaceError::Several { count: 50_000, .. })));
    assert!(matches!(replace(&text, &[one(&"b\n".repeat(20_000), "b")]), Err(ReplaceError::NotFound { .. })));
    let lines = "x\n".repeat(50_000);
    assert!(matches!(
        replace(&lines, &[one(&("x\n".repeat(10_000) + "y"), "")]),
        Err(ReplaceError::NotFound { .. })
    ));
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    let many = vec![one("a", "b"); MAX_REPLACEMENTS + 1];
    assert!(matches!(replace("a", &many), Err(ReplaceError::TooMany { .. })));
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec!["a", "b", "ab", "\n", "\r\n", " ", "é", "🦀"]);
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn replace_of_unique_text_keeps_the_rest(before in texts(), old in "[xé🦀]{1,3}\n?[yz]{1,2}", new in "[ab é🦀]{0,6}", after in texts()) {
        let text = format!("{before}{old}{after}");
        let replaced = replace(&text, &[one(&old, &new)]).map(|replaced| replaced.text);
        prop_assert_eq!(replaced, Ok(format!("{before}{new}{after}")));
    }

    #[test]
    fn replace_of_random_text_never_panics(text in texts(), old in texts(), new in texts(), all in any::<bool>()) {
        match replace(&text, &[TextReplacement { old: old.clone(), new, all }]) {
            Ok(_) => {}
            Err(error) => {
                prop_assert!(!error.to_string().is_empty());
                let alone = text.match_indices(&old).count() == 1 && !text.contains('\r') && !all;
                let overlaps = text.find(&old).is_some_and(|at| text.get(at + 1..).is_none_or(|rest| rest.contains(&old)));
                let useless = matches!(error, ReplaceError::Empty { .. } | ReplaceError::Same { .. });
                prop_assert!(!alone || overlaps || useless);
            }
        }
    }
}
