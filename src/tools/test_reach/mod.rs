//! The tests that reach a change, each with the way that leads there.
//!
//! [`changed`] tells which units of code the edits change; [`walk`] follows their users until tests, through [`server_uses`] (the
//! language server), [`users`] (names, overriding, calls without a name) and [`runner_rules`] (fixtures and set-up); the result is a
//! [`TestReachOutput`](output::TestReachOutput). Imports are the coarse net beneath: files that import what changed and are not known to
//! use it are named last, and marked so.

mod changed;
mod inherited;
mod links;
pub(crate) mod output;
mod runner_rules;
mod server_uses;
mod users;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use self::changed::{ChangedCode, UnitKey, keyed};
use self::links::Reached;
use self::output::{ReachKind, ReachedTest, TestReachOutput};
use self::server_uses::ServerUses;
use self::walk::ReachWalk;
use super::answer::{Answer, ServerState, ServerStatus, Verdict};
use super::context::{Context, LanguageFile};
use super::error::{ErrorCode, ToolError};
use super::fallback::run_in_background;
use super::impact::EditedText;
use super::test_runs;
use crate::hints::{self, CodeIndex};
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The time that a whole answer may take where the caller says nothing.
pub(crate) const REACH_TIMEOUT: Duration = Duration::from_secs(90);
/// The share of the time that reading the files may take.
const READING_SHARE: u32 = 3;
/// The most links of a way that are told.
const MAX_WAY_LINKS: usize = 12;
/// The most changed symbols that are named.
const MAX_NAMED_CHANGES: usize = 50;

/// The tests that reach `edits`, at most `limit`; all that is on disk is as after the edits. `gaps` says what of the change is not among
/// them.
///
/// # Errors
/// Those of reading the workspace.
pub(crate) async fn tests_reaching(
    context: &Context,
    edits: &[EditedText],
    gaps: Vec<String>,
    limit: usize,
    deadline: Instant,
) -> Result<Answer<TestReachOutput>, ToolError> {
    let changed = ChangedCode { gaps, ..ChangedCode::from_edits(context, edits) };
    follow_changes(context, &changed, limit, deadline).await
}

/// The tests that reach the symbol whose name stands at `at`, or else the one around it.
///
/// # Errors
/// `not_found` where no symbol of a known language stands there.
pub(crate) async fn tests_reaching_symbol(
    context: &Context,
    path: WorkspacePath,
    at: Position,
    limit: usize,
    deadline: Instant,
) -> Result<Answer<TestReachOutput>, ToolError> {
    let language = context.language_file(path.clone())?.language;
    let text = context.text(&path)?.to_string();
    let units = language.as_deref().and_then(|language| {
        hints::units_in(language, &path, &text, std::time::Instant::now() + hints::DEADLINE)
    });
    let found = units.as_ref().and_then(|file| {
        let named = file.units.iter().position(|unit| unit.selection == at);
        let unit = &file.units[named.or_else(|| file.unit_at(at))?];
        keyed(file).into_iter().find(|(_, known)| std::ptr::eq(*known, unit)).map(|(key, _)| key)
    });
    let key = found.ok_or_else(|| {
        let what = format!("no function, type or variable is known at {}:{}", path.display(), at.line + 1);
        ToolError::new(ErrorCode::NotFound, what)
    })?;
    let changed = ChangedCode {
        languages: language.into_iter().collect(),
        units: BTreeSet::from([(path, key)]),
        ..ChangedCode::default()
    };
    follow_changes(context, &changed, limit, deadline).await
}

