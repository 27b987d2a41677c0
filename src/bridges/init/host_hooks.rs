//! The hooks of hosts that call us after edits and at searches: inserting and removing them in the
//! hosts' files.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::InitError;
use super::file::{InitFileChange, check_inside, text_of, unless_emptied};
use super::host::{HostDirectories, HostScope, McpHost};
use super::list::{HostListElement, put_elements, remove_elements};
use crate::policy::hooks::files::OWN_FILE;
use crate::text::shell_word;

/// The host's time limit for a hook, in seconds. The hook itself gives up long before that.
const HOST_HOOK_TIMEOUT_SECONDS: u64 = 10;
/// The host's time limit for the hook at the end of a turn, in seconds.
const HOST_GATE_TIMEOUT_SECONDS: u64 = 30;

/// The starts of a host's session after which servers may not be running.
const SESSION_STARTS: &str = "startup|resume";

/// The lists of hooks at the start and end of a turn, as Claude Code calls them.
const TURN: [&str; 2] = ["UserPromptSubmit", "Stop"];

/// The plugin through which opencode calls us, with the time limit of the hooks of other hosts. If
/// the program does not start, the model reads one line.
const OPENCODE_PLUGIN: &str = include_str!("opencode_plugin.js");

/// The form of a host's hooks.
enum HookSetup {
    /// Elements of lists in a file of the host's JSON.
    Elements(PathBuf, Vec<HostListElement>),
    /// A file that contains only our hooks.
    File(PathBuf, String),
}

/// Computes the change after which the host calls `program` after edits and at searches, or no
/// longer does. If the file is one of `earlier`, that change is included.
///
/// # Errors
/// The host has no hooks that reach its model, or a file cannot be preserved.
pub(crate) fn hook_changes(
    host: McpHost,
    scope: HostScope,
    places: &HostDirectories,
    (program, remove): (&str, bool),
    earlier: &[InitFileChange],
) -> Result<InitFileChange, InitError> {
    let setup = setup(host, scope, places, program)?;
    let (HookSetup::Elements(path, _) | HookSetup::File(path, _)) = &setup;
    let path = path.clone();
    if scope == HostScope::Project {
        check_inside(&path, &places.project)?;
    }
    let file = path.display().to_string();
    let (before, text) = match earlier.iter().find(|change| change.path == path) {
        Some(change) => (change.before.clone(), change.after.clone()),
        None => {
            let text = text_of(&path)?;
            (text.clone(), text)
        }
    };
    let after = match (&setup, &text, remove) {
        (_, None, true) => None,
        (HookSetup::Elements(_, elements), Some(text), true) => {
            unless_emptied(text, remove_elements(&file, text, elements)?)
        }
        (HookSetup::Elements(_, elements), text, false) => {
            Some(put_elements(&file, text.as_deref(), elements)?)
        }
        (HookSetup::File(..), Some(_), true) => None,
        (HookSetup::File(_, text), _, false) => Some(text.clone()),
    };
    Ok(InitFileChange { path, before, after })
}

/// Returns the file of the host's hooks of `scope`, if they exist.
pub(super) fn has_hooks(host: McpHost, scope: HostScope, places: &HostDirectories) -> Option<PathBuf> {
    // The program's name is not part of the marks.
    let change = hook_changes(host, scope, places, ("lsp-tools", true), &[]).ok()?;
    (!change.is_done()).then_some(change.path)
}

