use std::collections::BTreeSet;

use super::*;

fn load(origin: LayerOrigin, text: &str) -> Result<LoadedCatalogue, ConfigError> {
    Catalogue::load(&[Layer::new(origin, "servers.toml", text)])
}

fn error(text: &str) -> String {
    load(LayerOrigin::User, text).expect_err(text).to_string()
}

#[test]
fn built_in_catalogue_has_no_problems() {
    let layer = Layer::new(LayerOrigin::BuiltIn, BUILT_IN_FILE, BUILT_IN_TEXT);
    let table = layer.read(&CATALOGUE_FIELDS).unwrap_or_else(|error| panic!("{error}"));
    let problems = cross_check(&table, &[layer]);
    assert!(problems.is_empty(), "{problems:#?}");
    let catalogue = Catalogue::built_in();
    assert!(catalogue.servers.len() >= 40 && catalogue.languages.len() >= 30);
    assert_eq!(catalogue.servers["pylsp"].command, ["pylsp"]);
    assert_eq!(catalogue.servers["pylsp"].install.advice.as_deref(), Some("pip install python-lsp-server"));
    assert_eq!(catalogue.servers["bash-language-server"].command, ["bash-language-server", "start"]);
}

#[test]
fn built_in_catalogue_file_is_sorted() {
    for kind in ["[language.", "[server."] {
        let keys = BUILT_IN_TEXT
            .lines()
            .filter_map(|line| line.strip_prefix(kind)?.strip_suffix(']'))
            .filter(|key| !key.contains('.'))
            .collect::<Vec<_>>();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert_eq!(keys, sorted);
    }
}

#[test]
fn every_language_has_a_navigating_server_and_expected_defaults() {
    let catalogue = Catalogue::built_in();
    for (key, language) in &catalogue.languages {
        let running = catalogue.servers_for(key).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(running, language.servers, "{key}");
        let navigates =
            catalogue.servers_for(key).first().is_some_and(|(_, server)| server.features.navigation);
        assert!(navigates, "{key} needs a first server that navigates");
    }
    let keys = |language| catalogue.servers_for(language).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(keys("python"), ["pylsp"]);
    assert_eq!(keys("shell"), ["bash-language-server"]);
    assert_eq!(keys("typescript"), ["typescript-language-server"]);
    let speakers =
        catalogue.servers_supporting("python").into_iter().map(|(key, _)| key).collect::<BTreeSet<_>>();
    for other in
        ["basedpyright", "jedi-language-server", "pylsp", "pyrefly", "pyright", "ruff", "ty", "zuban"]
    {
        assert!(speakers.contains(other), "{other}");
    }
}

#[test]
fn every_install_recipe_pins_a_version_or_server_is_manual() {
    for (key, server) in Catalogue::built_in().servers.iter() {
        let install = &server.install;
        let version = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        for (packages, separator) in [
            (&install.pip, "=="),
            (&install.npm, "@"),
            (&install.cargo, "@"),
            (&install.go, "@v"),
            (&install.gem, ":"),
            (&install.dotnet, "@"),
        ] {
            for package in packages {
                let pinned = package
                    .rsplit_once(separator)
                    .is_some_and(|(name, pin)| !name.is_empty() && version(pin));
                assert!(pinned, "{key}: {package}");
            }
        }
        assert!(
            !install.recipes().is_empty() || install.manual.is_some(),
            "{key} has neither a recipe nor words for a person"
        );
    }
}

#[test]
fn every_server_prerequisite_has_exactly_one_check() {
    for (key, server) in Catalogue::built_in().servers.iter() {
        for hollow in &server.hollow {
            let ways = [
                hollow.program.is_some(),
                hollow.python_module.is_some(),
                !hollow.succeeds.is_empty(),
                hollow.file.is_some() && !hollow.below.is_empty(),
            ];
            assert_eq!(ways.into_iter().filter(|way| *way).count(), 1, "{key}: {}", hollow.message);
        }
    }
}

