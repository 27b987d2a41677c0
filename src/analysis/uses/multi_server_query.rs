//! Requests for all uses of a symbol, sent to every server that may know some. The first response
//! is compared with the occurrences of the name in the text. Occurrences under other roots are
//! requested from the servers of those roots, and the rest is listed in a note.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use super::mergeable_answer::MergeableAnswer;
use super::occurrence_note::further_occurrences_note;
use super::other_roots::{self, OtherRoots, ServerCoverage, concerns_types, coverage_name};
use super::text_doubts::{ServerCertainty, text_doubts};
use crate::analysis::ask::fallback::run_until_changed;
use crate::analysis::ask::question::{LanguageQuestion, PositionRequest, QuestionOutcome};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::doubt::{Doubt, with_doubts};
use crate::analysis::error::ToolError;
use crate::analysis::target::Target;
use crate::lsp::model::Location;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::operations::Navigation;
use crate::syntax;
use crate::syntax::{FurtherOccurrence, FurtherOccurrences, OccurrenceQuery, OccurrenceSense};
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The minimum time for the text search when the server used the whole deadline.
const MIN_OCCURRENCE_SEARCH_TIMEOUT: Duration = Duration::from_millis(500);
/// The most files that are opened for a server that knows the projects of open files.
const MAX_OPENED_PROJECT_FILES: usize = 24;
/// The maximum number of other roots and projects that are asked about.
const MAX_ASKED_PROJECTS: usize = 6;
/// The maximum number of uses in each of them at which a server is asked.
const MAX_USES_PER_PROJECT: usize = 3;

/// The uses of a symbol, as far as they are known.
struct Uses<T> {
    /// The uses that servers list.
    listed: T,
    /// The reasons that they may be incomplete; they are complete if there are none.
    doubts: Vec<Doubt>,
}

/// A request with a response that is being completed.
struct AnsweredQuestion<'a> {
    subject: &'a LanguageFile,
    position: Position,
    /// True if a response covers only one project of the server's root.
    of_project: bool,
    sense: OccurrenceSense,
    deadline: Instant,
}

impl Context {
    /// Like [`question`](Self::question). If all occurrences in a `sense` are requested, it also
    /// asks the servers of other roots whose files mention the name. If files with the name are in
    /// no response, a note lists them. The answer is then not complete if no server covers these
    /// files, if they import the name from there, or if the server has just started or found
    /// nothing at all.
    pub(crate) async fn question_of_all<T: MergeableAnswer>(
        &self,
        target: &Target,
        question: LanguageQuestion,
        sense: Option<OccurrenceSense>,
        deadline: Instant,
        ask: impl PositionRequest<T>,
    ) -> Result<QuestionOutcome<T>, ToolError> {
        let outcome = self.question(target, question, deadline, &ask).await?;
        let QuestionOutcome::Answered { value, left_out, place, session, mut status, mut verdict, mut notes } =
            outcome
        else {
            return Ok(outcome);
        };
        let Some((sense, resolved)) = sense.zip(place.resolved.as_ref()).filter(|_| value.is_answer()) else {
            return Ok(QuestionOutcome::Answered { value, left_out, place, session, status, verdict, notes });
        };
        let subject = self.language_file(place.path.clone())?;
        let (position, name) = (place.position, resolved.symbol.clone());
        let named = OccurrenceQuery { path: subject.path.clone(), position, name, sense };
        let of_project = self.answers_of_project(session.server(), question.method);
        let asking = AnsweredQuestion { subject: &subject, position, of_project, sense, deadline };
        let uses = self.complete_uses(&asking, &session, &named, value, &mut notes, &ask).await;
        let lowered = with_doubts(verdict, &uses.doubts);
        if lowered != verdict {
            status.detail = status.detail.or_else(|| uses.doubts.first().map(Doubt::to_string));
            verdict = lowered;
        }
        let value = uses.listed;
        Ok(QuestionOutcome::Answered { value, left_out, place, session, status, verdict, notes })
    }

