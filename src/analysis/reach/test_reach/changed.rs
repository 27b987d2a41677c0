//! The changes of edits as units of code: changed units, removed units, and files whose top level
//! differs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::language_of;
use crate::analysis::context::Context;
use crate::syntax;
use crate::syntax::test_conventions::is_test;
use crate::syntax::{CodeUnit, UnitFile};
use crate::workspace::WorkspacePath;

/// The time limit for parsing one text.
const EDITED_UNITS_PARSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Extensions of files whose text no program reads, unless they are among tests.
const PROSE_ENDINGS: [&str; 4] = ["md", "rst", "adoc", "org"];

/// The key of a unit: its qualified name, and its index among units of that name in the file.
pub(super) type UnitKey = (String, usize);

/// The changed units and files.
#[derive(Debug, Default)]
pub(super) struct ChangedCode {
    /// The languages of the changed files.
    pub(super) languages: BTreeSet<String>,
    /// Present units that are new or different.
    pub(super) units: BTreeSet<(WorkspacePath, UnitKey)>,
    /// Names that an import takes from another place than before.
    pub(super) imported: BTreeSet<(WorkspacePath, String)>,
    /// Removed units.
    pub(super) gone: Vec<GoneUnit>,
    /// New files, and files whose code outside units differs.
    pub(super) tops: BTreeSet<WorkspacePath>,
    /// Removed files, by their former paths.
    pub(super) gone_files: BTreeSet<WorkspacePath>,
    /// Files in no language that can be followed.
    pub(super) unfollowed: BTreeSet<WorkspacePath>,
    /// Notes on changes that are not included.
    pub(super) gaps: Vec<String>,
}

/// A removed unit.
#[derive(Debug)]
pub(super) struct GoneUnit {
    /// The former path of its file.
    pub(super) path: WorkspacePath,
    /// The present path of the file, if it exists.
    pub(super) file: Option<WorkspacePath>,
    /// The unit as it was.
    pub(super) unit: CodeUnit,
    /// The innermost enclosing unit that still exists.
    pub(super) parent: Option<UnitKey>,
    /// True if the file was a test or among tests.
    pub(super) among_tests: bool,
    /// True if the file was a test by its own name.
    pub(super) is_named_as_test: bool,
}

impl ChangedCode {
    /// The changes of `edits`.
    pub(super) fn from_edits(context: &Context, edits: &[EditedText]) -> Self {
        let mut changed = Self::default();
        for edit in edits {
            changed.add(context, edit);
        }
        changed
    }

    /// The present files that have changes.
    pub(super) fn files(&self) -> impl Iterator<Item = &WorkspacePath> {
        let units = self.units.iter().map(|(path, _)| path);
        units.chain(self.imported.iter().map(|(path, _)| path)).chain(&self.tops)
    }

    fn add(&mut self, context: &Context, edit: &EditedText) {
        let text = edit.after.as_deref().or(edit.before.as_deref());
        self.add_edit(language_of(context, &edit.path, text), edit);
    }

    /// Adds the changes of `edit` in a file of `language`, if that is known.
    pub(super) fn add_edit(&mut self, language: Option<String>, edit: &EditedText) {
        let old = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        let read = |path: &WorkspacePath, text: &Option<String>| {
            let until = Instant::now() + EDITED_UNITS_PARSE_TIMEOUT;
            syntax::units_in(language.as_deref()?, path, text.as_deref()?, until)
        };
        let (before, after) = (read(old, &edit.before), read(&edit.path, &edit.after));
        let is_known = |text: &Option<String>, units: &Option<UnitFile>| text.is_none() || units.is_some();
        let (Some(language), true) = (
            &language,
            is_known(&edit.before, &before)
                && is_known(&edit.after, &after)
                && (before.is_some() || after.is_some()),
        ) else {
            let is_prose = edit.path.extension().is_some_and(|ending| PROSE_ENDINGS.contains(&ending));
            if !is_prose || is_test(&edit.path.display().split('/').collect::<Vec<_>>()) {
                self.unfollowed.insert(edit.path.clone());
            }
            return;
        };
        self.languages.insert(language.clone());
        let was = before.as_ref().map(keyed).unwrap_or_default();
        let is = after.as_ref().map(keyed).unwrap_or_default();
        if let Some(before) = &before {
            self.add_gone(before, &is, after.is_some().then_some(&edit.path));
        }
        for (key, unit) in &is {
            if was.get(key).is_none_or(|known| known.own_code != unit.own_code) {
                self.units.insert((edit.path.clone(), key.clone()));
            }
        }
        match (&before, &after) {
            (Some(before), Some(after)) => self.add_top(before, after),
            (None, Some(_)) => drop(self.tops.insert(edit.path.clone())),
            _ => {}
        }
        if before.is_some() && (after.is_none() || *old != edit.path) {
            self.gone_files.insert(old.clone());
        }
    }

    /// Adds the units of `before` that do not exist any more in `file`.
    fn add_gone(
        &mut self,
        before: &UnitFile,
        is: &BTreeMap<UnitKey, &CodeUnit>,
        file: Option<&WorkspacePath>,
    ) {
        let was = keyed(before);
        let keys: BTreeMap<*const CodeUnit, &UnitKey> =
            was.iter().map(|(key, unit)| (std::ptr::from_ref(*unit), key)).collect();
        for (_, unit) in was.iter().filter(|(key, _)| !is.contains_key(key)) {
            let around = |at: &usize| before.units[*at].parent;
            let mut above = std::iter::successors(unit.parent, around);
            let key = |at: usize| keys.get(&std::ptr::from_ref(&before.units[at])).copied();
            self.gone.push(GoneUnit {
                path: before.path.clone(),
                file: file.cloned(),
                unit: (*unit).clone(),
                parent: above.find_map(|at| key(at).filter(|key| is.contains_key(key))).cloned(),
                among_tests: before.among_tests,
                is_named_as_test: before.is_named_as_test,
            });
        }
    }

    fn add_top(&mut self, before: &UnitFile, after: &UnitFile) {
        if before.top_code != after.top_code || before.path != after.path {
            self.tops.insert(after.path.clone());
        }
        let imports = |file: &UnitFile| file.imports.iter().cloned().collect::<BTreeSet<_>>();
        // `import a.b` only binds `a`; the effects of loading `b` have no name.
        let is_dotted = |text: &str| text.split_once(" Whole ").is_some_and(|(_, path)| path.contains('.'));
        for (local, text) in imports(before).symmetric_difference(&imports(after)) {
            if is_dotted(text) {
                self.tops.insert(after.path.clone());
            }
            match local.as_str() {
                "" => drop(self.tops.insert(after.path.clone())),
                _ => drop(self.imported.insert((after.path.clone(), local.clone()))),
            }
        }
    }
}

/// The units of `file` by their keys.
pub(super) fn keyed(file: &UnitFile) -> BTreeMap<UnitKey, &syntax::CodeUnit> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let keyed = file.units.iter().map(|unit| {
        let nth = count.entry(unit.qualified.as_str()).or_default();
        *nth += 1;
        ((unit.qualified.clone(), *nth - 1), unit)
    });
    keyed.collect()
}
