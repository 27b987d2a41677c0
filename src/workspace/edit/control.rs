//! Control paths: files that decide which programs run or which calls are allowed. One list serves
//! the guard of edits ([`guard`](super::guard)) and the rules.
//!
//! Paths are compared as on the most tolerant file system: ignoring case, ignored characters, and
//! endings that some systems strip from names.

use std::ffi::OsStr;
use std::path::Path;

/// The policy for changes to a control path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ControlPathPolicy {
    /// No edit tool may make the change.
    Refused,
    /// The change needs an approval, unless a rule of the settings allows this path.
    Asked,
}

/// Control paths of one kind.
#[derive(Debug)]
struct ControlPathKind {
    care: ControlPathPolicy,
    /// The end of a sentence that begins with the path.
    why: &'static str,
    /// Names, or paths of several names, that count at any depth with everything beneath them; `*`
    /// at the beginning of a name stands for any beginning.
    paths: &'static [&'static str],
}

/// All kinds of control paths. A comment before each kind names the documentation of its paths.
const KINDS: &[ControlPathKind] = &[
    // https://git-scm.com/docs/gitrepository-layout, https://git-scm.com/docs/git-config#FILES
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "git's own files control the programs that git runs",
        paths: &[".git", "git~1", ".gitconfig", ".config/git"],
    },
    // docs/settings.md
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "it contains the settings, permissions and state of lsp-tools",
        paths: &[".lsp-tools", "lsp-tools.toml"],
    },
    // https://code.claude.com/docs/en/settings, https://cursor.com/docs,
    // https://developers.openai.com/codex/config-basic,
    // https://geminicli.com/docs/get-started/configuration,
    // https://docs.github.com/copilot/concepts/agents/about-copilot-cli,
    // https://opencode.ai/docs/config
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "it controls agents' permissions and programs",
        paths: &[
            ".claude",
            ".claude.json",
            ".cursor",
            ".codex",
            ".gemini",
            ".copilot",
            ".opencode",
            "opencode.json",
            "opencode.jsonc",
        ],
    },
    // https://modelcontextprotocol.io/docs/develop/connect-local-servers
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "it names programs that agents start",
        paths: &[".mcp.json", ".lsp.json", ".github/lsp.json", ".github/mcp.json"],
    },
    // https://code.visualstudio.com/docs/editing/workspaces/workspace-trust,
    // https://zed.dev/docs/tasks
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "it contains settings and tasks with which an editor runs programs",
        paths: &[
            ".vscode/settings.json",
            ".vscode/tasks.json",
            ".vscode/mcp.json",
            ".vscode/launch.json",
            ".zed/settings.json",
            ".zed/tasks.json",
            ".zed/debug.json",
            "*.code-workspace",
        ],
    },
    // https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html,
    // https://direnv.net, https://zsh.sourceforge.io/Doc/Release/Files.html,
    // https://fishshell.com/docs/current/language.html#configuration
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "shells run it when they start or enter the folder",
        paths: &[
            ".envrc",
            ".profile",
            ".bashrc",
            ".bashrc.d",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            "config.fish",
            ".config/fish",
        ],
    },
    // sshd(8), ssh_config(5)
    ControlPathKind {
        care: ControlPathPolicy::Refused,
        why: "it controls logins and their keys",
        paths: &[".ssh"],
    },
    // https://git-scm.com/docs/githooks, https://typicode.github.io/husky, https://pre-commit.com,
    // https://lefthook.dev/configuration,
    // https://docs.github.com/copilot/concepts/agents/coding-agent/about-hooks
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "git or agents run the hooks in it",
        paths: &[
            ".github/hooks",
            ".husky",
            ".githooks",
            ".pre-commit-config.yaml",
            ".pre-commit-config.yml",
            "lefthook.yml",
            "lefthook.yaml",
            "lefthook.toml",
            "lefthook.json",
            "lefthook-local.yml",
            ".lefthook.yml",
            ".lefthook.yaml",
            ".lefthook.toml",
            ".lefthook",
        ],
    },
    // https://docs.windsurf.com, https://docs.roocode.com, https://kiro.dev/docs,
    // https://docs.aws.amazon.com/amazonq, https://www.jetbrains.com/help/junie,
    // https://docs.factory.ai, https://docs.trae.ai, https://qwenlm.github.io/qwen-code-docs,
    // https://github.com/charmbracelet/crush, https://docs.continue.dev,
    // https://aider.chat/docs/config.html
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "it controls an agent's permissions and programs",
        paths: &[
            ".windsurf",
            ".roo",
            ".kiro",
            ".amazonq",
            ".junie",
            ".factory",
            ".trae",
            ".qwen",
            ".continue",
            ".cline",
            ".clinerules",
            ".augment",
            ".goose",
            ".crush.json",
            "crush.json",
            ".aider.conf.yml",
        ],
    },
    // https://www.jetbrains.com/help/idea/project-security.html,
    // https://vimhelp.org/options.txt.html#%27exrc%27,
    // https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html,
    // https://docs.helix-editor.com/languages.html,
    // https://www.sublimetext.com/docs/build_systems.html
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "an editor runs programs or code from it",
        paths: &[
            ".idea/workspace.xml",
            ".idea/runconfigurations",
            ".run",
            ".fleet",
            ".exrc",
            ".vimrc",
            ".nvimrc",
            ".nvim.lua",
            ".dir-locals.el",
            ".dir-locals-2.el",
            ".helix",
            "*.sublime-project",
            ".vim",
            ".emacs",
            ".emacs.d",
            ".config/nvim",
            ".config/helix",
        ],
    },
    // https://containers.dev/implementors/json_reference (`initializeCommand` is run on the host)
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "a development container runs commands from it, some of them outside the container",
        paths: &[".devcontainer", ".devcontainer.json"],
    },
    // https://doc.rust-lang.org/cargo/reference/config.html,
    // https://yarnpkg.com/configuration/yarnrc, https://docs.npmjs.com/cli/configuring-npm/npmrc,
    // https://pnpm.io/pnpmfile, https://mise.jdx.dev/configuration.html,
    // https://bazel.build/run/bazelrc,
    // https://sourceware.org/gdb/current/onlinedocs/gdb.html/Auto_002dloading.html
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "it names programs that a build tool or debugger runs",
        paths: &[
            ".cargo/config.toml",
            ".cargo/config",
            ".yarnrc.yml",
            ".yarnrc",
            ".npmrc",
            ".pnpmfile.cjs",
            ".pnpmfile.mjs",
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise",
            ".config/mise",
            ".bazelrc",
            ".gdbinit",
            ".lldbinit",
        ],
    },
    // https://docs.python.org/3/library/site.html, https://docs.python.org/3/library/venv.html,
    // https://docs.npmjs.com/cli/v11/configuring-npm/folders
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "programs there run instead of installed ones, or whenever one starts",
        paths: &[
            ".venv/bin",
            "venv/bin",
            "node_modules/.bin",
            ".local/bin",
            "sitecustomize.py",
            "usercustomize.py",
        ],
    },
    // https://specifications.freedesktop.org/autostart-spec, systemd.unit(5), environment.d(5),
    // Xsession(5), tmux(1)
    ControlPathKind {
        care: ControlPathPolicy::Asked,
        why: "it is run or read at its owner's login",
        paths: &[
            ".config/autostart",
            ".config/systemd",
            ".config/environment.d",
            ".pam_environment",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".xsessionrc",
            ".tmux.conf",
            ".config/tmux",
        ],
    },
];

