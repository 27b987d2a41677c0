//! Tests that a class inherits from its bases, and modules that a class of tests is imported into:
//! each runs the test once more.

use std::collections::BTreeSet;

use super::links::{Reached, UnitAt};
use crate::syntax;
use crate::syntax::{CodeIndex, CodeUnit, CodeUnitKind, TestRole};

/// The depth to which bases and subclasses are followed.
const MAX_CLASS_DEPTH: usize = 8;

/// The tests of the class `class`, its own and inherited ones, as they run there.
pub(super) fn tests_of_class(index: &CodeIndex, class: UnitAt) -> Vec<Reached> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    let mut level = vec![class];
    let mut seen = BTreeSet::from([class]);
    for _ in 0..MAX_CLASS_DEPTH {
        for at in &level {
            for test in own_tests(index, *at) {
                if names.insert(&index.unit(test).name) {
                    found.push(match *at == class {
                        true => Reached::Unit(test),
                        false => Reached::InheritedTest { file: class.0, class, test },
                    });
                }
            }
        }
        level = level.iter().flat_map(|at| bases(index, *at)).filter(|at| seen.insert(*at)).collect();
    }
    found
}

/// The other places in which the test `test`, a method of a class, runs.
pub(super) fn other_runs(index: &CodeIndex, test: UnitAt) -> Vec<Reached> {
    let Some(class) = index.unit(test).parent.map(|class| (test.0, class)) else { return Vec::new() };
    if index.unit(class).kind != CodeUnitKind::Type {
        return Vec::new();
    }
    let heirs = heirs(index, class).into_iter().filter(|subclass| {
        let own = own_tests(index, *subclass);
        own.iter().all(|other| index.unit(*other).name != index.unit(test).name)
    });
    let heirs: Vec<UnitAt> = heirs.collect();
    let own =
        heirs.iter().map(|subclass| Reached::InheritedTest { file: subclass.0, class: *subclass, test });
    let imported = std::iter::once(&class).chain(&heirs).flat_map(|class| {
        let modules = modules_importing(index, *class);
        modules.into_iter().map(|file| Reached::InheritedTest { file, class: *class, test })
    });
    own.chain(imported).collect()
}

/// The modules of tests that the class `class` is imported into, where a runner finds it once more.
fn modules_importing(index: &CodeIndex, class: UnitAt) -> Vec<usize> {
    let name = &index.unit(class).name;
    let importers = index.importers(class.0).filter(|file| {
        let module = &index.files[*file];
        *file != class.0
            && module.path.file_name().is_some_and(|name| name.starts_with("test"))
            && module.imports.iter().any(|(local, _)| local == name)
    });
    importers.collect()
}

/// The tests of `class` and its subclasses that request the fixture `fixture`, directly or through
/// other fixtures.
pub(super) fn tests_asking_for(index: &CodeIndex, class: UnitAt, fixture: &str) -> Vec<Reached> {
    let mut names = BTreeSet::from([fixture]);
    let fixtures =
        || index.files.iter().flat_map(|file| file.units.iter().filter(|unit| syntax::is_fixture(unit)));
    let asks = |unit: &CodeUnit, names: &BTreeSet<&str>| {
        unit.parameters.iter().any(|parameter| names.contains(parameter.as_str()))
    };
    for _ in 0..MAX_CLASS_DEPTH {
        let more: Vec<&str> =
            fixtures().filter(|unit| asks(unit, &names)).map(|unit| unit.name.as_str()).collect();
        let count = names.len();
        names.extend(more);
        if names.len() == count {
            break;
        }
    }
    let is_wide = fixtures().any(|unit| names.contains(unit.name.as_str()) && syntax::sets_autouse(unit));
    let classes = std::iter::once(class).chain(heirs(index, class));
    let tests = classes.flat_map(|class| {
        let tests = tests_of_class(index, class);
        let again = modules_importing(index, class).into_iter().flat_map({
            let tests = tests.clone();
            move |file| tests.clone().into_iter().filter_map(move |test| in_module(test, file, class))
        });
        tests.into_iter().chain(again.collect::<Vec<_>>())
    });
    let test_of = |reached: &Reached| match reached {
        Reached::Unit(test) | Reached::InheritedTest { test, .. } => Some(index.unit(*test)),
        Reached::Top(_) | Reached::File(_) | Reached::Folder(_) => None,
    };
    tests.filter(|reached| is_wide || test_of(reached).is_some_and(|test| asks(test, &names))).collect()
}

/// A test of `class` as it runs in the module `file`.
fn in_module(reached: Reached, file: usize, class: UnitAt) -> Option<Reached> {
    match reached {
        Reached::Unit(test) | Reached::InheritedTest { test, .. } => {
            Some(Reached::InheritedTest { file, class, test })
        }
        Reached::Top(_) | Reached::File(_) | Reached::Folder(_) => None,
    }
}

fn own_tests(index: &CodeIndex, class: UnitAt) -> Vec<UnitAt> {
    let units = index.files[class.0].units.iter().enumerate();
    let own = units.filter(|(_, unit)| unit.parent == Some(class.1) && unit.test == TestRole::Test);
    own.map(|(at, _)| (class.0, at)).collect()
}

fn bases(index: &CodeIndex, class: UnitAt) -> Vec<UnitAt> {
    let named = index.unit(class).bases.iter().flat_map(|base| index.named(base));
    named.filter(|at| is_seen_from(index, **at, class.0)).copied().collect()
}

/// The subclasses of `class`.
fn heirs(index: &CodeIndex, class: UnitAt) -> BTreeSet<UnitAt> {
    let mut found: BTreeSet<UnitAt> = BTreeSet::new();
    let mut level = vec![class];
    for _ in 0..MAX_CLASS_DEPTH {
        let mut next = Vec::new();
        for base in &level {
            for subclass in index.derived_from(&index.unit(*base).name) {
                let is_meant = index.files[subclass.0].among_tests && is_seen_from(index, *base, subclass.0);
                if is_meant && *subclass != class && found.insert(*subclass) {
                    next.push(*subclass);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    found
}

/// Returns true if the name of the class `class` refers to it in the file with the number `file`.
fn is_seen_from(index: &CodeIndex, class: UnitAt, file: usize) -> bool {
    index.unit(class).kind == CodeUnitKind::Type
        && (class.0 == file || index.importers(class.0).any(|importer| importer == file))
}
