//! Resolution of a target to a position in a text.

use crate::analysis::answer::Resolved;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::named_places::address_of;
use crate::analysis::items::place::Place;
use crate::analysis::target::Target;
use crate::lsp::model::Symbol;
use crate::text::{Buffer, Identifier, Position, Range, identifier_near, identifiers_on_line};
use crate::workspace::WorkspacePath;

/// A position for a request, and the name it was resolved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPosition {
    /// The file.
    pub path: WorkspacePath,
    /// The position of the request.
    pub position: Position,
    /// The name at the position; `None` if there is none (an operator, a string).
    pub resolved: Option<Resolved>,
    /// The starts of other overloads of the function at the position.
    pub overloads: Vec<Position>,
    /// The 0-based characters of further occurrences of the name on the line, if only a line was
    /// given.
    pub repeated_at: Vec<u32>,
    /// The note on other symbols with the name, if one of several was chosen.
    pub namesakes: Option<String>,
}

impl ResolvedPosition {
    /// The position of the name at `range`; `moved` is true if the given position was different.
    fn from_name(path: &WorkspacePath, buffer: &Buffer, name: &Identifier, moved: bool) -> Self {
        let resolved = resolved_name(path, buffer, name, moved);
        Self {
            path: path.clone(),
            position: name.range.start,
            resolved: Some(resolved),
            overloads: Vec::new(),
            repeated_at: Vec::new(),
            namesakes: None,
        }
    }

    /// Notes on choices that were made in the resolution.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        [self.overloads_note(), self.repeated_note(), self.namesakes.clone()].into_iter().flatten()
    }

    /// The note that the function has overloads, if one was chosen here.
    fn overloads_note(&self) -> Option<String> {
        let resolved = self.resolved.as_ref().filter(|_| !self.overloads.is_empty())?;
        let others = self.overloads.iter().map(|at| address_of(&self.path, *at));
        let (symbol, others) = (&resolved.symbol, others.collect::<Vec<_>>().join(", "));
        Some(format!("`{symbol}` was resolved to one of its overloads; the others are at {others}"))
    }

    /// The note that the name occurs several times on the line, because another occurrence may be
    /// another symbol.
    fn repeated_note(&self) -> Option<String> {
        let resolved = self.resolved.as_ref().filter(|_| !self.repeated_at.is_empty())?;
        let columns: Vec<String> =
            self.repeated_at.iter().map(|character| (u64::from(*character) + 1).to_string()).collect();
        let (symbol, columns) = (&resolved.symbol, columns.join(", "));
        Some(format!(
            "the answer is about the first `{symbol}` on the line; it also occurs at column {columns}"
        ))
    }
}

/// The place of a position or of a name on a line. Positions outside the text are errors. A
/// position beside a name moves to the name.
pub(crate) fn in_text(
    path: &WorkspacePath,
    buffer: &Buffer,
    target: &Target,
) -> Result<ResolvedPosition, ToolError> {
    match target {
        Target::Position { position, .. } => at_position(path, buffer, *position),
        Target::NameOnLine { line0, name, .. } => on_line(path, buffer, *line0, name),
        Target::NameInFile { .. } | Target::Name(_) | Target::File(_) => {
            Err(ToolError::new(ErrorCode::InvalidArgs, "a position or a line is required"))
        }
    }
}

