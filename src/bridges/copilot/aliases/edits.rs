//! Aliases that change files: `create_file`, `insert_edit_into_file`, `replace_string_in_file`,
//! `apply_patch` and others.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::{AliasContext, DelegatedResult};
use super::format;
use crate::policy::request::{Effect, PolicyVerdict};

/// The arguments of `insert_edit_into_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InsertEditArgs {
    /// Absolute path of the file.
    file_path: String,
    /// The complete new text of the file.
    code: String,
    /// The purpose of the edit, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
}

/// The server's way to write a file: it computes the edit and sends the whole new text.
pub(super) struct InsertEdit;

impl AliasAdapter for InsertEdit {
    type Args = InsertEditArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "insert_edit_into_file",
        title: "Edit a file",
        description: "Replaces the complete text of a file, keeping line ends and mode. Answers the \
                      file's new text. The edit can be undone.",
        effect: Effect::Edit,
        class: AliasClass::Unlocks,
        by_default: true,
        why: "the server offers its own insert_edit_into_file and replace_string_in_file only with it, and writes by it",
        uses: &["write"],
        written_by: WrittenBy::Server,
    };

    async fn run(context: &AliasContext<'_>, args: InsertEditArgs) -> Result<AliasAnswer, AliasError> {
        write_whole(context, &args.file_path, args.code).await
    }
}

/// The arguments of `create_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateFileArgs {
    /// Absolute path of the new file; missing folders are created.
    file_path: String,
    /// The text of the file.
    content: String,
    /// The purpose of the file, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
}

/// The server's way to create a file.
pub(super) struct CreateFile;

impl AliasAdapter for CreateFile {
    type Args = CreateFileArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "create_file",
        title: "Create a file",
        description: "Creates a file with this text. An existing file with text is not changed. Answers the file's text. It can be undone.",
        effect: Effect::Edit,
        class: AliasClass::Unlocks,
        by_default: true,
        why: "the server offers its own create_file only with it, and apply_patch with it and insert_edit_into_file",
        uses: &["write"],
        written_by: WrittenBy::Server,
    };

    async fn run(context: &AliasContext<'_>, args: CreateFileArgs) -> Result<AliasAnswer, AliasError> {
        let (given, path) = context.path(&args.file_path)?;
        let arguments = json!({"path": given, "content": args.content});
        let decision = context.runtime.check_call(context.options.caller, "write", &arguments)?;
        // A denial by the rules is reported by the call itself, before anything about the file is
        // revealed.
        if decision.verdict != PolicyVerdict::Deny
            && let Ok(stamp) = context.runtime.workspace().stamp(&path)
            && stamp.size > 0
            && context.text_of(&path).is_none_or(|text| text != args.content)
        {
            let what = format!("{} exists already and was not changed", path.display());
            return Err(AliasError::new(format!(
                "{what}; edit it with insert_edit_into_file or replace_string_in_file"
            )));
        }
        write_whole(context, &args.file_path, args.content).await
    }
}

/// Writes the whole text, and answers with the file's content afterwards. The server shows it to
/// the model as the state after the edit.
async fn write_whole(
    context: &AliasContext<'_>,
    file_path: &str,
    text: String,
) -> Result<AliasAnswer, AliasError> {
    let (given, path) = context.path(file_path)?;
    let got = context.call("write", json!({"path": given, "content": text, "diagnostics": false})).await?;
    let changed = context.changed_paths(&got.value);
    Ok(AliasAnswer::done(context.text_of(&path).unwrap_or(text)).with_changed(changed))
}

/// A replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StringReplacement {
    /// Absolute path of the file.
    file_path: String,
    /// Exact text, with enough context to be unique.
    old_string: String,
    /// The new text.
    new_string: String,
    /// The purpose of the replacement, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
}

/// The alias for one replacement in one file.
pub(super) struct ReplaceString;

