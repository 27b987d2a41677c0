//! Names of tools that read and search.

use serde_json::json;

use super::{absolute, done, refused};
use crate::notes_tools::changed_files::{commit, git};
use crate::support::Project;

#[tokio::test(flavor = "multi_thread")]
async fn read_list_and_search_aliases_find_files() {
    let long: String = (1..=450).map(|line| format!("line {line}\n")).collect();
    let project = Project::new([
        ("src/long.txt", long.as_str()),
        ("src/empty.txt", ""),
        ("src/in/x.rs", "fn x() {}\n"),
    ]);
    let runtime = project.open();
    let path = absolute(&project, "src/long.txt");
    let first = done(&runtime, "read_file", json!({"filePath": path})).await.text;
    assert!(
        first.starts_with("line 1\n")
            && first.contains("line 200\n[lines 1 to 200 of 450; continue with offset 201]"),
        "{first}"
    );
    let last = done(&runtime, "read_file", json!({"filePath": path, "offset": 450, "limit": 5})).await.text;
    assert_eq!(last, "line 450\n");
    let empty =
        done(&runtime, "read_file", json!({"filePath": absolute(&project, "src/empty.txt")})).await.text;
    assert_eq!(empty, "(the file is empty)");
    let listed = done(&runtime, "list_dir", json!({"path": absolute(&project, "src")})).await.text;
    assert_eq!(listed, "empty.txt\nin/\nlong.txt");
    let found = done(&runtime, "file_search", json!({"query": "*.rs"})).await.text;
    assert_eq!(found, absolute(&project, "src/in/x.rs"), "a name alone is one anywhere");
    assert_eq!(
        done(&runtime, "file_search", json!({"query": "nothing/*"})).await.text,
        "no file matches nothing/*"
    );
    let lines =
        done(&runtime, "grep_search", json!({"query": "fn x()", "includePattern": "*.rs"})).await.text;
    assert_eq!(lines, format!("{}:1:fn x() {{}}", absolute(&project, "src/in/x.rs")));
    let many =
        done(&runtime, "grep_search", json!({"query": "line [0-9]+", "isRegexp": true, "maxResults": 2}))
            .await
            .text;
    assert!(many.ends_with("[there are more matches]") && many.lines().count() == 3, "{many}");
    let missing = refused(&runtime, "read_file", json!({"filePath": absolute(&project, "no.txt")})).await;
    assert!(missing.contains("no.txt"), "{missing}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_changed_files_lists_each_state_under_its_heading() {
    let project = Project::new([("kept.txt", "1\n"), ("edited.txt", "1\n")]);
    git(&project.root(), &["init", "-q"]);
    commit(&project.root());
    let runtime = project.open();
    let none = done(&runtime, "get_changed_files", json!({})).await.text;
    assert_eq!(none, "No changed files found.");
    project.write("edited.txt", "2\n");
    project.write("staged.txt", "1\n");
    git(&project.root(), &["add", "staged.txt"]);
    project.write("new.txt", "1\n");
    let all = done(&runtime, "get_changed_files", json!({"repositoryPath": project.root()})).await.text;
    assert_eq!(
        all,
        "## Staged files\nstaged.txt\n\n## Unstaged changes\nedited.txt\n\n## Untracked files\nnew.txt"
    );
    let staged = done(&runtime, "get_changed_files", json!({"sourceControlState": "staged"})).await.text;
    assert_eq!(staged, "## Staged files\nstaged.txt");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn find_test_files_matches_sources_and_tests_both_ways() {
    let project = Project::new([
        ("src/shop/cart.py", "x = 1\n"),
        ("tests/shop/test_cart.py", "\n"),
        ("tests/blog/test_cart.py", "\n"),
        ("web/[id].ts", "\n"),
        ("web/[id].test.ts", "\n"),
        ("crate/src/price.rs", "fn x() {}\n\n#[cfg(test)]\nmod tests {}\n"),
        ("alone.go", "package a\n"),
        ("README.md", "\n"),
    ]);
    let runtime = project.open();
    let tests_of = async |path: &str| {
        done(&runtime, "find_test_files", json!({"filePaths": [absolute(&project, path)]})).await.text
    };
    let cart = tests_of("src/shop/cart.py").await;
    let at = |text: &str, path: &str| text.find(&absolute(&project, path));
    let (near, far) = (at(&cart, "tests/shop/test_cart.py"), at(&cart, "tests/blog/test_cart.py"));
    assert!(near.is_some() && near < far, "the nearer one first: {cart}");
    let back = tests_of("tests/shop/test_cart.py").await;
    assert!(at(&back, "src/shop/cart.py").is_some(), "{back}");
    let bracket = tests_of("web/[id].ts").await;
    assert!(at(&bracket, "web/[id].test.ts").is_some(), "{bracket}");
    let inline = tests_of("crate/src/price.rs").await;
    assert!(inline.contains("in the file itself, from line 3 on"), "{inline}");
    let alone = tests_of("alone.go").await;
    assert!(alone.contains("none by the names alone_test.go"), "{alone}");
    let unknown = tests_of("README.md").await;
    assert!(unknown.contains("no naming convention"), "{unknown}");
    runtime.shutdown().await;
}
