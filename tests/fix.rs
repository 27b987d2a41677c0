//! `fix` on real servers: one kind of action in several files, as one edit that is previewed, made
//! and undone.

use crate::support::{Project, TestWorkspace};
use serde_json::{Value, json};

const A: &str = "import sys\nimport os\n\nprint(os.name, sys.path)\n";
const A_SORTED: &str = "import os\nimport sys\n\nprint(os.name, sys.path)\n";
const B: &str = "import json\nimport os\n\nprint(os.name)\n";

/// A workspace of these files with a server, as from a shell.
fn stage(server: &str, files: &[(&str, &str)]) -> TestWorkspace {
    Project::new(files.iter().copied()).opening().servers(&[server]).at_shell().open()
}

fn changed(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
    results.iter().filter_map(|result| result["path"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fix_of_folder_with_ruff_is_one_edit_with_one_undo() {
    let settings = "[tool.ruff.lint]\nselect = [\"F\", \"I\"]\n";
    let files = [("pyproject.toml", settings), ("src/a.py", A), ("src/b.py", B), ("src/c.py", "x = 1\n")];
    let stage = stage("ruff", &files);
    let imports =
        |dry_run: bool| json!({"kind": "source.organizeImports", "paths": ["src"], "dry_run": dry_run});
    let tried = stage.answer("fix", imports(true)).await;
    assert_eq!(changed(&tried), ["src/a.py"], "{tried}");
    assert_eq!(stage.project.read("src/a.py"), A, "only tried");
    let made = stage.answer("fix", imports(false)).await;
    assert_eq!((changed(&made), made["ok"].as_bool()), (vec!["src/a.py"], Some(true)), "{made}");
    assert_eq!(stage.project.read("src/a.py"), A_SORTED);
    let again = stage.answer("fix", imports(false)).await;
    assert!(changed(&again).is_empty() && again["notes"].to_string().contains("changes nothing"), "{again}");
    stage.answer("undo", json!({})).await;
    assert_eq!(stage.project.read("src/a.py"), A);

    let all = json!({"kind": "fixAll", "paths": ["src", "src/a.py"]});
    let made = stage.answer("fix", all).await;
    assert_eq!(changed(&made), ["src/a.py", "src/b.py"], "{made}");
    assert_eq!(stage.project.read("src/a.py"), A_SORTED);
    assert_eq!(stage.project.read("src/b.py"), "import os\n\nprint(os.name)\n");
    stage.answer("undo", json!({})).await;
    assert_eq!((stage.project.read("src/a.py").as_str(), stage.project.read("src/b.py").as_str()), (A, B));
    stage.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn fix_with_typescript_server_does_each_kind_by_itself() {
    let files = [
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        ("src/one.ts", "export const one = 1;\nexport const two = 2;\n"),
        ("src/use.ts", "import { two, one } from \"./one\";\n\nconsole.log(one);\n"),
    ];
    let stage = stage("typescript-language-server", &files);
    for (kind, imports) in [("organizeImports", "one, two"), ("removeUnusedImports", "one")] {
        let made = stage.answer("fix", json!({"kind": kind, "paths": ["src"]})).await;
        assert_eq!(changed(&made), ["src/use.ts"], "{made}");
        let text = format!("import {{ {imports} }} from \"./one\";\n\nconsole.log(one);\n");
        assert_eq!(stage.project.read("src/use.ts"), text, "{kind}");
    }
    stage.shutdown().await;
}

const UNUSED: &str = "import os, sys\nimport json\nfrom typing import Dict, List\n\n\ndef f(x: List[int]):\n    import re\n    return x == None\n";
const UNUSED_FIXED: &str = "from typing import List\n\n\ndef f(x: List[int]):\n    return x == None\n";

#[tokio::test(flavor = "multi_thread")]
async fn quick_fixes_of_one_rule_are_made_in_all_files_and_no_others() {
    let settings = "[tool.ruff.lint]\nselect = [\"F\", \"E711\"]\n";
    let files =
        [("pyproject.toml", settings), ("src/a.py", UNUSED), ("src/b.py", UNUSED), ("src/c.py", "x = 1\n")];
    let stage = stage("ruff", &files);
    let made = stage.answer("fix", json!({"kind": "quickfix", "rule": "F401", "paths": ["src"]})).await;
    assert_eq!(changed(&made), ["src/a.py", "src/b.py"], "{made}");
    assert_eq!(stage.project.read("src/a.py"), UNUSED_FIXED);
    assert_eq!(stage.project.read("src/b.py"), UNUSED_FIXED);
    let again = stage.answer("fix", json!({"kind": "quickfix", "rule": "F401", "paths": ["src"]})).await;
    assert!(again["notes"].to_string().contains("`quickfix F401` changes nothing there"), "{again}");
    stage.answer("undo", json!({})).await;
    assert_eq!(stage.project.read("src/b.py"), UNUSED);
    stage.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn quick_fixes_of_typescript_are_merged_on_one_line() {
    let files = [
        ("tsconfig.json", "{\"compilerOptions\": {\"noUnusedLocals\": true}}"),
        ("src/m.ts", "export const a = 1, b = 2, c = 3;\n"),
        ("src/n.ts", "import { a, b, c } from \"./m\";\nconsole.log(a);\n"),
    ];
    let stage = stage("typescript-language-server", &files);
    let made = stage.answer("fix", json!({"kind": "quickfix", "rule": "6133", "paths": ["src/n.ts"]})).await;
    assert_eq!(changed(&made), ["src/n.ts"], "{made}");
    assert_eq!(stage.project.read("src/n.ts"), "import { a } from \"./m\";\nconsole.log(a);\n");
    stage.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_fix_that_no_server_prefers_is_made_only_where_its_title_is_given() {
    let long = format!("x = \"{}\"\n", "long ".repeat(20));
    let files = [("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E501\"]\n"), ("a.py", long.as_str())];
    let stage = stage("ruff", &files);
    let fix =
        |title: Option<&str>| json!({"kind": "quickfix", "rule": "E501", "title": title, "paths": ["a.py"]});
    let refused = stage.answer("fix", fix(None)).await;
    let why = refused["error"].to_string();
    assert!(
        why.contains("prefers no quick fix of E501") && why.contains("Disable for this line"),
        "{refused}"
    );
    assert_eq!(stage.project.read("a.py"), long, "nothing is silenced without asking");
    let made = stage.answer("fix", fix(Some("Ruff (E501): Disable"))).await;
    assert_eq!(changed(&made), ["a.py"], "{made}");
    assert!(stage.project.read("a.py").ends_with("# noqa: E501\n"), "{}", stage.project.read("a.py"));
    stage.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fix_of_what_no_server_can_fix_is_refused_with_advice() {
    let stage = stage("ruff", &[("pyproject.toml", ""), ("a.py", A), ("notes/plain.txt", "x\n")]);
    for (arguments, code, what) in [
        (json!({"kind": "quickfix", "paths": ["a.py"]}), "invalid_args", "requires the `rule`"),
        (
            json!({"kind": "refactor", "paths": ["a.py"]}),
            "invalid_args",
            "not a kind of action for a whole file",
        ),
        (
            json!({"kind": "source.fixAll", "paths": ["notes"]}),
            "invalid_args",
            "no file that an installed server",
        ),
        (json!({"kind": "source.fixAll", "paths": []}), "invalid_args", "names no file"),
        (json!({"kind": "source.fixAll", "paths": ["none.py"]}), "not_found", "none.py"),
        (json!({"kind": "source.fixAll", "paths": ["../x.py"]}), "outside_workspace", "outside"),
    ] {
        let answer = stage.answer("fix", arguments.clone()).await;
        assert_eq!(answer["code"], code, "{arguments}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(what)), "{arguments}: {answer}");
    }
    assert_eq!(stage.project.read("a.py"), A);
    stage.shutdown().await;
}
