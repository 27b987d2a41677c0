//! Control paths: files that decide what runs or what is allowed, and that no tool may therefore change.
//!
//! Names are compared as the most forgiving file system would: without regard to case, to characters that it ignores, and
//! to what it cuts off at the end of a name. Every path is judged twice, as it was given and as it really is, so that a
//! link does not hide it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::EditError;
use super::locate::Tree;
use super::survey::identity_at;
use crate::workspace::{Workspace, WorkspacePath};

const GIT: &str = "git's own files decide what runs when git is used";
const OWN: &str = "it holds the settings, permissions and state of lsp-tools itself";
const AGENT: &str = "it governs what agents may do and which programs they start";
const MCP: &str = "it names programs that agents start";
const EDITOR: &str = "it holds settings and tasks by which an editor runs programs";
const SHELL: &str = "shells run it when they start or enter the folder";
const KEYS: &str = "it decides who may log in and with which keys";

/// Names that are forbidden for files and folders at any depth, with all that lies in such a folder.
const NAMES: &[(&str, &str)] = &[
    (".git", GIT),
    ("git~1", GIT),
    (".gitconfig", GIT),
    (".lsp-tools", OWN),
    (".lsp-tools-lease", OWN),
    ("lsp-tools.toml", OWN),
    (".claude", AGENT),
    (".claude.json", AGENT),
    (".cursor", AGENT),
    (".codex", AGENT),
    (".gemini", AGENT),
    (".copilot", AGENT),
    (".opencode", AGENT),
    ("opencode.json", AGENT),
    ("opencode.jsonc", AGENT),
    (".mcp.json", MCP),
    (".lsp.json", MCP),
    (".envrc", SHELL),
    (".profile", SHELL),
    (".bashrc", SHELL),
    (".bash_profile", SHELL),
    (".bash_login", SHELL),
    (".bash_logout", SHELL),
    (".bash_aliases", SHELL),
    (".zshrc", SHELL),
    (".zshenv", SHELL),
    (".zprofile", SHELL),
    (".zlogin", SHELL),
    (".zlogout", SHELL),
    (".kshrc", SHELL),
    (".cshrc", SHELL),
    (".tcshrc", SHELL),
    (".login", SHELL),
    (".logout", SHELL),
    ("config.fish", SHELL),
    (".ssh", KEYS),
];

/// Files that are forbidden in folders of this name; the folder itself is not made, moved or renamed either.
const IN_FOLDERS: &[(&str, &[&str], &str)] = &[
    (".vscode", &["settings.json", "tasks.json", "mcp.json", "launch.json"], EDITOR),
    (".zed", &["settings.json", "tasks.json", "debug.json"], EDITOR),
    (".github", &["lsp.json", "mcp.json"], MCP),
];

/// Ends of names that are forbidden.
const ENDINGS: &[(&str, &str)] = &[(".code-workspace", EDITOR)];

/// What makes a folder git's own, whatever it is called.
const GIT_DIRECTORY: [&str; 3] = ["HEAD", "objects", "refs"];

/// The judge of one workspace.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    /// The user's own folders, where they lie inside the workspace, relative to it.
    own: Vec<PathBuf>,
}

/// How a path is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// The file at it is written, made or removed.
    Content,
    /// What is at it appears or disappears with all that it holds: a rename.
    Whole,
}

impl Guard {
    /// The judge of `workspace`, in which nothing at or below one of `protected` (absolute) is changed either.
    pub(super) fn new(workspace: &Workspace, protected: &[PathBuf]) -> Self {
        let inside = |path: &PathBuf| {
            let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            workspace.inside(&canonical).map(|path| path.as_path().to_owned())
        };
        Self { own: protected.iter().filter_map(inside).collect() }
    }

    /// Refuses `path` (relative to the root) if it is a control path; the error names `given`.
    pub(super) fn check(&self, path: &Path, touch: Touch, given: &WorkspacePath) -> Result<(), EditError> {
        self.verdict(path, touch).map_or(Ok(()), |why| Err(refused(given, why)))
    }

    /// Refuses `path`, without links, if it is, or lies in, a folder that is git's own by what is in it.
    pub(super) fn check_place(
        &self,
        tree: &Tree,
        path: &Path,
        given: &WorkspacePath,
    ) -> Result<(), EditError> {
        match path.ancestors().any(|folder| is_git_directory(tree, folder)) {
            true => Err(refused(given, GIT)),
            false => Ok(()),
        }
    }

