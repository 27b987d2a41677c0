//! The uses of units by their language server, requested one after another, and the meaning of
//! places that it did not list.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tokio::time::Instant;

use crate::analysis::answer::{ServerState, ServerStatus};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::doubt::Doubt;
use crate::lsp::model::{FileRef, Location};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::operations::Navigation;
use crate::syntax::{CodeIndex, CodeUnit};
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The most units whose uses are requested.
const MAX_REFERENCE_QUESTIONS: usize = 1_500;
/// The most places whose definition is requested.
const MAX_DEFINITION_QUESTIONS: usize = 4_000;
/// The most doubts of one walk.
const MAX_DOUBTS: usize = 8;

/// A place in a file of the index.
pub(super) type IndexedPlace = (usize, Position);

/// The server's resolution of a name at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameMeaning {
    /// The server does not know the type before the dot.
    Unknown,
    /// The places of definitions in the index; empty if all are outside.
    Defined(Vec<IndexedPlace>),
}

/// The requests of one walk.
pub(super) struct ServerUses<'a> {
    context: &'a Context,
    language: &'a str,
    deadline: Instant,
    started: Instant,
    references: usize,
    definitions: usize,
    meanings: HashMap<IndexedPlace, NameMeaning>,
    /// Servers that are not available, each for one project.
    refused: HashSet<(String, WorkspacePath)>,
    /// The status of the first server that was not available or did not answer.
    refusal: Option<ServerStatus>,
    status: Option<ServerStatus>,
    /// The reasons that the result may be incomplete.
    pub(super) doubts: Vec<Doubt>,
}

impl<'a> ServerUses<'a> {
    pub(super) fn new(context: &'a Context, language: &'a str, deadline: Instant) -> Self {
        Self {
            context,
            language,
            deadline,
            started: Instant::now(),
            references: 0,
            definitions: 0,
            meanings: HashMap::new(),
            refused: HashSet::new(),
            refusal: None,
            status: None,
            doubts: Vec::new(),
        }
    }

    /// The status of the server, for the answer; `None` if it was not needed.
    pub(super) fn status(&self) -> Option<&ServerStatus> {
        self.status.as_ref().or(self.refusal.as_ref())
    }

    /// Returns true if a server responded.
    pub(super) fn has_answered(&self) -> bool {
        self.status.is_some()
    }

    /// The uses of `unit` in the file with the number `file`, including its definition. `None`
    /// without a response, so that the text has to be searched.
    pub(super) async fn uses(
        &mut self,
        index: &CodeIndex,
        file: usize,
        unit: &CodeUnit,
    ) -> Option<Vec<IndexedPlace>> {
        if self.is_over(self.references, MAX_REFERENCE_QUESTIONS) {
            return None;
        }
        self.references += 1;
        let subject = self.subject(index, file);
        let session = self.session(&subject).await?;
        let viewing = session.enter_view(&self.context.view, self.deadline).await;
        let _view_guard = viewing.map_err(|error| self.doubt_error(&session, &subject, &error)).ok()?;
        if session.knows_open_files(&subject.path) {
            let opened = self.context.open_mentioning_files(&session, &subject, &unit.name, self.deadline);
            let doubt = Box::pin(opened).await;
            doubt.into_iter().for_each(|doubt| self.doubt(doubt));
        }
        let answer =
            session.navigate(Navigation::References, &subject.path, &unit.selection, self.deadline).await;
        let answer = answer.map_err(|error| self.doubt_error(&session, &subject, &error)).ok()?;
        let mut status = self.context.status(session.server(), &subject, ServerState::Ready, self.started);
        if let Some(work) = &answer.unfinished_work {
            status.state = ServerState::Indexing;
            self.doubt(Doubt::Other(work.sentence(session.server())));
        }
        self.status = Some(status);
        if answer.left_out > 0 {
            let (server, symbol) = (session.server().to_owned(), unit.qualified.clone());
            self.doubt(Doubt::UsesOmitted { server, symbol });
        }
        Some(self.places(index, answer.value))
    }

