//! The starts of a walk: present units, users of removed ones, and names that an import takes from
//! another place than before.

use std::collections::{BTreeMap, BTreeSet};

use super::changed::{ChangedCode, GoneUnit, UnitKey, keyed};
use super::links::{Reached, UnitAt, UserOf};
use super::output::ReachKind;
use super::runner_rules::{self, FixturePlace};
use super::users;
use crate::syntax;
use crate::syntax::{CodeIndex, CodeUnit, CodeUnitKind, TestRole};
use crate::workspace::WorkspacePath;

/// The starts of a walk, in the files of one index.
#[derive(Debug, Default)]
pub(super) struct ReachStarts {
    /// The changed code that exists.
    pub(super) changed: BTreeSet<Reached>,
    /// Changes without a present unit: display name and users.
    pub(super) named: Vec<(String, Vec<UserOf>)>,
}

/// The starts of the walk in the files of `index`.
pub(super) fn starts(index: &CodeIndex, changed: &ChangedCode) -> ReachStarts {
    let mut found = ReachStarts::default();
    let mut by_file: BTreeMap<usize, BTreeSet<&UnitKey>> = BTreeMap::new();
    for (path, key) in &changed.units {
        if let Some(file) = index.file(path) {
            by_file.entry(file).or_default().insert(key);
        }
    }
    for (file, keys) in by_file {
        let units = numbered(index, file);
        found
            .changed
            .extend(keys.into_iter().filter_map(|key| Some(Reached::Unit((file, *units.get(key)?)))));
    }
    for (path, name) in &changed.imported {
        if let Some(file) = index.file(path) {
            found.add_imported(index, file, name);
        }
    }
    found.changed.extend(changed.tops.iter().filter_map(|path| Some(Reached::Top(index.file(path)?))));
    for gone in changed.gone.iter().filter(|gone| index.is_of_family(&gone.path)) {
        let shown = format!("{}:{}", gone.path.display(), gone.unit.qualified);
        found.named.push((shown, users_of_gone(index, gone)));
    }
    for path in changed.gone_files.iter().filter(|path| index.is_of_family(path)) {
        found.named.push((path.display(), users_of_gone_file(index, path)));
    }
    found
}

/// The units of a file by their keys.
fn numbered(index: &CodeIndex, file: usize) -> BTreeMap<UnitKey, usize> {
    let units = &index.files[file].units;
    let known = keyed(&index.files[file]).into_iter();
    let numbers = known
        .filter_map(|(key, unit)| Some((key, units.iter().position(|other| std::ptr::eq(other, unit))?)));
    numbers.collect()
}

impl ReachStarts {
    /// Adds the uses of `name`, which an import of the file with the number `file` binds, there and
    /// in the files that import it from there.
    fn add_imported(&mut self, index: &CodeIndex, file: usize, name: &str) {
        let around = |place: &syntax::NameUse| Reached::around(index, place.file, place.at);
        let own: Vec<Reached> =
            index.uses(name).iter().filter(|place| place.file == file).map(around).collect();
        if own.is_empty() {
            self.changed.insert(Reached::Top(file));
        }
        self.changed.extend(own);
        let mut users: BTreeSet<Reached> = BTreeSet::new();
        let mut seen = BTreeSet::from([(file, name.to_owned())]);
        let mut waiting = vec![(file, name.to_owned())];
        while let Some((from, name)) = waiting.pop() {
            for importer in index.importers(from) {
                let here = |place: &&syntax::NameUse| place.file == importer;
                if index.has_as_module(importer, from) {
                    let places = index.uses(&name).iter().filter(|place| place.is_member).filter(here);
                    users.extend(places.map(around));
                }
                for local in index.locals_of(importer, from, &name) {
                    users.extend(index.uses(&local).iter().filter(here).map(around));
                    let key = (importer, local);
                    if seen.insert(key.clone()) {
                        waiting.push(key);
                    }
                }
            }
        }
        let shown = format!("{}:{name}", index.files[file].path.display());
        let user = |reached| UserOf { reached, kind: ReachKind::References };
        if !users.is_empty() {
            self.named.push((shown, users.into_iter().map(user).collect()));
        }
    }
}

