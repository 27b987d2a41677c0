//! Other project roots of a workspace that may hold implementations without naming the interface. The text does not show what
//! there is, so each of them counts until its server has shown that it knows both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::{Context, LanguageFile};
use super::fallback::run_in_background;
use crate::hints::{FurtherOccurrence, FurtherOccurrences, OccurrenceSense};
use crate::lsp::session::Session;
use crate::workspace::{WalkLimits, WorkspacePath};

/// The time limit for the search of the text.
pub(super) const OCCURRENCE_SEARCH_TIMEOUT: Duration = Duration::from_millis(1_500);

/// What one look of a server covers: a root and, where it looks at one project alone, that project.
pub(crate) type ServerCoverage = (WorkspacePath, Option<WorkspacePath>);

/// The folder that a coverage is called by.
pub(crate) fn coverage_name((root, project): &ServerCoverage) -> String {
    project.as_ref().unwrap_or(root).display()
}

/// The roots of one server beside that of the file that was asked about. One process may serve several, and knows each by itself.
#[derive(Debug, Default)]
pub(crate) struct OtherRoots {
    /// All of them, as far as `cut` says nothing else.
    pub roots: BTreeSet<WorkspacePath>,
    /// There may be more.
    pub cut: bool,
}

impl OtherRoots {
    /// Whether the text has uses of a method that may be meant, in a root whose server need not know that they are.
    pub(crate) fn may_use(&self, standing: &FurtherOccurrences, definitions_count: bool) -> bool {
        let is_other = |file: &FurtherOccurrence| {
            self.roots.iter().any(|root| file.path.as_path().starts_with(root.as_path()))
        };
        let may_be_meant =
            |file: &FurtherOccurrence| file.uses_member || definitions_count && file.defines_method;
        standing.of_method && standing.files.iter().any(|file| may_be_meant(file) && is_other(file))
    }
}

impl Context {
    /// What joins the roots of `session`'s server into one, where its types implement interfaces without naming them.
    pub(crate) fn joining_advice(&self, session: &Session) -> Option<&str> {
        self.catalogue().servers.get(session.server())?.implements_unnamed.as_deref()
    }

    /// What an answer of `server` about `path` covers, if it speaks its language; the project alone where it answers `of_project`.
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

    /// The roots beside that of `subject` which have files of its language, where it matters which there are.
    pub(crate) async fn other_roots(&self, session: &Session, subject: &LanguageFile) -> OtherRoots {
        let language = subject.language.clone().filter(|_| self.joining_advice(session).is_some());
        let Some(language) = language else { return OtherRoots::default() };
        let (files, cut) = self.one_file_per_folder(BTreeSet::from([language])).await;
        let own = self.manager.root(session.server(), &subject.path);
        let roots = files.values().flatten().map(|file| self.manager.root(session.server(), file));
        let roots = roots.filter(|root| *root != own && self.is_marked(session, root)).collect();
        OtherRoots { roots, cut }
    }

    /// Whether files of one of these languages lie where one look of its session's server does not reach, or more of them than were
    /// looked for.
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

    /// By language, a file of each folder with files of it, and whether there may be more folders.
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
                let language = catalogue.language_of(&path.name_lossy(), None);
                if let Some(language) = language.filter(|language| languages.contains(*language)) {
                    found.entry(language.to_owned()).or_default().entry(path.parent()).or_insert(path);
                }
            }
            let files = found.into_iter().map(|(language, files)| (language, files.into_values().collect()));
            Ok((files.collect(), walk.truncated))
        });
        walked.await.unwrap_or_else(|error| {
            tracing::debug!("the folders were not looked for: {}", error.error);
            (BTreeMap::new(), true)
        })
    }

    /// Whether a file makes `root` a project, and not only that there is nothing above it.
    fn is_marked(&self, session: &Session, root: &WorkspacePath) -> bool {
        let spec = self.catalogue().servers.get(session.server());
        let markers = spec.into_iter().flat_map(|spec| &spec.root_markers);
        let mut files = markers.filter_map(|marker| root.join(marker).ok());
        files.any(|file| self.workspace.absolute(&file).is_file())
    }
}

/// Whether the roots beside the asked one count for a question as a whole, whatever the text has.
pub(crate) fn concerns_types(sense: OccurrenceSense) -> bool {
    matches!(sense, OccurrenceSense::Implementation | OccurrenceSense::Heir | OccurrenceSense::Base)
}
