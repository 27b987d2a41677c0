//! Expansion of variables such as `${root}` in a server's entry of the catalogue.

use std::fs;
use std::path::{Path, PathBuf};

use super::spec::ServerSpec;
use crate::platform::canonicalize;

const ROOT: &str = "${root}";
const NODE_MODULES: &str = "${node-modules}";
const SITE_PACKAGES: &str = "${site-packages}";
const CACHE: &str = "${cache}";

/// A server's table with its placeholders filled in.
#[derive(Debug, Clone)]
pub struct ExpandedServer {
    /// The table to start from.
    pub server: ServerSpec,
    /// Dotted keys that were left out, because they name something beneath `${node-modules}` that
    /// does not exist (`initialization-options.tsserver.path`). A server then falls back to its own
    /// search, which may find code of the project: it is treated like one with `runs-project-code`.
    pub(crate) missing: Vec<String>,
}

impl ServerSpec {
    /// Returns true if the server's command names a cache folder.
    pub(crate) fn needs_cache(&self) -> bool {
        self.command.iter().any(|word| word.contains(CACHE))
    }

    /// Returns the table with `${root}` replaced by `root`, `${cache}` by `cache`, and
    /// `${node-modules}` and `${site-packages}` by the nearest such folder of the installation of
    /// `program` (absolute; links are followed) that has the path in the string. Concerns
    /// `command`, `env`, `settings` and `initialization-options`. A word of the command that has no
    /// value is left out, with the option before it.
    pub fn expand(&self, root: &Path, program: &Path, cache: Option<&Path>) -> ExpandedServer {
        let mut server = self.clone();
        let places = PlaceholderValues {
            root: root.display().to_string(),
            cache: cache.map(|cache| cache.display().to_string()),
            program,
        };
        let mut missing = Vec::new();
        places.fill_table("settings", &mut server.settings, &mut missing);
        places.fill_table("initialization-options", &mut server.initialization_options, &mut missing);
        server.command.clear();
        for word in &self.command {
            match places.expand_text(word, "command", &mut missing) {
                Some(word) => server.command.push(word),
                None => drop(server.command.pop_if(|option| option.starts_with('-'))),
            }
        }
        server.env = self
            .env
            .iter()
            .filter_map(|(name, value)| {
                Some((name.clone(), places.expand_text(value, &format!("env.{name}"), &mut missing)?))
            })
            .collect();
        ExpandedServer { server, missing }
    }
}

struct PlaceholderValues<'a> {
    root: String,
    cache: Option<String>,
    /// The program, whose folders of packages are looked for if a string names them.
    program: &'a Path,
}

impl PlaceholderValues<'_> {
    fn fill_table(&self, key: &str, table: &mut toml::Table, missing: &mut Vec<String>) {
        let entries = std::mem::take(table);
        table.extend(entries.into_iter().filter_map(|(name, value)| {
            let value = self.fill_value(&format!("{key}.{name}"), value, missing)?;
            Some((name, value))
        }));
    }

    fn fill_value(&self, key: &str, value: toml::Value, missing: &mut Vec<String>) -> Option<toml::Value> {
        match value {
            toml::Value::String(text) => self.expand_text(&text, key, missing).map(toml::Value::String),
            toml::Value::Array(items) => {
                let items = items.into_iter().filter_map(|item| self.fill_value(key, item, missing));
                Some(toml::Value::Array(items.collect()))
            }
            toml::Value::Table(mut table) => {
                self.fill_table(key, &mut table, missing);
                Some(toml::Value::Table(table))
            }
            other => Some(other),
        }
    }

    fn expand_text(&self, text: &str, key: &str, missing: &mut Vec<String>) -> Option<String> {
        let mut text = text.replace(ROOT, &self.root);
        if text.contains(CACHE) {
            text = text.replace(CACHE, self.cache.as_ref()?);
        }
        let within = |placeholder: &str, folders: Vec<PathBuf>| {
            let mut paths =
                folders.iter().map(|folder| text.replace(placeholder, &folder.display().to_string()));
            paths.find(|path| Path::new(path).exists())
        };
        if text.contains(SITE_PACKAGES) {
            return within(SITE_PACKAGES, site_packages_beside(self.program));
        }
        if !text.contains(NODE_MODULES) {
            return Some(text);
        }
        let filled = within(NODE_MODULES, node_modules_above(self.program));
        if filled.is_none() {
            missing.push(key.to_owned());
        }
        filled
    }
}

