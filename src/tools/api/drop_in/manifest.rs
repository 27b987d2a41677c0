//! The manifest of a dropped-in tool.
//!
//! ```json
//! {
//!   "name": "lint",
//!   "description": "Runs the project's own linter on one file.",
//!   "schema": {
//!     "type": "object",
//!     "properties": {"path": {"type": "string", "description": "The file."}},
//!     "required": ["path"]
//!   },
//!   "command": ["python3", "${folder}/lint.py"],
//!   "timeout_ms": 20000
//! }
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::folder::{DropInFile, DropInForm};
use super::python;
use crate::policy::request::Effect;
use crate::tools::api::hidden::{escape_all, escape_hidden, is_hidden};
use crate::tools::api::schema::Schema;
use crate::tools::api::tool::{Card, ToolDefinition};

const DEFAULT_DROP_IN_TIMEOUT_MS: u64 = 30_000;
const MAX_DROP_IN_TIMEOUT_MS: u64 = 600_000;
const DEFAULT_DROP_IN_OUTPUT_BYTES: usize = 64 * 1024;
const MAX_DROP_IN_OUTPUT_BYTES: usize = 8 << 20;
/// The limits for descriptions and schemas. A model reads each description in every request.
const MAX_DROP_IN_DESCRIPTION_CHARS: usize = 1_000;
const MAX_DROP_IN_SCHEMA_BYTES: usize = 16 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolManifestFields {
    name: String,
    title: Option<String>,
    description: String,
    effect: Option<Effect>,
    #[serde(alias = "inputSchema", alias = "parameters")]
    schema: Value,
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    output_bytes: Option<usize>,
}

/// A valid manifest.
#[derive(Debug, Clone)]
pub(super) struct ToolManifest {
    pub(super) name: String,
    pub(super) definition: ToolDefinition,
    /// The program and its arguments; `${folder}` (that of the manifest) is expanded.
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) timeout: Duration,
    pub(super) output_bytes: usize,
    /// The form of the file.
    pub(super) form: DropInForm,
    /// The text of the file.
    pub(super) text: String,
}

/// Reads a manifest; an error describes the problem and a correct form. `None` for a file that is
/// no tool and need not be one.
pub(super) fn read(file: &DropInFile) -> Option<Result<ToolManifest, String>> {
    let words: Result<ToolManifestFields, String> = match file.form {
        DropInForm::Manifest => serde_json::from_str(&file.text).map_err(|error| error.to_string()),
        DropInForm::Python => python::manifest(file)?.and_then(|words| {
            ToolManifestFields::deserialize(words).map_err(|error| format!("`SCHEMA`: {error}"))
        }),
    };
    Some(words.and_then(|words| check_manifest(file, words)))
}

fn check_manifest(file: &DropInFile, words: ToolManifestFields) -> Result<ToolManifest, String> {
    if words.name != file.stem {
        return Err(format!(
            "`name` is `{}`; it must be `{}`, as the file's name says",
            escape_hidden(&words.name),
            file.stem
        ));
    }
    let description = words.description.trim();
    if description.is_empty() || description.chars().count() > MAX_DROP_IN_DESCRIPTION_CHARS {
        return Err(format!(
            "`description` must have 1 to {MAX_DROP_IN_DESCRIPTION_CHARS} characters: models read all of it"
        ));
    }
    let timeout = check_range(
        "timeout_ms",
        words.timeout_ms.unwrap_or(DEFAULT_DROP_IN_TIMEOUT_MS),
        MAX_DROP_IN_TIMEOUT_MS,
    )?;
    let output = check_range(
        "output_bytes",
        words.output_bytes.unwrap_or(DEFAULT_DROP_IN_OUTPUT_BYTES) as u64,
        MAX_DROP_IN_OUTPUT_BYTES as u64,
    )?;
    let folder = file.folder.to_str().ok_or("its folder's name is not UTF-8")?;
    let command: Vec<String> = words.command.iter().map(|word| word.replace("${folder}", folder)).collect();
    if command.first().is_none_or(|program| program.trim().is_empty()) {
        return Err("`command` is empty; it must name a program".to_owned());
    }
    let effect = words.effect.unwrap_or(Effect::Execute);
    let title = words.title.unwrap_or_else(|| words.name.replace(['_', '-'], " "));
    let description = escape_hidden(description).into_owned();
    let card = Card {
        destructive: !matches!(effect, Effect::Read | Effect::Network),
        ..Card::from_parts(
            words.name.clone().into(),
            escape_hidden(&title).into_owned().into(),
            description.into(),
            effect,
        )
    };
    Ok(ToolManifest {
        definition: ToolDefinition { card, input: schema(words.schema)?, output: None },
        name: words.name,
        command: with_paths(command, file),
        env: words.env,
        timeout: Duration::from_millis(timeout),
        output_bytes: usize::try_from(output).unwrap_or(MAX_DROP_IN_OUTPUT_BYTES),
        form: file.form,
        text: file.text.clone(),
    })
}

fn check_range(name: &str, given: u64, most: u64) -> Result<u64, String> {
    match (1..=most).contains(&given) {
        true => Ok(given),
        false => Err(format!("`{name}` is {given}; it must be from 1 to {most}")),
    }
}