#[test]
fn file_extension_or_name_belongs_to_one_language_only() {
    let mut seen = BTreeSet::new();
    for language in Catalogue::built_in().languages.values() {
        let extensions = language.extensions.iter().map(|extension| format!(".{extension}"));
        for word in extensions.chain(language.filenames.iter().cloned()) {
            assert!(seen.insert(word.clone()), "{word} of {}", language.name);
        }
        assert!(language.extensions.iter().all(|extension| *extension == extension.to_lowercase()));
    }
}

#[test]
fn language_of_file_follows_name_extension_and_shebang() {
    let catalogue = Catalogue::built_in();
    for (name, first_line, wanted) in [
        ("a.py", None, Some("python")),
        ("A.PY", None, Some("python")),
        ("a.d.ts", None, Some("typescript")),
        ("a.tsx", None, Some("typescript")),
        ("view.blade.php", None, Some("php")),
        ("app.app.src", None, Some("erlang")),
        ("Makefile", None, Some("make")),
        ("makefile", None, Some("make")),
        ("CMakeLists.txt", None, Some("cmake")),
        ("notes.txt", None, None),
        (".bashrc", None, Some("shell")),
        (".py", None, None),
        ("Dockerfile", None, Some("dockerfile")),
        ("Dockerfile.prod", None, Some("dockerfile")),
        ("Dockerfile.md", None, Some("markdown")),
        ("docker-compose.yml", None, Some("compose")),
        ("x.yml", None, Some("yaml")),
        ("tsconfig.json", None, Some("jsonc")),
        ("tsconfig.cjs.spec.json", None, Some("jsonc")),
        ("tsconfig.ts", None, Some("typescript")),
        ("package.json", None, Some("json")),
        ("Cargo.lock", None, Some("toml")),
        ("go.mod", None, Some("go-mod")),
        ("run", Some("#!/usr/bin/env -S python3 -u"), Some("python")),
        ("run", Some("#!/usr/bin/python3.12"), Some("python")),
        ("run", Some("#!/bin/bash"), Some("shell")),
        ("run", Some("#!/usr/bin/env node\r"), Some("javascript")),
        ("run", Some("#!/usr/bin/env nothing-known"), None),
        ("run", Some("import os"), None),
        ("run", None, None),
        ("a.rs", Some("#!/usr/bin/env python3"), Some("rust")),
        ("", None, None),
        (".", None, None),
        ("a.", None, None),
        ("ünï.Rs", None, Some("rust")),
    ] {
        assert_eq!(catalogue.language_of(name, first_line), wanted, "{name} {first_line:?}");
    }
    assert!(catalogue.needs_first_line("run") && !catalogue.needs_first_line("Makefile"));
    assert!(!catalogue.needs_first_line("a.unknown"));
}

#[test]
fn language_id_depends_on_language_and_extension() {
    let catalogue = Catalogue::built_in();
    for (language, extension, wanted) in [
        ("python", Some("py"), "python"),
        ("shell", Some("sh"), "shellscript"),
        ("typescript", Some("ts"), "typescript"),
        ("typescript", Some("TSX"), "typescriptreact"),
        ("javascript", Some("jsx"), "javascriptreact"),
        ("javascript", None, "javascript"),
        ("compose", Some("yml"), "dockercompose"),
        ("no-such-language", Some("x"), "no-such-language"),
    ] {
        assert_eq!(catalogue.language_id(language, extension), wanted, "{language} {extension:?}");
    }
}

