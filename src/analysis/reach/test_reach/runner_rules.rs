//! Code that test runners call by their own rules: fixtures by the names of parameters, set-up
//! functions, and `conftest.py`.

use std::collections::BTreeSet;

use super::inherited;
use super::links::{Reached, UnitAt, UserOf};
use super::output::ReachKind;
use crate::syntax;
use crate::syntax::{CodeIndex, CodeUnit, CodeUnitKind};
use crate::workspace::WorkspacePath;

/// Returns true if the file with the number `file` is a `conftest.py`, which pytest loads for its
/// folder and all below.
pub(super) fn is_conftest(index: &CodeIndex, file: usize) -> bool {
    index.files[file].path.file_name() == Some("conftest.py")
}

/// The tests in the folder of the file with the number `file` and below.
pub(super) fn tests_beneath(index: &CodeIndex, file: usize) -> Vec<UnitAt> {
    tests_below(index, index.files[file].path.parent().as_ref())
}

/// The tests in `folder` and below.
pub(super) fn tests_below(index: &CodeIndex, folder: Option<&WorkspacePath>) -> Vec<UnitAt> {
    let within = files_beneath(index, folder);
    within.flat_map(|file| index.files[file].tests_within(None).map(move |test| (file, test))).collect()
}

fn files_beneath<'a>(
    index: &'a CodeIndex,
    folder: Option<&'a WorkspacePath>,
) -> impl Iterator<Item = usize> + 'a {
    let is_in = move |at: &usize| {
        folder.is_none_or(|folder| {
            folder.is_root() || index.files[*at].path.as_path().starts_with(folder.as_path())
        })
    };
    (0..index.files.len()).filter(is_in)
}

/// The users of the unit `at` if the runner decides on them; `None` for all other units.
pub(super) fn users_by_runner(index: &CodeIndex, at: UnitAt) -> Option<Vec<UserOf>> {
    let unit = index.unit(at);
    let file = &index.files[at.0];
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    if syntax::is_fixture(unit) {
        let class = unit.parent.filter(|class| file.units[*class].kind == CodeUnitKind::Type);
        let place = FixturePlace {
            path: &file.path,
            at: Some(at),
            file: Some(at.0),
            class: class.map(|class| (at.0, class)),
            is_private: file.among_tests && file.tests_within(None).next().is_some(),
        };
        return Some(fixture_users(index, &place, unit));
    }
    if syntax::is_setup(unit) && file.among_tests {
        if unit.name == "TestMain" {
            return Some(vec![user(Reached::Folder(at.0))]);
        }
        let tests = file.tests_within(unit.parent).map(|test| user(Reached::Unit((at.0, test))));
        // The class is used by its subclasses.
        let class = unit.parent.map(|parent| user(Reached::Unit((at.0, parent))));
        return Some(tests.chain(class).collect());
    }
    if is_hook(&file.path, unit) {
        return Some(vec![user(Reached::Folder(at.0))]);
    }
    None
}

/// Returns true if pytest calls a function of a `conftest.py` for all tests below.
pub(super) fn is_hook(path: &WorkspacePath, unit: &CodeUnit) -> bool {
    path.file_name() == Some("conftest.py")
        && unit.kind == CodeUnitKind::Callable
        && unit.name.starts_with("pytest_")
}

/// The place of a present or removed fixture.
pub(super) struct FixturePlace<'a> {
    /// Its file.
    pub(super) path: &'a WorkspacePath,
    /// The fixture, if it exists.
    pub(super) at: Option<UnitAt>,
    /// The number of its file, if that exists.
    pub(super) file: Option<usize>,
    /// The class that it is a method of.
    pub(super) class: Option<UnitAt>,
    /// True if the file has tests, so that its fixtures are private unless other files import them.
    pub(super) is_private: bool,
}

/// The files whose tests see a fixture.
fn files_seeing(index: &CodeIndex, place: &FixturePlace<'_>) -> BTreeSet<usize> {
    let below = |path: &WorkspacePath| files_beneath(index, path.parent().as_ref()).collect::<Vec<_>>();
    match place.file {
        _ if place.path.file_name() == Some("conftest.py") => below(place.path).into_iter().collect(),
        Some(file) if place.is_private => {
            let importers: Vec<usize> = index.importers(file).collect();
            // An imported fixture is a fixture of the `conftest.py`.
            let conftests = importers.iter().filter(|file| is_conftest(index, **file));
            let beneath: Vec<usize> = conftests.flat_map(|file| below(&index.files[*file].path)).collect();
            importers.into_iter().chain(beneath).chain([file]).collect()
        }
        // Any plugin may be loaded by its name in a string.
        _ => (0..index.files.len()).collect(),
    }
}

/// The tests and fixtures that name a fixture as a parameter or in quotes. For a fixture that every
/// test uses, all tests that see it.
pub(super) fn fixture_users(index: &CodeIndex, place: &FixturePlace<'_>, fixture: &CodeUnit) -> Vec<UserOf> {
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    let files = files_seeing(index, place);
    let name = fixture_name(fixture);
    let mut found = Vec::new();
    // A fixture of a class is visible to the tests of its subclasses as well, and may replace one
    // of a base.
    if let Some(class) = place.class {
        found.extend(inherited::tests_asking_for(index, class, &name).into_iter().map(user));
    }
    for file in &files {
        let units = index.files[*file].units.iter().enumerate();
        let takes = units
            .filter(|(unit, known)| Some((*file, *unit)) != place.at && known.parameters.contains(&name));
        found.extend(takes.map(|(unit, _)| user(Reached::Unit((*file, unit)))));
        if syntax::sets_autouse(fixture) {
            let around = place.class.filter(|class| class.0 == *file).map(|class| class.1);
            let tests = index.files[*file].tests_within(around);
            found.extend(tests.map(|test| user(Reached::Unit((*file, test)))));
        }
    }
    let quoted = index.uses(&name).iter().filter(|place| place.is_quoted && files.contains(&place.file));
    for place in quoted {
        found.push(user(Reached::around(index, place.file, place.at)));
    }
    found
}

/// The name of a fixture for tests: its own name, or the one in its decorator.
fn fixture_name(fixture: &CodeUnit) -> String {
    let given = fixture.marks.iter().find_map(|mark| {
        let (_, rest) = mark.split_once("name=")?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split(quote).next().filter(|name| !name.is_empty())
    });
    given.unwrap_or(&fixture.name).to_owned()
}
