//! Schemas of arguments in the form that lists of tools show, shorter by bounds, forms and options
//! that few calls need. Calls are checked against the whole schema, which `tools` shows.

use serde_json::{Value, json};

use super::tool::ToolDefinition;

/// Options that lists leave out, by tool.
const RARE: &[(&str, &[&str])] = &[
    ("bash", &["raw"]),
    ("explore", &["only"]),
    ("fix", &["title"]),
    ("glob", &["hidden", "limit", "no_ignore", "sort"]),
    ("grep", &["after", "before", "hidden", "invert", "multiline", "no_ignore", "semantic", "whole_word"]),
    ("list", &["limit"]),
    ("lsp_diagnostics", &["timeout_ms"]),
    ("lsp_tests", &["only"]),
    ("read", &["line_numbers"]),
];

/// The schema of a tool's arguments in the form for models.
pub(crate) fn listed_schema(tool: &ToolDefinition) -> Value {
    let mut schema = tool.input.as_value().clone();
    // Schemas of other origin stay unchanged.
    if schema["additionalProperties"] == Value::Bool(false) {
        shorten(&mut schema);
    }
    let rare = RARE.iter().filter(|(name, _)| *name == tool.card.name).flat_map(|(_, options)| *options);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        rare.for_each(|option| {
            properties.remove(*option);
        });
    }
    schema
}

fn shorten(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for bound in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default"] {
        map.remove(bound);
    }
    if let Some(one) = one_or_many(map.get("anyOf")) {
        map.remove("anyOf");
        map.insert("type".to_owned(), one);
    }
    for key in ["properties", "items"] {
        match (key, map.get_mut(key)) {
            ("properties", Some(Value::Object(properties))) => properties.values_mut().for_each(shorten),
            (_, Some(part)) => {
                // The list's own description covers its items.
                part.as_object_mut().map(|part| part.remove("description"));
                shorten(part);
            }
            (_, None) => {}
        }
    }
}

/// The type of a value that may also be a list of such values.
fn one_or_many(ways: Option<&Value>) -> Option<Value> {
    match ways?.as_array()?.as_slice() {
        [one, many] if *many == json!({"type": "array", "items": one}) => one.get("type").cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::api::built_in;
    use crate::tools::api::schema::Schema;
    use crate::tools::api::tool::Card;

    #[test]
    fn options_that_lists_leave_out_are_optional_properties_of_their_tools() {
        let tools = built_in::registry().unwrap();
        for (name, options) in RARE {
            let definition = tools.get(name).unwrap().definition();
            let (whole, listed) = (definition.input.as_value(), listed_schema(definition));
            for option in *options {
                assert!(whole["properties"].get(*option).is_some(), "{name} {option}");
                assert!(listed["properties"].get(*option).is_none(), "{name} {option}");
                assert!(!whole["required"].as_array().unwrap().contains(&json!(option)), "{name} {option}");
            }
        }
    }

    #[test]
    fn listed_schema_leaves_out_bounds_and_lists_of_one() {
        let listed = |input: Value| {
            listed_schema(&ToolDefinition {
                card: Card::reading("a", "A", "a"),
                input: Schema::new(input),
                output: None,
            })
        };
        let property = |property: Value, closed: bool| json!({"type": "object", "properties": {"p": property}, "additionalProperties": !closed});
        for (whole, short) in [
            (json!({"type": "integer", "minimum": 400, "maximum": 900}), json!({"type": "integer"})),
            (json!({"enum": ["a", "b"], "default": "a"}), json!({"enum": ["a", "b"]})),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
        ] {
            assert_eq!(listed(property(whole.clone(), true)), property(short, true));
            assert_eq!(listed(property(whole.clone(), false)), property(whole, false));
        }
    }
}
