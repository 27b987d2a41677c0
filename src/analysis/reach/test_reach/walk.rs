//! The walk from a change to the tests: uses of uses, those with the strongest links first.
//!
//! Each step is a reached unit of code, with the step before it. The walk ends at a test; for all
//! other units the users are requested ([`users`]). Code at the top level of a file is reached by
//! every importer of the file, which is followed at the end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use super::inherited;
use super::links::{Reached, UnitAt, UserOf};
use super::output::ReachKind;
use super::runner_rules;
use super::server_uses::ServerUses;
use super::users;
use crate::analysis::doubt::Doubt;
use crate::syntax::{CodeIndex, CodeUnitKind, TestRole};

/// The most units of a walk.
const MAX_WALKED_UNITS: usize = 20_000;
/// The number of steps before the task yields.
const STEPS_BETWEEN_YIELDS: usize = 32;
/// Kinds of links, from the strongest to the weakest.
const KINDS: [ReachKind; 5] =
    [ReachKind::Changed, ReachKind::Calls, ReachKind::References, ReachKind::Mentions, ReachKind::Names];

/// One step of a path.
#[derive(Debug, Clone)]
pub(super) struct WalkStep {
    /// The reached code; `None` for a removed symbol.
    pub(super) reached: Option<Reached>,
    /// The name of a removed symbol.
    pub(super) gone: Option<String>,
    /// The step before.
    pub(super) from: Option<usize>,
    /// The weakest link up to here.
    pub(super) kind: ReachKind,
}

/// A walk.
pub(super) struct ReachWalk<'a> {
    index: &'a CodeIndex,
    pub(super) steps: Vec<WalkStep>,
    /// The tests, each with the step that reaches it.
    pub(super) tests: BTreeMap<Reached, usize>,
    /// Files whose importers are reached, each with its step.
    tops: BTreeMap<usize, usize>,
    waiting: BTreeMap<ReachKind, VecDeque<(Reached, Option<usize>)>>,
    seen: HashSet<Reached>,
    /// The reason that the walk ended early.
    pub(super) cut: Option<Doubt>,
}

impl<'a> ReachWalk<'a> {
    pub(super) fn new(index: &'a CodeIndex) -> Self {
        Self {
            index,
            steps: Vec::new(),
            tests: BTreeMap::new(),
            tops: BTreeMap::new(),
            waiting: BTreeMap::new(),
            seen: HashSet::new(),
            cut: None,
        }
    }

    /// Starts at changed code.
    pub(super) fn start_at(&mut self, reached: Reached) {
        self.wait(reached, None, ReachKind::Changed);
    }

    /// Starts at the users of a change without a present unit.
    pub(super) fn start_at_users(&mut self, shown: String, users: Vec<UserOf>) {
        let step = self.steps.len();
        self.steps.push(WalkStep { reached: None, gone: Some(shown), from: None, kind: ReachKind::Changed });
        for user in users {
            self.wait(user.reached, Some(step), user.kind);
        }
    }

    /// Walks until nothing new is reached, or until `deadline`.
    pub(super) async fn run(&mut self, server: &mut ServerUses<'_>, deadline: Instant) {
        while let Some((kind, reached, from)) = self.take() {
            if !self.seen.insert(reached) {
                continue;
            }
            if self.steps.len() >= MAX_WALKED_UNITS {
                self.cut = Some(Doubt::SymbolsCut(MAX_WALKED_UNITS));
                return;
            }
            if Instant::now() >= deadline {
                self.cut = Some(Doubt::UsesCut);
                return;
            }
            if self.steps.len().is_multiple_of(STEPS_BETWEEN_YIELDS) {
                tokio::task::yield_now().await;
            }
            let step = self.steps.len();
            self.steps.push(WalkStep { reached: Some(reached), gone: None, from, kind });
            match reached {
                Reached::Unit(unit) => self.pass_unit(unit, step, kind, server).await,
                Reached::InheritedTest { .. } | Reached::File(_) => drop(self.tests.insert(reached, step)),
                Reached::Top(file) => self.pass_top(file, step, kind),
                Reached::Folder(file) => {
                    let tests = runner_rules::tests_beneath(self.index, file);
                    tests.into_iter().for_each(|test| self.wait(Reached::Unit(test), Some(step), kind));
                }
            }
        }
    }

