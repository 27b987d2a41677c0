//! Which of a language's servers run: an installed one before one that is not, and of the installed ones what the project
//! configures, then what the catalogue ranks best. Looks at files only; starts nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::locate::{self, Places};
use crate::config::spec::{Language, Server};
use crate::config::{Catalogue, Sign};
use crate::workspace::WorkspacePath;

/// What is installed for a workspace, and what it configures.
#[derive(Debug)]
pub struct Choice<'a> {
    catalogue: &'a Catalogue,
    places: Places<'a>,
    /// Whether servers may start that run code of the project.
    trusted: bool,
}

impl<'a> Choice<'a> {
    /// Chooses among the servers of `catalogue` for the workspace of `places`.
    pub fn new(catalogue: &'a Catalogue, places: Places<'a>, trusted: bool) -> Self {
        Self { catalogue, places, trusted }
    }

    /// The keys of the servers that run for each language of which what is installed decides.
    pub fn made(&self) -> BTreeMap<String, Vec<String>> {
        let open = self.catalogue.languages.iter().filter(|(_, language)| is_open(language));
        open.map(|(key, language)| (key.clone(), self.servers_of(language))).collect()
    }

    /// The files and folders whose change can lead to another choice; they need not be there.
    pub fn watched(&self) -> Vec<PathBuf> {
        let mut watched = locate::folders(&self.places);
        for language in self.catalogue.languages.values().filter(|language| is_open(language)) {
            for (key, server) in language.alternatives.iter().filter_map(|key| self.server(key)) {
                watched.push(locate::prefix(self.places.data, key));
                let signs = server.configured_by.iter().map(Sign::file);
                let markers = server.root_markers.iter().filter(|_| server.root_required);
                let names = signs.chain(markers.map(String::as_str));
                watched.extend(names.map(|name| self.places.workspace.root().join(name)));
            }
        }
        watched.sort();
        watched.dedup();
        watched
    }

    fn server(&self, key: &'a str) -> Option<(&'a str, &'a Server)> {
        let server = self.catalogue.servers.get(key)?;
        (!server.disabled).then_some((key, server))
    }

    fn servers_of(&self, language: &'a Language) -> Vec<String> {
        let known = language.alternatives.iter().filter_map(|key| self.server(key));
        let (navigating, joining): (Vec<_>, Vec<_>) = known
            .filter(|(key, server)| self.can_start(key, server))
            .partition(|(_, server)| server.features.navigation);
        let mut servers = language.servers.clone();
        // The sort is stable: of several that are configured, and of several that are not, the best stays first.
        let best = navigating.into_iter().min_by_key(|(_, server)| !self.is_configured(server));
        if let (Some((best, _)), Some(first)) = (best, servers.first_mut()) {
            best.clone_into(first);
        }
        for (key, _) in joining.into_iter().filter(|(_, server)| self.is_wanted(server)) {
            if !servers.iter().any(|known| known == key) {
                servers.push(key.to_owned());
            }
        }
        servers
    }

    fn can_start(&self, key: &str, server: &Server) -> bool {
        (self.trusted || !server.runs_project_code) && locate::locate(key, server, &self.places).is_ok()
    }

    fn is_configured(&self, server: &Server) -> bool {
        let root = WorkspacePath::root();
        server.configured_by.iter().any(|sign| sign.is_in(self.places.workspace, &root))
    }

    fn is_wanted(&self, server: &Server) -> bool {
        let root = self.places.workspace.root();
        !server.root_required || server.root_markers.iter().any(|marker| root.join(marker).exists())
    }
}

/// Whether no settings say which servers run for it.
fn is_open(language: &Language) -> bool {
    !language.fixed && !language.alternatives.is_empty()
}
