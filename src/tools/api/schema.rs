//! Schemas: made from types, simplified for models, and used to check arguments.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use boon::{Compiler, Draft, ErrorKind, SchemaIndex, Schemas, SchemeUrlLoader, ValidationError};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::analysis::error::{ErrorCode, ToolError};
use crate::text::{quoted_list, suggestion, truncate_chars};

/// The most faults that one error names.
const MAX_NAMED_SCHEMA_FAULTS: usize = 3;
/// The longest excerpt of a wrong value, in characters.
const MAX_SHOWN_VALUE_CHARS: usize = 60;

/// A JSON schema (2020-12) of an object, and a validator for it. Both are built at first use.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub struct Schema {
    value: Arc<LazyLock<Value, Box<dyn FnOnce() -> Value + Send>>>,
    validator: OnceLock<Result<Arc<Validator>, String>>,
}

/// The schema of a tool's answer. It is built on each request, because only lists of tools need it,
/// and all of them together are large.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub(crate) struct OutputSchema(Arc<dyn Fn() -> Value + Send + Sync>);

impl From<Value> for Schema {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        schema.as_value().clone()
    }
}

impl OutputSchema {
    /// The schema of answers of type `T`.
    pub(crate) fn of<T: JsonSchema>() -> Self {
        Self(Arc::new(output_schema::<T> as fn() -> Value))
    }

    /// The schema as JSON.
    pub(crate) fn to_value(&self) -> Value {
        self.0()
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputSchema").field(&self.to_value()).finish()
    }
}

impl From<Value> for OutputSchema {
    fn from(schema: Value) -> Self {
        Self(Arc::new(move || schema.clone()))
    }
}

impl From<OutputSchema> for Value {
    fn from(schema: OutputSchema) -> Self {
        schema.to_value()
    }
}

/// A compiled schema.
struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    fn new(schema: &Value) -> Result<Self, String> {
        // An address that leads nowhere: the resource is given here, and no loader is registered
        // that could fetch another.
        const NAME: &str = "https://schema.invalid/";
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        compiler.set_default_draft(Draft::V2020_12);
        let mut schemas = Schemas::new();
        compiler.add_resource(NAME, schema.clone()).map_err(|error| format!("{error:#}"))?;
        let index = compiler.compile(NAME, &mut schemas).map_err(|error| format!("{error:#}"))?;
        Ok(Self { schemas, index })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

impl Schema {
    /// A schema from JSON, which should describe an object.
    pub fn new(value: Value) -> Self {
        Self::from_fn(move || value)
    }

    /// The schema of arguments of type `T`.
    pub(crate) fn of_arguments<T: JsonSchema>() -> Self {
        Self::from_fn(input_schema::<T> as fn() -> Value)
    }

    fn from_fn(make: impl FnOnce() -> Value + Send + 'static) -> Self {
        Self { value: Arc::new(LazyLock::new(Box::new(make))), validator: OnceLock::new() }
    }

    /// The schema as JSON.
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// Returns an error with the problem if this is not a valid schema.
    pub fn verify(&self) -> Result<(), String> {
        self.validator().as_ref().map(drop).map_err(Clone::clone)
    }

    fn validator(&self) -> &Result<Arc<Validator>, String> {
        self.validator.get_or_init(|| Validator::new(&self.value).map(Arc::new))
    }

    /// Checks the arguments of `tool`. Each fault is reported with its field, the given value and
    /// the accepted values.
    pub fn check(&self, tool: &str, arguments: &Value) -> Result<(), ToolError> {
        if !arguments.is_object() {
            let what = format!("{tool}: the arguments must be an object, not {}", describe_value(arguments));
            return Err(ToolError::new(ErrorCode::InvalidArgs, what));
        }
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(error) => {
                let what = format!("{tool}: its schema is invalid: {error}");
                return Err(ToolError::new(ErrorCode::Internal, what));
            }
        };
        let Err(error) = validator.schemas.validate(arguments, validator.index) else { return Ok(()) };
        let mut faults = Vec::new();
        self.faults(&error, arguments, &mut faults);
        faults.truncate(MAX_NAMED_SCHEMA_FAULTS);
        Err(ToolError::new(ErrorCode::InvalidArgs, format!("{tool}: {}", faults.join("; "))))
    }

    /// Adds each fault in `error`, in words. The recursion depth is that of the schema.
    fn faults(&self, error: &ValidationError<'_, '_>, arguments: &Value, faults: &mut Vec<String>) {
        let place = error.instance_location.to_string();
        match &error.kind {
            ErrorKind::Group | ErrorKind::Schema { .. } | ErrorKind::Reference { .. } | ErrorKind::AllOf => {
                error.causes.iter().for_each(|cause| self.faults(cause, arguments, faults));
            }
            ErrorKind::AdditionalProperties { got } => {
                let known = self.properties_at(&place);
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let each: Vec<String> = got
                    .iter()
                    .map(|name| {
                        format!("unknown field `{}`{}", field_path(&place, name), suggestion(name, &known))
                    })
                    .collect();
                faults.push(each.join("; "));
            }
            ErrorKind::Required { want } => {
                faults.extend(want.iter().map(|name| {
                    let accepted = self
                        .schema_at(&place)
                        .and_then(|schema| schema.pointer(&format!("/properties/{name}")));
                    let accepted =
                        accepted.map(|schema| format!(" ({})", accepted_by(schema))).unwrap_or_default();
                    format!("`{}` is missing{accepted}", field_path(&place, name))
                }));
            }
            kind => {
                let accepted = self.schema_at(&place).map_or_else(|| kind.to_string(), accepted_by);
                let given = arguments.pointer(&place).unwrap_or(&Value::Null);
                faults.push(format!(
                    "`{}` is {}, accepted: {accepted}",
                    dotted(&place),
                    describe_value(given)
                ));
            }
        }
    }

    fn properties_at(&self, place: &str) -> Vec<String> {
        let properties = self.schema_at(place).and_then(|schema| schema.get("properties")?.as_object());
        properties.map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }

    /// The part of the schema for the value at `place` (a JSON pointer into the arguments).
    fn schema_at(&self, place: &str) -> Option<&Value> {
        let mut schema = self.as_value();
        for step in place.split('/').skip(1) {
            let properties = schema.get("properties");
            schema = match properties.and_then(|properties| properties.get(step)) {
                Some(property) => property,
                None => schema.get("items")?,
            };
        }
        Some(schema)
    }
}

