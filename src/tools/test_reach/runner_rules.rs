//! What test runners call by rules of their own: fixtures by the names of parameters, set-up functions, and `conftest.py`.

use std::collections::BTreeSet;

use super::inherited;
use super::links::{Reached, UnitAt, UserOf};
use super::output::ReachKind;
use crate::hints::{self, CodeIndex, CodeUnit, CodeUnitKind};
use crate::workspace::WorkspacePath;

/// Whether the file number `file` is a `conftest.py`, which pytest loads for its folder and all beneath.
pub(super) fn is_conftest(index: &CodeIndex, file: usize) -> bool {
    index.files[file].path.file_name() == Some("conftest.py")
}

/// The tests in the folder of the file number `file` and beneath.
pub(super) fn tests_beneath(index: &CodeIndex, file: usize) -> Vec<UnitAt> {
    let folder = index.files[file].path.parent();
    let within = files_beneath(index, folder.as_ref());
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

/// The users of the unit `at` where the runner decides on them; `None` for all other units.
pub(super) fn users_by_runner(index: &CodeIndex, at: UnitAt) -> Option<Vec<UserOf>> {
    let unit = index.unit(at);
    let file = &index.files[at.0];
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    if hints::is_fixture(unit) {
        return Some(fixture_users(index, at, unit));
    }
    if hints::is_setup(unit) && file.among_tests {
        if unit.name == "TestMain" {
            return Some(vec![user(Reached::Folder(at.0))]);
        }
        let tests = file.tests_within(unit.parent).map(|test| user(Reached::Unit((at.0, test))));
        // The class is used by those that are derived from it.
        let class = unit.parent.map(|parent| user(Reached::Unit((at.0, parent))));
        return Some(tests.chain(class).collect());
    }
    if is_conftest(index, at.0) && unit.kind == CodeUnitKind::Callable && unit.name.starts_with("pytest_") {
        return Some(vec![user(Reached::Folder(at.0))]);
    }
    None
}

/// The tests and fixtures that name a fixture as a parameter or in quotes; all tests that see it, where each uses it.
fn fixture_users(index: &CodeIndex, at: UnitAt, fixture: &CodeUnit) -> Vec<UserOf> {
    let user = |reached| UserOf { reached, kind: ReachKind::References };
    let own = &index.files[at.0];
    let files: BTreeSet<usize> = match (is_conftest(index, at.0), own.among_tests) {
        (true, _) => files_beneath(index, own.path.parent().as_ref()).collect(),
        // A module of tests keeps its fixtures to itself, unless others import them.
        (false, true) => index.importers(at.0).chain([at.0]).collect(),
        (false, false) => (0..index.files.len()).collect(),
    };
    let name = fixture_name(fixture);
    let mut found = Vec::new();
    // A fixture of a class is there for the tests of its heirs as well, and may stand in for one of a base.
    if let Some(class) = fixture.parent.filter(|class| own.units[*class].kind == CodeUnitKind::Type) {
        found.extend(inherited::tests_asking_for(index, (at.0, class), &name).into_iter().map(user));
    }
    for file in &files {
        let units = index.files[*file].units.iter().enumerate();
        let takes = units.filter(|(unit, known)| (*file, *unit) != at && known.parameters.contains(&name));
        found.extend(takes.map(|(unit, _)| user(Reached::Unit((*file, unit)))));
        if hints::sets_autouse(fixture) {
            let around = fixture.parent.filter(|_| *file == at.0);
            let tests = index.files[*file].tests_within(around);
            found.extend(tests.map(|test| user(Reached::Unit((*file, test)))));
        }
    }
    let quoted = index.uses(&name).iter().filter(|place| place.is_quoted && files.contains(&place.file));
    for place in quoted {
        found.push(user(match index.files[place.file].unit_at(place.at) {
            Some(unit) => Reached::Unit((place.file, unit)),
            None => Reached::Top(place.file),
        }));
    }
    found
}

/// What tests call a fixture: its own name, or the one that its decorator gives.
fn fixture_name(fixture: &CodeUnit) -> String {
    let given = fixture.marks.iter().find_map(|mark| {
        let (_, rest) = mark.split_once("name=")?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split(quote).next().filter(|name| !name.is_empty())
    });
    given.unwrap_or(&fixture.name).to_owned()
}
