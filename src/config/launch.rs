//! The launch fields of a project's files, in the form for their owner and for the trust store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::catalogue::command_files::CommandWords;
use super::catalogue::pin::hash_at;
use super::error::{ConfigError, escape_unprintable};
use super::layer::Layer;
use super::schema::{ConfigField, take_launch_fields};
use super::trust::error::TrustError;
use crate::platform::canonicalize;
use crate::text::hex;

/// The launch fields of a project's `servers.toml` and `lsp-tools.toml`, and the programs inside it
/// that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchFields {
    pub(super) fields: BTreeMap<String, String>,
    pub(super) programs: BTreeMap<String, String>,
    /// Texts for models to follow, by path: name → SHA-256.
    pub(super) texts: BTreeMap<String, String>,
    pub(super) tools: BTreeMap<String, String>,
    shown: Vec<(String, String)>,
    commands: Vec<CommandWords>,
}

impl LaunchFields {
    /// Lists the items that the owner approves: the name of each launch field and its value as
    /// TOML, then each program and each text with the SHA-256 of its content. Terminal control
    /// characters are escaped.
    pub(crate) fn approval_items(&self) -> Vec<(String, String)> {
        let programs =
            self.programs.iter().map(|(name, hash)| (format!("the program `{name}`"), hash.clone()));
        let texts =
            self.texts.iter().map(|(name, hash)| (escape_unprintable(&text_name(name)), hash.clone()));
        self.shown.iter().cloned().chain(programs).chain(texts).collect()
    }

    /// Adds a text of the project for models to follow, by its path relative to the project.
    pub(crate) fn add_text(&mut self, path: &str, content: &[u8]) {
        self.texts.insert(path.to_owned(), hash_text(content));
    }

    /// Returns true if the text with this path, relative to the project, is among these.
    pub(crate) fn has_text(&self, path: &str) -> bool {
        self.texts.contains_key(path)
    }

    /// Adds a program that lies inside the project, by its content.
    ///
    /// # Errors
    /// The program cannot be read, or lies outside.
    pub(crate) fn add_program(&mut self, project: &Path, program: &Path) -> Result<(), TrustError> {
        let (name, hash) = hash_file(project, program)?;
        self.programs.insert(name, hash);
        Ok(())
    }

    /// Adds a tool of the project's own. `pin` is all that decides its behaviour, in a form that
    /// its owner can read.
    pub(crate) fn add_tool(&mut self, name: &str, pin: &str) {
        self.tools.insert(name.to_owned(), hash_text(pin.as_bytes()));
        self.shown.push((escape_unprintable(&format!("the tool `{name}`")), escape_unprintable(pin)));
    }

    /// Returns the SHA-256 of a file of the project, in hexadecimal digits.
    ///
    /// # Errors
    /// The file cannot be read, or lies outside.
    pub fn content_of(project: &Path, file: &Path) -> Result<String, TrustError> {
        hash_file(project, file).map(|(_, hash)| hash)
    }

    /// The commands of language servers, hooks, runners and mounted servers. A project file that
    /// they name would be run, or be read by a program that runs.
    pub(crate) fn commands(&self) -> &[CommandWords] {
        &self.commands
    }

    /// Adds the launch fields of a layer of the project, whose file has the keys `fields`.
    ///
    /// # Errors
    /// The layer has an unknown key or a wrong type.
    pub(super) fn add_layer(&mut self, layer: &Layer, fields: &[ConfigField]) -> Result<(), ConfigError> {
        let mut table = layer.read(fields)?;
        for (path, value) in take_launch_fields(&mut table, fields) {
            let name = format!("`{}` of `{}`", path.join("."), layer.file);
            // The textual form of a TOML value is one to one with the value: its tables are sorted
            // by key.
            let text = value.to_string();
            self.fields.insert(name.clone(), hex(&Sha256::digest(&text)));
            self.shown.push((escape_unprintable(&name), escape_unprintable(&text)));
            let is_command = match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["hooks" | "agents" | "mcp", ..] => true,
                ["server", _, key] => key == "command",
                _ => false,
            };
            if is_command {
                collect_commands(&value, &mut self.commands);
            }
        }
        Ok(())
    }
}

/// Collects the commands in a value: lists of texts, and tables with a program, its arguments, and
/// perhaps its folder.
fn collect_commands(value: &toml::Value, commands: &mut Vec<CommandWords>) {
    let text = |value: &toml::Value| value.as_str().map(str::to_owned);
    match value {
        toml::Value::String(word) => commands.push(CommandWords { words: vec![word.clone()], cwd: None }),
        toml::Value::Array(items) if items.iter().all(toml::Value::is_str) => {
            commands.push(CommandWords { words: items.iter().filter_map(text).collect(), cwd: None });
        }
        toml::Value::Array(items) => items.iter().for_each(|item| collect_commands(item, commands)),
        toml::Value::Table(table) => {
            let args = table.get("args").and_then(toml::Value::as_array).into_iter().flatten();
            if let Some(program) = table.get("command").and_then(text) {
                let words = std::iter::once(program).chain(args.filter_map(text)).collect();
                let cwd = table.get("cwd").and_then(toml::Value::as_str).map(PathBuf::from);
                commands.push(CommandWords { words, cwd });
            }
            table.iter().for_each(|(_, value)| collect_commands(value, commands));
        }
        _ => {}
    }
}

/// The display name of a text.
pub(super) fn text_name(path: &str) -> String {
    format!("the instructions in `{path}`")
}

/// The SHA-256 of a text.
pub(super) fn hash_text(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// The path of a program relative to its project, not followed through links, and the SHA-256 of
/// the content that would run.
pub(super) fn hash_file(project: &Path, program: &Path) -> Result<(String, String), TrustError> {
    let name = name_below(project, program)?;
    let hash = hash_at(program).map_err(|error| TrustError::io("read", program, &error))?;
    Ok((name, hash))
}

/// Returns the path of a program relative to its project, not followed through links; its folder
/// must exist.
pub(super) fn name_below(project: &Path, program: &Path) -> Result<String, TrustError> {
    let outside = || TrustError::Outside(program.display().to_string());
    let root = canonicalize(project).map_err(|error| TrustError::io("find", project, &error))?;
    let folder = program.parent().ok_or_else(outside)?;
    let folder = canonicalize(folder).map_err(|error| TrustError::io("find", folder, &error))?;
    let place = folder.join(program.file_name().ok_or_else(outside)?);
    let name = place.strip_prefix(&root).map_err(|_| outside())?;
    let name = name.to_str().ok_or_else(|| TrustError::NotUtf8(name.display().to_string()))?;
    Ok(name.to_owned())
}
