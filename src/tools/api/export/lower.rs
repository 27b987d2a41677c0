//! Simplification of schemas: references put in place, combinations at the root folded into one
//! object.

use serde_json::{Map, Value, json};

/// The most parts of an inlined schema, because nested references can grow without bound.
const MAX_INLINED_SCHEMA_PARTS: usize = 10_000;
/// The depth to which a recursive reference is followed.
const MAX_INLINED_SCHEMA_DEPTH: usize = 24;

/// The schema with every `$ref` replaced by its target. A recursive, dangling or external reference
/// becomes a schema of anything.
pub(super) fn inline_references(schema: &Value) -> Value {
    let mut parts = 0;
    let mut plain = Inliner { root: schema, parts: &mut parts }.inline_part(schema, &mut Vec::new(), 0);
    if let Value::Object(map) = &mut plain {
        for key in ["$defs", "definitions", "$schema", "$id", "$anchor", "$comment"] {
            map.shift_remove(key);
        }
    }
    plain
}

struct Inliner<'a> {
    root: &'a Value,
    parts: &'a mut usize,
}

impl Inliner<'_> {
    fn inline_part(&mut self, schema: &Value, open: &mut Vec<String>, depth: usize) -> Value {
        *self.parts += 1;
        if *self.parts > MAX_INLINED_SCHEMA_PARTS || depth > MAX_INLINED_SCHEMA_DEPTH {
            return json!({});
        }
        let Value::Object(map) = schema else { return schema.clone() };
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            return self.inline_reference(reference, map, open, depth);
        }
        let entries = map.iter().filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"));
        let entries = entries.map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                    let named = named
                        .iter()
                        .map(|(name, part)| (name.clone(), self.inline_part(part, open, depth + 1)));
                    Value::Object(named.collect())
                }
                ("enum" | "const" | "default" | "examples" | "required", value) => value.clone(),
                (_, Value::Array(items)) => {
                    items.iter().map(|item| self.inline_part(item, open, depth + 1)).collect()
                }
                (_, value) => self.inline_part(value, open, depth + 1),
            };
            (key.clone(), value)
        });
        Value::Object(entries.collect())
    }

    fn inline_reference(
        &mut self,
        reference: &str,
        beside: &Map<String, Value>,
        open: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let mut plain = match target {
            Some(target) if !open.iter().any(|name| name == reference) => {
                let target = target.clone();
                open.push(reference.to_owned());
                let plain = self.inline_part(&target, open, depth + 1);
                open.pop();
                plain
            }
            _ => json!({}),
        };
        if let Value::Object(map) = &mut plain {
            for (key, value) in beside.iter().filter(|(key, _)| *key != "$ref") {
                map.insert(key.clone(), value.clone());
            }
        }
        plain
    }
}

/// The schema as one object with `type`, `properties` and `required`, and without a combination at
/// the root. Properties that are required in every alternative stay required.
pub(super) fn one_object(schema: &Value) -> Map<String, Value> {
    let mut map = schema.as_object().cloned().unwrap_or_default();
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(ways)) = map.shift_remove(key) {
            merge_alternatives(&mut map, &ways, key == "allOf");
        }
    }
    for key in ["not", "if", "then", "else", "dependentSchemas", "dependentRequired"] {
        map.shift_remove(key);
    }
    map.insert("type".to_owned(), json!("object"));
    map.entry("properties").or_insert_with(|| json!({}));
    map.entry("required").or_insert_with(|| json!([]));
    map
}

fn merge_alternatives(map: &mut Map<String, Value>, ways: &[Value], all: bool) {
    let mut common: Option<Vec<Value>> = None;
    for way in ways {
        let way = one_object(way);
        if let (Some(Value::Object(into)), Some(Value::Object(from))) =
            (Some(map.entry("properties").or_insert_with(|| json!({}))), way.get("properties"))
        {
            for (name, part) in from {
                into.entry(name.clone()).or_insert_with(|| part.clone());
            }
        }
        let required = way.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        common = Some(match common {
            None => required,
            Some(known) if all => known.into_iter().chain(required).collect(),
            Some(known) => known.into_iter().filter(|name| required.contains(name)).collect(),
        });
    }
    if let Value::Array(required) = map.entry("required").or_insert_with(|| json!([])) {
        for name in common.unwrap_or_default() {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}

/// The types of a schema without `null`. The flag is true if `null` is among them.
pub(super) fn types(schema: &Map<String, Value>) -> (Vec<&str>, bool) {
    let named: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let nullable = named.contains(&"null");
    (named.into_iter().filter(|kind| *kind != "null").collect(), nullable)
}

/// The alternatives of `anyOf` or `oneOf` without `null`. The flag is true if `null` is among them.
pub(super) fn alternatives(schema: &Map<String, Value>) -> Option<(Vec<&Map<String, Value>>, bool)> {
    let ways = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |way: &Value| way.get("type") == Some(&json!("null"));
    let rest = ways.iter().filter(|way| !is_null(way)).filter_map(Value::as_object).collect();
    Some((rest, ways.iter().any(is_null)))
}

/// The schema keyword for the type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_schema_refs_are_inlined_and_cycles_end() {
        let schema = json!({
            "$defs": {
                "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"$ref": "#/$defs/Name"}}},
                "Name": {"type": "string"},
            },
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node", "description": "a node"}, "$ref": {"type": "string"}},
        });
        // `$ref` may be the name of a property only among properties.
        let plain = inline_references(&schema);
        assert_eq!(plain.get("$defs"), None);
        assert_eq!(plain["properties"]["node"]["properties"]["name"], json!({"type": "string"}));
        assert_eq!(plain["properties"]["node"]["properties"]["next"], json!({}));
        assert_eq!(plain["properties"]["node"]["description"], "a node");
        assert_eq!(plain["properties"]["$ref"], json!({"type": "string"}));
    }

    #[test]
    fn json_schema_ref_bomb_stays_small() {
        let mut defs = Map::new();
        for level in 0..30 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            defs.insert(format!("l{level}"), json!({"anyOf": [next, next, next]}));
        }
        defs.insert("l30".to_owned(), json!({"type": "string"}));
        let plain = inline_references(&json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/l0"}}}));
        assert!(plain.to_string().len() < 500_000);
    }

    #[test]
    fn root_combinators_of_schema_become_one_object() {
        let one = one_object(&json!({
            "oneOf": [
                {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]},
                {"properties": {"a": {"type": "string"}, "c": {"type": "string"}}, "required": ["a", "c"]},
            ],
        }));
        assert_eq!(one["required"], json!(["a"]));
        assert_eq!(one["properties"].as_object().map(Map::len), Some(3));
        assert_eq!(one.get("oneOf"), None);
        let all = one_object(&json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}));
        assert_eq!(all["required"], json!(["a", "b"]));
    }
}
