//! `[chats]`: the access of agents to the user's chats, and the folders that hold them. Only the
//! user's own settings count: chats are private, and a project must not expose them.

use schemars::JsonSchema;
use serde::Deserialize;

/// The access of agents to the user's chats, and the folders of these chats.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ChatSettings {
    /// True to offer tools that read the user's chats (false if absent). This key counts only in
    /// the user's own file.
    pub(crate) enabled: bool,
    /// The `User` folders of VS Code and its variants, instead of the usual ones; from `/` or `~/`.
    /// This key counts only in the user's own file.
    pub(crate) vscode: Option<Vec<String>>,
    /// The folders of Copilot's command line, instead of the usual one; from `/` or `~/`. This key
    /// counts only in the user's own file.
    pub(crate) copilot_cli: Option<Vec<String>>,
}

impl ChatSettings {
    /// The folders by the key that names them.
    pub(super) fn folders(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let vscode = self.vscode.iter().flatten().map(|folder| ("vscode", folder));
        vscode.chain(self.copilot_cli.iter().flatten().map(|folder| ("copilot-cli", folder)))
    }
}

/// Returns the fault of a folder, if it has one.
pub(super) fn folder_problem(key: &str, folder: &str) -> Option<String> {
    let rooted = folder.starts_with('/') || folder.starts_with("~/");
    (!rooted).then(|| format!("`chats.{key}` names `{folder}`; give a path from `/` or `~/`"))
}