    /// Completes the uses `listed` by the servers of other projects and roots, and compares them
    /// with the text. Adds notes on uses that no server lists.
    async fn complete_uses<T: MergeableAnswer>(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Arc<Session>,
        named: &OccurrenceQuery,
        mut listed: T,
        notes: &mut Vec<String>,
        ask: &impl PositionRequest<T>,
    ) -> Uses<T> {
        let (sense, server) = (asking.sense, session.server());
        let mut unlisted = self.find_further_occurrences(named, listed.files(), asking.deadline).await;
        if session.knows_open_projects() {
            self.open_projects(asking, session, &mut unlisted, &mut listed, ask).await;
        }
        let others = if concerns_types(sense) || unlisted.of_method {
            self.other_roots(session, asking.subject).await
        } else {
            OtherRoots::default()
        };
        let elsewhere = self.uncovered_occurrences(asking, session, &unlisted.files);
        let unknown = self.ask_other_coverages(asking, session, elsewhere, &mut listed, notes, ask).await;
        let without_name = if concerns_types(sense) {
            self.ask_other_roots(asking, named, &others.roots, &mut listed, session, ask).await
        } else {
            BTreeSet::new()
        };
        remove_listed(&mut unlisted, &listed.files());
        unlisted.cut |= others.cut;
        let mut uncovered = self.places_of(asking, session, &unknown, &unlisted.files);
        let hides_uses = others.may_use(&unlisted, T::WANTS_DEFINITIONS);
        let advice = (!without_name.is_empty() || hides_uses).then(|| self.joining_advice(session)).flatten();
        uncovered.extend(without_name);
        let conditional = (std::mem::take(&mut unlisted.conditional), unlisted.conditional_cut);
        let conditional = self.conditional_uses(session, conditional, &listed.lines(), asking.deadline).await;
        let conditional = conditional.sentence(server);
        let certainty = ServerCertainty {
            is_unsure: !session.tells_when_ready() && !session.reads_on_request(),
            leaves_files_out: session.leaves_files_out(&asking.subject.path),
        };
        let mut doubts = text_doubts(&unlisted, &listed, certainty, sense);
        doubts.extend((!uncovered.is_empty()).then(|| Doubt::Uncovered(uncovered.iter().cloned().collect())));
        doubts.extend(hides_uses.then_some(Doubt::OtherRoot));
        doubts.extend(others.cut.then_some(Doubt::RootsCut));
        doubts.extend(conditional.clone().map(Doubt::Conditional));
        notes.extend(further_occurrences_note::<T>(&named.name, &unlisted, server, &uncovered, advice));
        notes.extend(conditional.map(|sentence| format!("`{}` {sentence}", named.name)));
        Uses { listed, doubts }
    }

    /// Sends the request in each of `roots` at a use of the symbol, where the server knows both the
    /// interface and types that implement it implicitly. Returns the roots without a certain use.
    async fn ask_other_roots<T: MergeableAnswer>(
        &self,
        asking: &AnsweredQuestion<'_>,
        named: &OccurrenceQuery,
        roots: &BTreeSet<WorkspacePath>,
        value: &mut T,
        first: &Session,
        ask: &impl PositionRequest<T>,
    ) -> BTreeSet<String> {
        if roots.is_empty() {
            return BTreeSet::new();
        }
        let named = OccurrenceQuery { sense: OccurrenceSense::Any, ..named.clone() };
        let uses = self.find_further_occurrences(&named, BTreeSet::new(), asking.deadline).await.files;
        let mut unknown = BTreeSet::new();
        for (number, root) in roots.iter().enumerate() {
            let is_in_it = |file: &&FurtherOccurrence| self.manager.root(first.server(), &file.path) == *root;
            let most = if number < MAX_ASKED_PROJECTS { MAX_USES_PER_PROJECT } else { 0 };
            let mut is_known = false;
            for file in uses.iter().filter(is_in_it).take(most) {
                let there =
                    LanguageFile { path: file.path.clone(), language: asking.subject.language.clone() };
                let Ok(session) = self.session(first.server(), &there, asking.deadline).await else { break };
                let at = (&file.path, file.position);
                match self.ask_with(asking, &session, &[], at, ask).await {
                    Ok(more) if value.is_same_symbol(&more) => {
                        value.join(more);
                        is_known = true;
                        break;
                    }
                    Ok(_) => tracing::debug!(path = %file.path.display(), "it may be something else there"),
                    Err(error) => tracing::debug!(path = %file.path.display(), "not asked: {error}"),
                }
            }
            if !is_known {
                unknown.insert(root.display());
            }
        }
        unknown
    }