async fn follow_changes(
    context: &Context,
    changed: &ChangedCode,
    limit: usize,
    deadline: Instant,
) -> Result<Answer<TestReachOutput>, ToolError> {
    context.manager.refresh().await;
    let mut found = ReachFindings::default();
    for language in families(context, &changed.languages) {
        let until = Instant::now() + deadline.saturating_duration_since(Instant::now()) / READING_SHARE;
        let key = language.clone();
        let index = run_in_background(context, move |workspace, catalogue| {
            hints::index_code(workspace, catalogue, &key, until.into_std())
        });
        let index = index.await?;
        let mut server = ServerUses::new(context, &language, deadline);
        found.follow(&index, changed, &mut server).await;
    }
    found.doubts.extend(changed.gaps.iter().cloned());
    for path in &changed.unfollowed {
        found.doubts.push(format!("what reads {} is not known", path.display()));
    }
    Ok(found.into_answer(context, changed, limit))
}

/// One language of each family: its files are read once.
fn families(context: &Context, languages: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for language in languages {
        let related = super::impact::related_endings(context, language);
        let is_known = |known: &String| super::impact::related_endings(context, known) == related;
        if !found.iter().any(is_known) {
            found.push(language.clone());
        }
    }
    found
}

/// What was found, in all languages.
#[derive(Default)]
struct ReachFindings {
    changed: Vec<String>,
    tests: Vec<ReachedTest>,
    importing: Vec<ReachedTest>,
    doubts: Vec<String>,
    statuses: Vec<ServerStatus>,
    has_answered: bool,
    was_asked: bool,
}

impl ReachFindings {
    async fn follow(&mut self, index: &CodeIndex, changed: &ChangedCode, server: &mut ServerUses<'_>) {
        let mut walk = ReachWalk::new(index);
        let starts = starts(index, changed);
        for reached in &starts {
            self.changed.push(shown(index, *reached));
            walk.start_at(*reached);
        }
        for (path, qualified, name) in &changed.gone {
            let shown = format!("{}:{qualified}", path.display());
            self.changed.push(shown.clone());
            walk.start_at_gone(shown, name);
        }
        walk.run(server).await;
        for (test, step) in &walk.tests {
            self.tests.push(reached_test(index, &walk, *test, *step));
        }
        let files: BTreeSet<usize> = starts.iter().map(|reached| file_of(*reached)).collect();
        for (file, way) in walk.importing_files(&files) {
            let named = walk
                .tests
                .keys()
                .filter(|test| matches!(test, Reached::Unit((at, _)) if *at == file))
                .count();
            if named < index.files[file].tests_within(None).count() {
                self.importing.push(ReachedTest {
                    path: index.files[file].path.display(),
                    name: None,
                    line: None,
                    how: ReachKind::Imports,
                    way: way.iter().take(MAX_WAY_LINKS).map(|at| index.files[*at].path.display()).collect(),
                });
            }
        }
        self.doubts.extend(index.gap.clone());
        self.doubts.extend(walk.cut.take());
        self.doubts.append(&mut server.doubts);
        self.statuses.extend(server.status().cloned());
        self.has_answered |= server.has_answered();
        self.was_asked |= server.status().is_some();
    }

    fn into_answer(
        mut self,
        context: &Context,
        changed: &ChangedCode,
        limit: usize,
    ) -> Answer<TestReachOutput> {
        self.tests.sort_by(|a, b| (a.how, &a.path, a.line).cmp(&(b.how, &b.path, b.line)));
        self.importing.sort_by(|a, b| a.path.cmp(&b.path));
        let verdict = match (self.was_asked && !self.has_answered, self.doubts.is_empty()) {
            (true, _) => Verdict::Hints,
            (false, true) => Verdict::Complete,
            (false, false) => Verdict::Partial,
        };
        let status = self.statuses.first().cloned().unwrap_or_else(|| unasked_status(context, changed));
        let wanted = if self.tests.is_empty() { &self.importing } else { &self.tests };
        let runs = test_runs::runs_of(context, wanted);
        let (count, importing_files) = (self.tests.len(), self.importing.len());
        let has_more = count + importing_files > limit || self.changed.len() > MAX_NAMED_CHANGES;
        self.changed.truncate(MAX_NAMED_CHANGES);
        let tests = self.tests.into_iter().chain(self.importing).take(limit).collect();
        let output = TestReachOutput { changed: self.changed, tests, count, importing_files, has_more, runs };
        let servers = if self.statuses.len() > 1 { self.statuses } else { Vec::new() };
        Answer { servers, ..Answer::new(output, None, status, verdict, self.doubts) }
    }
}

