//! The request and report of `trust`: commands in a project's settings, and the permission to run
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::spec::ServerSpec;
use crate::config::{Catalogue, CommandWords, LaunchFields, TrustError, TrustState};
use crate::lsp::servers::locate;
use crate::lsp::servers::python;
use crate::lsp::servers::python::UserWord;
use crate::policy::hooks::files::HookFile;
use crate::policy::hooks::{self, CallHook};
use crate::text::hex;
use crate::tools::agent::skills::catalogue::texts_to_trust;
use crate::tools::api::drop_in;
use crate::workspace::WorkspacePath;

/// The most paths that are examined because a command may name them.
const MAX_COMMAND_NAMED_PATHS: usize = 100_000;

/// The requested action for a project's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustRequest {
    /// Lists the items that need trust, without a change.
    Show,
    /// Trusts exactly the listed items.
    Grant {
        /// The [`TrustOutput::fingerprint`] of the listed items. If the items have changed since,
        /// the request is a conflict.
        fingerprint: String,
    },
    /// Revokes all trust in the project.
    Revoke,
    /// Suppresses further questions about trust.
    Decline {
        /// The fingerprint as in [`Grant`](Self::Grant): later items lead to a new question.
        /// Without it, no question is asked again.
        fingerprint: Option<String>,
    },
}

/// An item in a project's settings that needs trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustItem {
    /// The name ("`server.pylsp.command` of `servers.toml`").
    pub name: String,
    /// The value as TOML; for a program, the SHA-256 of its content.
    pub value: String,
}

/// The answer of `trust`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustOutput {
    /// Always true.
    pub ok: bool,
    /// The project's folder.
    pub workspace: String,
    /// Everything that needs trust, in the order of the files.
    pub items: Vec<TrustItem>,
    /// True if all items are trusted in their present state (also without items).
    pub trusted: bool,
    /// The differences from the items trusted before, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// True if trust was revoked by this request. The items are not listed then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// True if the user declined exactly these items at a terminal and is not asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
    /// A hash of all items, for [`TrustRequest::Grant`].
    pub fingerprint: String,
}

/// Shows, grants or revokes trust in the project.
pub(crate) async fn run(context: &Context, request: TrustRequest) -> Result<TrustOutput, ToolError> {
    let root = context.workspace.root();
    let refused = |error: &dyn std::fmt::Display| ToolError::new(ErrorCode::Denied, error.to_string());
    if request == TrustRequest::Revoke {
        let revoked = context.trust.revoke(root).map_err(|error| refused(&error))?;
        return Ok(TrustOutput::revoked_output(root, revoked));
    }
    let (fields, items) = trust_items(context).map_err(|error| refused(&error))?;
    let fingerprint = fingerprint(&items);
    match request {
        TrustRequest::Show | TrustRequest::Revoke => {}
        TrustRequest::Grant { fingerprint: given } if given == fingerprint => {
            context.trust.grant(root, &fields).map_err(|error| refused(&error))?;
        }
        TrustRequest::Grant { .. } => {
            let error = "the programs that the project wants to run have changed since they were shown";
            return Err(
                ToolError::new(ErrorCode::Conflict, error).with_hint("review it again: lsp-tools trust")
            );
        }
        TrustRequest::Decline { fingerprint } => {
            context.trust.decline(root, fingerprint).map_err(|error| refused(&error))?;
        }
    }
    let state = context.trust.is_trusted(root, &fields).map_err(|error| refused(&error))?;
    let mut changed = match &state {
        TrustState::Changed { what } => what.clone(),
        TrustState::Trusted | TrustState::Untrusted => Vec::new(),
    };
    // Deleted hooks block every call until the rest is trusted again.
    let recorded = context.trust.texts_below(root, &format!("{}/", hooks::files::FOLDER));
    let gone = recorded.map_err(|error| refused(&error))?.into_iter().filter(|path| !fields.has_text(path));
    changed.extend(gone.map(|path| format!("the hooks file `{path}` was removed")));
    let mut trusted = match &state {
        TrustState::Trusted => changed.is_empty(),
        TrustState::Untrusted => items.is_empty(),
        TrustState::Changed { .. } => false,
    };
    let mounts = context.config.settings.mounts.pins.iter().cloned();
    for (name, pin) in drop_in::pins(context).into_iter().chain(mounts) {
        match context.trust.tool_state(root, &name, &pin).map_err(|error| refused(&error))? {
            TrustState::Trusted => {}
            TrustState::Untrusted => trusted = false,
            TrustState::Changed { what } => {
                trusted = false;
                changed.extend(what);
            }
        }
    }
    let declined = context.trust.is_declined(root, &fingerprint).map_err(|error| refused(&error))?;
    let workspace = root.display().to_string();
    Ok(TrustOutput { ok: true, workspace, items, trusted, changed, revoked: false, declined, fingerprint })
}

impl TrustOutput {
    fn revoked_output(root: &Path, revoked: bool) -> Self {
        Self {
            ok: true,
            workspace: root.display().to_string(),
            items: Vec::new(),
            trusted: false,
            changed: Vec::new(),
            revoked,
            declined: false,
            fingerprint: fingerprint(&[]),
        }
    }
}