impl AliasAdapter for ReplaceString {
    type Args = StringReplacement;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "replace_string_in_file",
        title: "Replace text in a file",
        description: "Replaces exact text that is unique in the file. A miss answers the nearest text. Answers a diff, and the \
                      diagnostics that it added, in callers too.",
        effect: Effect::Edit,
        class: AliasClass::Replaces,
        by_default: false,
        why: "the server's own tries several ways of matching, and writes through insert_edit_into_file of ours",
        uses: &["edit"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: StringReplacement) -> Result<AliasAnswer, AliasError> {
        let (given, _) = context.path(&args.file_path)?;
        let edit = json!({"old": args.old_string, "new": args.new_string});
        let got = context.call("edit", json!({"path": given, "edits": [edit]})).await?;
        Ok(to_alias_answer(context, got))
    }
}

/// The arguments of `multi_replace_string`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MultiReplaceArgs {
    /// The replacements; applied in order within each file.
    #[schemars(length(min = 1))]
    replacements: Vec<StringReplacement>,
    /// The purpose of all replacements, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
}

/// The alias for replacements in several files, all or none.
pub(super) struct MultiReplaceString;

impl AliasAdapter for MultiReplaceString {
    type Args = MultiReplaceArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "multi_replace_string",
        title: "Replace texts in files",
        description: "Makes several exact replacements in one or many files: all of them, or none. Each old text must be unique in its file. Answers a diff per file, and the diagnostics that were added.",
        effect: Effect::Edit,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool that edits several files at once",
        uses: &["multi_replace_string"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: MultiReplaceArgs) -> Result<AliasAnswer, AliasError> {
        let mut replacements = Vec::new();
        for replacement in &args.replacements {
            let (path, _) = context.path(&replacement.file_path)?;
            let StringReplacement { old_string, new_string, .. } = replacement;
            replacements.push(json!({"path": path, "old": old_string, "new": new_string}));
        }
        let got = context.call("multi_replace_string", json!({"replacements": replacements})).await?;
        Ok(to_alias_answer(context, got))
    }
}

/// The arguments of `create_directory`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateDirectoryArgs {
    /// Absolute path of the folder; parents are created too.
    dir_path: String,
}

/// The alias that creates a folder.
pub(super) struct CreateDirectory;

impl AliasAdapter for CreateDirectory {
    type Args = CreateDirectoryArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "create_directory",
        title: "Make a folder",
        description: "Creates a folder, and its parents. create_file creates missing folders itself.",
        effect: Effect::Edit,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool that makes folders",
        uses: &["mkdir"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: CreateDirectoryArgs) -> Result<AliasAnswer, AliasError> {
        let (given, path) = context.path(&args.dir_path)?;
        let got = context.call("mkdir", json!({"path": given})).await?;
        Ok(AliasAnswer::done(got.text(|answer| {
            let made: Vec<&str> =
                format::list_field(answer, "created")?.iter().filter_map(Value::as_str).collect();
            Some(match made.as_slice() {
                [] => format!("{} exists already", path.display()),
                made => format!("made {}", made.join(", ")),
            })
        })))
    }
}

/// The arguments of `apply_patch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ApplyPatchArgs {
    /// `*** Begin Patch` … `*** End Patch`, or a unified diff of one or several files.
    input: String,
    /// The purpose of the patch, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
}

/// The alias that applies a patch.
pub(super) struct ApplyPatch;

impl AliasAdapter for ApplyPatch {
    type Args = ApplyPatchArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "apply_patch",
        title: "Apply a patch",
        description: "Applies a patch to one or many files: all of it or nothing. For hunks that do not fit, answers the text there. Answers the result for each file, and the diagnostics that were added.",
        effect: Effect::Edit,
        class: AliasClass::Replaces,
        by_default: false,
        why: "the server's own knows the form its models are trained on, and writes through create_file and \
              insert_edit_into_file of ours",
        uses: &["patch"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: ApplyPatchArgs) -> Result<AliasAnswer, AliasError> {
        let got = context.call("patch", json!({"patch": args.input})).await?;
        Ok(to_alias_answer(context, got))
    }
}

/// Converts an edit's result to an answer, with the changed files.
fn to_alias_answer(context: &AliasContext<'_>, got: DelegatedResult) -> AliasAnswer {
    let changed = context.changed_paths(&got.value);
    AliasAnswer::done(got.text(format::format_edit)).with_changed(changed)
}
