//! The errors of a difference between git trees, with rust-analyzer and gopls.

use serde_json::json;

use super::real::PATIENCE;
use crate::changes::pairs::{Language, check_in};
use crate::changes::{Repository, findings};
use crate::support::{Project, TestWorkspace};

const RUST: Language = Language {
    server: "rust-analyzer",
    runs_code: true,
    files: &[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (".gitignore", "/target\nCargo.lock\n"),
        ("src/lib.rs", "pub mod other;\npub mod prices;\npub mod user;\n"),
        (
            "src/prices.rs",
            "pub fn price(name: &str) -> usize {\n    name.len()\n}\n\npub fn add(one: usize) -> usize {\n    one\n}\n\npub fn spare() -> usize {\n    2\n}\n",
        ),
        (
            "src/user.rs",
            "use crate::prices::{add, price};\n\npub fn sum() -> usize {\n    price(\"a\") + add(1)\n}\n",
        ),
        ("src/other.rs", "pub fn other() -> usize {\n    0\n}\n"),
    ],
    rename: &[
        (
            "src/prices.rs",
            "pub fn price_of(name: &str) -> usize {\n    name.len()\n}\n\npub fn add(one: usize) -> usize {\n    one\n}\n\npub fn spare() -> usize {\n    2\n}\n",
        ),
        (
            "src/user.rs",
            "use crate::prices::{add, price_of};\n\npub fn sum() -> usize {\n    price_of(\"a\") + add(1)\n}\n",
        ),
    ],
    call: &[(
        "src/other.rs",
        "use crate::prices::price;\n\npub fn other() -> usize {\n    price(\"b\")\n}\n",
    )],
    parameter: &[
        (
            "src/prices.rs",
            "pub fn price(name: &str) -> usize {\n    name.len()\n}\n\npub fn add(one: usize, two: usize) -> usize {\n    one + two\n}\n\npub fn spare() -> usize {\n    2\n}\n",
        ),
        (
            "src/user.rs",
            "use crate::prices::{add, price};\n\npub fn sum() -> usize {\n    price(\"a\") + add(1, 2)\n}\n",
        ),
    ],
    use_it: &[("src/other.rs", "use crate::prices::add;\n\npub fn other() -> usize {\n    add(3)\n}\n")],
    remove: &[(
        "src/prices.rs",
        "pub fn price(name: &str) -> usize {\n    name.len()\n}\n\npub fn add(one: usize) -> usize {\n    one\n}\n",
    )],
    import: &[("src/other.rs", "use crate::prices::spare;\n\npub fn other() -> usize {\n    spare()\n}\n")],
};

const GO: Language = Language {
    server: "gopls",
    runs_code: false,
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.22\n"),
        (
            "prices.go",
            "package shop\n\nfunc price(name string) int { return len(name) }\n\nfunc add(one int) int { return one }\n\nfunc spare() int { return 2 }\n",
        ),
        ("user.go", "package shop\n\nfunc sum() int { return price(\"a\") + add(1) }\n"),
        ("other.go", "package shop\n\nfunc other() int { return 0 }\n"),
    ],
    rename: &[
        (
            "prices.go",
            "package shop\n\nfunc priceOf(name string) int { return len(name) }\n\nfunc add(one int) int { return one }\n\nfunc spare() int { return 2 }\n",
        ),
        ("user.go", "package shop\n\nfunc sum() int { return priceOf(\"a\") + add(1) }\n"),
    ],
    call: &[("other.go", "package shop\n\nfunc other() int { return price(\"b\") }\n")],
    parameter: &[
        (
            "prices.go",
            "package shop\n\nfunc price(name string) int { return len(name) }\n\nfunc add(one, two int) int { return one + two }\n\nfunc spare() int { return 2 }\n",
        ),
        ("user.go", "package shop\n\nfunc sum() int { return price(\"a\") + add(1, 2) }\n"),
    ],
    use_it: &[("other.go", "package shop\n\nfunc other() int { return add(3) }\n")],
    remove: &[(
        "prices.go",
        "package shop\n\nfunc price(name string) int { return len(name) }\n\nfunc add(one int) int { return one }\n",
    )],
    import: &[("other.go", "package shop\n\nfunc other() int { return spare() }\n")],
};

