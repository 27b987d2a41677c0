//! Code of other configurations: a server does not list uses in code that it does not compile, and
//! its answer says so.

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

/// The answer to a request at a 0-based position.
async fn ask(
    workspace: &TestWorkspace,
    tool: &str,
    path: &str,
    (line, character): (u32, u32),
    more: Value,
) -> Value {
    let mut arguments = json!({"path": path, "line": line, "character": character});
    if let (Some(arguments), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
        arguments.extend(more.clone());
    }
    workspace.ok(tool, arguments).await
}

/// Uses, callers and renames are `partial` and name `left_out`; those of `other` are `complete`.
pub async fn must_name(
    workspace: &TestWorkspace,
    (path, at): (&str, (u32, u32)),
    left_out: &[&str],
    other: (u32, u32),
) {
    let callers = json!({"direction": "incoming"});
    let rename = json!({"new_name": "renamed", "dry_run": true});
    for (tool, more) in [("lsp_references", json!({})), ("lsp_calls", callers), ("lsp_rename", rename)] {
        let answer = ask(workspace, tool, path, at, more.clone()).await;
        assert_eq!(verdict(&answer), "partial", "{tool}: {answer}");
        let notes = answer["notes"].to_string();
        assert!(notes.contains("skips in its configuration"), "{tool}: {answer}");
        // An answer names callers only by their function.
        let named = left_out.iter().all(|place| notes.contains(place));
        assert!(named || tool == "lsp_calls", "{tool}: {answer}");
        let answer = ask(workspace, tool, path, other, more).await;
        // For a rename the verdict also covers the diagnostics.
        let is_sure = verdict(&answer) == "complete" || tool == "lsp_rename";
        assert!(is_sure && !answer["notes"].to_string().contains("skips"), "{tool}: {answer}");
    }
}

/// A hover at `left_out` is not `complete`, and neither is an empty definition, since the server
/// skips that code. Those at `known` are.
pub async fn must_doubt_silence(
    workspace: &TestWorkspace,
    left_out: (&str, (u32, u32)),
    known: (&str, (u32, u32)),
) {
    for tool in ["lsp_hover", "lsp_definition"] {
        let answer = ask(workspace, tool, left_out.0, left_out.1, json!({})).await;
        // clangd also knows definitions by name.
        if tool == "lsp_hover" || answer["count"] == 0 {
            // Text search answers for a file that belongs to no crate.
            assert!(["partial", "hints"].iter().any(|it| verdict(&answer) == it), "{tool}: {answer}");
            let reason = answer["server_status"]["detail"].to_string();
            let is_known = reason.contains("is in conditional code") || reason.contains("no active `mod`");
            assert!(is_known, "{tool}: {answer}");
        }
        let answer = ask(workspace, tool, known.0, known.1, json!({})).await;
        assert_eq!(verdict(&answer), "complete", "{tool}: {answer}");
    }
}

/// The verdict of an answer; for an edit, the verdict of its diagnostics.
fn verdict(answer: &Value) -> &Value {
    if answer["verdict"].is_null() { &answer["diagnostics"]["verdict"] } else { &answer["verdict"] }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn c_uses_in_branches_that_clangd_does_not_compile_make_answers_partial() {
    let text = "#ifndef A_H\n#define A_H\nint tally(int x);\nint plain(int x);\n#endif\n";
    let project = Project::new([
        ("a.h", text),
        (
            "a.c",
            "#include \"a.h\"\nint tally(int x) { return x; }\nint plain(int x) { return x; }\n#ifdef SPECIAL\nint special(void) { \
             return tally(1); }\n#else\nint usual(void) { return tally(2) + plain(1); }\n#endif\n",
        ),
        (
            "b.c",
            "#include \"a.h\"\n#if defined(SPECIAL)\nint other(void) { return tally(3); }\n#endif\nint used(void) { return plain(2); }\n",
        ),
        ("compile_flags.txt", "-I.\n"),
    ]);
    let workspace = project.opening().servers(&["clangd"]).open();
    must_name(&workspace, ("a.c", (1, 5)), &["a.c:5", "b.c:3"], (2, 5)).await;
    must_doubt_silence(&workspace, ("b.c", (2, 26)), ("a.c", (6, 26))).await;
    workspace.shutdown().await;
}