/// All items that need trust here: commands in the project's files, its own programs that would
/// run, its skills and hooks, and servers that run its code.
fn trust_items(context: &Context) -> Result<(LaunchFields, Vec<TrustItem>), TrustError> {
    let mut fields = context.config.launch.clone();
    let mut runners = Vec::new();
    for language in context.present_languages() {
        for (key, server) in context.catalogue().servers_for(&language.language) {
            let root = context.manager.root(key, &language.example);
            for program in own_programs(context, &root, server) {
                fields.add_program(context.workspace.root(), &program)?;
            }
            if server.runs_project_code && !runners.contains(&key) {
                runners.push(key);
            }
        }
    }
    for file in named_files(context)? {
        fields.add_program(context.workspace.root(), &file)?;
    }
    for (path, text) in texts_to_trust(context) {
        fields.add_text(&path, text.as_bytes());
    }
    for file in hook_files(context) {
        fields.add_text(&file.path, file.text.as_bytes());
    }
    for (name, pin) in drop_in::pins(context) {
        fields.add_tool(&name, &pin);
    }
    let mut items: Vec<TrustItem> =
        fields.approval_items().into_iter().map(|(name, value)| TrustItem { name, value }).collect();
    let runner = |key: &str| TrustItem {
        name: format!("the server {key}"),
        value: "runs code of this project (build scripts, macros, configuration) when it starts".to_owned(),
    };
    items.extend(runners.into_iter().map(runner));
    Ok((fields, items))
}

/// The files of the project that are named in commands of language servers, hooks, runners and
/// mounted servers, in the project's or the user's settings. Each command is parsed separately, as
/// at its start.
fn named_files(context: &Context) -> Result<BTreeSet<PathBuf>, TrustError> {
    let root = context.workspace.root();
    let folders = server_folders(context);
    let mut commands: Vec<(CommandWords, PathBuf)> = Vec::new();
    for command in commands_of_settings(context) {
        commands.extend(folders.iter().map(|folder| (command.clone(), folder.clone())));
    }
    // An invalid hooks file names no files; the error is reported when its hooks should run.
    for hooks in hook_files(context).iter().filter_map(|file| file.hooks().ok()) {
        for (cwd, command) in hooks.pre.iter().chain(&hooks.post).filter_map(CallHook::shell_command) {
            let words = vec!["bash".to_owned(), command.to_owned()];
            commands.push((CommandWords { words, cwd: None }, root.join(cwd)));
        }
    }
    let (mut paths, mut looked) = (BTreeSet::new(), 0);
    for (command, folder) in commands {
        let named = command.files_named(&folder).unwrap_or_else(|error| {
            tracing::warn!("a command is not trusted: {error}");
            BTreeSet::new()
        });
        looked += named.len();
        if looked > MAX_COMMAND_NAMED_PATHS {
            return Err(TrustError::TooManyNames { most: MAX_COMMAND_NAMED_PATHS });
        }
        paths.extend(
            named
                .into_iter()
                .filter(|path| path.is_file() && context.workspace.workspace_path(path).is_some()),
        );
    }
    Ok(paths)
}

/// The commands in the settings of the user and of the project, including the servers that they
/// add.
fn commands_of_settings(context: &Context) -> Vec<CommandWords> {
    let layers = context.config.settings.access.iter().map(|layer| &layer.access);
    let users = layers.flat_map(|access| {
        let hooks = access.hooks.pre.iter().chain(&access.hooks.post).map(|hook| &hook.command);
        hooks.chain(access.agents.values().filter_map(|agent| agent.runner.as_ref()))
    });
    let built_in = &Catalogue::built_in().servers;
    let is_own = |key: &String, server: &ServerSpec| {
        built_in.get(key).is_none_or(|known| known.command != server.command)
    };
    let servers = context.catalogue().servers.iter().filter(|(key, server)| is_own(key, server));
    let of_words = |words: &Vec<String>| CommandWords { words: words.clone(), cwd: None };
    let own = users.chain(servers.map(|(_, server)| &server.command)).map(of_words);
    let whole = context.config.launch.commands().iter().chain(&context.config.settings.mounts.commands);
    own.chain(whole.cloned()).collect()
}

/// The workspace, and the roots of the servers for its languages.
fn server_folders(context: &Context) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::from([context.workspace.root().to_owned()]);
    for language in context.present_languages() {
        for (key, _) in context.catalogue().servers_for(&language.language) {
            folders.insert(context.workspace.absolute(&context.manager.root(key, &language.example)));
        }
    }
    folders
}

/// The hooks files of the project. Unreadable files are left out, because they have no text to
/// trust.
fn hook_files(context: &Context) -> Vec<HookFile> {
    hooks::files::read(&context.workspace).unwrap_or_else(|error| {
        tracing::warn!("{}: {error}", hooks::files::FOLDER);
        Vec::new()
    })
}

/// The server's own program and the Python interpreter, if the project provides them.
fn own_programs(context: &Context, root: &WorkspacePath, server: &ServerSpec) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        locate::project_program(&context.workspace, root, server).into_iter().collect();
    if server.python_environment || server.python_path_setting.is_some() {
        // An active environment of the user's shell does not hide the project's.
        let environment = python::search(&context.workspace, root, &UserWord::default()).environment;
        found.extend(environment.and_then(|environment| environment.interpreter));
    }
    found
}

fn fingerprint(items: &[TrustItem]) -> String {
    let mut hasher = Sha256::new();
    for item in items {
        // Lengths prevent two different lists of items from having the same hash input.
        hasher.update(format!("{}:{}{}:{}", item.name.len(), item.name, item.value.len(), item.value));
    }
    hex(&hasher.finalize())
}