/// The schema of arguments: inlined, without parts that models do not need, with `required`, and
/// closed to unknown fields.
fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>();
    simplify_schema(&mut schema, true);
    if let Value::Object(map) = &mut schema {
        map.entry("type").or_insert_with(|| json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
        map.entry("required").or_insert_with(|| json!([]));
        map.entry("additionalProperties").or_insert(Value::Bool(false));
        map.remove("description");
    }
    schema
}

/// The schema of an answer: an object with `ok`, open to fields of later versions.
fn output_schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    let mut schema = settings.for_serialize().into_generator().into_root_schema_for::<T>().to_value();
    simplify_schema(&mut schema, false);
    if let Value::Object(map) = &mut schema {
        if map.get("type") != Some(&json!("object")) && !map.contains_key("$ref") {
            // Texts and lists are wrapped into an object.
            return json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        }
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.entry("ok").or_insert_with(|| json!({"type": "boolean"}));
        }
    }
    schema
}

fn generate<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Removes parts that only cost tokens (`title`, number formats, the null of optional fields) and,
/// in arguments, forbids unknown fields.
fn simplify_schema(schema: &mut Value, closed: bool) {
    match schema {
        Value::Object(map) => {
            if map.get("title").is_some_and(Value::is_string) {
                map.remove("title");
            }
            if map.get("format").and_then(Value::as_str).is_some_and(is_number_format) {
                map.remove("format");
            }
            if closed {
                without_null(map);
                if map.contains_key("properties") {
                    map.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
            } else {
                // Empty fields are left out of answers.
                map.remove("default");
            }
            for (key, part) in map.iter_mut() {
                if key == "properties" || key == "$defs" {
                    part.as_object_mut()
                        .into_iter()
                        .flatten()
                        .for_each(|(_, part)| simplify_schema(part, closed));
                } else if !matches!(key.as_str(), "default" | "enum" | "const" | "examples") {
                    simplify_schema(part, closed);
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| simplify_schema(part, closed)),
        _ => {}
    }
}

fn is_number_format(format: &str) -> bool {
    matches!(
        format,
        "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "int32" | "int64" | "int" | "double" | "float"
    )
}

/// Removes `null` from the type of optional fields: they may be left out, so models need no `null`.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    // The default of an optional field is null, false or empty unless its schema has another one.
    if map.get("default").is_some_and(|default| [json!(null), json!(false), json!("")].contains(default)) {
        map.remove("default");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(ways)) = map.get_mut("anyOf") else { return };
    ways.retain(|way| way.get("type") != Some(&json!("null")));
    if let [Value::Object(only)] = ways.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

/// The accepted values in words, such as "`kind`: one of `a` and `b`".
fn accepted_by(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", quoted_list(&words));
    }
    let ways = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    if let Some(ways) = ways {
        let constants: Vec<&str> =
            ways.iter().filter_map(|way| way.get("const").and_then(Value::as_str)).collect();
        if constants.len() == ways.len() {
            return format!("one of {}", quoted_list(&constants));
        }
        return ways.iter().map(accepted_by).collect::<Vec<_>>().join(", or ");
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any value");
    let mut words = match kind {
        "array" => match schema.get("items") {
            Some(items) => format!("a list; each item: {}", accepted_by(items)),
            None => "a list".to_owned(),
        },
        "object" => {
            let names = schema.get("properties").and_then(Value::as_object);
            let names: Vec<&str> = names.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if names.is_empty() {
                "an object".to_owned()
            } else {
                format!("an object with {}", quoted_list(&names))
            }
        }
        "string" => "a text".to_owned(),
        "integer" => "a whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    };
    let bound = |name: &str| schema.get(name).filter(|bound| bound.is_number()).map(Value::to_string);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => words = format!("{words} from {least} to {most}"),
        (Some(least), None) => words = format!("{words}, {least} or more"),
        (None, Some(most)) => words = format!("{words}, at most {most}"),
        (None, None) => {}
    }
    words
}

fn describe_value(value: &Value) -> String {
    let text = match value {
        Value::Null => return "null".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        Value::Array(_) => return "a list".to_owned(),
        other => other.to_string(),
    };
    truncate_chars(&text, MAX_SHOWN_VALUE_CHARS).into_owned()
}

/// The path of a field: `/edits/0` and `old` become `edits.0.old`.
fn field_path(place: &str, name: &str) -> String {
    let place = dotted(place);
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

fn dotted(place: &str) -> String {
    place.trim_start_matches('/').replace('/', ".")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)] // only its schema is looked at
    struct Args {
        /// The file.
        path: String,
        /// First line.
        #[schemars(range(min = 1))]
        offset: Option<u32>,
        mode: Option<Mode>,
        edits: Option<Vec<Edit>>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)] // only its schema is looked at
    struct Edit {
        old: String,
        new: String,
    }

    fn fault(arguments: Value) -> String {
        let schema = Schema::new(input_schema::<Args>());
        schema.check("read", &arguments).map_or_else(|error| error.error, |()| String::new())
    }

    #[test]
    fn input_schema_is_inlined_closed_and_lists_required() {
        let schema = input_schema::<Args>();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "path": {"description": "The file.", "type": "string"},
                    "offset": {"description": "First line.", "type": "integer", "minimum": 1},
                    "mode": {"type": "string", "enum": ["fast", "slow"]},
                    "edits": {"type": "array", "items": {
                        "type": "object",
                        "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                        "required": ["old", "new"],
                        "additionalProperties": false,
                    }},
                },
                "required": ["path"],
                "additionalProperties": false,
            })
        );
        #[derive(JsonSchema)]
        struct Empty {}
        let empty =
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        assert_eq!(input_schema::<Empty>(), empty);
    }

    #[test]
    fn argument_error_names_field_given_and_accepted_value() {
        assert_eq!(fault(json!({"path": "a"})), "");
        assert_eq!(fault(json!({})), "read: `path` is missing (a text)");
        assert_eq!(
            fault(json!({"path": "a", "ofset": 1})),
            "read: unknown field `ofset`; did you mean `offset`?"
        );
        assert_eq!(
            fault(json!({"path": "a", "offset": "ten"})),
            "read: `offset` is \"ten\", accepted: a whole number, 1 or more"
        );
        assert_eq!(
            fault(json!({"path": "a", "mode": "fats"})),
            "read: `mode` is \"fats\", accepted: one of `fast` and `slow`"
        );
        assert_eq!(
            fault(json!({"path": "a", "edits": [{"old": "x"}]})),
            "read: `edits.0.new` is missing (a text)"
        );
        assert_eq!(fault(json!("a")), "read: the arguments must be an object, not \"a\"");
    }
}
