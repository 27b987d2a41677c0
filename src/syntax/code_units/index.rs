//! All units of the files that use each other's code, and the places of each name in them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::super::answer::HintError;
use super::super::language_families;
use super::super::test_conventions::is_test;
use super::{CodeUnit, UnitFile, read, test_forms};
use crate::config::Catalogue;
use crate::syntax::resolution::modules;
use crate::syntax::resolution::modules::Module;
use crate::syntax::resolution::project::{Project, load};
use crate::text::Position;
use crate::workspace::{WalkLimits, Workspace, WorkspacePath};

/// The maximum number of files that are read.
const MAX_INDEXED_FILES: usize = 4_000;
/// The maximum number of recorded uses, 24 bytes each.
const MAX_INDEXED_USES: usize = 4_000_000;
/// The maximum number of files that are listed to find those of the language.
const MAX_LISTED_FILES: usize = 200_000;

/// One occurrence of a name in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// The index of its file in [`CodeIndex::files`].
    pub file: usize,
    /// The place, 0-based, in Unicode scalar values.
    pub at: Position,
    /// True if the name follows a dot or a similar operator.
    pub is_member: bool,
    /// True if a parenthesis follows.
    pub is_call: bool,
    /// True if the name is a whole string.
    pub is_quoted: bool,
    /// True if the name is a string that selects a member of a value (`cart['total']`).
    pub is_key: bool,
    /// True if the name is in the type of a parameter, a variable or a result.
    pub is_type: bool,
}

/// A module as an import names it.
#[derive(Debug)]
struct NamedModule {
    /// The index of the file with the import.
    file: usize,
    /// The words of its path.
    words: Vec<String>,
    /// True if the module is a file or folder of the workspace.
    is_found: bool,
}

/// The units of a workspace in one family of languages.
#[derive(Debug, Default)]
pub(crate) struct CodeIndex {
    /// The files, by path.
    pub files: Vec<UnitFile>,
    /// The reason why files are missing; `None` if all are present.
    pub gap: Option<String>,
    /// The types derived from each name.
    pub(super) derived: HashMap<String, Vec<(usize, usize)>>,
    uses: HashMap<String, Vec<NameUse>>,
    units: HashMap<String, Vec<(usize, usize)>>,
    aliases: HashMap<String, Vec<(usize, String)>>,
    by_path: HashMap<WorkspacePath, usize>,
    /// Imports by the last word of the module as written.
    by_module: HashMap<String, Vec<NamedModule>>,
    /// The files that each file's imports lead to, by the module as written.
    leads: Vec<HashMap<String, Vec<usize>>>,
    /// The endings of the files of the family; empty if all files count.
    pub(super) endings: Vec<String>,
    importers: Vec<BTreeSet<usize>>,
    /// The places that name each file by its path in quotes.
    pub(super) quoting: HashMap<usize, Vec<(usize, Position)>>,
    /// Strings that may be paths, of no file here, with their places.
    pub(super) dangling: Vec<(usize, Position, String)>,
}

impl CodeIndex {
    /// The places of `name` in code, without definitions and imports.
    pub(crate) fn uses(&self, name: &str) -> &[NameUse] {
        self.uses.get(name).map_or(&[], Vec::as_slice)
    }

    /// The units called `name`: file and unit.
    pub(crate) fn named(&self, name: &str) -> &[(usize, usize)] {
        self.units.get(name).map_or(&[], Vec::as_slice)
    }

    /// The other names by which files import something called `name`: file and name there.
    pub(crate) fn aliases(&self, name: &str) -> &[(usize, String)] {
        self.aliases.get(name).map_or(&[], Vec::as_slice)
    }

    /// The index of a file.
    pub(crate) fn file(&self, path: &WorkspacePath) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A unit by file and index.
    pub(crate) fn unit(&self, (file, unit): (usize, usize)) -> &CodeUnit {
        &self.files[file].units[unit]
    }

    /// The files whose imports lead to the file number `file`.
    pub(crate) fn importers(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        self.importers.get(file).into_iter().flatten().copied()
    }