/// The users of a removed unit: those that name it, and those for which a language, a library or a
/// runner calls it without a name.
fn users_of_gone(index: &CodeIndex, gone: &GoneUnit) -> Vec<UserOf> {
    let GoneUnit { unit, path, .. } = gone;
    let file = gone.file.as_ref().and_then(|path| index.file(path));
    let parent = gone.parent.as_ref().and_then(|key| Some((file?, *numbered(index, file?).get(key)?)));
    if unit.test == TestRole::Test {
        return inherited_instead(index, unit, parent);
    }
    let mut found = users::by_name(index, None, &unit.name);
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    let is_setup = syntax::is_setup(unit) && gone.among_tests;
    let is_hook = runner_rules::is_hook(path, unit);
    if syntax::is_fixture(unit) {
        let place = FixturePlace {
            path,
            at: None,
            file,
            class: parent,
            is_private: gone.among_tests && file.is_some(),
        };
        found.extend(runner_rules::fixture_users(index, &place, unit));
    } else if is_hook || is_setup && unit.name == "TestMain" {
        let tests = runner_rules::tests_below(index, path.parent().as_ref());
        found.extend(tests.into_iter().map(|test| user(Reached::Unit(test))));
    }
    let owner = parent.or_else(|| users::type_beside(index, path, unit.owner.as_deref()?));
    let has_bases = owner.is_some_and(|owner| !index.unit(owner).bases.is_empty());
    let is_go_method = path.extension() == Some("go") && owner.is_some();
    let is_called = is_setup || users::is_called_by_language(&unit.name);
    // A runner determines the calls in a file of tests; a function elsewhere may be named by other
    // files.
    let is_helper = gone.is_named_as_test && unit.kind == CodeUnitKind::Callable && unit.name != "load_tests";
    // A base of a type, and a decorator that gets a function, may call it without a name.
    if is_called || is_go_method || has_bases || !unit.marks.is_empty() || found.is_empty() && !is_helper {
        let kind = if is_called { ReachKind::References } else { ReachKind::Names };
        let reached = owner.map(Reached::Unit).or(file.map(Reached::Top));
        found.extend(reached.map(|reached| UserOf { reached, kind }));
    }
    found
}

/// The class of a removed test, if the class now inherits a test of that name.
fn inherited_instead(index: &CodeIndex, test: &CodeUnit, class: Option<UnitAt>) -> Vec<UserOf> {
    let is_method = |at: &UnitAt| {
        let around = index.unit(*at).parent.map(|parent| index.unit((at.0, parent)));
        around.is_some_and(|around| around.kind == CodeUnitKind::Type)
    };
    let class = class.filter(|class| {
        !index.unit(*class).bases.is_empty() && index.named(&test.name).iter().any(is_method)
    });
    class
        .into_iter()
        .map(|class| UserOf { reached: Reached::Unit(class), kind: ReachKind::References })
        .collect()
}

/// The code that still imports a removed file or names its path, and the tests for which a
/// `conftest.py` was loaded.
fn users_of_gone_file(index: &CodeIndex, path: &WorkspacePath) -> Vec<UserOf> {
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    let mut found: Vec<UserOf> =
        index.importers_of_gone(path).into_iter().map(|file| user(Reached::Top(file))).collect();
    found.extend(
        index
            .quoting_gone(path)
            .into_iter()
            .map(|(file, at)| UserOf { reached: Reached::around(index, file, at), kind: ReachKind::Names }),
    );
    if path.file_name() == Some("conftest.py") {
        let tests = runner_rules::tests_below(index, path.parent().as_ref());
        found.extend(tests.into_iter().map(|test| user(Reached::Unit(test))));
    }
    found
}
