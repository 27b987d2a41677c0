//! The files of a workspace whose content decides the findings of a set of servers.

use std::path::Path;

use super::script_files::ScriptPlaces;
use super::{python_files, reads_scripts, script_files};
use crate::config::Catalogue;
use crate::config::spec::ServerSpec;

/// The languages in which settings of tools are written. Files of other languages than these and
/// the servers' own are not read by them.
const SETTINGS_LANGUAGES: [&str; 4] = ["json", "jsonc", "toml", "yaml"];
/// The largest module whose content counts, in bytes.
const MAX_MODULE_BYTES: u64 = 64 << 20;
/// The largest other file whose content counts, in bytes; of a larger one the size and the time of
/// change do.
const MAX_OTHER_BYTES: u64 = 4 << 20;

/// Decides which files of a workspace count for servers, by relative path.
pub(crate) struct TreeRules<'a> {
    catalogue: &'a Catalogue,
    servers: Vec<&'a ServerSpec>,
    root: &'a Path,
    /// The places of modules of JavaScript and TypeScript, if that is what the servers read.
    scripts: Option<ScriptPlaces>,
}

impl<'a> TreeRules<'a> {
    /// The rules of the servers with these keys.
    pub(crate) fn new<'s>(
        catalogue: &'a Catalogue,
        servers: impl Iterator<Item = &'s str>,
        root: &'a Path,
    ) -> Self {
        let servers: Vec<_> = servers.filter_map(|server| catalogue.servers.get(server)).collect();
        let reads_scripts = servers.iter().any(|spec| reads_scripts(spec));
        Self { catalogue, servers, root, scripts: reads_scripts.then(|| ScriptPlaces::new(root)) }
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

    /// Returns the size up to which the content of a file counts; `None` if it does not count at all.
    /// `is_built`: it lies in a folder of packages or build output.
    pub(crate) fn content_limit(&self, path: &Path, is_built: bool) -> Option<u64> {
        let name = path.file_name()?.to_string_lossy();
        let is_module = self.is_module(&name);
        let is_read = |language: &str| SETTINGS_LANGUAGES.contains(&language) || self.is_own(language);
        let language = || self.catalogue.language_of(&name, None);
        let counts = match (&self.scripts, is_built) {
            (Some(_), true) => script_files::is_read_among_packages(path),
            (None, true) => is_module,
            (Some(_), false) => is_module || language().is_some_and(is_read) || self.is_settings(&name),
            (None, false) => language().is_none_or(is_read) || self.is_settings(&name),
        };
        let is_large = is_module || is_built;
        counts.then_some(if is_large { MAX_MODULE_BYTES } else { MAX_OTHER_BYTES })
    }

    /// Returns true if a file that counts leads servers to files elsewhere: settings by their values,
    /// and modules by what they import. The content is `None` if it is too large.
    pub(crate) fn leads_elsewhere(&self, path: &Path, content: Option<&[u8]>) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (is_settings, is_module) = (self.is_settings(&name), self.is_module(&name));
        match (content, &self.scripts) {
            (None, _) => is_settings || is_module,
            (Some(content), Some(scripts)) => scripts.leads_elsewhere(path, content),
            (Some(content), None) => {
                python_files::leads_elsewhere((self.root, path), content, is_settings, is_module)
            }
        }
    }
}
