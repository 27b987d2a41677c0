use super::*;

const FILE: &str = "lsp-tools.toml";

fn load(origin: LayerOrigin, text: &str) -> Result<(Settings, Vec<String>), ConfigError> {
    Settings::load(&[Layer::new(origin, FILE, text)], Catalogue::built_in())
}

#[test]
fn settings_without_files_have_the_defaults() {
    let (settings, left_out) = Settings::load(&[], Catalogue::built_in()).unwrap();
    assert_eq!(
        (settings.deadlines.hover, settings.deadlines.start),
        (Duration::from_secs(10), Duration::from_secs(45))
    );
    assert_eq!(settings.servers.idle_stop(), Duration::from_secs(600));
    assert_eq!(settings.servers.memory_budget(), 4 << 30);
    assert!(left_out.is_empty());
}

#[test]
fn stronger_settings_layer_overrides_key_by_key() {
    let layers = [
        Layer::new(
            LayerOrigin::User,
            FILE,
            "[deadlines]\nhover = 1\nreferences = 2\n[log]\nlevel = 'debug'\n",
        ),
        Layer::new(LayerOrigin::Flags, "command line", "deadlines.hover = 3_000"),
    ];
    let (settings, _) = Settings::load(&layers, Catalogue::built_in()).unwrap();
    assert_eq!(settings.deadlines.hover, Duration::from_secs(3));
    assert_eq!(settings.deadlines.references, Duration::from_millis(2));
    assert_eq!(settings.deadlines.definition, Deadlines::default().definition);
    assert_eq!(settings.log.level, "debug");
}

#[test]
fn many_invalid_settings_are_not_all_listed() {
    let text: String = (0..20_000).map(|number| format!("k{number} = 1\n")).collect();
    let Err(ConfigError::Invalid(problems)) = load(LayerOrigin::User, &text) else {
        panic!("unknown keys are accepted");
    };
    assert_eq!(problems.len(), 50);
    assert!(problems[49].to_string().contains("further faults"), "{}", problems[49]);
}

#[test]
fn invalid_setting_is_reported_with_its_line() {
    for (text, wanted) in [
        (
            "[deadlines]\nhovr = 10\n",
            "`lsp-tools.toml` line 2: unknown key `hovr` in [deadlines]; did you mean `hover`?",
        ),
        (
            "\n\ndeadline.hover = 10\n",
            "`lsp-tools.toml` line 3: unknown key `deadline`; did you mean `deadlines`?",
        ),
        (
            "[deadlines]\nhover = '10 s'\n",
            "`lsp-tools.toml` line 2: `hover` in [deadlines] must be a whole number from 1 to 3600000, but it is a string",
        ),
        (
            "[deadlines]\nhover = 0\n",
            "`lsp-tools.toml` line 2: `hover` in [deadlines] must be a whole number from 1 to 3600000, but it is 0",
        ),
        (
            "[deadlines]\nhover = -5\n",
            "`lsp-tools.toml` line 2: `hover` in [deadlines] must be a whole number from 1 to 3600000, but it is -5",
        ),
        (
            "[log]\nlevel = 'verbos'\n",
            "`lsp-tools.toml` line 2: `level` in [log] cannot be `verbos`; there are `off`, `error`, `warn`, `info`, `debug` and `trace`",
        ),
        (
            "disabled = [\n  'ruff',\n  'pylps',\n]\n",
            "`lsp-tools.toml` line 3: `disabled` names the unknown server `pylps`; did you mean `pylsp`?",
        ),
        (
            "[prefer]\npyton = ['pyright']\n",
            "1. `lsp-tools.toml` line 2: `prefer` names the unknown language `pyton`; did you mean `python`?",
        ),
        (
            "[prefer]\npython = ['pyright', 'clangd']\n",
            "`lsp-tools.toml` line 2: `prefer.python` names the server `clangd`, which speaks only `c`, `cpp`, `cuda`, `hip`, `objective-c`, `objective-cpp` and `opencl`",
        ),
        (
            "prefer.python = 'pyright'\n",
            "`lsp-tools.toml` line 1: `python` in [prefer] must be a list of strings, but it is a string",
        ),
    ] {
        let error = load(LayerOrigin::User, text).expect_err(text).to_string();
        let first = error.lines().next().unwrap_or_default();
        assert_eq!(first, wanted);
    }
}

