//! The files that import a given one, by the text.

use std::collections::BTreeMap;
use std::time::Instant;

use super::by_name::{occurrences, parse_all};
use super::imports::{ImportItem, SourceImport};
use super::modules::{self, Module};
use super::project::Project;
use super::source::ParsedSource;
use crate::config::Catalogue;
use crate::syntax::answer::HintError;
use crate::text::Position;
use crate::workspace::{Workspace, WorkspacePath};

/// The maximum number of files with the word that are parsed.
const MAX_IMPORTER_PARSED_FILES: usize = 200;

/// Returns the files whose imports lead to `path`, a file or folder, or into it, with the first
/// such import of each; and whether there may be more. Files in the folder itself do not count.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn importers(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Result<(Vec<(WorkspacePath, Position)>, bool), HintError> {
    let project = Project::new(workspace, catalogue, deadline);
    let Some(word) = module_word(path) else { return Ok((Vec::new(), false)) };
    let (hits, truncated, timed_out) = occurrences(&project, project.language(path), &word)?;
    let mut files: BTreeMap<&WorkspacePath, ()> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| !hit.path.as_path().starts_with(path.as_path())) {
        files.insert(&hit.path, ());
    }
    let mut paths: Vec<&WorkspacePath> = files.into_keys().collect();
    let cut = truncated || timed_out || paths.len() > MAX_IMPORTER_PARSED_FILES;
    paths.truncate(MAX_IMPORTER_PARSED_FILES);
    let mut found = Vec::new();
    for source in parse_all(&project, &paths) {
        let first = source.imports.iter().find(|import| resolves_to(&project, &source, import, path));
        found.extend(first.map(|import| (source.path.clone(), source.position(import.selection.start))));
    }
    Ok((found, cut || project.is_late()))
}

/// Returns the last word of the module name that an import of a file or folder must contain.
fn module_word(path: &WorkspacePath) -> Option<String> {
    let stem = path.as_path().file_stem()?.to_str()?;
    match stem {
        "__init__" | "index" | "mod" => path.parent()?.file_name().map(str::to_owned),
        _ => Some(stem.split('.').next().unwrap_or(stem).to_owned()),
    }
}

fn resolves_to(
    project: &Project<'_>,
    source: &ParsedSource,
    import: &SourceImport,
    path: &WorkspacePath,
) -> bool {
    let find = |module: &str| {
        let found = modules::find(project, source.grammar.key, &source.path, module);
        found.is_some_and(|found| match found {
            Module::File(found) | Module::Folder(found) => found.as_path().starts_with(path.as_path()),
        })
    };
    // `from package import module` names a module in the place of a symbol.
    let inner = match &import.item {
        ImportItem::Named(name) if import.module.ends_with('.') => Some(format!("{}{name}", import.module)),
        ImportItem::Named(name) => Some(format!("{}.{name}", import.module)),
        // `import a.b.c` brings in the name `a` and names all three.
        ImportItem::Whole => {
            let written = source.slice(&(import.selection.start..import.span.end));
            let is_dotted = |character: char| character.is_alphanumeric() || "._".contains(character);
            written.split(|character| !is_dotted(character)).next().map(str::to_owned)
        }
        ImportItem::Default | ImportItem::Wildcard | ImportItem::Child => None,
    };
    find(&import.module) || source.grammar.key == "python" && inner.is_some_and(|inner| find(&inner))
}
