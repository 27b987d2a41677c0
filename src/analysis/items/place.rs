//! Places as answers give them, 1-based: in a list the path once per file and a row for each place
//! (`["7:4", "one()", "Cart.total"]`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::short_range::ShortRange;
use crate::text::{Position, Range, column_in_excerpt, is_identifier_char};

/// A place in a file. Programs get it as [`SinglePlace`], and a list of them as [`FilePlaces`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "SinglePlace<'_>")]
pub struct Place {
    /// The path relative to the workspace with `/`; absolute for a file outside; the URI for a
    /// document that is not a file.
    pub path: String,
    /// The range in the file, 0-based, in Unicode scalar values.
    pub range: Range,
    /// The source line at the range's start, cut with `…` if it is very long.
    pub text: Option<String>,
    /// The qualified name of the enclosing function or type (`Class.method`).
    pub enclosing: Option<String>,
    /// The reason for the rank of the place, for hints only.
    pub why: Option<String>,
}

/// Places in order. Consecutive places of one file share its path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Vec<FilePlaces<'_>>")]
pub struct Places(pub Vec<Place>);

/// A single place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SinglePlace<'a> {
    /// Relative to the workspace; absolute for a file outside; the URI of a document that is not a
    /// file.
    path: Cow<'a, str>,
    #[serde(flatten)]
    place: PlaceInFile<'a>,
}

/// The places in one file, as a JSON object with the path as its only key: absolute for a file
/// outside, the URI for a document that is not a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePlaces<'a> {
    path: Cow<'a, str>,
    places: Vec<PlaceRow<'a>>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PlaceInFile<'a> {
    /// The position, 1-based; with an end if that is not the end of the word.
    at: ShortRange,
    /// The enclosing function or type, qualified.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    enclosing: Option<Cow<'a, str>>,
    /// The source line without its indentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    /// Hints only: the reason for the rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Cow<'a, str>>,
}

/// A place of a list as a row, because field names would be a third of its size: range, source
/// line, enclosing symbol, reason of the rank. Missing values are null, or omitted at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaceRow<'a>(PlaceInFile<'a>);

/// The default end of a place: behind the word that begins at `start` in the source line `text`.
pub(crate) fn word_end(start: Position, text: Option<&str>) -> Position {
    let text = text.unwrap_or_default();
    let skip = usize::try_from(column_in_excerpt(text, start.character)).unwrap_or(usize::MAX);
    let word = text.chars().skip(skip).take_while(|&character| is_identifier_char(character));
    start.right_by(word.count())
}

impl<'a> PlaceInFile<'a> {
    fn new(place: &'a Place) -> Self {
        let word_end = word_end(place.range.start, place.text.as_deref());
        Self {
            at: ShortRange::without_end_at(place.range, word_end),
            enclosing: place.enclosing.as_deref().map(Cow::Borrowed),
            // The indentation of the line is irrelevant to the place.
            text: place.text.as_deref().map(|line| Cow::Borrowed(line.trim_start())),
            why: place.why.as_deref().map(Cow::Borrowed),
        }
    }

    /// Restores the place, except for the indentation of its line. An omitted end becomes the
    /// start.
    fn into_place(self, path: String) -> Place {
        Place {
            path,
            range: self.at.0,
            text: self.text.map(Cow::into_owned),
            enclosing: self.enclosing.map(Cow::into_owned),
            why: self.why.map(Cow::into_owned),
        }
    }
}

impl Serialize for PlaceRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlaceInFile { at, enclosing, text, why } = &self.0;
        let at = at.to_string();
        let columns = [Some(at.as_str()), text.as_deref(), enclosing.as_deref(), why.as_deref()];
        let last = columns.iter().rposition(Option::is_some).unwrap_or_default();
        serializer.collect_seq(&columns[..=last])
    }
}

impl<'de> Deserialize<'de> for PlaceRow<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut columns = Vec::<Option<String>>::deserialize(deserializer)?.into_iter();
        let mut next = || columns.next().flatten();
        let at = next().as_deref().and_then(ShortRange::parse);
        let at = at.ok_or_else(|| D::Error::custom("a place begins with `line:column`"))?;
        let (text, enclosing, why) = (next(), next(), next());
        let [text, enclosing, why] = [text, enclosing, why].map(|column| column.map(Cow::Owned));
        Ok(Self(PlaceInFile { at, enclosing, text, why }))
    }
}

impl JsonSchema for PlaceRow<'_> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PlaceRow")
    }

    // Many hosts' validators do not know tuples of newer drafts (`prefixItems`).
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "array",
            "description": "[`line:column` (1-based, in Unicode scalar values; with its end, `7:4-9` or `7:4-8:1`, where that is not \
                            the end of the word), the source line without its indentation, the function or type around it, hints \
                            only: why it ranks there]; what is missing is null, or left out at the end",
            "items": {"type": ["string", "null"]},
            "minItems": 1,
            "maxItems": 4,
        })
    }
}

