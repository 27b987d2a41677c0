//! The catalogue of languages and servers: built in, then the user's layer, then the project's.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use super::error::{ConfigError, ConfigProblem};
use super::index::LanguageIndex;
use super::layer::{Layer, LayerOrigin, merge};
use super::schema::{self, ConfigField, strip_launch_fields, untrusted_sentence};
use super::spec::{Language, ServerSpec};
use crate::text::{quoted_list, suggestion};
use crate::workspace::{SourceNames, WorkspacePath};

const BUILT_IN_FILE: &str = "servers.toml";
const BUILT_IN_TEXT: &str = include_str!("../../servers.toml");

/// Every known language and server, by key.
///
/// The tables are read-only: the index behind [`Catalogue::language_of`] is made once, from the
/// languages as loaded. Copies share the unchanged parts.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// Languages by key (`python`).
    pub languages: BTreeMap<String, Language>,
    /// Servers by key (`pylsp`).
    pub servers: Arc<BTreeMap<String, ServerSpec>>,
    index: Arc<LanguageIndex>,
}

/// A catalogue with the settings that were left out of it.
#[derive(Debug, Clone)]
pub(crate) struct LoadedCatalogue {
    /// The catalogue to use.
    pub(crate) catalogue: Catalogue,
    /// One sentence for each ignored setting of an untrusted project.
    pub(crate) left_out: Vec<String>,
}

/// A whole `servers.toml`.
#[derive(Deserialize, JsonSchema)]
struct CatalogueTables {
    /// The languages by key (`python`).
    #[serde(default)]
    language: BTreeMap<String, Language>,
    /// The servers by key (`pylsp`).
    #[serde(default)]
    server: BTreeMap<String, ServerSpec>,
}

impl From<CatalogueTables> for Catalogue {
    fn from(words: CatalogueTables) -> Self {
        let index = LanguageIndex::new(&words.language);
        let mut servers = words.server;
        let of_another = |spec: &ServerSpec| {
            Some(servers.get(spec.set_up_as.as_ref()?)?.set_up.clone()).filter(|needs| !needs.is_empty())
        };
        let added: Vec<_> =
            servers.iter().filter_map(|(key, spec)| Some((key.clone(), of_another(spec)?))).collect();
        for (key, needs) in added {
            if let Some(spec) = servers.get_mut(&key) {
                spec.set_up.extend(needs);
            }
        }
        Self { languages: words.language, servers: Arc::new(servers), index: Arc::new(index) }
    }
}

/// The keys of `servers.toml`.
///
/// Launch fields are marked with caution. A server's settings and initialization options may name
/// programs (`python.pythonPath`, `rust-analyzer.check.overrideCommand`), so the whole of them
/// counts. So does a `hollow` check, because it runs the server's command and shows a command to
/// people; every switch that turns a protection off; and every choice of the servers that run.
pub(super) static CATALOGUE_FIELDS: LazyLock<Vec<ConfigField>> =
    LazyLock::new(schema::fields_of::<CatalogueTables>);

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    let words: CatalogueTables =
        toml::from_str(BUILT_IN_TEXT).expect("a test holds that the compiled-in catalogue is right");
    words.into()
});

impl Catalogue {
    /// Returns the JSON Schema of `servers.toml`.
    pub(crate) fn json_schema() -> serde_json::Value {
        schema::json_schema::<CatalogueTables>("servers.toml")
    }

    /// The built-in catalogue (`servers.toml` of the project's source).
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The built-in layer under `layers`, which are given from the weakest to the strongest.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with every unknown key, wrong type, unknown name and missing key.
    pub(crate) fn load(layers: &[Layer]) -> Result<LoadedCatalogue, ConfigError> {
        if layers.is_empty() {
            return Ok(LoadedCatalogue { catalogue: Self::built_in().clone(), left_out: Vec::new() });
        }
        let built_in = Layer::new(LayerOrigin::BuiltIn, BUILT_IN_FILE, BUILT_IN_TEXT);
        let mut merged: Table = toml::from_str(BUILT_IN_TEXT)
            .map_err(|error| ConfigError::Invalid(vec![built_in.problem(0, error.to_string())]))?;
        let (mut left_out, mut named) = (Vec::new(), Vec::new());
        for layer in layers {
            let mut table = layer.read(&CATALOGUE_FIELDS)?;
            if layer.origin == (LayerOrigin::Project { trusted: false }) {
                left_out.extend(strip_untrusted(layer, &mut table, &merged));
            }
            named.extend(with_servers(&table));
            merge(&mut merged, table);
        }
        name_by_key(&mut merged);
        let problems = cross_check(&merged, layers);
        if !problems.is_empty() {
            return Err(ConfigError::Invalid(problems));
        }
        let mut words: CatalogueTables = merged.try_into().map_err(|error: toml::de::Error| {
            let last = layers.last().unwrap_or(&built_in);
            ConfigError::Invalid(vec![last.problem(0, error.message().to_owned())])
        })?;
        for language in named {
            if let Some(language) = words.language.get_mut(&language) {
                language.fixed = true;
            }
        }
        Ok(LoadedCatalogue { catalogue: words.into(), left_out })
    }

