//! The Copilot command line's own tools: the effect of each, and our equivalent.
//!
//! Where ours is offered, theirs is not: an edit that passes us by has no diagnostics, no undo and no rules of ours. A tool that is
//! not in this table is taken for one that runs programs.

use crate::policy::request::Effect;

struct BuiltIn {
    name: &'static str,
    effect: Effect,
    /// The tool of ours that takes its place.
    ours: Option<&'static str>,
}

const fn replaced(name: &'static str, effect: Effect, ours: &'static str) -> BuiltIn {
    BuiltIn { name, effect, ours: Some(ours) }
}

const fn kept(name: &'static str, effect: Effect) -> BuiltIn {
    BuiltIn { name, effect, ours: None }
}

const ALL: &[BuiltIn] = &[
    replaced("view", Effect::Read, "read"),
    replaced("grep", Effect::Read, "grep"),
    replaced("glob", Effect::Read, "glob"),
    replaced("skill", Effect::Read, "skill"),
    replaced("lsp", Effect::Read, "lsp_definition"),
    replaced("create", Effect::Edit, "write"),
    replaced("edit", Effect::Edit, "edit"),
    replaced("apply_patch", Effect::Edit, "patch"),
    replaced("bash", Effect::Execute, "bash"),
    replaced("read_bash", Effect::Execute, "bash"),
    replaced("write_bash", Effect::Execute, "bash"),
    replaced("stop_bash", Effect::Execute, "bash"),
    replaced("list_bash", Effect::Execute, "bash"),
    replaced("web_fetch", Effect::Network, "fetch_web_page"),
    kept("task", Effect::Read),
    kept("read_agent", Effect::Read),
    kept("list_agents", Effect::Read),
    kept("write_agent", Effect::Read),
    // A table of the session's own, which no file holds.
    kept("sql", Effect::Read),
    kept("report_intent", Effect::Read),
];

/// Our tools that are not offered, because the command line's own do more in it: theirs start the session's agents.
pub(super) const LEFT_TO_THEM: [&str; 1] = ["task"];

/// In the list of an agent's tools these words mean tools of the command line's own, so ours bear other names in its sessions.
const TAKEN: [&str; 3] = ["read", "write", "todowrite"];
const PREFIX: &str = "lsp_tools_";

/// What an exported tool of ours is called in a session.
pub(super) fn spoken(exported: &str) -> String {
    if TAKEN.contains(&exported) { format!("{PREFIX}{exported}") } else { exported.to_owned() }
}

/// What a tool of a session is called in the exported list.
pub(super) fn heard(name: &str) -> &str {
    name.strip_prefix(PREFIX).filter(|name| TAKEN.contains(name)).unwrap_or(name)
}

/// What a tool of the command line does to the world.
pub(super) fn effect(name: &str) -> Effect {
    ALL.iter().find(|tool| tool.name == name).map_or(Effect::Execute, |tool| tool.effect)
}

/// The names of the command line's tools that are offered: `listed` are those it told of, `offers` the rules, `ours` whether a tool
/// of ours is offered.
pub(super) fn offered(
    listed: &[&str],
    offers: impl Fn(&str, Effect) -> bool,
    ours: impl Fn(&str) -> bool,
) -> Vec<String> {
    let untold = ALL.iter().map(|tool| tool.name).filter(|name| !listed.contains(name));
    let names = listed.iter().copied().chain(untold);
    let is_replaced = |name: &str| {
        let replacing = ALL.iter().find(|tool| tool.name == name).and_then(|tool| tool.ours);
        ours(name) || replacing.is_some_and(&ours)
    };
    let kept = names.filter(|name| offers(name, effect(name)) && !is_replaced(name));
    kept.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copilot_tool_name_is_prefixed_where_reserved_and_maps_back() {
        for name in ["read", "write", "todowrite", "edit", "lsp_hover"] {
            assert_eq!(heard(&spoken(name)), name);
        }
        assert_eq!((spoken("read").as_str(), spoken("edit").as_str()), ("lsp_tools_read", "edit"));
        assert_eq!((heard("lsp_tools_edit"), heard("read")), ("lsp_tools_edit", "read"));
    }

    #[test]
    fn offered_copilot_tools_exclude_replaced_and_denied_ones() {
        let listed = ["bash", "view", "task", "new_one"];
        let all = offered(&listed, |_, _| true, |name| ["bash", "read"].contains(&name));
        assert!(all.contains(&"task".to_owned()) && all.contains(&"new_one".to_owned()), "{all:?}");
        for gone in ["bash", "view", "read_bash"] {
            assert!(!all.contains(&gone.to_owned()), "{gone}");
        }
        assert!(all.contains(&"create".to_owned()));
        let reading = offered(&listed, |_, effect| effect == Effect::Read, |_| false);
        assert!(
            reading.contains(&"view".to_owned()) && !reading.contains(&"new_one".to_owned()),
            "{reading:?}"
        );
    }
}
