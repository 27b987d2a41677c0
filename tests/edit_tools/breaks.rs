//! Errors that an edit causes in other files, as reported by real servers.

use serde_json::{Value, json};

use crate::support::{Project, start_of};

fn python(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files.iter().copied());
    std::fs::create_dir_all(project.beside("config")).expect("a folder");
    project.write_settings("prefer.python = [\"pyright\"]\n");
    project
}

fn places(delta: &Value) -> Vec<(String, u64)> {
    let added = delta["added"].as_array().expect("a delta").iter();
    added.map(|item| (item["path"].as_str().expect("a path").to_owned(), start_of(item).0)).collect()
}

fn python_with_servers(files: &[(&str, &str)], servers: &str) -> Project {
    let project = python(files);
    let settings = format!("prefer.python = {servers}\n");
    project.write_settings(&settings);
    project
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_of_rename_has_no_finding_that_differs_by_the_name_alone() {
    let project = python(&[
        ("shop.py", "def total(*, price: int) -> int:\n    return price\n\n\ntotal(price=\"a\")\ntotal()\n"),
        ("user.py", "from shop import total\n\ntotal(price=\"b\")\n"),
    ]);
    let workspace = project.opening().servers(&["pyright"]).open();
    let mut arguments = json!({
        "path": "shop.py", "line": 0, "character": 13, "new_name": "cost", "diagnostics": true, "dry_run": true,
    });
    for dry_run in [true, false] {
        arguments["dry_run"] = json!(dry_run);
        let answer = workspace.ok("lsp_rename", arguments.clone()).await;
        let delta = &answer["diagnostics"];
        assert_eq!((&delta["added"], &delta["removed"]), (&json!([]), &json!(0)), "{answer:#}");
        assert_eq!(delta["unchanged"], 3, "two wrong types and a missing argument: {answer:#}");
        assert_eq!(answer["verdict"], delta["verdict"], "{answer:#}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_includes_linter_that_did_not_run() {
    let project =
        python_with_servers(&[("shop.py", "import os\n\nsize = os.sep\n")], "[\"pyright\", \"ruff\"]");
    let workspace =
        project.opening().servers(&["pyright", "ruff"]).timeout(std::time::Duration::from_secs(60)).open();
    workspace.ok("lsp_hover", json!({"path": "shop.py", "line": 2, "character": 0})).await;
    let arguments =
        json!({"path": "shop.py", "edits": [{"old": "size = os.sep", "new": "size = 1"}], "dry_run": true});
    let answer = workspace.ok("edit", arguments).await;
    let added = answer["diagnostics"]["added"].to_string();
    assert!(added.contains("F401"), "ruff finds the unused import: {answer:#}");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn dry_run_of_a_right_move_has_no_new_findings() {
    for server in ["ty", "basedpyright"] {
        let project = python_with_servers(
            &[
                ("kit/__init__.py", ""),
                ("kit/tool.py", "def make() -> int:\n    return 1\n"),
                (
                    "main.py",
                    "import kit.tool\nfrom kit.tool import make\n\nprint(make() + kit.tool.make())\n",
                ),
            ],
            &format!("[\"{server}\"]"),
        );
        let workspace = project.opening().servers(&[server]).open();
        for dry_run in [true, false] {
            let arguments =
                json!({"from": "kit/tool.py", "to": "kit/gear.py", "diagnostics": true, "dry_run": dry_run});
            let answer = workspace.ok("move", arguments).await;
            assert!(answer["results"].to_string().contains("main.py"), "{server}: {answer:#}");
            assert_eq!(answer["diagnostics"]["added"], json!([]), "{server}: {answer:#}");
        }
        workspace.shutdown().await;
    }
}

/// The delta of an edit with pyright, previewed and then made: both must be the same.
async fn delta(project: &Project, path: &str, old: &str, new: &str) -> Value {
    let workspace = project.opening().servers(&["pyright"]).open();
    let mut arguments =
        json!({"path": path, "edits": [{"old": old, "new": new}], "diagnostics": true, "dry_run": true});
    let tried = workspace.ok("edit", arguments.clone()).await["diagnostics"].clone();
    arguments["dry_run"] = json!(false);
    let made = workspace.ok("edit", arguments).await["diagnostics"].clone();
    workspace.shutdown().await;
    assert_eq!((places(&tried), &tried["verdict"]), (places(&made), &made["verdict"]), "{tried:#}\n{made:#}");
    made
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_includes_file_that_uses_alias_indirectly() {
    let project = python(&[
        (
            "boxes.py",
            "from typing import List\nfrom typing import TypeVar\n\nT = TypeVar(\"T\")\nMany = List[T]\n",
        ),
        ("user.py", "from boxes import Many\n\nnumbers: Many[int] = []\n"),
    ]);
    let delta = delta(&project, "boxes.py", "from typing import TypeVar\n", "").await;
    assert_eq!(delta["verdict"], "complete", "{delta:#}");
    assert!(places(&delta).contains(&("user.py".to_owned(), 2)), "{delta:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_counts_all_callers() {
    let callers: Vec<(String, String)> = (0..15)
        .map(|number| {
            (
                format!("caller_{number}.py"),
                "from made import make\n\nprint(make())\nprint(make())\n".to_owned(),
            )
        })
        .collect();
    let project = python(&[("made.py", "def make() -> int:\n    return 1\n")]);
    for (path, text) in &callers {
        project.write(path, text);
    }
    let delta = delta(&project, "made.py", "make()", "make(extra: int)").await;
    assert_eq!(delta["verdict"], "complete", "{delta:#}");
    let in_short =
        delta["more"].as_array().expect("more").iter().flat_map(|more| more["at"].as_array().expect("lines"));
    assert_eq!((places(&delta).len(), in_short.count()), (20, 10), "{delta:#}");
    let help = delta["added"][0]["help"].to_string();
    assert!(help.contains("called: (extra: int)"), "{delta:#}");
    assert!(
        delta["hints"].as_u64().is_some_and(|hints| hints > 0),
        "an unused parameter is counted: {delta:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_follows_inferred_types_to_users() {
    let project = python(&[
        ("one.py", "def make():\n    return 1\n"),
        ("two.py", "from one import make\n\n\ndef twice():\n    return make()\n"),
        ("three.py", "from two import twice\n\nnumber: int = twice()\n"),
    ]);
    let delta = delta(&project, "one.py", "return 1", "return \"1\"").await;
    assert_eq!(delta["verdict"], "complete", "{delta:#}");
    assert_eq!(places(&delta), [("three.py".to_owned(), 2)], "{delta:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_follows_changed_base_to_file_without_its_name() {
    let project = python(&[
        ("one.py", "class Base:\n    def run(self) -> int: ...\n\n\nclass Shop(Base):\n    pass\n"),
        ("two.py", "from one import Shop\n\n\ndef make() -> Shop:\n    return Shop()\n"),
        ("three.py", "from two import make\n\nmake().run()\n"),
    ]);
    let delta = delta(&project, "one.py", "Shop(Base)", "Shop").await;
    assert_eq!(delta["verdict"], "complete", "{delta:#}");
    assert_eq!(places(&delta), [("three.py".to_owned(), 2)], "{delta:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_of_local_edit_checks_no_other_file() {
    let project = python(&[
        ("one.py", "def make() -> int:\n    return 1\n"),
        ("two.py", "from one import make\n\nnumber: int = make()\n"),
    ]);
    let delta = delta(&project, "one.py", "return 1", "return 2").await;
    assert_eq!((&delta["verdict"], &delta["files"]), (&json!("complete"), &json!(["one.py"])), "{delta:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_of_created_file_clears_importer_errors() {
    let project = Project::of_fixture("typescript");
    project.write(
        "src/early.ts",
        "import { late } from \"./late.js\";\n\nexport const value: number = late();\n",
    );
    let workspace = project.opening().servers(&["typescript-language-server"]).open();
    let text = "export function late(): number {\n  return 1;\n}\n";
    for dry_run in [true, false] {
        let arguments =
            json!({"path": "src/late.ts", "content": text, "diagnostics": true, "dry_run": dry_run});
        let answer = workspace.ok("write", arguments).await;
        let delta = &answer["diagnostics"];
        assert_eq!(
            (&delta["removed"], &delta["added"]),
            (&json!(1), &json!([])),
            "dry run {dry_run}: {answer:#}"
        );
        assert!(delta["files"].to_string().contains("src/early.ts"), "{answer:#}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn diagnostics_delta_includes_extensionless_python_script() {
    let project = python(&[
        ("lib.py", "def helper(value: int) -> int:\n    return value\n"),
        ("tool", "#!/usr/bin/env python3\nfrom lib import helper\n\nprint(helper(1))\n"),
        ("Makefile", "all:\n\techo helper\n"),
        ("LICENSE", "helper\n"),
    ]);
    let delta = delta(&project, "lib.py", "value: int)", "value: int, more: int)").await;
    assert_eq!(delta["verdict"], "complete", "{delta:#}");
    assert_eq!(places(&delta), [("tool".to_owned(), 3)], "{delta:#}");
    let files: Vec<&str> =
        delta["files"].as_array().expect("files").iter().filter_map(Value::as_str).collect();
    assert!(!files.contains(&"Makefile") && !files.contains(&"LICENSE"), "{delta:#}");
}
