//! `find_test_files`: the tests of a source file, and the source of a test, by the conventions of its language.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::format;
use crate::hints::test_conventions::{TestFileKind, kind, nearness};
use crate::policy::request::Effect;

/// Files named for each one given.
const MAX_RELATED_TEST_FILES: usize = 10;
/// Files of these names that are looked at for the nearest ones.
const MAX_TEST_FILE_CANDIDATES: usize = 1_000;
/// What begins tests within a source, by extension.
const INLINE: &[(&str, &str)] =
    &[("rs", r"^\s*#\[(cfg\(test\)|test|tokio::test)"), ("zig", r#"^\s*test\s+(".*"\s*)?\{"#)];

/// The arguments of `find_test_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindTestFilesArgs {
    /// Absolute paths of sources or tests.
    #[schemars(length(min = 1, max = 20))]
    file_paths: Vec<String>,
}

/// The name.
pub(super) struct FindTestFiles;

impl AliasAdapter for FindTestFiles {
    type Args = FindTestFilesArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "find_test_files",
        title: "Find tests",
        description: "For a source file the files with its tests; for a test the file that it tests: by the naming conventions of \
                      the language, the nearest first.",
        effect: Effect::Read,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool for it",
        uses: &["glob", "grep"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: FindTestFilesArgs) -> Result<AliasAnswer, AliasError> {
        let mut out = String::new();
        for given in &args.file_paths {
            let (_, path) = context.path(given)?;
            let path = path.display();
            let parts: Vec<&str> = path.split('/').collect();
            let (what, names) = match kind(&parts) {
                TestFileKind::Source(names) => ("tests of", names),
                TestFileKind::Test(names) => ("tested by", names),
                TestFileKind::Unknown => {
                    let _ = writeln!(out, "{path}: no naming convention of tests is known for it");
                    continue;
                }
            };
            let _ = writeln!(out, "{what} {path}:");
            let found = nearest_named(context, &parts, &names).await?;
            let inline = inline_tests_line(context, &path).await?;
            if found.is_empty() && inline.is_none() {
                let _ = writeln!(out, "  none by the names {}", format_names(&names));
            }
            for path in found {
                let _ = writeln!(out, "  {}", context.display_path(&path));
            }
            if let Some(line) = inline {
                let _ = writeln!(out, "  in the file itself, from line {line} on");
            }
        }
        Ok(AliasAnswer::done(format::trim_line_ends(out)))
    }
}

/// The files with one of these names, the nearest first.
async fn nearest_named(
    context: &AliasContext<'_>,
    of: &[&str],
    names: &[String],
) -> Result<Vec<String>, AliasError> {
    let names: Vec<String> = names.iter().map(|name| globset::escape(name)).collect();
    let pattern = format!("**/{{{}}}", names.join(","));
    let got = context.call("glob", json!({"pattern": pattern, "limit": MAX_TEST_FILE_CANDIDATES})).await?;
    let own = of.join("/");
    let found = format::list_field(&got.value, "matches").into_iter().flatten().filter_map(Value::as_str);
    let mut found: Vec<String> = found.filter(|path| *path != own).map(str::to_owned).collect();
    let rank = |path: &String| {
        let parts: Vec<&str> = path.split('/').collect();
        (std::cmp::Reverse(nearness(of, &parts)), parts.len())
    };
    found.sort_by_cached_key(|path| (rank(path), path.clone()));
    found.truncate(MAX_RELATED_TEST_FILES);
    Ok(found)
}

/// The first line of tests that stand in the source itself, 1-based.
async fn inline_tests_line(context: &AliasContext<'_>, path: &str) -> Result<Option<u64>, AliasError> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let Some((_, pattern)) = INLINE.iter().find(|(of, _)| *of == extension) else { return Ok(None) };
    let shown = context.display_path(path);
    let arguments = json!({"pattern": pattern, "path": shown, "max_matches": 1, "semantic": false});
    let got = context.call("grep", arguments).await?;
    Ok(got.value.pointer("/matches/0/line").and_then(Value::as_u64))
}

/// The names that were looked for, a few of them.
fn format_names(names: &[String]) -> String {
    let some: Vec<&str> = names.iter().take(4).map(String::as_str).collect();
    let more = if names.len() > some.len() { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}
