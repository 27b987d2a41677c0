//! `edit_symbol` on real servers and without one: body, neighbours, refused and allowed deletion, dry run, undo.

use crate::support::{Project, agent, real_servers};
use lsp_tools::{CallRequest, Caller, Runtime};
use serde_json::{Value, json};

/// A small project in one language: `helper` is called by `total`, and nobody calls `spare`.
pub struct Language {
    pub server: Option<&'static str>,
    pub files: &'static [(&'static str, &'static str)],
    pub file: &'static str,
    /// How `total` is named, a new body of it, and its new return value in the text.
    pub symbol: &'static str,
    pub body: &'static str,
    pub after_body: &'static str,
    /// A function beside `total`.
    pub neighbour: &'static str,
    /// `total` and the neighbour as they then stand, one after the other.
    pub together: &'static str,
    /// A text that only `spare` has.
    pub spare: &'static str,
}

const PYTHON: Language = Language {
    server: Some("pyright"),
    files: &[
        ("pyproject.toml", "[tool.pyright]\n"),
        (
            "shop/cart.py",
            "import functools\n\n\nclass Cart:\n    @functools.cache\n    def total(self) -> int:\n        return helper(1)\n\n    \
             def spare(self) -> int:\n        return 99\n\n\ndef helper(n: int) -> int:\n    return n\n",
        ),
    ],
    file: "shop/cart.py",
    symbol: "Cart.total",
    body: "def total(self) -> int:\n    return helper(2)\n",
    after_body: "    @functools.cache\n    def total(self) -> int:\n        return helper(2)\n\n    def spare",
    neighbour: "def count(self) -> int:\n    return 3",
    together: "return helper(2)\n\n    def count(self) -> int:\n        return 3\n\n    def spare",
    spare: "99",
};

const TYPESCRIPT: Language = Language {
    server: Some("typescript-language-server"),
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        (
            "src/cart.ts",
            "export class Cart {\n  total(): number {\n    return helper(1);\n  }\n\n  /** Nobody calls it. */\n  spare(): number {\n    \
             return 99;\n  }\n}\n\nexport function helper(n: number): number {\n  return n;\n}\n",
        ),
    ],
    file: "src/cart.ts",
    symbol: "Cart.total",
    body: "total(): number {\n  return helper(2);\n}",
    after_body: "{\n  total(): number {\n    return helper(2);\n  }\n\n  /** Nobody",
    neighbour: "count(): number {\n  return 3;\n}",
    together: "return helper(2);\n  }\n\n  count(): number {\n    return 3;\n  }\n\n  /** Nobody",
    spare: "Nobody calls it",
};

const C: Language = Language {
    server: Some("clangd"),
    files: &[(
        "cart.c",
        "static int helper(int n) {\n  return n;\n}\n\nint total(void) {\n  return helper(1);\n}\n\n// Nobody calls it.\nint \
         spare(void) {\n  return 99;\n}\n",
    )],
    file: "cart.c",
    symbol: "total",
    body: "int total(void) {\n  return helper(2);\n}\n",
    after_body: "\n\nint total(void) {\n  return helper(2);\n}\n\n// Nobody",
    neighbour: "int count(void) {\n  return 3;\n}",
    together: "return helper(2);\n}\n\nint count(void) {\n  return 3;\n}\n\n// Nobody",
    spare: "Nobody calls it",
};

const SHELL: Language = Language {
    server: Some("bash-language-server"),
    files: &[(
        "cart.sh",
        "#!/bin/bash\n\nhelper() {\n  echo \"$1\"\n}\n\ntotal() {\n  helper 1\n}\n\nspare() {\n  echo 99\n}\n\ntotal\n",
    )],
    file: "cart.sh",
    symbol: "total",
    body: "total() {\n  helper 2\n}\n",
    after_body: "\n\ntotal() {\n  helper 2\n}\n\nspare",
    neighbour: "count() {\n  echo 3\n}",
    together: "helper 2\n}\n\ncount() {\n  echo 3\n}\n\nspare",
    spare: "99",
};

const USE_OF_BOTH: &str = "from a import A, B\n\n\ndef g(x: A | B) -> int:\n    return x.f()\n";

pub struct Shop {
    project: Project,
    runtime: Runtime,
}

impl Shop {
    pub fn open(language: &Language) -> Self {
        let project = Project::new(language.files.iter().copied());
        let prefix = language.server.map(|server| real_servers(&[server]));
        if let (Some(server), Some(prefix)) = (language.server, &prefix) {
            project.trust_for(server, prefix);
        }
        let runtime = agent::open(&project, prefix.as_deref());
        Self { project, runtime }
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        let caller = Caller::at_shell();
        self.runtime.call(CallRequest::new(name, arguments, &caller)).await.value
    }

