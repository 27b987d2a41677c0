//! The whole definition of a symbol in the text that is on disk, for tools that change it.

use super::editing::{EditingTurn, read_existing};
use crate::analysis::answer::{Answer, LocationsOutput};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::named_places::abbreviate_list;
use crate::analysis::items::place::Place;
use crate::analysis::names::definition::{Definition, DefinitionExtent};
use crate::analysis::target::Target;
use crate::lsp::session::operations::Navigation;
use crate::text::{Buffer, LineColumn, line_excerpt};
use crate::tools::language::lsp_navigate;
use crate::workspace::{TextFile, WorkspacePath};

/// The maximum number of requested definitions and uses, and of those in a sentence.
pub(super) const MAX_LISTED_PLACES: usize = 50;
const MAX_NAMED_PLACES: usize = 3;

/// A symbol to change.
pub(super) struct LocatedSymbol {
    /// Its definition.
    pub(super) definition: Definition,
    /// The file on disk that contains it.
    pub(super) path: WorkspacePath,
    pub(super) file: TextFile,
    /// The whole definition.
    pub(super) extent: DefinitionExtent,
}

impl LocatedSymbol {
    /// The symbol at `target`. `None` if the edit of `turn` must be planned again, because the
    /// server's location or outline is of another text than that on disk.
    ///
    /// # Errors
    /// If there are no or several definitions, if it is outside the workspace, or if its end is
    /// unknown.
    pub(super) async fn find(
        context: &Context,
        target: &Target,
        turn: &mut EditingTurn<'_>,
    ) -> Result<Option<Self>, ToolError> {
        let found =
            lsp_navigate::run(context, Navigation::Definition, target, Some(MAX_LISTED_PLACES)).await?;
        let definition = Definition::new(context, target, &found)?;
        let path = only_file(&definition, &found)?;
        context.check_saved(std::iter::once(&path))?;
        let file = read_existing(context, &path)?.ok_or_else(|| {
            ToolError::new(ErrorCode::NotFound, format!("the file {} no longer exists", path.display()))
        })?;
        let extent = definition.extent(context).await.ok_or_else(|| no_extent(&definition.place))?;
        let text = context.text(&path)?;
        if text != *file.text.as_str() || !is_where_found(&definition.place, &text) {
            let what =
                format!("{} changed during the lookup of its symbols; the edit was not made", path.display());
            return turn.or_replan(Err(ToolError::new(ErrorCode::Conflict, what).with_hint("ask again")));
        }
        Ok(Some(Self { definition, path, file, extent }))
    }

    /// The uses of the symbol outside its own definition, at most `limit`, and their number.
    pub(super) async fn uses(&self, context: &Context, limit: usize) -> Result<SymbolUsage, ToolError> {
        let target = &self.definition.target;
        let mut found = lsp_navigate::run(context, Navigation::References, target, Some(limit)).await?;
        let own = self.path.display();
        let is_own = |place: &Place| place.path == own && self.extent.range.encloses(&place.range);
        let mut places = std::mem::take(&mut found.output.locations).0;
        let listed = places.len();
        places.retain(|place| !is_own(place));
        let count = found.output.count - (listed - places.len());
        Ok(SymbolUsage { places, count, found })
    }
}

/// The uses of a symbol.
pub(super) struct SymbolUsage {
    pub(super) places: Vec<Place>,
    pub(super) count: usize,
    /// The answer that lists them, without its places.
    pub(super) found: Answer<LocationsOutput>,
}

impl SymbolUsage {
    /// The number of uses in words: `once` or `3 times`.
    pub(super) fn times(&self) -> String {
        if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) }
    }
}

/// The file of the definition, which must be the only one or the requested place.
fn only_file(definition: &Definition, found: &Answer<LocationsOutput>) -> Result<WorkspacePath, ToolError> {
    if found.output.locations.len() > 1 && !definition.is_asked {
        let places = shown_places(&found.output.locations);
        let what =
            format!("the symbol has {} definitions: {places}; nothing was changed", found.output.count);
        return Err(
            ToolError::new(ErrorCode::InvalidArgs, what).with_hint("select one with `path` and `line`")
        );
    }
    definition.path.clone().ok_or_else(|| {
        let what = format!("the symbol is defined outside the workspace, in {}", definition.place.path);
        ToolError::new(ErrorCode::OutsideWorkspace, what)
    })
}

/// Returns true if `text` still has the line of `place` in which the server found the symbol. A
/// changed line may contain another symbol.
fn is_where_found(place: &Place, text: &Buffer) -> bool {
    let Some(found) = &place.text else { return true };
    let start = place.range.start;
    // Shortened like the lines of answers.
    let line = text.line(start.line).map(|line| line_excerpt(&line, start.character));
    line.is_some_and(|line| line.trim_end() == found.trim_end())
}

fn no_extent(place: &Place) -> ToolError {
    let at = LineColumn::from(place.range.start);
    let what = format!("{}:{at}: the end of the definition is unknown; nothing was changed", place.path);
    ToolError::new(ErrorCode::Unsupported, what).with_hint("change it with `edit`")
}

/// The first of `places`, in words.
pub(super) fn shown_places(places: &[Place]) -> String {
    let shown = |place: &Place| format!("{}:{}", place.path, LineColumn::from(place.range.start));
    abbreviate_list(places.iter().map(shown), places.len(), MAX_NAMED_PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Position, Range};

    #[test]
    fn symbol_is_looked_for_anew_where_its_line_is_another() {
        let range = Range::new(Position::new(1, 4), Position::new(1, 5));
        let found = |text: Option<&str>| Place {
            path: "a.py".into(),
            range,
            text: text.map(str::to_owned),
            enclosing: None,
            why: None,
        };
        let file = "def a(): ...\r\ndef b(): ...  \r\ndef c(): ...\r\n";
        assert!(is_where_found(&found(Some("def b(): ...")), &Buffer::new(file)));
        assert!(
            !is_where_found(&found(Some("def b(): ...")), &Buffer::new(&file[14..])),
            "another function stands there"
        );
        assert!(!is_where_found(&found(Some("def b(): ...")), &Buffer::new("def a(): ...")));
        assert!(is_where_found(&found(None), &Buffer::new(file)), "nothing to compare");
        let long = format!("x = 1\ndef b(): {}", "x".repeat(100_000));
        let cut = line_excerpt(long.lines().nth(1).unwrap(), 4);
        assert!(cut.len() < 100_000 && is_where_found(&found(Some(&cut)), &Buffer::new(&long)));
    }
}
