//! Missing set-up of a project for complete answers: a compilation database, installed packages.

use std::collections::BTreeSet;

use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::Context;
use crate::workspace::WorkspacePath;

impl Context {
    /// A sentence for each part that the project of `path` lacks for `server`, with the command
    /// that creates it.
    pub(crate) fn set_up_notes(&self, server: &str, path: &WorkspacePath) -> Vec<String> {
        let Some(spec) = self.catalogue().servers.get(server).filter(|spec| !spec.set_up.is_empty()) else {
            return Vec::new();
        };
        let root = self.manager.project(server, path);
        let has_environment = || self.manager.python_environment(&root).is_some();
        let lacking = spec.missing_set_up(&self.workspace, &root);
        let lacking = lacking.filter(|needed| !(needed.environment && has_environment()));
        let place = |message: &String| match root.is_root() {
            true => message.clone(),
            false => format!("{}: {message}", root.display()),
        };
        lacking.map(|needed| place(&needed.message)).collect()
    }

    /// The reason that a server without results for a file may not know it: its project is not a
    /// member of the server's root.
    pub(crate) fn outsider_note(&self, server: &str, path: &WorkspacePath) -> Option<String> {
        let project = self.manager.unlisted_project(server, path)?.display();
        let root = self.manager.root(server, path).display();
        Some(format!(
            "{server} ignores {project}, which is not a member of the workspace in {root}; add it to the members or to the excluded folders"
        ))
    }

    /// The notes for all checked files, each once.
    pub(crate) fn set_up_notes_of(&self, reports: &[FileReport]) -> BTreeSet<String> {
        let asked_servers = reports.iter().flat_map(|report| {
            let folder = report.path.parent().unwrap_or_else(WorkspacePath::root);
            let servers = report.statuses.iter().map(|status| status.server.as_str());
            servers.map(move |server| (server, folder.clone(), &report.path))
        });
        let mut seen = BTreeSet::new();
        let asked_servers =
            asked_servers.filter(|(server, folder, _)| seen.insert((*server, folder.clone())));
        asked_servers.flat_map(|(server, _, path)| self.set_up_notes(server, path)).collect()
    }
}