    /// Returns true if the ending of `path` belongs to a language of this family, or if the family
    /// has no known endings.
    pub(crate) fn is_of_family(&self, path: &WorkspacePath) -> bool {
        let ending = path.extension().unwrap_or_default();
        self.endings.is_empty() || self.endings.iter().any(|known| known == ending)
    }

    /// Returns the names by which the file number `importer` knows the symbol `name` of the file
    /// number `file`, if it imports the symbol from there.
    pub(crate) fn locals_of(&self, importer: usize, file: usize, name: &str) -> BTreeSet<String> {
        let known = &self.files[importer];
        let imports = known.imports.iter().zip(&known.modules);
        let from_there = imports.filter(|(_, (module, _))| self.is_led(importer, module, file));
        let locals = from_there.filter_map(|((local, text), (_, named))| match named {
            Some(named) => (named == name).then_some(local.as_str()),
            None if local.is_empty() => Some(name),
            None => (name == "default" && text.ends_with(" Default")).then_some(local.as_str()),
        });
        locals.map(str::to_owned).collect()
    }

    /// Returns the names by which the file number `importer` knows all exports of the file number
    /// `file` together.
    pub(crate) fn whole_locals(&self, importer: usize, file: usize) -> impl Iterator<Item = &str> {
        let known = &self.files[importer];
        let imports = known.imports.iter().zip(&known.modules);
        imports.filter_map(move |((local, _), (module, named))| {
            let is_whole = named.is_none() && !local.is_empty() && self.is_led(importer, module, file);
            is_whole.then_some(local.as_str())
        })
    }

    /// Returns true if the file number `file` is treated as one test.
    ///
    /// None of its tests is recognised, and either it is a test by its name, or it is a script
    /// among tests that no other file uses.
    pub(crate) fn is_opaque_test(&self, file: usize) -> bool {
        let known = &self.files[file];
        let is_own_program = || {
            known.among_tests
                && test_forms::runs_all_files(known.key)
                && known.tests_within(None).next().is_none()
                && self.importers(file).next().is_none()
                && self.quoting(file).is_empty()
        };
        known.is_opaque_test() || is_own_program()
    }

    /// Returns true if the file number `importer` binds the module that is the file number `file`
    /// to a name. A dot behind the name then selects a member of the module.
    pub(crate) fn has_as_module(&self, importer: usize, file: usize) -> bool {
        let known = &self.files[importer];
        let mut modules = known.modules.iter();
        modules.any(|(module, named)| match named {
            Some(name) => self.is_led(importer, &inner_module(module, name), file),
            None => self.is_led(importer, module, file),
        }) || known.whole_modules.iter().any(|module| self.is_led(importer, module, file))
    }

    fn is_led(&self, importer: usize, module: &str, file: usize) -> bool {
        self.leads[importer].get(module).is_some_and(|files| files.contains(&file))
    }

    /// Returns the files with an import that may have meant `path`, which no longer exists.
    pub(crate) fn importers_of_gone(&self, path: &WorkspacePath) -> BTreeSet<usize> {
        let shown = path.display();
        let mut words: Vec<&str> = shown.split('/').collect();
        if let Some(last) = words.last_mut() {
            *last = last.split('.').next().unwrap_or(last);
        }
        // The name of a package or folder stands for these files.
        if words.last().is_some_and(|last| matches!(*last, "__init__" | "index" | "mod")) {
            words.pop();
        }
        let named = words.last().and_then(|last| self.by_module.get(*last)).into_iter().flatten();
        let meant = named.filter(|module| {
            !module.is_found || words.ends_with(&module.words.iter().map(String::as_str).collect::<Vec<_>>())
        });
        meant.map(|module| module.file).collect()
    }

    /// Returns the unit whose name is at `at`.
    pub(crate) fn unit_defined_at(&self, file: usize, at: Position) -> Option<(usize, usize)> {
        let units = &self.files.get(file)?.units;
        let own = units.iter().position(|unit| unit.selection == at);
        own.map(|unit| (file, unit))
    }
}

