//! Aliases that read: `read_file`, `list_dir`, `file_search`, `grep_search`.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::format;
use crate::policy::request::Effect;

/// The default number of lines that `read` returns.
const DEFAULT_READ_FILE_LINES: i64 = 200;
/// The default number of results.
const DEFAULT_SEARCH_RESULTS: i64 = 50;

const fn replacing(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    why: &'static str,
    uses: &'static [&'static str],
) -> AliasMetadata {
    AliasMetadata {
        name,
        title,
        description,
        effect: Effect::Read,
        class: AliasClass::Replaces,
        by_default: false,
        why,
        uses,
        written_by: WrittenBy::Model,
    }
}

/// The arguments of `read_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadFileArgs {
    /// Absolute path of the file.
    file_path: String,
    /// First line, 1-based (1).
    offset: Option<i64>,
    /// Number of lines (200, the maximum).
    limit: Option<i64>,
}

/// The alias that reads lines of a file.
pub(super) struct ReadFile;

impl AliasAdapter for ReadFile {
    type Args = ReadFileArgs;

    const ABOUT: AliasMetadata = replacing(
        "read_file",
        "Read a file",
        "Lines of a text file, at most 200 at a time; the end gives the next offset.",
        "the server's own reads up to 2000 lines at a time, and the editor's unsaved text",
        &["read"],
    );

    async fn run(context: &AliasContext<'_>, args: ReadFileArgs) -> Result<AliasAnswer, AliasError> {
        let (given, _) = context.path(&args.file_path)?;
        let limit = args.limit.unwrap_or(DEFAULT_READ_FILE_LINES);
        let got = context.call("read", json!({"path": given, "offset": args.offset, "limit": limit})).await?;
        Ok(AliasAnswer::done(got.text(lines)))
    }
}

fn lines(answer: &Value) -> Option<String> {
    let mut out = answer.get("content")?.as_str()?.to_owned();
    let has_more = answer["has_more"] == true;
    let has_notes = format::list_field(answer, "notes").is_some_and(|notes| !notes.is_empty());
    if (has_more || has_notes) && !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    if has_more {
        let (first, last) = (&answer["start_line"], answer["end_line"].as_u64()?);
        let of = answer.get("total_lines").map(|total| format!(" of {total}")).unwrap_or_default();
        let _ = writeln!(out, "[lines {first} to {last}{of}; continue with offset {}]", last + 1);
    }
    format::notes(answer, &mut out);
    Some(if out.is_empty() { "(the file is empty)".to_owned() } else { out })
}

/// The arguments of `list_dir`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListDirArgs {
    /// Absolute path of the folder.
    path: String,
}

/// The alias that lists a folder.
pub(super) struct ListDir;

impl AliasAdapter for ListDir {
    type Args = ListDirArgs;

    const ABOUT: AliasMetadata = replacing(
        "list_dir",
        "List a folder",
        "Entries of a folder, one name per line; names of folders end in `/`.",
        "the server's own does the same",
        &["list"],
    );

    async fn run(context: &AliasContext<'_>, args: ListDirArgs) -> Result<AliasAnswer, AliasError> {
        let (given, _) = context.path(&args.path)?;
        let got = context.call("list", json!({"path": given})).await?;
        Ok(AliasAnswer::done(got.text(names)))
    }
}

fn names(answer: &Value) -> Option<String> {
    let mut out = String::new();
    for item in format::list_field(answer, "items")? {
        let end = if item["is_dir"] == true { "/" } else { "" };
        let _ = writeln!(out, "{}{end}", format::text_field(item, "name"));
    }
    if out.is_empty() {
        out.push_str("(the folder is empty)\n");
    }
    push_has_more(answer, "entries", &mut out);
    format::notes(answer, &mut out);
    Some(format::trim_line_ends(out))
}

/// Adds a note if the answer is incomplete.
fn push_has_more(answer: &Value, what: &str, out: &mut String) {
    if answer["has_more"] == true {
        let _ = writeln!(out, "[there are more {what}]");
    }
}

/// The arguments of `file_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileSearchArgs {
    /// Glob pattern of the path, like `src/**/*.ts`; without `/` it matches file names anywhere.
    query: String,
    /// Maximum number of files (50).
    max_results: Option<i64>,
}

/// The alias that finds files by path.
pub(super) struct FileSearch;

impl AliasAdapter for FileSearch {
    type Args = FileSearchArgs;

    const ABOUT: AliasMetadata = replacing(
        "file_search",
        "Find files",
        "Files whose paths match a glob pattern, without hidden and git-ignored ones, the newest first.",
        "the server's own does the same",
        &["glob"],
    );

    async fn run(context: &AliasContext<'_>, args: FileSearchArgs) -> Result<AliasAnswer, AliasError> {
        let pattern = match args.query.contains('/') {
            true => args.query,
            false => format!("**/{}", args.query),
        };
        let limit = args.max_results.unwrap_or(DEFAULT_SEARCH_RESULTS);
        let got = context.call("glob", json!({"pattern": pattern, "limit": limit, "sort": "newest"})).await?;
        Ok(AliasAnswer::done(got.text(|answer| {
            let mut out = String::new();
            for path in format::list_field(answer, "matches")?.iter().filter_map(Value::as_str) {
                let _ = writeln!(out, "{}", context.display_path(path));
            }
            if out.is_empty() {
                let _ = writeln!(out, "no file matches {pattern}");
            }
            push_has_more(answer, "files", &mut out);
            format::notes(answer, &mut out);
            Some(format::trim_line_ends(out))
        })))
    }
}

/// The arguments of `grep_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GrepSearchArgs {
    /// The search text.
    query: String,
    /// True if the query is a regular expression (false).
    is_regexp: Option<bool>,
    /// Glob pattern of the files to search, like `*.ts` or `src/**`.
    include_pattern: Option<String>,
    /// Maximum number of lines (50).
    max_results: Option<i64>,
}

/// The alias that finds matching lines.
pub(super) struct GrepSearch;

impl AliasAdapter for GrepSearch {
    type Args = GrepSearchArgs;

    const ABOUT: AliasMetadata = replacing(
        "grep_search",
        "Search in files",
        "Lines that match a text or a regular expression, as path:line:text, without hidden and git-ignored files.",
        "the server's own does the same, 20 lines at most",
        &["grep"],
    );

    async fn run(context: &AliasContext<'_>, args: GrepSearchArgs) -> Result<AliasAnswer, AliasError> {
        let arguments = json!({
            "pattern": args.query,
            "fixed_strings": !args.is_regexp.unwrap_or(false),
            "glob": args.include_pattern,
            "max_matches": args.max_results.unwrap_or(DEFAULT_SEARCH_RESULTS),
        });
        let got = context.call("grep", arguments).await?;
        Ok(AliasAnswer::done(got.text(|answer| {
            let mut out = String::new();
            for found in format::list_field(answer, "matches")? {
                let (path, text) = (
                    context.display_path(format::text_field(found, "path")),
                    format::text_field(found, "text"),
                );
                let _ = writeln!(out, "{path}:{}:{text}", found["line"]);
            }
            if out.is_empty() {
                let _ = writeln!(out, "no line matches {}", args.query);
            }
            push_has_more(answer, "matches", &mut out);
            format::notes(answer, &mut out);
            Some(format::trim_line_ends(out))
        })))
    }
}
