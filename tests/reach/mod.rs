//! Tests that reach a change, on real servers: `lsp_tests` and the command `tests`, with paths,
//! runners' commands and `--run`.

mod command;
mod python;
mod typescript;

use serde_json::{Value, json};

use crate::changes::Repository;

/// The answer about the changes since the last commit.
async fn since_head(repository: &Repository) -> Value {
    repository.answer("lsp_tests", json!({"against": "HEAD"})).await
}

/// `kind path::name ← way` of each test, in the order of the answer.
fn tests(answer: &Value) -> Vec<String> {
    let groups = answer["tests"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let words = |value: &Value| -> Vec<String> {
        let words = value.as_array().into_iter().flatten();
        words.map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
    };
    let mut found = Vec::new();
    for group in groups {
        let way: String = words(&group["way"]).iter().map(|link| format!(" ← {link}")).collect();
        let how = group["how"].as_str().unwrap_or_default();
        for file in group["files"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().unwrap_or_default();
            let names = words(&file["names"]);
            let whole = names.is_empty().then(String::new);
            let names = names.iter().map(|name| format!("::{name}"));
            found.extend(names.chain(whole).map(|name| format!("{how} {path}{name}{way}")));
        }
    }
    found
}

/// The commands that run them.
fn commands(answer: &Value) -> Vec<&str> {
    answer["runs"].as_array().into_iter().flatten().filter_map(|run| run["command"].as_str()).collect()
}