/// Reads all files of the family of `language` until `deadline`.
///
/// # Errors
/// [`HintError`] is reserved for questions that can fail as a whole; an unreadable file is no
/// source.
pub(crate) fn index_code(
    workspace: &Workspace,
    catalogue: &Catalogue,
    language: &str,
    deadline: Instant,
) -> Result<CodeIndex, HintError> {
    let endings = language_families::extensions(catalogue, language);
    let limits = WalkLimits { max_files: MAX_LISTED_FILES, deadline };
    let walk = workspace.files(&WorkspacePath::root(), &limits);
    let mut paths: Vec<WorkspacePath> = walk.files;
    let family = language_families::related_languages(language);
    paths.retain(|path| {
        let named = match Instant::now() < deadline {
            true => catalogue.language_of_file(workspace, path),
            false => catalogue.language_of(&path.name_lossy(), None),
        };
        named.is_some_and(|key| family.contains(&key))
            && path
                .extension()
                .is_none_or(|ending| endings.is_empty() || endings.iter().any(|known| known == ending))
    });
    let mut gap = walk.truncated.then(|| "the workspace has too many files to list all".to_owned());
    if paths.len() > MAX_INDEXED_FILES {
        gap = Some(format!("of {} files only {MAX_INDEXED_FILES} were read", paths.len()));
        // Tests come first, because the reach ends there.
        paths.sort_by_key(|path| {
            let path = path.display();
            !is_test(&path.split('/').collect::<Vec<_>>())
        });
        paths.truncate(MAX_INDEXED_FILES);
        paths.sort();
    }
    let files = read_all(workspace, catalogue, &paths, deadline);
    let unread = paths.len() - files.len();
    if unread > 0 {
        let is_read: HashSet<&WorkspacePath> = files.iter().map(|file| &file.path).collect();
        let example = paths.iter().find(|path| !is_read.contains(path)).map(WorkspacePath::display);
        let example = example.unwrap_or_default();
        gap = gap.or_else(|| Some(format!("uses are unknown in {unread} files, such as {example}")));
    }
    if Instant::now() >= deadline {
        gap = Some(format!("the time limit was reached after {} of {} files", files.len(), paths.len()));
    }
    let mut index = CodeIndex { gap, endings, ..CodeIndex::default() };
    index.add_files(files);
    index.link_bases();
    index.link_imports(&Project::new(workspace, catalogue, deadline));
    Ok(index)
}

