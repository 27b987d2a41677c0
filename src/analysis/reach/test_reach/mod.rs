//! The tests that reach a change, each with the way that leads there.
//!
//! [`changed`] finds the units of code that the edits change, and [`starts`] their places in the
//! index. [`walk`] follows their users until tests, through [`server_uses`] (the language server),
//! [`users`] (names, overriding, calls without a name) and [`runner_rules`] (fixtures and set-up).
//! The result is a [`TestReachOutput`]. Imports are a coarse fallback: files that import changed
//! code without a known use are listed last, and marked so.

mod changed;
mod inherited;
mod links;
pub(crate) mod output;
mod runner_rules;
mod server_uses;
mod starts;
mod users;
mod walk;

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use self::changed::{ChangedCode, keyed};
use self::links::Reached;
use self::output::{ReachKind, ReachedTest, TestReachOutput, by_way};
use self::server_uses::ServerUses;
use self::walk::ReachWalk;
use super::test_runs::{self, PlannedRuns};
use crate::analysis::answer::{Answer, ServerState, ServerStatus, Verdict};
use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::doubt::{Doubt, with_doubts};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::budget::json_size;
use crate::analysis::items::named_places::address_of;
use crate::analysis::items::short_range::ShortRange;
use crate::syntax;
use crate::syntax::CodeIndex;
use crate::text::{Position, Range};
use crate::workspace::WorkspacePath;

/// The default timeout of a whole answer.
pub(crate) const REACH_TIMEOUT: Duration = Duration::from_secs(90);
/// The divisor for the share of the time for reading the files.
const READING_SHARE: u32 = 3;
/// The divisor for the share of the rest that is reserved for following names if a server took all
/// other time.
const NAMES_SHARE: u32 = 5;
/// The maximum number of listed links of a path.
const MAX_WAY_LINKS: usize = 12;
/// The default number of listed tests.
pub(crate) const DEFAULT_TEST_LIMIT: usize = 200;
/// The size of an answer beside its lists, in bytes.
const ANSWER_OVERHEAD_BYTES: usize = 500;
/// The maximum number of listed changed symbols.
const MAX_NAMED_CHANGES: usize = 50;

/// The tests that reach `edits`, at most `limit`. The disk has the state after the edits. `gaps`
/// are sentences about changes that are not among them.
///
/// # Errors
/// The errors of reading the workspace.
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

/// The tests that reach the symbol whose name is at `at`, or else the enclosing one.
///
/// # Errors
/// `not_found` if there is no symbol of a known language.
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
        syntax::units_in(language, &path, &text, std::time::Instant::now() + syntax::DEADLINE)
    });
    let found = units.as_ref().and_then(|file| {
        let named = file.units.iter().position(|unit| unit.selection == at);
        let unit = &file.units[named.or_else(|| file.unit_at(at))?];
        keyed(file).into_iter().find(|(_, known)| std::ptr::eq(*known, unit)).map(|(key, _)| key)
    });
    let key = found.ok_or_else(|| {
        let what = format!("no known function, type or variable at {}", address_of(&path, at));
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
            syntax::index_code(workspace, catalogue, &key, until.into_std())
        });
        let index = index.await?;
        let kept = deadline.saturating_duration_since(Instant::now()) / NAMES_SHARE;
        let mut server = ServerUses::new(context, &language, deadline - kept);
        found.follow(&index, changed, &mut server, deadline).await;
    }
    found.doubts.extend(changed.gaps.iter().cloned().map(Doubt::Other));
    found.add_unfollowed(changed);
    Ok(found.into_answer(context, changed, limit))
}

/// One language of each family, whose files are read once.
fn families(context: &Context, languages: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for language in languages {
        let related = crate::analysis::breakage::impact::related_endings(context, language);
        let is_known =
            |known: &String| crate::analysis::breakage::impact::related_endings(context, known) == related;
        if !found.iter().any(is_known) {
            found.push(language.clone());
        }
    }
    found
}

/// The findings in all languages.
#[derive(Default)]
struct ReachFindings {
    changed: Vec<String>,
    tests: Vec<ReachedTest>,
    importing: Vec<ReachedTest>,
    doubts: Vec<Doubt>,
    statuses: Vec<ServerStatus>,
    has_answered: bool,
    was_asked: bool,
    /// True if some test of these languages is not reached.
    has_more_tests: bool,
    /// Changed files that were in an index.
    followed: BTreeSet<WorkspacePath>,
}

