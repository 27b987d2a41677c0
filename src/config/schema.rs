//! The known keys of a settings file, from the types that read it: their check, their launch fields
//! and their JSON Schema.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use toml::Table;
use toml::de::{DeTable, DeValue};

use super::error::escape_unprintable;
use crate::text::{quoted_list, suggestion};

/// Any TOML table, as a type with a JSON Schema.
pub(super) type AnyTable = Map<String, Value>;

/// The type of a value.
#[derive(Debug)]
pub(super) enum ConfigFieldType {
    Text,
    Flag,
    /// A whole number between the two, both included.
    Number(u64, u64),
    Choice(Vec<String>),
    List(Box<ConfigFieldType>),
    /// A table of values of one type by names of the user's choice.
    Named(Box<ConfigFieldType>),
    Record(Vec<ConfigField>),
    /// A table of anything: it belongs to a server.
    Free,
}

/// One key that may stand in a table.
#[derive(Debug)]
pub(super) struct ConfigField {
    pub(super) key: String,
    pub(super) shape: ConfigFieldType,
    /// True if the field affects which program is run; a project's value then counts only if the
    /// project is trusted.
    pub(super) launch: bool,
}

/// Returns the keys of a file that is read into `T`, from the JSON Schema of `T`. The attribute
/// `#[schemars(extend("x-launch" = true))]` makes a field a launch field.
pub(super) fn fields_of<T: JsonSchema>() -> Vec<ConfigField> {
    record_fields(&schema_of::<T>(SchemaSettings::draft2020_12()))
}

fn schema_of<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn record_fields(schema: &Value) -> Vec<ConfigField> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(key, schema): (&String, &Value)| ConfigField {
        key: key.clone(),
        shape: field_type(schema),
        launch: schema["x-launch"] == true,
    };
    properties.map(field).collect()
}

/// Returns the type of the values that a schema describes. TOML has no null, so a schema that also
/// admits null is read as the one without.
fn field_type(schema: &Value) -> ConfigFieldType {
    let part = |name: &str| Box::new(field_type(&schema[name]));
    let limit = |name: &str| {
        schema[name].as_u64().expect("a number of settings has `#[schemars(range(min = …, max = …))]`")
    };
    if let Some(choices) = schema["enum"].as_array().or(schema["oneOf"].as_array()) {
        let word = |choice: &Value| choice.as_str().or(choice["const"].as_str()).map(str::to_owned);
        let words: Option<_> = choices.iter().map(word).collect();
        return ConfigFieldType::Choice(
            words.expect("a choice of settings has documented variants, or none"),
        );
    }
    match schema["type"].as_str().or(schema["type"][0].as_str()) {
        None if schema["anyOf"][1]["type"] == "null" => field_type(&schema["anyOf"][0]),
        Some("string") => ConfigFieldType::Text,
        Some("boolean") => ConfigFieldType::Flag,
        Some("array") => ConfigFieldType::List(part("items")),
        Some("object") if schema["properties"].is_object() => ConfigFieldType::Record(record_fields(schema)),
        Some("object") if schema["additionalProperties"].is_object() => {
            ConfigFieldType::Named(part("additionalProperties"))
        }
        Some("object") => ConfigFieldType::Free,
        Some("integer") => ConfigFieldType::Number(limit("minimum"), limit("maximum")),
        _ => unreachable!("no key of settings has the type of {schema}"),
    }
}

/// The maximum number of faults that a check of a file lists.
pub(super) const MAX_LISTED_FAULTS: usize = 50;

/// Returns the faults, at most [`MAX_LISTED_FAULTS`]: the byte offset of the place, and a sentence.
pub(super) fn check(document: &DeTable<'_>, fields: &[ConfigField]) -> Vec<(usize, String)> {
    let mut slips = Vec::new();
    check_record(document, fields, "", &mut slips);
    if slips.len() > MAX_LISTED_FAULTS {
        slips.truncate(MAX_LISTED_FAULTS);
        slips[MAX_LISTED_FAULTS - 1].1 = "there are further faults, which are not listed".to_owned();
    }
    slips
}

fn check_record(table: &DeTable<'_>, fields: &[ConfigField], place: &str, slips: &mut Vec<(usize, String)>) {
    for (key, value) in table {
        if slips.len() > MAX_LISTED_FAULTS {
            return;
        }
        let name = key.get_ref().as_ref();
        match fields.iter().find(|field| field.key == name) {
            Some(field) => check_value(value.get_ref(), &field.shape, name, place, key.span().start, slips),
            None => {
                let keys = fields.iter().map(|field| field.key.as_str()).collect::<Vec<_>>();
                let message = format!("unknown key `{name}`{}{}", in_section(place), suggestion(name, &keys));
                slips.push((key.span().start, message));
            }
        }
    }
}

