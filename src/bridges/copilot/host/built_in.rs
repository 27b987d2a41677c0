//! The Copilot command line's own tools: the effect of each, and our equivalent.
//!
//! If ours is offered, theirs is not, since an edit by their tool has no diagnostics, no undo and
//! no rules. A tool missing in this table counts as one that runs programs.

use crate::policy::request::Effect;

struct BuiltIn {
    name: &'static str,
    effect: Effect,
    /// Our tool that replaces it.
    replacement: Option<&'static str>,
}

const fn replaced_tool(name: &'static str, effect: Effect, ours: &'static str) -> BuiltIn {
    BuiltIn { name, effect, replacement: Some(ours) }
}

const fn kept_tool(name: &'static str, effect: Effect) -> BuiltIn {
    BuiltIn { name, effect, replacement: None }
}

const ALL: &[BuiltIn] = &[
    replaced_tool("view", Effect::Read, "read"),
    replaced_tool("grep", Effect::Read, "grep"),
    replaced_tool("glob", Effect::Read, "glob"),
    replaced_tool("skill", Effect::Read, "skill"),
    replaced_tool("lsp", Effect::Read, "lsp_definition"),
    replaced_tool("create", Effect::Edit, "write"),
    replaced_tool("edit", Effect::Edit, "edit"),
    replaced_tool("apply_patch", Effect::Edit, "patch"),
    replaced_tool("bash", Effect::Execute, "bash"),
    replaced_tool("read_bash", Effect::Execute, "bash"),
    replaced_tool("write_bash", Effect::Execute, "bash"),
    replaced_tool("stop_bash", Effect::Execute, "bash"),
    replaced_tool("list_bash", Effect::Execute, "bash"),
    replaced_tool("web_fetch", Effect::Network, "fetch_web_page"),
    kept_tool("task", Effect::Read),
    kept_tool("read_agent", Effect::Read),
    kept_tool("list_agents", Effect::Read),
    kept_tool("write_agent", Effect::Read),
    // A table of the session itself, stored in no file.
    kept_tool("sql", Effect::Read),
    kept_tool("report_intent", Effect::Read),
];

/// Our tools that are not offered, because the command line's own do more: theirs start the
/// session's agents.
pub(super) const LEFT_TO_THEM: [&str; 1] = ["task"];

/// Names that mean the command line's own tools in an agent's list, so ours have other names in its
/// sessions.
const TAKEN: [&str; 3] = ["read", "write", "todowrite"];
const PREFIX: &str = "lsp_tools_";

/// Returns the name of an exported tool in a session.
pub(super) fn session_name(exported: &str) -> String {
    if TAKEN.contains(&exported) { format!("{PREFIX}{exported}") } else { exported.to_owned() }
}

/// Returns the exported name of a session's tool.
pub(super) fn exported_name(name: &str) -> &str {
    name.strip_prefix(PREFIX).filter(|name| TAKEN.contains(name)).unwrap_or(name)
}

/// Returns the effect of a command line's tool on the outside world.
pub(super) fn effect_of(name: &str) -> Effect {
    ALL.iter().find(|tool| tool.name == name).map_or(Effect::Execute, |tool| tool.effect)
}

/// Returns the names of the command line's tools to offer. `listed` are those it reported, `offers`
/// applies the rules, `ours` returns true if a tool of ours is offered.
pub(super) fn offered_names(
    listed: &[&str],
    offers: impl Fn(&str, Effect) -> bool,
    ours: impl Fn(&str) -> bool,
) -> Vec<String> {
    let untold = ALL.iter().map(|tool| tool.name).filter(|name| !listed.contains(name));
    let names = listed.iter().copied().chain(untold);
    let is_replaced = |name: &str| {
        let replacing = ALL.iter().find(|tool| tool.name == name).and_then(|tool| tool.replacement);
        ours(name) || replacing.is_some_and(&ours)
    };
    let kept = names.filter(|name| offers(name, effect_of(name)) && !is_replaced(name));
    kept.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copilot_tool_name_is_prefixed_where_reserved_and_maps_back() {
        for name in ["read", "write", "todowrite", "edit", "lsp_hover"] {
            assert_eq!(exported_name(&session_name(name)), name);
        }
        assert_eq!(
            (session_name("read").as_str(), session_name("edit").as_str()),
            ("lsp_tools_read", "edit")
        );
        assert_eq!((exported_name("lsp_tools_edit"), exported_name("read")), ("lsp_tools_edit", "read"));
    }

    #[test]
    fn offered_copilot_tools_exclude_replaced_and_denied_ones() {
        let listed = ["bash", "view", "task", "new_one"];
        let all = offered_names(&listed, |_, _| true, |name| ["bash", "read"].contains(&name));
        assert!(all.contains(&"task".to_owned()) && all.contains(&"new_one".to_owned()), "{all:?}");
        for gone in ["bash", "view", "read_bash"] {
            assert!(!all.contains(&gone.to_owned()), "{gone}");
        }
        assert!(all.contains(&"create".to_owned()));
        let reading = offered_names(&listed, |_, effect| effect == Effect::Read, |_| false);
        assert!(
            reading.contains(&"view".to_owned()) && !reading.contains(&"new_one".to_owned()),
            "{reading:?}"
        );
    }
}