impl ReachFindings {
    async fn follow(
        &mut self,
        index: &CodeIndex,
        changed: &ChangedCode,
        server: &mut ServerUses<'_>,
        deadline: Instant,
    ) {
        let mut walk = ReachWalk::new(index);
        self.followed.extend(changed.files().filter(|path| index.file(path).is_some()).cloned());
        self.doubts.extend(index.gap.clone().map(Doubt::Other));
        let starts = starts::starts(index, changed);
        if starts.changed.is_empty() && starts.named.is_empty() {
            return;
        }
        for reached in &starts.changed {
            self.changed.push(shown(index, *reached));
            walk.start_at(*reached);
        }
        for (shown, users) in starts.named {
            self.changed.push(shown.clone());
            walk.start_at_users(shown, users);
        }
        walk.run(server, deadline).await;
        self.add_tests(index, &walk, &starts.changed);
        self.has_more_tests |= all_tests(index).any(|test| !walk.tests.contains_key(&test));
        self.doubts.extend(walk.cut.take());
        self.doubts.extend(unknown_forms(index, &walk));
        self.doubts.append(&mut server.doubts);
        self.statuses.extend(server.status().cloned());
        self.has_answered |= server.has_answered();
        self.was_asked |= server.status().is_some();
    }

    /// Adds the tests of a walk, and the files that only import changed code.
    fn add_tests(&mut self, index: &CodeIndex, walk: &ReachWalk<'_>, starts: &BTreeSet<Reached>) {
        for (test, step) in &walk.tests {
            self.tests.push(reached_test(index, walk, *test, *step));
        }
        let changed = starts.iter().map(|reached| file_of(*reached));
        let all: BTreeSet<usize> = changed.chain(walk.reached_tops(false)).collect();
        // Importing a file runs its top level.
        let sure = walk.importing_files(&walk.reached_tops(true));
        for (file, way) in walk.importing_files(&all) {
            let (how, way) = match sure.get(&file) {
                Some(way) => (ReachKind::References, way),
                None => (ReachKind::Imports, &way),
            };
            if has_unnamed_tests(index, walk, file) {
                let found = match how {
                    ReachKind::Imports => &mut self.importing,
                    _ => &mut self.tests,
                };
                found.push(ReachedTest {
                    path: index.files[file].path.display(),
                    name: None,
                    is_exact: true,
                    at: None,
                    how,
                    way: way.iter().take(MAX_WAY_LINKS).map(|at| index.files[*at].path.display()).collect(),
                });
            }
        }
    }

    /// Adds a doubt about changed files whose users are unknown.
    fn add_unfollowed(&mut self, changed: &ChangedCode) {
        let missing = changed.files().filter(|path| !self.followed.contains(path));
        let unknown: BTreeSet<&WorkspacePath> = changed.unfollowed.iter().chain(missing).collect();
        if !unknown.is_empty() {
            self.doubts.push(Doubt::Unfollowed(unknown.into_iter().map(WorkspacePath::display).collect()));
        }
    }

    fn into_answer(
        mut self,
        context: &Context,
        changed: &ChangedCode,
        limit: usize,
    ) -> Answer<TestReachOutput> {
        let order =
            |test: &ReachedTest| (test.how, test.way.len(), test.way.clone(), test.path.clone(), test.at);
        self.tests.sort_by_cached_key(order);
        self.importing.sort_by(|a, b| a.path.cmp(&b.path));
        let by_text = self.was_asked && !self.has_answered;
        let verdict = with_doubts(if by_text { Verdict::Hints } else { Verdict::Complete }, &self.doubts);
        let notes: Vec<String> = self.doubts.iter().map(Doubt::to_string).collect();
        let status = self.statuses.first().cloned().unwrap_or_else(|| unasked_status(context, changed));
        let whole_suite = !self.has_more_tests && !self.tests.is_empty();
        let wanted = if self.tests.is_empty() { &self.importing } else { &self.tests };
        let PlannedRuns { runs, without: without_run } = test_runs::runs_of(context, wanted, whole_suite);
        let (count, importing_files) = (self.tests.len(), self.importing.len());
        let mut changed = self.changed;
        let has_more = changed.len() > MAX_NAMED_CHANGES;
        changed.truncate(MAX_NAMED_CHANGES);
        let all: Vec<ReachedTest> = self.tests.into_iter().chain(self.importing).collect();
        // A larger limit requests a larger answer.
        let parts = limit.div_ceil(DEFAULT_TEST_LIMIT);
        let bytes = context.config.settings.limits.answer_bytes.saturating_mul(parts);
        let others = json_size(&(&changed, &runs, &without_run, &notes, &self.statuses));
        let tests = by_way(&all, limit, bytes.saturating_sub(others + ANSWER_OVERHEAD_BYTES));
        let listed = tests.iter().flat_map(|group| &group.files).map(|file| file.names.len().max(1));
        let has_more = has_more || listed.sum::<usize>() < all.len();
        let output = TestReachOutput {
            changed,
            whole_suite,
            tests,
            count,
            importing_files,
            has_more,
            runs,
            without_run,
        };
        let servers = if self.statuses.len() > 1 { self.statuses } else { Vec::new() };
        Answer { servers, ..Answer::new(output, None, status, verdict, notes) }
    }
}