    /// Disables or enables a server. Data shared with other copies is cloned only if that changes
    /// something.
    pub(super) fn set_disabled(&mut self, server: &str, is_disabled: bool) {
        if self.servers.get(server).is_some_and(|known| known.disabled != is_disabled)
            && let Some(server) = Arc::make_mut(&mut self.servers).get_mut(server)
        {
            server.disabled = is_disabled;
        }
    }

    /// The key of the language of a file, by its whole name, else by its longest extension, else by
    /// the interpreter that its first line names. `file_name` is the last part of the path.
    pub fn language_of(&self, file_name: &str, first_line: Option<&str>) -> Option<&str> {
        self.index.language_of(file_name, first_line)
    }

    /// Returns true if the user's catalogue gives no file another language than the built-in one.
    pub(crate) fn has_usual_files(&self) -> bool {
        fn signs<'l>((key, language): (&'l String, &'l Language)) -> (&'l String, [&'l [String]; 3], bool) {
            (key, [&language.extensions, &language.filenames, &language.shebangs], language.data)
        }
        self.languages.iter().map(signs).eq(Self::built_in().languages.iter().map(signs))
    }

    /// Returns true for a language of data, markup or prose, whose files define nothing that code
    /// calls by name.
    pub(crate) fn is_data(&self, language: &str) -> bool {
        self.languages.get(language).is_some_and(|known| known.data)
    }

    /// Returns true if a file with this name may hold settings of tools: it is neither code nor in
    /// a language whose files are checked each by itself.
    pub(crate) fn may_be_settings(&self, file_name: &str) -> bool {
        let Some(language) = self.language_of(file_name, None) else { return true };
        let is_by_itself = |server: &ServerSpec| {
            server.diagnostics.own_text && server.languages.iter().any(|own| own == language)
        };
        self.is_data(language) && !self.servers.values().any(is_by_itself)
    }

    /// Returns true if only the first line can reveal the language of a file with this name.
    pub(crate) fn needs_first_line(&self, file_name: &str) -> bool {
        !file_name.contains('.') && self.language_of(file_name, None).is_none()
    }

    /// The LSP `languageId` of a file (3.17, *TextDocumentItem*) of this language with this
    /// extension (without the dot).
    pub fn language_id<'a>(&'a self, language: &'a str, extension: Option<&str>) -> &'a str {
        let Some(spec) = self.languages.get(language) else { return language };
        extension
            .and_then(|extension| spec.language_ids.get(&extension.to_lowercase()))
            .or(spec.language_id.as_ref())
            .map_or(language, String::as_str)
    }

    /// The servers that run for a language, the one that navigates in the workspace's root first,
    /// with their keys; disabled ones do not run.
    pub fn servers_for(&self, language: &str) -> Vec<(&str, &ServerSpec)> {
        let Some(language) = self.languages.get(language) else { return Vec::new() };
        let of_packages = language.chosen.iter().flat_map(|(_, keys)| keys);
        let mut keys: Vec<&String> = Vec::new();
        for key in language.active_servers().iter().chain(of_packages) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        self.enabled(keys.into_iter())
    }

    /// Like [`servers_for`](Self::servers_for), for one file of the language.
    pub(crate) fn servers_at(&self, language: &str, path: &WorkspacePath) -> Vec<(&str, &ServerSpec)> {
        let language = self.languages.get(language);
        self.enabled(language.map_or(&[][..], |language| language.active_servers_at(path)).iter())
    }

    fn enabled<'a>(&'a self, keys: impl Iterator<Item = &'a String>) -> Vec<(&'a str, &'a ServerSpec)> {
        let known = keys.filter_map(|key| Some((key.as_str(), self.servers.get(key)?)));
        known.filter(|(_, server)| !server.disabled).collect()
    }

    /// Every server that speaks a language, also those that do not run by default, with their keys.
    pub fn servers_supporting(&self, language: &str) -> Vec<(&str, &ServerSpec)> {
        self.servers
            .iter()
            .filter(|(_, server)| server.languages.iter().any(|spoken| spoken == language))
            .map(|(key, server)| (key.as_str(), server))
            .collect()
    }
}

/// Removes the launch fields from an untrusted project's table, and servers that are left without a
/// command.
fn strip_untrusted(layer: &Layer, table: &mut Table, below: &Table) -> Vec<String> {
    let mut sentences = strip_launch_fields(table, &CATALOGUE_FIELDS, &layer.file);
    let known = |key: &str| section(below, "server").is_some_and(|servers| servers.contains_key(key));
    let unknown = section(table, "server")
        .map(|servers| servers.keys().filter(|key| !known(key)).cloned().collect::<Vec<_>>())
        .unwrap_or_default();
    for key in &unknown {
        sentences.push(untrusted_sentence(&format!("`server.{key}` of `{}`", layer.file)));
        if let Some(toml::Value::Table(servers)) = table.get_mut("server") {
            servers.remove(key);
        }
    }
    sentences
}

