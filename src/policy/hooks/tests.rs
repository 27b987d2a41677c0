use super::*;
use crate::config::{Catalogue, Layer, Settings};

const ABSOLUTE: &str = if cfg!(windows) { "C:/bin/check" } else { "/bin/check" };

fn hooks(origin: LayerOrigin, text: &str) -> Result<Hooks, ConfigError> {
    let layers = [Layer::new(origin, "lsp-tools.toml", text)];
    let (settings, _) = Settings::load(&layers, Catalogue::built_in())?;
    Hooks::new(&settings.access)
}

#[test]
fn hook_sees_named_tools_or_all() {
    let text = format!(
        "[[hooks.pre]]\ncommand = ['{ABSOLUTE}', '-x']\ntools = ['bash', 'lsp_*']\n[[hooks.pre]]\ncommand = ['other']\n"
    );
    let hooks = hooks(LayerOrigin::User, &text).unwrap();
    let seen = |tool: &str| hooks.pre.iter().map(|hook| hook.applies_to(tool)).collect::<Vec<_>>();
    assert_eq!(
        (seen("bash"), seen("lsp_hover"), seen("read")),
        (vec![true, true], vec![true, true], vec![false, true])
    );
    assert_eq!((hooks.pre[0].name(), hooks.post.len()), ("check", 0));
}

#[test]
fn relative_hook_command_is_refused_outside_trusted_project() {
    for (origin, command, wanted) in [
        (
            LayerOrigin::User,
            "['./check.sh']",
            Some("line 1: [[hooks.pre]]: `./check.sh` is relative to the workspace"),
        ),
        (LayerOrigin::Flags, "['tools/check']", Some("is relative to the workspace")),
        (LayerOrigin::User, "[]", Some("`command` is empty")),
        (LayerOrigin::User, &format!("['{ABSOLUTE}']"), None),
        (LayerOrigin::User, "['check']", None),
        (LayerOrigin::Project { trusted: true }, "['./check.sh']", None),
    ] {
        let outcome = hooks(origin, &format!("[[hooks.pre]]\ncommand = {command}\n"));
        match wanted {
            Some(wanted) => {
                let error = outcome.expect_err(command).to_string();
                assert!(error.contains(wanted), "{error}");
            }
            None => assert_eq!(outcome.unwrap().pre.len(), 1, "{command}"),
        }
    }
}

#[test]
fn hook_answer_with_unknown_field_or_verdict_is_refused() {
    let read = |text: &str| serde_json::from_str::<PreAnswer>(text);
    assert_eq!(read("{}").unwrap(), PreAnswer::default());
    assert_eq!(read(r#"{"decision": "deny"}"#).unwrap().decision, Some(PolicyVerdict::Deny));
    for text in [r#"{"decison": "deny"}"#, r#"{"decision": "maybe"}"#, "[]", "null", "yes"] {
        assert!(read(text).is_err(), "{text}");
    }
}
