//! A name within one file: its definitions there, or else its first place in the code.

use std::time::Instant;

use super::definition::{DefinitionRole, SourceDefinition};
use super::source::ParsedSource;
use crate::syntax::grammar::Grammar;
use crate::syntax::symbols::is_listed;
use crate::text::{Position, Range, identifiers_on_line};
use crate::workspace::WorkspacePath;

/// One symbol: the places of its definition and of its overloads.
pub(crate) type Overloads = Vec<Range>;

/// Returns the symbols that `name` (`Class.method` within `Class`) means in `text`, which is or
/// would be the file `path` of `language`.
///
/// If the text defines none outside a function, returns the first occurrence of the plain name
/// outside comments, strings and imports. `None` if the language has no grammar here or the text is
/// not parsed in time.
pub(crate) fn symbols_named(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    name: &str,
    deadline: Instant,
) -> Option<Vec<Overloads>> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    let parts: Vec<&str> = name.split(['.', '#', ':']).filter(|part| !part.is_empty()).collect();
    let (last, containers) = parts.split_last()?;
    let defined = source.definitions_named(last).map(|index| &source.definitions[index]);
    let fits = |definition: &&SourceDefinition| {
        definition.role != DefinitionRole::Extension
            && is_listed(&source, definition)
            && is_within(&source, definition, containers)
    };
    let mut found: Vec<(&SourceDefinition, Overloads)> = Vec::new();
    let (promised, made): (Vec<_>, Vec<_>) =
        defined.filter(fits).partition(|definition| definition.role == DefinitionRole::Prototype);
    for definition in made.into_iter().chain(promised) {
        let range = source.range(&definition.selection);
        match found.iter_mut().find(|(first, _)| are_overloads(first, definition)) {
            Some((_, ranges)) => ranges.push(range),
            None => found.push((definition, vec![range])),
        }
    }
    let mut symbols: Vec<Overloads> = found.into_iter().map(|(_, ranges)| ranges).collect();
    if symbols.is_empty() && containers.is_empty() {
        symbols.extend(first_in_code(&source, last).map(|range| vec![range]));
    }
    Some(symbols)
}

/// Returns true if two definitions of one name are overloads of one function: they are in the same
/// scope of the same type.
fn are_overloads(a: &SourceDefinition, b: &SourceDefinition) -> bool {
    a.role.is_callable()
        && b.role.is_callable()
        && a.scope == b.scope
        && a.container == b.container
        && a.parent == b.parent
}

fn is_within(source: &ParsedSource, definition: &SourceDefinition, containers: &[&str]) -> bool {
    let Some((innermost, around)) = containers.split_last() else { return true };
    let parent = definition.parent.map(|parent| &source.definitions[parent]);
    if definition.container.as_deref() != Some(innermost)
        && parent.is_none_or(|parent| parent.name != *innermost)
    {
        return false;
    }
    around.is_empty() || parent.is_none_or(|parent| is_within(source, parent, around))
}

fn first_in_code(source: &ParsedSource, name: &str) -> Option<Range> {
    let buffer = source.buffer();
    let places = (0..buffer.line_count())
        .flat_map(|line| identifiers_on_line(buffer, line))
        .filter(|found| found.name.trim_start_matches('$') == name.trim_start_matches('$'))
        .map(|found| (buffer.byte_offset(found.range.start), found.range))
        .filter(|(at, _)| !source.is_comment_or_string(*at));
    let is_import = |at: usize| source.imports.iter().any(|import| import.span.contains(&at));
    let (imported, used): (Vec<_>, Vec<_>) = places.partition(|(at, _)| is_import(*at));
    used.first().or(imported.first()).map(|(_, range)| *range)
}

/// Returns true if a definition of `name` that begins at `line` (0-based) of `text` is an import or
/// a re-export.
pub(crate) fn is_import(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    line: u32,
    name: &str,
    deadline: Instant,
) -> bool {
    let Some(grammar) = Grammar::for_language(language, path.extension()) else { return false };
    let Ok(source) = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline) else {
        return false;
    };
    let on_line = |index: &usize| source.position(source.definitions[*index].selection.start).line == line;
    let mut here = source.definitions_named(name).filter(on_line).peekable();
    here.peek().is_some()
        && here.all(|index| matches!(source.definitions[index].role, DefinitionRole::Import(_)))
}

/// Returns the module that the name at a position, or the name before its dots, is imported from,
/// if the file does not define it itself.
pub(crate) fn imported_from(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    position: Position,
    deadline: Instant,
) -> Option<String> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    let word = |letter: char| letter.is_alphanumeric() || "_$".contains(letter);
    let at = source.buffer().byte_offset(position);
    let mut end = at + source.text.get(at..)?.find(|letter| !word(letter)).unwrap_or(source.text.len() - at);
    let name = loop {
        let before = source.text.get(..end)?;
        let name = &before[before.trim_end_matches(word).len()..];
        match before[..before.len() - name.len()].strip_suffix('.') {
            Some(owner) if owner.ends_with(word) => end = owner.len(),
            Some(_) => return None,
            None => break name,
        }
    };
    let mut modules = source.definitions_named(name).map(|index| match source.definitions[index].role {
        DefinitionRole::Import(import) => source.imports.get(import).map(|import| import.module.clone()),
        _ => None,
    });
    let first = modules.next()??;
    modules.all(|module| module.is_some()).then_some(first)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    const TEXT: &str = "\"\"\"Session, and its get.\"\"\"\nfrom other import Session as get, Other\n\n\
                        # Session\nclass Session:\n    def get(self):\n        hooks.get()\n\n\
                        class Pool:\n    def get(self):\n        local = 1\n        return local\n\n\
                        @overload\ndef load(x: int): ...\n@overload\ndef load(x: str): ...\ndef load(x): return x\n";

    fn lines(name: &str) -> Vec<Vec<u32>> {
        let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
        let path = workspace.path(Path::new("a.py")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let found = symbols_named("python", &path, TEXT, name, deadline).unwrap();
        found.iter().map(|ranges| ranges.iter().map(|range| range.start.line + 1).collect()).collect()
    }

    #[test]
    fn imported_from_names_module_unless_defined_in_file() {
        let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
        let path = workspace.path(Path::new("a.py")).unwrap();
        let text = "from pack import name\nimport lib\nname(lib.inner.part)\nown = name().part\nown.part\n\ndef lib2(): ...\nlib2()\n";
        let of = |line, character| {
            let deadline = Instant::now() + Duration::from_secs(60);
            imported_from("python", &path, text, Position::new(line, character), deadline)
        };
        assert_eq!(of(2, 1).as_deref(), Some("pack"));
        assert_eq!(of(2, 5).as_deref(), Some("lib"));
        assert_eq!(of(2, 16).as_deref(), Some("lib"), "behind two dots");
        assert_eq!([of(3, 13), of(4, 5), of(7, 0)], [None, None, None]);
    }

    #[test]
    fn name_in_file_is_found_at_definitions_not_in_comments() {
        assert_eq!(lines("Session"), [[5]]);
        assert_eq!(lines("Session.get"), [[6]]);
        assert_eq!(lines("get"), [[6], [10]]);
        assert_eq!(lines("load"), [[15, 17, 18]]);
        assert_eq!(lines("local"), [[11]], "what no outline has is looked for in the code");
        assert_eq!(lines("Other"), [[2]], "an import, where there is nothing else");
        assert_eq!(lines("hooks.get"), Vec::<Vec<u32>>::new());
        assert_eq!(lines("its"), Vec::<Vec<u32>>::new());
    }
}
