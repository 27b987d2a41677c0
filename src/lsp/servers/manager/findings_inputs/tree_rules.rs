//! The files of a workspace whose content decides the findings of a set of servers.

use std::path::Path;

use super::python_files;
use crate::config::Catalogue;
use crate::config::spec::ServerSpec;

/// The languages in which settings of tools are written. Files of other languages than these and
/// the servers' own are not read by them.
const SETTINGS_LANGUAGES: [&str; 4] = ["json", "jsonc", "toml", "yaml"];

/// Decides which files of a workspace count for servers, by relative path.
pub(crate) struct TreeRules<'a> {
    catalogue: &'a Catalogue,
    servers: Vec<&'a ServerSpec>,
}

impl<'a> TreeRules<'a> {
    /// The rules of the servers with these keys.
    pub(crate) fn new<'s>(catalogue: &'a Catalogue, servers: impl Iterator<Item = &'s str>) -> Self {
        let servers = servers.filter_map(|server| catalogue.servers.get(server)).collect();
        Self { catalogue, servers }
    }

    fn is_own(&self, language: &str) -> bool {
        self.servers.iter().any(|spec| spec.languages.iter().any(|own| own == language))
    }

    fn is_module(&self, name: &str) -> bool {
        // The first line of a file without an extension may name the language.
        self.catalogue.language_of(name, None).is_some_and(|language| self.is_own(language))
            || self.catalogue.needs_first_line(name)
    }

    fn is_settings(&self, name: &str) -> bool {
        self.servers.iter().any(|spec| spec.is_configuration_file(name))
    }

    /// Returns true if the content of a file counts. `is_built`: it lies in a folder of packages or
    /// build output.
    pub(crate) fn counts(&self, path: &Path, is_built: bool) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_read = |language: &str| SETTINGS_LANGUAGES.contains(&language) || self.is_own(language);
        match is_built {
            true => self.is_module(&name),
            false => self.catalogue.language_of(&name, None).is_none_or(is_read) || self.is_settings(&name),
        }
    }

    /// Returns true if a file that counts leads servers to files elsewhere: settings by their values,
    /// and modules by what they import. The content is `None` if it is too large.
    pub(crate) fn leads_elsewhere(&self, path: &Path, content: Option<&[u8]>) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (is_settings, is_module) = (self.is_settings(&name), self.is_module(&name));
        content.map_or(is_settings || is_module, |content| {
            python_files::leads_elsewhere(path, content, is_settings, is_module)
        })
    }
}