#[test]
fn prefer_and_disabled_settings_choose_servers_of_a_language() {
    let text = "disabled = ['bash-language-server']\nprefer.python = ['pyright', 'ruff']\nprefer.vue = ['vue-language-server']\n";
    let (settings, _) = load(LayerOrigin::User, text).unwrap();
    let mut catalogue = Catalogue::built_in().clone();
    settings.choose_servers(&mut catalogue);
    let keys = |language| catalogue.servers_for(language).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(keys("python"), ["pyright", "ruff"]);
    assert_eq!(keys("shell"), [""; 0]);
    assert_eq!(
        keys("vue"),
        ["vue-language-server"],
        "a preferred server runs although the catalogue disables it"
    );
}

#[test]
fn untrusted_project_settings_choose_no_servers_but_apply_otherwise() {
    let text = "disabled = ['ruff']\nprefer.python = ['pyright']\n[deadlines]\nhover = 7\n";
    let (settings, left_out) = load(LayerOrigin::Project { trusted: false }, text).unwrap();
    assert_eq!(settings.deadlines.hover, Duration::from_millis(7));
    assert!(settings.disabled.is_empty() && settings.prefer.is_empty());
    assert_eq!(
        left_out,
        [
            "`disabled` of `lsp-tools.toml` is ignored, because this project is not trusted; run: lsp-tools trust",
            "`prefer` of `lsp-tools.toml` is ignored, because this project is not trusted; run: lsp-tools trust",
        ]
    );
    let (settings, left_out) = load(LayerOrigin::Project { trusted: true }, text).unwrap();
    assert_eq!((settings.disabled, left_out), (vec!["ruff".to_owned()], Vec::new()));
}

#[test]
fn bash_writable_paths_must_be_absolute_and_trusted_for_projects() {
    let (settings, _) =
        load(LayerOrigin::User, "[bash]\nwritable = ['/srv', '~/x', '~', '$GOPATH/pkg']\n").unwrap();
    assert_eq!(settings.bash.writable, ["/srv", "~/x", "~", "$GOPATH/pkg"]);
    for entry in ["build", "../x", "~root/x", "/srv/../etc", "$/x"] {
        let error = load(LayerOrigin::User, &format!("[bash]\nwritable = ['/a', '{entry}']\n")).unwrap_err();
        let wanted = format!("line 2: `bash.writable` names `{entry}`; give a path from `/`");
        assert!(error.to_string().contains(&wanted), "{error}");
    }
    let text = "[bash]\ntimeout-ms = 5\nsandbox = 'off'\nnetwork = 'open'\ncaches = 'shared'\nwritable = ['/']\nenv = ['*']\n";
    let (settings, left_out) = load(LayerOrigin::Project { trusted: false }, text).unwrap();
    let wanted = BashSettings { timeout: Duration::from_millis(5), ..BashSettings::default() };
    assert_eq!((settings.bash, left_out.len()), (wanted, 5), "{left_out:?}");
}

#[test]
fn project_cannot_set_what_all_workspaces_share() {
    let text = "[servers]\nmachine-memory-budget-mb = 9_000\nmachine-starts = 9\nidle-stop-s = 7\n";
    for trusted in [false, true] {
        let (settings, left_out) = load(LayerOrigin::Project { trusted }, text).unwrap();
        let servers = &settings.servers;
        assert_eq!((servers.machine_memory_budget_mb, servers.machine_starts), (None, None));
        assert_eq!(servers.idle_stop_s, 7);
        assert_eq!(
            left_out,
            [
                "`servers.machine-memory-budget-mb` and `servers.machine-starts` of `lsp-tools.toml` are ignored: \
                 only the user's own settings set the machine's limits"
            ]
        );
    }
    let (settings, left_out) = load(LayerOrigin::User, text).unwrap();
    assert_eq!(settings.servers.machine_memory_budget_mb, Some(9_000));
    assert!(left_out.is_empty());
}

#[test]
fn json_schema_has_the_keys_and_bounds_that_are_checked() {
    let schema = Settings::json_schema();
    let properties = schema["properties"].as_object().expect("properties");
    assert_eq!(properties.len(), SETTINGS_FIELDS.len());
    let hover = &properties["deadlines"]["properties"]["hover"];
    let wanted = serde_json::json!({"type": "integer", "minimum": 1, "maximum": 3_600_000, "description": "The time limit of a hover request, in milliseconds (10,000)."});
    assert_eq!(*hover, wanted);
    for schema in [schema, Catalogue::json_schema()] {
        assert_layer_schema(&schema, "");
    }
}

/// Asserts that each key below `schema` is described, none is required, and no other is allowed.
fn assert_layer_schema(schema: &serde_json::Value, place: &str) {
    assert_eq!(schema["required"], serde_json::Value::Null, "{place}");
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{key}");
        assert_eq!(schema["additionalProperties"], false, "{place}");
        assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{place}");
        for part in [property, &property["additionalProperties"], &property["items"]] {
            assert_layer_schema(part, &place);
        }
    }
}
