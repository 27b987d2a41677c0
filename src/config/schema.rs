//! The check of a TOML table against its known keys, with the place of each error, and the JSON
//! Schema of these keys.

use serde_json::{Map, Value, json};
use toml::Table;
use toml::de::{DeTable, DeValue};

use super::error::escape_unprintable;
use crate::text::{quoted_list, suggestion};

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConfigFieldType {
    Text,
    Flag,
    /// A whole number between the two, both included.
    Number(u64, u64),
    Texts,
    /// A table whose values are strings.
    TextTable,
    /// A table whose values are lists of strings.
    TextsTable,
    /// A table of anything: it belongs to a server.
    Free,
    Choice(&'static [&'static str]),
    /// A list of some of these words.
    Choices(&'static [&'static str]),
    Record(&'static [ConfigField]),
    /// A list of records.
    Records(&'static [ConfigField]),
    /// A table of records by names of the user's choice.
    Named(&'static [ConfigField]),
}

/// One key that may stand in a table.
#[derive(Debug)]
pub(crate) struct ConfigField {
    pub(super) key: &'static str,
    pub(super) shape: ConfigFieldType,
    /// True if the field affects which program is run; a project's value then counts only if the
    /// project is trusted.
    pub(super) launch: bool,
}

/// Creates a key that does not affect which program is run.
pub(super) const fn plain(key: &'static str, shape: ConfigFieldType) -> ConfigField {
    ConfigField { key, shape, launch: false }
}

/// Creates a key that affects which program is run.
pub(super) const fn launch(key: &'static str, shape: ConfigFieldType) -> ConfigField {
    ConfigField { key, shape, launch: true }
}

/// Returns all faults: the byte offset of the place, and a sentence.
pub(super) fn check(document: &DeTable<'_>, fields: &'static [ConfigField]) -> Vec<(usize, String)> {
    let mut slips = Vec::new();
    check_record(document, fields, "", &mut slips);
    slips
}

fn check_record(table: &DeTable<'_>, fields: &[ConfigField], place: &str, slips: &mut Vec<(usize, String)>) {
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        match fields.iter().find(|field| field.key == name) {
            Some(field) => check_value(value.get_ref(), field.shape, name, place, key.span().start, slips),
            None => {
                let keys = fields.iter().map(|field| field.key).collect::<Vec<_>>();
                let message = format!("unknown key `{name}`{}{}", in_section(place), suggestion(name, &keys));
                slips.push((key.span().start, message));
            }
        }
    }
}

fn check_value(
    value: &DeValue<'_>,
    shape: ConfigFieldType,
    name: &str,
    place: &str,
    at: usize,
    slips: &mut Vec<(usize, String)>,
) {
    let inner = if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    match (shape, value) {
        (ConfigFieldType::Record(fields), DeValue::Table(table)) => {
            check_record(table, fields, &inner, slips)
        }
        (ConfigFieldType::Named(fields), DeValue::Table(table)) => {
            for (key, value) in table {
                let name = key.get_ref().as_ref();
                check_value(
                    value.get_ref(),
                    ConfigFieldType::Record(fields),
                    name,
                    &inner,
                    key.span().start,
                    slips,
                );
            }
        }
        (ConfigFieldType::Records(fields), DeValue::Array(items)) => {
            for item in items {
                check_value(
                    item.get_ref(),
                    ConfigFieldType::Record(fields),
                    name,
                    place,
                    item.span().start,
                    slips,
                );
            }
        }
        (ConfigFieldType::TextTable | ConfigFieldType::TextsTable, DeValue::Table(table)) => {
            let each = if matches!(shape, ConfigFieldType::TextTable) {
                ConfigFieldType::Text
            } else {
                ConfigFieldType::Texts
            };
            for (key, value) in table {
                check_value(value.get_ref(), each, key.get_ref(), &inner, key.span().start, slips);
            }
        }
        (ConfigFieldType::Texts, DeValue::Array(items)) => {
            for item in items.iter().filter(|item| !item.get_ref().is_str()) {
                let found = actual_type(item.get_ref());
                let message = format!(
                    "`{name}`{} must be {}, but {found} is in it",
                    in_section(place),
                    expected_type(shape)
                );
                slips.push((item.span().start, message));
            }
        }
        (ConfigFieldType::Choices(words), DeValue::Array(items)) => {
            for item in items {
                check_value(
                    item.get_ref(),
                    ConfigFieldType::Choice(words),
                    name,
                    place,
                    item.span().start,
                    slips,
                );
            }
        }
        (ConfigFieldType::Choice(words), DeValue::String(given)) if !words.contains(&given.as_ref()) => {
            let nearest = suggestion(given, words);
            slips.push((at, format!("`{name}`{} cannot be `{given}`{nearest}", in_section(place))));
        }
        (ConfigFieldType::Number(least, most), DeValue::Integer(number)) => {
            let given = u64::from_str_radix(number.as_str(), number.radix()).ok();
            if !given.is_some_and(|given| (least..=most).contains(&given)) {
                let message = format!(
                    "`{name}`{} must be {}, but it is {number}",
                    in_section(place),
                    expected_type(shape)
                );
                slips.push((at, message));
            }
        }
        (ConfigFieldType::Text | ConfigFieldType::Choice(_), DeValue::String(_))
        | (ConfigFieldType::Flag, DeValue::Boolean(_))
        | (ConfigFieldType::Free, DeValue::Table(_)) => {}
        (_, other) => {
            let found = actual_type(other);
            slips.push((
                at,
                format!("`{name}`{} must be {}, but it is {found}", in_section(place), expected_type(shape)),
            ));
        }
    }
}

fn in_section(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" in [{place}]") }
}