/// Resolves a program that contains a `/`, or the file of a Python tool, relative to the manifest.
fn with_paths(mut command: Vec<String>, file: &DropInFile) -> Vec<String> {
    let word = match file.form {
        DropInForm::Manifest => command.first_mut(),
        DropInForm::Python => command.last_mut(),
    };
    if let Some(path) = word.filter(|path| path.contains('/')) {
        let joined: PathBuf = file.folder.join(&*path);
        *path = joined.display().to_string();
    }
    command
}

fn schema(mut value: Value) -> Result<Schema, String> {
    if value.to_string().len() > MAX_DROP_IN_SCHEMA_BYTES {
        return Err(format!("`schema` has more than {MAX_DROP_IN_SCHEMA_BYTES} bytes"));
    }
    let Value::Object(map) = &mut value else {
        return Err("`schema` is not an object; give the JSON schema of the arguments".to_owned());
    };
    if map.get("type").is_some_and(|kind| kind != "object") {
        return Err("`schema` does not describe an object of named arguments".to_owned());
    }
    map.insert("type".to_owned(), json!("object"));
    map.entry("required").or_insert_with(|| json!([]));
    let properties = map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let fits = |name: &str| {
        name.len() <= 64
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
    };
    for name in properties.as_object().into_iter().flatten().map(|(name, _)| name) {
        if !fits(name) || name.contains(is_hidden) {
            return Err(format!(
                "the argument name `{}` is invalid; use A-Z, a-z, 0-9 and `_`",
                escape_hidden(name)
            ));
        }
    }
    escape_all(&mut value);
    let schema = Schema::new(value);
    schema.verify().map_err(|error| format!("`schema` is not a JSON schema: {error}"))?;
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::folder::DropInOrigin;
    use super::*;

    fn manifest(change: impl FnOnce(&mut Value)) -> Result<ToolManifest, String> {
        let mut value = json!({
            "name": "lint", "description": "Lints.", "schema": {"properties": {"path": {"type": "string"}}},
            "command": ["./lint.sh", "--in=${folder}"],
        });
        change(&mut value);
        let folder = PathBuf::from("/p/.lsp-tools/tools");
        let (shown, stem) = ("lint.json".to_owned(), "lint".to_owned());
        let text = value.to_string();
        read(&DropInFile {
            origin: DropInOrigin::User,
            display_name: shown,
            folder,
            stem,
            form: DropInForm::Manifest,
            text,
        })
        .unwrap()
    }

    #[test]
    fn tool_manifest_gets_defaults_for_missing_fields() {
        let manifest = manifest(|_| {}).unwrap();
        assert_eq!(Path::new(&manifest.command[0]), Path::new("/p/.lsp-tools/tools/lint.sh"));
        assert_eq!(manifest.command[1..], ["--in=/p/.lsp-tools/tools"]);
        assert_eq!(manifest.definition.card.effect, Effect::Execute);
        assert_eq!(manifest.definition.input.as_value()["required"], json!([]));
        assert_eq!(manifest.timeout, Duration::from_secs(30));
    }

    #[test]
    fn invalid_tool_manifest_is_refused_with_reason() {
        let cases: [(&str, Value, &str); 9] = [
            ("name", json!("other"), "`name` is `other`; it must be `lint`"),
            ("description", json!("x".repeat(1_001)), "`description` must have 1 to 1000"),
            ("description", json!(" "), "`description` must have"),
            ("timeout_ms", json!(0), "`timeout_ms` is 0"),
            ("output_bytes", json!(1 << 30), "`output_bytes` is"),
            ("command", json!([]), "`command` is empty"),
            ("schema", json!({"type": "string"}), "does not describe an object"),
            ("schema", json!({"properties": {"a b": {}}}), "the argument name `a b`"),
            ("colour", json!("red"), "unknown field `colour`"),
        ];
        for (key, value, expected) in cases {
            let why = manifest(|manifest| manifest[key] = value).unwrap_err();
            assert!(why.contains(expected), "{key}: {why}");
        }
    }

    #[test]
    fn tool_manifest_accepts_input_schema_and_parameters_as_schema() {
        for word in ["inputSchema", "parameters"] {
            let own = manifest(|manifest| {
                let schema = manifest.as_object_mut().and_then(|words| words.remove("schema"));
                manifest[word] = schema.unwrap_or_default();
            });
            assert_eq!(own.unwrap().definition.input.as_value()["properties"]["path"]["type"], "string");
        }
        let twice = manifest(|manifest| manifest["inputSchema"] = json!({})).unwrap_err();
        assert!(twice.contains("duplicate field"), "{twice}");
    }

    #[test]
    fn tool_manifest_escapes_hidden_characters_in_descriptions() {
        let manifest = manifest(|manifest| {
            manifest["description"] = json!("Lints.\u{e0041}\u{202e}");
            manifest["schema"]["properties"]["path"]["description"] = json!("file\u{200b}");
        });
        let definition = manifest.unwrap().definition;
        assert_eq!(definition.card.description, "Lints.\\u{e0041}\\u{202e}");
        assert_eq!(definition.input.as_value()["properties"]["path"]["description"], "file\\u{200b}");
    }
}