#[test]
fn invalid_catalogue_entry_is_reported_with_its_line() {
    for (text, wanted) in [
        (
            "# mine\n[server.pylsp]\ncomand = [\"pylsp\"]\n",
            "`servers.toml` line 3: unknown key `comand` in [server.pylsp]; did you mean `command`?",
        ),
        (
            "[server.pylsp]\nfeatures = { xyz = true }\n",
            "`servers.toml` line 2: unknown key `xyz` in [server.pylsp.features]; there are `navigation`, `diagnostics`, `format` and `actions`",
        ),
        ("[sever.pylsp]\n", "`servers.toml` line 1: unknown key `sever`; did you mean `server`?"),
        (
            "[server.pylsp]\n\ncommand = \"pylsp\"\n",
            "`servers.toml` line 3: `command` in [server.pylsp] must be a list of strings, but it is a string",
        ),
        (
            "[server.pylsp]\ncommand = [\n  \"pylsp\",\n  1,\n]\n",
            "`servers.toml` line 4: `command` in [server.pylsp] must be a list of strings, but a whole number is in it",
        ),
        (
            "server.pylsp.root-required = 1.5",
            "`servers.toml` line 1: `root-required` in [server.pylsp] must be `true` or `false`, but it is a number with a fraction",
        ),
        (
            "server.pylsp.env = { A = true }",
            "`servers.toml` line 1: `A` in [server.pylsp.env] must be a string, but it is `true` or `false`",
        ),
        (
            "server.pylsp.env = 'A=1'",
            "`servers.toml` line 1: `env` in [server.pylsp] must be a table of strings, but it is a string",
        ),
        (
            "server.pylsp.settings = [1]",
            "`servers.toml` line 1: `settings` in [server.pylsp] must be a table, but it is a list",
        ),
        (
            "server.pylsp.hollow = { program = 'x' }",
            "`servers.toml` line 1: `hollow` in [server.pylsp] must be a list of tables, but it is a table",
        ),
        (
            "[[server.pylsp.hollow]]\nprogramm = 'x'\n",
            "`servers.toml` line 2: unknown key `programm` in [server.pylsp.hollow]; did you mean `program`?",
        ),
        (
            "[server.pylsp]\nsync = 'ful'\n",
            "`servers.toml` line 2: `sync` in [server.pylsp] cannot be `ful`; did you mean `full`?",
        ),
        (
            "[server.pylsp]\nsync = 1979-05-27\n",
            "`servers.toml` line 2: `sync` in [server.pylsp] must be one of `announced`, `full-if-astral` and `full`, but it is a date",
        ),
        (
            "[server.pylsp.diagnostics]\nquiet-ms = 0x0\n",
            "`servers.toml` line 2: `quiet-ms` in [server.pylsp.diagnostics] must be a whole number from 1 to 3600000, but it is 0x0",
        ),
        (
            "server = { pylsp = 1 }",
            "`servers.toml` line 1: `pylsp` in [server] must be a table, but it is a whole number",
        ),
        (
            "[language.python]\nservers = [\n  'ruff',\n  'pylps',\n]\n",
            "`servers.toml` line 4: language `python` names the unknown server `pylps`; did you mean `pylsp`?",
        ),
        (
            "[language.python]\nservers = ['clangd']\n",
            "`servers.toml` line 2: language `python` names the server `clangd`, which speaks only `c`, `cpp`, `cuda`, `hip`, `objective-c`, `objective-cpp` and `opencl`",
        ),
        (
            "\n[server.mine]\nlanguages = ['python']\n",
            "`servers.toml` line 2: server `mine` has no `command`; add `command = [\"program\", \"argument\"]`",
        ),
        (
            "[server.mine]\ncommand = ['x']\n",
            "`servers.toml` line 1: server `mine` has no `languages`; add `languages = [\"key of a language\"]`",
        ),
        (
            "[server.pylsp]\ncommand = []\n",
            "`servers.toml` line 1: server `pylsp` has no `command`; add `command = [\"program\", \"argument\"]`",
        ),
        (
            "[server.mine]\ncommand = ['x']\nlanguages = ['pyton']\n",
            "`servers.toml` line 3: server `mine` names the unknown language `pyton`; did you mean `python`?",
        ),
    ] {
        assert_eq!(error(text), wanted);
    }
}

