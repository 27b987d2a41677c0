//! `get_changed_files`: the staged, changed and untracked files, under headings.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::format;
use crate::policy::request::Effect;
use crate::tools::vcs::changed_files::SourceControlState;

/// The lists of the tool's answer, with their headings.
const HEADINGS: [(&str, &str); 3] =
    [("staged", "Staged files"), ("unstaged", "Unstaged changes"), ("untracked", "Untracked files")];

/// The arguments of `get_changed_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetChangedFilesArgs {
    /// Path to the git repository (the workspace if omitted).
    repository_path: Option<String>,
    /// The kinds of changes (all if omitted).
    source_control_state: Option<SourceControlState>,
}

/// The alias `get_changed_files`.
pub(super) struct GetChangedFiles;

impl AliasAdapter for GetChangedFiles {
    type Args = GetChangedFilesArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "get_changed_files",
        title: "Changed files",
        description: "The changed, staged and untracked files according to git, one per line under a heading for each state.",
        effect: Effect::Read,
        class: AliasClass::New,
        by_default: false,
        why: "changed_files says the same, and two names for one thing make a model choose between them",
        uses: &["changed_files"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: GetChangedFilesArgs) -> Result<AliasAnswer, AliasError> {
        let state = args.source_control_state.unwrap_or_default();
        let mut arguments = json!({"sourceControlState": state});
        if let Some(given) = &args.repository_path {
            arguments["repositoryPath"] = json!(context.path(given)?.0);
        }
        let got = context.call("changed_files", arguments).await?;
        Ok(AliasAnswer::done(got.text(format_lists)))
    }
}

fn format_lists(answer: &Value) -> Option<String> {
    let mut parts = Vec::new();
    for (key, heading) in HEADINGS {
        let files: Vec<&str> = format::list_field(answer, key)
            .into_iter()
            .flatten()
            .map(|file| file.as_str().unwrap_or_else(|| format::text_field(file, "path")))
            .collect();
        if !files.is_empty() {
            parts.push(format!("## {heading}\n{}", files.join("\n")));
        }
    }
    let listed: usize =
        HEADINGS.iter().filter_map(|(key, _)| Some(format::list_field(answer, key)?.len())).sum();
    if answer["has_more"].as_bool()? {
        parts.push(format!("[{} more]", (answer["count"].as_u64()? as usize).saturating_sub(listed)));
    }
    Some(if parts.is_empty() { "No changed files found.".to_owned() } else { parts.join("\n\n") })
}
