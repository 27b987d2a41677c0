//! Hooks folders and included files of the workspace that `.git/config` names.

use std::path::Path;

use crate::workspace::{Workspace, WorkspacePath};

const CONFIG: &str = ".git/config";
/// The largest file of git's settings that is read.
const MAX_GIT_CONFIG_BYTES: u64 = 1 << 20;

impl Workspace {
    /// Returns the folders of hooks and the files of further settings that `.git/config` names
    /// inside the workspace (`core.hooksPath`, `include.path`, `includeIf.*.path`; git-config(1)).
    /// Empty if the root is not the top of a repository.
    pub(crate) fn named_by_git_config(&self) -> Vec<WorkspacePath> {
        let Ok(config) = self.path(Path::new(CONFIG)) else { return Vec::new() };
        let Ok(file) = self.read_text_up_to(&config, MAX_GIT_CONFIG_BYTES) else { return Vec::new() };
        let named = config_paths(&file.text).filter_map(|named| {
            let absolute = match named {
                // Hooks run at the top of the work tree.
                GitConfigPath::Hooks(path) => self.root().join(path),
                GitConfigPath::Include(path) => self.root().join(".git").join(path),
            };
            self.path(&absolute).ok().filter(|path| !path.is_root())
        });
        named.collect()
    }
}

enum GitConfigPath<'a> {
    Hooks(&'a str),
    Include(&'a str),
}

fn config_paths(text: &str) -> impl Iterator<Item = GitConfigPath<'_>> {
    let mut section = String::new();
    text.lines().filter_map(move |line| {
        let line = line.trim();
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((header, rest)) => {
                let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
                section = name.to_ascii_lowercase();
                rest.trim()
            }
            None => line,
        };
        let (key, value) = line.split_once('=')?;
        let value = value.split(['#', ';']).next().unwrap_or_default().trim().trim_matches('"');
        match (section.as_str(), key.trim().to_ascii_lowercase().as_str()) {
            ("core", "hookspath") => Some(GitConfigPath::Hooks(value)),
            ("include" | "includeif", "path") => Some(GitConfigPath::Include(value)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_config_hooks_path_and_includes_are_found() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".git")).unwrap();
        let text = "[core]\n\tbare = false\n\tHooksPath = \"tools/hooks\" # ours\n[include] path = ../shared.cfg\n\
                    [includeIf \"gitdir:~/x\"]\n path = ../more/git.cfg\n[alias]\n path = no\n[include]\n path = /etc/gitconfig\n";
        std::fs::write(temp.path().join(".git/config"), text).unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let named: Vec<String> = workspace.named_by_git_config().iter().map(WorkspacePath::display).collect();
        assert_eq!(named, ["tools/hooks", "shared.cfg", "more/git.cfg"]);
        let bare = tempfile::tempdir().unwrap();
        assert!(Workspace::open(bare.path()).unwrap().named_by_git_config().is_empty());
    }
}
