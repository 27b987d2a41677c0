use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::platform::files::symlink;

struct Bench {
    _folder: tempfile::TempDir,
    folders: Folders,
    project: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let folders = Folders {
            config: path.join("config"),
            data: path.join("data"),
            state: path.join("state"),
            cache: path.join("cache"),
            home: None,
        };
        let project = path.join("project");
        fs::create_dir_all(project.join(".lsp-tools")).unwrap();
        fs::create_dir_all(&folders.config).unwrap();
        Self { _folder: folder, folders, project }
    }

    fn project_says(&self, name: &str, text: &str) {
        fs::write(self.project.join(".lsp-tools").join(name), text).unwrap();
    }

    fn load(&self, flags: &ConfigOverrides) -> Result<Config, ConfigError> {
        Config::load(&self.folders, Some(&self.project), flags, &self.trust())
    }

    fn trust(&self) -> TrustStore {
        TrustStore::open(&self.folders).unwrap()
    }
}

#[test]
fn later_config_layer_overrides_earlier_key_by_key() {
    let bench = Bench::new();
    fs::write(bench.folders.servers_file(), "[server.pylsp]\nstart-timeout = 1\nroot-markers = ['user']\n")
        .unwrap();
    bench.project_says("servers.toml", "[server.pylsp]\nstart-timeout = 2\nfaults = ['project']\n");
    let flags =
        ConfigOverrides { servers: Some("server.pylsp.start-timeout = 3".to_owned()), settings: None };
    let pylsp = bench.load(&flags).unwrap().catalogue.servers["pylsp"].clone();
    assert_eq!(pylsp.start_timeout, Some(3));
    assert_eq!(pylsp.root_markers, ["user"]);
    assert_eq!(pylsp.faults, ["project"]);
    assert_eq!(pylsp.command, ["pylsp"]);
    assert_eq!(
        bench.load(&ConfigOverrides::default()).unwrap().catalogue.servers["pylsp"].start_timeout,
        Some(2)
    );
}

#[test]
fn project_server_command_applies_only_while_trusted_and_unchanged() {
    let bench = Bench::new();
    bench.project_says("servers.toml", "[server.pylsp]\ncommand = ['./evil']\nstart-timeout = 2\n");
    bench.project_says("lsp-tools.toml", "prefer.python = ['ruff']\ndeadlines.hover = 5\n");
    let config = bench.load(&ConfigOverrides::default()).unwrap();
    assert_eq!(config.trust, TrustState::Untrusted);
    assert_eq!(config.catalogue.servers["pylsp"].command, ["pylsp"]);
    assert_eq!(config.catalogue.servers["pylsp"].start_timeout, Some(2));
    assert_eq!(config.settings.deadlines.hover, Duration::from_millis(5));
    assert_eq!(config.left_out.len(), 2, "{:#?}", config.left_out);

    bench.trust().grant(&bench.project, &config.launch).unwrap();
    let config = bench.load(&ConfigOverrides::default()).unwrap();
    assert_eq!((config.trust, config.left_out), (TrustState::Trusted, Vec::new()));
    assert_eq!(config.catalogue.servers["pylsp"].command, ["./evil"]);
    assert_eq!(config.catalogue.servers_for("python")[0].0, "ruff");

    bench.project_says("servers.toml", "[server.pylsp]\ncommand = ['./worse']\n");
    let config = bench.load(&ConfigOverrides::default()).unwrap();
    let what = vec!["`server.pylsp.command` of `.lsp-tools/servers.toml` was changed".to_owned()];
    assert_eq!(config.trust, TrustState::Changed { what });
    assert_eq!(config.catalogue.servers["pylsp"].command, ["pylsp"]);
    assert_eq!(config.catalogue.servers_for("python")[0].0, "pylsp");
}

#[test]
fn launch_fields_to_trust_are_shown_with_values() {
    let bench = Bench::new();
    bench.project_says("servers.toml", "[server.pylsp]\ncommand = ['./run', '-v']\n");
    let shown = bench.load(&ConfigOverrides::default()).unwrap().launch.approval_items();
    let name = "`server.pylsp.command` of `.lsp-tools/servers.toml`".to_owned();
    assert_eq!(shown, [(name, "[\"./run\", \"-v\"]".to_owned())]);
}

