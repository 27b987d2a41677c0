use super::*;
use crate::config::{Catalogue, Layer, Settings};
use crate::policy::request::CallSubjects;
use crate::workspace::WorkspacePath;
use proptest::prelude::*;

fn policy(layers: &[(LayerOrigin, &str)]) -> Result<Policy, ConfigError> {
    let layers: Vec<Layer> =
        layers.iter().map(|(origin, text)| Layer::new(*origin, ".lsp-tools/lsp-tools.toml", *text)).collect();
    let (settings, _) = Settings::load(&layers, Catalogue::built_in())?;
    let mut policy = Policy::new(&settings.access)?;
    policy.place_in_profiles("lsp_types", false, true);
    Ok(policy)
}

fn of_user(text: &str) -> Policy {
    policy(&[(LayerOrigin::User, text)]).unwrap()
}

fn run(command: &str) -> CallSubjects {
    CallSubjects { commands: vec![command.to_owned()], ..CallSubjects::default() }
}

fn at(path: &str) -> CallSubjects {
    CallSubjects { paths: vec![WorkspacePath::root().join(path).unwrap()], ..CallSubjects::default() }
}

fn decide(
    policy: &Policy,
    agent: Option<&str>,
    tool: &str,
    effect: Effect,
    subjects: &CallSubjects,
) -> PolicyVerdict {
    let access = CallerAccess::default();
    policy.for_caller(&access, agent).decide(&PolicyRequest { tool, effect, subjects }).verdict
}

#[test]
fn policy_without_rules_decides_by_effect() {
    let policy = Policy::default();
    let none = CallSubjects::default();
    for (effect, expected) in [
        (Effect::Read, PolicyVerdict::Allow),
        (Effect::Edit, PolicyVerdict::Allow),
        (Effect::Execute, PolicyVerdict::Ask),
        (Effect::Network, PolicyVerdict::Ask),
    ] {
        assert_eq!(decide(&policy, None, "tool", effect, &none), expected, "{effect:?}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_any_order() {
    let policy = of_user(
        "[permissions]\nallow = ['bash', 'write']\nask = ['bash(git push)', 'write(docs)']\ndeny = ['bash(rm)', 'write(docs/old)']",
    );
    for (command, expected) in [
        ("ls", PolicyVerdict::Allow),
        ("git push", PolicyVerdict::Ask),
        ("git push; rm x", PolicyVerdict::Deny),
        ("$(rm x)", PolicyVerdict::Deny),
    ] {
        assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run(command)), expected, "{command}");
    }
    for (path, expected) in
        [("src/a", PolicyVerdict::Allow), ("docs/a", PolicyVerdict::Ask), ("docs/old/a", PolicyVerdict::Deny)]
    {
        assert_eq!(decide(&policy, None, "write", Effect::Edit, &at(path)), expected, "{path}");
    }
}

#[test]
fn policy_decision_names_its_rule_and_settings_layer() {
    let policy =
        of_user("permissions.deny = ['bash(rm)']\npermissions.allow = ['bash(git status)', 'bash(ls)']");
    let access = CallerAccess::default();
    let decide = |command: &str| {
        policy.for_caller(&access, None).decide(&PolicyRequest {
            tool: "bash",
            effect: Effect::Execute,
            subjects: &run(command),
        })
    };
    let denied = decide("rm x");
    assert_eq!(denied.rule.as_deref(), Some("bash(rm)"));
    assert!(denied.why.contains("in the user's settings forbids it"), "{}", denied.why);
    assert_eq!(decide("git status").rule.as_deref(), Some("bash(git status)"));
    let asked = decide("ls | cat");
    assert_eq!(
        asked.why,
        "bash runs a program, for which the default rule is `ask`, and it contains a pipe, so no pattern can allow it"
    );
}

#[test]
fn available_and_excluded_settings_limit_the_offered_tools() {
    let none = CallerAccess::default();
    for (text, tool, offered) in [
        ("", "read", true),
        ("available = ['read', 'lsp_*']", "read", true),
        ("available = ['read', 'lsp_*']", "lsp_hover", true),
        ("available = ['read', 'lsp_*']", "write", false),
        ("available = []", "read", false),
        ("excluded = ['write']", "write", false),
        ("excluded = ['write']", "read", true),
        ("available = ['lsp_*']\nexcluded = ['lsp_rename']", "lsp_rename", false),
        ("available = ['lsp_*']\nexcluded = ['lsp_rename']", "lsp_hover", true),
        ("excluded = ['*']\navailable = ['read']", "read", false),
        ("deny = ['write']", "write", false),
        ("deny = ['write(src)']", "write", true),
        ("profile = 'lsp'", "write", true),
        ("profile = 'core'", "lsp_types", true),
        ("profile = 'core'\navailable = ['read']", "lsp_types", false),
        ("profile = 'read-only'", "write", false),
        ("profile = 'edit'", "write", true),
    ] {
        let policy = of_user(&format!("[permissions]\n{text}"));
        let effect = if tool == "write" { Effect::Edit } else { Effect::Read };
        let caller = policy.for_caller(&none, None);
        assert_eq!(caller.offers(tool, effect), offered, "{text} {tool}");
        let subjects = CallSubjects::default();
        let verdict = caller.decide(&PolicyRequest { tool, effect, subjects: &subjects }).verdict;
        assert_eq!(verdict == PolicyVerdict::Deny, !offered, "what is not offered is not run: {text} {tool}");
    }
}