/// The keys of the languages whose servers `table` names.
fn with_servers(table: &Table) -> Vec<String> {
    let languages = section(table, "language").into_iter().flatten();
    languages.filter(|(_, language)| language.get("servers").is_some()).map(|(key, _)| key.clone()).collect()
}

/// A language or server without a name of its own is called by its key.
fn name_by_key(merged: &mut Table) {
    for kind in ["language", "server"] {
        let Some(toml::Value::Table(entries)) = merged.get_mut(kind) else { continue };
        for (key, entry) in entries.iter_mut() {
            if let toml::Value::Table(entry) = entry {
                entry.entry("name").or_insert_with(|| key.clone().into());
            }
        }
    }
}

impl SourceNames for Catalogue {
    fn has(&self, name: &str) -> bool {
        self.language_of(name, None).is_some()
    }
}

/// Reports the faults between tables that are each correct by themselves.
fn cross_check(merged: &Table, layers: &[Layer]) -> Vec<ConfigProblem> {
    let empty = Table::new();
    let languages = section(merged, "language").unwrap_or(&empty);
    let servers = section(merged, "server").unwrap_or(&empty);
    let server_keys = servers.keys().map(String::as_str).collect::<Vec<_>>();
    let language_keys = languages.keys().map(String::as_str).collect::<Vec<_>>();
    let mut problems = Vec::new();
    let mut report = |path: &[&str], message: String| {
        if problems.len() < schema::MAX_LISTED_FAULTS {
            problems.extend(problem_at(layers, path, message));
        }
    };
    for (key, server) in servers {
        for (word, example) in
            [("command", "[\"program\", \"argument\"]"), ("languages", "[\"key of a language\"]")]
        {
            let needless = word == "languages" && server.get("door").is_some();
            if string_list(server, word).is_empty() && !needless {
                report(&["server", key], format!("server `{key}` has no `{word}`; add `{word} = {example}`"));
            }
        }
        for language in
            string_list(server, "languages").into_iter().filter(|name| !languages.contains_key(*name))
        {
            let suggestion = suggestion(language, &language_keys);
            let message = format!("server `{key}` names the unknown language `{language}`{suggestion}");
            report(&["server", key, "languages", language], message);
        }
        let Some(other) = server.get("set-up-as").and_then(toml::Value::as_str) else { continue };
        let message = match servers.get(other) {
            None => {
                let suggestion = suggestion(other, &server_keys);
                format!("server `{key}` has `set-up-as` of the unknown server `{other}`{suggestion}")
            }
            Some(named) if named.get("set-up-as").is_some() => format!(
                "server `{key}` has `set-up-as` of `{other}`, which itself uses the set-up of another; name that one"
            ),
            Some(_) => continue,
        };
        report(&["server", key, "set-up-as"], message);
    }
    let named = |language| {
        ["servers", "alternatives", "install"]
            .map(|word| string_list(language, word).into_iter().map(move |server| (word, server)))
    };
    for (key, language) in languages {
        for (word, server) in named(language).into_iter().flatten() {
            let Some(spec) = servers.get(server) else {
                let suggestion = suggestion(server, &server_keys);
                let message = format!("language `{key}` names the unknown server `{server}`{suggestion}");
                report(&["language", key, word, server], message);
                continue;
            };
            let spoken = string_list(spec, "languages");
            if !spoken.is_empty() && !spoken.contains(&key.as_str()) {
                let spoken = quoted_list(&spoken);
                let message =
                    format!("language `{key}` names the server `{server}`, which speaks only {spoken}");
                report(&["language", key, word, server], message);
            }
        }
    }
    problems
}

/// Creates a problem at the place where the strongest layer has `path`.
pub(super) fn problem_at(layers: &[Layer], path: &[&str], message: String) -> Option<ConfigProblem> {
    let (layer, line) = (1..=path.len()).rev().find_map(|steps| {
        layers.iter().rev().find_map(|layer| Some((layer, layer.line_of(&path[..steps])?)))
    })?;
    Some(ConfigProblem::new(&layer.file, line, &message))
}

fn section<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    table.get(key).and_then(toml::Value::as_table)
}

fn string_list<'a>(entry: &'a toml::Value, key: &str) -> Vec<&'a str> {
    let items = entry.get(key).and_then(toml::Value::as_array);
    items.into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

pub(crate) mod build_file;
pub(crate) mod command_files;
pub(crate) mod detect;
mod installation;
pub(crate) mod marker;
pub(crate) mod named_files;
pub(crate) mod pin;
#[cfg(test)]
mod tests;