fn expected_type(shape: ConfigFieldType) -> String {
    match shape {
        ConfigFieldType::Text => "a string".to_owned(),
        ConfigFieldType::Flag => "`true` or `false`".to_owned(),
        ConfigFieldType::Number(least, most) => format!("a whole number from {least} to {most}"),
        ConfigFieldType::Texts => "a list of strings".to_owned(),
        ConfigFieldType::TextTable => "a table of strings".to_owned(),
        ConfigFieldType::TextsTable => "a table of lists of strings".to_owned(),
        ConfigFieldType::Free | ConfigFieldType::Record(_) | ConfigFieldType::Named(_) => {
            "a table".to_owned()
        }
        ConfigFieldType::Choice(words) => format!("one of {}", quoted_list(words)),
        ConfigFieldType::Choices(words) => format!("a list of some of {}", quoted_list(words)),
        ConfigFieldType::Records(_) => "a list of tables".to_owned(),
    }
}

fn actual_type(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Returns the JSON Schema (draft 7) of a file with these keys, for the completion of editors.
pub(super) fn json_schema(title: &str, fields: &[ConfigField]) -> Value {
    let mut schema = record_schema(fields);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(title);
    schema
}

fn record_schema(fields: &[ConfigField]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.key.to_owned(), value_schema(field.shape))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn value_schema(shape: ConfigFieldType) -> Value {
    let text = json!({"type": "string"});
    let list = |items: Value| json!({"type": "array", "items": items});
    let named = |values: Value| json!({"type": "object", "additionalProperties": values});
    match shape {
        ConfigFieldType::Text => text,
        ConfigFieldType::Flag => json!({"type": "boolean"}),
        ConfigFieldType::Number(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        ConfigFieldType::Texts => list(text),
        ConfigFieldType::TextTable => named(text),
        ConfigFieldType::TextsTable => named(list(text)),
        ConfigFieldType::Free => json!({"type": "object"}),
        ConfigFieldType::Choice(words) => json!({"enum": words}),
        ConfigFieldType::Choices(words) => list(json!({"enum": words})),
        ConfigFieldType::Record(fields) => record_schema(fields),
        ConfigFieldType::Records(fields) => list(record_schema(fields)),
        ConfigFieldType::Named(fields) => named(record_schema(fields)),
    }
}

/// Takes the launch fields out of a checked table: their dotted paths and values, in the order of
/// the paths.
pub(super) fn take_launch_fields(
    table: &mut Table,
    fields: &[ConfigField],
) -> Vec<(Vec<String>, toml::Value)> {
    let mut taken = Vec::new();
    take_from_record(table, fields, &mut Vec::new(), &mut taken);
    taken
}

fn take_from_record(
    table: &mut Table,
    fields: &[ConfigField],
    path: &mut Vec<String>,
    taken: &mut Vec<(Vec<String>, toml::Value)>,
) {
    for field in fields {
        path.push(field.key.to_owned());
        if field.launch {
            if let Some(value) = table.remove(field.key) {
                taken.push((path.clone(), value));
            }
        } else if let Some(toml::Value::Table(inner)) = table.get_mut(field.key) {
            match field.shape {
                ConfigFieldType::Record(fields) => take_from_record(inner, fields, path, taken),
                ConfigFieldType::Named(fields) => {
                    for (name, value) in inner.iter_mut() {
                        if let toml::Value::Table(record) = value {
                            path.push(name.to_owned());
                            take_from_record(record, fields, path, taken);
                            path.pop();
                        }
                    }
                }
                _ => {}
            }
        }
        path.pop();
    }
}

/// Takes the launch fields out of an untrusted project's table. Returns one sentence for each.
pub(super) fn strip_launch_fields(table: &mut Table, fields: &[ConfigField], file: &str) -> Vec<String> {
    let taken = take_launch_fields(table, fields).into_iter();
    taken.map(|(path, _)| untrusted_sentence(&format!("`{}` of `{file}`", path.join(".")))).collect()
}

/// The sentence for a setting that is ignored for want of trust.
pub(super) fn untrusted_sentence(what: &str) -> String {
    let what = escape_unprintable(what);
    format!("{what} is ignored, because this project is not trusted; run: lsp-tools trust")
}