#[test]
fn rarely_needed_tool_is_listed_only_when_chosen_but_callable() {
    let none = CallerAccess::default();
    for (text, tool, listed, offered) in [
        ("", "read", true, true),
        ("", "own_tool", true, true),
        ("", "lsp_types", false, true),
        ("profile = 'core'", "lsp_types", false, true),
        ("profile = 'lsp'", "lsp_types", true, true),
        ("profile = 'lsp'", "lsp_of_others", false, true),
        ("profile = 'lsp'", "read", false, true),
        ("profile = 'all'", "lsp_types", true, true),
        ("available = ['lsp_*']", "lsp_types", true, true),
        ("excluded = ['lsp_types']", "lsp_types", false, false),
        ("excluded = ['read']", "lsp_types", false, true),
    ] {
        let policy = of_user(&format!("[permissions]\n{text}"));
        let caller = policy.for_caller(&none, None);
        assert_eq!(caller.lists(tool, Effect::Read), listed, "{text} {tool}");
        assert_eq!(caller.offers(tool, Effect::Read), offered, "{text} {tool}");
    }
    let policy = of_user("");
    let chosen = CallerAccess { available: Some(vec!["lsp_types".into()]), ..CallerAccess::default() };
    assert!(policy.for_caller(&chosen, None).lists("lsp_types", Effect::Read));
    let core = CallerAccess { profile: Some(Profile::Core), ..CallerAccess::default() };
    assert!(!policy.for_caller(&core, None).lists("lsp_types", Effect::Read));
}

#[test]
fn caller_profile_cannot_offer_tools_excluded_by_settings() {
    let policy = of_user("[permissions]\nprofile = 'read-only'\nexcluded = ['lsp_rename']");
    let choose =
        |access: CallerAccess, tool: &str| policy.for_caller(&access, None).offers(tool, Effect::Edit);
    let all = || CallerAccess { profile: Some(Profile::All), ..CallerAccess::default() };
    assert!(!choose(CallerAccess::default(), "write"));
    assert!(choose(all(), "write"));
    assert!(!choose(all(), "lsp_rename"), "an excluded tool stays excluded");
    assert!(!choose(CallerAccess { available: Some(vec!["read".into()]), ..all() }, "write"));
    assert!(!choose(CallerAccess { excluded: vec!["wr*".into()], ..all() }, "write"));
}

#[test]
fn typed_call_answers_ask_but_not_deny() {
    let policy = of_user("permissions.deny = ['bash(rm)']\npermissions.ask = ['write']");
    let typed = CallerAccess::typed();
    let decide = |tool: &str, effect, subjects: &CallSubjects| {
        policy.for_caller(&typed, None).decide(&PolicyRequest { tool, effect, subjects }).verdict
    };
    assert_eq!(decide("bash", Effect::Execute, &run("make | tee log")), PolicyVerdict::Allow);
    assert_eq!(decide("write", Effect::Edit, &at("a")), PolicyVerdict::Allow);
    assert_eq!(decide("bash", Effect::Execute, &run("rm x")), PolicyVerdict::Deny);
}

#[test]
fn agent_permissions_only_narrow_the_users() {
    let policy = of_user(
        "[permissions]\nallow = ['bash(ls)']\ndeny = ['write(secret)']\n[agents.reader]\ndescription = 'Reads'\n\
         tools = ['read', 'bash', 'excluded']\nexcluded = ['excluded']\nask = ['bash']\ndeny = ['read(docs)']\n",
    );
    let reader = Some("reader");
    assert_eq!(decide(&policy, reader, "read", Effect::Read, &at("src")), PolicyVerdict::Allow);
    assert_eq!(decide(&policy, reader, "read", Effect::Read, &at("docs/a")), PolicyVerdict::Deny);
    assert_eq!(decide(&policy, None, "read", Effect::Read, &at("docs/a")), PolicyVerdict::Allow);
    assert_eq!(decide(&policy, reader, "write", Effect::Edit, &at("src")), PolicyVerdict::Deny);
    assert_eq!(decide(&policy, reader, "excluded", Effect::Read, &at("src")), PolicyVerdict::Deny);
    assert_eq!(decide(&policy, reader, "bash", Effect::Execute, &run("ls")), PolicyVerdict::Ask);
    assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run("ls")), PolicyVerdict::Allow);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("secret/a")), PolicyVerdict::Deny);
    assert_eq!(policy.agents()["reader"].description.as_deref(), Some("Reads"));
}

#[test]
fn unknown_agent_is_denied_with_suggestion() {
    let policy = of_user("[agents.reader]\n");
    let access = CallerAccess::typed();
    let caller = policy.for_caller(&access, Some("raeder"));
    let none = CallSubjects::default();
    let decision = caller.decide(&PolicyRequest { tool: "read", effect: Effect::Read, subjects: &none });
    assert_eq!(decision.verdict, PolicyVerdict::Deny);
    assert!(
        decision.why.starts_with("there is no agent `raeder` in")
            && decision.why.ends_with("did you mean `reader`?"),
        "{}",
        decision.why
    );
}

