//! The event that a host reports to a hook, parsed from each host's JSON.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::names::{SearchedSymbolName, names_in_command, names_in_pattern};
use crate::text::patch::{FilePatchOperation, Hunk, HunkLine, parse};
use crate::tools::edit::made_edit::{MadeEdit, MadeReplacement, TextBefore};

/// A host whose hooks are supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookHost {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI, with the same format as Claude Code.
    Codex,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Gemini CLI.
    Gemini,
    /// opencode, through our plugin.
    OpenCode,
    /// Qwen Code, with the same format as Claude Code.
    QwenCode,
}

/// The kind of event that a hook runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookOccasion {
    /// The model has edited files.
    Edit,
    /// The model searches.
    Search,
    /// A session begins.
    Start,
    /// A turn of the model begins.
    Turn,
    /// A turn of the model ends.
    Stop,
}

/// The subject of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostHookSubject {
    /// Files were edited.
    Edited(Vec<MadeEdit>),
    /// Symbols were searched for, by these names.
    Searched(Vec<SearchedSymbolName>),
    /// A session has begun.
    Started,
    /// A turn of the session has begun.
    TurnBegun(String),
    /// A turn of the session is about to end.
    TurnEnded(String),
}

/// An event, with its folder and subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostHookEvent {
    /// The host's working folder.
    pub(crate) cwd: Option<PathBuf>,
    /// The subject of the event.
    pub(crate) subject: HostHookSubject,
    host: HookHost,
    /// The host's own name of the event.
    name: String,
}

/// The number of files of one edit that are examined.
const MAX_HOOK_EDITS: usize = 20;
/// The length limit of an event's name, in bytes.
const MAX_EVENT_NAME_BYTES: usize = 40;

impl HostHookEvent {
    /// Parses an event from `text`. Returns `None` if it contains nothing that can be answered.
    pub(crate) fn read(host: HookHost, occasion: HookOccasion, text: &str) -> Option<Self> {
        let payload: Value = serde_json::from_str(text).ok()?;
        let input = || object_or_text(first(&payload, &["tool_input", "toolArgs"])?);
        let subject = match occasion {
            HookOccasion::Start => HostHookSubject::Started,
            // Qwen Code runs this hook at the results of tools as well.
            HookOccasion::Turn if payload.get("prompt").is_some_and(|prompt| prompt == "") => return None,
            HookOccasion::Turn => HostHookSubject::TurnBegun(session(&payload)),
            // A turn that continues because of a hook is not delayed again.
            HookOccasion::Stop
                if first(&payload, &["stop_hook_active", "stopHookActive"]) == Some(&Value::Bool(true)) =>
            {
                return None;
            }
            HookOccasion::Stop => HostHookSubject::TurnEnded(session(&payload)),
            HookOccasion::Edit => {
                let response = first(&payload, &["tool_response", "toolResult"]).unwrap_or(&Value::Null);
                let mut edits = edits(&input()?, response);
                edits.truncate(MAX_HOOK_EDITS);
                (!edits.is_empty()).then_some(HostHookSubject::Edited(edits))?
            }
            HookOccasion::Search => {
                let tool = first_text(&payload, &["tool_name", "toolName"]).unwrap_or_default();
                // The pattern of `glob` matches paths.
                if tool.eq_ignore_ascii_case("glob") {
                    return None;
                }
                let input = input()?;
                let pattern = first_text(&input, &["pattern", "query"]);
                let names = match (pattern, first_text(&input, &["command"])) {
                    (Some(pattern), _) => names_in_pattern(pattern),
                    (None, Some(command)) => names_in_command(command),
                    (None, None) => Vec::new(),
                };
                (!names.is_empty()).then_some(HostHookSubject::Searched(names))?
            }
        };
        let usual = match (host, occasion) {
            (_, HookOccasion::Start) => "SessionStart",
            (_, HookOccasion::Turn) => "UserPromptSubmit",
            (HookHost::Gemini, HookOccasion::Stop) => "AfterAgent",
            (_, HookOccasion::Stop) => "Stop",
            (HookHost::Gemini, _) => "AfterTool",
            (_, HookOccasion::Edit) => "PostToolUse",
            (_, HookOccasion::Search) => "PreToolUse",
        };
        let name =
            first_text(&payload, &["hook_event_name"]).filter(|name| name.len() <= MAX_EVENT_NAME_BYTES);
        let cwd = first_text(&payload, &["cwd"]).map(PathBuf::from);
        Some(Self { cwd, subject, host, name: name.unwrap_or(usual).to_owned() })
    }

    /// Returns true if files were edited, so that the host must get an answer.
    pub(crate) fn is_edit(&self) -> bool {
        matches!(self.subject, HostHookSubject::Edited(_))
    }

    /// The host's answer that continues the turn with `words` for the model.
    pub(crate) fn continuation(&self, words: &str) -> String {
        match self.host {
            HookHost::OpenCode => words.to_owned(),
            _ => json!({"decision": "block", "reason": words}).to_string(),
        }
    }

