//! The definition of a symbol, and its extent: the whole function or class, not only its name.

use super::answer::{Answer, LocationsOutput, SymbolItem};
use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::fallback;
use super::lsp_symbols;
use super::place::Place;
use super::target::Target;
use crate::hints;
use crate::lsp::model::Symbol;
use crate::text::Range;
use crate::workspace::WorkspacePath;

/// The most symbols of one outline that are looked through.
const MAX_OUTLINE_SYMBOLS: usize = 20_000;

/// Where a symbol is defined, and how questions about it name it.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Its name.
    pub place: Place,
    /// The file, where it is one of the workspace.
    pub path: Option<WorkspacePath>,
    /// The definition; outside the workspace the place that was asked about.
    pub target: Target,
    /// The place that was asked about is this definition.
    pub is_asked: bool,
}

/// A whole definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DefinitionExtent {
    /// The symbol with what it lies in (`Class.method`).
    pub name: String,
    /// What it is, in LSP's words.
    pub kind: String,
    /// From its first to its last character.
    pub range: Range,
}

impl Definition {
    /// Of the places that answer where `target` is defined the one that was asked about, else the first; `target` itself where there are
    /// none.
    ///
    /// # Errors
    /// `not_found` where no name stands there.
    pub(crate) fn new(
        context: &Context,
        target: &Target,
        found: &Answer<LocationsOutput>,
    ) -> Result<Self, ToolError> {
        let resolved = found.resolved.as_ref().map(|resolved| resolved.place.clone());
        let is_asked = |place: &&Place| {
            let asked = found.resolved.as_ref().map(|asked| &asked.place);
            asked.is_some_and(|asked| asked.path == place.path && place.range.touches(asked.range.start))
        };
        let asked = found.output.locations.iter().find(is_asked);
        let place = asked.or(found.output.locations.first()).cloned().or(resolved).ok_or_else(|| {
            ToolError::new(ErrorCode::NotFound, "no name stands there")
                .with_hint("give FILE:NAME, or the line and column of a name")
        })?;
        let path = context.workspace.path(place.path.as_ref()).ok();
        let target = match &path {
            Some(path) => {
                Target::Position { path: context.workspace.absolute(path), position: place.range.start }
            }
            None => target.clone(),
        };
        Ok(Self { place, path, target, is_asked: asked.is_some() })
    }

    /// The whole lines of `range` in its file, without what ends them; `None` where there is nothing to see.
    pub(crate) fn source_lines(&self, context: &Context, range: Range) -> Option<Vec<String>> {
        let text = context.text(self.path.as_ref()?).ok()?;
        let lines = (range.start.line..=range.end.line).filter_map(|line| text.line(line));
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        (!lines.is_empty()).then_some(lines)
    }

    /// The whole of it by the server's outline; by the syntax tree where there is none, or it says only where the name is.
    pub(crate) async fn extent(&self, context: &Context) -> Option<DefinitionExtent> {
        let path = self.path.clone()?;
        let file = Target::File(context.workspace.absolute(&path));
        let outline = lsp_symbols::run(context, &file, Some(MAX_OUTLINE_SYMBOLS), true).await.ok()?;
        let by_server = extent_in(&outline.output.symbols, &self.place.range, "");
        if let Some((extent, name)) = &by_server
            && extent.range != *name
        {
            return Some(extent.clone());
        }
        let at = self.place.range;
        let by_tree = fallback::run_in_background(context, move |workspace, catalogue| {
            let until = std::time::Instant::now() + hints::DEADLINE;
            let symbols = hints::symbols(workspace, catalogue, &path, until)?.unwrap_or_default();
            Ok(extent_in_tree(&symbols, &at))
        });
        by_tree.await.ok().flatten().or(by_server.map(|(extent, _)| extent))
    }
}

/// The symbol whose name is at `at`, and where that name is.
fn extent_in(symbols: &[SymbolItem], at: &Range, above: &str) -> Option<(DefinitionExtent, Range)> {
    symbols.iter().find_map(|symbol| {
        let name = if above.is_empty() { symbol.name.clone() } else { format!("{above}.{}", symbol.name) };
        if let Some(inner) = extent_in(&symbol.children, at, &name) {
            return Some(inner);
        }
        let selection = symbol.selection.unwrap_or(symbol.range);
        let is_it =
            selection.touches(at.start) || symbol.range.encloses(at) && selection.start.line == at.start.line;
        is_it.then(|| (DefinitionExtent { name, kind: symbol.kind.clone(), range: symbol.range }, selection))
    })
}

fn extent_in_tree(symbols: &[Symbol], at: &Range) -> Option<DefinitionExtent> {
    symbols.iter().find_map(|symbol| {
        if let Some(inner) = extent_in_tree(&symbol.children, at) {
            let name = format!("{}.{}", symbol.name, inner.name);
            return Some(DefinitionExtent { name, ..inner });
        }
        let (name, kind) = (symbol.name.clone(), symbol.kind.name().to_owned());
        symbol.selection.touches(at.start).then_some(DefinitionExtent { name, kind, range: symbol.range })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::SymbolKind;
    use crate::text::Position;

    fn symbol(name: &str, kind: &str, (first, last): (u32, u32), children: Vec<Symbol>) -> Symbol {
        Symbol {
            name: name.to_owned(),
            kind: SymbolKind::from_name(kind).unwrap(),
            detail: None,
            range: Range::new(Position::new(first, 0), Position::new(last, 20)),
            selection: Range::new(Position::new(first, 4), Position::new(first, 9)),
            children,
        }
    }

    #[test]
    fn extent_of_symbol_at_its_name_has_what_it_lies_in() {
        let method = symbol("total", "method", (3, 6), Vec::new());
        let outline = [symbol("Cart", "class", (1, 9), vec![method])];
        let at = |line| extent_in_tree(&outline, &Range::empty(Position::new(line, 5)));
        let extent = at(3).unwrap();
        assert_eq!(
            (extent.name.as_str(), extent.kind.as_str(), extent.range.end.line),
            ("Cart.total", "method", 6)
        );
        assert_eq!(at(1).unwrap().name, "Cart");
        assert_eq!(at(4), None);
    }
}
