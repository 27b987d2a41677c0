//! The choice of a language's servers among those that exist. An installed one comes before one
//! that is not. Among the installed ones, those that the project configures come first, then those
//! that the catalogue ranks best. Reads files only; starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::locate::{self, ProgramSearchPlaces};
use super::package_folders::package_folders;
use crate::config::spec::{Language, ServerSpec};
use crate::config::{Catalogue, ConfigMarker};
use crate::workspace::WorkspacePath;

/// The servers of a workspace that run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChosenServers {
    /// The keys for each language that is open to the installed ones: in the workspace, then in
    /// packages with other versions of compilers, outer ones first.
    pub(crate) languages: BTreeMap<String, Vec<(WorkspacePath, Vec<String>)>>,
    /// The packages that are roots of their own for a server, outer ones first.
    own_roots: BTreeMap<String, Vec<WorkspacePath>>,
}

impl ChosenServers {
    /// Applies the choice to the catalogue.
    pub(crate) fn apply(&self, catalogue: &mut Catalogue) {
        for (key, servers) in &self.languages {
            if let Some(language) = catalogue.languages.get_mut(key) {
                language.chosen.clone_from(servers);
            }
        }
        for (key, roots) in &self.own_roots {
            if let Some(server) = Arc::make_mut(&mut catalogue.servers).get_mut(key) {
                server.own_roots.clone_from(roots);
            }
        }
    }
}

/// The installed servers of a workspace, and the settings that choose among them.
#[derive(Debug)]
pub(crate) struct ServerChoice<'a> {
    catalogue: &'a Catalogue,
    places: ProgramSearchPlaces<'a>,
    /// The servers among the alternatives that exist, and whether they may start.
    installed: BTreeMap<&'a str, bool>,
    /// The folders that packages of the workspace may be in, its root first; empty if no present
    /// server needs them.
    packages: Vec<PathBuf>,
}