#[test]
fn catalogue_with_invalid_toml_is_reported_with_its_line() {
    for (text, line) in [("[server.pylsp\n", 1), ("\na = \n", 2), ("[a]\n[a]\n", 2), ("a = 1\na = 2\n", 2)] {
        let error = error(text);
        assert!(error.starts_with(&format!("`servers.toml` line {line}: this is not TOML: ")), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn all_catalogue_errors_of_a_file_are_reported_in_order() {
    let error = error("[server.pylsp]\nroot-required = 'no'\ncomand = ['x']\n[languages]\n");
    let lines = error.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(lines, ["1. `servers.toml` line 2", "2. `servers.toml` line 3", "3. `servers.toml` line 4"]);
}

#[test]
fn catalogue_error_names_the_layer_that_caused_it() {
    let layers = [
        Layer::new(
            LayerOrigin::User,
            "user.toml",
            "[server.mine]\ncommand = ['x']\nlanguages = ['python']\n",
        ),
        Layer::new(LayerOrigin::Flags, "command line", "[language.python]\nservers = ['mine', 'myne']\n"),
    ];
    assert_eq!(
        Catalogue::load(&layers).unwrap_err().to_string(),
        "`command line` line 2: language `python` names the unknown server `myne`; did you mean `mine`?"
    );
}

#[test]
fn catalogue_layer_overrides_one_key_of_a_server() {
    let loaded =
        load(LayerOrigin::User, "[server.pylsp.settings.pylsp.plugins.ruff]\nenabled = true\n").unwrap();
    let pylsp = &loaded.catalogue.servers["pylsp"];
    assert_eq!(pylsp.settings["pylsp"]["plugins"]["ruff"]["enabled"].as_bool(), Some(true));
    assert_eq!(pylsp.command, ["pylsp"]);
    assert_eq!(pylsp.diagnostics.quiet_ms, Catalogue::built_in().servers["pylsp"].diagnostics.quiet_ms);
}

#[test]
fn catalogue_layer_adds_servers_and_languages() {
    let text = "[language.toy]\nextensions = ['toy.x', 'TOY']\nservers = ['toy-ls']\n\
                [server.toy-ls]\nlanguages = ['toy']\ncommand = ['toy-ls', '--stdio']\n";
    let catalogue = load(LayerOrigin::User, text).unwrap().catalogue;
    assert_eq!(catalogue.language_of("a.toy", None), Some("toy"));
    assert_eq!(catalogue.language_of("a.toy.x", None), Some("toy"));
    let (key, server) = catalogue.servers_for("toy")[0];
    assert_eq!((key, server.name.as_str(), server.command.len()), ("toy-ls", "toy-ls", 2));
    assert_eq!(catalogue.language_of("a.py", None), Some("python"));
}

#[test]
fn untrusted_project_adds_no_server_and_changes_no_launch_field() {
    let text = "[server.pylsp]\ncommand = ['./evil']\nenv = { A = '1' }\nstart-timeout = 7\n\
                [server.pylsp.settings.pylsp]\nx = 1\n\
                [server.evil]\nlanguages = ['python']\ncommand = ['./evil']\n\
                [language.python]\nservers = ['evil', 'pylsp']\nextensions = ['py', 'evilpy']\n";
    let LoadedCatalogue { catalogue, left_out } =
        load(LayerOrigin::Project { trusted: false }, text).unwrap();
    let (pylsp, built_in) = (&catalogue.servers["pylsp"], &Catalogue::built_in().servers["pylsp"]);
    assert_eq!((&pylsp.command, &pylsp.env), (&built_in.command, &built_in.env));
    assert_eq!(pylsp.settings, built_in.settings);
    assert_eq!(pylsp.start_timeout, Some(7));
    assert!(!catalogue.servers.contains_key("evil"));
    assert_eq!(catalogue.languages["python"].servers, ["pylsp"]);
    assert_eq!(catalogue.language_of("a.evilpy", None), Some("python"));
    let told = left_out.iter().map(|line| line.split(" of ").next().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(
        told,
        [
            "`language.python.servers`",
            "`server.evil.command`",
            "`server.pylsp.command`",
            "`server.pylsp.env`",
            "`server.pylsp.settings`",
            "`server.evil`",
        ]
    );
    assert_eq!(
        left_out[5],
        "`server.evil` of `servers.toml` is ignored, because this project is not trusted; run: lsp-tools trust"
    );

    let trusted = load(LayerOrigin::Project { trusted: true }, text).unwrap();
    assert_eq!(trusted.catalogue.servers["pylsp"].command, ["./evil"]);
    assert_eq!(trusted.catalogue.languages["python"].servers, ["evil", "pylsp"]);
    assert!(trusted.left_out.is_empty());
}

#[test]
fn default_server_is_an_alternative_and_advised_servers_are_installable() {
    let catalogue = Catalogue::built_in();
    for (key, language) in
        catalogue.languages.iter().filter(|(_, language)| !language.alternatives.is_empty())
    {
        let first = language.servers.first().unwrap();
        assert!(language.alternatives.contains(first), "{key}: {first}");
        assert!(!language.fixed, "{key}");
    }
    for server in catalogue.languages.values().flat_map(|language| &language.install) {
        assert!(catalogue.servers[server].install.has_recipe(), "{server}");
    }
}

#[test]
fn language_servers_named_by_user_settings_are_fixed() {
    let fixed = |origin, text: &str| load(origin, text).unwrap().catalogue.languages["python"].fixed;
    let named = "[language.python]\nservers = ['pylsp']\n";
    assert!(fixed(LayerOrigin::User, named));
    assert!(!fixed(LayerOrigin::User, "[language.python]\nextensions = ['py']\n"));
    assert!(!fixed(LayerOrigin::Project { trusted: false }, named));
    let message = error("[language.python]\nalternatives = ['pyrihgt']\n");
    assert!(message.contains("unknown server `pyrihgt`; did you mean `pyright`"), "{message}");
}

#[test]
fn set_up_as_another_server_takes_over_what_that_one_needs() {
    let own = "[server.mine]\nlanguages = ['python']\ncommand = ['mine']\nset-up-as = 'pyright'\n";
    let loaded = load(LayerOrigin::User, own).unwrap().catalogue;
    let (mine, pyright) = (&loaded.servers["mine"], &loaded.servers["pyright"]);
    assert!(!mine.set_up.is_empty());
    assert_eq!(format!("{:?}", mine.set_up), format!("{:?}", pyright.set_up));
    let message = error("[server.pyright]\nset-up-as = 'tyy'\n");
    assert!(message.contains("`set-up-as` of the unknown server `tyy`; did you mean `ty`?"), "{message}");
    for chained in ["ty", "mine"] {
        let own =
            format!("[server.mine]\nlanguages = ['python']\ncommand = ['mine']\nset-up-as = '{chained}'\n");
        let message = error(&own);
        assert!(message.contains(&format!("`set-up-as` of `{chained}`, which itself uses")), "{message}");
    }
    let built_in = Catalogue::built_in();
    for spec in built_in.servers.values() {
        let other = spec.set_up_as.as_ref().map(|other| &built_in.servers[other]);
        assert!(
            other.is_none_or(|other| !other.set_up.is_empty() && other.set_up_as.is_none()),
            "{}",
            spec.name
        );
    }
}

#[test]
fn server_without_door_and_languages_is_refused() {
    let copilot = &Catalogue::built_in().servers["copilot"];
    assert_eq!((copilot.door.as_deref(), copilot.languages.len()), (Some("copilot"), 0));
    for language in Catalogue::built_in().languages.values() {
        assert!(!language.servers.contains(&"copilot".to_owned()));
    }
    let own = "[server.own]\ndoor = \"own\"\ncommand = [\"own\"]\n";
    assert!(load(LayerOrigin::User, own).is_ok());
    assert!(error("[server.own]\ncommand = [\"own\"]\n").contains("server `own` has no `languages`"));
}
