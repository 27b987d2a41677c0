//! What a name means: scopes, imports and members, followed through the files of the workspace.

use std::cell::Cell;
use std::sync::Arc;

use tree_sitter::Node;

use super::extract::head;
use super::imports::Item;
use super::modules::{self, Module};
use super::project::Project;
use super::source::{Definition, Role, ScopeKind, Source};
use crate::workspace::WorkspacePath;

/// How many steps one question may take in all, and how deep.
const MOST_STEPS: u32 = 4_000;
const DEEPEST: u32 = 24;

/// What a name leads to.
#[derive(Clone)]
pub enum Target {
    /// A definition of a file, by its index.
    Definition(Arc<Source>, usize),
    /// A file as a module.
    File(Arc<Source>),
    /// A folder as a module.
    Folder(WorkspacePath),
}

impl Target {
    /// The definition, where it is one.
    pub fn definition(&self) -> Option<&Definition> {
        match self {
            Self::Definition(source, index) => source.definitions.get(*index),
            _ => None,
        }
    }
}

/// Follows names within one question.
pub struct Resolver<'a> {
    pub project: &'a Project<'a>,
    steps: Cell<u32>,
    depth: Cell<u32>,
}

impl<'a> Resolver<'a> {
    /// A resolver over the files of `project`.
    pub fn new(project: &'a Project<'a>) -> Self {
        Self { project, steps: Cell::new(0), depth: Cell::new(0) }
    }

