//! Inserting and removing one entry in a YAML text without any other change.

use std::str::FromStr;

use serde_json::{Map, Value};
use yaml_edit::{Mapping, MappingBuilder, Scalar, SequenceBuilder, YamlFile, YamlNode};

use super::InitError;
use super::entry::HostConfigEntry;
use super::file::with_line_end;

/// Like [`super::edit::insert_entry`], for YAML.
pub(super) fn put_yaml(
    file: &str,
    text: Option<&str>,
    entry: &HostConfigEntry,
    force: bool,
) -> Result<String, InitError> {
    let text = text.unwrap_or_default();
    let parsed = parse_yaml(file, text)?;
    let no_mapping = |key: &str| unreadable(file, format!("{key} is not a mapping"));
    let (name, around) = entry.path.split_last().ok_or_else(|| no_mapping("the entry"))?;
    let nested = |inner: Value, key: &String| Value::Object(Map::from_iter([(key.clone(), inner)]));
    let ours = |missing: &[String]| missing.iter().rfold(nested(entry.value.clone(), name), nested);
    let Some(mut mapping) = root_of(&parsed) else {
        return match is_blank(text) {
            true => Ok(with_line_end(format!("{text}{}", mapping_of(&ours(around)).build_document()))),
            false => Err(no_mapping("the whole of it")),
        };
    };
    for (depth, key) in around.iter().enumerate() {
        match mapping.get(key) {
            Some(YamlNode::Mapping(inner)) if !inner.is_empty() => mapping = inner,
            found if found.as_ref().is_none_or(is_empty) => {
                let fresh = mapping_of(&ours(&around[depth + 1..])).build_document();
                mapping.set(key, fresh);
                return Ok(with_line_end(parsed.to_string()));
            }
            _ => return Err(no_mapping(&format!("`{key}`"))),
        }
    }
    if let Some(known) = mapping.get(name).map(|there| to_json(&there)) {
        if known == entry.value {
            return Ok(text.to_owned());
        }
        if !force {
            return Err(entry.conflict(file, Some(&known)));
        }
    }
    mapping.set(name, mapping_of(&entry.value).build_document());
    Ok(with_line_end(parsed.to_string()))
}

/// Like [`super::edit::remove_entry`], for YAML.
pub(super) fn remove_yaml(file: &str, text: &str, path: &[String]) -> Result<String, InitError> {
    let parsed = parse_yaml(file, text)?;
    let mut way: Vec<(Mapping, &String)> = Vec::new();
    let mut mapping = root_of(&parsed);
    for key in path {
        let Some(around) = mapping.take().filter(|around| around.contains_key(key)) else {
            return Ok(text.to_owned());
        };
        mapping = around.get_mapping(key);
        way.push((around, key));
    }
    while let Some((around, key)) = way.pop() {
        around.remove(key);
        if !around.is_empty() {
            break;
        }
    }
    let is_left = root_of(&parsed).is_some_and(|root| !root.is_empty());
    Ok(if is_left { parsed.to_string() } else { String::new() })
}

/// Parses a YAML text into a value, as far as JSON can represent it.
pub(super) fn value_of_yaml(text: &str) -> Option<Value> {
    root_of(&YamlFile::from_str(text).ok()?).map(|root| to_json(&YamlNode::Mapping(root)))
}

fn parse_yaml(file: &str, text: &str) -> Result<YamlFile, InitError> {
    let parsed = YamlFile::from_str(text).map_err(|error| unreadable(file, error.to_string()))?;
    match parsed.documents().nth(1) {
        Some(_) => Err(unreadable(file, "it has several documents".to_owned())),
        None => Ok(parsed),
    }
}

fn unreadable(file: &str, reason: String) -> InitError {
    InitError::Unreadable { file: file.to_owned(), format: "YAML", reason }
}

fn root_of(parsed: &YamlFile) -> Option<Mapping> {
    parsed.document()?.as_mapping()
}

