//! Hooks files of a repository: `.github/hooks/*.json`, in the shape of the Copilot command line
//! and in Claude's.
//!
//! ```json
//! {"version": 1, "hooks": {
//!   "preToolUse": [{"type": "command", "bash": "./check.sh", "timeoutSec": 5, "cwd": "tools",
//!                   "env": {"A": "b"}}],
//!   "PostToolUse": [{"matcher": "edit|write",
//!                    "hooks": [{"type": "command", "command": "./log.sh", "timeout": 5}]}]
//! }}
//! ```
//!
//! Only hooks around calls of tools are read: `preToolUse`, `postToolUse` (after a success) and
//! `postToolUseFailure`. A trusted file that cannot be parsed is an error and not an empty list:
//! its hooks might have denied a call.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::{CallHook, HookAction, HookOutcomeFilter, HookProtocol, Hooks};
use crate::workspace::{EntryKind, ListQuery, ReadError, WorkDeadline, Workspace};

/// The folder of hooks files, relative to the workspace's root.
pub(crate) const FOLDER: &str = ".github/hooks";
/// The hooks file that `init copilot-cli --hooks` writes. It calls this program, which therefore
/// skips it.
pub(crate) const OWN_FILE: &str = "lsp-tools.json";
/// The command in that file, after the program's name.
pub(crate) const OWN_COMMAND: &str = " hook copilot-cli ";
/// The most files that are read.
const MAX_HOOK_FILES: usize = 100;
/// The largest file, in bytes.
const MAX_HOOK_FILE_BYTES: u64 = 128 << 10;
/// The timeout of the scan of the folder.
const HOOK_FOLDER_SCAN_TIMEOUT: Duration = Duration::from_secs(2);
/// The default timeouts of hooks, as in the two programs.
const DEFAULT_HOOK_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_CLAUDE_HOOK_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest timeout of a hook.
const MAX_HOOK_TIMEOUT: Duration = Duration::from_secs(600);

/// A hooks file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookFile {
    /// The path, relative to the workspace's root.
    pub path: String,
    /// The content of the file.
    pub text: String,
}

