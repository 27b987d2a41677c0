//! The start of language servers ahead of the first question to them.

use super::retry_advice::RetryAdvice;
use crate::analysis::context::{Context, LanguageFile};
use crate::workspace::WorkspacePath;

/// The most languages of one answer whose servers are started.
const MAX_STARTED_LANGUAGES: usize = 3;

impl Context {
    /// Returns true if servers outlive this call. A command without the daemon ends its servers,
    /// so it starts none ahead.
    pub(crate) fn keeps_servers(&self) -> bool {
        self.patience != RetryAdvice::LoneCommand
    }

    /// Starts the servers for the file's language that are installed and not running, including
    /// linters, and has them open the file, because most servers load a project only then. The call
    /// does not wait for them.
    pub(crate) fn start_servers_for(&self, subject: &LanguageFile) {
        if !self.keeps_servers() {
            return;
        }
        for (server, _) in self.servers_for(subject, |features| features.diagnostics || features.navigation) {
            self.manager.start_in_background(server, &subject.path, true);
        }
    }

    /// Starts the linters of the file's language beside its first `server`.
    pub(crate) fn start_linters_beside(&self, server: &str, subject: &LanguageFile) {
        if !self.keeps_servers() || self.manager.is_running(server) {
            return;
        }
        let linters = self.servers_for(subject, |features| features.diagnostics).into_iter();
        for (linter, _) in linters.filter(|(key, _)| *key != server) {
            self.manager.start_in_background(linter, &subject.path, false);
        }
    }

    /// The first file of each language among `paths`, according to their names.
    pub(crate) fn first_of_each_language<'p>(
        &self,
        paths: impl Iterator<Item = &'p WorkspacePath>,
    ) -> Vec<LanguageFile> {
        let mut first: Vec<LanguageFile> = Vec::new();
        for path in paths {
            let Some(language) = self.catalogue().language_of(&path.name_lossy(), None) else { continue };
            if first.iter().any(|known| known.language.as_deref() == Some(language)) {
                continue;
            }
            first.push(LanguageFile { path: path.clone(), language: Some(language.to_owned()) });
            if first.len() == MAX_STARTED_LANGUAGES {
                break;
            }
        }
        first
    }
}
