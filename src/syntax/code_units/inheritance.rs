//! Classes by their bases, and test classes that inherit this role from a base in another file.

use std::collections::HashSet;

use super::test_forms;
use super::{CodeIndex, CodeUnitKind, TestRole};

impl CodeIndex {
    /// Returns the types that name `base` as a base: file and unit.
    pub(crate) fn derived_from(&self, base: &str) -> &[(usize, usize)] {
        self.derived.get(base).map_or(&[], Vec::as_slice)
    }

    /// Records the bases of each type, by their names alone.
    pub(super) fn link_bases(&mut self) {
        for (number, file) in self.files.iter().enumerate() {
            for (at, unit) in file.units.iter().enumerate() {
                for base in &unit.bases {
                    self.derived.entry(base.clone()).or_default().push((number, at));
                }
            }
        }
        self.mark_derived_tests();
    }

    /// Gives classes of Python that are derived from test classes, and lie among tests, the role of
    /// these.
    fn mark_derived_tests(&mut self) {
        let is_python = |file: usize| self.files[file].language() == "python";
        let numbered = (0..self.files.len()).filter(|file| is_python(*file));
        let known = numbered.flat_map(|file| self.files[file].units.iter());
        let mut waiting: Vec<String> =
            known.filter(|unit| test_forms::is_test_class(unit)).map(|unit| unit.name.clone()).collect();
        let mut seen: HashSet<String> = waiting.iter().cloned().collect();
        let mut found: Vec<(usize, usize)> = Vec::new();
        while let Some(base) = waiting.pop() {
            for at in self.derived_from(&base).iter().filter(|(file, _)| is_python(*file)) {
                found.push(*at);
                let name = &self.unit(*at).name;
                if seen.insert(name.clone()) {
                    waiting.push(name.clone());
                }
            }
        }
        for (file, class) in found {
            let file = &mut self.files[file];
            if !file.among_tests || file.path.file_name() == Some("conftest.py") {
                continue;
            }
            if file.units[class].kind == CodeUnitKind::Type {
                file.units[class].test = TestRole::Group;
            }
            let own = file.units.iter_mut().filter(|unit| unit.parent == Some(class));
            own.filter(|unit| test_forms::is_test_function(unit)).for_each(|unit| unit.test = TestRole::Test);
        }
    }
}
