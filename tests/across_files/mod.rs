//! The effect of a change in one file on the answers about another file.
//!
//! A project has a library and a user of it. Steps change files as editors, shells and version
//! control do ([`steps`]), and each following answer is compared with the truth: the errors of the
//! user, and the definition that it calls. An answer may be cautious (`partial`, no data); a
//! `complete` one must be right.
//!
//! The five servers of `cargo test` are one test each. `just across-files` takes every server of
//! [`languages`]; `just across-files NAME` one.

mod languages;
mod report;
mod steps;

use crate::support::{Project, real_servers};
use languages::{Language, all, named};
use report::Report;

/// Runs all steps in a project of `language`.
async fn walk(language: &Language) -> Report<'_> {
    let project = Project::new(language.files());
    let keys = language.keys.iter().map(|key| format!("{key} = [\"{}\"]\n", language.server));
    let settings = format!("[prefer]\n{}", keys.collect::<String>());
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project.trust_for(language.server, &real_servers(&[language.server]));
    let mut report = Report::of(language);
    let workspace = project.opening().servers(&[language.server]).open();
    for step in steps::all(language) {
        (step.change)(&workspace, language).await;
        report.judge(&workspace, &step).await;
    }
    workspace.shutdown().await;
    // For a file that changes while the server starts, a request after the change is about the new
    // text.
    let workspace = project.opening().servers(&[language.server]).open();
    let early = workspace.ok("lsp_diagnostics", serde_json::json!({ "path": language.user }));
    let change = async { steps::break_user(&project, language) };
    futures::future::join(early, change).await;
    report.judge(&workspace, &steps::broken_while_it_starts()).await;
    workspace.shutdown().await;
    report
}

async fn must_hold(server: &str) {
    let report = walk(named(server)).await;
    println!("{report}");
    assert!(report.wrong.is_empty(), "{report}");
    // Answers that are only cautious are useless.
    assert!(report.cautious.len() * 20 <= report.answers, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_language_server_other_file_changed_answer_is_correct() {
    must_hold("typescript-language-server").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pyright_other_file_changed_answer_is_correct() {
    must_hold("pyright").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ty_other_file_changed_answer_is_correct() {
    must_hold("ty").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_other_file_changed_answer_is_correct() {
    must_hold("clangd").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pylsp_other_file_changed_answer_is_correct() {
    must_hold("pylsp").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs every server of the list; `just across-files`"]
async fn every_server_other_file_changed_answer_is_correct() {
    let one = std::env::var("ACROSS_FILES").unwrap_or_default();
    let mut wrong = Vec::new();
    for language in all().iter().filter(|language| one.is_empty() || language.server == one) {
        let report = walk(language).await;
        println!("{report}");
        wrong.extend(report.wrong.iter().map(|what| format!("{}: {what}", language.server)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
