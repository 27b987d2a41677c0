//! The pins of a project's tool: its manifest, and the programs and files that its command names.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::folder::of_the_project;
use super::manifest::{self, ToolManifest};
use crate::config::{FilePin, LaunchFields, TrustState};
use crate::process::{ProgramPath, is_program};
use crate::text::hex;
use crate::tools::context::Context;
use crate::workspace::Workspace;

/// What a tool of the project runs, as it is now.
#[derive(Debug, Clone)]
pub(super) struct TrustNeeds {
    /// What trust is given to, in words that its owner can read; another text is something else.
    pub(super) text: String,
    /// The program.
    pub(super) program: PathBuf,
    /// What the program and the files must be when they run, where they are the project's.
    pub(super) pins: Vec<FilePin>,
}

/// What the tool of `manifest` needs trust for.
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
            // What the user installed may be brought up to date.
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

/// Whether the project's owner said yes to exactly this; says what to do where not.
pub(super) fn check_trusted(context: &Context, name: &str, pin: &str) -> Result<(), String> {
    let state = context.trust.tool_state(context.workspace.root(), name, pin);
    match state.map_err(|error| error.to_string())? {
        TrustState::Trusted => Ok(()),
        TrustState::Untrusted => {
            Err("this project is not trusted with it; `lsp-tools trust` shows what it would run".to_owned())
        }
        TrustState::Changed { what } => {
            Err(format!("{}; `lsp-tools trust` shows what it would run now", what.join("; ")))
        }
    }
}

/// The project's tools with what each of them needs trust for: `lsp-tools trust` asks for these.
pub(crate) fn pins(context: &Context) -> Vec<(String, String)> {
    let mut pins: Vec<(String, String)> = Vec::new();
    for manifest in of_the_project(context).iter().filter_map(|file| manifest::read(file)?.ok()) {
        // Of two with one name the first is the tool.
        if !pins.iter().any(|(name, _)| *name == manifest.name)
            && let Ok(needs) = trust_needs(context, &manifest)
        {
            pins.push((manifest.name, needs.text));
        }
    }
    pins
}

/// Where the program is: by its path, or on PATH.
pub(super) fn resolve_program(manifest: &ToolManifest, workspace: &Workspace) -> Result<PathBuf, String> {
    let word = manifest.command.first().map(String::as_str).unwrap_or_default();
    let found = match word.contains('/') {
        true => Some(workspace.root().join(word)).filter(|path| is_program(path)),
        false => ProgramPath::of_user(workspace).find(word),
    };
    let found = found.ok_or_else(|| format!("its program `{word}` is not to be found, or cannot be run"))?;
    std::fs::canonicalize(&found).map_err(|error| format!("its program `{word}` cannot be found: {error}"))
}

/// The files of the project that its arguments name: scripts are run by another program.
fn files_in(manifest: &ToolManifest, root: &Path) -> Vec<PathBuf> {
    let words = manifest.command.iter().skip(1);
    let parts = words.map(|word| word.split_once('=').map_or(word.as_str(), |(_, value)| value));
    let paths = parts.filter_map(|part| std::fs::canonicalize(root.join(part)).ok());
    paths.filter(|path| path.starts_with(root) && path.is_file()).collect()
}