/// The hooks files of the workspace, by name.
///
/// # Errors
/// [`ReadError`] if the folder or one of the files exists but cannot be read.
pub(crate) fn read(workspace: &Workspace) -> Result<Vec<HookFile>, ReadError> {
    let Ok(folder) = workspace.path(FOLDER.as_ref()) else { return Ok(Vec::new()) };
    // Every call looks here, and few repositories have such a folder.
    if workspace.is_vacant(&folder) || !workspace.exists(&folder) {
        return Ok(Vec::new());
    }
    let until = WorkDeadline::new(Instant::now() + HOOK_FOLDER_SCAN_TIMEOUT);
    let query = ListQuery { under: folder, recursive: false, max: MAX_HOOK_FILES, deadline: until };
    let listing = match workspace.list(&query) {
        Ok(listing) => listing,
        Err(ReadError::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in listing.entries {
        let Some(path) = entry.path.as_path().to_str() else { continue };
        if entry.kind == EntryKind::Directory || !path.ends_with(".json") {
            continue;
        }
        let text = workspace.read_text_up_to(&entry.path, MAX_HOOK_FILE_BYTES)?.text;
        let file = HookFile { path: path.to_owned(), text };
        if file.name() != OWN_FILE || !file.text.contains(OWN_COMMAND) {
            files.push(file);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookFileDocument {
    version: Option<u64>,
    #[serde(default)]
    disable_all_hooks: bool,
    #[serde(default)]
    hooks: BTreeMap<String, Vec<Value>>,
}

/// An entry of the Copilot format, and an inner entry of Claude's format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookFileEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    bash: Option<String>,
    command: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_sec: Option<f64>,
    timeout: Option<f64>,
    matcher: Option<String>,
}

/// A group of Claude's format.
#[derive(Deserialize)]
struct HookFileGroup {
    matcher: Option<String>,
    hooks: Vec<HookFileEntry>,
}

impl HookFile {
    /// The file name, for people.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The hooks in the file.
    ///
    /// # Errors
    /// A sentence that names the entry that cannot be parsed or cannot run here.
    pub(crate) fn hooks(&self) -> Result<Hooks, String> {
        let fault = |what: String| format!("{}: {what}", self.path);
        let file: HookFileDocument =
            serde_json::from_str(&self.text).map_err(|error| fault(error.to_string()))?;
        if let Some(other) = file.version.filter(|version| *version != 1) {
            return Err(fault(format!("`version` is {other}, accepted: 1")));
        }
        let mut hooks = Hooks::default();
        if file.disable_all_hooks {
            return Ok(hooks);
        }
        for (event, entries) in file.hooks {
            let (into, hears) = match event.as_str() {
                "preToolUse" | "PreToolUse" => (&mut hooks.pre, HookOutcomeFilter::All),
                "postToolUse" | "PostToolUse" => (&mut hooks.post, HookOutcomeFilter::Successes),
                "postToolUseFailure" | "PostToolUseFailure" => (&mut hooks.post, HookOutcomeFilter::Failures),
                _ => continue,
            };
            for entry in entries {
                into.extend(self.of_entry(entry, hears).map_err(|what| fault(format!("`{event}`: {what}")))?);
            }
        }
        Ok(hooks)
    }

    fn of_entry(&self, entry: Value, hears: HookOutcomeFilter) -> Result<Vec<CallHook>, String> {
        let read = |error: serde_json::Error| error.to_string();
        if entry.get("hooks").is_some() {
            let group: HookFileGroup = serde_json::from_value(entry).map_err(read)?;
            let matcher = group.matcher.as_deref();
            let inner = group.hooks.into_iter();
            return inner.map(|entry| self.read_hook(entry, matcher, hears, HookProtocol::Claude)).collect();
        }
        let entry: HookFileEntry = serde_json::from_value(entry).map_err(read)?;
        let matcher = entry.matcher.clone();
        Ok(vec![self.read_hook(entry, matcher.as_deref(), hears, HookProtocol::Copilot)?])
    }

    fn read_hook(
        &self,
        entry: HookFileEntry,
        matcher: Option<&str>,
        hears: HookOutcomeFilter,
        protocol: HookProtocol,
    ) -> Result<CallHook, String> {
        if let Some(kind) = entry.kind.filter(|kind| kind != "command") {
            return Err(format!("hooks of type `{}` are not run here", kind.escape_debug()));
        }
        let command = entry.bash.or(entry.command).filter(|command| !command.trim().is_empty());
        let command = command.ok_or("`bash` (or `command`) is missing")?;
        let usual =
            if protocol == HookProtocol::Claude { DEFAULT_CLAUDE_HOOK_TIMEOUT } else { DEFAULT_HOOK_TIMEOUT };
        let seconds = entry.timeout_sec.or(entry.timeout);
        let timeout = seconds.map_or(Ok(usual), Duration::try_from_secs_f64);
        let timeout = timeout.map_err(|_| "its time limit is not a number of seconds")?;
        Ok(CallHook {
            name: self.name().to_owned(),
            does: HookAction::Shell { command, cwd: entry.cwd, env: entry.env },
            tools: super::HookToolFilter::Matching(matcher.map_or(Ok(None), compile_matcher)?),
            timeout: timeout.clamp(Duration::from_millis(1), MAX_HOOK_TIMEOUT),
            outcomes: hears,
            protocol,
        })
    }
}

/// Compiles a matcher: a pattern for whole tool names, in either case. An empty matcher matches all
/// tools.
fn compile_matcher(matcher: &str) -> Result<Option<Regex>, String> {
    if matcher.is_empty() || matcher == "*" {
        return Ok(None);
    }
    let pattern = RegexBuilder::new(&format!("^(?:{matcher})$")).case_insensitive(true).build();
    pattern.map(Some).map_err(|_| format!("the matcher `{}` is not a pattern", matcher.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Result<Hooks, String> {
        HookFile { path: ".github/hooks/h.json".into(), text: text.into() }.hooks()
    }

    #[test]
    fn hook_file_with_claude_and_copilot_hooks_is_parsed() {
        let hooks = file(
            r#"{"version": 1, "hooks": {
                "preToolUse": [{"type": "command", "bash": "./check.sh", "powershell": "x", "timeoutSec": 5}],
                "PreToolUse": [{"matcher": "Edit|write", "hooks": [{"type": "command", "command": "y"}]}],
                "postToolUseFailure": [{"bash": "z"}],
                "sessionStart": [{"type": "prompt"}]}}"#,
        )
        .unwrap();
        let claude = &hooks.pre[0];
        assert!(claude.applies_to("edit") && claude.applies_to("write") && !claude.applies_to("lsp_edit"));
        assert_eq!((claude.timeout, claude.protocol), (DEFAULT_CLAUDE_HOOK_TIMEOUT, HookProtocol::Claude));
        assert_eq!(
            (hooks.pre[1].timeout, hooks.pre[1].protocol),
            (Duration::from_secs(5), HookProtocol::Copilot)
        );
        assert!(hooks.post[0].wants_outcome(false) && !hooks.post[0].wants_outcome(true));
    }

    #[test]
    fn invalid_hook_file_is_refused_with_reason() {
        for (text, wanted) in [
            ("{", "EOF"),
            (r#"{"version": 2}"#, "`version` is 2"),
            (r#"{"hooks": {"preToolUse": [{"type": "http", "url": "x"}]}}"#, "type `http`"),
            (r#"{"hooks": {"preToolUse": [{"type": "command"}]}}"#, "`bash` (or `command`) is missing"),
            (r#"{"hooks": {"preToolUse": [{"bash": "x", "timeoutSec": -1}]}}"#, "not a number of seconds"),
            (r#"{"hooks": {"preToolUse": [{"bash": "x", "matcher": "("}]}}"#, "not a pattern"),
            (r#"{"hooks": {"preToolUse": {}}}"#, "expected a sequence"),
        ] {
            let error = file(text).expect_err(text);
            assert!(error.starts_with(".github/hooks/h.json: ") && error.contains(wanted), "{error}");
        }
        assert!(
            file(r#"{"disableAllHooks": true, "hooks": {"preToolUse": [{"bash": "x"}]}}"#)
                .unwrap()
                .pre
                .is_empty()
        );
    }
}
