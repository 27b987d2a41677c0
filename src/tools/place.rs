//! Places as answers give them: in a list the path once per file; the end of a range only where it is not the end of the word.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::text::{Position, Range, is_identifier_char};

/// A place in a file. Programs get it as [`SinglePlace`], and a list of them as [`FilePlaces`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "SinglePlace<'_>")]
pub struct Place {
    /// Relative to the workspace with `/`; absolute for a file outside; the URI for a document that is no file.
    pub path: String,
    /// Where in it, 0-based, in Unicode scalar values.
    pub range: Range,
    /// The source line at the range's start.
    pub text: Option<String>,
    /// The function or type around it, with what that lies in (`Class.method`).
    pub enclosing: Option<String>,
    /// Hints only: why it ranks where it does.
    pub why: Option<String>,
}

/// Places in their order. Those of one file that follow one another share its path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Vec<FilePlaces<'_>>")]
pub struct Places(pub Vec<Place>);

/// A place by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SinglePlace<'a> {
    /// Relative to the workspace; absolute for a file outside; the URI for a document that is no file.
    path: Cow<'a, str>,
    #[serde(flatten)]
    place: PlaceInFile<'a>,
}

/// The places in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FilePlaces<'a> {
    /// Relative to the workspace; absolute for a file outside; the URI for a document that is no file.
    path: Cow<'a, str>,
    places: Vec<PlaceInFile<'a>>,
}

/// Where in a file something stands, 0-based, in Unicode scalar values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PlaceInFile<'a> {
    line: u32,
    character: u32,
    /// Where it ends; absent where that is the end of the word that begins there.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Position>,
    /// The function or type around it, with what that lies in.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    enclosing: Option<Cow<'a, str>>,
    /// The source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    /// Hints only: why it ranks where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Cow<'a, str>>,
}

/// Where a place ends that does not say it: behind the word that begins at `start` in the source line `text`.
fn word_end(start: Position, text: Option<&str>) -> Position {
    let skip = usize::try_from(start.character).unwrap_or(usize::MAX);
    let word =
        text.unwrap_or_default().chars().skip(skip).take_while(|&character| is_identifier_char(character));
    let length = u32::try_from(word.count()).unwrap_or(u32::MAX);
    Position { character: start.character.saturating_add(length), ..start }
}

impl<'a> PlaceInFile<'a> {
    fn new(place: &'a Place) -> Self {
        let Range { start, end } = place.range;
        Self {
            line: start.line,
            character: start.character,
            end: (end != word_end(start, place.text.as_deref())).then_some(end),
            enclosing: place.enclosing.as_deref().map(Cow::Borrowed),
            text: place.text.as_deref().map(Cow::Borrowed),
            why: place.why.as_deref().map(Cow::Borrowed),
        }
    }

    fn into_place(self, path: String) -> Place {
        let start = Position { line: self.line, character: self.character };
        let end = self.end.unwrap_or_else(|| word_end(start, self.text.as_deref()));
        Place {
            path,
            range: Range::new(start, end),
            text: self.text.map(Cow::into_owned),
            enclosing: self.enclosing.map(Cow::into_owned),
            why: self.why.map(Cow::into_owned),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = Cow::Borrowed(self.path.as_str());
        SinglePlace { path, place: PlaceInFile::new(self) }.serialize(serializer)
    }
}

impl Serialize for Places {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.chunk_by(|one, other| one.path == other.path).map(|group| FilePlaces {
            path: Cow::Borrowed(group[0].path.as_str()),
            places: group.iter().map(PlaceInFile::new).collect(),
        }))
    }
}

impl From<SinglePlace<'_>> for Place {
    fn from(single: SinglePlace<'_>) -> Self {
        single.place.into_place(single.path.into_owned())
    }
}

impl From<Vec<FilePlaces<'_>>> for Places {
    fn from(files: Vec<FilePlaces<'_>>) -> Self {
        let places = |FilePlaces { path, places }: FilePlaces<'_>| -> Vec<Place> {
            places.into_iter().map(|place| place.into_place(path.clone().into_owned())).collect()
        };
        Self(files.into_iter().flat_map(places).collect())
    }
}

impl From<Vec<Place>> for Places {
    fn from(places: Vec<Place>) -> Self {
        Self(places)
    }
}

impl Deref for Places {
    type Target = [Place];

    fn deref(&self) -> &[Place] {
        &self.0
    }
}

impl IntoIterator for Places {
    type Item = Place;
    type IntoIter = std::vec::IntoIter<Place>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Places {
    type Item = &'a Place;
    type IntoIter = std::slice::Iter<'a, Place>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl JsonSchema for Place {
    fn schema_name() -> Cow<'static, str> {
        SinglePlace::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SinglePlace::json_schema(generator)
    }
}

impl JsonSchema for Places {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Places")
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<FilePlaces<'_>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(path: &str, (line, from, to): (u32, u32, u32), text: Option<&str>) -> Place {
        Place {
            path: path.into(),
            range: Range::new(Position::new(line, from), Position::new(line, to)),
            text: text.map(str::to_owned),
            enclosing: None,
            why: None,
        }
    }

    #[test]
    fn places_of_one_file_share_its_path_and_come_back_as_they_were() {
        let inside = Place {
            enclosing: Some("Cart.total".into()),
            ..place("a.py", (4, 11, 15), Some("    return näme.x"))
        };
        let places = Places(vec![
            place("a.py", (1, 0, 1), Some("x = 1")),
            inside,
            place("b.py", (0, 0, 7), Some("x = 1 + 2")),
            place("a.py", (9, 2, 5), None),
        ]);
        let json = serde_json::to_value(&places).unwrap();
        assert_eq!(
            json,
            json!([
                {"path": "a.py", "places": [
                    {"line": 1, "character": 0, "text": "x = 1"},
                    {"line": 4, "character": 11, "in": "Cart.total", "text": "    return näme.x"},
                ]},
                {"path": "b.py", "places": [
                    {"line": 0, "character": 0, "end": {"line": 0, "character": 7}, "text": "x = 1 + 2"},
                ]},
                {"path": "a.py", "places": [{"line": 9, "character": 2, "end": {"line": 9, "character": 5}}]},
            ])
        );
        assert_eq!(serde_json::from_value::<Places>(json).unwrap(), places);
    }

    #[test]
    fn single_place_has_its_path_beside_line_and_character() {
        let one = place("a.py", (1, 4, 7), Some("def abc():"));
        let json = serde_json::to_value(&one).unwrap();
        assert_eq!(json, json!({"path": "a.py", "line": 1, "character": 4, "text": "def abc():"}));
        assert_eq!(serde_json::from_value::<Place>(json).unwrap(), one);
    }
}