fn check_value(
    value: &DeValue<'_>,
    shape: &ConfigFieldType,
    name: &str,
    place: &str,
    at: usize,
    slips: &mut Vec<(usize, String)>,
) {
    let inner = if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    let must_be = || format!("`{name}`{} must be {}", in_section(place), expected_type(shape));
    match (shape, value) {
        (ConfigFieldType::Record(fields), DeValue::Table(table)) => {
            check_record(table, fields, &inner, slips)
        }
        (ConfigFieldType::Named(each), DeValue::Table(table)) => {
            for (key, value) in table {
                check_value(value.get_ref(), each, key.get_ref(), &inner, key.span().start, slips);
            }
        }
        (ConfigFieldType::List(each), DeValue::Array(items)) => {
            for item in items {
                let (value, at) = (item.get_ref(), item.span().start);
                if !matches!(**each, ConfigFieldType::Text) {
                    check_value(value, each, name, place, at, slips);
                } else if !value.is_str() {
                    slips.push((at, format!("{}, but {} is in it", must_be(), actual_type(value))));
                }
            }
        }
        (ConfigFieldType::Choice(words), DeValue::String(given)) => {
            if !words.iter().any(|word| word == given) {
                let nearest = suggestion(given, &as_texts(words));
                slips.push((at, format!("`{name}`{} cannot be `{given}`{nearest}", in_section(place))));
            }
        }
        (ConfigFieldType::Number(least, most), DeValue::Integer(number)) => {
            let given = u64::from_str_radix(number.as_str(), number.radix()).ok();
            if !given.is_some_and(|given| (*least..=*most).contains(&given)) {
                slips.push((at, format!("{}, but it is {number}", must_be())));
            }
        }
        (ConfigFieldType::Text, DeValue::String(_))
        | (ConfigFieldType::Flag, DeValue::Boolean(_))
        | (ConfigFieldType::Free, DeValue::Table(_)) => {}
        (_, other) => slips.push((at, format!("{}, but it is {}", must_be(), actual_type(other)))),
    }
}

fn as_texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn in_section(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" in [{place}]") }
}

fn expected_type(shape: &ConfigFieldType) -> String {
    match shape {
        ConfigFieldType::Number(least, most) => return format!("a whole number from {least} to {most}"),
        ConfigFieldType::Choice(words) => return format!("one of {}", quoted_list(&as_texts(words))),
        ConfigFieldType::Text => "a string",
        ConfigFieldType::Flag => "`true` or `false`",
        ConfigFieldType::List(each) => match &**each {
            ConfigFieldType::Choice(words) => {
                return format!("a list of some of {}", quoted_list(&as_texts(words)));
            }
            ConfigFieldType::Record(_) => "a list of tables",
            _ => "a list of strings",
        },
        ConfigFieldType::Named(each) => match **each {
            ConfigFieldType::Text => "a table of strings",
            ConfigFieldType::List(_) => "a table of lists of strings",
            _ => "a table",
        },
        ConfigFieldType::Free | ConfigFieldType::Record(_) => "a table",
    }
    .to_owned()
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

/// Returns the JSON Schema (draft 7) of a file that is read into `T`, for the completion of editors.
/// No key is required, because layers of files complete each other.
pub(super) fn json_schema<T: JsonSchema>(title: &str) -> Value {
    let of_layer = RecursiveTransform(|schema: &mut Schema| {
        for keyword in ["required", "default", "format", "x-launch"] {
            schema.remove(keyword);
        }
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
    });
    let mut schema = schema_of::<T>(SchemaSettings::draft07().with_transform(of_layer));
    schema["title"] = json!(title);
    schema
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
        path.push(field.key.clone());
        if !field.launch {
            if let Some(value) = table.get_mut(&field.key) {
                take_from_value(value, &field.shape, path, taken);
            }
        } else if let Some(value) = table.remove(&field.key) {
            taken.push((path.clone(), value));
        }
        path.pop();
    }
}

fn take_from_value(
    value: &mut toml::Value,
    shape: &ConfigFieldType,
    path: &mut Vec<String>,
    taken: &mut Vec<(Vec<String>, toml::Value)>,
) {
    match (shape, value) {
        (ConfigFieldType::Record(fields), toml::Value::Table(table)) => {
            take_from_record(table, fields, path, taken);
        }
        (ConfigFieldType::Named(each), toml::Value::Table(table)) => {
            for (name, value) in table.iter_mut() {
                path.push(name.clone());
                take_from_value(value, each, path, taken);
                path.pop();
            }
        }
        _ => {}
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