/// The state of a server that did not have to be asked.
fn unasked_status(context: &Context, changed: &ChangedCode) -> ServerStatus {
    let subject =
        LanguageFile { path: WorkspacePath::root(), language: changed.languages.iter().next().cloned() };
    context.status("", &subject, ServerState::Ready, Instant::now())
}

/// Where the walk begins, in the files of `index`.
fn starts(index: &CodeIndex, changed: &ChangedCode) -> BTreeSet<Reached> {
    let mut found = BTreeSet::new();
    let mut by_file: BTreeMap<usize, BTreeSet<&UnitKey>> = BTreeMap::new();
    for (path, key) in &changed.units {
        if let Some(file) = index.file(path) {
            by_file.entry(file).or_default().insert(key);
        }
    }
    for (file, keys) in by_file {
        let units = &index.files[file].units;
        let known = keyed(&index.files[file]);
        let numbers = keys.into_iter().filter_map(|key| {
            let unit = *known.get(key)?;
            units.iter().position(|other| std::ptr::eq(other, unit))
        });
        found.extend(numbers.map(|unit| Reached::Unit((file, unit))));
    }
    for (path, name) in &changed.imported {
        let Some(file) = index.file(path) else { continue };
        for place in index.uses(name).iter().filter(|place| place.file == file) {
            found.insert(match index.files[file].unit_at(place.at) {
                Some(unit) => Reached::Unit((file, unit)),
                None => Reached::Top(file),
            });
        }
    }
    found.extend(changed.tops.iter().filter_map(|path| Some(Reached::Top(index.file(path)?))));
    found
}

fn file_of(reached: Reached) -> usize {
    match reached {
        Reached::Unit((file, _))
        | Reached::InheritedTest { file, .. }
        | Reached::Top(file)
        | Reached::Folder(file) => file,
    }
}

/// `path:symbol`, or the path alone for the top level of a file.
fn shown(index: &CodeIndex, reached: Reached) -> String {
    let path = index.files[file_of(reached)].path.display();
    match reached {
        Reached::Unit(unit) => format!("{path}:{}", index.unit(unit).qualified),
        Reached::InheritedTest { .. } => format!("{path}:{}", test_name(index, reached).0),
        Reached::Top(_) | Reached::Folder(_) => path,
    }
}

/// The whole name of a test, and the 0-based line where it is found in its file; none for a test of an imported class.
fn test_name(index: &CodeIndex, reached: Reached) -> (String, Option<u32>) {
    match reached {
        Reached::Unit(at) => (index.unit(at).qualified.clone(), Some(index.unit(at).selection.line)),
        Reached::InheritedTest { file, class: at, test } => {
            let class = index.unit(at);
            let line = (at.0 == file).then_some(class.selection.line);
            (format!("{}.{}", class.qualified, index.unit(test).name), line)
        }
        Reached::Top(_) | Reached::Folder(_) => (String::new(), None),
    }
}

fn reached_test(index: &CodeIndex, walk: &ReachWalk<'_>, test: Reached, step: usize) -> ReachedTest {
    let before = std::iter::successors(walk.steps[step].from, |at| walk.steps[*at].from);
    let link = |at: usize| {
        let step = &walk.steps[at];
        step.gone.clone().or_else(|| step.reached.map(|reached| shown(index, reached)))
    };
    let mut way: Vec<String> = before.filter_map(link).collect();
    if way.len() > MAX_WAY_LINKS {
        // What changed is the end of the way, and stays.
        way.drain(MAX_WAY_LINKS - 1..way.len() - 1);
    }
    let (name, line) = test_name(index, test);
    ReachedTest {
        path: index.files[file_of(test)].path.display(),
        name: Some(name),
        line,
        how: walk.steps[step].kind,
        way,
    }
}
