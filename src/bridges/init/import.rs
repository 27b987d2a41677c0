//! Import of language servers from other programs' files, as entries of our `servers.toml`. The files are Copilot CLI's
//! `lsp.json` and `lsp-config.json`, the `lsp` of opencode's settings, and the `.lsp.json` of Claude Code's plugins.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::InitError;
use super::edit::{HostFileFormat, insert_entry, value_of};
use super::entry::HostConfigEntry;
use super::file::{InitFileChange, check_inside, text_of};
use super::host::{HostDirectories, HostScope, copilot_servers, opencode_files};
use crate::config::{Catalogue, Layer, LayerOrigin};

/// What was found and what would become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerImportPlan {
    /// The change of our file.
    pub(crate) change: InitFileChange,
    /// The servers by their keys in it.
    pub(crate) servers: Vec<String>,
    /// What could not be carried over, in sentences.
    pub(crate) left_out: Vec<String>,
}

/// One server as another program's file has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct ImportedServer {
    name: String,
    command: Vec<String>,
    /// Endings of file names without the dot, and the language's id where it is told.
    endings: BTreeMap<String, Option<String>>,
    env: Map<String, Value>,
    options: Option<Value>,
    settings: Option<Value>,
    start_ms: Option<u64>,
}

/// The files that are looked into where none is named.
pub(crate) fn usual_files(places: &HostDirectories) -> Vec<PathBuf> {
    let project = |name: &str| places.project.join(name);
    let [of_project, of_user] =
        [HostScope::Project, HostScope::User].map(|scope| opencode_files(scope, places));
    let all = [project("lsp.json"), copilot_servers(HostScope::Project, places), project(".lsp.json")]
        .into_iter()
        .chain(of_project)
        .chain([copilot_servers(HostScope::User, places)])
        .chain(of_user);
    all.filter(|path| path.is_file()).collect()
}

/// Reads `files` and works out the change of our `servers.toml`: the project's, or the user's at `users_file`.
///
/// # Errors
/// Where a file cannot be read, holds no definitions, or our own file cannot be kept.
pub(crate) fn import(
    files: &[PathBuf],
    scope: HostScope,
    places: &HostDirectories,
    users_file: &Path,
    force: bool,
) -> Result<ServerImportPlan, InitError> {
    let path = match scope {
        HostScope::Project => places.project.join(".lsp-tools/servers.toml"),
        HostScope::User => users_file.to_owned(),
    };
    if scope == HostScope::Project {
        check_inside(&path, &places.project)?;
    }
    // What our own file says already must not change what is made of a definition.
    let below = match scope {
        HostScope::Project => text_of(users_file)?
            .map(|text| Layer::new(LayerOrigin::User, users_file.display().to_string(), text)),
        HostScope::User => None,
    };
    let catalogue = &load_catalogue(below.iter().cloned().collect())?;
    let (mut left_out, mut definitions) = (Vec::new(), Vec::new());
    for file in files {
        definitions.extend(read(file, &mut left_out)?);
    }
    let before = text_of(&path)?;
    let mut after = before.clone();
    let mut servers = BTreeSet::new();
    let mut run: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let name = path.display().to_string();
    let mut add = |entry: HostConfigEntry| -> Result<(), InitError> {
        after = Some(insert_entry(HostFileFormat::Toml, &name, after.as_deref(), &entry, force)?);
        Ok(())
    };
    for definition in definitions {
        let Some((key, entries)) = to_server_entries(&definition, catalogue, &mut run, &mut left_out) else {
            continue;
        };
        entries.into_iter().try_for_each(&mut add)?;
        servers.insert(key);
    }
    for (language, keys) in run {
        add(entry(&["language", &language, "servers"], json!(keys)))?;
    }
    if servers.is_empty() {
        return Err(InitError::Nothing(
            "there is no definition of a language server that could be carried over".to_owned(),
        ));
    }
    let after = after.unwrap_or_default();
    // Whatever was carried over must be something that we can read.
    load_catalogue(below.into_iter().chain([Layer::new(LayerOrigin::User, &name, &after)]).collect())?;
    Ok(ServerImportPlan {
        change: InitFileChange { path, before, after: Some(after) },
        servers: servers.into_iter().collect(),
        left_out,
    })
}

