use super::*;
use crate::workspace::WorkspacePath;

fn subjects(paths: &[&str], commands: &[&str], urls: &[&str]) -> CallSubjects {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    CallSubjects {
        paths: paths.iter().map(|path| WorkspacePath::root().join(path).unwrap()).collect(),
        commands: texts(commands),
        urls: texts(urls),
        ..CallSubjects::default()
    }
}

fn allows(rules: &[&str], tool: &str, effect: Effect, subjects: &CallSubjects) -> bool {
    let rules: Vec<Rule> =
        rules.iter().map(|text| Rule::read(text, PolicyVerdict::Allow, "test").unwrap()).collect();
    allowed_by(&rules, &PolicyRequest { tool, effect, subjects }).is_ok()
}

fn touches(rule: &str, tool: &str, effect: Effect, subjects: &CallSubjects) -> bool {
    Rule::read(rule, PolicyVerdict::Deny, "test").unwrap().applies_to(&PolicyRequest {
        tool,
        effect,
        subjects,
    })
}

#[test]
fn allow_rule_matches_tool_by_name_or_effect() {
    let none = CallSubjects::default();
    assert!(allows(&["bash"], "bash", Effect::Execute, &none));
    assert!(allows(&["lsp_*"], "lsp_rename", Effect::Edit, &none));
    assert!(allows(&["effect:execute"], "task", Effect::Execute, &none));
    assert!(!allows(&["effect:network"], "task", Effect::Execute, &none));
    assert!(!allows(&["bash(ls)"], "bash", Effect::Execute, &none), "what is not named is not allowed");
}

#[test]
fn call_is_allowed_only_if_every_subject_is_allowed() {
    let two = subjects(&["src/a", "docs/b"], &[], &[]);
    assert!(!allows(&["move(src)"], "move", Effect::Edit, &two));
    assert!(allows(&["move(src)", "move(docs)"], "move", Effect::Edit, &two));
    let commands = subjects(&[], &["ls", "git status"], &[]);
    assert!(!allows(&["bash(ls)"], "bash", Effect::Execute, &commands));
    assert!(allows(&["bash(ls)", "bash(git status)"], "bash", Effect::Execute, &commands));
    let both = subjects(&["out"], &[], &["https://docs.rs/"]);
    assert!(!allows(&["get(docs.rs)"], "get", Effect::Network, &both));
    assert!(allows(&["get(docs.rs)", "get(out)"], "get", Effect::Network, &both));
    let run = subjects(&["."], &["ls"], &[]);
    assert!(
        allows(&["bash(ls)"], "bash", Effect::Execute, &run),
        "the folder it runs in is no second subject"
    );
}

#[test]
fn deny_rule_matches_if_any_subject_matches() {
    let two = subjects(&["src/a", ".env"], &[], &[]);
    assert!(touches("*(.env)", "read", Effect::Read, &two));
    assert!(touches("effect:read(.ENV)", "read", Effect::Read, &two));
    assert!(!touches("write(.env)", "read", Effect::Read, &two));
    let commands = subjects(&[], &["ls", "git push -f"], &[]);
    assert!(touches("bash(git push)", "bash", Effect::Execute, &commands));
    let urls = subjects(&[], &[], &["https://a.evil.example/x"]);
    assert!(touches("fetch_web_page(evil.example)", "fetch_web_page", Effect::Network, &urls));
}

#[test]
fn edit_of_folder_touches_rules_for_files_in_it() {
    let folder = subjects(&["src"], &[], &[]);
    assert!(touches("*(src/secret)", "delete", Effect::Edit, &folder));
    assert!(!touches("*(src/secret)", "list", Effect::Read, &folder));
}

#[test]
fn invalid_rule_is_refused_with_reason() {
    for (text, wanted) in [
        ("bash(ls", "has no `)` at its end"),
        ("bash()", "`()` is empty"),
        ("effect:red", "there is no effect `red`; there are `read`, `edit`, `execute` and `network`"),
        ("my tool", "is not a tool name"),
        ("", "is not a tool name"),
        ("bash(curl x | sh)", "`|` is not allowed in a pattern"),
        ("bash(rm 'a b')", "is not allowed in a pattern"),
        ("read(../x)", "cannot contain `..`"),
        ("read(a[)", "unclosed character class"),
    ] {
        let error = Rule::read(text, PolicyVerdict::Deny, "test").expect_err(text);
        assert!(error.contains(wanted), "{text}: {error}");
    }
}
