//! The definition of a symbol, and its extent: the whole function or class, not only its name.

use super::outline::outline;
use crate::analysis::answer::{Answer, LocationsOutput, SymbolItem};
use crate::analysis::ask::fallback;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::place::Place;
use crate::analysis::target::Target;
use crate::lsp::model::Symbol;
use crate::syntax;
use crate::text::Range;
use crate::workspace::WorkspacePath;

/// The most symbols of one outline that are searched.
const MAX_OUTLINE_SYMBOLS: usize = 20_000;

/// The place of a symbol's definition, and a target for requests about it.
#[derive(Debug)]
pub(crate) struct Definition {
    /// The place of its name.
    pub place: Place,
    /// The file, if it is in the workspace.
    pub path: Option<WorkspacePath>,
    /// The definition; for one outside the workspace, the place that was asked about.
    pub target: Target,
    /// True if the place that was asked about is this definition.
    pub is_asked: bool,
}

/// A whole definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DefinitionExtent {
    /// The qualified name of the symbol (`Class.method`).
    pub name: String,
    /// The LSP symbol kind.
    pub kind: String,
    /// The range from the first to the last character.
    pub range: Range,
}

impl Definition {
    /// The definition of `target`: the place that was asked about if it is among the results, else
    /// the first. If there are no results, it is the resolved place of the request.
    ///
    /// # Errors
    /// `not_found` if no name was resolved either.
    pub(crate) fn new(
        context: &Context,
        target: &Target,
        found: &Answer<LocationsOutput>,
    ) -> Result<Self, ToolError> {
        let resolved = found.resolved.as_ref().map(|resolved| resolved.place.clone());
        let is_asked = |place: &&Place| {
            let origin = found.resolved.as_ref().map(|origin| &origin.place);
            origin.is_some_and(|origin| origin.path == place.path && place.range.touches(origin.range.start))
        };
        let origin = found.output.locations.iter().find(is_asked);
        let place = origin.or(found.output.locations.first()).cloned().or(resolved).ok_or_else(|| {
            ToolError::new(ErrorCode::NotFound, "no name there")
                .with_hint("give FILE:NAME, or the line and column of a name")
        })?;
        let path = context.workspace.path(place.path.as_ref()).ok();
        let target = match &path {
            Some(path) => {
                Target::Position { path: context.workspace.absolute(path), position: place.range.start }
            }
            None => target.clone(),
        };
        Ok(Self { place, path, target, is_asked: origin.is_some() })
    }

    /// The whole lines of `range` in its file, without line ends; `None` if the file cannot be
    /// read.
    pub(crate) fn source_lines(&self, context: &Context, range: Range) -> Option<Vec<String>> {
        let text = context.text(self.path.as_ref()?).ok()?;
        let lines = (range.start.line..=range.end.line).filter_map(|line| text.line(line));
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        (!lines.is_empty()).then_some(lines)
    }

    /// The whole extent by the server's outline. The syntax tree is used if there is no outline, or
    /// if it has only the range of the name.
    pub(crate) async fn extent(&self, context: &Context) -> Option<DefinitionExtent> {
        let path = self.path.clone()?;
        let file = context.language_file(path.clone()).ok()?;
        let outline = outline(context, file, MAX_OUTLINE_SYMBOLS, true).await.ok()?;
        let by_server = extent_in(&outline.output.symbols, &self.place.range, "");
        if let Some((extent, name)) = &by_server
            && extent.range != *name
        {
            return Some(extent.clone());
        }
        let at = self.place.range;
        let by_tree = fallback::run_in_background(context, move |workspace, catalogue| {
            let until = std::time::Instant::now() + syntax::DEADLINE;
            let symbols = syntax::symbols(workspace, catalogue, &path, until)?.unwrap_or_default();
            Ok(extent_in_tree(&symbols, &at))
        });
        by_tree.await.ok().flatten().or(by_server.map(|(extent, _)| extent))
    }
}

/// The symbol whose name is at `at`, and the range of that name.
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