fn at_position(
    path: &WorkspacePath,
    buffer: &Buffer,
    position: Position,
) -> Result<ResolvedPosition, ToolError> {
    let file = path.display();
    if position.line >= buffer.line_count() {
        // The empty text after the last line end is a valid position, but not a line to count.
        let last = buffer.line_count() - 1;
        let lines = last + u32::from(buffer.line_len(last) > 0);
        let (line, lines) = (u64::from(position.line) + 1, line_count_text(lines));
        return Err(ToolError::new(
            ErrorCode::InvalidArgs,
            format!("{file} has {lines}, so there is no line {line} (counted from 1)"),
        ));
    }
    let length = buffer.line_len(position.line);
    if position.character > length {
        let (line, column) = (position.line + 1, u64::from(position.character) + 1);
        let error = format!(
            "line {line} of {file} has {length} characters, so there is no column {column} (counted from 1)"
        );
        return Err(ToolError::new(ErrorCode::InvalidArgs, error));
    }
    let name = identifier_near(buffer, position);
    let inside = name.as_ref().is_some_and(|name| name.range.touches(position));
    Ok(match name {
        Some(name) => {
            let start = name.range.start;
            let snapped = if inside { position.min(before_end(&name)) } else { start };
            ResolvedPosition {
                position: snapped,
                ..ResolvedPosition::from_name(path, buffer, &name, !inside)
            }
        }
        None => ResolvedPosition {
            path: path.clone(),
            position,
            resolved: None,
            overloads: Vec::new(),
            repeated_at: Vec::new(),
            namesakes: None,
        },
    })
}

fn line_count_text(lines: u32) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

/// The position of a name's last character. Servers look at the character after a position, which
/// at the end of a name is another token.
fn before_end(name: &Identifier) -> Position {
    let end = name.range.end;
    Position { line: end.line, character: end.character.saturating_sub(1).max(name.range.start.character) }
}

/// The occurrence of `name` on the 0-based `line`, or the nearest one in the file.
fn on_line(
    path: &WorkspacePath,
    buffer: &Buffer,
    line: u32,
    name: &str,
) -> Result<ResolvedPosition, ToolError> {
    let last_part = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
    let lines = buffer.line_count();
    let on = |line: u32| identifiers_on_line(buffer, line).into_iter().find(|found| found.name == last_part);
    // Nearest first: the line itself, then one below, one above, and so on.
    let found = (0..lines).find_map(|distance| {
        let below = line.checked_add(distance).filter(|line| *line < lines).and_then(on);
        below.or_else(|| {
            line.checked_sub(distance).filter(|_| distance > 0).filter(|line| *line < lines).and_then(on)
        })
    });
    match found {
        Some(found) => {
            let at = found.range.start;
            let others = identifiers_on_line(buffer, at.line).into_iter().skip_while(|other| *other != found);
            let others = others.skip(1).filter(|other| other.name == found.name);
            let repeated_at = others.map(|other| other.range.start.character).collect();
            let moved = at.line != line;
            Ok(ResolvedPosition { repeated_at, ..ResolvedPosition::from_name(path, buffer, &found, moved) })
        }
        None => Err(no_such_name(path, buffer, last_part)),
    }
}

fn no_such_name(path: &WorkspacePath, buffer: &Buffer, name: &str) -> ToolError {
    let error =
        ToolError::new(ErrorCode::NotFound, format!("{} does not contain the name `{name}`", path.display()));
    let names = (0..buffer.line_count()).flat_map(|line| identifiers_on_line(buffer, line));
    let nearest = names
        .map(|found| (strsim::damerau_levenshtein(&found.name, name), found))
        .min_by_key(|(far, _)| *far);
    match nearest {
        Some((far, found)) if far <= 1 + name.chars().count() / 4 => {
            let line = found.range.start.line + 1;
            error.with_hint(format!("the nearest name is `{}` on line {line} (counted from 1)", found.name))
        }
        _ => error,
    }
}

/// The resolved form of a name in a text.
pub(crate) fn resolved_name(
    path: &WorkspacePath,
    buffer: &Buffer,
    name: &Identifier,
    moved: bool,
) -> Resolved {
    let text = buffer.line(name.range.start.line).unwrap_or_default().into_owned();
    let place =
        Place { path: path.display(), range: name.range, text: Some(text), enclosing: None, why: None };
    Resolved { place, symbol: name.name.clone(), moved, searched: false }
}

