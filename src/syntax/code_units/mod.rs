//! The functions, types, values and tests of source files, and the names in each: the basis of
//! reverse reach.
//!
//! [`read`] makes a [`UnitFile`] of one parsed file. [`test_forms`] decides which of its units are
//! tests. [`index`] reads all files of a family of languages into one [`CodeIndex`] that is
//! searched by name. [`inheritance`] finds the classes that are derived from others, and
//! [`quoted_paths`] the files that code names by their paths. No server is queried.

mod index;
mod inheritance;
mod quoted_paths;
mod read;
mod test_forms;

pub(crate) use index::{CodeIndex, NameUse, index_code};
pub(crate) use test_forms::{TestRole, is_fixture, is_setup, sets_autouse};

use std::time::Instant;

use super::grammar::Grammar;
use super::resolution::source::ParsedSource;
use crate::text::{Position, Range};
use crate::workspace::WorkspacePath;

/// The kind of a unit of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CodeUnitKind {
    /// A function, a method, or a macro.
    Callable,
    /// A type, or a block that adds members to one.
    Type,
    /// A variable, constant or field outside functions.
    Value,
    /// A module inside a file, or a block that groups tests.
    Group,
    /// A test that is a call with a title (`it('adds', …)`).
    Case,
}

/// A part of a file that is changed, used and run as a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeUnit {
    /// Its name or title.
    pub name: String,
    /// The name qualified by the names of the units around it (`Cart.total`); titles are joined by
    /// a space, as runners do.
    pub qualified: String,
    /// The kind of the unit.
    pub kind: CodeUnitKind,
    /// The position of its name.
    pub selection: Position,
    /// All of it, with its decorators or attributes.
    pub range: Range,
    /// The index of the unit around it, in the same file.
    pub parent: Option<usize>,
    /// The name of the type that has it as a member.
    pub owner: Option<String>,
    /// The names of the types that it is derived from.
    pub bases: Vec<String>,
    /// True if a value has this type by its members alone: a `Protocol` of Python, an interface of
    /// TypeScript.
    pub is_structural: bool,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Its decorators or attributes, as written.
    pub marks: Vec<String>,
    /// The role of the unit for a test runner.
    pub test: TestRole,
    /// True if a test runner identifies the unit by exactly its whole name.
    pub is_exact: bool,
    /// A hash of its own code, without comments and without the units inside it.
    pub own_code: u64,
}

/// One file as its units.
#[derive(Debug, Clone)]
pub(crate) struct UnitFile {
    /// The file.
    pub path: WorkspacePath,
    /// In the order in which they begin, the outer before the inner.
    pub units: Vec<CodeUnit>,
    /// A hash of the code outside all units and imports.
    pub top_code: u64,
    /// The names that imports bind: the local name, and the module with the imported item, as
    /// written.
    pub imports: Vec<(String, String)>,
    /// True if the file is a test by its name, or lies among tests.
    pub among_tests: bool,
    /// True if the file is a test by its own name.
    pub is_named_as_test: bool,
    /// Lines of import statements: the first and the last, 0-based.
    import_lines: Vec<(u32, u32)>,
    /// Lines of the code that runs only if the file is started as a program: the first and the
    /// last, 0-based.
    program_lines: Vec<(u32, u32)>,
    /// Modules as written, with the name that is imported from each, for finding the files.
    modules: Vec<(String, Option<String>)>,
    /// Whole paths of modules that are imported by `import a.b`.
    whole_modules: Vec<String>,
    /// The names in the file.
    words: read::FileWords,
    /// The grammar's key.
    key: &'static str,
}

impl UnitFile {
    /// The innermost unit around `at`.
    pub(crate) fn unit_at(&self, at: Position) -> Option<usize> {
        let around = |unit: &CodeUnit| unit.range.start <= at && at <= unit.range.end;
        self.units.iter().rposition(around)
    }

    /// Returns true if `at` lies in an import statement.
    pub(crate) fn is_import(&self, at: Position) -> bool {
        self.import_lines.iter().any(|(first, last)| (*first..=*last).contains(&at.line))
    }

    /// Returns true if `at` lies in code that runs only if the file is started as a program.
    pub(crate) fn is_program_part(&self, at: Position) -> bool {
        self.program_lines.iter().any(|(first, last)| (*first..=*last).contains(&at.line))
    }

    /// Returns true if tests can be distinguished from other functions in its language.
    pub(crate) fn has_test_forms(&self) -> bool {
        test_forms::has_forms(self.key)
    }

    /// Returns true if the file is a test by its name and none of its tests is recognised.
    fn is_opaque_test(&self) -> bool {
        self.is_named_as_test
            && (!self.has_usable_tests() || self.is_called_tests())
            && test_forms::may_hide_tests(self.key)
            && self.tests_within(None).next().is_none()
    }

    /// The language, as its grammar is called.
    pub(crate) fn language(&self) -> &'static str {
        self.key
    }

    /// Returns true if other code may use a test of this file, because a runner does not collect
    /// the file.
    pub(crate) fn has_usable_tests(&self) -> bool {
        let stem = self.path.file_name().and_then(|name| name.strip_suffix(".py"));
        stem.is_some_and(|stem| !stem.starts_with("test_") && !stem.ends_with("_test"))
    }

    /// Returns true for `tests.py`, which is the name of Django's test files, and elsewhere of a
    /// module about tests (`jinja2/tests.py`).
    pub(crate) fn is_called_tests(&self) -> bool {
        self.path.file_name() == Some("tests.py")
    }

    /// Returns the indices of the tests in the unit `around`; of the whole file if `around` is
    /// `None`.
    pub(crate) fn tests_within(&self, around: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let is_inside = move |mut at: usize| loop {
            match (around, self.units[at].parent) {
                (None, _) => return true,
                (Some(around), _) if at == around => return true,
                (Some(_), Some(parent)) => at = parent,
                (Some(_), None) => return false,
            }
        };
        (0..self.units.len()).filter(move |at| self.units[*at].test == TestRole::Test && is_inside(*at))
    }
}

/// Returns the units of `text`, which is or was the file `path` of `language` (a key of the
/// catalogue). `None` if the language has no grammar here or the text is not parsed by `deadline`.
pub(crate) fn units_in(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    deadline: Instant,
) -> Option<UnitFile> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    Some(read::unit_file(&source))
}

#[cfg(test)]
mod tests;
