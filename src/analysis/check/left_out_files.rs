//! Files of a folder that a project's settings exclude from a server's check, as its command line
//! does.
//!
//! A file that is given by name is always checked, and the answer says that the settings exclude
//! it. In a given folder within a project, `include` and an `exclude` that contains the folder do
//! not count. The command lines do the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::items::named_places::abbreviate_list;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::project::check_scope::CheckScope;
use crate::workspace::WorkspacePath;

/// The files that are left out, by server.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOutFiles(BTreeMap<String, BTreeSet<WorkspacePath>>);

impl LeftOutFiles {
    /// Returns true if `server` is not to check `path`.
    pub(crate) fn has(&self, server: &str, path: &WorkspacePath) -> bool {
        self.0.get(server).is_some_and(|files| files.contains(path))
    }

    /// One sentence for each server.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(server, files)| {
            let named = abbreviate_list(files.iter().map(WorkspacePath::display), files.len(), 1);
            (!files.is_empty()).then(|| {
                format!("the settings of {server} in the project leave out {named}; name a file to check it")
            })
        })
    }
}

/// The check scopes of the projects of some files.
pub(crate) struct CheckScopes<'a> {
    context: &'a Context,
    /// The folders given by name.
    folders: Vec<WorkspacePath>,
    /// The scopes, by server and project.
    known: BTreeMap<(String, WorkspacePath), CheckScope>,
    /// The files excluded so far.
    pub left_out: LeftOutFiles,
}

impl<'a> CheckScopes<'a> {
    /// The scopes for files in the given `folders`.
    pub(crate) fn new(context: &'a Context, folders: Vec<WorkspacePath>) -> Self {
        Self { context, folders, known: BTreeMap::new(), left_out: LeftOutFiles::default() }
    }

    /// Returns true if the settings exclude `file` from the check of every server that would
    /// check it. Each server's exclusion is recorded.
    pub(crate) fn leaves_out(&mut self, file: &LanguageFile) -> bool {
        let servers = self.context.servers_for(file, |features| features.diagnostics);
        let mut is_checked = servers.is_empty();
        for (server, spec) in servers {
            if self.is_in_scope(server, spec, &file.path) {
                is_checked = true;
            } else {
                self.left_out.0.entry(server.to_owned()).or_default().insert(file.path.clone());
            }
        }
        !is_checked
    }

    /// Returns true if the settings of the project let `server` check `path`.
    fn is_in_scope(&mut self, server: &str, spec: &ServerSpec, path: &WorkspacePath) -> bool {
        if !CheckScope::is_limited_by(spec) {
            return true;
        }
        let project = self.context.manager.root(server, path);
        let within =
            |path: &WorkspacePath| path.as_path().strip_prefix(project.as_path()).ok().map(ToOwned::to_owned);
        let is_named =
            |folder: &&WorkspacePath| **folder != project && path.as_path().starts_with(folder.as_path());
        let named = self.folders.iter().filter(is_named).find_map(within);
        let key = (server.to_owned(), project.clone());
        let read = || CheckScope::read(&self.context.workspace, spec, &project);
        let scope = self.known.entry(key).or_insert_with(read);
        within(path).is_none_or(|within| scope.has(&within, named.as_deref()))
    }
}
