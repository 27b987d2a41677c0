//! Resolution of a name through scopes and imports, across the files of the workspace.

use std::cell::Cell;
use std::sync::Arc;

use super::definition::{DefinitionRole, ScopeKind, SourceDefinition};
use super::imports::ImportItem;
use super::modules::{self, Module};
use super::project::Project;
use super::source::ParsedSource;
use crate::workspace::WorkspacePath;

/// The maximum number of steps of one question, and their maximum depth.
const MAX_RESOLUTION_STEPS: u32 = 4_000;
const MAX_RESOLUTION_DEPTH: u32 = 24;

/// The steps that the resolution of a name may take, each stage beyond the one before. A question
/// takes all of them; the benchmark of the ranking measures the value of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResolutionStage {
    /// No resolution: definitions are ranked by their names.
    Names,
    /// The scopes of the file.
    Scopes,
    /// Imports, and the definitions of modules.
    Imports,
    /// Members of types, and the types of values.
    Members,
}

/// The target that a name resolves to.
#[derive(Clone)]
pub(crate) enum ResolutionTarget {
    /// A definition of a file, by its index.
    Definition(Arc<ParsedSource>, usize),
    /// A file as a module.
    File(Arc<ParsedSource>),
    /// A folder as a module.
    Folder(WorkspacePath),
}

impl ResolutionTarget {
    /// Returns true if the target is an import, which only names a definition elsewhere.
    pub(crate) fn is_import(&self) -> bool {
        self.definition().is_some_and(|found| matches!(found.role, DefinitionRole::Import(_)))
    }

    /// Returns the definition, if the target is one.
    pub(crate) fn definition(&self) -> Option<&SourceDefinition> {
        match self {
            Self::Definition(source, index) => source.definitions.get(*index),
            _ => None,
        }
    }
}

/// Follows names within one question.
pub(crate) struct Resolver<'a> {
    pub(crate) project: &'a Project<'a>,
    last: ResolutionStage,
    steps: Cell<u32>,
    depth: Cell<u32>,
}

impl<'a> Resolver<'a> {
    /// A resolver over the files of `project`.
    pub(crate) fn new(project: &'a Project<'a>) -> Self {
        Self::up_to(ResolutionStage::Members, project)
    }

    /// Creates a resolver that takes no step beyond the stage `last`.
    pub(super) fn up_to(last: ResolutionStage, project: &'a Project<'a>) -> Self {
        Self { project, last, steps: Cell::new(0), depth: Cell::new(0) }
    }

