//! Other project roots of a workspace that may hold implementations without naming the interface.
//! The text does not show them, so each root counts until its server has shown that it knows both
//! sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::session::live_session::Session;
use crate::syntax::{FurtherOccurrence, FurtherOccurrences, OccurrenceSense};
use crate::workspace::{WalkLimits, WorkspacePath};

/// The time limit for the search of the text.
pub(super) const OCCURRENCE_SEARCH_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The coverage of one server response: a root and, if the server covers only one project, that
/// project.
pub(crate) type ServerCoverage = (WorkspacePath, Option<WorkspacePath>);

/// The display name of a coverage: its folder.
pub(crate) fn coverage_name((root, project): &ServerCoverage) -> String {
    project.as_ref().unwrap_or(root).display()
}

/// The roots of one server beside that of the requested file. One process may serve several roots,
/// and treats each separately.
#[derive(Debug, Default)]
pub(crate) struct OtherRoots {
    /// The other roots; incomplete if `cut`.
    pub roots: BTreeSet<WorkspacePath>,
    /// True if there may be more.
    pub cut: bool,
}

impl OtherRoots {
    /// Returns true if another root has possible uses of a method in its text, which its server may
    /// not connect to the method.
    pub(crate) fn may_use(&self, occurrences: &FurtherOccurrences, definitions_count: bool) -> bool {
        let is_other = |file: &FurtherOccurrence| {
            self.roots.iter().any(|root| file.path.as_path().starts_with(root.as_path()))
        };
        let may_be_meant =
            |file: &FurtherOccurrence| file.uses_member || definitions_count && file.defines_method;
        occurrences.of_method && occurrences.files.iter().any(|file| may_be_meant(file) && is_other(file))
    }
}

impl Context {
    /// Advice on joining the roots of `session`'s server into one, for a language whose types
    /// implement interfaces implicitly.
    pub(crate) fn joining_advice(&self, session: &Session) -> Option<&str> {
        self.catalogue().servers.get(session.server())?.implements_unnamed.as_deref()
    }

    /// The coverage of a response of `server` about `path`, if it supports the language. It has a
    /// project only for requests that the server answers `of_project`.
    pub(crate) fn server_coverage(
        &self,
        server: &str,
        of_project: bool,
        path: &WorkspacePath,
    ) -> Option<ServerCoverage> {
        let subject = self.language_file_unchecked(path.clone()).ok()?;
        let servers = self.servers_for(&subject, |features| features.navigation);
        servers.iter().find(|(key, _)| *key == server)?;
        let project = of_project.then(|| self.manager.project(server, path));
        Some((self.manager.root(server, path), project))
    }

    /// The roots beside that of `subject` with files of its language, for a language in which they
    /// matter.
    pub(crate) async fn other_roots(&self, session: &Session, subject: &LanguageFile) -> OtherRoots {
        let language = subject.language.clone().filter(|_| self.joining_advice(session).is_some());
        let Some(language) = language else { return OtherRoots::default() };
        let (files, cut) = self.one_file_per_folder(BTreeSet::from([language])).await;
        let own = self.manager.root(session.server(), &subject.path);
        let roots = files.values().flatten().map(|file| self.manager.root(session.server(), file));
        let roots = roots.filter(|root| *root != own && self.is_marked(session, root)).collect();
        OtherRoots { roots, cut }
    }

    /// Returns true if files of one of these languages are outside the coverage of its session's
    /// server, or if the search for such files was cut short.
    pub(crate) async fn have_several_coverages(&self, sessions: Vec<(String, Arc<Session>)>) -> bool {
        let languages = sessions.iter().map(|(language, _)| language.clone()).collect();
        let (files, cut) = self.one_file_per_folder(languages).await;
        let is_divided = |(language, session): &(String, Arc<Session>)| {
            let of_project = session.knows_some_projects();
            let coverage = |file: &WorkspacePath| {
                let project = of_project.then(|| self.manager.project(session.server(), file));
                (self.manager.root(session.server(), file), project)
            };
            let mut coverages = files.get(language).into_iter().flatten().map(coverage);
            let first: Option<ServerCoverage> = coverages.next();
            first.is_some_and(|first| coverages.any(|other| other != first))
        };
        cut || sessions.iter().any(is_divided)
    }

    /// A file of each folder with files of a language, by language. The flag is true if there may
    /// be more folders.
    async fn one_file_per_folder(
        &self,
        languages: BTreeSet<String>,
    ) -> (BTreeMap<String, Vec<WorkspacePath>>, bool) {
        let limits = WalkLimits {
            max_files: self.config.settings.limits.walk_files,
            deadline: Instant::now() + OCCURRENCE_SEARCH_TIMEOUT,
        };
        let walked = run_in_background(self, move |workspace, catalogue| {
            let walk = workspace.files(&WorkspacePath::root(), &limits);
            let mut found: BTreeMap<String, BTreeMap<Option<WorkspacePath>, WorkspacePath>> = BTreeMap::new();
            for path in walk.files {
                let language = catalogue.language_of_file(workspace, &path);
                if let Some(language) = language.filter(|language| languages.contains(*language)) {
                    found.entry(language.to_owned()).or_default().entry(path.parent()).or_insert(path);
                }
            }
            let files = found.into_iter().map(|(language, files)| (language, files.into_values().collect()));
            Ok((files.collect(), walk.truncated))
        });
        walked.await.unwrap_or_else(|error| {
            tracing::debug!("the folders were not searched for: {}", error.error);
            (BTreeMap::new(), true)
        })
    }

    /// Returns true if a marker file makes `root` a project. Otherwise it is a root only for lack
    /// of one above it.
    fn is_marked(&self, session: &Session, root: &WorkspacePath) -> bool {
        let spec = self.catalogue().servers.get(session.server());
        let markers = spec.into_iter().flat_map(|spec| &spec.root_markers);
        let mut files = markers.filter_map(|marker| root.join(marker).ok());
        files.any(|file| self.workspace.absolute(&file).is_file())
    }
}

/// Returns true if a request concerns the other roots as a whole, regardless of occurrences in the
/// text.
pub(crate) fn concerns_types(sense: OccurrenceSense) -> bool {
    matches!(sense, OccurrenceSense::Implementation | OccurrenceSense::Heir | OccurrenceSense::Base)
}
