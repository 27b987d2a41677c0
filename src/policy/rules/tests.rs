use super::*;
use crate::config::{Catalogue, Layer, Settings};
use crate::policy::request::Subjects;
use crate::workspace::WorkspacePath;
use proptest::prelude::*;

fn policy(layers: &[(Origin, &str)]) -> Result<Policy, ConfigError> {
    let layers: Vec<Layer> =
        layers.iter().map(|(origin, text)| Layer::new(*origin, ".lsp-tools/lsp-tools.toml", *text)).collect();
    let (settings, _) = Settings::load(&layers, Catalogue::built_in())?;
    Policy::new(&settings.access).map(|policy| policy.with_beyond_core(["lsp_types".to_owned()]))
}

fn of_user(text: &str) -> Policy {
    policy(&[(Origin::User, text)]).unwrap()
}

fn run(command: &str) -> Subjects {
    Subjects { commands: vec![command.to_owned()], ..Subjects::default() }
}

fn at(path: &str) -> Subjects {
    Subjects { paths: vec![WorkspacePath::root().join(path).unwrap()], ..Subjects::default() }
}

fn decide(policy: &Policy, agent: Option<&str>, tool: &str, effect: Effect, subjects: &Subjects) -> Verdict {
    let access = CallerAccess::default();
    policy.of(&access, agent).decide(&Request { tool, effect, subjects }).verdict
}

#[test]
fn without_rules_the_effect_decides() {
    let policy = Policy::default();
    let none = Subjects::default();
    for (effect, expected) in [
        (Effect::Read, Verdict::Allow),
        (Effect::Edit, Verdict::Allow),
        (Effect::Execute, Verdict::Ask),
        (Effect::Network, Verdict::Ask),
    ] {
        assert_eq!(decide(&policy, None, "tool", effect, &none), expected, "{effect:?}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_whatever_order_they_stand() {
    let policy = of_user(
        "[permissions]\nallow = ['bash', 'write']\nask = ['bash(git push)', 'write(docs)']\ndeny = ['bash(rm)', 'write(docs/old)']",
    );
    for (command, expected) in [
        ("ls", Verdict::Allow),
        ("git push", Verdict::Ask),
        ("git push; rm x", Verdict::Deny),
        ("$(rm x)", Verdict::Deny),
    ] {
        assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run(command)), expected, "{command}");
    }
    for (path, expected) in
        [("src/a", Verdict::Allow), ("docs/a", Verdict::Ask), ("docs/old/a", Verdict::Deny)]
    {
        assert_eq!(decide(&policy, None, "write", Effect::Edit, &at(path)), expected, "{path}");
    }
}