impl Serialize for FilePlaces<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.path, &self.places)])
    }
}

impl<'de> Deserialize<'de> for FilePlaces<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FilePlacesVisitor;
        impl<'de> Visitor<'de> for FilePlacesVisitor {
            type Value = FilePlaces<'static>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of one path with a list of places")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let entry = map.next_entry::<String, Vec<PlaceRow<'static>>>()?;
                let (path, places) = entry.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                match map.next_key::<String>()? {
                    None => Ok(FilePlaces { path: Cow::Owned(path), places }),
                    Some(_) => Err(A::Error::invalid_length(2, &self)),
                }
            }
        }
        deserializer.deserialize_map(FilePlacesVisitor)
    }
}

impl JsonSchema for FilePlaces<'_> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("FilePlaces")
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "object",
            "description": "The places in one file, by its path: relative to the workspace; absolute for a file outside; the URI for a \
                            document that is no file",
            "additionalProperties": generator.subschema_for::<Vec<PlaceRow<'_>>>(),
            "minProperties": 1,
            "maxProperties": 1,
        })
    }
}

/// The path and the rows of an item of a list in an answer, if it is the places of a file.
pub(crate) fn file_places(item: &Value) -> Option<(&str, &[Value])> {
    let mut entries = item.as_object()?.iter();
    let ((path, Value::Array(rows)), None) = (entries.next()?, entries.next()) else { return None };
    let is_row = |row: &Value| row.get(0).and_then(Value::as_str).and_then(ShortRange::parse).is_some();
    (!rows.is_empty() && rows.iter().all(is_row)).then_some((path, rows))
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
            places: group.iter().map(PlaceInFile::new).map(PlaceRow).collect(),
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
            places.into_iter().map(|PlaceRow(place)| place.into_place(path.clone().into_owned())).collect()
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
    fn places_of_one_file_share_its_path_and_come_back_as_they_were_said() {
        let inside = Place {
            enclosing: Some("Cart.total".into()),
            ..place("a.py", (4, 11, 15), Some("    return näme.x"))
        };
        let ranked = Place { why: Some("imported".into()), ..place("b.py", (3, 0, 1), Some("x")) };
        let places = Places(vec![
            place("a.py", (1, 0, 1), Some("x = 1")),
            inside,
            place("b.py", (0, 0, 7), Some("x = 1 + 2")),
            ranked,
            place("a.py", (9, 2, 5), None),
        ]);
        let json = serde_json::to_value(&places).unwrap();
        assert_eq!(
            json,
            json!([
                {"a.py": [["2:1", "x = 1"], ["5:12", "return näme.x", "Cart.total"]]},
                {"b.py": [["1:1-8", "x = 1 + 2"], ["4:1", "x", null, "imported"]]},
                {"a.py": [["10:3-6"]]},
            ])
        );
        let read = serde_json::from_value::<Places>(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), json);
        assert_eq!(file_places(&json[2]).map(|(path, rows)| (path, rows.len())), Some(("a.py", 1)));
        let starts = |places: &Places| places.iter().map(|place| place.range.start).collect::<Vec<_>>();
        assert_eq!(starts(&read), starts(&places));
        assert_eq!(
            (read[1].text.as_deref(), read[3].why.as_deref()),
            (Some("return näme.x"), Some("imported"))
        );
    }

    #[test]
    fn single_place_has_its_path_beside_line_and_character() {
        let one = place("a.py", (1, 4, 7), Some("def abc():"));
        let json = serde_json::to_value(&one).unwrap();
        assert_eq!(json, json!({"path": "a.py", "at": "2:5", "text": "def abc():"}));
        let read = serde_json::from_value::<Place>(json).unwrap();
        assert_eq!(read, Place { range: Range::empty(Position::new(1, 4)), ..one });
    }

    #[test]
    fn file_without_a_path_or_with_two_is_refused() {
        for file in [json!({}), json!({"a.py": [], "b.py": []}), json!([["1:0"]]), json!({"a.py": [["x"]]})] {
            serde_json::from_value::<FilePlaces<'_>>(file.clone()).expect_err(&file.to_string());
            assert_eq!(file_places(&file), None, "{file}");
        }
    }

    #[test]
    fn row_without_a_place_is_refused() {
        for row in [json!([]), json!([null]), json!(["x = 1"]), json!({"at": "1:4"})] {
            serde_json::from_value::<PlaceRow<'_>>(row.clone()).expect_err(&row.to_string());
        }
    }
}