impl<'a> ServerChoice<'a> {
    /// Finds the present servers of `catalogue` for the workspace of `places`. `trusted` is true if
    /// servers that run code of the project may start.
    pub(crate) fn new(catalogue: &'a Catalogue, places: ProgramSearchPlaces<'a>, trusted: bool) -> Self {
        let open = catalogue.languages.values().filter(|language| is_open(language));
        // Several languages share a server, which is searched for once.
        let mut keys: BTreeSet<&str> =
            open.flat_map(|language| &language.alternatives).map(String::as_str).collect();
        keys.extend(may_have_own_roots(catalogue).map(|(key, _)| key));
        let found = |key: &'a str| {
            let server = catalogue.servers.get(key).filter(|server| !server.disabled)?;
            let may_start = trusted || !server.waits_for_trust();
            locate::locate(key, server, &places).is_ok().then_some((key, may_start))
        };
        let installed: BTreeMap<&str, bool> = keys.into_iter().filter_map(found).collect();
        let needs_packages = |key: &&str| {
            catalogue.servers.get(*key).is_some_and(|it| it.joins_where_marked() || it.may_have_own_roots())
        };
        let packages = match installed.keys().any(needs_packages) {
            true => package_folders(places.workspace.root()),
            false => Vec::new(),
        };
        Self { catalogue, places, installed, packages }
    }

    /// Returns the servers that run.
    pub(crate) fn chosen_servers(&self) -> ChosenServers {
        let open = self.catalogue.languages.iter().filter(|(_, language)| is_open(language));
        let of_root = |(key, language): (&String, &'a Language)| {
            (key.clone(), vec![(WorkspacePath::root(), self.servers_of(language, &self.places))])
        };
        let mut chosen = ChosenServers { languages: open.map(of_root).collect(), ..ChosenServers::default() };
        for (key, server) in may_have_own_roots(self.catalogue) {
            if let Some(own) = self.places.own_roots(server, &self.packages).filter(|_| self.exists(key)) {
                chosen.own_roots.insert(key.to_owned(), own.0.clone());
            }
        }
        // Outer folders sort before inner ones.
        let roots: BTreeSet<&WorkspacePath> = chosen.own_roots.values().flatten().collect();
        for root in roots {
            let is_of = |key: &String| chosen.own_roots.get(key).is_some_and(|own| own.contains(root));
            let places = self.places.at(root);
            for (key, choices) in &mut chosen.languages {
                let language = self.catalogue.languages.get(key);
                let language = language.filter(|language| language.alternatives.iter().any(is_of));
                choices.extend(language.map(|it| (root.clone(), self.servers_of(it, &places))));
            }
        }
        chosen
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
        let mut settings_of_packages = BTreeSet::new();
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
            if server.joins_where_marked() && locate::locate(key, server, places).is_ok() {
                looks_for_packages = true;
                settings_of_packages.extend(server.configured_by.iter().map(ConfigMarker::file));
            }
        }
        let exists = |(key, server): &(&str, &ServerSpec)| locate::locate(key, server, places).is_ok();
        let of_packages: Vec<_> = may_have_own_roots(catalogue).filter(exists).collect();
        if looks_for_packages || !of_packages.is_empty() {
            let folders = package_folders(places.workspace.root());
            for own in of_packages.iter().filter_map(|(_, server)| places.own_roots(server, &folders)) {
                watched.extend(own.1.iter().cloned());
            }
            for folder in folders {
                watched.extend(settings_of_packages.iter().map(|name| folder.join(name)));
                watched.insert(folder);
            }
        }
        watched
    }

    fn exists(&self, key: &str) -> bool {
        self.installed.contains_key(key)
    }

    fn server(&self, key: &'a str) -> Option<(&'a str, &'a ServerSpec)> {
        let server = self.catalogue.servers.get(key)?;
        (!server.disabled).then_some((key, server))
    }

    /// Returns the servers of `language` at the root of `places`, the workspace or a package in it.
    fn servers_of(&self, language: &'a Language, places: &ProgramSearchPlaces<'_>) -> Vec<String> {
        let known = language.alternatives.iter().filter_map(|key| self.server(key));
        let (navigating, joining): (Vec<_>, Vec<_>) =
            known.filter(|(key, _)| self.exists(key)).partition(|(_, server)| server.features.navigation);
        let mut servers = language.servers.clone();
        // Of several configured ones, and of several others, the first is the best. One that waits
        // for trust is chosen only if there is no other.
        let waits = |key: &str| self.installed.get(key) != Some(&true);
        let best = navigating.into_iter().min_by_key(|(key, server)| {
            (waits(key), !works_with_pinned(server, places), !is_configured(server, places))
        });
        if let (Some((best, _)), Some(first)) = (best, servers.first_mut()) {
            best.clone_into(first);
        }
        // One that waits for trust is named as such by answers, and by the question about trust.
        for (key, _) in joining.into_iter().filter(|(_, server)| self.is_wanted(server)) {
            if !servers.iter().any(|known| known == key) {
                servers.push(key.to_owned());
            }
        }
        servers
    }

    fn is_wanted(&self, server: &ServerSpec) -> bool {
        let workspace = self.places.workspace;
        let is_marked = |folder: &PathBuf| {
            let path = workspace.path(folder);
            server.root_markers.iter().any(|marker| folder.join(marker).exists())
                || path.is_ok_and(|folder| server.is_marked_by_settings(workspace, &folder))
        };
        !server.root_required || self.packages.iter().any(is_marked)
    }
}

/// Returns true if the project at the root of `places` configures the server.
fn is_configured(server: &ServerSpec, places: &ProgramSearchPlaces<'_>) -> bool {
    let mut roots = [places.root.clone(), WorkspacePath::root()].into_iter();
    roots.any(|root| server.configured_by.iter().any(|sign| sign.is_in(places.workspace, &root)))
}

/// Returns true if a server works with the pinned version of the compiler or checker that it runs.
fn works_with_pinned(server: &ServerSpec, places: &ProgramSearchPlaces<'_>) -> bool {
    let pin = places.pin_lookup(server);
    let pinned = pin.as_ref().and_then(|pin| pin.pinned.as_ref());
    pinned.zip(server.judge.as_ref()).is_none_or(|(pinned, rule)| pinned.is_served_by(rule))
}

/// Returns the servers for which packages of a workspace may be roots of their own.
fn may_have_own_roots(catalogue: &Catalogue) -> impl Iterator<Item = (&str, &ServerSpec)> {
    let servers = catalogue.servers.iter().filter(|(_, server)| server.may_have_own_roots());
    servers.map(|(key, server)| (key.as_str(), server))
}

/// Returns true if no settings choose its servers.
fn is_open(language: &Language) -> bool {
    !language.fixed && !language.alternatives.is_empty()
}
