//! Protection of definitions in files that a rule hides: hovers, signatures and completions repeat
//! their documentation and values.

use std::collections::HashSet;

use tokio::time::Instant;

use crate::analysis::context::Context;
use crate::analysis::items::answer_places::is_hidden;
use crate::lsp::model::FileRef;
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::operations::Navigation;
use crate::lsp::session::request::PlaceInText;
use crate::rpc::RequestError;
use crate::text::{Buffer, Position, Range, identifiers_on_line};
use crate::workspace::{Workspace, WorkspacePath};

/// The note of an answer that was withheld.
pub(crate) const WITHHELD_NOTE: &str =
    "a rule hides the file that defines the name, so the server's text about it is omitted";

/// The longest call or list whose beginning is searched for, in lines.
const MAX_STATEMENT_LINES: u32 = 40;
/// The most names of a statement that are looked up. The answer about a longer one is withheld.
const MAX_LOOKED_UP_NAMES: usize = 60;

/// The words at the beginning of a class or of what is like one.
const CLASS_WORDS: [&str; 6] = ["class", "interface", "impl", "object", "struct", "trait"];
/// The longest class whose beginning is searched for, in lines.
const MAX_CLASS_LINES: u32 = 2_000;

/// Withholds a server's text about names that are defined in hidden files.
#[derive(Debug, Clone)]
pub(crate) struct HiddenDefinitions(Option<Workspace>);

impl HiddenDefinitions {
    /// The hidden files of a call. If no rule hides files, nothing is looked up.
    pub(crate) fn new(context: &Context) -> Self {
        Self(context.limits.may_hide().then(|| context.workspace.clone()))
    }

    /// Returns `answer` about the file `path`, or `None` if one of the `names` in its text, or its
    /// type, is defined in a hidden file.
    ///
    /// # Errors
    /// If the server fails to answer where the names are defined.
    pub(crate) async fn withhold<T>(
        &self,
        session: &Session,
        path: &WorkspacePath,
        answer: SessionAnswer<T>,
        names: impl FnOnce(&Buffer) -> Vec<Position> + Send,
        deadline: Instant,
    ) -> Result<SessionAnswer<Option<T>>, AskError> {
        let Some(workspace) = &self.0 else { return Ok(answer.map(Some)) };
        let names = names(&answer.snapshot.buffer);
        let mut is_withheld = names.len() > MAX_LOOKED_UP_NAMES;
        let mut next: Vec<_> = names.into_iter().map(|name| (path.clone(), name)).collect();
        let mut visited = HashSet::new();
        while let Some((path, name)) = next.pop().filter(|_| !is_withheld) {
            if visited.len() > 2 * MAX_LOOKED_UP_NAMES || !visited.insert((path.clone(), name)) {
                continue;
            }
            for navigation in [Navigation::Definition, Navigation::TypeDefinition] {
                if is_withheld || !session.offers(navigation.method(), &path, &answer.snapshot.language_id) {
                    continue;
                }
                let found = match session.navigate(navigation, &path, &name, deadline).await {
                    // Some servers return an error for a keyword.
                    Err(AskError::Request(RequestError::Refused { .. })) => continue,
                    found => found?,
                };
                let is_own = path == answer.snapshot.path;
                if is_own && found.snapshot.buffer != answer.snapshot.buffer {
                    return Err(AskError::Moving { path: path.display() });
                }
                is_withheld = found.value.iter().any(|place| is_hidden(workspace, &place.file));
                for place in found.value {
                    let FileRef::Inside(file) = place.file else { continue };
                    let Ok(text) = workspace.read_text(&file) else { continue };
                    let names = documenting_names(&Buffer::new(&text.text), place.range.start);
                    next.extend(names.into_iter().map(|name| (file.clone(), name)));
                }
            }
        }
        Ok(answer.map(|value| (!is_withheld).then_some(value)))
    }
}

