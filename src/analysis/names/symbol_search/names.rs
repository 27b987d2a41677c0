//! The names of symbols: compared, split, and sorted.

use std::collections::HashMap;

use crate::lsp::model::{FileRef, WorkspaceSymbol};
use crate::text::Position;

/// A symbol with the requested name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExactSymbol {
    /// Its file.
    pub file: FileRef,
    /// The start of its name or of its definition.
    pub position: Position,
    /// The starts of its other overloads.
    pub overloads: Vec<Position>,
}

/// One symbol for each function, whose overloads are in one container of one file.
pub(super) fn without_overloads(symbols: &[WorkspaceSymbol]) -> Vec<ExactSymbol> {
    let mut found: Vec<ExactSymbol> = Vec::new();
    let mut functions: HashMap<(&FileRef, &Option<String>), usize> = HashMap::new();
    for symbol in symbols {
        let (file, position) = (&symbol.location.file, symbol.location.range.start);
        let place = (file, &symbol.container);
        let known = functions.get(&place).filter(|_| symbol.kind.is_callable()).copied();
        match known.and_then(|known| found.get_mut(known)) {
            Some(known) if known.position.line == position.line => {}
            Some(known) => known.overloads.push(position),
            None => {
                if symbol.kind.is_callable() {
                    functions.insert(place, found.len());
                }
                found.push(ExactSymbol { file: file.clone(), position, overloads: Vec::new() });
            }
        }
    }
    found
}

/// Returns true if `symbols` contain the symbol of the text.
pub(super) fn has_symbol_at(symbols: &[WorkspaceSymbol], of_text: &WorkspaceSymbol) -> bool {
    symbols.iter().any(|symbol| {
        symbol.location.file == of_text.location.file
            && symbol.location.range.start.line == of_text.location.range.start.line
            && bare_name(symbol) == bare_name(of_text)
    })
}

/// The names of the containers, the outermost first: from its container (`ns::Type<T>`,
/// `impl Trait for Type`) and its own name.
pub(super) fn container_parts(symbol: &WorkspaceSymbol) -> Vec<String> {
    let within = without_arguments(symbol.container.as_deref().unwrap_or_default());
    let own = without_arguments(&symbol.name);
    let before = own.strip_suffix(bare_name(symbol)).unwrap_or_default();
    let is_break = |character: char| !(character.is_alphanumeric() || character == '_' || character == '$');
    let parts = within.split(is_break).chain(before.split(is_break));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// `name` without the text in `<…>` and `(…)`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0_usize;
    name.chars()
        .filter(|character| match character {
            '<' | '(' => {
                depth += 1;
                false
            }
            '>' | ')' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect()
}

/// The name without parameters and containers.
pub(super) fn bare_name(symbol: &WorkspaceSymbol) -> &str {
    let name = symbol.name.split('(').next().unwrap_or_default();
    name.rsplit(['.', ':']).next().unwrap_or_default()
}

/// Sorts own code before libraries; exact names, then case-insensitive matches, then prefixes, then
/// the rest; shorter names first.
pub(super) fn sort_by_relevance(symbols: &mut [WorkspaceSymbol], query: &str) {
    let lower = query.to_lowercase();
    symbols.sort_by_cached_key(|symbol| {
        let outside = !matches!(symbol.location.file, FileRef::Inside(_));
        let name = symbol.name.to_lowercase();
        let grade = match () {
            () if symbol.name == query => 0,
            () if name == lower => 1,
            () if name.starts_with(&lower) => 2,
            () if name.contains(&lower) => 3,
            () => 4,
        };
        (outside, grade, symbol.name.len(), symbol.location.file.clone(), symbol.location.range)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::{Location, SymbolKind};
    use crate::text::Range;

    fn parts(container: Option<&str>, name: &str) -> Vec<String> {
        let location =
            Location { file: FileRef::Virtual(String::new()), range: Range::default(), text: None };
        container_parts(&WorkspaceSymbol {
            name: name.to_owned(),
            kind: SymbolKind::from_name("method").unwrap(),
            container: container.map(str::to_owned),
            location,
        })
    }

    #[test]
    fn container_parts_are_names_without_type_arguments() {
        assert_eq!(parts(Some("Session"), "request"), ["Session"]);
        assert_eq!(parts(Some("Session.prepare_request"), "request"), ["Session", "prepare_request"]);
        assert_eq!(parts(Some("ns::Cart<T, Vec<U>>"), "total(int)"), ["ns", "Cart"]);
        assert_eq!(parts(Some("impl<T> Shape for Circle<T>"), "area"), ["impl", "Shape", "for", "Circle"]);
        assert_eq!(parts(None, "Cart.total"), ["Cart"]);
        assert_eq!(parts(None, "total"), Vec::<String>::new());
    }
}