fn setup(
    host: McpHost,
    scope: HostScope,
    places: &HostDirectories,
    program: &str,
) -> Result<HookSetup, InitError> {
    let project = scope == HostScope::Project;
    let folder = |name: &str, users: PathBuf| if project { places.project.join(name) } else { users };
    let hooks = HookWords { host, program };
    Ok(match host {
        McpHost::ClaudeCode => HookSetup::Elements(
            folder(".claude", places.claude_folder()).join("settings.json"),
            hooks.elements(TURN, ("PostToolUse", "Edit|Write|MultiEdit"), ("PreToolUse", "Grep|Bash")),
        ),
        McpHost::Codex => HookSetup::Elements(
            folder(".codex", places.codex_folder()).join("hooks.json"),
            hooks.elements(TURN, ("PostToolUse", "apply_patch"), ("PreToolUse", "Bash")),
        ),
        // Gemini's hooks can add nothing before a tool runs, so the information about a symbol
        // follows the matches.
        McpHost::Gemini => HookSetup::Elements(
            folder(".gemini", places.home.join(".gemini")).join("settings.json"),
            hooks.elements(
                ["BeforeAgent", "AfterAgent"],
                ("AfterTool", "replace|write_file"),
                ("AfterTool", "grep_search|search_file_content|run_shell_command"),
            ),
        ),
        // A hook of Qwen Code before a tool has to decide on the call, so it runs after the tool.
        McpHost::QwenCode => HookSetup::Elements(
            folder(".qwen", places.home.join(".qwen")).join("settings.json"),
            hooks.elements(
                TURN,
                ("PostToolUse", "edit|write_file"),
                ("PostToolUse", "grep_search|run_shell_command"),
            ),
        ),
        McpHost::CopilotCli => HookSetup::File(
            folder(".github", places.copilot_folder()).join("hooks").join(OWN_FILE),
            hooks.copilot_file(),
        ),
        McpHost::OpenCode => {
            let text = OPENCODE_PLUGIN.replace("\"LSP_TOOLS\"", &json!(program).to_string());
            HookSetup::File(
                folder(".opencode", places.config.join("opencode")).join("plugins/lsp-tools.js"),
                text,
            )
        }
        McpHost::VsCode
        | McpHost::Cursor
        | McpHost::Zed
        | McpHost::Goose
        | McpHost::Cline
        | McpHost::Crush
        | McpHost::Kiro
        | McpHost::Windsurf => {
            return Err(InitError::Unsupported(format!(
                "{} has no hooks that were tested with lsp-tools; --instructions works with it",
                host.title()
            )));
        }
    })
}

/// The parameters of one host's hooks.
struct HookWords<'a> {
    host: McpHost,
    program: &'a str,
}

impl HookWords<'_> {
    fn command(&self, event: &str) -> String {
        format!("{} hook {} {event}", shell_word(self.program), self.host.name())
    }

    /// The elements of all lists of a host: at the start and end of a turn, and, with their lists,
    /// the tools that edit and that search.
    fn elements(
        &self,
        [begins, ends]: [&str; 2],
        (edit, edits): (&str, &str),
        (search, searches): (&str, &str),
    ) -> Vec<HostListElement> {
        // Gemini CLI compares this matcher as a whole, so the pattern would never match.
        let starts = (self.host != McpHost::Gemini).then_some(SESSION_STARTS);
        vec![
            self.element("SessionStart", starts, "start"),
            self.element(begins, None, "turn"),
            self.element(ends, None, "stop"),
            self.element(edit, Some(edits), "edit"),
            self.element(search, Some(searches), "search"),
        ]
    }

    /// Creates an element of the list of `list`'s hooks, in the form introduced by Claude Code.
    fn element(&self, list: &str, matcher: Option<&str>, event: &str) -> HostListElement {
        let seconds = timeout_seconds(event);
        let timeout = if self.host == McpHost::Gemini { seconds * 1_000 } else { seconds };
        let hook = json!({"type": "command", "command": self.command(event), "timeout": timeout});
        let value = match matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
            None => json!({"hooks": [hook]}),
        };
        HostListElement {
            path: vec!["hooks".to_owned(), list.to_owned()],
            value,
            mark: format!(" hook {} {event}", self.host.name()),
        }
    }

    fn copilot_file(&self) -> String {
        let hook = |event: &str| {
            let (command, limit) = (self.command(event), timeout_seconds(event));
            json!({"type": "command", "bash": command, "timeoutSec": limit})
        };
        let matching = |event: &str, matcher: &str| {
            let mut hook = hook(event);
            hook["matcher"] = json!(matcher);
            json!([hook])
        };
        let hooks = json!({
            "sessionStart": [hook("start")],
            "userPromptSubmitted": [hook("turn")],
            "postToolUse": matching("edit", "edit|create|apply_patch|str_replace_editor"),
            "preToolUse": matching("search", "grep|rg|bash"),
            "agentStop": [hook("stop")],
        });
        let value: Value = json!({"version": 1, "hooks": hooks});
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }
}

fn timeout_seconds(event: &str) -> u64 {
    if event == "stop" { HOST_GATE_TIMEOUT_SECONDS } else { HOST_HOOK_TIMEOUT_SECONDS }
}
