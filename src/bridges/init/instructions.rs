//! The block about our tools in the hosts' instruction files for models: inserting, updating and
//! removing it.

use std::path::{Path, PathBuf};

use super::InitError;
use super::file::{InitFileChange, check_inside, text_of, unless_emptied};
use super::host::{HostDirectories, HostScope, McpHost};

/// The marks around the block. The text between them is ours.
const BEGIN: &str = "<!-- lsp-tools:begin -->";
const END: &str = "<!-- lsp-tools:end -->";

/// The text of the block. It describes the use of each tool and leaves the choice to the model:
/// orders lose their effect over time, and cost trust if a tool cannot help.
const BLOCK: &str = "\
## Questions about code

The MCP server `lsp-tools` asks the language servers of this project, which know what text search can only guess.

- To understand a symbol: `explore` shows its source, callers, callees, tests and errors in one answer.
- Before changing a symbol: `lsp_references` lists its uses; `lsp_rename` renames it in all files.
- For more, as whole functions (`edit_symbol`), callers (`lsp_calls`) or moves: `tools` lists and calls them.
- After edits: `lsp_diagnostics` says what they broke. The verdicts `partial` and `no_data` do not mean clean.
- Text search remains right for words that are no symbols.
- Without these tools, as in some sub-agents, from a shell: `lsp-tools explore NAME`, `references NAME`, `check FILE`.
";

/// The limit on files of sub-agents that get the block.
const MAX_AGENT_FILES: usize = 100;

/// Computes the changes after which the host's instruction files have the block, or no longer have
/// it.
///
/// # Errors
/// The host has no such file, or one of them cannot be read.
pub(crate) fn instruct(
    host: McpHost,
    scope: HostScope,
    places: &HostDirectories,
    remove: bool,
) -> Result<Vec<InitFileChange>, InitError> {
    let own = instruction_file(host, scope, places).ok_or_else(|| {
        let reason = "has no file of instructions for all projects; use --scope project";
        InitError::Unsupported(format!("{} {reason}", host.title()))
    })?;
    let agents = agent_files(host, scope, places);
    let mut changes = Vec::new();
    for path in std::iter::once(own).chain(agents) {
        if scope == HostScope::Project {
            check_inside(&path, &places.project)?;
        }
        let before = text_of(&path)?;
        let after = match (&before, remove) {
            (None, true) => None,
            (Some(text), true) => unless_emptied(text, without_block(text)),
            (text, false) => Some(with_block(text.as_deref().unwrap_or_default())),
        };
        changes.push(InitFileChange { path, before, after });
    }
    Ok(changes)
}

/// The instruction file that the host reads at the start of every session.
fn instruction_file(host: McpHost, scope: HostScope, places: &HostDirectories) -> Option<PathBuf> {
    let project = |name: &str| Some(places.project.join(name));
    match (host, scope) {
        (McpHost::ClaudeCode, HostScope::Project) => project("CLAUDE.md"),
        (McpHost::ClaudeCode, HostScope::User) => Some(places.claude_folder().join("CLAUDE.md")),
        (McpHost::Gemini, HostScope::Project) => project("GEMINI.md"),
        (McpHost::Gemini, HostScope::User) => Some(places.home.join(".gemini/GEMINI.md")),
        (McpHost::QwenCode, HostScope::Project) => project("QWEN.md"),
        (McpHost::QwenCode, HostScope::User) => Some(places.home.join(".qwen/QWEN.md")),
        (McpHost::CopilotCli | McpHost::VsCode, HostScope::Project) => {
            project(".github/copilot-instructions.md")
        }
        (McpHost::CopilotCli, HostScope::User) => {
            Some(places.copilot_folder().join("copilot-instructions.md"))
        }
        (
            McpHost::Codex
            | McpHost::OpenCode
            | McpHost::Cursor
            | McpHost::Zed
            | McpHost::Goose
            | McpHost::Cline
            | McpHost::Crush
            | McpHost::Kiro
            | McpHost::Windsurf,
            HostScope::Project,
        ) => project("AGENTS.md"),
        (McpHost::Codex, HostScope::User) => Some(places.codex_folder().join("AGENTS.md")),
        (McpHost::OpenCode, HostScope::User) => Some(places.config.join("opencode/AGENTS.md")),
        (McpHost::Goose, HostScope::User) => Some(places.config.join("goose/.goosehints")),
        (
            McpHost::VsCode
            | McpHost::Cursor
            | McpHost::Zed
            | McpHost::Cline
            | McpHost::Crush
            | McpHost::Kiro
            | McpHost::Windsurf,
            HostScope::User,
        ) => None,
    }
}