    /// The occurrences of the name outside the files `known`, from a time-limited text search.
    async fn find_further_occurrences(
        &self,
        named: &OccurrenceQuery,
        known: BTreeSet<WorkspacePath>,
        deadline: Instant,
    ) -> FurtherOccurrences {
        let (named, known_files) = (named.clone(), known.len());
        let now = Instant::now();
        let until = deadline
            .clamp(now + MIN_OCCURRENCE_SEARCH_TIMEOUT, now + other_roots::OCCURRENCE_SEARCH_TIMEOUT)
            .into_std();
        // The file itself may be one that the workspace does not list.
        let stamp = self.workspace.stamp(&named.path).ok();
        let key = format!("occurrences {named:?} {stamp:?} {known:?}");
        let items = |found: &FurtherOccurrences| {
            let parts = [found.files.len(), found.passed.len(), found.conditional.len(), found.quiet.len()];
            let is_whole = !found.cut && std::time::Instant::now() < until;
            is_whole.then_some(known_files + parts.iter().sum::<usize>())
        };
        let found = run_until_changed(self, key, items, move |workspace, catalogue| {
            syntax::further_occurrences(workspace, catalogue, &named, &known, until)
        });
        found.await.unwrap_or_else(|error| {
            tracing::debug!("the text was not searched: {}", error.error);
            FurtherOccurrences { cut: true, ..FurtherOccurrences::default() }
        })
    }

    /// Opens a file of each project that contains the name, and all files that import it, and
    /// repeats the request.
    async fn open_projects<T: MergeableAnswer>(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Arc<Session>,
        occurrences: &mut FurtherOccurrences,
        value: &mut T,
        ask: &impl PositionRequest<T>,
    ) {
        let mut projects = BTreeSet::new();
        let of_root = |file: &&FurtherOccurrence| {
            self.server_coverage(session.server(), asking.of_project, &file.path)
                .is_some_and(|(root, _)| session.serves_root(&root))
        };
        let is_first = |file: &&FurtherOccurrence| {
            let is_new = projects.insert(self.manager.project(session.server(), &file.path));
            (is_new || file.imports) && !session.has_open(&file.path)
        };
        let files: Vec<WorkspacePath> = occurrences
            .files
            .iter()
            .filter(of_root)
            .filter(is_first)
            .take(MAX_OPENED_PROJECT_FILES)
            .map(|file| file.path.clone())
            .collect();
        if files.is_empty() {
            return;
        }
        let at = (&asking.subject.path, asking.position);
        match self.ask_with(asking, session, &files, at, ask).await {
            Ok(again) if again.is_answer() => {
                *value = again;
                remove_listed(occurrences, &value.files());
            }
            Ok(_) => tracing::debug!("refused when asked again"),
            Err(error) => tracing::debug!("not asked again: {error}"),
        }
    }

    /// The files with the name that the first response does not cover, by coverage, importing files
    /// first.
    fn uncovered_occurrences(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Session,
        files: &[FurtherOccurrence],
    ) -> Vec<(ServerCoverage, Vec<FurtherOccurrence>)> {
        let own = self.server_coverage(session.server(), asking.of_project, &asking.subject.path);
        let mut uncovered: Vec<(ServerCoverage, Vec<FurtherOccurrence>)> = Vec::new();
        for file in files.iter().filter(|file| !file.unparsed) {
            let ground = self.server_coverage(session.server(), asking.of_project, &file.path);
            let Some(ground) = ground.filter(|ground| own.as_ref() != Some(ground)) else { continue };
            match uncovered.iter_mut().find(|(known, _)| *known == ground) {
                Some((_, files)) => files.push(file.clone()),
                None => uncovered.push((ground, vec![file.clone()])),
            }
        }
        uncovered
    }

    /// Sends the request in each other coverage, at a place within it.
    async fn ask_other_coverages<T: MergeableAnswer>(
        &self,
        asking: &AnsweredQuestion<'_>,
        first: &Arc<Session>,
        mut uncovered: Vec<(ServerCoverage, Vec<FurtherOccurrence>)>,
        value: &mut T,
        notes: &mut Vec<String>,
        ask: &impl PositionRequest<T>,
    ) -> BTreeSet<ServerCoverage> {
        let beyond = uncovered.split_off(uncovered.len().min(MAX_ASKED_PROJECTS));
        let mut unknown: BTreeSet<ServerCoverage> = beyond.into_iter().map(|(ground, _)| ground).collect();
        let known: &T = value;
        let questions =
            uncovered.iter().map(|(_, files)| self.ask_coverage(asking, first, files, known, ask));
        for ((ground, _), answer) in uncovered.iter().zip(join_all(questions).await) {
            match answer {
                Ok(Some(more)) => more.into_iter().for_each(|more| value.join(more)),
                Ok(None) => {
                    unknown.insert(ground.clone());
                }
                Err(reason) => {
                    notes.push(format!(
                        "{} was not asked for {}: {reason}",
                        first.server(),
                        coverage_name(ground)
                    ));
                    unknown.insert(ground.clone());
                }
            }
        }
        unknown
    }

