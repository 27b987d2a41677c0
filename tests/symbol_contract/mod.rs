//! The contract for every language server through tools that take symbol names: seventeen points,
//! in eight languages.

mod edits;
pub mod languages;
mod moves;
pub mod points;

use crate::support::{Project, TestWorkspace, real_servers};
use languages::{C, CPP, JAVASCRIPT, Language, PYTHON, SHELL, TYPESCRIPT};
use points::keeps_contract;
use serde_json::{Value, json};

/// The shop in `language` with its server, as from a shell.
pub fn open(language: &Language) -> TestWorkspace {
    let project = Project::new(language.files.iter().copied());
    if let Some(server) = language.server {
        project.trust_for(server, &real_servers(&[server]));
    }
    project.opening().servers(language.server.as_slice()).at_shell().open()
}

pub async fn edit_symbol(shop: &TestWorkspace, file: &str, symbol: &str, edit: Value) -> Value {
    let mut arguments = json!({"path": file, "symbol": symbol});
    arguments.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
    shop.answer("edit_symbol", arguments).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn python_symbols_keep_the_contract_with_pyright() {
    keeps_contract(&PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn typescript_symbols_keep_the_contract_with_its_server() {
    keeps_contract(&TYPESCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn javascript_symbols_keep_the_contract_with_typescripts_server() {
    keeps_contract(&JAVASCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c_symbols_keep_the_contract_with_clangd() {
    keeps_contract(&C).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cpp_symbols_keep_the_contract_with_clangd() {
    keeps_contract(&CPP).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn shell_symbols_keep_the_contract_with_bash_language_server() {
    keeps_contract(&SHELL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_keep_the_contract_by_the_syntax_tree_without_server() {
    // The syntax tree detects the syntax error in the shell's broken body; the other bodies only
    // use an unknown name.
    let no_types: &[&str] = &["referenced", "renamed", "breaks"];
    for (language, lacks) in [(PYTHON, no_types), (TYPESCRIPT, no_types), (SHELL, &no_types[..2])] {
        keeps_contract(&Language { server: None, lacks, ..language }).await;
    }
}
