//! Grouping of places by the function or class around them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use super::output::ExploreItem;
use crate::config::Catalogue;
use crate::hints;
use crate::lsp::model::{Symbol, SymbolKind};
use crate::text::Position;
use crate::tools::answer::Place;
use crate::tools::test_conventions::is_test;
use crate::workspace::Workspace;

/// The most lines that are named of one function.
const MAX_LINES_PER_ITEM: usize = 5;

/// Uses by what they stand in: functions, types, the rest, and the top level of files; of each those with the most uses first.
#[derive(Debug, Default)]
pub(super) struct EnclosedUses {
    /// In sources.
    pub callers: Vec<ExploreItem>,
    /// In tests.
    pub tests: Vec<ExploreItem>,
}

/// Groups `places`. After `deadline` files are no longer parsed, and what stands in them is named by file only.
pub(super) fn enclosed_uses(
    workspace: &Workspace,
    catalogue: &Catalogue,
    places: Vec<Place>,
    deadline: Instant,
) -> EnclosedUses {
    let mut outlines: HashMap<String, Vec<Symbol>> = HashMap::new();
    let mut groups: BTreeMap<(String, Option<String>), ExploreItem> = BTreeMap::new();
    for place in places {
        let outline = outlines.entry(place.path.clone()).or_insert_with(|| {
            let path = workspace.path(place.path.as_ref()).ok();
            let symbols = path.and_then(|path| hints::symbols(workspace, catalogue, &path, deadline).ok());
            symbols.flatten().unwrap_or_default()
        });
        let around = symbol_around(outline, place.range.start);
        let (symbol, kind) = around.unzip();
        let line = place.range.start.line;
        let item = groups.entry((place.path.clone(), symbol.clone())).or_insert_with(|| ExploreItem {
            path: place.path,
            symbol,
            kind,
            lines: Vec::new(),
            places: 0,
            text: place.text.map(|text| text.trim().to_owned()),
        });
        item.places += 1;
        if item.lines.len() < MAX_LINES_PER_ITEM && !item.lines.contains(&line) {
            item.lines.push(line);
        }
    }
    let mut items: Vec<ExploreItem> = groups.into_values().collect();
    items.sort_by_key(|item| (kind_rank(item), Reverse(item.places)));
    let (tests, callers) = items.into_iter().partition(|item| {
        let in_test_module = item.symbol.as_deref().is_some_and(|symbol| symbol.starts_with("tests."));
        in_test_module || is_test(&item.path.split('/').collect::<Vec<_>>())
    });
    EnclosedUses { callers, tests }
}

fn kind_rank(item: &ExploreItem) -> u8 {
    match item.kind.as_deref().and_then(SymbolKind::from_name) {
        Some(kind) if kind.is_callable() => 0,
        Some(kind) if matches!(kind.name(), "class" | "interface" | "struct" | "enum") => 1,
        Some(_) => 2,
        None => 3,
    }
}

/// The innermost symbol around `at` that has a body, with what it lies in, and its kind.
fn symbol_around(symbols: &[Symbol], at: Position) -> Option<(String, String)> {
    let mut found: Option<(String, String)> = None;
    let mut level = symbols;
    while let Some(symbol) =
        level.iter().find(|symbol| symbol.range.touches(at) && symbol.range.start != symbol.range.end)
    {
        let name = match &found {
            Some((above, _)) => format!("{above}.{}", symbol.name),
            None => symbol.name.clone(),
        };
        found = Some((name, symbol.kind.name().to_owned()));
        level = &symbol.children;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Range;

    fn symbol(name: &str, kind: &str, (first, last): (u32, u32), children: Vec<Symbol>) -> Symbol {
        let name_start = Position::new(first, 4);
        Symbol {
            name: name.to_owned(),
            kind: SymbolKind::from_name(kind).unwrap(),
            detail: None,
            range: Range::new(Position::new(first, 0), Position::new(last, 20)),
            selection: Range::new(name_start, Position::new(first, 9)),
            children,
        }
    }

    fn outline() -> Vec<Symbol> {
        let method = symbol("total", "method", (3, 6), Vec::new());
        vec![symbol("Cart", "class", (1, 9), vec![method]), symbol("main", "function", (12, 14), Vec::new())]
    }

    #[test]
    fn place_belongs_to_innermost_symbol_around_it() {
        let around = |line| symbol_around(&outline(), Position::new(line, 8)).map(|(name, _)| name);
        assert_eq!(around(4).as_deref(), Some("Cart.total"));
        assert_eq!(around(8).as_deref(), Some("Cart"));
        assert_eq!(around(13).as_deref(), Some("main"));
        assert_eq!(around(10), None);
    }
}