    async fn pass_unit(&mut self, at: UnitAt, step: usize, kind: ReachKind, server: &mut ServerUses<'_>) {
        let unit = self.index.unit(at);
        let file = &self.index.files[at.0];
        if unit.test == TestRole::Test {
            self.tests.insert(Reached::Unit(at), step);
            // The other runs of a test have the same path.
            let from = self.steps[step].from;
            for other in inherited::other_runs(self.index, at) {
                self.wait(other, from, kind);
            }
            let is_imported = || self.index.importers(at.0).next().is_some();
            if !file.has_usable_tests() || file.is_called_tests() && !is_imported() {
                return;
            }
        } else {
            self.pass_opaque(at.0, step, kind);
        }
        // A change in a test file, or a use in the body of a class of tests, affects all its tests.
        if unit.test == TestRole::Group {
            let inside = file.tests_within(Some(at.1)).map(|test| Reached::Unit((at.0, test)));
            let inside: Vec<Reached> = inside.chain(inherited::tests_of_class(self.index, at)).collect();
            inside.into_iter().for_each(|test| self.wait(test, Some(step), kind));
            if unit.kind == CodeUnitKind::Group {
                return;
            }
        }
        let users = match runner_rules::users_by_runner(self.index, at) {
            Some(users) => users,
            None => Box::pin(users::users(self.index, at, server)).await,
        };
        for UserOf { reached, kind: link } in users {
            self.wait(reached, Some(step), kind.max(link));
        }
    }

    /// Adds a file of tests as a whole if none of its tests is recognised, with the same path.
    fn pass_opaque(&mut self, file: usize, step: usize, kind: ReachKind) {
        if self.index.is_opaque_test(file) {
            let from = self.steps[step].from;
            self.wait(Reached::File(file), from, kind);
        }
    }

    fn pass_top(&mut self, file: usize, step: usize, kind: ReachKind) {
        self.pass_opaque(file, step, kind);
        self.tops.entry(file).or_insert(step);
        // Code that starts the file as a program, or loads it at run time, runs its top level.
        for (from, at) in self.index.quoting(file) {
            let reached = Reached::around(self.index, *from, *at);
            self.wait(reached, Some(step), kind.max(ReachKind::Names));
        }
        let tests: Vec<usize> = self.index.files[file].tests_within(None).collect();
        tests.into_iter().for_each(|test| self.wait(Reached::Unit((file, test)), Some(step), kind));
        if runner_rules::is_conftest(self.index, file) {
            self.wait(Reached::Folder(file), Some(step), kind);
        }
    }

    fn wait(&mut self, reached: Reached, from: Option<usize>, kind: ReachKind) {
        if !self.seen.contains(&reached) {
            // Only the change itself is `changed`; its users are reached by a call at best.
            let kind = if from.is_some() && kind == ReachKind::Changed { ReachKind::Calls } else { kind };
            self.waiting.entry(kind).or_default().push_back((reached, from));
        }
    }

    fn take(&mut self) -> Option<(ReachKind, Reached, Option<usize>)> {
        KINDS.into_iter().find_map(|kind| {
            let (reached, from) = self.waiting.get_mut(&kind)?.pop_front()?;
            Some((kind, reached, from))
        })
    }

    /// The files whose top level is reached. If `is_sure`, only files that certainly run changed
    /// code.
    pub(super) fn reached_tops(&self, is_sure: bool) -> BTreeSet<usize> {
        let is_meant = |step: &usize| !is_sure || self.steps[*step].kind <= ReachKind::Mentions;
        self.tops.iter().filter(|(_, step)| is_meant(step)).map(|(file, _)| *file).collect()
    }

    /// The files with tests that import one of `files`, directly or indirectly, each with the files
    /// between: from its own import to that file.
    pub(super) fn importing_files(&self, files: &BTreeSet<usize>) -> BTreeMap<usize, Vec<usize>> {
        let mut from: HashMap<usize, Option<usize>> = files.iter().map(|file| (*file, None)).collect();
        let mut waiting: VecDeque<usize> = files.iter().copied().collect();
        let (mut found, mut loaded) = (BTreeMap::new(), Vec::new());
        while let Some(file) = waiting.pop_front() {
            let way = std::iter::successors(from[&file], |at| from.get(at).copied().flatten());
            let way: Vec<usize> = way.collect();
            let has_tests = || self.index.files[file].tests_within(None).next().is_some();
            if !way.is_empty() && (has_tests() || self.index.is_opaque_test(file)) {
                found.insert(file, way.clone());
            }
            if runner_rules::is_conftest(self.index, file) {
                loaded.push((file, way));
            }
            // Some imports are not statements, such as `require` in an expression.
            let quoting = self.index.quoting(file).iter().map(|(from, _)| *from);
            for importer in self.index.importers(file).chain(quoting) {
                from.entry(importer).or_insert_with(|| {
                    waiting.push_back(importer);
                    Some(file)
                });
            }
        }
        for (conftest, way) in loaded {
            for (below, _) in runner_rules::tests_beneath(self.index, conftest) {
                let way = || std::iter::once(conftest).chain(way.iter().copied()).collect();
                found.entry(below).or_insert_with(way);
            }
        }
        found
    }
}