/// Returns true if a text has only blank lines and comments.
fn is_blank(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

fn is_empty(node: &YamlNode) -> bool {
    match node {
        YamlNode::Scalar(scalar) => scalar.is_null(),
        YamlNode::Mapping(mapping) => mapping.is_empty(),
        _ => false,
    }
}

/// Builds a mapping with one line per key.
fn mapping_of(value: &Value) -> MappingBuilder {
    let members = value.as_object().into_iter().flatten();
    members.fold(MappingBuilder::new(), |out, (key, value)| match value {
        Value::Null => out.pair(key, None::<i64>),
        Value::Bool(flag) => out.pair(key, *flag),
        Value::Number(number) => out.pair(key, number.as_i64()),
        Value::String(text) => out.pair(key, text.as_str()),
        Value::Array(items) => out.insert_sequence(key, sequence_of(items)),
        Value::Object(_) => out.insert_mapping(key, mapping_of(value)),
    })
}

fn sequence_of(items: &[Value]) -> SequenceBuilder {
    items.iter().fold(SequenceBuilder::new(), |out, item| match item {
        Value::Null => out.item(None::<i64>),
        Value::Bool(flag) => out.item(*flag),
        Value::Number(number) => out.item(number.as_i64()),
        Value::String(text) => out.item(text.as_str()),
        Value::Array(items) => out.insert_sequence(sequence_of(items)),
        Value::Object(_) => out.insert_mapping(mapping_of(item)),
    })
}

/// Converts a node. Values without a JSON form become their text.
fn to_json(node: &YamlNode) -> Value {
    match node {
        YamlNode::Scalar(scalar) if scalar.is_quoted() => Value::String(scalar.as_string()),
        YamlNode::Scalar(scalar) if scalar.is_null() => Value::Null,
        YamlNode::Scalar(scalar) => match (scalar.as_bool(), scalar.as_i64()) {
            (Some(flag), _) => Value::Bool(flag),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::String(scalar.as_string()),
        },
        YamlNode::Sequence(sequence) => sequence.values().map(|item| to_json(&item)).collect(),
        YamlNode::Mapping(mapping) => mapping
            .iter()
            .map(|(key, value)| {
                let key = key.as_scalar().map_or_else(|| key.to_string(), Scalar::as_string);
                (key, to_json(&value))
            })
            .collect(),
        other => Value::String(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path() -> Vec<String> {
        ["extensions", "lsp-tools"].map(str::to_owned).to_vec()
    }

    fn entry() -> HostConfigEntry {
        let value =
            json!({"enabled": true, "cmd": "/usr/bin/lsp tools: x", "args": ["mcp", "true"], "timeout": 300});
        HostConfigEntry { path: path(), value }
    }

    const OURS: &str = "  lsp-tools:\n    enabled: true\n    cmd: '/usr/bin/lsp tools: x'\n    args:\n      - mcp\n      - 'true'\n    timeout: 300\n";

    fn put(text: &str, force: bool) -> Result<String, InitError> {
        put_yaml("f", Some(text), &entry(), force)
    }

    #[test]
    fn yaml_host_file_keeps_comments_and_other_entries() {
        let others = "# mine\nGOOSE_MODE: auto # best\nextensions:\n  developer:\n    type: builtin\n  memory: {type: builtin}\n";
        let tail = "# the end\nz: 1\n";
        let after = put(&format!("{others}{tail}"), false).unwrap();
        assert_eq!(after, format!("{others}{OURS}{tail}"));
        assert_eq!(put(&after, false).unwrap(), after);
        assert_eq!(remove_yaml("f", &after, &path()).unwrap(), format!("{others}{tail}"));
        assert_eq!(value_of_yaml(&after).unwrap()["extensions"]["lsp-tools"], entry().value);
    }

    #[test]
    fn yaml_host_file_without_extensions_gets_them() {
        for (before, head) in [
            ("", ""),
            ("# mine\n", "# mine\n"),
            ("a: 1\n", "a: 1\n"),
            ("# mine\n---\na: 1\n", "# mine\n---\na: 1\n"),
            ("a: 1\nextensions: {}\n", "a: 1\n"),
            ("a: 1\nextensions:\n", "a: 1\n"),
        ] {
            let after = put(before, false).unwrap();
            assert_eq!(after, format!("{head}extensions:\n{OURS}"), "{before:?}");
            let removed = remove_yaml("f", &after, &path()).unwrap();
            assert_eq!(value_of_yaml(&removed), value_of_yaml(head), "{removed:?}");
        }
        assert_eq!(put_yaml("f", None, &entry(), false).unwrap(), format!("extensions:\n{OURS}"));
    }

    #[test]
    fn yaml_host_file_of_another_shape_is_refused() {
        for bad in ["- 1\n", "a: [1\n", "extensions: 1\n", "extensions:\n- developer\n", "a: 1\n---\nb: 2\n"]
        {
            assert!(matches!(put(bad, true), Err(InitError::Unreadable { .. })), "{bad}");
        }
        let other = format!("extensions:\n{}", OURS.replace("300", "10"));
        let error = put(&other, false).unwrap_err();
        assert!(error.to_string().contains("+  \"timeout\": 300"), "{error}");
        assert_eq!(put(&other, true).unwrap(), format!("extensions:\n{OURS}"));
    }
}
