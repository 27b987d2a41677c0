use super::*;
use crate::config::{Catalogue, Settings};

const FILE: &str = ".lsp-tools/lsp-tools.toml";

fn load(origin: LayerOrigin, text: &str) -> Result<(Settings, Vec<String>), ConfigError> {
    Settings::load(&[Layer::new(origin, FILE, text)], Catalogue::built_in())
}

const EVERYTHING: &str = "[permissions]\nprofile = 'all'\nallow = ['bash']\nask = ['write']\ndeny = ['x']\n\
    available = ['read']\nexcluded = ['y']\n[[hooks.pre]]\ncommand = ['evil']\n[agents.a]\ndescription = 'd'\n\
    tools = ['read']\nexcluded = ['e']\nask = ['f']\ndeny = ['g']\nrunner = ['evil']\n";

#[test]
fn access_settings_of_untrusted_project_only_narrow() {
    let (settings, left_out) = load(LayerOrigin::Project { trusted: false }, EVERYTHING).unwrap();
    let access = &settings.access[0].access;
    assert_eq!((access.permissions.profile, access.permissions.allow.len()), (None, 0));
    assert_eq!(access.permissions.ask, ["write"]);
    assert_eq!(access.permissions.deny, ["x"]);
    assert_eq!(access.permissions.available, Some(vec!["read".to_owned()]));
    assert_eq!(access.permissions.excluded, ["y"]);
    assert_eq!(access.hooks, HookLists::default());
    let agent = &access.agents["a"];
    assert_eq!((agent.runner.clone(), agent.deny.len(), agent.ask.len()), (None, 1, 1));
    let named: Vec<&str> = left_out.iter().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(named, ["permissions.profile", "permissions.allow", "hooks", "agents.a.runner"]);
}

#[test]
fn access_settings_of_trusted_project_and_user_apply_fully() {
    for origin in [LayerOrigin::Project { trusted: true }, LayerOrigin::User, LayerOrigin::Flags] {
        let (settings, left_out) = load(origin, EVERYTHING).unwrap();
        let access = &settings.access[0].access;
        assert_eq!((access.permissions.profile, left_out.len()), (Some(Profile::All), 0));
        assert_eq!(access.permissions.allow, ["bash"]);
        assert_eq!(access.hooks.pre[0].command, ["evil"]);
        assert_eq!(access.hooks.pre[0].timeout(), Duration::from_secs(10));
    }
}

#[test]
fn permission_lists_of_layers_are_kept_apart() {
    let layers = [
        Layer::new(LayerOrigin::User, "user", "permissions.deny = ['bash']"),
        Layer::new(LayerOrigin::Project { trusted: true }, FILE, "permissions.deny = []"),
    ];
    let (settings, _) = Settings::load(&layers, Catalogue::built_in()).unwrap();
    let denied: Vec<&[String]> =
        settings.access.iter().map(|layer| layer.access.permissions.deny.as_slice()).collect();
    assert_eq!(denied, [&["bash".to_owned()][..], &[]]);
}

#[test]
fn invalid_access_setting_is_reported_with_its_line() {
    for (text, wanted) in [
        (
            "[permissions]\nallwo = []\n",
            "line 2: unknown key `allwo` in [permissions]; did you mean `allow`?",
        ),
        ("[agents.a]\nallow = ['bash']\n", "line 2: unknown key `allow` in [agents.a]"),
        ("[permissions]\nprofile = 'some'\n", "line 2: `profile` in [permissions] cannot be `some`"),
        ("[[hooks.pre]]\ncommand = 'x'\n", "line 2: `command` in [hooks.pre] must be a list of strings"),
        ("[[hooks.pre]]\ntools = ['x']\n", "missing field `command`"),
    ] {
        let error = load(LayerOrigin::User, text).expect_err(text).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