/// The folders of packages of the virtual environment in which `program` lies.
fn site_packages_beside(program: &Path) -> Vec<PathBuf> {
    let program = canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let libraries = program.ancestors().nth(2).map(|environment| environment.join("lib"));
    let versions = libraries.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    versions.map(|version| version.path().join("site-packages")).collect()
}

/// The folders `node_modules` above `program`, nearest first.
fn node_modules_above(program: &Path) -> Vec<PathBuf> {
    let program = canonicalize(program).unwrap_or_else(|_| program.to_owned());
    program.ancestors().filter(|folder| folder.ends_with("node_modules")).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use crate::platform::files::symlink;

    use super::*;
    use crate::config::Catalogue;

    #[test]
    fn tsserver_path_expands_to_typescript_beside_the_server() {
        let prefix = tempfile::tempdir().unwrap();
        let modules = canonicalize(prefix.path()).unwrap().join("node_modules");
        let program = modules.join("typescript-language-server/lib/cli.mjs");
        let tsserver = modules.join("typescript/lib/tsserver.js");
        for file in [&program, &tsserver] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::create_dir(modules.join(".bin")).unwrap();
        let link = modules.join(".bin/typescript-language-server");
        symlink(&program, &link).unwrap();

        let server = &Catalogue::built_in().servers["typescript-language-server"];
        let expanded = server.expand(Path::new("/project"), &link, None);
        let path = expanded.server.initialization_options["tsserver"]["path"].as_str();
        assert_eq!((path.map(Path::new), &expanded.missing[..]), (Some(&*tsserver), &[][..]));

        fs::remove_file(&tsserver).unwrap();
        let expanded = server.expand(Path::new("/project"), &link, None);
        assert_eq!(expanded.missing, ["initialization-options.tsserver.path"]);
        assert!(expanded.server.initialization_options["tsserver"].get("path").is_none());
    }

    #[test]
    fn option_without_a_value_is_left_out_of_the_command() {
        let environment = tempfile::tempdir().unwrap();
        let packages = environment.path().join("lib/python3.13/site-packages");
        let program = environment.path().join("bin/jdtls");
        let mut server = Catalogue::built_in().servers["clangd"].clone();
        server.command = ["jdtls", "-data", "${cache}", "-vm", "${site-packages}/jdk/java", "-x"]
            .map(str::to_owned)
            .to_vec();
        let command = |cache| server.expand(Path::new("/project"), &program, cache).server.command;
        assert_eq!(command(None), ["jdtls", "-x"]);
        fs::create_dir_all(packages.join("jdk/java")).unwrap();
        let java = format!("{}/jdk/java", canonicalize(&packages).unwrap_or(packages).display());
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        assert_eq!(command(Some(Path::new("/c"))), ["jdtls", "-data", "/c", "-vm", &java, "-x"]);
    }

    #[test]
    fn built_in_catalogue_uses_only_known_placeholders() {
        let known = [ROOT, NODE_MODULES, SITE_PACKAGES, CACHE];
        let text = include_str!("../../servers.toml").to_owned();
        let text = known.iter().fold(text, |text, own| text.replace(own, ""));
        // Those of other parts: the version that a project pins, and the file of a question.
        let text = ["${version}", "${uri}", "${path}"].iter().fold(text, |text, own| text.replace(own, ""));
        let other = text.lines().find(|line| line.contains("${"));
        assert_eq!(other, None);
    }

    #[test]
    fn root_placeholder_is_expanded_in_command_env_and_settings() {
        let mut server = Catalogue::built_in().servers["clangd"].clone();
        server.command.push("--index=${root}/index".to_owned());
        server.env.insert("HERE".to_owned(), "${root}".to_owned());
        server.settings = toml::from_str("a = [{ b = '${root}' }, 1]").unwrap();
        let ExpandedServer { server, missing } =
            server.expand(Path::new("/project"), Path::new("/usr/bin/clangd"), None);
        assert_eq!(server.command.last().map(String::as_str), Some("--index=/project/index"));
        assert_eq!(server.env["HERE"], "/project");
        assert_eq!(server.settings["a"][0]["b"].as_str(), Some("/project"));
        assert!(missing.is_empty());
    }
}