    /// The responses of one coverage about the same symbol as `known`; `None` if the symbol cannot
    /// be identified there.
    async fn ask_coverage<T: MergeableAnswer>(
        &self,
        asking: &AnsweredQuestion<'_>,
        first: &Arc<Session>,
        files: &[FurtherOccurrence],
        known: &T,
        ask: &impl PositionRequest<T>,
    ) -> Result<Option<Vec<T>>, String> {
        let Some(file) = files.first() else { return Ok(None) };
        let there = LanguageFile { path: file.path.clone(), language: asking.subject.language.clone() };
        let session = self.session(first.server(), &there, asking.deadline).await;
        let session = session.map_err(|status| status.detail.unwrap_or_default())?;
        let failed = |error: AskError| error.to_string();
        let mut found = Vec::new();
        if !Arc::ptr_eq(&session, first) {
            let open: Vec<WorkspacePath> =
                files.iter().take(MAX_OPENED_PROJECT_FILES).map(|file| file.path.clone()).collect();
            let (path, position) = (&asking.subject.path, asking.position);
            found.push(self.ask_with(asking, &session, &open, (path, position), ask).await.map_err(failed)?);
        }
        let of_implementations = asking.sense == OccurrenceSense::Implementation;
        if !of_implementations && asking.sense != OccurrenceSense::Any {
            // From any place, the server goes back to the definition and searches from there.
            return Ok((!found.is_empty()).then_some(found));
        }
        let known_definition = match of_implementations {
            true => self.definition_at(asking, first, (&asking.subject.path, asking.position)).await,
            false => None,
        };
        // At a use, it searches from there. A response that contains a known place is about the
        // same symbol.
        let mut is_known = !of_implementations || !found.is_empty();
        for file in files.iter().take(MAX_USES_PER_PROJECT) {
            let at = (&file.path, file.position);
            // The implementations found there may be unknown here, so the definitions are compared.
            if of_implementations {
                let definition = self.definition_at(asking, &session, at).await;
                let both = known_definition.as_ref().zip(definition.as_ref());
                if !both.is_some_and(|(known, other)| known.is_same_symbol(other)) {
                    continue;
                }
            }
            let more = self.ask_with(asking, &session, &[], at, ask).await.map_err(failed)?;
            if of_implementations || known.is_same_symbol(&more) {
                found.push(more);
                is_known = true;
                break;
            }
        }
        Ok(is_known.then_some(found))
    }

    /// The definition of the symbol at a place according to a session; `None` without a response.
    async fn definition_at(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Session,
        at: (&WorkspacePath, Position),
    ) -> Option<Vec<Location>> {
        let deadline = asking.deadline;
        self.ask_with(asking, session, &[], at, &|session, path, place| {
            Box::pin(session.navigate(Navigation::Definition, path, place, deadline))
        })
        .await
        .ok()
    }

    /// Sends the request to a session at a place, with `files` open.
    async fn ask_with<T>(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Session,
        files: &[WorkspacePath],
        (path, position): (&WorkspacePath, Position),
        ask: &impl PositionRequest<T>,
    ) -> Result<T, AskError> {
        let _view_guard = session.enter_view(&self.view, asking.deadline).await?;
        for path in files {
            // A deleted file has no use either.
            session.sync_if_readable(path).await;
        }
        let answer = ask(session, path, &position).await?;
        match answer.unfinished_work {
            Some(busy) => Err(AskError::Busy(busy)),
            None => Ok(answer.value),
        }
    }

    /// The names of the coverages with unresolved occurrences, and the files that no server here
    /// covers.
    fn places_of(
        &self,
        asking: &AnsweredQuestion<'_>,
        session: &Session,
        unknown: &BTreeSet<ServerCoverage>,
        files: &[FurtherOccurrence],
    ) -> BTreeSet<String> {
        let places = files.iter().filter_map(|file| {
            match self.server_coverage(session.server(), asking.of_project, &file.path) {
                Some(_) if file.unparsed => None,
                Some(ground) => unknown.contains(&ground).then(|| coverage_name(&ground)),
                // A component (Svelte, Vue, Astro) may use definitions of a script; a word in a
                // build file need not.
                None if file.unparsed && !file.names_file => None,
                None => Some(file.path.display()),
            }
        });
        places.collect()
    }
}

fn remove_listed(occurrences: &mut FurtherOccurrences, listed: &BTreeSet<WorkspacePath>) {
    occurrences.files.retain(|file| !listed.contains(&file.path));
    occurrences.notebooks.retain(|file| !listed.contains(&file.path));
}