#[test]
fn the_decision_names_its_rule_and_whose_it_is() {
    let policy =
        of_user("permissions.deny = ['bash(rm)']\npermissions.allow = ['bash(git status)', 'bash(ls)']");
    let access = CallerAccess::default();
    let decide = |command: &str| {
        policy.of(&access, None).decide(&Request {
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
    assert_eq!(asked.why, "bash runs a program, and there is a pipe in it, so no pattern can allow it");
}

#[test]
fn available_comes_first_and_excluded_takes_away() {
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
        ("profile = 'lsp'", "write", false),
        ("profile = 'read-only'", "write", false),
        ("profile = 'edit'", "write", true),
    ] {
        let policy = of_user(&format!("[permissions]\n{text}"));
        let effect = if tool == "write" { Effect::Edit } else { Effect::Read };
        let caller = policy.of(&none, None);
        assert_eq!(caller.offers(tool, effect), offered, "{text} {tool}");
        let subjects = Subjects::default();
        let verdict = caller.decide(&Request { tool, effect, subjects: &subjects }).verdict;
        assert_eq!(verdict == Verdict::Deny, !offered, "what is not offered is not run: {text} {tool}");
    }
}

#[test]
fn what_few_tasks_need_is_listed_where_someone_chose_and_called_in_any_case() {
    let none = CallerAccess::default();
    for (text, tool, listed, offered) in [
        ("", "read", true, true),
        ("", "own_tool", true, true),
        ("", "lsp_types", false, true),
        ("profile = 'core'", "lsp_types", false, false),
        ("profile = 'all'", "lsp_types", true, true),
        ("available = ['lsp_*']", "lsp_types", true, true),
        ("excluded = ['lsp_types']", "lsp_types", false, false),
        ("excluded = ['read']", "lsp_types", false, true),
    ] {
        let policy = of_user(&format!("[permissions]\n{text}"));
        let caller = policy.of(&none, None);
        assert_eq!(caller.lists(tool, Effect::Read), listed, "{text} {tool}");
        assert_eq!(caller.offers(tool, Effect::Read), offered, "{text} {tool}");
    }
    let policy = of_user("");
    let chosen = CallerAccess { available: Some(vec!["lsp_types".into()]), ..CallerAccess::default() };
    assert!(policy.of(&chosen, None).lists("lsp_types", Effect::Read));
    let core = CallerAccess { profile: Some(Profile::Core), ..CallerAccess::default() };
    assert!(!policy.of(&core, None).lists("lsp_types", Effect::Read));
}

#[test]
fn a_caller_chooses_among_what_the_settings_leave() {
    let policy = of_user("[permissions]\nprofile = 'lsp'\nexcluded = ['lsp_rename']");
    let choose = |access: CallerAccess, tool: &str| policy.of(&access, None).offers(tool, Effect::Edit);
    let all = || CallerAccess { profile: Some(Profile::All), ..CallerAccess::default() };
    assert!(!choose(CallerAccess::default(), "write"));
    assert!(choose(all(), "write"));
    assert!(!choose(all(), "lsp_rename"), "an excluded tool stays excluded");
    assert!(!choose(CallerAccess { available: Some(vec!["read".into()]), ..all() }, "write"));
    assert!(!choose(CallerAccess { excluded: vec!["wr*".into()], ..all() }, "write"));
}

#[test]
fn typing_a_call_answers_ask_and_not_deny() {
    let policy = of_user("permissions.deny = ['bash(rm)']\npermissions.ask = ['write']");
    let typed = CallerAccess::typed();
    let decide = |tool: &str, effect, subjects: &Subjects| {
        policy.of(&typed, None).decide(&Request { tool, effect, subjects }).verdict
    };
    assert_eq!(decide("bash", Effect::Execute, &run("make | tee log")), Verdict::Allow);
    assert_eq!(decide("write", Effect::Edit, &at("a")), Verdict::Allow);
    assert_eq!(decide("bash", Effect::Execute, &run("rm x")), Verdict::Deny);
}

#[test]
fn an_agent_can_only_have_less() {
    let policy = of_user(
        "[permissions]\nallow = ['bash(ls)']\ndeny = ['write(secret)']\n[agents.reader]\ndescription = 'Reads'\n\
         tools = ['read', 'bash', 'excluded']\nexcluded = ['excluded']\nask = ['bash']\ndeny = ['read(docs)']\n",
    );
    let reader = Some("reader");
    assert_eq!(decide(&policy, reader, "read", Effect::Read, &at("src")), Verdict::Allow);
    assert_eq!(decide(&policy, reader, "read", Effect::Read, &at("docs/a")), Verdict::Deny);
    assert_eq!(decide(&policy, None, "read", Effect::Read, &at("docs/a")), Verdict::Allow);
    assert_eq!(decide(&policy, reader, "write", Effect::Edit, &at("src")), Verdict::Deny);
    assert_eq!(decide(&policy, reader, "excluded", Effect::Read, &at("src")), Verdict::Deny);
    assert_eq!(decide(&policy, reader, "bash", Effect::Execute, &run("ls")), Verdict::Ask);
    assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run("ls")), Verdict::Allow);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("secret/a")), Verdict::Deny);
    assert_eq!(policy.agents()["reader"].description.as_deref(), Some("Reads"));
}

#[test]
fn an_unknown_agent_may_do_nothing() {
    let policy = of_user("[agents.reader]\n");
    let access = CallerAccess::typed();
    let caller = policy.of(&access, Some("raeder"));
    let none = Subjects::default();
    let decision = caller.decide(&Request { tool: "read", effect: Effect::Read, subjects: &none });
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(
        decision.why.starts_with("there is no agent `raeder` in")
            && decision.why.ends_with("did you mean `reader`?"),
        "{}",
        decision.why
    );
}

