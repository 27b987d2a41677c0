//! The pins of a project's tool: its manifest, and the programs and files that its command names.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::folder::of_the_project;
use super::manifest::{self, ToolManifest};
use crate::analysis::context::Context;
use crate::config::{FilePin, LaunchFields, TrustState};
use crate::platform::canonicalize;
use crate::process::{ProgramPath, is_program};
use crate::text::hex;
use crate::workspace::Workspace;

/// The parts of a project's tool that need trust, in their present state.
#[derive(Debug, Clone)]
pub(super) struct TrustNeeds {
    /// The text that the user trusts, in readable form; a different text needs new trust.
    pub(super) text: String,
    /// The path of the program.
    pub(super) program: PathBuf,
    /// The expected content of the program and the files that belong to the project.
    pub(super) pins: Vec<FilePin>,
}

/// The parts of the tool of `manifest` that need trust.
pub(super) fn trust_needs(context: &Context, manifest: &ToolManifest) -> Result<TrustNeeds, String> {
    let root = context.workspace.root();
    let program = resolve_program(manifest, &context.workspace)?;
    let (mut files, mut pins) = (Map::new(), Vec::new());
    for path in std::iter::once(program.clone()).chain(files_in(manifest, root)) {
        let hash = match path.starts_with(root) {
            true => {
                let sha256 = LaunchFields::content_of(root, &path).map_err(|error| error.to_string())?;
                pins.push(FilePin { path: path.clone(), sha256: sha256.clone() });
                json!(sha256)
            }
            // Programs that the user installed may be updated.
            false => Value::Null,
        };
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        files.insert(shown, hash);
    }
    let manifest_hash = hex(&Sha256::digest(&manifest.text));
    let text = json!({
        "command": manifest.command, "env": manifest.env, "manifest": manifest_hash, "files": files,
    });
    Ok(TrustNeeds { text: text.to_string(), program, pins })
}

/// Returns an error with advice unless the user trusts exactly this.
pub(super) fn check_trusted(context: &Context, name: &str, pin: &str) -> Result<(), String> {
    let state = context.trust.tool_state(context.workspace.root(), name, pin);
    match state.map_err(|error| error.to_string())? {
        TrustState::Trusted => Ok(()),
        TrustState::Untrusted => {
            Err("this project is not trusted; `lsp-tools trust` shows what it would run".to_owned())
        }
        TrustState::Changed { what } => {
            Err(format!("{}; `lsp-tools trust` shows what it would run now", what.join("; ")))
        }
    }
}

/// The project's tools with the texts that need trust, for `lsp-tools trust`.
pub(crate) fn pins(context: &Context) -> Vec<(String, String)> {
    let mut pins: Vec<(String, String)> = Vec::new();
    for manifest in of_the_project(context).iter().filter_map(|file| manifest::read(file)?.ok()) {
        // The first of two tools with the same name counts.
        if !pins.iter().any(|(name, _)| *name == manifest.name)
            && let Ok(needs) = trust_needs(context, &manifest)
        {
            pins.push((manifest.name, needs.text));
        }
    }
    pins
}

/// The path of the program: its own path, or the one found on PATH.
pub(super) fn resolve_program(manifest: &ToolManifest, workspace: &Workspace) -> Result<PathBuf, String> {
    let word = manifest.command.first().map(String::as_str).unwrap_or_default();
    let found = match word.contains('/') {
        true => Some(workspace.root().join(word)).filter(|path| is_program(path)),
        false => ProgramPath::of_user(workspace).find(word),
    };
    let found = found.ok_or_else(|| format!("its program `{word}` was not found or is not executable"))?;
    canonicalize(&found).map_err(|error| format!("its program `{word}` cannot be found: {error}"))
}

/// The files of the project among its arguments, such as scripts for an interpreter.
fn files_in(manifest: &ToolManifest, root: &Path) -> Vec<PathBuf> {
    let words = manifest.command.iter().skip(1);
    let parts = words.map(|word| word.split_once('=').map_or(word.as_str(), |(_, value)| value));
    let paths = parts.filter_map(|part| canonicalize(root.join(part)).ok());
    paths.filter(|path| path.starts_with(root) && path.is_file()).collect()
}