/// The extent of an operation at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TouchKind {
    /// The file is written, created or removed.
    Content,
    /// The object appears or disappears with all its content: a rename.
    Whole,
}

/// Returns the reason why no edit tool may change the relative `path`, as the end of a sentence
/// that begins with it; `None` if they may.
pub(super) fn refusal_reason(path: &Path, touch: TouchKind) -> Option<&'static str> {
    control_reason(ControlPathPolicy::Refused, path, touch)
}

/// Returns the reason why a change of the relative `path` needs an approval, as the end of a
/// sentence that begins with it; `None` if it needs none. A folder that would include such files
/// counts.
pub(crate) fn approval_reason(path: &Path) -> Option<&'static str> {
    control_reason(ControlPathPolicy::Asked, path, TouchKind::Whole)
}

fn control_reason(care: ControlPathPolicy, path: &Path, touch: TouchKind) -> Option<&'static str> {
    let names: Vec<String> = path.components().map(|component| fold_name(component.as_os_str())).collect();
    let kinds = KINDS.iter().filter(|kind| kind.care == care);
    let mut matching =
        kinds.filter(|kind| kind.paths.iter().any(|control| matches_control_path(control, &names, touch)));
    matching.next().map(|kind| kind.why)
}

/// Returns true if the path with these names is the control path or lies in it. If it is changed as
/// a whole, a folder above the control path counts too.
fn matches_control_path(control: &str, names: &[String], touch: TouchKind) -> bool {
    let count = control.split('/').count();
    (0..names.len()).any(|from| {
        let here = &names[from..];
        let agree = control.split('/').zip(here).all(|(wanted, name)| match wanted.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == wanted,
        });
        agree && (here.len() >= count || touch == TouchKind::Whole)
    })
}

