//! Grouping of places by the function or class around them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::output::ExploreItem;
use crate::analysis::items::place::Place;
use crate::analysis::names::outline_cache::EnclosingSymbol;
use crate::lsp::model::SymbolKind;
use crate::syntax::test_conventions::is_test;

/// The most places listed for one function, one per line.
const MAX_PLACES_PER_ITEM: usize = 5;

/// Uses by enclosing symbol: functions, types, the rest, and the top level of files; within each
/// kind those with the most uses first.
#[derive(Debug, Default)]
pub(super) struct EnclosedUses {
    /// The uses in sources.
    pub callers: Vec<ExploreItem>,
    /// The uses in tests.
    pub tests: Vec<ExploreItem>,
}

/// Groups `places`, each given with its enclosing symbol.
pub(super) fn enclosed_uses(
    places: impl IntoIterator<Item = (Place, Option<EnclosingSymbol>)>,
) -> EnclosedUses {
    let mut groups: BTreeMap<(String, Option<String>), ExploreItem> = BTreeMap::new();
    for (place, around) in places {
        let symbol = around.as_ref().map(|around| around.name.to_string());
        let start = place.range.start;
        let item = groups.entry((place.path.clone(), symbol.clone())).or_insert_with(|| ExploreItem {
            path: place.path,
            symbol,
            kind: around.map(|around| around.kind.name().to_owned()),
            at: Vec::new(),
            places: 0,
            text: place.text.map(|text| text.trim().to_owned()),
        });
        item.places += 1;
        let is_named = item.at.iter().any(|known| known.line == start.line);
        if item.at.len() < MAX_PLACES_PER_ITEM && !is_named {
            item.at.push(start);
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
