//! `run_tests`: our tool of that name, with its answer as text.

use std::fmt::Write;

use serde_json::json;

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::format;
use super::terminal::command_answer;
use crate::policy::request::Effect;
use crate::tools::shell::run_tests::RunTestsArgs;

/// The alias `run_tests`.
pub(super) struct RunTests;

impl AliasAdapter for RunTests {
    type Args = RunTestsArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "run_tests",
        title: "Run tests",
        description: "Runs the project's tests by the command that its own files name (Cargo.toml, package.json, pyproject.toml, \
                      go.mod, Makefile and others), and answers which command that was, its output and its exit code.",
        effect: Effect::Execute,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool for it",
        uses: &["run_tests"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, mut args: RunTestsArgs) -> Result<AliasAnswer, AliasError> {
        args.files = args.files.as_deref().map(|files| context.plain_paths(files)).transpose()?;
        let result = context.call_tool("run_tests", json!(args)).await;
        let mut head = String::new();
        if let (None, Some(why)) = (&result.text, result.value["why"].as_str()) {
            let _ = writeln!(head, "$ {}\n({why})", format::text_field(&result.value, "command"));
            format::notes(&result.value, &mut head);
        }
        let answer = command_answer(context, &result)?;
        Ok(AliasAnswer { text: format!("{head}{}", answer.text), ..answer })
    }
}
