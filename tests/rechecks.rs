//! Repeated checks and searches of a tree: nothing is repeated, and nothing is stale.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

/// The findings of a check, the symbols called `total` and the uses of it.
async fn answers(shop: &TestWorkspace) -> Vec<Value> {
    let check = shop.answer("lsp_diagnostics", json!({"paths": ["."]})).await;
    let symbols = shop.answer("lsp_symbols", json!({"query": "total"})).await;
    let uses = shop.answer("lsp_references", json!({"path": "shop/cart.py", "symbol": "total"})).await;
    let parts = |answer: &Value, names: &[&str]| {
        json!(names.iter().map(|name| answer[*name].clone()).collect::<Vec<Value>>())
    };
    vec![
        parts(&check, &["diagnostics", "count", "verdict", "incomplete", "files"]),
        parts(&symbols, &["symbols", "verdict", "notes"]),
        parts(&uses, &["locations", "count", "verdict", "notes", "error"]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn answers_after_each_change_are_those_of_a_fresh_runtime() {
    let cart = "def total(n: int) -> int:\n    return n\n";
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n"),
        (".gitignore", "*.log\n*_pb2.py\n"),
        ("made_pb2.py", "field: str = \"\"\n"),
        (
            "shop/late.py",
            "from fresh import late\nfrom made_pb2 import field\n\nw: str = field\nv: str = late\n",
        ),
        ("shop/__init__.py", ""),
        ("shop/cart.py", cart),
        ("shop/use.py", "from shop.cart import total\n\nx: int = total(3)\n"),
        ("shop/deep.py", "from shop.use import x\n\ny: str = str(x)\n"),
    ]);
    project.write_settings("");
    let warm = project.opening().servers(&["ty"]).open();
    let path = |name: &str| project.root().join(name);
    let write = |name: &str, text: &str| project.write(name, text);
    type Change<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let changes: Vec<Change<'_>> = vec![
        ("nothing", Box::new(|| {})),
        ("another type", Box::new(|| write("shop/cart.py", "def total(n: str) -> str:\n    return n\n"))),
        ("the old text", Box::new(|| write("shop/cart.py", cart))),
        (
            "a file of the same length",
            Box::new(|| write("shop/deep.py", "from shop.use import x\n\ny: int = str(x)\n")),
        ),
        ("another type in an ignored source", Box::new(|| write("made_pb2.py", "field: int = 1\n"))),
        ("a new folder", Box::new(|| std::fs::create_dir(path("fresh")).unwrap())),
        ("a new package", Box::new(|| write("fresh/__init__.py", "late = 1\n"))),
        ("another name of it", Box::new(|| std::fs::rename(path("fresh"), path("stale")).unwrap())),
        ("a new user", Box::new(|| write("shop/more.py", "from shop.cart import total\n\ntotal(\"a\")\n"))),
        (
            "a file put in the place of another",
            Box::new(|| {
                write("shop/next.py", "from shop.cart import total\n\ntotal(1)\n");
                std::fs::rename(path("shop/next.py"), path("shop/more.py")).unwrap();
            }),
        ),
        ("a rename", Box::new(|| std::fs::rename(path("shop/cart.py"), path("shop/basket.py")).unwrap())),
        (
            "the rename back",
            Box::new(|| std::fs::rename(path("shop/basket.py"), path("shop/cart.py")).unwrap()),
        ),
        ("a folder", Box::new(|| write("other/part.py", "def total() -> None: ...\n\nz: int = \"\"\n"))),
        ("an ignored folder", Box::new(|| write(".gitignore", "*.log\n*_pb2.py\nother/\n"))),
        ("the folder again", Box::new(|| write(".gitignore", "*.log\n*_pb2.py\n"))),
        ("settings", Box::new(|| write("ty.toml", "[rules]\ninvalid-assignment = \"ignore\"\n"))),
        ("no settings", Box::new(|| std::fs::remove_file(path("ty.toml")).unwrap())),
        ("a deleted file", Box::new(|| std::fs::remove_file(path("shop/use.py")).unwrap())),
        ("a deleted folder", Box::new(|| std::fs::remove_dir_all(path("other")).unwrap())),
    ];
    answers(&warm).await;
    for (what, change) in &changes {
        change();
        let known = answers(&warm).await;
        let fresh = project.opening().servers(&["ty"]).open();
        let expected = answers(&fresh).await;
        fresh.shutdown().await;
        assert_eq!(known, expected, "after {what}");
        assert_eq!(answers(&warm).await, expected, "asked again after {what}");
    }
    warm.shutdown().await;
}

