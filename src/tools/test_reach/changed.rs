//! What edits change, as units of code: those whose own code differs, those that are gone, and files whose top level differs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::hints::{self, UnitFile};
use crate::tools::context::Context;
use crate::tools::impact::{EditedText, language_of};
use crate::workspace::WorkspacePath;

/// The time limit for parsing one text.
const EDITED_UNITS_PARSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Endings of files whose text no program reads.
const PROSE_ENDINGS: [&str; 5] = ["md", "rst", "txt", "adoc", "org"];

/// A unit by its file, its whole name, and which of several of that name it is.
pub(super) type UnitKey = (String, usize);

/// What changed.
#[derive(Debug, Default)]
pub(super) struct ChangedCode {
    /// The languages, by the files that changed.
    pub(super) languages: BTreeSet<String>,
    /// Units that are there now, and are new or different.
    pub(super) units: BTreeSet<(WorkspacePath, UnitKey)>,
    /// Names that an import brings in from elsewhere than before.
    pub(super) imported: BTreeSet<(WorkspacePath, String)>,
    /// Units that are gone: the file they were in, the whole name, and the name alone.
    pub(super) gone: BTreeSet<(WorkspacePath, String, String)>,
    /// Files whose code outside units differs, or which came.
    pub(super) tops: BTreeSet<WorkspacePath>,
    /// Files that are gone, by the names they had.
    pub(super) gone_files: BTreeSet<WorkspacePath>,
    /// Files in no language that can be followed.
    pub(super) unfollowed: BTreeSet<WorkspacePath>,
    /// What else of the change is not here, in sentences.
    pub(super) gaps: Vec<String>,
}

impl ChangedCode {
    /// What `edits` change.
    pub(super) fn from_edits(context: &Context, edits: &[EditedText]) -> Self {
        let mut changed = Self::default();
        for edit in edits {
            changed.add(context, edit);
        }
        changed
    }

    fn add(&mut self, context: &Context, edit: &EditedText) {
        let old = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        let text = edit.after.as_deref().or(edit.before.as_deref());
        let language = language_of(context, &edit.path, text);
        let read = |path: &WorkspacePath, text: &Option<String>| {
            let until = Instant::now() + EDITED_UNITS_PARSE_TIMEOUT;
            hints::units_in(language.as_deref()?, path, text.as_deref()?, until)
        };
        let (before, after) = (read(old, &edit.before), read(&edit.path, &edit.after));
        let is_known = |text: &Option<String>, units: &Option<UnitFile>| text.is_none() || units.is_some();
        let (Some(language), true) = (
            &language,
            is_known(&edit.before, &before)
                && is_known(&edit.after, &after)
                && (before.is_some() || after.is_some()),
        ) else {
            if !edit.path.extension().is_some_and(|ending| PROSE_ENDINGS.contains(&ending)) {
                self.unfollowed.insert(edit.path.clone());
            }
            return;
        };
        self.languages.insert(language.clone());
        let was = before.as_ref().map(keyed).unwrap_or_default();
        let is = after.as_ref().map(keyed).unwrap_or_default();
        for (key, unit) in &was {
            if !is.contains_key(key) {
                self.gone.insert((old.clone(), key.0.clone(), unit.name.clone()));
            }
        }
        for (key, unit) in &is {
            if was.get(key).is_none_or(|known| known.own_code != unit.own_code) {
                self.units.insert((edit.path.clone(), key.clone()));
            }
        }
        match (&before, &after) {
            (Some(before), Some(after)) => self.add_top(before, after),
            (None, Some(_)) => drop(self.tops.insert(edit.path.clone())),
            (Some(_), None) => drop(self.gone_files.insert(old.clone())),
            (None, None) => {}
        }
    }

    fn add_top(&mut self, before: &UnitFile, after: &UnitFile) {
        if before.top_code != after.top_code || before.path != after.path {
            self.tops.insert(after.path.clone());
        }
        let imports = |file: &UnitFile| file.imports.iter().cloned().collect::<BTreeSet<_>>();
        for (local, _) in imports(before).symmetric_difference(&imports(after)) {
            match local.as_str() {
                "" => drop(self.tops.insert(after.path.clone())),
                _ => drop(self.imported.insert((after.path.clone(), local.clone()))),
            }
        }
    }
}

/// The units of `file` by their keys.
pub(super) fn keyed(file: &UnitFile) -> BTreeMap<UnitKey, &hints::CodeUnit> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let keyed = file.units.iter().map(|unit| {
        let nth = count.entry(unit.qualified.as_str()).or_default();
        *nth += 1;
        ((unit.qualified.clone(), *nth - 1), unit)
    });
    keyed.collect()
}