#[test]
fn launch_fields_to_trust_are_shown_without_control_characters() {
    let bench = Bench::new();
    let text = "[server.pylsp]\nenv = { \"A\\u001b[2K\" = \"\\u001b[8m\\u202e\" }\n[server.\"x\\u001b[1A\"]\ncommand = ['x']\nlanguages = ['python']\n";
    bench.project_says("servers.toml", text);
    let config = bench.load(&ConfigOverrides::default()).unwrap();
    let shown = config
        .launch
        .approval_items()
        .into_iter()
        .flat_map(|(name, value)| [name, value])
        .chain(config.left_out);
    for line in shown {
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line:?}");
    }
    let Err(error) = Catalogue::load(&[Layer::new(LayerOrigin::User, "f", "\"\\u001b[1A\" = 1")]) else {
        panic!()
    };
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
}

#[test]
fn config_error_names_the_file_of_its_layer() {
    let bench = Bench::new();
    bench.project_says("servers.toml", "\n[servers.pylsp]\n");
    assert_eq!(
        bench.load(&ConfigOverrides::default()).unwrap_err().to_string(),
        "`.lsp-tools/servers.toml` line 2: unknown key `servers`; did you mean `server`?"
    );
    let user = bench.folders.servers_file();
    fs::write(&user, "server = 1").unwrap();
    bench.project_says("servers.toml", "");
    assert_eq!(
        bench.load(&ConfigOverrides::default()).unwrap_err().to_string(),
        format!("`{}` line 1: `server` must be a table, but it is a whole number", user.display())
    );
}

#[test]
fn project_config_symlink_leading_outside_is_refused() {
    let bench = Bench::new();
    let secret = bench.folders.config.join("secret");
    fs::write(&secret, "password = 1").unwrap();
    symlink(&secret, bench.project.join(".lsp-tools/servers.toml")).unwrap();
    let error = bench.load(&ConfigOverrides::default()).unwrap_err().to_string();
    assert!(error.contains("leads out of the workspace"), "{error}");
    assert!(!error.contains("password"), "{error}");
}

#[test]
fn damaged_trust_store_fails_config_load_with_advice() {
    let bench = Bench::new();
    bench.trust().grant(&bench.project, &LaunchFields::default()).unwrap();
    let trust = bench.trust();
    fs::write(bench.folders.state.join("trust.json"), "{").unwrap();
    let error =
        Config::load(&bench.folders, Some(&bench.project), &ConfigOverrides::default(), &trust).unwrap_err();
    assert!(matches!(error, ConfigError::Trust(_)));
    assert!(error.to_string().contains("nothing is trusted until you repair it"), "{error}");
}

#[test]
fn config_without_project_uses_user_files() {
    let bench = Bench::new();
    fs::write(bench.folders.settings_file(), "log.level = 'trace'").unwrap();
    let config = Config::load(&bench.folders, None, &ConfigOverrides::default(), &bench.trust()).unwrap();
    assert_eq!((config.settings.log.level.as_str(), config.trust), ("trace", TrustState::Untrusted));
}

#[test]
fn trust_store_writable_by_others_loads_config_untrusted() {
    use crate::platform::files::PermissionsExt;

    let bench = Bench::new();
    bench.project_says("servers.toml", "[server.pylsp]\ncommand = ['evil']\nstart-timeout = 2\n");
    let launch = bench.load(&ConfigOverrides::default()).unwrap().launch;
    bench.trust().grant(&bench.project, &launch).unwrap();
    assert!(bench.load(&ConfigOverrides::default()).unwrap().trust.is_trusted());
    let store = bench.folders.trust_file();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o666)).unwrap();
    let config = bench.load(&ConfigOverrides::default()).unwrap();
    assert_eq!(config.catalogue.servers["pylsp"].command, ["pylsp"]);
    assert_eq!(
        (config.trust, config.catalogue.servers["pylsp"].start_timeout),
        (TrustState::Untrusted, Some(2))
    );
    assert!(
        config.left_out.iter().any(|line| line.contains("is writable by other users")),
        "{:?}",
        config.left_out
    );
}