fn at_shell(project: &Project, server: &str) -> TestWorkspace {
    project.opening().servers(&[server]).timeout(PATIENCE).at_shell().open()
}

fn repository(server: &str, files: &[(&str, &str)]) -> Repository {
    Repository::of(at_shell(&Project::new(files.iter().copied()), server))
}

/// The same project, trusted, with a server that starts because of that.
async fn trusted(repository: Repository) -> Repository {
    repository.grant_trust().await;
    repository.shutdown().await;
    Repository(at_shell(&repository.project, RUST.server))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn breaking_pairs_in_rust_are_found_and_sound_ones_pass() {
    let repository = repository(RUST.server, RUST.files);
    // Only `cargo check` reports uses of a missing name, and it may not run for other branches
    // without permission.
    check_in(trusted(repository).await, &RUST).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls: just rust-go"]
async fn breaking_pairs_in_go_are_found_and_sound_ones_pass() {
    check_in(repository(GO.server, GO.files), &GO).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls: just rust-go"]
async fn type_that_is_handed_on_breaks_a_file_that_does_not_name_the_change() {
    let files = [
        ("go.mod", "module example.com/shop\n\ngo 1.22\n"),
        (
            "a/a.go",
            "package a\n\ntype T struct{ Field int }\n\ntype U struct{ Other int }\n\nfunc Make() T { return T{} }\n",
        ),
        ("b/b.go", "package b\n\nimport \"example.com/shop/a\"\n\nvar X = a.Make()\n"),
        ("c/c.go", "package c\n\nimport \"example.com/shop/b\"\n\nvar Y = b.X.Field\n"),
    ];
    let repository = repository("gopls", &files);
    repository
        .project
        .write("a/a.go", files[1].1.replace("Make() T { return T{} }", "Make() U { return U{} }"));
    let answer = repository.changes(json!({"against": "HEAD", "min_severity": "error"})).await;
    assert!(findings(&answer).iter().any(|found| found.starts_with("c/c.go:4 ")), "{answer}");
    repository.runtime.shutdown().await;
}

/// A function with a wrong second use of `text` that only `cargo check` finds.
fn moves(name: &str) -> String {
    format!("pub fn {name}(text: String) -> String {{\n    let _taken = text;\n    text\n}}\n")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn trusted_difference_compares_what_cargo_check_finds_on_both_sides() {
    let old = moves("old");
    let files = [
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (".gitignore", "/target\nCargo.lock\n"),
        ("src/lib.rs", &old),
    ];
    let repository = repository("rust-analyzer", &files);
    let repository = trusted(repository).await;
    repository.project.write("src/lib.rs", format!("{old}\n{}", moves("new")));
    let answer = repository.changes(json!({"against": "HEAD", "min_severity": "error"})).await;
    let found = findings(&answer);
    assert!(matches!(&found[..], [one] if one.starts_with("src/lib.rs:7 ")), "{answer}");
    assert_eq!(answer["verdict"], "complete", "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn what_trust_alone_finds_is_not_new_against_a_commit_that_is_not_trusted() {
    let broken = moves("old");
    let files = [
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (".gitignore", "/target\nCargo.lock\n"),
        ("src/lib.rs", &broken),
    ];
    let repository = repository("rust-analyzer", &files);
    repository.branch("later", "main", |project| {
        project.write("src/lib.rs", format!("{broken}\npub fn new() {{}}\n"))
    });
    let repository = trusted(repository).await;
    let answer = repository.changes(json!({"against": "later", "min_severity": "error"})).await;
    assert_eq!(findings(&answer), Vec::<String>::new(), "{answer}");
    assert_eq!(answer["verdict"], "partial", "{answer}");
    assert!(answer["notes"].to_string().contains("--trust-trees"), "{answer}");
    repository.runtime.shutdown().await;
}