/// The names whose documentation or values servers show for the definition at `position` as well:
/// all of an assignment, and the bases of its class.
fn documenting_names(buffer: &Buffer, position: Position) -> Vec<Position> {
    let line = |number: u32| buffer.line(number).unwrap_or_default().to_string();
    let names = |number: u32| identifiers_on_line(buffer, number).into_iter().map(|name| name.range.start);
    let text = line(position.line);
    let of_assignment = if text.contains('=') { names_around(buffer, position) } else { Vec::new() };
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut above = (position.line.saturating_sub(MAX_CLASS_LINES)..position.line).rev();
    let header = above.find(|number| {
        let above = line(*number);
        !above.trim().is_empty() && indent(&above) < indent(&text)
    });
    let is_class = |number: &u32| line(*number).split_whitespace().any(|word| CLASS_WORDS.contains(&word));
    let of_class = header.into_iter().chain([position.line]).filter(is_class).flat_map(names);
    of_assignment.into_iter().chain(of_class).collect()
}

/// The names in the statement around `place`.
pub(crate) fn names_at(buffer: &Buffer, place: &dyn PlaceInText) -> Vec<Position> {
    place.position_in(buffer).map_or_else(Vec::new, |position| names_around(buffer, position))
}

/// The names in the statement around `position`, delimited by brackets: on its line, on the lines
/// from the start of the enclosing call or list, and for a list of imports up to its end.
fn names_around(buffer: &Buffer, position: Position) -> Vec<Position> {
    let start = Position::new(position.line.saturating_sub(MAX_STATEMENT_LINES), 0);
    let start_byte = buffer.byte_offset(start);
    let before = buffer.slice(Range::new(start, position));
    let (mut first, mut last, mut depth) = (position.line, position.line, 0_usize);
    for (at, character) in before.char_indices().rev() {
        match character {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '[' => first = buffer.position_of_byte(start_byte + at).line,
            '{' => {
                let line = buffer.position_of_byte(start_byte + at).line;
                let text = buffer.line(line).unwrap_or_default();
                if !["import", "export", "use", "pub use"]
                    .iter()
                    .any(|word| text.trim_start().starts_with(word))
                {
                    break;
                }
                first = line;
                let end = Position::new(position.line.saturating_add(MAX_STATEMENT_LINES), 0);
                let after = buffer.slice(Range::new(position, end));
                let end =
                    after.find('}').map(|at| buffer.position_of_byte(buffer.byte_offset(position) + at));
                last = end.map_or(last, |end| end.line);
            }
            _ => {}
        }
    }
    (first..=last).flat_map(|line| identifiers_on_line(buffer, line)).map(|name| name.range.start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let (before, after) = text.split_once('|').unwrap();
        let buffer = Buffer::new(&format!("{before}{after}"));
        let at = buffer.position_of_byte(before.len());
        let found = names_around(&buffer, at).into_iter();
        let found = found.map(|at| crate::text::identifier_near(&buffer, at).unwrap().name);
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn definition_is_documented_by_other_name_of_an_alias_and_by_bases_of_its_class() {
        for (text, expected) in [
            ("|w = y\n", "w y"),
            ("const |w: T = hard.y;\n", "const w T hard y"),
            ("|w = make(y)\n", "w make y"),
            ("u, |w = (y), [z]\n", "u w y z"),
            ("class A(Hard):\n    x = 1\n\n    def |m(self):\n", "class A Hard"),
            ("class A extends Hard {\n  |m() {}\n}\n", "class A extends Hard"),
            ("class |A(Hard):\n", "class A Hard"),
            ("if y:\n    def |m(self):\n", ""),
            ("def f():\n    |w = y\n", "w y"),
        ] {
            let (before, after) = text.split_once('|').unwrap();
            let buffer = Buffer::new(&format!("{before}{after}"));
            let found = documenting_names(&buffer, buffer.position_of_byte(before.len())).into_iter();
            let found = found.map(|at| crate::text::identifier_near(&buffer, at).unwrap().name);
            assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn names_around_position_are_of_its_line_call_and_import_list() {
        for (text, expected) in [
            ("a = b\nfrom hard import |\nc = d\n", "from hard import"),
            ("other()\nmake(\n    one,\n    [two, |],\n)\n", "make one two"),
            ("fn f() {\n    let a = other();\n    hard.|\n}\n", "hard"),
            ("import {\n  one,\n  |\n} from './hard'\nlater()\n", "import one from hard"),
            ("run(() => {\n  hard.|\n})\n", "hard"),
            ("|", ""),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }
}
