//! An answer and its verdict depend on the question, the tree and the settings, and not on earlier
//! questions.

use lsp_tools::{Target, Verdict};
use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

/// A tool and its arguments.
type Question = (&'static str, Value);

/// A server, a fixture of its language, and questions about it. pyright and clangd get no
/// completion requests, since completions include names of the files read so far.
fn subjects() -> Vec<(&'static str, &'static str, Vec<Question>)> {
    let completion = ("lsp_completion", json!({"path": "greet/app.py", "line": 8, "character": 14}));
    let python = || {
        vec![
            ("lsp_hover", json!({"path": "greet/app.py", "line": 8, "symbol": "compose"})),
            ("lsp_definition", json!({"path": "greet/app.py", "line": 8, "symbol": "compose"})),
            ("lsp_references", json!({"path": "greet/messages.py", "symbol": "compose"})),
            ("lsp_symbols", json!({"path": "greet/people.py"})),
        ]
    };
    let c = vec![
        ("lsp_definition", json!({"path": "src/main.c", "line": 8, "symbol": "queue_pop"})),
        ("lsp_references", json!({"path": "include/queue.h", "symbol": "queue_push"})),
        ("lsp_symbols", json!({"path": "src/queue.c"})),
    ];
    let typescript = vec![
        ("lsp_hover", json!({"path": "src/money.ts", "symbol": "add"})),
        ("lsp_definition", json!({"path": "src/money.ts", "symbol": "add"})),
        ("lsp_references", json!({"path": "src/money.ts", "symbol": "add"})),
        ("lsp_symbols", json!({"path": "src/money.ts"})),
    ];
    vec![
        ("ty", "python", [vec![completion], python()].concat()),
        ("pyright", "python", python()),
        ("typescript-language-server", "typescript", typescript),
        ("clangd", "c", c),
    ]
}

/// The answer without the state of the server, which depends on its past.
async fn ask(workspace: &TestWorkspace, (tool, arguments): &Question) -> Value {
    let mut answer = workspace.ok(tool, arguments.clone()).await;
    answer.as_object_mut().expect("an object").remove("server_status");
    answer
}

/// Puts the questions in a fresh runtime, again after a check, and in another order in another
/// fresh runtime.
async fn compare(server: &str, fixture: &str, questions: Vec<Question>) {
    let project = Project::of_fixture(fixture);
    let workspace = project.opening().servers(&[server]).open();
    let mut first = Vec::new();
    for question in &questions {
        first.push(ask(&workspace, question).await);
    }
    workspace.ok("lsp_diagnostics", json!({"paths": ["."]})).await;
    for (question, known) in questions.iter().zip(&first).rev() {
        assert_eq!(&ask(&workspace, question).await, known, "{server} {question:?}, after a check");
    }
    workspace.runtime.shutdown().await;
    let workspace = project.opening().servers(&[server]).open();
    for (question, known) in questions.iter().zip(&first).rev() {
        assert_eq!(&ask(&workspace, question).await, known, "{server} {question:?}, in another order");
    }
    workspace.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_verdict_whatever_was_asked_before() {
    let all = subjects().into_iter().map(|(server, fixture, questions)| compare(server, fixture, questions));
    futures::future::join_all(all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_references_of_ty_are_complete_though_the_name_stands_elsewhere() {
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n"),
        ("query.py", "class Query:\n    def narrow(self) -> int:\n        return 1\n"),
        ("use.py", "from query import Query\n\nprint(Query().narrow())\n"),
        ("other.py", "def run(anything):\n    return anything.narrow()\n"),
    ]);
    let runtime = project.opening().servers(&["ty"]).open();
    let target = || Target::NameInFile { path: "query.py".into(), name: "Query.narrow".to_owned() };
    let first = runtime.references(target(), 100).await.expect("references");
    assert_eq!((first.verdict, first.output.count), (Verdict::Complete, 2), "{first:?}");
    assert!(first.notes.iter().any(|note| note.contains("other.py")), "{first:?}");
    runtime.diagnose(vec![".".into()], None, 100).await.expect("a check");
    let later = runtime.references(target(), 100).await.expect("references");
    assert_eq!((later.verdict, later.output.count, &later.notes), (first.verdict, 2, &first.notes));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_completion_of_clangd_knows_the_headers() {
    let text = "#include <string.h>\nstruct cart { int total; };\nint main(void) {\n  struct cart cart_one = {0};\n  \
                cart_one.total = 1;\n  return 0;\n}\n";
    let project = Project::new([("compile_flags.txt", ""), ("main.c", text)]);
    let runtime = project.opening().servers(&["clangd"]).open();
    let answer = runtime
        .completion(Target::Position { path: "main.c".into(), position: lsp_tools::Position::new(4, 11) }, 20)
        .await
        .expect("completions");
    let kinds: Vec<_> = answer.output.items.iter().filter_map(|item| item.kind.as_deref()).collect();
    assert!(kinds.contains(&"field"), "{answer:?}");
    assert!(!kinds.contains(&"text"), "{answer:?}");
    runtime.shutdown().await;
}