/// The symbols of an outline that `name` means: a bare name anywhere, `Class.method` only within
/// `Class`. Adjacent overloads of one function are one entry.
pub(crate) fn find_by_name<'a>(symbols: &'a [Symbol], name: &str) -> Vec<Vec<&'a Symbol>> {
    let parts: Vec<&str> =
        name.split(['.', '#']).flat_map(|part| part.split("::")).filter(|part| !part.is_empty()).collect();
    let mut found = Vec::new();
    collect_named(symbols, &mut Vec::new(), &parts, &mut found);
    found
}

fn collect_named<'a>(
    symbols: &'a [Symbol],
    above: &mut Vec<&'a str>,
    parts: &[&str],
    found: &mut Vec<Vec<&'a Symbol>>,
) {
    let before = found.len();
    for symbol in symbols {
        let own = bare_name(&symbol.name);
        let fits =
            parts.split_last().is_some_and(|(last, containers)| own == *last && above.ends_with(containers));
        if fits {
            let is_overload = |known: &&mut Vec<&Symbol>| {
                known.first().is_some_and(|known| known.kind.is_callable() && symbol.kind.is_callable())
            };
            match found[before..].iter_mut().find(is_overload) {
                Some(known) if known.iter().any(|known| known.selection == symbol.selection) => {}
                Some(known) => known.push(symbol),
                None => found.push(vec![symbol]),
            }
        }
    }
    for symbol in symbols {
        above.push(bare_name(&symbol.name));
        collect_named(&symbol.children, above, parts, found);
        above.pop();
    }
}

/// The name without decorations: some servers write `method(int)` or `impl Trait for Type`.
fn bare_name(name: &str) -> &str {
    name.split(['(', '<', ' ']).find(|part| !part.is_empty()).unwrap_or(name)
}

/// The place of a symbol's name, and its overloads. Some servers return the start of the whole
/// definition instead of its name.
pub(crate) fn of_symbol(
    path: &WorkspacePath,
    buffer: &Buffer,
    overloads: &[&Symbol],
) -> Option<ResolvedPosition> {
    let (symbol, others) = overloads.split_first()?;
    let own = bare_name(&symbol.name);
    let selection = symbol.selection;
    let in_selection = (selection.start.line..=selection.end.line)
        .flat_map(|line| identifiers_on_line(buffer, line))
        .find(|found| found.range.start >= selection.start && found.name == own);
    let named = Identifier { name: symbol.name.clone(), range: Range::new(selection.start, selection.end) };
    let overloads = others.iter().map(|other| other.selection.start).collect();
    Some(ResolvedPosition {
        overloads,
        ..ResolvedPosition::from_name(path, buffer, &in_selection.unwrap_or(named), true)
    })
}

