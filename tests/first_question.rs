//! The first question after a cold start has the same answer as a later one, or its verdict says
//! otherwise.

use lsp_tools::answer::LocationsOutput;
use lsp_tools::{Answer, Runtime, Target, ToolError, Verdict};

use crate::support::{Project, real_servers};
use serde_json::{Value, json};

/// A server, a fixture of its language, and a function and an abstract type with uses in other
/// files.
const SUBJECTS: [(&str, &str, [&str; 2], [&str; 2]); 14] = [
    ("pylsp", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("jedi-language-server", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("pyright", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("basedpyright", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("ty", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("pyrefly", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("zuban", "python", ["greet/messages.py", "compose"], ["greet/people.py", "Person"]),
    ("typescript-language-server", "typescript", ["src/money.ts", "add"], ["src/money.ts", "Priced"]),
    ("vtsls", "typescript", ["src/money.ts", "add"], ["src/money.ts", "Priced"]),
    ("tsc", "typescript", ["src/money.ts", "add"], ["src/money.ts", "Priced"]),
    ("clangd", "c", ["include/queue.h", "queue_push"], ["include/queue.h", "queue_push"]),
    ("bash-language-server", "shell", ["lib/log.sh", "log_line"], ["lib/log.sh", "log_line"]),
    ("gopls", "go", ["station/station.go", "Mean"], ["station/station.go", "Sensor"]),
    ("jdtls", "java", ["src/station/Means.java", "mean"], ["src/station/Sensor.java", "Sensor"]),
];

/// The servers for `cargo test`.
const USUAL: [&str; 6] =
    ["pylsp", "pyright", "basedpyright", "typescript-language-server", "clangd", "bash-language-server"];

/// The question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The position of a use of the function in the file.
    References,
    /// The position of the function's definition, given by name only.
    DefinitionByName,
}

async fn ask(
    runtime: &Runtime,
    question: Question,
    path: &str,
    name: &str,
) -> Result<Answer<LocationsOutput>, ToolError> {
    let target = Target::NameInFile { path: path.into(), name: name.to_owned() };
    match question {
        Question::References => runtime.references(target, 100).await,
        Question::DefinitionByName => runtime.definition(Target::Name(name.to_owned())).await,
    }
}

/// The positions in an answer, or its error.
fn places(answer: &Result<Answer<LocationsOutput>, ToolError>) -> Result<Vec<(String, u32, u32)>, String> {
    let answer = answer.as_ref().map_err(|error| error.error.clone())?;
    let place = |place: &lsp_tools::internals::analysis::Place| {
        (place.path.clone(), place.range.start.line, place.range.start.character)
    };
    Ok(answer.output.locations.iter().map(place).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn first_answer_after_cold_start_equals_later_or_is_not_complete() {
    let mut cautious = Vec::new();
    for (server, fixture, [path, name], _) in
        SUBJECTS.into_iter().filter(|(server, ..)| USUAL.contains(server))
    {
        for question in [Question::References, Question::DefinitionByName] {
            let project = Project::of_fixture(fixture);
            let runtime = project.opening().servers(&[server]).finding_supervisor().open();
            let first = ask(&runtime, question, path, name).await;
            runtime.diagnose(vec![path.into()], None, 100).await.expect("a check");
            let later = ask(&runtime, question, path, name).await;
            runtime.shutdown().await;
            let what = format!("{server} {question:?}");
            let warm = later.as_ref().unwrap_or_else(|error| panic!("{what}: {error:?}"));
            assert!(!warm.output.locations.is_empty(), "{what}: {warm:?}");
            match first.as_ref().map(|answer| answer.verdict) {
                Ok(Verdict::Complete) => assert_eq!(places(&first), places(&later), "{what}"),
                Ok(_) => cautious.push(what),
                Err(error) => panic!("{what}: {error:?}"),
            }
        }
    }
    // A cautious verdict is acceptable only if the server has no readiness signal.
    let signs = ["pyright ", "basedpyright ", "typescript-language-server ", "clangd "];
    let wrong: Vec<&String> =
        cautious.iter().filter(|what| signs.iter().any(|sign| what.starts_with(sign))).collect();
    assert!(wrong.is_empty(), "their first answers could have been complete: {wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_server_name_in_file_resolves_to_its_definition() {
    let session = "\"\"\"A Session, and how it is closed.\"\"\"\nfrom other import close\n\n\nclass Pool:\n    \
                   def close(self): ...\n\n\nclass Session:\n    def close(self):\n        \
                   close(\"Session\")  # Session\n";
    let project = Project::new([("session.py", session), ("other.py", "def close(what): ...\n")]);
    let runtime = project.opening().finding_supervisor().open();
    let named = |name: &str| Target::NameInFile { path: "session.py".into(), name: name.to_owned() };
    for (name, line) in [("Session", 9), ("Session.close", 10), ("Pool.close", 6)] {
        let answer = runtime.definition(named(name)).await.expect("an answer");
        let places = answer.output.locations.iter().map(|place| place.range.start.line + 1);
        assert_eq!(places.collect::<Vec<_>>(), [line], "{name}: {answer:?}");
    }
    let error = runtime.definition(named("close")).await.expect_err("two methods");
    let both = "matches 2 symbols in session.py: session.py:6:9 (method Pool.close), session.py:10:9 (method Session.close)";
    assert!(error.error.contains(both), "{error:?}");
    let error = runtime.definition(named("Session.open")).await.expect_err("no method");
    assert!(error.error.contains("session.py defines no `Session.open`"), "{error:?}");
    runtime.shutdown().await;
}

/// A tool, and whether the question is about the type instead of the function.
const TOOLS: [(&str, bool); 9] = [
    ("lsp_references", false),
    ("lsp_references", true),
    ("lsp_definition", false),
    ("lsp_symbols", false),
    ("lsp_symbols", true),
    ("lsp_implementation", true),
    ("lsp_calls", false),
    ("lsp_types", true),
    ("lsp_rename", false),
];

/// The findings of an answer, without details that differ between two right answers; `None` if the
/// server does not know.
fn findings(answer: &Value) -> Option<Value> {
    let state = answer["server_status"]["state"].as_str();
    if matches!(state, Some("unsupported" | "missing")) || answer["code"] == "unsupported" {
        return None;
    }
    let parts = ["locations", "symbols", "items", "files", "error"];
    let found = parts.iter().map(|part| ((*part).to_owned(), answer[*part].clone()));
    Some(found.filter(|(_, found)| !found.is_null()).collect::<serde_json::Map<_, _>>().into())
}

/// The number of answers, and of those called complete.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    answers: usize,
    complete: usize,
}

impl Shares {
    fn count(&mut self, is_complete: bool) {
        self.answers += 1;
        self.complete += usize::from(is_complete);
    }

    fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.complete += other.complete;
    }
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100 * self.complete / self.answers.max(1);
        write!(f, "{}, of which {} complete ({percent} %)", self.answers, self.complete)
    }
}

fn is_complete(answer: &Value) -> bool {
    answer["verdict"].as_str().is_none_or(|verdict| verdict == "complete")
}

async fn put(project: &Project, server: &str, tool: &str, arguments: &Value, warm: bool) -> Value {
    let runtime = project.opening().servers(&[server]).open();
    let asked = || runtime.call(tool, arguments.clone());
    let mut answer = asked().await.value;
    if warm {
        // A server that has had a minute and every file.
        runtime.diagnose(vec![".".into()], None, 100).await.expect("a check");
        asked().await;
        answer = asked().await.value;
    }
    runtime.shutdown().await;
    answer
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "hundreds of cold starts; `just first-question`"]
async fn every_server_first_answer_is_complete_only_if_right() {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let rounds = setting("FIRST_QUESTION_ROUNDS").parse().unwrap_or(10);
    let one = setting("FIRST_QUESTION");
    let mut wrong = Vec::new();
    let (mut cold_answers, mut warm_answers) = (Shares::default(), Shares::default());
    for (server, fixture, function, class) in SUBJECTS {
        if !one.is_empty() && one != server {
            continue;
        }
        let (mut cold, mut warm) = (Shares::default(), Shares::default());
        for (tool, of_class) in TOOLS {
            let [path, name] = if of_class { class } else { function };
            let arguments = match tool {
                "lsp_symbols" => json!({ "query": name }),
                "lsp_calls" => json!({ "path": path, "symbol": name, "direction": "incoming" }),
                "lsp_types" => json!({ "path": path, "symbol": name, "direction": "subtypes" }),
                "lsp_rename" => {
                    json!({ "path": path, "symbol": name, "new_name": "other_name", "dry_run": true, "diagnostics": false })
                }
                _ => json!({ "path": path, "symbol": name }),
            };
            let project = Project::of_fixture(fixture);
            // Untrusted, jdtls starts without a project.
            match server {
                "jdtls" => project.trust(Some(&real_servers(&[server]))),
                _ => project.trust_for(server, &real_servers(&[server])),
            }
            let later = put(&project, server, tool, &arguments, true).await;
            let Some(truth) = findings(&later) else {
                continue;
            };
            warm.count(is_complete(&later));
            if !is_complete(&later) {
                println!(
                    "  {server} {tool} {name}, warm: {} {}",
                    later["server_status"]["detail"], later["notes"]
                );
            }
            for _ in 0..rounds {
                let first = put(&project, server, tool, &arguments, false).await;
                let is_complete = is_complete(&first);
                if findings(&first).as_ref() == Some(&truth) {
                    cold.count(is_complete);
                }
                if !is_complete {
                    println!(
                        "  {server} {tool} {name}: {} {}",
                        first["server_status"]["detail"], first["notes"]
                    );
                }
                if is_complete && findings(&first).as_ref() != Some(&truth) {
                    wrong.push(format!(
                        "{server} {tool} {name}: {}, should be {truth}",
                        findings(&first).unwrap_or_default()
                    ));
                }
            }
        }
        println!("{server}: right first answers {cold}, right later ones {warm}");
        cold_answers.add(cold);
        warm_answers.add(warm);
    }
    println!(
        "all: right first answers {cold_answers}, right later ones {warm_answers}; {} falsely complete",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