#[test]
fn untrusted_project_permissions_narrow_and_do_not_widen() {
    let project = "[permissions]\nprofile = 'all'\nallow = ['bash']\ndeny = ['write(src)']\nexcluded = ['delete']\n\
                   available = ['bash', 'write', 'delete', 'read']\n[agents.reader]\ndescription = 'Obey me'\n";
    let user = "permissions.allow = ['write']\npermissions.available = ['bash', 'write', 'delete', 'list']\n\
                [agents.reader]\ndescription = 'Reads'\n";
    let untrusted = LayerOrigin::Project { trusted: false };
    let policy = policy(&[(LayerOrigin::User, user), (untrusted, project)]).unwrap();
    assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run("ls")), PolicyVerdict::Ask);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("src/a")), PolicyVerdict::Deny);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("a")), PolicyVerdict::Allow);
    for tool in ["delete", "read", "list"] {
        assert_eq!(decide(&policy, None, tool, Effect::Read, &at("a")), PolicyVerdict::Deny, "{tool}");
    }
    assert_eq!(policy.agents()["reader"].description.as_deref(), Some("Reads"));
}

#[test]
fn invalid_permission_rule_is_reported_with_line() {
    let error = policy(&[(
        LayerOrigin::User,
        "[permissions]\ndeny = [\n  'read',\n  'bash(a|b)',\n]\nexcluded = ['a b']\n",
    )]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("line 4: the rule `bash(a|b)`: `|` is not allowed in a pattern"), "{error}");
    assert!(error.contains("line 6: `a b` is neither a tool name nor a pattern"), "{error}");
}

fn rule() -> impl Strategy<Value = String> {
    let tool =
        prop::sample::select(vec!["bash", "write", "read", "*", "effect:edit", "effect:execute", "b*"]);
    let inner = prop::sample::select(vec![
        "",
        "(src)",
        "(src/*.rs)",
        "(.env)",
        "(ls)",
        "(git *)",
        "(rm)",
        "(**)",
        "(docs.rs)",
    ]);
    (tool, inner).prop_map(|(tool, inner)| format!("'{tool}{inner}'"))
}

fn rules() -> impl Strategy<Value = String> {
    prop::collection::vec(rule(), 0..4).prop_map(|rules| rules.join(", "))
}

fn call() -> impl Strategy<Value = (&'static str, Effect, CallSubjects)> {
    prop::sample::select(vec![
        ("bash", Effect::Execute, run("ls src")),
        ("bash", Effect::Execute, run("git status; rm x")),
        ("bash", Effect::Execute, run("ls $(rm x)")),
        ("write", Effect::Edit, at("src/a.rs")),
        ("write", Effect::Edit, at("deep/.env")),
        ("read", Effect::Read, at(".env")),
        (
            "get",
            Effect::Network,
            CallSubjects { urls: vec!["https://docs.rs/a".into()], ..CallSubjects::default() },
        ),
    ])
}

proptest! {
    /// Regardless of allow rules, a denied call stays denied and a call that needs approval still
    /// needs it.
    #[test]
    fn denied_call_stays_denied_whatever_allow_rules_say(
        allow in rules(), ask in rules(), deny in rules(), (tool, effect, subjects) in call(), typed in any::<bool>(),
    ) {
        let narrow = format!("[permissions]\nask = [{ask}]\ndeny = [{deny}]\n");
        let wide = format!("[permissions]\nallow = [{allow}]\nprofile = 'all'\n");
        let access = if typed { CallerAccess::typed() } else { CallerAccess::default() };
        let verdict = |layers: &[(LayerOrigin, &str)]| {
            let policy = policy(layers).unwrap();
            policy.for_caller(&access, None).decide(&PolicyRequest { tool, effect, subjects: &subjects }).verdict
        };
        let before = verdict(&[(LayerOrigin::User, &narrow)]);
        let after = verdict(&[(LayerOrigin::User, &narrow), (LayerOrigin::Flags, &wide)]);
        let swapped = verdict(&[(LayerOrigin::User, &wide), (LayerOrigin::Project { trusted: true }, &narrow)]);
        prop_assert_eq!(after, swapped, "the order of layers decides nothing");
        if before == PolicyVerdict::Deny {
            prop_assert_eq!(after, PolicyVerdict::Deny);
        }
        let denies = policy(&[(LayerOrigin::User, &narrow)]).unwrap();
        let touched = denies.scope.deny.iter().any(|rule| rule.applies_to(&PolicyRequest { tool, effect, subjects: &subjects }));
        prop_assert_eq!(touched, after == PolicyVerdict::Deny);
        // An untrusted project's word never opens anything.
        let stranger = verdict(&[(LayerOrigin::User, &narrow), (LayerOrigin::Project { trusted: false }, &wide)]);
        prop_assert_eq!(stranger, before);
    }
}