    /// The host's answer that ends the turn with `words` for the person, if it shows any.
    pub(crate) fn ending(&self, words: &str) -> String {
        match self.host {
            HookHost::OpenCode | HookHost::CopilotCli => String::new(),
            _ => json!({"systemMessage": words}).to_string(),
        }
    }

    /// Puts `words` into the host's answer format.
    pub(crate) fn answer(&self, words: &str) -> String {
        let payload = match self.host {
            HookHost::OpenCode => return words.to_owned(),
            HookHost::CopilotCli => json!({"additionalContext": words}),
            HookHost::ClaudeCode | HookHost::Codex | HookHost::Gemini | HookHost::QwenCode => {
                json!({"hookSpecificOutput": {"hookEventName": self.name, "additionalContext": words}})
            }
        };
        payload.to_string()
    }
}

fn first<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| value.get(key)).filter(|found| !found.is_null())
}

fn first_text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value.get(key)?.as_str())
}

/// The session's id. Hosts without one run one session in a folder.
fn session(payload: &Value) -> String {
    first_text(payload, &["session_id", "sessionId"]).unwrap_or_default().to_owned()
}

/// Returns the arguments from an object, or from a string of JSON.
fn object_or_text(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// Argument names that only tools that change a file have.
const EDIT_ARGUMENTS: [&str; 9] = [
    "old_string",
    "oldString",
    "old_str",
    "new_str",
    "insert_text",
    "content",
    "file_text",
    "edits",
    "new_source",
];

/// Returns the edits that a tool was called for. Argument names differ between hosts, and some
/// hosts run a hook for every tool.
fn edits(input: &Value, response: &Value) -> Vec<MadeEdit> {
    if let Some(path) = first_text(input, &["file_path", "filePath", "path"]) {
        if first(input, &EDIT_ARGUMENTS).is_none() {
            return Vec::new();
        }
        return vec![MadeEdit { path: PathBuf::from(path), before: text_before(input, response) }];
    }
    first_text(input, &["command", "patchText", "patch", "input"]).map(edits_of_patch).unwrap_or_default()
}

fn text_before(input: &Value, response: &Value) -> TextBefore {
    let whole = ["/originalFile", "/returnDisplay/originalContent", "/filediff/before"];
    if let Some(text) = whole.iter().find_map(|place| response.pointer(place)?.as_str()) {
        return TextBefore::Known(Some(text.to_owned()));
    }
    let is_new = response.get("type").is_some_and(|kind| kind == "create")
        || response.pointer("/returnDisplay/isNewFile") == Some(&Value::Bool(true));
    if is_new {
        return TextBefore::Known(None);
    }
    let several = input.get("edits").and_then(Value::as_array);
    let made: Option<Vec<MadeReplacement>> = match several {
        Some(edits) => edits.iter().map(replacement).collect(),
        None => replacement(input).map(|one| vec![one]),
    };
    made.filter(|made| !made.is_empty()).map_or(TextBefore::Unknown, TextBefore::Replaced)
}

fn replacement(edit: &Value) -> Option<MadeReplacement> {
    let all = first(edit, &["replace_all", "replaceAll", "allow_multiple"]) == Some(&Value::Bool(true));
    let old = first_text(edit, &["old_string", "oldString", "old_str"])?.to_owned();
    let new = first_text(edit, &["new_string", "newString", "new_str"])?.to_owned();
    (!all).then_some(MadeReplacement { old, new })
}

fn edits_of_patch(patch: &str) -> Vec<MadeEdit> {
    let Ok(patch) = parse(patch) else { return Vec::new() };
    let edit = |operation: &FilePatchOperation, hunks: &[Hunk]| {
        let (path, before) = match operation {
            FilePatchOperation::Create { path } => (path, TextBefore::Known(None)),
            FilePatchOperation::Modify { path } => {
                (path, TextBefore::Replaced(hunks.iter().map(replacement_of_hunk).collect()))
            }
            FilePatchOperation::Rename { to, .. } => (to, TextBefore::Unknown),
            FilePatchOperation::Delete { .. } | FilePatchOperation::Copy { .. } => return None,
        };
        Some(MadeEdit { path: PathBuf::from(&path.clean), before })
    };
    patch.files.iter().filter_map(|file| edit(&file.operation, &file.hunks)).collect()
}

fn replacement_of_hunk(hunk: &Hunk) -> MadeReplacement {
    let text = |lines: &mut dyn Iterator<Item = &HunkLine>| -> String {
        lines.map(|line| format!("{}\n", line.text)).collect()
    };
    MadeReplacement { old: text(&mut hunk.old_lines()), new: text(&mut hunk.new_lines()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(host: HookHost, occasion: HookOccasion, told: Value) -> Option<HostHookSubject> {
        HostHookEvent::read(host, occasion, &told.to_string()).map(|event| event.subject)
    }

    fn before(host: HookHost, told: Value) -> TextBefore {
        match read(host, HookOccasion::Edit, told) {
            Some(HostHookSubject::Edited(edits)) => edits.into_iter().next().unwrap().before,
            other => panic!("{other:?}"),
        }
    }

    fn known(text: &str) -> TextBefore {
        TextBefore::Known(Some(text.to_owned()))
    }

    #[test]
    fn text_before_an_edit_is_read_from_each_hosts_answer() {
        let replaced = TextBefore::Replaced(vec![MadeReplacement { old: "a".into(), new: "b".into() }]);
        let claude = json!({"tool_input": {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}, "tool_response": {"originalFile": "x a"}});
        assert_eq!(before(HookHost::ClaudeCode, claude), known("x a"));
        let without = json!({"tool_input": {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}, "tool_response": {"originalFile": null}});
        assert_eq!(before(HookHost::ClaudeCode, without), replaced);
        let new = json!({"tool_input": {"file_path": "/p/a.py", "content": "b"}, "tool_response": {"type": "create", "originalFile": null}});
        assert_eq!(before(HookHost::ClaudeCode, new), TextBefore::Known(None));
        let gemini = json!({"tool_input": {"file_path": "a.py", "content": "b"}, "tool_response": {"returnDisplay": {"originalContent": "x"}}});
        assert_eq!(before(HookHost::Gemini, gemini), known("x"));
        let opencode = json!({"tool_input": {"filePath": "a.py", "oldString": "a", "newString": "b"}, "tool_response": {"filediff": {"before": "x"}}});
        assert_eq!(before(HookHost::OpenCode, opencode), known("x"));
        let copilot = json!({"toolName": "edit", "toolArgs": "{\"path\": \"a.py\", \"old_str\": \"a\", \"new_str\": \"b\"}"});
        assert_eq!(before(HookHost::CopilotCli, copilot), replaced);
        let all = json!({"tool_input": {"file_path": "a.py", "old_string": "a", "new_string": "b", "replace_all": true}});
        assert_eq!(before(HookHost::ClaudeCode, all), TextBefore::Unknown);
    }

    #[test]
    fn patch_of_codex_is_taken_back_hunk_by_hunk() {
        let patch = "*** Begin Patch\n*** Add File: n.py\n+x\n*** Update File: a.py\n@@\n keep\n-a\n+b\n*** Delete File: d.py\n*** End Patch\n";
        let told = json!({"cwd": "/p", "tool_name": "apply_patch", "tool_input": {"command": patch}});
        let Some(HostHookSubject::Edited(edits)) = read(HookHost::Codex, HookOccasion::Edit, told) else {
            panic!("no edits");
        };
        let hunk = MadeReplacement { old: "keep\na\n".into(), new: "keep\nb\n".into() };
        let expected = [("n.py", TextBefore::Known(None)), ("a.py", TextBefore::Replaced(vec![hunk]))];
        let expected = expected.map(|(path, before)| MadeEdit { path: path.into(), before });
        assert_eq!(edits, expected);
    }

    #[test]
    fn event_without_an_edit_or_a_name_is_none() {
        for (occasion, told) in [
            (HookOccasion::Edit, json!({"tool_input": {"command": "ls"}})),
            (HookOccasion::Edit, json!({"tool_input": 7})),
            (HookOccasion::Edit, json!([])),
            (HookOccasion::Edit, json!({"toolName": "view", "toolArgs": {"path": "a.py"}})),
            (HookOccasion::Search, json!({"tool_name": "Glob", "tool_input": {"pattern": "compose"}})),
            (HookOccasion::Search, json!({"tool_input": {"command": "ls -la"}})),
            (HookOccasion::Search, json!({"tool_input": {"pattern": "a b c"}})),
        ] {
            assert_eq!(read(HookHost::ClaudeCode, occasion, told.clone()), None, "{told}");
        }
        assert!(HostHookEvent::read(HookHost::Codex, HookOccasion::Edit, "no JSON").is_none());
    }

    #[test]
    fn turn_is_that_of_its_session_and_begins_with_a_prompt() {
        let begins = |told| read(HookHost::QwenCode, HookOccasion::Turn, told);
        assert_eq!(
            begins(json!({"session_id": "s", "prompt": "Go on."})),
            Some(HostHookSubject::TurnBegun("s".into()))
        );
        assert_eq!(begins(json!({"session_id": "s", "prompt": ""})), None);
        let ends = |told| read(HookHost::CopilotCli, HookOccasion::Stop, told);
        assert_eq!(ends(json!({"sessionId": "s"})), Some(HostHookSubject::TurnEnded("s".into())));
        assert_eq!(ends(json!({"sessionId": "s", "stopHookActive": true})), None);
    }

    #[test]
    fn answer_has_the_hosts_own_form_and_event() {
        let told = json!({"hook_event_name": "PreToolUse", "tool_input": {"pattern": "compose"}}).to_string();
        let event = |host| HostHookEvent::read(host, HookOccasion::Search, &told).unwrap();
        let value: Value = serde_json::from_str(&event(HookHost::ClaudeCode).answer("w")).unwrap();
        assert_eq!(
            value,
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "w"}})
        );
        assert_eq!(event(HookHost::OpenCode).answer("w"), "w");
        assert_eq!(event(HookHost::CopilotCli).answer("w"), "{\"additionalContext\":\"w\"}");
    }
}
