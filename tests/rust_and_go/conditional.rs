//! Uses in files outside the configuration with which rust-analyzer and gopls read a project.

use lsp_tools::{Runtime, Target, Verdict};

use super::real::open;
use crate::conditional_code::{must_doubt_silence, must_name};
use crate::support::Project;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn rust_uses_in_modules_under_unmet_conditions_make_answers_partial() {
    let other = if cfg!(windows) { "unix" } else { "windows" };
    let library = format!(
        "pub fn tally(x: u32) -> u32 {{\n    x\n}}\n\npub fn plain(x: u32) -> u32 {{\n    x\n}}\n\n#[cfg({other})]\nmod other;\n\
         #[cfg(not({other}))]\nmod usual;\n\n#[cfg({other})]\npub mod inside {{\n    pub fn deep() -> u32 {{\n        crate::plain(3)\n    }}\n}}\n"
    );
    let user = "pub fn user() -> u32 {\n    crate::tally(1) + crate::plain(1)\n}\n";
    let project = Project::new([
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", &library),
        ("src/usual.rs", user),
        ("src/other.rs", "mod below;\n"),
        ("src/other/below.rs", "pub fn below() -> u32 {\n    crate::tally(2)\n}\n"),
    ]);
    let runtime = open(&project, "rust-analyzer");
    must_name(&runtime, ("src/lib.rs", (0, 8)), &["src/other/below.rs:2"], (4, 8)).await;
    must_doubt_silence(&runtime, ("src/other/below.rs", (1, 12)), ("src/lib.rs", (16, 16))).await;
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls: just rust-go"]
async fn go_uses_in_files_that_constraints_exclude_make_answers_partial() {
    let other = if cfg!(windows) { "plan9" } else { "windows" };
    let constrained = format!("shop_{other}.go");
    let project = Project::new([
        ("go.mod", "module example.com/shop\n\ngo 1.22\n"),
        (
            "a.go",
            "package shop\n\nfunc Tally(x int) int { return x }\n\nfunc Plain(x int) int { return x }\n",
        ),
        ("usual.go", "//go:build !special\n\npackage shop\n\nvar usual = Tally(1) + Plain(1)\n"),
        ("special.go", "//go:build special\n\npackage shop\n\nvar special = Tally(2)\n"),
        (&*constrained, "package shop\n\nvar other = Tally(3)\n"),
    ]);
    let runtime = open(&project, "gopls");
    let places = ["special.go:5".to_owned(), format!("{constrained}:3")];
    must_name(&runtime, ("a.go", (2, 5)), &places.each_ref().map(String::as_str), (4, 5)).await;
    runtime.shutdown().await;
}

/// The verdict of a hover and of a check, with the reason in the answer to the hover.
async fn verdicts(runtime: &Runtime, path: &str, name: &str) -> (Verdict, Verdict, String) {
    let target = Target::NameOnLine { path: path.into(), line0: 2, name: name.to_owned() };
    let hover = runtime.hover(target).await.expect("an answer");
    let check = runtime.diagnose(vec![path.into()], None, 100).await.expect("an answer");
    (hover.verdict, check.verdict, hover.server_status.detail.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer and gopls: just rust-go"]
async fn file_outside_every_crate_or_package_is_partial_until_it_is_inside() {
    let project = Project::new([
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/main.rs", "//! An app.\n\nfn main() {}\n"),
        ("src/orphan.rs", "//! A file that no module names.\n\npub fn half(x: u32) -> u32 { x / 2 }\n"),
    ]);
    let runtime = open(&project, "rust-analyzer");
    let (hover, check, reason) = verdicts(&runtime, "src/orphan.rs", "half").await;
    assert_eq!((hover, check), (Verdict::Hints, Verdict::Partial), "{reason}");
    assert!(reason.contains("no active `mod` declaration leads to this file"), "{reason}");
    assert_eq!(verdicts(&runtime, "src/main.rs", "main").await.0, Verdict::Complete);
    project.write("src/main.rs", "//! An app.\nmod orphan;\nfn main() { orphan::half(2); }\n");
    assert_eq!(verdicts(&runtime, "src/orphan.rs", "half").await.0, Verdict::Complete);
    runtime.shutdown().await;

    let project = Project::new([
        ("go.mod", "module example.com/app\n\ngo 1.21\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
        ("tagged.go", "//go:build never\n\npackage main; func half(x int) int { return x / 2 }\n"),
    ]);
    let runtime = open(&project, "gopls");
    let check = runtime.diagnose(vec!["tagged.go".into()], None, 100).await.expect("an answer");
    assert_eq!(check.verdict, Verdict::Partial, "{check:?}");
    let check = runtime.diagnose(vec!["main.go".into()], None, 100).await.expect("an answer");
    assert_eq!(check.verdict, Verdict::Complete, "{check:?}");
    runtime.shutdown().await;
}