/// The tests of an index.
fn all_tests(index: &CodeIndex) -> impl Iterator<Item = Reached> {
    (0..index.files.len()).flat_map(|file| {
        let opaque = index.is_opaque_test(file).then_some(Reached::File(file));
        let tests = index.files[file].tests_within(None).filter(move |_| opaque.is_none());
        tests.map(move |test| Reached::Unit((file, test))).chain(opaque)
    })
}

/// Returns true if a file has tests that a walk did not reach.
fn has_unnamed_tests(index: &CodeIndex, walk: &ReachWalk<'_>, file: usize) -> bool {
    let is_within = |test: &&Reached| matches!(test, Reached::Unit((at, _)) if *at == file);
    let named = walk.tests.keys().filter(is_within).count();
    match index.is_opaque_test(file) {
        true => !walk.tests.contains_key(&Reached::File(file)),
        false => named < index.files[file].tests_within(None).count(),
    }
}

/// The status of a server that did not have to be asked.
fn unasked_status(context: &Context, changed: &ChangedCode) -> ServerStatus {
    let subject =
        LanguageFile { path: WorkspacePath::root(), language: changed.languages.iter().next().cloned() };
    context.status("", &subject, ServerState::Ready, Instant::now())
}

/// A doubt about languages whose tests are reached but cannot be distinguished from other
/// functions.
fn unknown_forms(index: &CodeIndex, walk: &ReachWalk<'_>) -> Option<Doubt> {
    let reached = walk.steps.iter().filter_map(|step| step.reached);
    let files = reached.map(|reached| &index.files[file_of(reached)]);
    let languages: BTreeSet<&str> =
        files.filter(|file| !file.has_test_forms()).map(syntax::UnitFile::language).collect();
    let languages: Vec<&str> = languages.into_iter().collect();
    (!languages.is_empty()).then(|| Doubt::TestsUnrecognised { languages: languages.join(", ") })
}

fn file_of(reached: Reached) -> usize {
    match reached {
        Reached::Unit((file, _))
        | Reached::InheritedTest { file, .. }
        | Reached::Top(file)
        | Reached::File(file)
        | Reached::Folder(file) => file,
    }
}

/// `path:symbol`, or only the path for the top level of a file.
fn shown(index: &CodeIndex, reached: Reached) -> String {
    let path = index.files[file_of(reached)].path.display();
    match reached {
        Reached::Unit(unit) => format!("{path}:{}", index.unit(unit).qualified),
        Reached::InheritedTest { class, test, .. } => {
            format!("{path}:{}.{}", index.unit(class).qualified, index.unit(test).name)
        }
        Reached::Top(_) | Reached::File(_) | Reached::Folder(_) => path,
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
        // The change is the end of the path, and stays.
        way.drain(MAX_WAY_LINKS - 1..way.len() - 1);
    }
    // The line of a test of an imported class is unknown in this file.
    let (name, at, is_exact) = match test {
        Reached::Unit(at) => {
            let unit = index.unit(at);
            (Some(unit.qualified.clone()), Some(ShortRange(Range::empty(unit.selection))), unit.is_exact)
        }
        Reached::InheritedTest { file, class: at, test } => {
            let class = index.unit(at);
            let start = (at.0 == file).then_some(ShortRange(Range::empty(class.selection)));
            (Some(format!("{}.{}", class.qualified, index.unit(test).name)), start, class.is_exact)
        }
        Reached::File(_) | Reached::Top(_) | Reached::Folder(_) => (None, None, true),
    };
    let path = index.files[file_of(test)].path.display();
    ReachedTest { path, name, at, is_exact, how: walk.steps[step].kind, way }
}

#[cfg(test)]
mod tests;