    async fn edit(&self, file: &str, symbol: &str, edit: Value) -> Value {
        let mut arguments = json!({"path": file, "symbol": symbol});
        arguments.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        self.call("edit_symbol", arguments).await
    }
}

/// The contract of the tool, in one language.
pub async fn keeps_contract(language: &Language) {
    let shop = Shop::open(language);
    let Language { file, symbol, .. } = *language;
    let read = || shop.project.read(file);
    let original = read();

    let tried = shop.edit(file, symbol, json!({"body": language.body, "dry_run": true})).await;
    assert_eq!((&tried["ok"], &tried["operation"]), (&json!(true), &json!("modified")), "{tried}");
    assert_eq!(read(), original, "a dry run changes nothing");

    let replaced = shop.edit(file, symbol, json!({"body": language.body})).await;
    assert_eq!(replaced["ok"], true, "{replaced}");
    assert!(read().contains(language.after_body), "{file}:\n{}", read());

    let added = shop.edit(file, symbol, json!({"after": language.neighbour})).await;
    assert_eq!(added["ok"], true, "{added}");
    assert!(read().contains(language.together), "{file}:\n{}", read());
    let before = read();

    let used = shop.edit(file, "helper", json!({"delete": true})).await;
    assert_eq!((&used["ok"], &used["code"]), (&json!(false), &json!("conflict")), "{used}");
    assert!(used["error"].as_str().is_some_and(|error| error.contains("is used once: ")), "{used}");
    assert_eq!(used["locations"][0]["path"], file, "the uses are the answer: {used}");
    assert_eq!(read(), before, "what is used stays");

    let spare = symbol.replace("total", "spare");
    let deleted = shop.edit(file, &spare, json!({"delete": true})).await;
    assert_eq!(deleted["ok"], true, "{deleted}");
    let text = read();
    assert!(!text.contains(language.spare) && !text.contains("\n\n\n\n"), "{file}:\n{text}");

    for _ in 0..3 {
        let undone = shop.call("undo", json!({})).await;
        assert_eq!(undone["ok"], true, "{undone}");
    }
    assert_eq!(read(), original);
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_symbols_are_edited_with_pyright() {
    keeps_contract(&PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_symbols_are_edited_with_its_server() {
    keeps_contract(&TYPESCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c_symbols_are_edited_with_clangd() {
    keeps_contract(&C).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_symbols_are_edited_with_bash_language_server() {
    keeps_contract(&SHELL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_are_edited_by_the_syntax_tree_without_server() {
    for language in [PYTHON, TYPESCRIPT, SHELL] {
        keeps_contract(&Language { server: None, ..language }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_symbol_refuses_two_edits_at_once_and_unknown_symbols() {
    let shop = Shop::open(&Language { server: None, ..PYTHON });
    let both = shop.edit("shop/cart.py", "Cart.total", json!({"body": "x", "delete": true})).await;
    assert_eq!((&both["ok"], &both["code"]), (&json!(false), &json!("invalid_args")), "{both}");
    let unknown = shop.edit("shop/cart.py", "Cart.nothing", json!({"body": "x"})).await;
    assert_eq!((&unknown["ok"], &unknown["code"]), (&json!(false), &json!("not_found")), "{unknown}");
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_definitions_is_edited_only_where_it_is_named() {
    let stub = "class A:\n    def f(self) -> int:\n        return 1\n\n\nclass B:\n    def f(self) -> int:\n        return 2\n";
    let project = [("pyproject.toml", "[tool.pyright]\n"), ("a.py", stub), ("b.py", USE_OF_BOTH)];
    let shop = Shop::open(&Language { server: Some("pyright"), files: &[], ..PYTHON });
    for (path, text) in project {
        shop.project.write(path, text);
    }
    let at_use =
        json!({"path": "b.py", "line": 4, "symbol": "f", "body": "def f(self) -> int:\n    return 3"});
    let refused = shop.call("edit_symbol", at_use).await;
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("invalid_args")), "{refused}");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("a.py:2:9, a.py:7:9")), "{refused}");
    let at_one =
        json!({"path": "a.py", "line": 6, "symbol": "f", "body": "def f(self) -> int:\n    return 3"});
    let edited = shop.call("edit_symbol", at_one).await;
    assert_eq!(edited["ok"], true, "{edited}");
    assert_eq!(shop.project.read("a.py"), stub.replace("return 2", "return 3"));
    shop.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_symbol_reports_what_its_new_signature_breaks() {
    let shop = Shop::open(&PYTHON);
    let body = "def helper(n: int, m: int) -> int:\n    return n + m";
    let changed = shop.edit("shop/cart.py", "helper", json!({"body": body, "diagnostics": true})).await;
    assert_eq!(changed["ok"], true, "{changed}");
    let added = changed["diagnostics"]["added"].to_string();
    assert!(added.contains("Argument missing for parameter \\\"m\\\""), "{changed}");
    shop.runtime.shutdown().await;
}