    /// The uses as places in the index. Uses in files outside the index cannot be followed, so they
    /// raise a doubt.
    fn places(&mut self, index: &CodeIndex, found: Vec<Location>) -> Vec<IndexedPlace> {
        let missing: BTreeSet<String> = found
            .iter()
            .filter_map(|location| match &location.file {
                FileRef::Inside(path) if index.file(path).is_none() => Some(path.display()),
                _ => None,
            })
            .collect();
        if !missing.is_empty() {
            self.doubt(Doubt::BeyondIndex(missing.into_iter().collect()));
        }
        places(index, found)
    }

    /// The meaning of the name at `place`.
    pub(super) async fn meaning(&mut self, index: &CodeIndex, place: IndexedPlace) -> NameMeaning {
        if let Some(known) = self.meanings.get(&place) {
            return known.clone();
        }
        if self.is_over(self.definitions, MAX_DEFINITION_QUESTIONS) {
            return NameMeaning::Unknown;
        }
        self.definitions += 1;
        let meaning = self.ask_meaning(index, place).await.unwrap_or(NameMeaning::Unknown);
        self.meanings.insert(place, meaning.clone());
        meaning
    }

    async fn ask_meaning(&mut self, index: &CodeIndex, (file, at): IndexedPlace) -> Option<NameMeaning> {
        let subject = self.subject(index, file);
        let session = self.session(&subject).await?;
        let viewing = session.enter_view(&self.context.view, self.deadline).await;
        let _view_guard = viewing.map_err(|error| self.doubt_error(&session, &subject, &error)).ok()?;
        let answer = session.navigate(Navigation::Definition, &subject.path, &at, self.deadline).await;
        let answer = answer.map_err(|error| self.doubt_error(&session, &subject, &error)).ok()?;
        if let Some(work) = &answer.unfinished_work {
            self.doubt(Doubt::Other(work.sentence(session.server())));
        }
        let found = answer.value;
        Some(match found.is_empty() {
            true => NameMeaning::Unknown,
            false => NameMeaning::Defined(places(index, found)),
        })
    }

    fn subject(&self, index: &CodeIndex, file: usize) -> LanguageFile {
        let path = index.files[file].path.clone();
        let language = self.context.language_of(&path).ok().flatten().unwrap_or(self.language).to_owned();
        LanguageFile { path, language: Some(language) }
    }

    /// The session that navigates in `subject`. A missing session is requested once per project,
    /// because each attempt may take long.
    async fn session(&mut self, subject: &LanguageFile) -> Option<Arc<Session>> {
        let servers = self.context.servers_for(subject, |features| features.navigation);
        if servers.is_empty() {
            self.refusal.get_or_insert_with(|| self.context.no_server(subject, self.started));
        }
        for (server, _) in servers {
            let project = (server.to_owned(), self.context.manager.root(server, &subject.path));
            if self.refused.contains(&project) {
                continue;
            }
            match self.context.session(server, subject, self.deadline).await {
                Ok(session) => return Some(session),
                Err(status) => drop(self.refusal.get_or_insert(status)),
            }
            self.refused.insert(project);
        }
        let language = subject.language.as_deref().unwrap_or(self.language);
        self.doubt(Doubt::NoServer { language: language.to_owned() });
        None
    }

    /// Returns true if no time or no request is left, and records that once.
    fn is_over(&mut self, requests: usize, most: usize) -> bool {
        if requests >= most {
            self.doubt(Doubt::RequestsCut(most));
        } else if Instant::now() >= self.deadline {
            self.doubt(Doubt::ServerTimeCut);
        } else {
            return false;
        }
        true
    }

    fn doubt_error(&mut self, session: &Session, subject: &LanguageFile, error: &AskError) {
        let mut status = self.context.status(session.server(), subject, ServerState::Failed, self.started);
        status.detail = Some(error.to_string());
        self.refusal.get_or_insert(status);
        self.doubt(Doubt::Failed { server: session.server().to_owned(), error: error.to_string() });
    }

    fn doubt(&mut self, doubt: Doubt) {
        if self.doubts.len() < MAX_DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }
}

fn places(index: &CodeIndex, found: Vec<Location>) -> Vec<IndexedPlace> {
    let place = |location: Location| match location.file {
        FileRef::Inside(path) => Some((index.file(&path)?, location.range.start)),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    };
    found.into_iter().filter_map(place).collect()
}