/// Returns the existing files of the host's sub-agents. Most of them start without the host's own
/// instructions.
fn agent_files(host: McpHost, scope: HostScope, places: &HostDirectories) -> Vec<PathBuf> {
    let folder = match (host, scope) {
        (McpHost::ClaudeCode, HostScope::Project) => places.project.join(".claude/agents"),
        (McpHost::ClaudeCode, HostScope::User) => places.claude_folder().join("agents"),
        (McpHost::OpenCode, HostScope::Project) => places.project.join(".opencode/agents"),
        (McpHost::OpenCode, HostScope::User) => places.config.join("opencode/agents"),
        (McpHost::Gemini, HostScope::Project) => places.project.join(".gemini/agents"),
        (McpHost::Gemini, HostScope::User) => places.home.join(".gemini/agents"),
        (McpHost::QwenCode, HostScope::Project) => places.project.join(".qwen/agents"),
        (McpHost::QwenCode, HostScope::User) => places.home.join(".qwen/agents"),
        (McpHost::CopilotCli | McpHost::VsCode, HostScope::Project) => places.project.join(".github/agents"),
        (McpHost::CopilotCli, HostScope::User) => places.copilot_folder().join("agents"),
        _ => return Vec::new(),
    };
    let is_agent = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_agent)
        .take(MAX_AGENT_FILES)
        .collect();
    files.sort();
    files
}

/// Returns the host's own file if it has the block.
pub(super) fn has_block(host: McpHost, scope: HostScope, places: &HostDirectories) -> Option<PathBuf> {
    let path = instruction_file(host, scope, places)?;
    let text = text_of(Path::new(&path)).ok()??;
    block_in(&text).map(|_| path)
}

/// Returns the range of the block, including its last line break.
fn block_in(text: &str) -> Option<std::ops::Range<usize>> {
    let end = text.find(END)?;
    let start = text[..end].rfind(BEGIN)?;
    let end = end + END.len();
    let break_after = usize::from(text[end..].starts_with('\n'));
    Some(start..end + break_after)
}

fn with_block(text: &str) -> String {
    let block = format!("{BEGIN}\n{BLOCK}{END}\n");
    match block_in(text) {
        Some(place) => format!("{}{block}{}", &text[..place.start], &text[place.end..]),
        None if text.trim().is_empty() => block,
        None => format!("{}\n\n{block}", text.trim_end_matches('\n')),
    }
}

fn without_block(text: &str) -> String {
    let Some(place) = block_in(text) else { return text.to_owned() };
    let (before, after) = (text[..place.start].trim_end_matches('\n'), &text[place.end..]);
    match (before.is_empty(), after.trim().is_empty()) {
        (true, _) => after.trim_start_matches('\n').to_owned(),
        (false, true) => format!("{before}\n"),
        (false, false) => format!("{before}\n\n{}", after.trim_start_matches('\n')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_block_is_put_in_once_renewed_and_taken_out() {
        for before in ["# Mine\n\nText.\n", "", "# Mine\n\nText.\n\n\n"] {
            let after = with_block(before);
            assert!(
                after.starts_with(before.trim_end()) && after.ends_with("<!-- lsp-tools:end -->\n"),
                "{after}"
            );
            assert_eq!(with_block(&after), after);
            let old = after.replace("edit_symbol", "another_tool");
            assert_eq!(with_block(&old), after, "an older block gives way");
            assert_eq!(without_block(&after).trim_end(), before.trim_end());
        }
        let between = with_block("A\n") + "\nB\n";
        assert_eq!(with_block(&between), between);
        assert_eq!(without_block(&between), "A\n\nB\n");
        let unended = "A <!-- lsp-tools:begin -->\nB\n";
        assert!(
            with_block(unended).starts_with(unended.trim_end()),
            "what has no end is not ours to replace"
        );
        assert_eq!(without_block(unended), unended);
        assert_eq!(with_block(&with_block(unended)), with_block(unended));
    }

    #[test]
    fn instruction_block_is_short_and_orders_nothing() {
        let lines = with_block("").lines().count();
        assert!(lines <= 12, "{lines} lines");
        for order in ["MUST", "NEVER", "ALWAYS", "IMPORTANT"] {
            assert!(!BLOCK.contains(order), "{order}");
        }
    }
}
