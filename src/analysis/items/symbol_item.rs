//! Symbols in the form for programs: the position of the name, and the whole extent only if it
//! differs.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::short_range::ShortRange;
use crate::text::{Position, Range};

/// A symbol of an outline or of a workspace search. Programs get it as [`SymbolFields`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "SymbolFields<'_>")]
pub struct SymbolItem {
    /// The name.
    pub name: String,
    /// The LSP symbol kind.
    pub kind: String,
    /// Details from the server.
    pub detail: Option<String>,
    /// The name of its container (workspace search only).
    pub container: Option<String>,
    /// The path relative to the workspace (workspace search only; an outline is of one file).
    pub path: Option<String>,
    /// The range of the whole symbol (outline), or of its name (workspace search).
    pub range: Range,
    /// The range of its name (outline only).
    pub selection: Option<Range>,
    /// The source line (workspace search only).
    pub text: Option<String>,
    /// The symbols within it (outline only).
    pub children: Vec<SymbolItem>,
}

/// The serialized form of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SymbolFields<'a> {
    /// The name.
    name: Cow<'a, str>,
    /// LSP's symbol kind.
    kind: Cow<'a, str>,
    /// The server's detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Cow<'a, str>>,
    /// The containing symbol (workspace search only).
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    container: Option<Cow<'a, str>>,
    /// Relative to the workspace (workspace search only).
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    /// The position of the name; with an end if that is not the end of the name.
    at: ShortRange,
    /// The range of the whole definition, if larger (outline only).
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<ShortRange>,
    /// The source line without its indentation (workspace search only).
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    /// Nested symbols (outline only).
    #[serde(default, skip_serializing_if = "<[SymbolItem]>::is_empty")]
    #[schemars(with = "Vec<SymbolItem>")]
    children: Cow<'a, [SymbolItem]>,
}

impl<'a> SymbolFields<'a> {
    fn new(symbol: &'a SymbolItem) -> Self {
        let shown = symbol.selection.unwrap_or(symbol.range);
        let borrowed = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            name: Cow::Borrowed(&symbol.name),
            kind: Cow::Borrowed(&symbol.kind),
            detail: borrowed(&symbol.detail),
            container: borrowed(&symbol.container),
            path: borrowed(&symbol.path),
            at: ShortRange::without_end_at(shown, name_end(shown.start, &symbol.name)),
            range: (symbol.range != shown).then_some(ShortRange(symbol.range)),
            text: symbol.text.as_deref().map(|line| Cow::Borrowed(line.trim_start())),
            children: Cow::Borrowed(&symbol.children),
        }
    }
}

/// The end of a name that begins at `start`.
fn name_end(start: Position, name: &str) -> Position {
    start.right_by(name.chars().count())
}

impl Serialize for SymbolItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SymbolFields::new(self).serialize(serializer)
    }
}

impl From<SymbolFields<'_>> for SymbolItem {
    fn from(found: SymbolFields<'_>) -> Self {
        let ShortRange(at) = found.at;
        let shown =
            if at.start == at.end { Range::new(at.start, name_end(at.start, &found.name)) } else { at };
        Self {
            // A search has a file for each symbol, an outline has none.
            selection: found.path.is_none().then_some(shown),
            range: found.range.map_or(shown, |whole| whole.0),
            name: found.name.into_owned(),
            kind: found.kind.into_owned(),
            detail: found.detail.map(Cow::into_owned),
            container: found.container.map(Cow::into_owned),
            path: found.path.map(Cow::into_owned),
            text: found.text.map(Cow::into_owned),
            children: found.children.into_owned(),
        }
    }
}

impl JsonSchema for SymbolItem {
    fn schema_name() -> Cow<'static, str> {
        SymbolFields::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SymbolFields::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn symbol(name: &str, (line, from, to): (u32, u32, u32)) -> SymbolItem {
        let selection = Range::new(Position::new(line, from), Position::new(line, to));
        SymbolItem {
            name: name.into(),
            kind: "function".into(),
            detail: None,
            container: None,
            path: None,
            range: selection,
            selection: Some(selection),
            text: None,
            children: Vec::new(),
        }
    }

    #[test]
    fn outline_says_where_each_name_stands_and_how_far_the_whole_goes() {
        let mut outer = symbol("näme", (1, 4, 8));
        outer.range = Range::new(Position::new(0, 0), Position::new(9, 3));
        outer.children = vec![symbol("inner", (2, 8, 20))];
        let json = serde_json::to_value(&outer).unwrap();
        let inner = json!({"name": "inner", "kind": "function", "at": "3:9-21"});
        assert_eq!(
            json,
            json!({"name": "näme", "kind": "function", "at": "2:5", "range": "1:1-10:4", "children": [inner]})
        );
        assert_eq!(serde_json::from_value::<SymbolItem>(json).unwrap(), outer);
    }

    #[test]
    fn symbol_of_a_search_has_its_file_and_what_it_lies_in() {
        let mut found = symbol("total", (4, 8, 13));
        (found.path, found.container) = (Some("a.py".into()), Some("Cart".into()));
        (found.selection, found.text) = (None, Some("def total():".into()));
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(
            json,
            json!({"name": "total", "kind": "function", "in": "Cart", "path": "a.py", "at": "5:9", "text": "def total():"})
        );
        assert_eq!(serde_json::from_value::<SymbolItem>(json).unwrap(), found);
    }
}
