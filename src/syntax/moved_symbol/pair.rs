//! The imports of the old and the new file of a moved Python definition.

use std::collections::BTreeSet;
use std::sync::Arc;

use tree_sitter::Node;

use super::super::answer::HintError;
use super::names::{first_use, is_quoted, is_used, names_used, nodes};
use super::statements::{self, NeededImport};
use super::users::module_expression;
use super::{MAX_CHANGED_IMPORTS, SymbolMove, specs};
use crate::syntax::resolution::by_name::{occurrences, parse_all};
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::imports::{ImportItem, SourceImport};
use crate::syntax::resolution::modules;
use crate::syntax::resolution::resolve::Resolver;
use crate::syntax::resolution::source::ParsedSource;
use crate::workspace::WorkspacePath;

impl SymbolMove<'_> {
    /// Completes the old and the new file: the imports that the moved text needs, and the import of
    /// the symbol for the rest of its old file.
    pub(super) fn complete_pair(&mut self, block: &str) -> Result<(), HintError> {
        let (from, to) = (&self.moved.from, &self.moved.to);
        let before = self.texts.get(from).and_then(|text| text.before.clone()).unwrap_or_default();
        let parse = |text: &str| {
            let source =
                ParsedSource::new(from.clone(), self.grammar, text.to_owned(), self.project.deadline);
            source.ok().map(Arc::new)
        };
        let (Some(original), Some(moved)) = (parse(&before), parse(block)) else { return Ok(()) };
        let mut names = self.free_names(&moved);
        names.remove(&self.moved.name);
        let mut left: Vec<(String, String)> = Vec::new();
        let mut candidates: Vec<SourceImport> = Vec::new();
        for name in &names {
            match self.needed(&original, name, block) {
                Ok(needed) => {
                    for (needed, import) in needed {
                        self.add_to_new_file(name, &needed, &mut left);
                        candidates.extend(import);
                    }
                }
                Err(why) => left.push((name.clone(), why)),
            }
        }
        self.remove_old_import_in_new_file();
        let mut left_in_rest = None;
        let rest = self.planned(from).map(Arc::new);
        if let Some(rest) = rest.filter(|rest| self.free_names(rest).contains(&self.moved.name)) {
            match self.spec_between(&rest, to) {
                Ok(module) => {
                    let needed = NeededImport { module: Some(module), item: self.moved.name.clone() };
                    let text = statements::added(&rest, &needed);
                    self.set(from, text);
                }
                Err(why) => left_in_rest = Some(why),
            }
        }
        for import in candidates {
            self.remove_if_unused(&import)?;
        }
        if let (Some(why), Some(rest)) = (left_in_rest, self.planned(from)) {
            let first = first_use(&rest, &self.moved.name, 0);
            self.leave(&rest, first.unwrap_or_default(), why);
        }
        self.leave_in_pair(left);
        Ok(())
    }

    /// The names that `source` uses and does not define.
    pub(super) fn free_names(&self, source: &ParsedSource) -> BTreeSet<String> {
        let resolver = Resolver::new(self.project);
        let is_free =
            |(name, byte): &(&str, usize)| resolver.visible_definitions(source, name, *byte).is_empty();
        names_used(source).into_iter().filter(is_free).map(|(name, _)| name.to_owned()).collect()
    }

    /// The imports that the new file needs for `name` of the old file, with the old file's own
    /// import; an error names the candidates if it is not clear which.
    fn needed(
        &self,
        original: &Arc<ParsedSource>,
        name: &str,
        block: &str,
    ) -> Result<Vec<(NeededImport, Option<SourceImport>)>, String> {
        let is_top = |found: &&SourceDefinition| {
            found.scope == 0 && found.container.is_none() && found.role != DefinitionRole::Extension
        };
        let found: Vec<&SourceDefinition> = original
            .definitions_named(name)
            .map(|index| &original.definitions[index])
            .filter(is_top)
            .collect();
        let imports: Vec<&SourceImport> = found
            .iter()
            .filter_map(|found| match found.role {
                DefinitionRole::Import(index) => original.imports.get(index),
                _ => None,
            })
            .collect();
        if found.is_empty() {
            let wildcards = original.imports.iter().filter(|import| import.item == ImportItem::Wildcard);
            let bringing: Vec<&SourceImport> =
                wildcards.filter(|import| self.brings(original, import, name)).collect();
            return match bringing.as_slice() {
                [] => Ok(Vec::new()),
                [only] => Ok(vec![(self.rebased(&only.module, name)?, None)]),
                several => Err(candidates_text(several.iter().map(|import| import.module.clone()))),
            };
        }
        if imports.is_empty() {
            let Some(new) = self.planned(&self.moved.to) else { return Ok(Vec::new()) };
            let module = self.spec_between(&new, &self.moved.from)?;
            return Ok(vec![(NeededImport { module: Some(module), item: name.to_owned() }, None)]);
        }
        let are_plain = imports.iter().all(|import| {
            import.item == ImportItem::Whole && {
                statements::item_text(original, import)
                    .is_some_and(|item| !item.contains(char::is_whitespace))
            }
        });
        let is_clear = imports.len() == found.len()
            && (imports.len() == 1 || are_plain)
            && imports.iter().all(|import| statements::is_unconditional(original, import));
        if !is_clear {
            let written: BTreeSet<String> =
                imports.iter().map(|import| original.slice(&import.span).to_owned()).collect();
            return Err(candidates_text(written.into_iter()));
        }
        let mut needed = Vec::new();
        for import in &imports {
            let Some(item) = statements::item_text(original, import) else { continue };
            let is_named = matches!(import.item, ImportItem::Named(_));
            if is_named {
                needed.push((self.rebased(&import.module, item)?, Some((*import).clone())));
            } else if imports.len() == 1 || block.contains(item) {
                let import = NeededImport { module: None, item: item.to_owned() };
                needed.push((import, Some((*imports[0]).clone())));
            }
        }
        Ok(needed)
    }

    /// Returns true if the wildcard `import` brings `name` in from a file of the workspace.
    fn brings(&self, original: &Arc<ParsedSource>, import: &SourceImport, name: &str) -> bool {
        let resolver = Resolver::new(self.project);
        let modules = resolver.resolve_module(original, &import.module, import.selection.start);
        !resolver.of_modules(&modules, name).is_empty()
    }

    /// The import of `item` from a module that the old file calls `module`, as the new file writes
    /// it.
    fn rebased(&self, module: &str, item: &str) -> Result<NeededImport, String> {
        let relative = module.trim_start_matches('.');
        let dots = module.len() - relative.len();
        let mut module = module.to_owned();
        if dots > 0 {
            let base = self.moved.from.ancestors().nth(dots);
            let top = base.as_ref().map(specs::path_parts).unwrap_or_default();
            let target = base.and_then(|base| base.join(&relative.replace('.', "/")).ok());
            let is_package = |folder: &[String]| self.is_package(folder);
            let rebased = target.and_then(|target| {
                let parts = specs::module_parts(&target);
                let found = specs::relative(&self.moved.to, &parts, &top, &is_package);
                found.or_else(|| self.absolute_name(&target))
            });
            module = rebased.ok_or_else(|| format!("`{module}` cannot be named from the new file"))?;
        }
        Ok(NeededImport { module: Some(module), item: item.to_owned() })
    }

    /// The name that `file` gives to `target`, one of the two files of the move.
    fn spec_between(&self, file: &ParsedSource, target: &WorkspacePath) -> Result<String, String> {
        let pair = [&self.moved.from, &self.moved.to].map(|path| self.planned(path));
        let pair = pair.iter().flatten();
        let is_relative =
            |source: &ParsedSource| source.imports.iter().any(|import| import.module.starts_with('.'));
        let own = file.path.parent().as_ref().map(specs::path_parts).unwrap_or_default();
        let is_package = |folder: &[String]| self.is_package(folder);
        if pair.into_iter().any(is_relative)
            && let Some(spec) = specs::relative(&file.path, &specs::module_parts(target), &own, &is_package)
        {
            return Ok(spec);
        }
        let names = self.absolute_names(target);
        match names.len() {
            0 => specs::dotted(&self.usual_root(target), target)
                .ok_or_else(|| format!("{} has no name as a module", target.display())),
            1 => Ok(names.into_iter().next().unwrap_or_default()),
            _ => Err(candidates_text(names.into_iter())),
        }
    }

    /// The folders that the absolute imports of the old file in `users` begin at.
    pub(super) fn import_roots(&self, users: &[Arc<ParsedSource>]) -> BTreeSet<Vec<String>> {
        let absolute = users.iter().flat_map(|user| {
            let old = user.imports.iter().filter_map(|import| match import.module.starts_with('.') {
                false if self.is_old_file(user, &import.module) => Some(import.module.clone()),
                _ => self.module_expression(user, import).map(|(spec, _)| spec),
            });
            old.filter_map(|spec| specs::root_of(&spec, &self.moved.from)).collect::<Vec<_>>()
        });
        absolute.collect()
    }

    /// The nearest folder above `path` that is not a package.
    fn usual_root(&self, path: &WorkspacePath) -> Vec<String> {
        let mut folders = path.ancestors().skip(1);
        let root = folders.find(|folder| !modules::is_package(self.project, folder));
        root.as_ref().map(specs::path_parts).unwrap_or_default()
    }

    fn add_to_new_file(&mut self, name: &str, needed: &NeededImport, left: &mut Vec<(String, String)>) {
        let Some(new) = self.planned(&self.moved.to) else { return };
        let is_own =
            needed.module.as_ref().is_some_and(|module| self.is_module(&new, module, &self.moved.to));
        let is_top = |found: &&SourceDefinition| found.scope == 0 && found.container.is_none();
        let known = new.definitions_named(name).map(|index| &new.definitions[index]).find(is_top);
        let is_same = |import: &SourceImport| {
            statements::item_text(&new, import) == Some(needed.item.as_str())
                && (needed.module.is_none() && import.item == ImportItem::Whole
                    || needed.module.as_ref() == Some(&import.module))
        };
        match known.map(|known| known.role) {
            // The moved text takes it from its new file.
            Some(role) if is_own && !matches!(role, DefinitionRole::Import(_)) => {}
            Some(_) if new.imports.iter().any(is_same) => {}
            Some(DefinitionRole::Import(_)) if needed.module.is_none() && needed.item.contains('.') => {
                let text = statements::added(&new, needed);
                self.set(&self.moved.to.clone(), text);
            }
            Some(_) => left.push((name.to_owned(), format!("`{name}` means something else in this file"))),
            None => {
                let text = statements::added(&new, needed);
                self.set(&self.moved.to.clone(), text);
            }
        }
    }

    /// Removes the new file's own import of the symbol from the old file.
    fn remove_old_import_in_new_file(&mut self) {
        for _ in 0..MAX_CHANGED_IMPORTS {
            let Some(new) = self.planned(&self.moved.to) else { return };
            let is_plain = |import: &&SourceImport| {
                self.is_symbol_import(&new, import) && import.local == self.moved.name
            };
            let own = new.imports.iter().find(is_plain);
            let Some(text) = own.and_then(|import| statements::removed(&new, import)) else { return };
            self.set(&self.moved.to.clone(), text);
        }
    }

    /// Removes an import of the old file that the moved text used and the rest does not, unless
    /// another file may import the name from there.
    fn remove_if_unused(&mut self, import: &SourceImport) -> Result<(), HintError> {
        let from = self.moved.from.clone();
        let Some(rest) = self.planned(&from).filter(|_| from.file_name() != Some("__init__.py")) else {
            return Ok(());
        };
        let same = rest.imports.iter().find(|other| {
            (&other.local, &other.module, &other.item) == (&import.local, &import.module, &import.item)
        });
        let Some(same) = same.filter(|same| !is_used(&rest, &same.local) && !is_quoted(&rest, &same.local))
        else {
            return Ok(());
        };
        let is_alone = rest.definitions_named(&same.local).count() == 1;
        if !is_alone || self.is_imported_elsewhere(&from, &same.local)? {
            return Ok(());
        }
        if let Some(text) = statements::removed(&rest, same) {
            self.set(&from, text);
        }
        Ok(())
    }

    /// Returns true if a file may import `name` from the Python file `file`.
    pub(super) fn is_imported_elsewhere(&self, file: &WorkspacePath, name: &str) -> Result<bool, HintError> {
        let Some(stem) = specs::module_parts(file).pop() else { return Ok(true) };
        let (hits, truncated, timed_out) = occurrences(self.project, Some("python"), &stem)?;
        let paths: BTreeSet<&WorkspacePath> = hits.iter().map(|hit| &hit.path).collect();
        let paths: Vec<&WorkspacePath> = paths.into_iter().filter(|path| *path != file).collect();
        let sources = parse_all(self.project, &paths);
        let imports = |source: &Arc<ParsedSource>| {
            source.imports.iter().any(|import| match &import.item {
                ImportItem::Named(found) => found == name && self.is_module(source, &import.module, file),
                ImportItem::Wildcard => is_used(source, name) && self.is_module(source, &import.module, file),
                _ => false,
            }) || source.imports.iter().any(|import| {
                let found = module_expression(source, import);
                found
                    .filter(|(spec, _)| self.is_module(source, spec, file))
                    .is_some_and(|(_, expression)| source.text.contains(&format!("{expression}.{name}")))
            })
        };
        Ok(truncated || timed_out || sources.len() < paths.len() || sources.iter().any(imports))
    }

    /// Records the remaining places in the two files of the move.
    fn leave_in_pair(&mut self, left: Vec<(String, String)>) {
        let (from, to) = (self.moved.from.clone(), self.moved.to.clone());
        let (Some(rest), Some(new)) = (self.planned(&from), self.planned(&to)) else { return };
        let start = self.moved.block.as_ref().and_then(|block| new.text.rfind(block.lines().next()?));
        for (name, why) in left {
            let first = first_use(&new, &name, start.unwrap_or_default()).or(start);
            self.leave(&new, first.unwrap_or_default(), why);
        }
        self.leave_uses(&new);
        let imports = |source: &ParsedSource, target: &WorkspacePath| {
            let mut all = source.imports.iter();
            let found = all.find(|import| self.is_module(source, &import.module, target));
            found.map(|import| import.selection.start)
        };
        let names_new = rest.definitions_named(&self.moved.name).next().is_some();
        if let Some(byte) = imports(&new, &from).filter(|_| names_new) {
            let why = format!("{} and {} import each other now", from.display(), to.display());
            self.leave(&new, byte, why);
        }
        let public = nodes(&rest).into_iter().find(|node| {
            node.kind() == "string_content" && rest.text_of(*node) == self.moved.name && {
                let mut around = std::iter::successors(node.parent(), Node::parent);
                around.any(|node| {
                    node.kind().ends_with("assignment") && rest.text_of(node).starts_with("__all__")
                })
            }
        });
        if let Some(node) = public.filter(|_| !names_new) {
            self.leave(&rest, node.start_byte(), format!("`__all__` names `{}`", self.moved.name));
        }
    }
}

/// The sentence for a name that several modules or statements may bring in.
fn candidates_text(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.map(|one| format!("`{}`", one.replace('\n', " "))).collect();
    format!("needs an import; candidates: {}", all.join(", "))
}
