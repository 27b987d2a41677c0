//! Tests that reach a change, on real servers: `lsp_tests` and the command `tests`, with ways, runners' commands and `--run`.

mod command;
mod python;
mod typescript;

use serde_json::{Value, json};

use crate::changes::Repository;

/// The answer about what changed since the last commit.
async fn since_head(repository: &Repository) -> Value {
    repository.answer("lsp_tests", json!({"against": "HEAD"})).await
}

/// `kind path::name ← way` of each test, in the order of the answer.
fn tests(answer: &Value) -> Vec<String> {
    let items = answer["tests"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |item: &Value| {
        let mut text = format!(
            "{} {}",
            item["how"].as_str().unwrap_or_default(),
            item["path"].as_str().unwrap_or_default()
        );
        if let Some(name) = item["name"].as_str() {
            text.push_str(&format!("::{name}"));
        }
        for link in item["way"].as_array().into_iter().flatten() {
            text.push_str(&format!(" ← {}", link.as_str().unwrap_or_default()));
        }
        text
    };
    items.iter().map(text).collect()
}

/// The commands that run them.
fn commands(answer: &Value) -> Vec<&str> {
    answer["runs"].as_array().into_iter().flatten().filter_map(|run| run["command"].as_str()).collect()
}