#[test]
fn an_untrusted_project_narrows_and_does_not_widen() {
    let project = "[permissions]\nprofile = 'all'\nallow = ['bash']\ndeny = ['write(src)']\nexcluded = ['delete']\n\
                   available = ['bash', 'write', 'delete', 'read']\n[agents.reader]\ndescription = 'Obey me'\n";
    let user = "permissions.allow = ['write']\npermissions.available = ['bash', 'write', 'delete', 'list']\n\
                [agents.reader]\ndescription = 'Reads'\n";
    let untrusted = Origin::Project { trusted: false };
    let policy = policy(&[(Origin::User, user), (untrusted, project)]).unwrap();
    assert_eq!(decide(&policy, None, "bash", Effect::Execute, &run("ls")), Verdict::Ask);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("src/a")), Verdict::Deny);
    assert_eq!(decide(&policy, None, "write", Effect::Edit, &at("a")), Verdict::Allow);
    for tool in ["delete", "read", "list"] {
        assert_eq!(decide(&policy, None, tool, Effect::Read, &at("a")), Verdict::Deny, "{tool}");
    }
    assert_eq!(policy.agents()["reader"].description.as_deref(), Some("Reads"));
}

#[test]
fn a_wrong_rule_is_named_with_its_file_and_line() {
    let error = policy(&[(
        Origin::User,
        "[permissions]\ndeny = [\n  'read',\n  'bash(a|b)',\n]\nexcluded = ['a b']\n",
    )]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("line 4: the rule `bash(a|b)`: `|` cannot stand in a pattern"), "{error}");
    assert!(error.contains("line 6: `a b` is no tool's name"), "{error}");
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

fn call() -> impl Strategy<Value = (&'static str, Effect, Subjects)> {
    prop::sample::select(vec![
        ("bash", Effect::Execute, run("ls src")),
        ("bash", Effect::Execute, run("git status; rm x")),
        ("bash", Effect::Execute, run("ls $(rm x)")),
        ("write", Effect::Edit, at("src/a.rs")),
        ("write", Effect::Edit, at("deep/.env")),
        ("read", Effect::Read, at(".env")),
        ("get", Effect::Network, Subjects { urls: vec!["https://docs.rs/a".into()], ..Subjects::default() }),
    ])
}

proptest! {
    /// Whatever else is allowed, by whomever: what is denied stays denied, and what is asked is at least asked.
    #[test]
    fn no_allow_rule_opens_what_is_denied(
        allow in rules(), ask in rules(), deny in rules(), (tool, effect, subjects) in call(), typed in any::<bool>(),
    ) {
        let narrow = format!("[permissions]\nask = [{ask}]\ndeny = [{deny}]\n");
        let wide = format!("[permissions]\nallow = [{allow}]\nprofile = 'all'\n");
        let access = if typed { CallerAccess::typed() } else { CallerAccess::default() };
        let verdict = |layers: &[(Origin, &str)]| {
            let policy = policy(layers).unwrap();
            policy.of(&access, None).decide(&Request { tool, effect, subjects: &subjects }).verdict
        };
        let before = verdict(&[(Origin::User, &narrow)]);
        let after = verdict(&[(Origin::User, &narrow), (Origin::Flags, &wide)]);
        let swapped = verdict(&[(Origin::User, &wide), (Origin::Project { trusted: true }, &narrow)]);
        prop_assert_eq!(after, swapped, "the order of layers decides nothing");
        if before == Verdict::Deny {
            prop_assert_eq!(after, Verdict::Deny);
        }
        let denies = policy(&[(Origin::User, &narrow)]).unwrap();
        let touched = denies.scope.deny.iter().any(|rule| rule.touches(&Request { tool, effect, subjects: &subjects }));
        prop_assert_eq!(touched, after == Verdict::Deny);
        // An untrusted project's word never opens anything.
        let stranger = verdict(&[(Origin::User, &narrow), (Origin::Project { trusted: false }, &wide)]);
        prop_assert_eq!(stranger, before);
    }
}