/// The place of the name in the first of `ranges`; the others are its overloads.
pub(crate) fn of_ranges(
    path: &WorkspacePath,
    buffer: &Buffer,
    name: &str,
    ranges: &[Range],
) -> Option<ResolvedPosition> {
    let (range, others) = ranges.split_first()?;
    let name = Identifier { name: name.to_owned(), range: *range };
    let overloads = others.iter().map(|other| other.start).collect();
    Some(ResolvedPosition { overloads, ..ResolvedPosition::from_name(path, buffer, &name, true) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::SymbolKind;
    use std::path::PathBuf;

    const TEXT: &str = "class Greeter:\n    def greet(self):\n        return hello(self)\n\nprint(1)\n";

    fn place(target: Target) -> Result<ResolvedPosition, ToolError> {
        in_text(&WorkspacePath::root(), &Buffer::new(TEXT), &target)
    }

    fn at(line: u32, character: u32) -> Target {
        Target::Position { path: PathBuf::new(), position: Position { line, character } }
    }

    #[test]
    fn position_stays_snaps_to_symbol_or_is_refused() {
        let inside = place(at(2, 17)).unwrap();
        assert_eq!((inside.position, inside.resolved.unwrap().moved), (Position::new(2, 17), false));
        let behind = place(at(2, 20)).unwrap();
        assert_eq!(
            (behind.position, behind.resolved.unwrap().symbol.as_str()),
            (Position::new(2, 19), "hello")
        );
        let beside = place(at(1, 0)).unwrap();
        assert_eq!((beside.position, beside.resolved.unwrap().moved), (Position::new(1, 4), true));
        assert_eq!(
            place(at(3, 0)).unwrap(),
            ResolvedPosition {
                path: WorkspacePath::root(),
                position: Position::new(3, 0),
                resolved: None,
                overloads: Vec::new(),
                repeated_at: Vec::new(),
                namesakes: None,
            }
        );
        assert!(
            place(at(9, 0))
                .unwrap_err()
                .error
                .ends_with("has 5 lines, so there is no line 10 (counted from 1)")
        );
        assert!(
            place(at(4, 9))
                .unwrap_err()
                .error
                .ends_with("has 8 characters, so there is no column 10 (counted from 1)")
        );
    }

    #[test]
    fn name_on_line_resolves_to_that_or_nearest_line() {
        let on =
            |line0, name: &str| place(Target::NameOnLine { path: PathBuf::new(), line0, name: name.into() });
        assert_eq!(on(2, "self").unwrap().position, Position::new(2, 21));
        let near = on(4, "greet").unwrap();
        assert_eq!((near.position, near.resolved.unwrap().moved), (Position::new(1, 8), true));
        let error = on(0, "gret").unwrap_err();
        assert_eq!(
            (error.code, error.hint.as_deref()),
            (ErrorCode::NotFound, Some("the nearest name is `greet` on line 2 (counted from 1)"))
        );
    }

    #[test]
    fn name_that_stands_twice_on_its_line_is_the_first_and_says_so() {
        let buffer = Buffer::new("from .emoji import emoji as other\n");
        let on = |name: &str| {
            let target = Target::NameOnLine { path: PathBuf::new(), line0: 0, name: name.into() };
            in_text(&WorkspacePath::root(), &buffer, &target).unwrap()
        };
        let twice = on("emoji");
        assert_eq!((twice.position, twice.repeated_at.as_slice()), (Position::new(0, 6), [19].as_slice()));
        let note = twice.notes().next().unwrap();
        assert!(note.ends_with("the first `emoji` on the line; it also occurs at column 20"), "{note}");
        assert_eq!(on("other").notes().next(), None);
    }

    #[test]
    fn qualified_name_matches_only_in_its_container() {
        let symbol = |name: &str, children| Symbol {
            name: name.into(),
            kind: SymbolKind(5),
            detail: None,
            range: Range::default(),
            selection: Range::default(),
            children,
        };
        let outline = [symbol("A", vec![symbol("go(int)", vec![])]), symbol("B", vec![symbol("go", vec![])])];
        assert_eq!(find_by_name(&outline, "go").len(), 2, "methods of two classes");
        assert_eq!(find_by_name(&outline, "B.go").len(), 1);
        assert_eq!(find_by_name(&outline, "A::go").len(), 1);
        assert!(find_by_name(&outline, "C.go").is_empty());
    }

    #[test]
    fn overloads_are_one_symbol_positioned_at_its_name() {
        let at = |line, kind| Symbol {
            name: "load".into(),
            kind: SymbolKind(kind),
            detail: None,
            range: Range::default(),
            selection: Range::new(Position::new(line, 0), Position::new(line + 1, 4)),
            children: Vec::new(),
        };
        let buffer =
            Buffer::new("@overload\ndef load(a): ...\n@overload\ndef load(b): ...\nclass load: ...\n");
        let outline = [at(0, 12), at(2, 12), at(2, 12), at(4, 5)];
        let found = find_by_name(&outline, "load");
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let place = of_symbol(&WorkspacePath::root(), &buffer, &found[0]).unwrap();
        assert_eq!(
            (place.position, place.overloads.as_slice()),
            (Position::new(1, 4), [Position::new(2, 0)].as_slice())
        );
    }
}