/// Reads `paths` with all processors, in their order.
fn read_all(
    workspace: &Workspace,
    catalogue: &Catalogue,
    paths: &[WorkspacePath],
    deadline: Instant,
) -> Vec<UnitFile> {
    let next = AtomicUsize::new(0);
    let read: Mutex<BTreeMap<usize, UnitFile>> = Mutex::default();
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = paths.get(at).filter(|_| Instant::now() < deadline) else { break };
        if let Some(source) = load(workspace, catalogue, path, deadline) {
            let file = read::unit_file(&source);
            read.lock().insert(at, file);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(paths.len());
    std::thread::scope(|scope| {
        // This thread does its share, and all of it if the system gives no other.
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    read.into_inner().into_values().collect()
}

impl CodeIndex {
    fn add_files(&mut self, files: Vec<UnitFile>) {
        let mut count = 0;
        let mut quoted = Vec::with_capacity(files.len());
        for mut file in files {
            let number = self.files.len();
            let words = std::mem::take(&mut file.words);
            count += words.uses.len();
            if count > MAX_INDEXED_USES {
                self.gap
                    .get_or_insert_with(|| "the workspace has too much code to keep in memory".to_owned());
                break;
            }
            quoted.push(words.paths);
            let mut lists: Vec<Vec<NameUse>> = vec![Vec::new(); words.names.len()];
            for one in words.uses {
                lists[one.name as usize].push(NameUse {
                    file: number,
                    at: one.at,
                    is_member: one.is_member,
                    is_call: one.is_call,
                    is_quoted: one.is_quoted,
                    is_key: one.is_key,
                    is_type: one.is_type,
                });
            }
            for (name, mut list) in words.names.into_iter().zip(lists) {
                self.uses.entry(name).or_default().append(&mut list);
            }
            for (at, unit) in file.units.iter().enumerate() {
                self.units.entry(unit.name.clone()).or_default().push((number, at));
            }
            let imported = file.imports.iter().zip(&file.modules);
            for ((local, _), (_, name)) in imported {
                if let Some(name) = name.as_ref().filter(|name| *name != local && !local.is_empty()) {
                    self.aliases.entry(name.clone()).or_default().push((number, local.clone()));
                }
            }
            self.by_path.insert(file.path.clone(), number);
            self.files.push(file);
        }
        self.link_quoted_paths(&quoted);
    }

    /// Finds which files each file imports.
    fn link_imports(&mut self, project: &Project<'_>) {
        let mut importers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.files.len()];
        let mut known: HashMap<(Option<WorkspacePath>, String), Option<Module>> = HashMap::new();
        let mut by_module: HashMap<String, Vec<NamedModule>> = HashMap::new();
        let mut leads: Vec<HashMap<String, Vec<usize>>> = vec![HashMap::new(); self.files.len()];
        for (number, file) in self.files.iter().enumerate() {
            let mut find = |module: &str| {
                // Modules are searched for from the folder of the file.
                let key = (file.path.parent(), module.to_owned());
                let resolve = || modules::find(project, file.key, &file.path, module);
                known.entry(key).or_insert_with(resolve).clone()
            };
            let mut lead = |module: &str| {
                let found = find(module);
                let words = module_words(file.key, module);
                if let Some(last) = words.last() {
                    let named = NamedModule { file: number, is_found: found.is_some(), words: words.clone() };
                    by_module.entry(last.clone()).or_default().push(named);
                }
                let targets: Vec<usize> = found.iter().flat_map(|module| self.files_of(module)).collect();
                for target in &targets {
                    importers[*target].insert(number);
                }
                leads[number].insert(module.to_owned(), targets);
            };
            for (module, name) in &file.modules {
                lead(module);
                if let Some(name) = name.as_ref().filter(|_| file.key == "python") {
                    lead(&inner_module(module, name));
                }
            }
            file.whole_modules.iter().for_each(|module| lead(module));
            if project.is_late() {
                self.gap.get_or_insert_with(|| {
                    "the time limit was reached before all imports were followed".to_owned()
                });
                break;
            }
        }
        self.importers = importers;
        self.leads = leads;
        self.by_module = by_module;
    }

    fn files_of(&self, module: &Module) -> Vec<usize> {
        match module {
            Module::File(path) => self.file(path).into_iter().collect(),
            Module::Folder(folder) => {
                let is_in = |file: &UnitFile| file.path.parent().as_ref() == Some(folder);
                (0..self.files.len()).filter(|at| is_in(&self.files[*at])).collect()
            }
        }
    }
}

/// Returns the module that Python's `from module import name` binds, if `name` is one.
fn inner_module(module: &str, name: &str) -> String {
    let dot = if module.ends_with('.') { "" } else { "." };
    format!("{module}{dot}{name}")
}

/// Returns the words of a module as written in the language `key`, without the prefix that only
/// selects the start.
fn module_words(key: &str, module: &str) -> Vec<String> {
    let is_dotted = matches!(key, "python" | "java" | "csharp");
    let parts = module.split(|letter| match letter {
        '/' | ':' | '\\' => true,
        letter => is_dotted && letter == '.',
    });
    let words = parts.filter(|part| !matches!(*part, "" | "." | ".." | "crate" | "self" | "super"));
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    if let Some(last) = words.last_mut().filter(|_| !is_dotted) {
        // `./pricing.js` may be written for `pricing.ts`.
        last.truncate(last.find('.').unwrap_or(last.len()));
    }
    words
}
