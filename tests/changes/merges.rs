//! Merges without conflicts in git, and the errors in them.

use super::{Repository, findings, state_of};
use crate::support::Project;
use serde_json::{Value, json};

const PRICES: &str = "def price(name: str) -> int:\n    return len(name)\n\n\ndef discount(amount: int) -> int:\n    return amount - 1\n";
const USE: &str = "from prices import discount\n\n\ndef first() -> int:\n    return discount(3)\n";

fn python() -> Repository {
    Repository::new(&["pyright"], &[("prices.py", PRICES), ("use.py", USE), ("other.py", "x = 1\n")])
}

fn only_together(answer: &Value) -> u64 {
    answer["merge"]["by_combination"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn rename_against_new_caller_breaks_only_together() {
    let repository = python();
    repository.branch("rename", "main", |project| {
        project.write("prices.py", PRICES.replace("def price(", "def price_of("));
    });
    repository.branch("caller", "main", |project| {
        project.write("other.py", "from prices import price\n\nx = price(\"a\")\n");
    });
    let before = state_of(&repository.project.root());
    let answer = repository.changes(json!({"merge_branches": ["rename", "caller"]})).await;
    assert_eq!(state_of(&repository.project.root()), before, "nothing was merged, and no object was written");
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("other.py:0 "), "{answer}");
    assert_eq!((only_together(&answer), answer["verdict"].as_str()), (1, Some("complete")), "{answer}");
    let combined = &answer["merge"]["combined"][0];
    assert_eq!((&combined["changed_by"], &combined["used_from"]), (&json!(["caller"]), &json!(["rename"])));
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn finding_of_one_branch_alone_is_its_own() {
    let repository = python();
    repository.branch("broken", "main", |project| project.write("other.py", "x: int = \"one\"\n"));
    repository.branch("sound", "main", |project| {
        project.write("use.py", USE.replace("first", "second"));
    });
    let answer = repository.changes(json!({"merge_branches": ["broken", "sound"]})).await;
    assert_eq!((findings(&answer).len(), only_together(&answer)), (1, 0), "{answer}");
    assert_eq!(answer["merge"]["by_branch"][0], json!({"branch": "broken", "findings": 1}), "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn sound_merge_of_three_is_not_called_broken() {
    let repository = python();
    repository.branch("one", "main", |project| project.write("prices.py", PRICES.replace("- 1", "- 2")));
    repository.branch("two", "main", |project| project.write("use.py", USE.replace("first", "second")));
    repository.branch("three", "main", |project| project.write("new.py", "from use import discount\n"));
    let answer = repository.changes(json!({"merge_branches": ["one", "two", "three"]})).await;
    assert_eq!((findings(&answer).len(), only_together(&answer)), (0, 0), "{answer}");
    assert_eq!(answer["verdict"], "complete", "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn conflicts_are_listed_and_the_rest_is_judged() {
    let repository = python();
    repository.branch("one", "main", |project| project.write("other.py", "x = 2\n"));
    repository.branch("two", "main", |project| project.write("other.py", "x = 3\n"));
    let answer = repository.changes(json!({"merge_branches": ["one", "two"]})).await;
    assert_eq!(answer["merge"]["conflicts"], json!([{"path": "other.py", "branch": "two"}]), "{answer}");
    assert_eq!(answer["verdict"], "partial", "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn removed_export_against_new_import_breaks_in_typescript() {
    let files = [
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}",
        ),
        ("src/rates.ts", "export const one = 1;\nexport const two = 2;\n"),
        ("src/use.ts", "import { one } from \"./rates\";\n\nconsole.log(one);\n"),
    ];
    let repository = Repository::new(&["typescript-language-server"], &files);
    repository.branch("remove", "main", |project| project.write("src/rates.ts", "export const one = 1;\n"));
    repository.branch("import", "main", |project| {
        project.write("src/use.ts", "import { one, two } from \"./rates\";\n\nconsole.log(one, two);\n");
    });
    let answer = repository.changes(json!({"merge_branches": ["remove", "import"]})).await;
    let found = findings(&answer);
    assert!(found.len() == 1 && found[0].starts_with("src/use.ts:0 "), "{answer}");
    assert_eq!(only_together(&answer), 1, "{answer}");
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn merge_tells_nothing_of_hard_link_of_hidden_file() {
    let project = Project::new([("prices.py", PRICES), ("other.py", "x = 1\n"), (".gitignore", "keys/\n")]);
    let settings = "[permissions]\ndeny = ['*(keys/**)']\n";
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let repository = Repository::of(project.opening().servers(&["pyright"]).at_shell().open());
    repository.branch("number", "main", |project| {
        project.write("prices.py", PRICES.replace("name: str", "name: int").replace("len(name)", "name"));
    });
    repository.branch("caller", "main", |project| {
        project.write("other.py", "from prices import price\n\nx = price(\"s3cr3t\")\n");
    });
    let told = repository.changes(json!({"merge_branches": ["number", "caller"]})).await;
    assert!(told.to_string().contains("s3cr3t"), "without a link the literal is shown: {told}");
    std::fs::create_dir(project.path("keys")).expect("a folder");
    std::fs::hard_link(project.path("other.py"), project.path("keys/other.py")).expect("a hard link");
    let answer = repository.changes(json!({"merge_branches": ["number", "caller"]})).await;
    assert!(!answer.to_string().contains("s3cr3t"), "{answer}");
    repository.runtime.shutdown().await;
}