    fn verdict(&self, path: &Path, touch: Touch) -> Option<&'static str> {
        let own = |own: &PathBuf| path.starts_with(own) || (touch == Touch::Whole && own.starts_with(path));
        if self.own.iter().any(own) {
            return Some(OWN);
        }
        let names: Vec<String> = path.components().map(|component| folded(component.as_os_str())).collect();
        let by_name = |name: &String| {
            let exact = NAMES.iter().find(|(forbidden, _)| name == forbidden);
            let ending = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
            exact.or(ending).map(|(_, why)| *why)
        };
        names.iter().find_map(by_name).or_else(|| in_folder(&names, touch))
    }
}

fn in_folder(names: &[String], touch: Touch) -> Option<&'static str> {
    let (last, above) = names.split_last()?;
    IN_FOLDERS.iter().find_map(|(folder, files, why)| {
        let moved = touch == Touch::Whole && last == folder;
        let held = above.last().is_some_and(|above| above == folder) && files.contains(&last.as_str());
        (moved || held).then_some(*why)
    })
}

fn refused(given: &WorkspacePath, why: &'static str) -> EditError {
    EditError::Control { path: given.display(), why }
}

fn is_git_directory(tree: &Tree, folder: &Path) -> bool {
    let Ok(folder) = tree.folder(folder) else { return false };
    GIT_DIRECTORY.iter().all(|name| matches!(identity_at(&folder, OsStr::new(name)), Ok(Some(_))))
}

/// `name` as file systems that fold case, ignore invisible characters or cut ends off would compare it.
fn folded(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    // What follows a colon is a stream of the same file on some systems.
    let name = name.split(':').next().unwrap_or_default();
    let visible = name.chars().filter(|character| !is_ignorable(*character));
    // Upper case first: some letters have their plain sibling only there (ſ, Kelvin's K, dotless ı).
    let folded: String = visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// Characters that file systems with normalised names ignore.
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str, touch: Touch) -> bool {
        Guard { own: vec![PathBuf::from("state")] }.verdict(Path::new(path), touch).is_some()
    }

    #[test]
    fn what_governs_is_refused_however_it_is_spelled() {
        for path in [
            ".git/config",
            ".git",
            "sub/.git",
            ".GIT/hooks/pre-commit",
            ".Git./config",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/config",
            "git~1/config",
            ".lsp-tools/servers.toml",
            "a/.lsp-tools/tools/x.json",
            "lsp-tools.toml",
            "LSP-TOOLS.TOML",
            ".mcp.json",
            ".MCP.json",
            "a/.mcp.json",
            ".vscode/settings.json",
            ".VSCode/Tasks.JSON",
            "a/.vscode/mcp.json",
            ".vscode/launch.json",
            ".claude/settings.json",
            ".Cursor/MCP.json",
            ".cursor/rules",
            ".codex/config.toml",
            ".gemini/settings.json",
            "OpenCode.json",
            "a/opencode.jsonc",
            ".github/lsp.json",
            ".lsp.json",
            ".envrc",
            ".bashrc",
            ".ba\u{17f}hrc",
            ".\u{212a}shrc",
            ".zshrc",
            ".profile",
            "x.code-workspace",
            "state",
            "state/x",
            ".ssh/authorized_keys",
            ".gitconfig ",
            ".config/fish/config.fish",
        ] {
            assert!(verdict(path, Touch::Content), "{path}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_not() {
        for path in [
            ".gitignore",
            ".github/workflows/ci.yml",
            ".gitattributes",
            "git/config",
            ".vscode/extensions.json",
            "settings.json",
            "tasks.json",
            "src/lsp-tools.toml.rs",
            "mcp.json",
            "claude/x",
            "states/x",
            ".env",
            "a.git",
            ".vscode/sub/settings.json",
            "digit~1",
        ] {
            assert!(!verdict(path, Touch::Content), "{path}");
        }
    }

    #[test]
    fn a_folder_that_would_carry_them_is_not_moved() {
        assert!(verdict("a/.vscode", Touch::Whole));
        assert!(verdict(".VSCODE", Touch::Whole));
        assert!(!verdict(".vscode", Touch::Content));
        assert!(!verdict("src", Touch::Whole));
        let guard = Guard { own: vec![PathBuf::from("home/state")] };
        assert!(guard.verdict(Path::new("home"), Touch::Whole).is_some());
        assert!(guard.verdict(Path::new("home"), Touch::Content).is_none());
    }
}
