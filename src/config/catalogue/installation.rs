//! The names that `lsp-tools install` takes, and the servers that they mean.

use super::Catalogue;
use crate::config::spec::Language;

impl Catalogue {
    /// The servers that `lsp-tools install NAME` installs: those of the language of that name, and
    /// the server of that name. Empty for an unknown name.
    pub(crate) fn servers_to_install(&self, name: &str) -> Vec<&str> {
        let language = self.language_called(name);
        let mut keys: Vec<&str> =
            language.map(|language| self.servers_of_language(language)).unwrap_or_default();
        if let Some((key, server)) = self.servers.get_key_value(name)
            && !keys.contains(&key.as_str())
            && (keys.is_empty() || !server.disabled)
        {
            keys.push(key);
        }
        keys
    }

    /// The name with which `lsp-tools install` installs `server`: the name of `language` if that
    /// is enough.
    pub(crate) fn install_name<'a>(&'a self, server: &'a str, language: Option<&'a str>) -> &'a str {
        let installs = |name: &&str| self.servers_to_install(name).contains(&server);
        language.filter(installs).unwrap_or(server)
    }

    /// Returns the servers to install for a language: those that settings name, else those of the
    /// catalogue. Servers that exist already do not matter.
    fn servers_of_language<'a>(&'a self, language: &'a Language) -> Vec<&'a str> {
        let wanted = match language.fixed || language.install.is_empty() {
            true => &language.servers,
            false => &language.install,
        };
        let known = wanted.iter().filter(|key| self.servers.get(*key).is_some_and(|server| !server.disabled));
        known.map(String::as_str).collect()
    }

    /// Returns the language whose key, name, LSP id or file extension is `name`.
    fn language_called(&self, name: &str) -> Option<&Language> {
        let lower = name.to_lowercase();
        let called = |language: &&Language| {
            language.name.to_lowercase() == lower
                || language.language_id.as_ref().is_some_and(|id| *id == lower)
                || language.extensions.contains(&lower)
        };
        self.languages.get(&lower).or_else(|| self.languages.values().find(called))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layer::{Layer, LayerOrigin};

    #[test]
    fn language_and_server_of_one_name_mean_the_same_server() {
        let catalogue = Catalogue::built_in();
        for (key, language) in &catalogue.languages {
            let both = catalogue.servers.contains_key(key);
            assert!(!both || language.servers.contains(key), "`{key}` is a language and another server");
        }
    }

    #[test]
    fn every_name_of_a_language_installs_its_servers() {
        let catalogue = Catalogue::built_in();
        for (key, language) in &catalogue.languages {
            let id = language.language_id.as_deref().unwrap_or(key);
            for name in [key, language.name.as_str(), id] {
                let installed = catalogue.servers_to_install(name);
                let lacking = language.servers.iter().find(|server| !installed.contains(&server.as_str()));
                assert_eq!(lacking, None, "lsp-tools install {name}");
            }
            for server in language.servers.iter().chain(&language.alternatives) {
                let name = catalogue.install_name(server, Some(key));
                assert!(
                    catalogue.servers_to_install(name).contains(&server.as_str()),
                    "{key}: {server} by {name}"
                );
            }
        }
        assert_eq!(catalogue.servers_to_install("vue"), ["vue-typescript"]);
        assert_eq!(catalogue.servers_to_install("python"), ["pylsp", "ty", "ruff"]);
        assert_eq!(catalogue.servers_to_install("ty"), ["ty"]);
        assert!(catalogue.servers_to_install("no-such").is_empty());
    }

    #[test]
    fn servers_that_settings_name_are_those_that_a_language_installs() {
        let text = "[language.python]\nservers = ['pyright']\n[server.python]\nlanguages = ['python']\ncommand = ['x']\n";
        let layer = Layer::new(LayerOrigin::User, "servers.toml", text);
        let catalogue = Catalogue::load(&[layer]).unwrap().catalogue;
        assert_eq!(catalogue.servers_to_install("python"), ["pyright", "python"]);
        assert_eq!(catalogue.install_name("python", Some("python")), "python");
        assert_eq!(catalogue.install_name("ruff", Some("python")), "ruff");
    }
}
