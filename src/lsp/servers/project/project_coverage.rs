//! The part of a project that a server covers: its roots, known files, and relevant files.

use lsp_types::notification::DidChangeWorkspaceFolders;
use lsp_types::{DidChangeWorkspaceFoldersParams, WorkspaceFoldersChangeEvent};

use crate::config::catalogue::marker::ConfigMarker;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::notify_server;
use crate::lsp::session::state::workspace_folder;
use crate::workspace::WorkspacePath;

impl Session {
    /// Returns true if there are files around `path` that the server knows only while they are
    /// open.
    pub(crate) fn knows_open_files(&self, path: &WorkspacePath) -> bool {
        self.has_no_index_of(path)
            || self.is_root_marked(path, &self.state.spec.readiness.knows_open_files_where)
    }

    /// Returns true if it reads the files of the project when it is asked about them.
    pub(crate) fn reads_on_request(&self) -> bool {
        self.state.spec.readiness.reads_on_request
    }

    /// Returns true if it compiles the project in one configuration, and knows nothing of the code
    /// of others.
    pub(crate) fn knows_one_configuration(&self) -> bool {
        self.state.spec.readiness.knows_one_configuration
    }

    /// Returns true if settings of the root of `path` leave out files of which it knows nothing,
    /// open or not.
    pub(crate) fn leaves_files_out(&self, path: &WorkspacePath) -> bool {
        self.is_root_marked(path, &self.state.spec.readiness.leaves_files_out_where)
    }

    /// Returns true if the root of `path` has one of the settings.
    fn is_root_marked(&self, path: &WorkspacePath, signs: &[ConfigMarker]) -> bool {
        if signs.is_empty() {
            return false;
        }
        let nearest = self.nearest_root(path);
        nearest.is_some_and(|root| signs.iter().any(|sign| sign.is_in(&self.workspace, &root)))
    }

    /// The innermost of its roots that contains `path`.
    pub(super) fn nearest_root(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        let above = self.served_roots().into_iter().filter(|root| path.as_path().starts_with(root.as_path()));
        above.max_by_key(|root| root.as_path().components().count())
    }

    /// Returns true if it knows, of the files around `path`, only those that are open.
    pub(crate) fn has_no_index_of(&self, path: &WorkspacePath) -> bool {
        let rule = &self.state.spec.readiness;
        let covers = |folder: WorkspacePath| {
            let has = |file: &String| folder.join(file).is_ok_and(|file| self.workspace.exists(&file));
            rule.knows_all_below.iter().any(has)
        };
        rule.knows_open_files && !path.ancestors().skip(1).any(covers)
    }

    /// Returns true if it knows, of the projects within its root, only those with an open file.
    pub(crate) fn knows_open_projects(&self) -> bool {
        self.state.spec.readiness.knows_open_projects
    }

    /// Returns true if the symbols that it lists by name are those of the project of the last
    /// queried file.
    pub(crate) fn lists_symbols_of_last_file(&self) -> bool {
        self.state.spec.readiness.symbols_of_last_file
    }

    /// Returns true if it knows only some of the projects within its root.
    pub(crate) fn knows_some_projects(&self) -> bool {
        self.knows_open_projects() || self.lists_symbols_of_last_file()
    }

    /// Its own root and the folders that were added to it.
    pub(crate) fn served_roots(&self) -> Vec<WorkspacePath> {
        self.state.folders()
    }

    /// Returns true if `root` is its own or one of the folders that were added to it.
    pub(crate) fn serves_root(&self, root: &WorkspacePath) -> bool {
        self.root == *root || self.state.folders().contains(root)
    }

    /// Returns true if a change of `path` may affect this server's answers about other files.
    pub(crate) fn is_affected_by(&self, path: &WorkspacePath) -> bool {
        self.concerns_text(path, None)
    }

    /// Like `is_affected_by`, for a file whose first line is known.
    pub(crate) fn concerns_text(&self, path: &WorkspacePath, first_line: Option<&str>) -> bool {
        let name = path.name_lossy();
        let spec = &self.state.spec;
        let speaks = self
            .catalogue
            .language_of(&name, first_line)
            .is_some_and(|key| spec.languages.iter().any(|own| own == key));
        let absolute = self.workspace.absolute(path);
        speaks
            || spec.root_markers.iter().any(|marker| *marker == name)
            || self.state.with_registrations(|known| known.watches(&absolute, 7))
    }

    /// Returns true if `root` can be served beside the roots it has.
    pub(crate) fn takes_more_folders(&self) -> bool {
        // The checks before an untrusted start covered only its own root.
        let rule = self.state.spec.untrusted.as_ref();
        let alone = rule.is_some_and(|rule| !rule.refused_with.is_empty() || rule.shortfall.is_some());
        self.capabilities.more_folders && !alone
    }

    /// Adds a workspace folder (LSP 3.17, *DidChangeWorkspaceFolders*) if it is new.
    pub(crate) fn add_folder(&self, folder: &WorkspacePath) {
        if self.state.add_folder(folder.clone()) {
            let added = vec![workspace_folder(&self.workspace, folder)];
            let event = WorkspaceFoldersChangeEvent { added, removed: Vec::new() };
            let params = DidChangeWorkspaceFoldersParams { event };
            notify_server::<DidChangeWorkspaceFolders>(&self.connection, &params);
        }
    }
}
