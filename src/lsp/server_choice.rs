//! The choice of a language's servers among those that exist. An installed one comes before one
//! that is not. Among the installed ones, those that the project configures come first, then those
//! that the catalogue ranks best. Reads files only; starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::locate::{self, ProgramSearchPlaces};
use super::package_folders::package_folders;
use crate::config::spec::{Language, ServerSpec};
use crate::config::{Catalogue, ConfigMarker};
use crate::workspace::WorkspacePath;

/// The installed servers of a workspace, and the settings that choose among them.
#[derive(Debug)]
pub(crate) struct ServerChoice<'a> {
    catalogue: &'a Catalogue,
    places: ProgramSearchPlaces<'a>,
    /// The servers among the alternatives that exist, and whether they may start.
    installed: BTreeMap<&'a str, bool>,
    /// The folders that packages of the workspace may be in, its root first; empty if no present
    /// server needs a marker.
    packages: Vec<PathBuf>,
}

impl<'a> ServerChoice<'a> {
    /// Finds the present servers of `catalogue` for the workspace of `places`. `trusted` is true if
    /// servers that run code of the project may start.
    pub(crate) fn new(catalogue: &'a Catalogue, places: ProgramSearchPlaces<'a>, trusted: bool) -> Self {
        let open = catalogue.languages.values().filter(|language| is_open(language));
        // Several languages share a server, which is searched for once.
        let keys: BTreeSet<&str> =
            open.flat_map(|language| &language.alternatives).map(String::as_str).collect();
        let found = |key: &'a str| {
            let server = catalogue.servers.get(key).filter(|server| !server.disabled)?;
            let may_start = trusted || !server.waits_for_trust();
            locate::locate(key, server, &places).is_ok().then_some((key, may_start))
        };
        let installed: BTreeMap<&str, bool> = keys.into_iter().filter_map(found).collect();
        let waits_for_marker =
            |key: &&str| catalogue.servers.get(*key).is_some_and(ServerSpec::joins_where_marked);
        let packages = match installed.keys().any(waits_for_marker) {
            true => package_folders(places.workspace.root()),
            false => Vec::new(),
        };
        Self { catalogue, places, installed, packages }
    }

    /// Returns the keys of the servers that run for each language that is open to the installed
    /// ones.
    pub(crate) fn chosen_servers(&self) -> BTreeMap<String, Vec<String>> {
        let open = self.catalogue.languages.iter().filter(|(_, language)| is_open(language));
        open.map(|(key, language)| (key.clone(), self.servers_of(language))).collect()
    }

    /// Returns the files and folders whose change can lead to another choice; they need not exist.
    pub(crate) fn watched_paths(
        catalogue: &Catalogue,
        places: &ProgramSearchPlaces<'_>,
    ) -> BTreeSet<PathBuf> {
        let mut watched = BTreeSet::from_iter(locate::search_folders(places));
        let open = catalogue.languages.values().filter(|language| is_open(language));
        // Several languages share a server.
        let keys: BTreeSet<&String> = open.flat_map(|language| &language.alternatives).collect();
        let mut looks_for_packages = false;
        for key in keys {
            let Some(server) = catalogue.servers.get(key) else { continue };
            watched.insert(locate::prefix(places.data, key));
            if let Some(pin) = places.pin_lookup(server) {
                watched.extend(pin.versioned_key(key).map(|key| locate::prefix(places.data, &key)));
                watched.extend(pin.inspected_paths.iter().cloned());
            }
            let signs = server.configured_by.iter().map(ConfigMarker::file);
            let markers = server.root_markers.iter().filter(|_| server.root_required);
            let names = signs.chain(markers.map(String::as_str));
            watched.extend(names.map(|name| places.workspace.root().join(name)));
            looks_for_packages |= server.joins_where_marked() && locate::locate(key, server, places).is_ok();
        }
        if looks_for_packages {
            watched.extend(package_folders(places.workspace.root()));
        }
        watched
    }

    fn server(&self, key: &'a str) -> Option<(&'a str, &'a ServerSpec)> {
        let server = self.catalogue.servers.get(key)?;
        (!server.disabled).then_some((key, server))
    }

    fn servers_of(&self, language: &'a Language) -> Vec<String> {
        let known = language.alternatives.iter().filter_map(|key| self.server(key));
        let (navigating, joining): (Vec<_>, Vec<_>) = known
            .filter(|(key, _)| self.installed.contains_key(key))
            .partition(|(_, server)| server.features.navigation);
        let mut servers = language.servers.clone();
        // Of several configured ones, and of several others, the first is the best. One that waits
        // for trust is chosen only if there is no other.
        let waits = |key: &str| self.installed.get(key) != Some(&true);
        let best = navigating.into_iter().min_by_key(|(key, server)| {
            (waits(key), !self.works_with_pinned(server), !self.is_configured(server))
        });
        if let (Some((best, _)), Some(first)) = (best, servers.first_mut()) {
            best.clone_into(first);
        }
        for (key, _) in joining.into_iter().filter(|(key, server)| !waits(key) && self.is_wanted(server)) {
            if !servers.iter().any(|known| known == key) {
                servers.push(key.to_owned());
            }
        }
        servers
    }

    fn is_configured(&self, server: &ServerSpec) -> bool {
        let root = WorkspacePath::root();
        server.configured_by.iter().any(|sign| sign.is_in(self.places.workspace, &root))
    }

    /// Returns true if a server works with the pinned version of the compiler or checker that it
    /// runs.
    fn works_with_pinned(&self, server: &ServerSpec) -> bool {
        let pin = self.places.pin_lookup(server);
        let pinned = pin.as_ref().and_then(|pin| pin.pinned.as_ref());
        pinned.zip(server.judge.as_ref()).is_none_or(|(pinned, rule)| pinned.is_served_by(rule))
    }

    fn is_wanted(&self, server: &ServerSpec) -> bool {
        let is_marked =
            |folder: &PathBuf| server.root_markers.iter().any(|marker| folder.join(marker).exists());
        !server.root_required || self.packages.iter().any(is_marked)
    }
}

/// Returns true if no settings choose its servers.
fn is_open(language: &Language) -> bool {
    !language.fixed && !language.alternatives.is_empty()
}
