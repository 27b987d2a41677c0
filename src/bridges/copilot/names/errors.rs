//! `get_errors`: diagnostics of the files as they are now.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{AliasAdapter, AliasMetadata, WrittenBy};
use super::room::{AliasContext, AliasError, DelegatedResult, refusal};
use super::{AliasAnswer, AliasClass, shapes};
use crate::policy::request::Effect;

/// The arguments of `get_errors`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetErrorsArgs {
    /// Absolute paths of files or folders; without them the whole workspace is looked at.
    file_paths: Option<Vec<String>>,
}

/// The name.
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

    async fn run(room: &AliasContext<'_>, args: GetErrorsArgs) -> Result<AliasAnswer, AliasError> {
        let given = args.file_paths.unwrap_or_default();
        let paths: Result<Vec<String>, AliasError> =
            given.iter().map(|path| room.path(path).map(|(given, _)| given)).collect();
        let result = room.result("lsp_diagnostics", json!({"paths": paths?})).await;
        if result.ok() {
            let got = DelegatedResult::from(result);
            return Ok(AliasAnswer::done(got.text(|answer| findings(room, answer))));
        }
        // Without a server there may still be errors of syntax.
        let found = result.text.is_none().then(|| findings(room, &result.value)).flatten();
        let mut refused = refusal(&result);
        refused.text.extend(found.map(|found| format!("\n{found}")));
        Err(refused)
    }
}

fn findings(room: &AliasContext<'_>, answer: &Value) -> Option<String> {
    let found = shapes::list(answer, "diagnostics")?;
    let mut out = String::new();
    for item in found {
        let mut item = item.clone();
        item["path"] = json!(room.shown(shapes::word(&item, "path")));
        shapes::finding(&item, &mut out);
    }
    let (count, files) = (answer["count"].as_u64()?, answer["files"].as_u64()?);
    if count as usize > found.len() {
        let _ = writeln!(out, "[{} more]", count as usize - found.len());
    }
    for file in shapes::list(answer, "incomplete").into_iter().flatten() {
        let detail = file.get("detail").and_then(Value::as_str).map(|detail| format!(": {detail}"));
        let _ = writeln!(
            out,
            "{}: {}{}",
            shapes::word(file, "path"),
            shapes::word(file, "verdict"),
            detail.unwrap_or_default()
        );
    }
    let status = &answer["server_status"];
    if let Some(install) = status.get("install").and_then(Value::as_str) {
        let _ = writeln!(out, "{} is not installed; run: {install}", shapes::word(status, "server"));
    }
    shapes::notes(answer, &mut out);
    let verdict = shapes::word(answer, "verdict");
    let meaning = match verdict {
        "complete" if count == 0 => "no errors or warnings",
        "complete" => "all servers answered for the text as it is",
        "partial" => "true as far as it goes; results may be incomplete",
        "no_data" => "nothing came in time; this does not mean clean",
        _ => "no server answered; only syntax was looked at, so this does not mean clean",
    };
    let (findings, files) = (counted(count, "finding"), counted(files, "file"));
    let _ = writeln!(out, "{findings} in {files}; verdict: {verdict} ({meaning})");
    Some(shapes::ended(out))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
