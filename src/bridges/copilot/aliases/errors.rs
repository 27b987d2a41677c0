//! `get_errors`: the current diagnostics of files.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::{AliasContext, DelegatedResult, to_alias_error};
use super::format;
use crate::policy::request::Effect;

/// The arguments of `get_errors`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetErrorsArgs {
    /// Absolute paths of files or folders (the whole workspace if omitted).
    file_paths: Option<Vec<String>>,
}

/// The alias `get_errors`.
pub(super) struct GetErrors;

impl AliasAdapter for GetErrors {
    type Args = GetErrorsArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "get_errors",
        title: "Errors",
        description: "Errors and warnings of the language servers about files as they are now on disk. Call it after an edit. The \
                      last line says how far the answer can be relied on: only `complete` without findings means clean.",
        effect: Effect::Read,
        class: AliasClass::New,
        by_default: true,
        why: "the server leaves it to its clients, and offers it in every mode",
        uses: &["lsp_diagnostics"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: GetErrorsArgs) -> Result<AliasAnswer, AliasError> {
        let paths = context.plain_paths(&args.file_paths.unwrap_or_default())?;
        let result = context.call_tool("lsp_diagnostics", json!({"paths": paths})).await;
        if result.ok() {
            let got = DelegatedResult::from(result);
            return Ok(AliasAnswer::done(got.text(|answer| format_findings(context, answer))));
        }
        // Without a server there may still be syntax errors.
        let found = result.text.is_none().then(|| format_findings(context, &result.value)).flatten();
        let mut refused = to_alias_error(&result);
        refused.text.extend(found.map(|found| format!("\n{found}")));
        Err(refused)
    }
}

fn format_findings(context: &AliasContext<'_>, answer: &Value) -> Option<String> {
    let found = format::list_field(answer, "diagnostics")?;
    let mut out = String::new();
    for item in found {
        let mut item = item.clone();
        item["path"] = json!(context.display_path(format::text_field(&item, "path")));
        format::format_finding(&item, &mut out);
    }
    let (count, files) = (answer["count"].as_u64()?, answer["files"].as_u64()?);
    if count as usize > found.len() {
        let _ = writeln!(out, "[{} more]", count as usize - found.len());
    }
    for file in format::list_field(answer, "incomplete").into_iter().flatten() {
        let detail = file.get("detail").and_then(Value::as_str).map(|detail| format!(": {detail}"));
        let _ = writeln!(
            out,
            "{}: {}{}",
            format::text_field(file, "path"),
            format::text_field(file, "verdict"),
            detail.unwrap_or_default()
        );
    }
    let status = &answer["server_status"];
    if let Some(install) = status.get("install").and_then(Value::as_str) {
        let _ = writeln!(out, "{} is not installed; run: {install}", format::text_field(status, "server"));
    }
    format::notes(answer, &mut out);
    let verdict = format::text_field(answer, "verdict");
    let meaning = match verdict {
        "complete" if count == 0 => "no errors or warnings",
        "complete" => "all servers answered for the current text",
        "partial" => "results may be incomplete",
        "no_data" => "no server answered in time; this does not mean clean",
        _ => "no server answered; only syntax was checked, so this does not mean clean",
    };
    let (findings, files) = (count_text(count, "finding"), count_text(files, "file"));
    let _ = writeln!(out, "{findings} in {files}; verdict: {verdict} ({meaning})");
    Some(format::trim_line_ends(out))
}

fn count_text(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