/// Reads one server of a file; what cannot be carried over is noted.
type ReadOne = fn(&str, &Map<String, Value>, &mut Vec<String>) -> Option<ImportedServer>;

fn load_catalogue(layers: Vec<Layer>) -> Result<Catalogue, InitError> {
    let loaded = Catalogue::load(&layers).map_err(|error| InitError::Unreadable {
        file: layers.last().map(|layer| layer.file.clone()).unwrap_or_default(),
        format: "a catalogue of servers",
        reason: error.to_string(),
    })?;
    Ok(loaded.catalogue)
}

fn read(file: &Path, left_out: &mut Vec<String>) -> Result<Vec<ImportedServer>, InitError> {
    let name = file.display().to_string();
    let unreadable = |reason: String| InitError::Unreadable { file: name.clone(), format: "JSON", reason };
    let text = text_of(file)?.ok_or_else(|| InitError::Nothing(format!("there is no file `{name}`")))?;
    let whole = value_of(&text).map_err(unreadable)?;
    let found = |servers: &Map<String, Value>, one: ReadOne, left_out: &mut Vec<String>| {
        servers.iter().filter_map(|(key, value)| one(key, value.as_object()?, left_out)).collect::<Vec<_>>()
    };
    let object = |key: &str| whole.get(key).and_then(Value::as_object);
    if let Some(servers) = object("lspServers") {
        return Ok(found(servers, of_copilot, left_out));
    }
    if let Some(servers) = object("lsp") {
        return Ok(found(servers, of_opencode, left_out));
    }
    // Settings of opencode that say nothing of servers, or turn them on and off.
    if whole.get("lsp").is_some() || whole.get("$schema").is_some() {
        return Ok(Vec::new());
    }
    let plugin = whole
        .as_object()
        .filter(|servers| servers.values().any(|server| server.get("extensionToLanguage").is_some()));
    match plugin {
        Some(servers) => Ok(found(servers, of_plugin, left_out)),
        None => Err(InitError::NoServers { file: name.clone() }),
    }
}

fn string_list(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Notes the words of `server` that are none of `known`.
fn note_rest(name: &str, server: &Map<String, Value>, known: &[&str], left_out: &mut Vec<String>) {
    let rest: Vec<String> =
        server.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("`{key}`")).collect();
    if !rest.is_empty() {
        left_out.push(format!("{name}: {} has no place in servers.toml", rest.join(", ")));
    }
}

fn base(
    name: &str,
    server: &Map<String, Value>,
    endings: &str,
    left_out: &mut Vec<String>,
) -> Option<ImportedServer> {
    let program = server.get("command").and_then(Value::as_str);
    let Some(program) = program.filter(|program| !program.is_empty()) else {
        left_out.push(format!("{name}: it has no `command`"));
        return None;
    };
    let told = server.get(endings).and_then(Value::as_object).cloned().unwrap_or_default();
    let ending =
        |(ending, id): (String, Value)| (strip_leading_dots(&ending), id.as_str().map(str::to_owned));
    Some(ImportedServer {
        name: name.to_owned(),
        command: std::iter::once(program.to_owned()).chain(string_list(server.get("args"))).collect(),
        endings: told.into_iter().map(ending).collect(),
        env: server.get("env").and_then(Value::as_object).cloned().unwrap_or_default(),
        ..ImportedServer::default()
    })
}

fn strip_leading_dots(ending: &str) -> String {
    ending.trim_start_matches('.').to_owned()
}

fn of_copilot(name: &str, server: &Map<String, Value>, left_out: &mut Vec<String>) -> Option<ImportedServer> {
    let mut definition = base(name, server, "fileExtensions", left_out)?;
    definition.options = server.get("initializationOptions").cloned();
    let known = ["command", "args", "fileExtensions", "env", "initializationOptions"];
    note_rest(name, server, &known, left_out);
    Some(definition)
}