    /// Runs `step` unless the question has gone on for too long or too deep.
    pub(super) fn guarded(&self, step: impl FnOnce() -> Vec<Target>) -> Vec<Target> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MOST_STEPS || self.depth.get() >= DEEPEST || self.project.is_late() {
            return Vec::new();
        }
        self.depth.set(self.depth.get() + 1);
        let found = step();
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// The definitions of `name` in `source` that are known at a byte, those of the innermost scope.
    pub fn visible(&self, source: &Source, name: &str, at: usize) -> Vec<usize> {
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
            encloses && is_reachable && definition.role != Role::Extension
        };
        let mut found: Vec<usize> = source.named(name).filter(is_visible).collect();
        let size = |index: usize| source.scopes[source.definitions[index].scope].span.len();
        let Some(smallest) = found.iter().map(|&index| size(index)).min() else { return found };
        found.retain(|&index| size(index) == smallest);
        let is_local = source.scopes[source.definitions[found[0]].scope].kind == ScopeKind::Body;
        if source.grammar.shadowing && (is_local || source.grammar.key == "shell") {
            // The last one before the place hides the others, but does not know itself inside its own value.
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

    /// The body before the promise of one; of several C macros or functions the last, which stands in the branch of `#else`.
    fn sort_alternatives(source: &Source, found: &mut [usize]) {
        let is_alternative = |&index: &usize| {
            let role = source.definitions[index].role;
            matches!(role, Role::Macro | Role::Function | Role::Prototype)
        };
        if matches!(source.grammar.key, "c" | "cpp") && found.iter().all(is_alternative) {
            found.reverse();
        }
        found.sort_by_key(|&index| source.definitions[index].role == Role::Prototype);
    }

    /// What the plain `name` means at a byte of `source`.
    pub fn plain(&self, source: &Arc<Source>, name: &str, at: usize) -> Vec<Target> {
        self.guarded(|| {
            if let Some(found) = self.keyword(source, name, at) {
                return found;
            }
            let visible = self.visible(source, name, at);
            if !visible.is_empty() {
                return self.followed(source, visible);
            }
            if source.grammar.implicit_members
                && let Some(class) = source.class_at(at)
            {
                let found = self.member(&Target::Definition(source.clone(), class), name);
                if !found.is_empty() {
                    return found;
                }
            }
            let found = self.through_wildcards(source, name);
            if found.is_empty() { self.beside(source, name) } else { found }
        })
    }

    /// Imports among `found` replaced by what they bring in; an import from outside stays.
    fn followed(&self, source: &Arc<Source>, found: Vec<usize>) -> Vec<Target> {
        let mut targets = Vec::new();
        for index in found {
            let own = || Target::Definition(source.clone(), index);
            match source.definitions[index].role {
                Role::Import(import) => {
                    let behind = self.imported(source, import);
                    if behind.is_empty() { targets.push(own()) } else { targets.extend(behind) }
                }
                _ => targets.push(own()),
            }
        }
        // What lies in the workspace before what only names something outside.
        targets.sort_by_key(|target| {
            target.definition().is_some_and(|found| matches!(found.role, Role::Import(_)))
        });
        targets
    }

    /// `self`, `this`, `crate` and their like.
    fn keyword(&self, source: &Arc<Source>, name: &str, at: usize) -> Option<Vec<Target>> {
        let file = |path: Option<WorkspacePath>| {
            path.and_then(|path| self.project.source(&path)).map(Target::File).into_iter().collect::<Vec<_>>()
        };
        if source.grammar.key == "rust" {
            match name {
                "crate" => return Some(file(modules::rust_root(self.project, &source.path))),
                "super" => return Some(self.outer_module(source, at)),
                "self" if self.visible(source, name, at).is_empty() => {
                    return Some(self.own_module(source, at));
                }
                _ => {}
            }
        }
        if source.grammar.selves.contains(&name) || name == "super" {
            // Where it is a parameter (Python, Rust), that one is meant; its type is the class.
            if !self.visible(source, name, at).is_empty() {
                return None;
            }
            let class = source.class_at(at).or_else(|| Self::constructor_at(source, at))?;
            let class = Target::Definition(source.clone(), class);
            return Some(if matches!(name, "super" | "parent" | "base") {
                self.bases(&class)
            } else {
                vec![class]
            });
        }
        None
    }

    /// The outermost function around a byte: where there is no class, `this` is what it constructs.
    fn constructor_at(source: &Source, at: usize) -> Option<usize> {
        let is_around = |definition: &Definition| {
            definition.role == Role::Function
                && definition.span.contains(&at)
                && source.grammar.selves == ["this"]
        };
        source.definitions.iter().position(is_around)
    }

    /// The inline modules around a byte of a Rust file, innermost last.
    fn inline_modules(source: &Source, at: usize) -> Vec<usize> {
        (0..source.definitions.len())
            .filter(|&index| {
                source.definitions[index].role == Role::Module && source.definitions[index].span.contains(&at)
            })
            .collect()
    }

    fn own_module(&self, source: &Arc<Source>, at: usize) -> Vec<Target> {
        match Self::inline_modules(source, at).last() {
            Some(&index) => vec![Target::Definition(source.clone(), index)],
            None => vec![Target::File(source.clone())],
        }
    }

    fn outer_module(&self, source: &Arc<Source>, at: usize) -> Vec<Target> {
        let inline = Self::inline_modules(source, at);
        match inline.len() {
            0 => modules::rust_parent(self.project, &source.path)
                .and_then(|path| self.project.source(&path))
                .map(Target::File)
                .into_iter()
                .collect(),
            1 => vec![Target::File(source.clone())],
            more => vec![Target::Definition(source.clone(), inline[more - 2])],
        }
    }

    /// What the import number `index` of `source` brings in; empty where it comes from outside.
    pub fn imported(&self, source: &Arc<Source>, index: usize) -> Vec<Target> {
        self.guarded(|| {
            let Some(import) = source.imports.get(index) else { return Vec::new() };
            if import.item == Item::Child {
                return modules::rust_child(self.project, &source.path, &import.local)
                    .and_then(|path| self.project.source(&path))
                    .map(Target::File)
                    .into_iter()
                    .collect();
            }
            let modules = self.module(source, &import.module, import.selection.start);
            match &import.item {
                Item::Named(name) if modules.is_empty() => self.in_own_file(source, name),
                Item::Named(name) => self.of_modules(&modules, name),
                Item::Default => {
                    let found = self.of_modules(&modules, "default");
                    if found.is_empty() { self.of_modules(&modules, &import.local) } else { found }
                }
                _ => modules,
            }
        })
    }

    /// A class of Java or PHP in the file that bears its name, where the folders do not follow the package.
    fn in_own_file(&self, source: &Source, name: &str) -> Vec<Target> {
        let (true, Some(extension)) = (matches!(source.grammar.key, "java" | "php"), source.path.extension())
        else {
            return Vec::new();
        };
        let files = self.project.ending_in(&format!("{name}.{extension}"));
        let found =
            files.iter().filter_map(|path| self.project.source(path)).map(|file| self.of_file(&file, name));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn of_modules(&self, modules: &[Target], name: &str) -> Vec<Target> {
        modules
            .iter()
            .map(|module| self.member(module, name))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// The module written `spec` at a byte of `source`.
    pub fn module(&self, source: &Arc<Source>, spec: &str, at: usize) -> Vec<Target> {
        if source.grammar.key == "rust" {
            return self.rust_path(source, spec, at);
        }
        match modules::find(self.project, source.grammar.key, &source.path, spec) {
            Some(Module::File(path)) => self.project.source(&path).map(Target::File).into_iter().collect(),
            Some(Module::Folder(folder)) => vec![Target::Folder(folder)],
            None => Vec::new(),
        }
    }

    fn rust_path(&self, source: &Arc<Source>, spec: &str, at: usize) -> Vec<Target> {
        self.guarded(|| {
            let mut parts = spec.trim_start_matches("::").split("::");
            let Some(first) = parts.next() else { return Vec::new() };
            let mut targets = match self.keyword(source, first, at) {
                Some(found) => found,
                None => self.rust_first(source, first, at),
            };
            for part in parts {
                targets = if part == "super" {
                    targets
                        .iter()
                        .flat_map(|target| match target {
                            Target::File(file) => self.outer_module(file, usize::MAX),
                            Target::Definition(file, index) => {
                                self.outer_module(file, file.definitions[*index].selection.start)
                            }
                            Target::Folder(_) => Vec::new(),
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
    fn rust_first(&self, source: &Arc<Source>, name: &str, at: usize) -> Vec<Target> {
        let own: Vec<usize> = self
            .visible(source, name, at)
            .into_iter()
            .filter(|&index| match source.definitions[index].role {
                // `use name;` does not explain itself.
                Role::Import(import) => !source.imports[import].span.contains(&at),
                _ => true,
            })
            .collect();
        if !own.is_empty() {
            return self.followed(source, own);
        }
        self.crate_named(name)
    }

    /// The root of the workspace's own crate called `name`.
    pub fn crate_named(&self, name: &str) -> Vec<Target> {
        let found = self.project.crates().iter().find(|(known, _)| known == name);
        found
            .and_then(|(_, folder)| modules::rust_root_at(self.project, folder))
            .and_then(|path| self.project.source(&path))
            .map(Target::File)
            .into_iter()
            .collect()
    }

    fn through_wildcards(&self, source: &Arc<Source>, name: &str) -> Vec<Target> {
        self.guarded(|| {
            let wildcards = source.imports.iter().filter(|import| import.item == Item::Wildcard);
            for import in wildcards {
                let modules = self.module(source, &import.module, import.selection.start);
                for module in modules {
                    if matches!(&module, Target::File(file) if file.path == source.path) {
                        continue;
                    }
                    let found = self.member(&module, name);
                    if !found.is_empty() {
                        return found;
                    }
                }
            }
            Vec::new()
        })
    }

    /// What files of the same folder define, where the folder is one package; for Rust, a crate.
    fn beside(&self, source: &Arc<Source>, name: &str) -> Vec<Target> {
        match source.grammar.key {
            "go" | "java" | "php" => source
                .path
                .parent()
                .map_or_else(Vec::new, |folder| self.member(&Target::Folder(folder), name)),
            "rust" => self.crate_named(name),
            _ => Vec::new(),
        }
    }

    /// The member `name` of a module, a type, or (through its type) a value.
    pub fn member(&self, target: &Target, name: &str) -> Vec<Target> {
        self.guarded(|| match target {
            Target::File(source) => self.of_file(source, name),
            Target::Folder(folder) => self.of_folder(folder, name),
            Target::Definition(source, index) => {
                let definition = &source.definitions[*index];
                match definition.role {
                    Role::Module => self.of_inline_module(source, *index, name),
                    role if role.is_type() || role == Role::Extension => self.of_type(target, name),
                    Role::Import(_) => Vec::new(),
                    _ => self.of_value(source, definition, target, name),
                }
            }
        })
    }

    fn of_file(&self, source: &Arc<Source>, name: &str) -> Vec<Target> {
        let is_top = |&index: &usize| {
            let definition = &source.definitions[index];
            definition.scope == 0 && definition.container.is_none() && definition.role != Role::Extension
        };
        let mut found: Vec<usize> = source.named(name).filter(is_top).collect();
        Self::sort_alternatives(source, &mut found);
        if !found.is_empty() {
            return self.followed(source, found);
        }
        let exported = self.exported(source, name);
        if !exported.is_empty() {
            return exported;
        }
        let found = self.through_wildcards(source, name);
        if !found.is_empty() {
            return found;
        }
        match source.grammar.key {
            // A package's modules are its members.
            "python" if source.path.file_name().is_some_and(|name| name.starts_with("__init__.")) => source
                .path
                .parent()
                .and_then(|folder| modules::python_at(self.project, &folder, name))
                .and_then(|module| self.of_module(module))
                .into_iter()
                .collect(),
            // Names inside `namespace`s and `extern "C"` blocks.
            "cpp" | "c" | "php" | "csharp" => source
                .named(name)
                .filter(|&index| {
                    source.scopes[source.definitions[index].scope].kind != ScopeKind::Body
                        && !matches!(source.definitions[index].role, Role::Import(_))
                })
                .map(|index| Target::Definition(source.clone(), index))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn of_module(&self, module: Module) -> Option<Target> {
        match module {
            Module::File(path) => self.project.source(&path).map(Target::File),
            Module::Folder(folder) => Some(Target::Folder(folder)),
        }
    }

    /// What JavaScript exports under another name, or by assignment.
    fn exported(&self, source: &Arc<Source>, name: &str) -> Vec<Target> {
        if source.grammar.selves != ["this"] || source.grammar.implicit_members {
            return Vec::new();
        }
        if name != "default" {
            let is_export = |&index: &usize| {
                matches!(source.definitions[index].container.as_deref(), Some("exports" | "module"))
            };
            let found: Vec<usize> = source.named(name).filter(is_export).collect();
            if !found.is_empty() {
                return found.into_iter().map(|index| Target::Definition(source.clone(), index)).collect();
            }
        }
        let root = source.tree.root_node();
        for statement in root.named_children(&mut root.walk()) {
            if statement.kind() != "export_statement" {
                continue;
            }
            if name == "default"
                && let Some(value) = statement.child_by_field_name("value").or_else(|| {
                    let is_default = source.text_of(statement).starts_with("export default");
                    statement.child_by_field_name("declaration").filter(|_| is_default)
                })
            {
                return self.exported_value(source, value);
            }
            let clauses = statement
                .named_children(&mut statement.walk())
                .filter(|node| node.kind() == "export_clause")
                .collect::<Vec<_>>();
            for clause in clauses {
                for specifier in clause.named_children(&mut clause.walk()) {
                    let alias = specifier.child_by_field_name("alias").map(|alias| source.text_of(alias));
                    if let (Some(local), true) = (specifier.child_by_field_name("name"), alias == Some(name))
                    {
                        return self.plain(source, source.text_of(local), local.start_byte());
                    }
                }
            }
        }
        Vec::new()
    }

    fn exported_value(&self, source: &Arc<Source>, value: Node<'_>) -> Vec<Target> {
        match value.child_by_field_name("name") {
            Some(name) => self.plain(source, source.text_of(name), name.start_byte()),
            None => self.expression(source, value),
        }
    }

    fn of_folder(&self, folder: &WorkspacePath, name: &str) -> Vec<Target> {
        if let Some(module) = modules::python_at(self.project, folder, name)
            && let Some(target) = self.of_module(module)
        {
            return vec![target];
        }
        let same_name = |ending: &str| folder.join(&format!("{name}{ending}")).ok();
        let mut files: Vec<WorkspacePath> =
            [".java", ".php", ".cs"].iter().filter_map(|ending| same_name(ending)).collect();
        let in_folder = self
            .project
            .files()
            .iter()
            .filter(|path| path.parent().as_ref() == Some(folder) && path.extension() == Some("go"));
        files.extend(in_folder.cloned());
        for path in files {
            let Some(source) = self.project.source(&path) else { continue };
            let found: Vec<Target> = source
                .named(name)
                .filter(|&index| {
                    let definition = &source.definitions[index];
                    definition.container.is_none()
                        && !source.is_local(definition)
                        && !matches!(definition.role, Role::Import(_))
                })
                .map(|index| Target::Definition(source.clone(), index))
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn of_inline_module(&self, source: &Arc<Source>, module: usize, name: &str) -> Vec<Target> {
        let span = &source.definitions[module].span;
        let Some(scope) =
            source.scopes.iter().position(|scope| scope.span == *span && scope.kind == ScopeKind::Namespace)
        else {
            return Vec::new();
        };
        let found: Vec<usize> =
            source.named(name).filter(|&index| source.definitions[index].scope == scope).collect();
        self.followed(source, found)
    }

    /// The text of a type or path at a byte of `source`, resolved: every name in it that is known.
    pub fn names_in(&self, source: &Arc<Source>, text: &str, at: usize) -> Vec<Target> {
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '\\');
        let mut found = Vec::new();
        for path in text.split(|c: char| !is_path(c)).filter(|path| !path.is_empty()) {
            let path = path.trim_matches(':').trim_matches('.');
            let mut parts = path.split(['.', ':', '\\']).filter(|part| !part.is_empty());
            let Some(first) = parts.next().filter(|first| !first.starts_with(|c: char| c.is_numeric()))
            else {
                continue;
            };
            let targets =
                parts.fold(self.plain(source, first, at), |targets, part| self.of_modules(&targets, part));
            found.extend(targets);
        }
        found
    }

    /// The base types of a type.
    pub fn bases(&self, target: &Target) -> Vec<Target> {
        let Target::Definition(source, index) = target else { return Vec::new() };
        let name = &source.definitions[*index].name;
        let mut found = Vec::new();
        let extensions =
            source.named(name).filter(|&other| source.definitions[other].role == Role::Extension);
        for definition in std::iter::once(*index).chain(extensions).map(|index| &source.definitions[index]) {
            for base in &definition.bases {
                let text = source.slice(base);
                // A keyword argument of a Python class is no base.
                let bases = self.names_in(
                    source,
                    text.split("metaclass").next().unwrap_or(text),
                    definition.selection.start,
                );
                found.extend(bases.into_iter().filter(|base| {
                    base.definition().is_some_and(|base| base.role.is_type() && base.name != *name)
                }));
            }
        }
        found
    }

    fn of_type(&self, target: &Target, name: &str) -> Vec<Target> {
        let Target::Definition(source, index) = target else { return Vec::new() };
        let class = &source.definitions[*index];
        let mut found: Vec<usize> = source
            .named(name)
            .filter(|&member| source.definitions[member].container.as_deref() == Some(&class.name))
            .collect();
        // Another class of the same name in the same file has its own members.
        let own = |&member: &usize| class.span.contains(&source.definitions[member].selection.start);
        if found.iter().any(own) {
            found.retain(own);
        }
        found.sort_by_key(|&member| source.definitions[member].role == Role::Prototype);
        if !found.is_empty() {
            return found.into_iter().map(|index| Target::Definition(source.clone(), index)).collect();
        }
        if class.role == Role::Extension {
            let named = self.plain(source, &class.name, class.selection.start);
            let found = self.of_modules(&named, name);
            if !found.is_empty() {
                return found;
            }
        }
        if let Some(behind) = class.type_span.as_ref() {
            let aliased = self.names_in(source, source.slice(behind), behind.start);
            let found = self.of_modules(&aliased, name);
            if !found.is_empty() {
                return found;
            }
        }
        if source.grammar.key == "go"
            && let Some(found) = self.in_same_folder(source, &class.name, name)
        {
            return found;
        }
        self.of_modules(&self.bases(target), name)
    }

    fn in_same_folder(&self, source: &Source, class: &str, name: &str) -> Option<Vec<Target>> {
        let folder = source.path.parent()?;
        let files = self.project.files().iter().filter(|path| {
            path.parent().as_ref() == Some(&folder) && path.extension() == source.path.extension()
        });
        files.filter_map(|path| self.project.source(path)).find_map(|source| {
            let member = source
                .named(name)
                .find(|&index| source.definitions[index].container.as_deref() == Some(class))?;
            Some(vec![Target::Definition(source, member)])
        })
    }

    fn of_value(
        &self,
        source: &Arc<Source>,
        definition: &Definition,
        target: &Target,
        name: &str,
    ) -> Vec<Target> {
        // An object literal, or a function with properties, carries its members under its own name.
        let own: Vec<Target> = source
            .named(name)
            .filter(|&index| source.definitions[index].container.as_deref() == Some(&definition.name))
            .map(|index| Target::Definition(source.clone(), index))
            .collect();
        if !own.is_empty() {
            return own;
        }
        self.of_modules(&self.types(target), name)
    }

    /// The types that a definition's values have, as far as the text shows them.
    pub fn types(&self, target: &Target) -> Vec<Target> {
        self.guarded(|| {
            let Target::Definition(source, index) = target else { return vec![target.clone()] };
            let definition = &source.definitions[*index];
            if definition.role.is_type() || matches!(definition.role, Role::Module | Role::Extension) {
                return vec![target.clone()];
            }
            if matches!(definition.role, Role::EnumMember | Role::Constructor) {
                return definition
                    .container
                    .as_ref()
                    .map_or_else(Vec::new, |class| self.plain(source, class, definition.span.start));
            }
            if definition.role == Role::Parameter
                && (source.grammar.selves.contains(&definition.name.as_str()))
                && let Some(class) = source.class_at(definition.selection.start)
            {
                return vec![Target::Definition(source.clone(), class)];
            }
            if let Some(span) = &definition.type_span {
                let found = self.names_in(source, source.slice(span), span.start);
                if !found.is_empty() || !source.slice(span).contains("auto") {
                    return found;
                }
            }
            match &definition.value_span {
                Some(span) => source.node(span).map_or_else(Vec::new, |value| self.type_of(source, value)),
                None => Vec::new(),
            }
        })
    }

    /// The types of the value of an expression.
    pub fn type_of(&self, source: &Arc<Source>, node: Node<'_>) -> Vec<Target> {
        self.guarded(|| self.expression(source, node).iter().flat_map(|target| self.types(target)).collect())
    }

    /// What an expression names or makes: definitions, modules, or the type of what a call gives.
    pub fn expression(&self, source: &Arc<Source>, node: Node<'_>) -> Vec<Target> {
        self.guarded(|| {
            let grammar = source.grammar;
            let kind = node.kind();
            if grammar.transparent.contains(&kind) {
                return node.named_child(0).map_or_else(Vec::new, |inner| self.expression(source, inner));
            }
            if let Some((_, callee)) = grammar.calls.iter().find(|(call, _)| *call == kind) {
                let made = match callee {
                    Some(field) => node
                        .child_by_field_name(field)
                        .map_or_else(Vec::new, |callee| self.called(source, callee)),
                    None => self.called_member(source, node),
                };
                if !made.is_empty() || callee.is_some() {
                    return made;
                }
            }
            if let Some((_, owner, name)) = grammar.members.iter().find(|(member, ..)| *member == kind) {
                return match (node.child_by_field_name(owner), node.child_by_field_name(name)) {
                    (Some(owner), Some(name)) => self.member_of(source, owner, head(source.text_of(name))),
                    (None, Some(name)) => self.plain(source, source.text_of(name), name.start_byte()),
                    _ => Vec::new(),
                };
            }
            match kind {
                "generic_type"
                | "pointer_type"
                | "reference_type"
                | "object_creation_expression"
                | "super"
                | "this"
                | "self"
                | "crate" => self.names_in(source, source.text_of(node), node.start_byte()),
                _ if node.named_child_count() == 0 || grammar.names.contains(&kind) => {
                    self.plain(source, source.text_of(node), node.start_byte())
                }
                "conditional_expression" | "ternary_expression" | "binary_expression" => {
                    let parts =
                        (0..node.named_child_count() as u32).filter_map(|index| node.named_child(index));
                    parts
                        .map(|part| self.expression(source, part))
                        .find(|found| !found.is_empty())
                        .unwrap_or_default()
                }
                _ => Vec::new(),
            }
        })
    }

    /// The member `name` of what the expression `owner` is.
    pub fn member_of(&self, source: &Arc<Source>, owner: Node<'_>, name: &str) -> Vec<Target> {
        let owners = self.expression(source, owner);
        self.of_modules(&owners, name)
    }

    /// What calling the expression `callee` gives.
    fn called(&self, source: &Arc<Source>, callee: Node<'_>) -> Vec<Target> {
        let targets = self.expression(source, callee);
        if targets.is_empty() && !callee.kind().ends_with("identifier") {
            // A method that is not of this workspace (`unwrap`, `iter`, `get`) often hands on what it was called on.
            let owner = source.grammar.members.iter().find(|(kind, ..)| *kind == callee.kind());
            let owner = owner.and_then(|(_, owner, _)| callee.child_by_field_name(owner));
            return owner.map_or_else(Vec::new, |owner| self.type_of(source, owner));
        }
        targets.iter().flat_map(|target| self.types(target)).collect()
    }

    fn called_member(&self, source: &Arc<Source>, call: Node<'_>) -> Vec<Target> {
        let Some((_, owner, name)) = source.grammar.members.iter().find(|(kind, ..)| *kind == call.kind())
        else {
            return Vec::new();
        };
        let Some(name) = call.child_by_field_name(name) else { return Vec::new() };
        let Some(owner) = call.child_by_field_name(owner) else {
            let targets = self.plain(source, source.text_of(name), name.start_byte());
            return targets.iter().flat_map(|target| self.types(target)).collect();
        };
        let owners = self.expression(source, owner);
        // `Class.new` makes an object of the class.
        if source.text_of(name) == "new" {
            return owners;
        }
        self.of_modules(&owners, source.text_of(name)).iter().flat_map(|target| self.types(target)).collect()
    }
}