    /// Runs `step`, which belongs to `stage`, unless the question has exceeded its steps or depth.
    pub(super) fn with_step_limit(
        &self,
        stage: ResolutionStage,
        step: impl FnOnce() -> Vec<ResolutionTarget>,
    ) -> Vec<ResolutionTarget> {
        self.steps.set(self.steps.get() + 1);
        if stage > self.last
            || self.steps.get() > MAX_RESOLUTION_STEPS
            || self.depth.get() >= MAX_RESOLUTION_DEPTH
            || self.project.is_late()
        {
            return Vec::new();
        }
        self.depth.set(self.depth.get() + 1);
        let found = step();
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// The definitions of `name` in `source` that are known at a byte, those of the innermost
    /// scope.
    pub(crate) fn visible_definitions(&self, source: &ParsedSource, name: &str, at: usize) -> Vec<usize> {
        let innermost = source.scope_at(at);
        let is_visible = |&index: &usize| {
            let definition = &source.definitions[index];
            let scope = &source.scopes[definition.scope];
            let encloses = scope.span.start <= at && at < scope.span.end;
            let is_member = definition.container.is_some();
            let is_reachable = match scope.kind {
                ScopeKind::Class => {
                    source.grammar.implicit_members || innermost == definition.scope || !is_member
                }
                _ => !is_member || source.grammar.implicit_members,
            };
            encloses && is_reachable && definition.role != DefinitionRole::Extension
        };
        let mut found: Vec<usize> = source.definitions_named(name).filter(is_visible).collect();
        let size = |index: usize| source.scopes[source.definitions[index].scope].span.len();
        let Some(smallest) = found.iter().map(|&index| size(index)).min() else { return found };
        found.retain(|&index| size(index) == smallest);
        let is_local = source.scopes[source.definitions[found[0]].scope].kind == ScopeKind::Body;
        if source.grammar.shadowing && (is_local || source.grammar.key == "shell") {
            // The last one before the place hides the others, but does not know itself inside its
            // own value.
            let starts = |index: usize| source.definitions[index].selection.start;
            let is_before = |index: usize| {
                let definition = &source.definitions[index];
                let own = definition.value_span.as_ref().is_some_and(|value| value.contains(&at));
                starts(index) <= at && (!own || definition.selection.contains(&at) || definition.is_part)
            };
            if let Some(last) =
                found.iter().copied().filter(|&index| is_before(index)).max_by_key(|&index| starts(index))
            {
                return vec![last];
            }
        }
        Self::sort_alternatives(source, &mut found);
        found
    }

    /// Sorts the body before its prototype; of several C macros or functions the last, which is in
    /// the branch of `#else`.
    pub(super) fn sort_alternatives(source: &ParsedSource, found: &mut [usize]) {
        let is_alternative = |&index: &usize| {
            let role = source.definitions[index].role;
            matches!(role, DefinitionRole::Macro | DefinitionRole::Function | DefinitionRole::Prototype)
        };
        if matches!(source.grammar.key, "c" | "cpp") && found.iter().all(is_alternative) {
            found.reverse();
        }
        found.sort_by_key(|&index| source.definitions[index].role == DefinitionRole::Prototype);
    }

    /// Resolves the plain `name` at a byte of `source`.
    pub(crate) fn resolve_name(
        &self,
        source: &Arc<ParsedSource>,
        name: &str,
        at: usize,
    ) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Scopes, || {
            if let Some(found) = self.resolve_keyword(source, name, at) {
                return found;
            }
            let visible = self.visible_definitions(source, name, at);
            if !visible.is_empty() {
                return self.follow_imports(source, visible);
            }
            if source.grammar.implicit_members
                && let Some(class) = source.class_at(at)
            {
                let found = self.resolve_member(&ResolutionTarget::Definition(source.clone(), class), name);
                if !found.is_empty() {
                    return found;
                }
            }
            let found = self.resolve_wildcard_imports(source, name);
            if found.is_empty() { self.resolve_in_package(source, name) } else { found }
        })
    }

    /// Replaces the imports among `found` by their targets; an import from outside stays.
    pub(super) fn follow_imports(
        &self,
        source: &Arc<ParsedSource>,
        found: Vec<usize>,
    ) -> Vec<ResolutionTarget> {
        let mut targets = Vec::new();
        for index in found {
            let own = || ResolutionTarget::Definition(source.clone(), index);
            match source.definitions[index].role {
                DefinitionRole::Import(import) => {
                    let behind = self.resolve_import(source, import);
                    if behind.is_empty() { targets.push(own()) } else { targets.extend(behind) }
                }
                _ => targets.push(own()),
            }
        }
        // Targets in the workspace come before imports from outside.
        targets.sort_by_key(ResolutionTarget::is_import);
        targets
    }

    /// Resolves `self`, `this`, `crate` and similar keywords.
    fn resolve_keyword(
        &self,
        source: &Arc<ParsedSource>,
        name: &str,
        at: usize,
    ) -> Option<Vec<ResolutionTarget>> {
        let file = |path: Option<WorkspacePath>| {
            path.and_then(|path| self.project.source(&path))
                .map(ResolutionTarget::File)
                .into_iter()
                .collect::<Vec<_>>()
        };
        if source.grammar.key == "rust" {
            match name {
                "crate" => return Some(file(modules::rust_root(self.project, &source.path))),
                "super" => return Some(self.outer_module(source, at)),
                "self" if self.visible_definitions(source, name, at).is_empty() => {
                    return Some(self.own_module(source, at));
                }
                _ => {}
            }
        }
        if source.grammar.selves.contains(&name) || name == "super" {
            // If it is a parameter (Python, Rust), the parameter is meant; its type is the class.
            if !self.visible_definitions(source, name, at).is_empty() {
                return None;
            }
            if name == "this" && source.class_at(at).is_none() {
                let found = self.receiver_at(source, at);
                if !found.is_empty() {
                    return Some(found);
                }
            }
            let class = source.class_at(at).or_else(|| Self::constructor_at(source, at))?;
            let class = ResolutionTarget::Definition(source.clone(), class);
            return Some(if matches!(name, "super" | "parent" | "base") {
                self.base_types(&class)
            } else {
                vec![class]
            });
        }
        None
    }

    /// Returns the outermost function around a byte: outside a class, `this` is the object that it
    /// constructs.
    fn constructor_at(source: &ParsedSource, at: usize) -> Option<usize> {
        let is_around = |definition: &SourceDefinition| {
            definition.role == DefinitionRole::Function
                && definition.span.contains(&at)
                && source.grammar.selves == ["this"]
        };
        source.definitions.iter().position(is_around)
    }

    /// The inline modules around a byte of a Rust file, innermost last.
    fn inline_modules(source: &ParsedSource, at: usize) -> Vec<usize> {
        (0..source.definitions.len())
            .filter(|&index| {
                source.definitions[index].role == DefinitionRole::Module
                    && source.definitions[index].span.contains(&at)
            })
            .collect()
    }

    fn own_module(&self, source: &Arc<ParsedSource>, at: usize) -> Vec<ResolutionTarget> {
        match Self::inline_modules(source, at).last() {
            Some(&index) => vec![ResolutionTarget::Definition(source.clone(), index)],
            None => vec![ResolutionTarget::File(source.clone())],
        }
    }

    fn outer_module(&self, source: &Arc<ParsedSource>, at: usize) -> Vec<ResolutionTarget> {
        let inline = Self::inline_modules(source, at);
        match inline.len() {
            0 => modules::rust_parent(self.project, &source.path)
                .and_then(|path| self.project.source(&path))
                .map(ResolutionTarget::File)
                .into_iter()
                .collect(),
            1 => vec![ResolutionTarget::File(source.clone())],
            more => vec![ResolutionTarget::Definition(source.clone(), inline[more - 2])],
        }
    }

    /// Resolves the import number `index` of `source`; empty if the module is outside the
    /// workspace.
    pub(crate) fn resolve_import(&self, source: &Arc<ParsedSource>, index: usize) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Imports, || {
            let Some(import) = source.imports.get(index) else { return Vec::new() };
            if import.item == ImportItem::Child {
                return modules::rust_child(self.project, &source.path, &import.local)
                    .and_then(|path| self.project.source(&path))
                    .map(ResolutionTarget::File)
                    .into_iter()
                    .collect();
            }
            let modules = self.resolve_module(source, &import.module, import.selection.start);
            match &import.item {
                ImportItem::Named(name) if modules.is_empty() => self.in_own_file(source, name),
                ImportItem::Named(name) => self.of_modules(&modules, name),
                ImportItem::Default => {
                    let found = self.of_modules(&modules, "default");
                    if found.is_empty() { self.of_modules(&modules, &import.local) } else { found }
                }
                _ => modules,
            }
        })
    }

    /// Finds a class of Java or PHP in the file with its name, if the folders do not follow the
    /// package.
    fn in_own_file(&self, source: &ParsedSource, name: &str) -> Vec<ResolutionTarget> {
        let (true, Some(extension)) = (matches!(source.grammar.key, "java" | "php"), source.path.extension())
        else {
            return Vec::new();
        };
        let files = self.project.files_ending_in(&format!("{name}.{extension}"));
        let found =
            files.iter().filter_map(|path| self.project.source(path)).map(|file| self.of_file(&file, name));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    pub(crate) fn of_modules(&self, modules: &[ResolutionTarget], name: &str) -> Vec<ResolutionTarget> {
        modules
            .iter()
            .map(|module| self.resolve_member(module, name))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// The module written `spec` at a byte of `source`.
    pub(crate) fn resolve_module(
        &self,
        source: &Arc<ParsedSource>,
        spec: &str,
        at: usize,
    ) -> Vec<ResolutionTarget> {
        if source.grammar.key == "rust" {
            return self.rust_path(source, spec, at);
        }
        if self.last < ResolutionStage::Imports {
            return Vec::new();
        }
        match modules::find(self.project, source.grammar.key, &source.path, spec) {
            Some(Module::File(path)) => {
                self.project.source(&path).map(ResolutionTarget::File).into_iter().collect()
            }
            Some(Module::Folder(folder)) => vec![ResolutionTarget::Folder(folder)],
            None => Vec::new(),
        }
    }

    fn rust_path(&self, source: &Arc<ParsedSource>, spec: &str, at: usize) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Imports, || {
            let mut parts = spec.trim_start_matches("::").split("::");
            let Some(first) = parts.next() else { return Vec::new() };
            let mut targets = match self.resolve_keyword(source, first, at) {
                Some(found) => found,
                None => self.rust_first(source, first, at),
            };
            for part in parts {
                targets = if part == "super" {
                    targets
                        .iter()
                        .flat_map(|target| match target {
                            ResolutionTarget::File(file) => self.outer_module(file, usize::MAX),
                            ResolutionTarget::Definition(file, index) => {
                                self.outer_module(file, file.definitions[*index].selection.start)
                            }
                            ResolutionTarget::Folder(_) => Vec::new(),
                        })
                        .collect()
                } else {
                    self.of_modules(&targets, part)
                };
            }
            targets
        })
    }

    /// The first name of a path: a name known here, or a crate.
    fn rust_first(&self, source: &Arc<ParsedSource>, name: &str, at: usize) -> Vec<ResolutionTarget> {
        let own: Vec<usize> = self
            .visible_definitions(source, name, at)
            .into_iter()
            .filter(|&index| match source.definitions[index].role {
                // `use name;` does not explain itself.
                DefinitionRole::Import(import) => !source.imports[import].span.contains(&at),
                _ => true,
            })
            .collect();
        if !own.is_empty() {
            return self.follow_imports(source, own);
        }
        self.crate_named(name)
    }

    /// The root of the workspace's own crate called `name`.
    pub(super) fn crate_named(&self, name: &str) -> Vec<ResolutionTarget> {
        let found = self.project.crates().iter().find(|(known, _)| known == name);
        found
            .and_then(|(_, folder)| modules::rust_root_at(self.project, folder))
            .and_then(|path| self.project.source(&path))
            .map(ResolutionTarget::File)
            .into_iter()
            .collect()
    }

    pub(super) fn resolve_wildcard_imports(
        &self,
        source: &Arc<ParsedSource>,
        name: &str,
    ) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Imports, || {
            // A file that only brings the name in itself does not end the search.
            let mut brought_in = Vec::new();
            let wildcards = source.imports.iter().filter(|import| import.item == ImportItem::Wildcard);
            for import in wildcards {
                let modules = self.resolve_module(source, &import.module, import.selection.start);
                for module in modules {
                    if matches!(&module, ResolutionTarget::File(file) if file.path == source.path) {
                        continue;
                    }
                    let found = self.resolve_member(&module, name);
                    if found.iter().any(|target| !target.is_import()) {
                        return found;
                    }
                    if brought_in.is_empty() {
                        brought_in = found;
                    }
                }
            }
            brought_in
        })
    }

    /// Resolves a name among the files of the same folder, if the folder is one package; for Rust,
    /// among the workspace's crates.
    fn resolve_in_package(&self, source: &Arc<ParsedSource>, name: &str) -> Vec<ResolutionTarget> {
        match source.grammar.key {
            "go" | "java" | "php" => source
                .path
                .parent()
                .map_or_else(Vec::new, |folder| self.resolve_member(&ResolutionTarget::Folder(folder), name)),
            "rust" => self.with_step_limit(ResolutionStage::Imports, || self.crate_named(name)),
            _ => Vec::new(),
        }
    }
}