fn of_plugin(name: &str, server: &Map<String, Value>, left_out: &mut Vec<String>) -> Option<ImportedServer> {
    if server.get("transport").is_some_and(|transport| transport != "stdio") {
        left_out.push(format!("{name}: it listens on a socket, and servers here speak on stdin and stdout"));
        return None;
    }
    let mut definition = base(name, server, "extensionToLanguage", left_out)?;
    definition.options = server.get("initializationOptions").cloned();
    definition.settings = server.get("settings").cloned();
    definition.start_ms = server.get("startupTimeout").and_then(Value::as_u64);
    let known = [
        "command",
        "args",
        "extensionToLanguage",
        "env",
        "initializationOptions",
        "settings",
        "startupTimeout",
        "transport",
    ];
    note_rest(name, server, &known, left_out);
    Some(definition)
}

fn of_opencode(
    name: &str,
    server: &Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Option<ImportedServer> {
    if server.get("disabled") == Some(&Value::Bool(true)) {
        left_out
            .push(format!("{name}: it is disabled there; `disabled` in lsp-tools.toml does the same here"));
        return None;
    }
    let command = string_list(server.get("command"));
    if command.is_empty() {
        left_out.push(format!("{name}: it has no `command`"));
        return None;
    }
    let environment = server.get("env").or_else(|| server.get("environment"));
    let known = ["command", "extensions", "env", "environment", "initialization", "disabled"];
    note_rest(name, server, &known, left_out);
    Some(ImportedServer {
        name: name.to_owned(),
        command,
        endings: string_list(server.get("extensions"))
            .iter()
            .map(|ending| (strip_leading_dots(ending), None))
            .collect(),
        env: environment.and_then(Value::as_object).cloned().unwrap_or_default(),
        options: server.get("initialization").cloned(),
        ..ImportedServer::default()
    })
}

fn entry(path: &[&str], value: Value) -> HostConfigEntry {
    HostConfigEntry { path: path.iter().map(|key| (*key).to_owned()).collect(), value }
}

/// A definition as entries of `servers.toml`, under the key of the same server where the catalogue has it.
fn to_server_entries(
    definition: &ImportedServer,
    catalogue: &Catalogue,
    run: &mut BTreeMap<String, Vec<String>>,
    left_out: &mut Vec<String>,
) -> Option<(String, Vec<HostConfigEntry>)> {
    let name = &definition.name;
    let program =
        Path::new(&definition.command[0]).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let same = |(_, server): &(&String, &crate::config::spec::ServerSpec)| {
        server.command.first().is_some_and(|word| word == program)
    };
    let known = catalogue.servers.get_key_value(name).or_else(|| catalogue.servers.iter().find(same));
    let key = known.map_or_else(|| sanitize(name), |(key, _)| key.clone());
    let mut entries = Vec::new();
    let mut languages: BTreeSet<String> =
        known.iter().flat_map(|(_, server)| server.languages.iter().cloned()).collect();
    let mut fresh: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (ending, id) in &definition.endings {
        match catalogue.language_of(&format!("x.{ending}"), None) {
            Some(language) => {
                languages.insert(language.to_owned());
            }
            None => fresh.entry(sanitize(id.as_deref().unwrap_or(&key))).or_default().push(ending.clone()),
        }
    }
    for (language, endings) in fresh {
        if catalogue.languages.contains_key(&language) {
            let endings = endings.join(", ");
            left_out.push(format!("{name}: {endings} are no endings of {language} in the catalogue; [language.{language}] can name them"));
        } else {
            let value =
                json!({"name": language, "extensions": endings, "language-id": language, "servers": [key]});
            entries.push(entry(&["language", &language], value));
        }
        languages.insert(language);
    }
    if languages.is_empty() {
        left_out.push(format!("{name}: it names no endings of files, and the catalogue does not know it"));
        return None;
    }
    for language in &languages {
        let Some(spec) = catalogue.languages.get(language) else { continue };
        if spec.servers.first() != Some(&key) {
            let keys = run.entry(language.clone()).or_insert_with(|| spec.servers.clone());
            keys.retain(|known| *known != key);
            keys.insert(0, key.clone());
        }
    }
    entries.push(entry(&["server", &key], server_table(definition, known.is_some(), &languages, left_out)));
    Some((key, entries))
}

fn server_table(
    definition: &ImportedServer,
    known: bool,
    languages: &BTreeSet<String>,
    left_out: &mut Vec<String>,
) -> Value {
    let name = &definition.name;
    let mut table = Map::new();
    if !known {
        table.insert("name".to_owned(), json!(name));
    }
    table.insert("languages".to_owned(), json!(languages));
    table.insert("command".to_owned(), json!(definition.command));
    if !definition.env.is_empty() {
        table.insert("env".to_owned(), Value::Object(definition.env.clone()));
    }
    for (key, value) in [("initialization-options", &definition.options), ("settings", &definition.settings)]
    {
        match value {
            Some(value @ Value::Object(map)) if !map.is_empty() => match has_null(value) {
                true => left_out.push(format!("{name}: its `{key}` have a null in them, which TOML has not")),
                false => {
                    table.insert(key.to_owned(), value.clone());
                }
            },
            Some(Value::Object(_)) | None => {}
            Some(_) => left_out.push(format!("{name}: its `{key}` are no object")),
        }
    }
    if let Some(ms) = definition.start_ms {
        table.insert("start-timeout".to_owned(), json!(ms.div_ceil(1_000).clamp(1, 3_600)));
    }
    Value::Object(table)
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

fn sanitize(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter.to_ascii_lowercase() } else { '-' }
    };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(text: &str) -> Result<(String, Vec<String>), InitError> {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        let places = HostDirectories {
            project: root.clone(),
            home: root.clone(),
            config: root.clone(),
            codex: None,
            copilot: None,
            claude: None,
        };
        let file = root.join("lsp.json");
        std::fs::write(&file, text).unwrap();
        let users = root.join("servers.toml");
        let imported = import(&[file], HostScope::User, &places, &users, false)?;
        Ok((imported.change.after.unwrap_or_default(), imported.left_out))
    }

    #[test]
    fn imported_lsp_server_known_to_catalogue_keeps_its_key() {
        let (text, left_out) = imported(
            r#"{"lspServers": {"rust": {"command": "rust-analyzer", "args": ["--x"], "fileExtensions": {".rs": "rust"}, "requestTimeoutMs": 9}}}"#,
        )
        .unwrap();
        assert_eq!(
            text,
            "[server.rust-analyzer]\nlanguages = [\"rust\"]\ncommand = [\"rust-analyzer\", \"--x\"]\n"
        );
        assert_eq!(left_out, ["rust: `requestTimeoutMs` has no place in servers.toml"]);
    }

    #[test]
    fn imported_unknown_lsp_server_and_language_are_added() {
        let (text, left_out) = imported(
            r#"{
                // opencode
                "lsp": {
                    "own": {"command": ["own-ls", "--stdio"], "extensions": [".ownx", ".py"], "env": {"A": "1"}, "initialization": {"a": {"b": 1}}},
                    "off": {"disabled": true},
                },
            }"#,
        )
        .unwrap();
        let catalogue =
            Catalogue::load(&[Layer::new(LayerOrigin::User, "servers.toml", &text)]).unwrap().catalogue;
        let server = &catalogue.servers["own"];
        assert_eq!((server.command.join(" "), server.env["A"].as_str()), ("own-ls --stdio".to_owned(), "1"));
        assert_eq!(catalogue.language_of("a.ownx", None), Some("own"));
        assert_eq!(catalogue.servers_for("python")[0].0, "own");
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert!(text.contains("initialization-options = { a = { b = 1 } }"), "{text}");
    }

    #[test]
    fn imported_plugin_servers_are_read_and_socket_transport_left_out() {
        let (text, left_out) = imported(
            r#"{"go": {"command": "gopls", "args": ["serve"], "extensionToLanguage": {".go": "go"}, "startupTimeout": 1500},
                "far": {"command": "x", "transport": "socket", "extensionToLanguage": {".x": "x"}}}"#,
        )
        .unwrap();
        assert!(text.contains("[server.gopls]") && text.contains("start-timeout = 2"), "{text}");
        assert!(left_out[0].contains("listens on a socket"), "{left_out:?}");
        for (bad, why) in
            [("{", "cannot be read as JSON"), ("{\"a\": 1}", "neither"), ("{\"lsp\": {}}", "no definition")]
        {
            assert!(imported(bad).unwrap_err().to_string().contains(why), "{bad}");
        }
    }
}
