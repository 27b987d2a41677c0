//! The imports of the files that use a moved symbol, and the uses that are left in them.

use std::sync::Arc;

use tree_sitter::Node;

use super::names::{is_quoted, is_used, nodes};
use super::statements::{self, NeededImport};
use super::{MAX_CHANGED_IMPORTS, MovedText, SymbolMove, specs};
use crate::syntax::resolution::definition::DefinitionRole;
use crate::syntax::resolution::imports::{ImportItem, SourceImport};
use crate::syntax::resolution::modules;
use crate::syntax::resolution::resolve::Resolver;
use crate::syntax::resolution::source::ParsedSource;

impl SymbolMove<'_> {
    /// Updates the imports of a file that names the symbol, and records the remaining uses.
    pub(super) fn update_user(&mut self, user: &Arc<ParsedSource>) {
        let path = &user.path;
        let mut current = match self.texts.contains_key(path) {
            true => self.planned(path),
            false => self.reparsed(user, user.text.clone()),
        };
        for _ in 0..MAX_CHANGED_IMPORTS {
            let Some(source) = &current else { return };
            let Some(text) = self.next_update(source) else { break };
            current = self.reparsed(source, text);
        }
        let Some(source) = current else { return };
        if source.text != user.text || self.texts.contains_key(path) {
            let before = Some(user.text.clone());
            let text = self.texts.entry(path.clone()).or_insert(MovedText { before, after: String::new() });
            text.after.clone_from(&source.text);
        }
        self.leave_uses(&source);
    }

    /// The text of `source` after the next change of an import; `None` if no import is to be
    /// changed.
    fn next_update(&self, source: &ParsedSource) -> Option<String> {
        let redirected = source.imports.iter().filter(|import| self.is_symbol_import(source, import));
        let redirected = redirected.filter_map(|import| {
            statements::redirected(source, import, &self.new_spec(source, &import.module)?)
        });
        redirected
            .chain(source.imports.iter().filter_map(|import| self.with_new_module(source, import)))
            .chain(source.imports.iter().filter_map(|import| self.with_name_beside_wildcard(source, import)))
            .next()
    }

    /// The expression by which Python code names the old file through `import`, if the import binds
    /// the module itself.
    pub(super) fn module_expression(
        &self,
        source: &ParsedSource,
        import: &SourceImport,
    ) -> Option<(String, String)> {
        module_expression(source, import).filter(|(spec, _)| self.is_old_file(source, spec))
    }

    /// The text in which uses of the symbol through the module that `import` binds name the new
    /// module; `None` if there are no such uses, the new module's name is taken, or the import is
    /// in a function or under a condition.
    fn with_new_module(&self, source: &ParsedSource, import: &SourceImport) -> Option<String> {
        let (spec, expression) = self.module_expression(source, import)?;
        if !statements::is_unconditional(source, import) {
            return None;
        }
        let mut owners = self.owners(source, &expression);
        owners.retain(|owner| self.is_bound_by(source, import, owner.start_byte()));
        let is_whole = expression == spec;
        let new = self.new_spec(source, &spec).filter(|new| !owners.is_empty() && !new.ends_with('.'))?;
        let (package, last) = match new.rfind('.') {
            Some(at) => (&new[..=at], &new[at + 1..]),
            None => ("", new.as_str()),
        };
        let is_relative = package.chars().all(|letter| letter == '.');
        let package = if is_relative { package } else { package.trim_end_matches('.') };
        let (needed, owner, bound) = match (is_whole, package) {
            (true, _) | (_, "") => {
                let bound = new.split('.').next().unwrap_or_default();
                (NeededImport { module: None, item: new.clone() }, new.as_str(), bound)
            }
            _ => (NeededImport { module: Some(package.to_owned()), item: last.to_owned() }, last, last),
        };
        let is_known = |other: &SourceImport| {
            statements::is_unconditional(source, other)
                && self.target_expression(source, other).is_some_and(|expression| expression == owner)
        };
        let known = source.imports.iter().any(is_known);
        let is_same = |index: usize| match source.definitions[index].role {
            DefinitionRole::Import(index) => {
                let other = &source.imports[index];
                is_known(other) || is_whole && is_package_import(source, other)
            }
            _ => false,
        };
        let is_in_file = |index: &usize| source.definitions[*index].scope == 0;
        let resolver = Resolver::new(self.project);
        let is_hidden = |owner: &Node<'_>| {
            let visible = resolver.visible_definitions(source, bound, owner.start_byte());
            !visible.iter().all(is_in_file)
        };
        let mut in_file = source.definitions_named(bound).filter(is_in_file);
        if !in_file.all(is_same) || owners.iter().any(is_hidden) {
            return None;
        }
        let splices = owners.iter().map(|node| (node.byte_range(), owner.to_owned())).collect();
        let text = statements::spliced(&source.text, splices);
        let changed = self.reparsed(source, text)?;
        let changed = match known {
            true => changed,
            false => self.reparsed(source, statements::added(&changed, &needed))?,
        };
        // An import that served these uses alone has no use left.
        let old = changed.imports.iter().find(|other| {
            self.module_expression(&changed, other).is_some_and(|(_, found)| found == expression)
        });
        let unused = old.filter(|old| {
            source.path.file_name() != Some("__init__.py")
                && !is_used(&changed, &old.local)
                && !is_quoted(&changed, &old.local)
                && changed.definitions_named(&old.local).count() == 1
                && !self.is_imported_elsewhere(&source.path, &old.local).unwrap_or(true)
        });
        let removed = unused.and_then(|old| statements::removed(&changed, old));
        Some(removed.unwrap_or(changed.text))
    }

    /// The expression by which `source` names the new file through `import`.
    fn target_expression(&self, source: &ParsedSource, import: &SourceImport) -> Option<String> {
        let (spec, expression) = module_expression(source, import)?;
        let is_aliased = import.item == ImportItem::Whole && spec != expression;
        (!is_aliased && self.is_module(source, &spec, &self.moved.to)).then_some(expression)
    }

    /// The expressions `expression` in front of `.NAME`.
    fn owners<'t>(&self, source: &'t ParsedSource, expression: &str) -> Vec<Node<'t>> {
        let is_owner = |node: &Node<'t>| {
            let access = source.grammar.member_access(*node)?;
            let (owner, name) = (access.owner?, access.name?);
            (source.text_of(name) == self.moved.name && source.text_of(owner) == expression).then_some(owner)
        };
        nodes(source).iter().filter_map(is_owner).collect()
    }

    /// Returns true if the name that `import` binds means its module at a byte, whichever path the
    /// code takes.
    fn is_bound_by(&self, source: &ParsedSource, import: &SourceImport, at: usize) -> bool {
        let visible = Resolver::new(self.project).visible_definitions(source, &import.local, at);
        let Some(scope) = visible.first().map(|&index| source.definitions[index].scope) else { return false };
        let expression = module_expression(source, import);
        let is_same = |other: &SourceImport| {
            module_expression(source, other) == expression
                || is_package_import(source, other) && is_package_import(source, import)
        };
        let mut has_import = false;
        let mut in_scope = source.definitions_named(&import.local).filter(|index| {
            let definition = &source.definitions[*index];
            definition.scope == scope && definition.container.is_none()
        });
        let are_same = in_scope.all(|index| match source.definitions[index].role {
            DefinitionRole::Import(index) => {
                let other = &source.imports[index];
                has_import |= other == import;
                is_same(other)
            }
            _ => false,
        });
        are_same && has_import
    }

    /// The text with an import of the symbol, if only the wildcard `import` brought it in.
    fn with_name_beside_wildcard(&self, source: &ParsedSource, import: &SourceImport) -> Option<String> {
        let wildcards = source.imports.iter().filter(|import| import.item == ImportItem::Wildcard).count();
        let is_python = source.grammar.key == "python";
        if !is_python
            || wildcards != 1
            || !self.is_wildcard_use(source, import)
            || !statements::is_unconditional(source, import)
        {
            return None;
        }
        let module = self.new_spec(source, &import.module)?;
        let needed = NeededImport { module: Some(module), item: self.moved.name.clone() };
        Some(statements::added(source, &needed))
    }

    /// Returns true if `import` brings all names of the old file in, and the file uses the symbol
    /// or passes it on.
    fn is_wildcard_use(&self, source: &ParsedSource, import: &SourceImport) -> bool {
        let name = &self.moved.name;
        import.item == ImportItem::Wildcard
            && self.is_exported
            && self.is_old_file(source, &import.module)
            && source.definitions_named(name).next().is_none()
            && (source.grammar.key != "python"
                || source.path.file_name() == Some("__init__.py")
                || self.free_names(source).contains(name))
    }

    /// Records the uses of the symbol at its old place that are left in `source`.
    pub(super) fn leave_uses(&mut self, source: &ParsedSource) {
        let (name, from) = (self.moved.name.clone(), self.moved.from.display());
        for import in &source.imports {
            let is_named = matches!(&import.item, ImportItem::Named(found) if *found == name);
            let stem = specs::module_parts(&self.moved.from).pop();
            let last = match source.grammar.key {
                "python" => import.module.rsplit('.').next(),
                _ => import.module.rsplit('/').next().map(|part| specs::without_ending(part).unwrap_or(part)),
            };
            if self.is_symbol_import(source, import) {
                self.leave(source, import.selection.start, format!("imports `{name}` from {from}"));
            } else if is_named
                && last == stem.as_deref()
                && modules::find(self.project, source.grammar.key, &source.path, &import.module).is_none()
            {
                let why = format!("imports `{name}` from `{}`, which is not found here", import.module);
                self.leave(source, import.selection.start, why);
            } else if self.is_wildcard_use(source, import) {
                let why = format!("the names of {from} are imported without `{name}` now");
                self.leave(source, import.selection.start, why);
            } else if let Some((_, expression)) = self.module_expression(source, import) {
                for owner in self.owners(source, &expression) {
                    let byte = owner.start_byte();
                    let why = match self.is_bound_by(source, import, byte) {
                        true => format!("`{expression}` has no `{name}` now"),
                        false => format!("`{expression}` may be {from}, which has no `{name}` now"),
                    };
                    self.leave(source, byte, why);
                }
            }
        }
    }
}

/// The module that the Python import `import` binds as written, and the expression that names it.
/// A name that is imported from a module may also be something else in it.
pub(super) fn module_expression(source: &ParsedSource, import: &SourceImport) -> Option<(String, String)> {
    if source.grammar.key != "python" {
        return None;
    }
    match &import.item {
        ImportItem::Named(name) if import.module.ends_with('.') => {
            Some((format!("{}{name}", import.module), import.local.clone()))
        }
        ImportItem::Named(name) => Some((format!("{}.{name}", import.module), import.local.clone())),
        ImportItem::Whole => {
            let item = statements::item_text(source, import)?;
            let written = item.split_whitespace().next().unwrap_or_default().to_owned();
            let is_aliased = item.contains(char::is_whitespace);
            Some((written.clone(), if is_aliased { import.local.clone() } else { written }))
        }
        ImportItem::Default | ImportItem::Wildcard | ImportItem::Child => None,
    }
}

/// Returns true for `import a.b` without an alias, which binds the package `a`.
fn is_package_import(source: &ParsedSource, import: &SourceImport) -> bool {
    import.item == ImportItem::Whole
        && statements::item_text(source, import).is_some_and(|item| !item.contains(char::is_whitespace))
}
