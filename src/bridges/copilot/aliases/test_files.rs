//! `find_test_files`: our tool of that name, with its answer as text.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::format;
use crate::policy::request::Effect;
use crate::tools::files::find_test_files::{
    FindTestFilesArgs, FindTestFilesOutput, RelatedTestFiles, TestRelation,
};

/// The alias `find_test_files`.
pub(super) struct FindTestFiles;

impl AliasAdapter for FindTestFiles {
    type Args = FindTestFilesArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "find_test_files",
        title: "Find tests",
        description: "The tests of a source file, or the source of a test, by the language's naming conventions, nearest first.",
        effect: Effect::Read,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool for it",
        uses: &["find_test_files"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: FindTestFilesArgs) -> Result<AliasAnswer, AliasError> {
        let args = FindTestFilesArgs { file_paths: context.plain_paths(&args.file_paths)? };
        let got = context.call("find_test_files", json!(args)).await?;
        Ok(AliasAnswer::done(got.text(|answer| format_files(context, answer))))
    }
}

fn format_files(context: &AliasContext<'_>, answer: &Value) -> Option<String> {
    let mut out = String::new();
    for file in FindTestFilesOutput::deserialize(answer).ok()?.files {
        format_file(context, &file, &mut out);
    }
    Some(format::trim_line_ends(out))
}

fn format_file(context: &AliasContext<'_>, file: &RelatedTestFiles, out: &mut String) {
    let path = &file.path;
    let what = match file.kind {
        TestRelation::Source => "tests of",
        TestRelation::Test => "tested by",
        TestRelation::Unknown => {
            let _ = writeln!(out, "{path}: no naming convention for tests is known");
            return;
        }
    };
    let _ = writeln!(out, "{what} {path}:");
    if !file.names.is_empty() {
        let _ = writeln!(out, "  none by the names {}", format_names(&file.names));
    }
    for path in &file.related {
        let _ = writeln!(out, "  {}", context.display_path(path));
    }
    if let Some(line) = file.inline_tests_line {
        let _ = writeln!(out, "  in the file itself, from line {line} on");
    }
}

/// The first few of the searched names.
fn format_names(names: &[String]) -> String {
    let some: Vec<&str> = names.iter().take(4).map(String::as_str).collect();
    let more = if names.len() > some.len() { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}