/// Folds `name` as file systems that fold case, ignore invisible characters or strip endings would
/// compare it.
fn fold_name(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    // The part behind a colon is a stream of the same file on some systems.
    let name = name.split(':').next().unwrap_or_default();
    let visible = name.chars().filter(|character| !is_ignorable(*character));
    // Upper case first: some letters have their plain sibling only there (ſ, Kelvin's K, dotless
    // ı).
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

    fn verdict(path: &str, touch: TouchKind) -> bool {
        refusal_reason(Path::new(path), touch).is_some()
    }

    #[test]
    fn control_files_are_refused_in_every_spelling() {
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
            ".ssh/authorized_keys",
            ".gitconfig ",
            ".config/fish/config.fish",
            ".config/fish/conf.d/x.fish",
            ".config/git/config",
            ".bashrc.d/x",
        ] {
            assert!(verdict(path, TouchKind::Content), "{path}");
        }
    }

    #[test]
    fn file_resembling_control_file_is_not_refused() {
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
            ".env",
            "a.git",
            ".vscode/sub/settings.json",
            "digit~1",
        ] {
            assert!(!verdict(path, TouchKind::Content), "{path}");
        }
    }

    #[test]
    fn folder_with_control_files_is_refused_for_moves_only() {
        assert!(verdict("a/.vscode", TouchKind::Whole));
        assert!(verdict(".VSCODE", TouchKind::Whole));
        assert!(!verdict(".vscode", TouchKind::Content));
        assert!(!verdict("src", TouchKind::Whole));
    }

    #[test]
    fn file_that_starts_programs_requires_confirmation() {
        for path in [
            ".github/hooks/x.json",
            ".GitHub/Hooks/x.json",
            ".husky/pre-commit",
            "web/.husky/_/h",
            ".devcontainer/devcontainer.json",
            ".devcontainer.json",
            ".cargo/config.toml",
            "crates/a/.cargo/config",
            ".idea/workspace.xml",
            ".idea/runConfigurations/x.xml",
            "x.sublime-project",
            ".venv/bin/python",
            "node_modules/.bin/tsc",
            "src/sitecustomize.py",
            ".kiro/settings/mcp.json",
            ".config/systemd/user/x.service",
            // Folders that would bring such files along.
            ".github",
            ".cargo",
            "a/.venv",
        ] {
            assert!(approval_reason(Path::new(path)).is_some(), "{path}");
            assert_eq!(refusal_reason(Path::new(path), TouchKind::Content), None, "{path}");
        }
        for path in [
            ".github/workflows/ci.yml",
            ".cargo/audit.toml",
            ".idea/modules.xml",
            "src/hooks/use.ts",
            "bin/run",
            "node_modules/x/index.js",
            "husky/x",
            "config.toml",
            "src/main.rs",
            "AGENTS.md",
        ] {
            assert_eq!(approval_reason(Path::new(path)), None, "{path}");
        }
    }
}
