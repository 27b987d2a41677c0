//! The cache of functions and types of files, by file state, for the names of enclosing symbols.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::lsp::model::{Symbol, SymbolKind};
use crate::text::{Position, Range};
use crate::workspace::{FileStamp, WorkspacePath};

/// The most files with a cached outline.
const MAX_KEPT_OUTLINES: usize = 128;

/// A function, method or type around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnclosingSymbol {
    /// The qualified name (`Class.method`).
    pub name: Arc<str>,
    /// The kind of the symbol.
    pub kind: SymbolKind,
}

/// The symbols of a file that have a body.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileOutline(Arc<[(Range, EnclosingSymbol)]>);

/// Outlines of files, each as of one state of its file.
#[derive(Debug, Default)]
pub(crate) struct OutlineCache(Mutex<HashMap<WorkspacePath, (FileStamp, FileOutline)>>);

impl OutlineCache {
    /// The cached outline of the file at `path` in this state.
    pub(crate) fn get(&self, path: &WorkspacePath, stamp: FileStamp) -> Option<FileOutline> {
        let kept = self.0.lock();
        kept.get(path).filter(|(of, _)| *of == stamp).map(|(_, outline)| outline.clone())
    }

    /// Caches the outline of the file at `path` in this state.
    pub(crate) fn insert(&self, path: WorkspacePath, stamp: FileStamp, outline: FileOutline) {
        let mut kept = self.0.lock();
        if kept.len() >= MAX_KEPT_OUTLINES {
            kept.clear();
        }
        kept.insert(path, (stamp, outline));
    }
}

impl FileOutline {
    /// The outline of a file that defines `symbols`.
    pub(crate) fn new(symbols: &[Symbol]) -> Self {
        let mut flat = Vec::new();
        flatten(symbols, "", false, &mut flat);
        Self(flat.into())
    }

    /// The innermost symbol around `at`.
    pub(crate) fn innermost(&self, at: Position) -> Option<EnclosingSymbol> {
        let around = self.0.iter().filter(|(range, _)| range.touches(at));
        around
            .min_by_key(|(range, _)| (std::cmp::Reverse(range.start), range.end))
            .map(|(_, symbol)| symbol.clone())
    }
}

fn flatten(symbols: &[Symbol], above: &str, in_code: bool, flat: &mut Vec<(Range, EnclosingSymbol)>) {
    for symbol in symbols {
        // Variables that code assigns (`self.name` in a constructor) are defined there, but enclose
        // nothing.
        if in_code && symbol.kind.is_variable() {
            continue;
        }
        let name = match above {
            "" => symbol.name.clone(),
            above => format!("{above}.{}", symbol.name),
        };
        if symbol.range.start != symbol.range.end {
            flat.push((symbol.range, EnclosingSymbol { name: name.as_str().into(), kind: symbol.kind }));
        }
        flatten(&symbol.children, &name, symbol.kind.is_callable(), flat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn place_belongs_to_innermost_symbol_around_it() {
        let attribute = symbol("sum", "field", (4, 4), Vec::new());
        let method = symbol("total", "method", (3, 6), vec![attribute]);
        let class = symbol("Cart", "class", (1, 9), vec![method]);
        let outline = FileOutline::new(&[class, symbol("main", "function", (12, 14), Vec::new())]);
        let around = |line| outline.innermost(Position::new(line, 8)).map(|symbol| symbol.name.to_string());
        assert_eq!(around(4).as_deref(), Some("Cart.total"));
        assert_eq!(around(8).as_deref(), Some("Cart"));
        assert_eq!(around(13).as_deref(), Some("main"));
        assert_eq!(around(10), None);
    }
}
