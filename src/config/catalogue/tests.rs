use super::*;

fn load(origin: Origin, text: &str) -> Result<Loaded, ConfigError> {
    Catalogue::load(&[Layer::new(origin, "servers.toml", text)])
}

fn error(text: &str) -> String {
    load(Origin::User, text).expect_err(text).to_string()
}

#[test]
fn the_built_in_catalogue_is_right() {
    let layer = Layer::new(Origin::BuiltIn, BUILT_IN_FILE, BUILT_IN_TEXT);
    let table = layer.read(CATALOGUE).unwrap_or_else(|error| panic!("{error}"));
    let problems = crossed(&table, &[layer]);
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(Catalogue::built_in().servers.contains_key("pylsp"));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_key() {
    assert_eq!(
        error("# mine\n[server.pylsp]\ncomand = [\"pylsp\"]\n"),
        "`servers.toml` line 3: unknown key `comand` in [server.pylsp]; did you mean `command`?"
    );
}

#[test]
fn one_key_of_one_server_may_be_set() {
    let loaded = load(Origin::User, "[server.pylsp.settings.pylsp.plugins.ruff]\nenabled = true\n").unwrap();
    let pylsp = &loaded.catalogue.servers["pylsp"];
    assert_eq!(pylsp.settings["pylsp"]["plugins"]["ruff"]["enabled"].as_bool(), Some(true));
    assert_eq!(pylsp.command, ["pylsp"]);
}
