//! Members: of files and folders as modules, of types with their bases, of values through their
//! types.

use std::sync::Arc;

use tree_sitter::Node;

use super::definition::{DefinitionRole, ScopeKind, SourceDefinition};
use super::modules::{self, Module};
use super::resolve::{ResolutionStage, ResolutionTarget, Resolver};
use super::source::ParsedSource;
use crate::workspace::WorkspacePath;

impl Resolver<'_> {
    /// The member `name` of a module, a type, or (through its type) a value.
    pub(crate) fn resolve_member(&self, target: &ResolutionTarget, name: &str) -> Vec<ResolutionTarget> {
        let stage = match target.definition() {
            Some(definition) if definition.role != DefinitionRole::Module => ResolutionStage::Members,
            _ => ResolutionStage::Imports,
        };
        self.with_step_limit(stage, || match target {
            ResolutionTarget::File(source) => self.of_file(source, name),
            ResolutionTarget::Folder(folder) => self.of_folder(folder, name),
            ResolutionTarget::Definition(source, index) => {
                let definition = &source.definitions[*index];
                match definition.role {
                    DefinitionRole::Module => self.of_inline_module(source, *index, name),
                    role if role.is_type() || role == DefinitionRole::Extension => self.of_type(target, name),
                    DefinitionRole::Import(_) => Vec::new(),
                    _ => self.of_value(source, definition, target, name),
                }
            }
        })
    }

    pub(super) fn of_file(&self, source: &Arc<ParsedSource>, name: &str) -> Vec<ResolutionTarget> {
        let is_top = |&index: &usize| {
            let definition = &source.definitions[index];
            definition.scope == 0
                && definition.container.is_none()
                && definition.role != DefinitionRole::Extension
        };
        let is_own = |&index: &usize| match source.definitions[index].role {
            DefinitionRole::Import(import) => source.is_reexport(import),
            _ => true,
        };
        let (mut found, private): (Vec<usize>, Vec<usize>) =
            source.definitions_named(name).filter(is_top).partition(is_own);
        Self::sort_alternatives(source, &mut found);
        if !found.is_empty() {
            return self.follow_imports(source, found);
        }
        let exported = self.resolve_export(source, name);
        if !exported.is_empty() {
            return exported;
        }
        let found = self.resolve_wildcard_imports(source, name);
        if !found.is_empty() {
            return found;
        }
        // Private items are still visible to the modules inside.
        if source.grammar.key == "rust" && !private.is_empty() {
            return self.follow_imports(source, private);
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
                .definitions_named(name)
                .filter(|&index| {
                    source.scopes[source.definitions[index].scope].kind != ScopeKind::Body
                        && !matches!(source.definitions[index].role, DefinitionRole::Import(_))
                })
                .map(|index| ResolutionTarget::Definition(source.clone(), index))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn of_module(&self, module: Module) -> Option<ResolutionTarget> {
        match module {
            Module::File(path) => self.project.source(&path).map(ResolutionTarget::File),
            Module::Folder(folder) => Some(ResolutionTarget::Folder(folder)),
        }
    }

    /// Resolves JavaScript exports under another name, or by assignment.
    fn resolve_export(&self, source: &Arc<ParsedSource>, name: &str) -> Vec<ResolutionTarget> {
        if source.grammar.selves != ["this"] || source.grammar.implicit_members {
            return Vec::new();
        }
        if name != "default" {
            let is_export = |&index: &usize| {
                matches!(source.definitions[index].container.as_deref(), Some("exports" | "module"))
            };
            let found: Vec<usize> = source.definitions_named(name).filter(is_export).collect();
            if !found.is_empty() {
                return found
                    .into_iter()
                    .map(|index| ResolutionTarget::Definition(source.clone(), index))
                    .collect();
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
                    let local = specifier.child_by_field_name("name");
                    let known = specifier.child_by_field_name("alias").or(local);
                    if let Some(local) = local
                        && known.is_some_and(|known| source.text_of(known) == name)
                    {
                        return self.resolve_name(source, source.text_of(local), local.start_byte());
                    }
                }
            }
        }
        Vec::new()
    }

    fn exported_value(&self, source: &Arc<ParsedSource>, value: Node<'_>) -> Vec<ResolutionTarget> {
        match value.child_by_field_name("name") {
            Some(name) => self.resolve_name(source, source.text_of(name), name.start_byte()),
            None => self.resolve_expression(source, value),
        }
    }

    fn of_folder(&self, folder: &WorkspacePath, name: &str) -> Vec<ResolutionTarget> {
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
            let found: Vec<ResolutionTarget> = source
                .definitions_named(name)
                .filter(|&index| {
                    let definition = &source.definitions[index];
                    definition.container.is_none()
                        && !source.is_local(definition)
                        && !matches!(definition.role, DefinitionRole::Import(_))
                })
                .map(|index| ResolutionTarget::Definition(source.clone(), index))
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn of_inline_module(
        &self,
        source: &Arc<ParsedSource>,
        module: usize,
        name: &str,
    ) -> Vec<ResolutionTarget> {
        let span = &source.definitions[module].span;
        let Some(scope) =
            source.scopes.iter().position(|scope| scope.span == *span && scope.kind == ScopeKind::Namespace)
        else {
            return Vec::new();
        };
        let found: Vec<usize> = source
            .definitions_named(name)
            .filter(|&index| source.definitions[index].scope == scope)
            .collect();
        self.follow_imports(source, found)
    }

    fn of_type(&self, target: &ResolutionTarget, name: &str) -> Vec<ResolutionTarget> {
        let ResolutionTarget::Definition(source, index) = target else { return Vec::new() };
        let class = &source.definitions[*index];
        let mut found: Vec<usize> = source
            .definitions_named(name)
            .filter(|&member| source.definitions[member].container.as_deref() == Some(&class.name))
            .collect();
        // Another class of the same name in the same file has its own members.
        let own = |&member: &usize| class.span.contains(&source.definitions[member].selection.start);
        if found.iter().any(own) {
            found.retain(own);
        }
        found.sort_by_key(|&member| source.definitions[member].role == DefinitionRole::Prototype);
        if !found.is_empty() {
            return found
                .into_iter()
                .map(|index| ResolutionTarget::Definition(source.clone(), index))
                .collect();
        }
        if class.role == DefinitionRole::Extension {
            let named = self.resolve_name(source, &class.name, class.selection.start);
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
        self.of_modules(&self.base_types(target), name)
    }

    fn in_same_folder(
        &self,
        source: &ParsedSource,
        class: &str,
        name: &str,
    ) -> Option<Vec<ResolutionTarget>> {
        let folder = source.path.parent()?;
        let files = self.project.files().iter().filter(|path| {
            path.parent().as_ref() == Some(&folder) && path.extension() == source.path.extension()
        });
        files.filter_map(|path| self.project.source(path)).find_map(|source| {
            let member = source
                .definitions_named(name)
                .find(|&index| source.definitions[index].container.as_deref() == Some(class))?;
            Some(vec![ResolutionTarget::Definition(source, member)])
        })
    }

    fn of_value(
        &self,
        source: &Arc<ParsedSource>,
        definition: &SourceDefinition,
        target: &ResolutionTarget,
        name: &str,
    ) -> Vec<ResolutionTarget> {
        // An object literal, or a function with properties, carries its members under its own name.
        let own: Vec<ResolutionTarget> = source
            .definitions_named(name)
            .filter(|&index| source.definitions[index].container.as_deref() == Some(&definition.name))
            .map(|index| ResolutionTarget::Definition(source.clone(), index))
            .collect();
        if !own.is_empty() {
            return own;
        }
        self.of_modules(&self.value_types(target), name)
    }
}