/// Waits until the files of `project` are older than a tick of any file system's clock: younger
/// ones may have changed since they were read.
fn wait_for_older_files(project: &Project) {
    const LONGER_THAN_TICK: Duration = Duration::from_millis(25);
    let written =
        std::fs::metadata(project.path("c.toml")).and_then(|file| file.modified()).expect("the last file");
    while written.elapsed().is_ok_and(|age| age < LONGER_THAN_TICK) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The numbers of requests for findings in three checks, the last one after `change`, of a server
/// with `table`.
async fn requests(table: &str, change: impl Fn(&Project)) -> [usize; 3] {
    let files = [("a.scr", "let a = 1\n"), ("b.scr", "let b = 1\n"), ("notes.zig", "x\n"), ("c.toml", "")];
    let project = Project::scripted(&json!({"behaves": true, "diagnostics": {"mode": "pull"}}), table, files);
    wait_for_older_files(&project);
    let shop = project.opening().servers(&[]).open();
    let mut counts = Vec::new();
    for round in 0..3 {
        if round == 2 {
            change(&project);
        }
        shop.ok("lsp_diagnostics", json!({"paths": ["a.scr", "b.scr"]})).await;
        counts.push(project.log().count("textDocument/diagnostic"));
    }
    shop.shutdown().await;
    [counts[0], counts[1] - counts[0], counts[2] - counts[1]]
}

#[tokio::test(flavor = "multi_thread")]
async fn second_check_asks_nothing_and_a_change_asks_where_it_may_matter() {
    let asked = "diagnostics = {source = \"pull\"}";
    let any = "diagnostics = {source = \"pull\", keeps-findings = true}";
    let own = "diagnostics = {source = \"pull\", own-text = true}";
    let text = |project: &Project| project.write("a.scr", "let a = 22\n");
    let settings = |project: &Project| project.write("c.toml", "x = 1\n");
    let foreign = |project: &Project| project.write("notes.zig", "y\n");
    assert_eq!(requests(asked, text).await, [2, 2, 2], "it may look at the disk itself");
    assert_eq!(requests(any, text).await, [2, 0, 2]);
    assert_eq!(requests(own, text).await, [2, 0, 1], "the other file does not depend on it");
    assert_eq!(requests(any, settings).await, [2, 0, 2], "it may be about the server");
    assert_eq!(requests(own, settings).await, [2, 0, 0]);
    assert_eq!(requests(any, foreign).await, [2, 0, 0], "code of another language");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_a_check_are_opened_in_batches_ahead_of_the_requests() {
    let names: Vec<String> = (10..30).map(|number| format!("{number}.scr")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "let a = 1\n")).collect();
    let script = json!({"behaves": true, "diagnostics": {"mode": "pull"}});
    let project = Project::scripted(&script, "diagnostics = {source = \"pull\"}", files);
    project.write_settings("[servers]\nmax-open-documents = 32\n");
    let shop = project.opening().servers(&[]).open();
    shop.ok("lsp_diagnostics", json!({"paths": ["."]})).await;
    let methods: Vec<String> = project
        .log()
        .messages()
        .iter()
        .filter_map(|message| message["method"].as_str()?.strip_prefix("textDocument/").map(str::to_owned))
        .collect();
    let runs: Vec<(&str, usize)> =
        methods.chunk_by(|a, b| a == b).map(|run| (run[0].as_str(), run.len())).collect();
    // The first checks start the server.
    let batches = [("didOpen", 8), ("diagnostic", 8), ("didOpen", 4), ("diagnostic", 4)];
    assert!(runs.ends_with(&batches), "{runs:?}");
    shop.shutdown().await;
}
