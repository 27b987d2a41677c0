//! Inserting and removing one entry in the text of a host's file, JSON (with comments), TOML or
//! YAML, without any other change.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::InitError;
use super::entry::HostConfigEntry;
use super::file::with_line_end;
use super::yaml::{has_yaml_entry, put_yaml, remove_yaml};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostFileFormat {
    /// JSON; comments and trailing commas are kept.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Returns `text` (`None` if the file does not exist) with `entry` in it. An entry of that name
/// with another value is replaced only with `force`. `file` is named in errors.
pub(super) fn insert_entry(
    format: HostFileFormat,
    file: &str,
    text: Option<&str>,
    entry: &HostConfigEntry,
    force: bool,
) -> Result<String, InitError> {
    match format {
        HostFileFormat::Json => put_json(file, text, entry, force),
        HostFileFormat::Toml => put_toml(file, text, entry, force),
        HostFileFormat::Yaml => put_yaml(file, text, entry, force),
    }
}

fn put_json(
    file: &str,
    text: Option<&str>,
    entry: &HostConfigEntry,
    force: bool,
) -> Result<String, InitError> {
    let unreadable = |reason: String| InitError::Unreadable { file: file.to_owned(), format: "JSON", reason };
    let text = text.unwrap_or_default();
    let root = parse_json(file, text)?;
    let no_object = |key: &str| unreadable(format!("{key} is not an object"));
    let (name, around) = entry.path.split_last().ok_or_else(|| no_object("the entry"))?;
    let mut object: CstObject = root.object_value_or_create().ok_or_else(|| no_object("the whole of it"))?;
    for key in around {
        object = object.object_value_or_create(key).ok_or_else(|| no_object(&format!("`{key}`")))?;
    }
    match object.get(name) {
        None => {
            object.append(name, to_cst_value(&entry.value));
        }
        Some(there) => {
            let known = there.value().and_then(|value| value.to_serde_value());
            if known.as_ref() == Some(&entry.value) {
                return Ok(text.to_owned());
            }
            if !force {
                return Err(entry.conflict(file, known.as_ref()));
            }
            there.set_value(to_cst_value(&entry.value));
        }
    }
    Ok(with_line_end(root.to_string()))
}

/// Returns `text` without the entry at `path` and without the tables around it that become empty.
/// Returns `text` unchanged if it has no such entry.
pub(super) fn remove_entry(
    format: HostFileFormat,
    file: &str,
    text: &str,
    path: &[String],
) -> Result<String, InitError> {
    match format {
        HostFileFormat::Json => remove_json(file, text, path),
        HostFileFormat::Toml => remove_toml(file, text, path),
        HostFileFormat::Yaml => Ok(remove_yaml(text, path)),
    }
}

fn remove_json(file: &str, text: &str, path: &[String]) -> Result<String, InitError> {
    let root = parse_json(file, text)?;
    let Some(way) = root.object_value().and_then(|whole| properties_at(whole, path)) else {
        return Ok(text.to_owned());
    };
    remove_with_empty_parents(way);
    Ok(root.to_string())
}

/// Returns the properties along `path`, from the outermost to the one with its last key. Returns
/// `None` if one is missing.
pub(super) fn properties_at(whole: CstObject, path: &[String]) -> Option<Vec<CstObjectProp>> {
    let mut object = Some(whole);
    path.iter()
        .map(|key| {
            let property = object.take()?.get(key)?;
            object = property.object_value();
            Some(property)
        })
        .collect()
}

/// Removes the last property of `way`, and the parents that become empty.
pub(super) fn remove_with_empty_parents(mut way: Vec<CstObjectProp>) {
    if let Some(last) = way.pop() {
        last.remove();
    }
    while let Some(around) = way.pop() {
        if around.object_value().is_none_or(|object| !object.properties().is_empty()) {
            break;
        }
        around.remove();
    }
}

fn remove_toml(file: &str, text: &str, path: &[String]) -> Result<String, InitError> {
    let mut document = parse_toml(file, text)?;
    let Some((name, around)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for key in around {
        match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    Ok(if table.remove(name).is_some() { document.to_string() } else { text.to_owned() })
}

/// Returns true if the text has a value at `path`.
pub(super) fn has_entry(format: HostFileFormat, text: &str, path: &[String]) -> bool {
    let value = match format {
        HostFileFormat::Json => value_of(text).ok(),
        HostFileFormat::Toml => toml::from_str(text).ok(),
        HostFileFormat::Yaml => return has_yaml_entry(text, path),
    };
    path.iter().try_fold(value.as_ref(), |at, key| at.map(|value| value.get(key))).flatten().is_some()
}

/// Parses JSON into a tree that keeps blanks and comments.
pub(super) fn parse_json(file: &str, text: &str) -> Result<CstRootNode, InitError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| InitError::Unreadable {
        file: file.to_owned(),
        format: "JSON",
        reason: error.to_string(),
    })
}

fn parse_toml(file: &str, text: &str) -> Result<DocumentMut, InitError> {
    text.parse().map_err(|error: toml_edit::TomlError| InitError::Unreadable {
        file: file.to_owned(),
        format: "TOML",
        reason: error.message().to_owned(),
    })
}

/// Parses JSON, with or without comments, into a value.
pub(super) fn value_of(text: &str) -> Result<Value, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    root.to_serde_value().ok_or_else(|| "it is empty".to_owned())
}

pub(super) fn to_cst_value(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_cst_value).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), to_cst_value(value))).collect())
        }
    }
}

fn put_toml(
    file: &str,
    text: Option<&str>,
    entry: &HostConfigEntry,
    force: bool,
) -> Result<String, InitError> {
    let unreadable = |reason: String| InitError::Unreadable { file: file.to_owned(), format: "TOML", reason };
    let text = text.unwrap_or_default();
    let mut document = parse_toml(file, text)?;
    let no_table = |key: &str| unreadable(format!("`{key}` is not a table"));
    let (name, around) = entry.path.split_last().ok_or_else(|| no_table("the entry"))?;
    let mut table: &mut Table = document.as_table_mut();
    for key in around {
        let part = table.entry(key).or_insert_with(|| {
            let mut fresh = Table::new();
            fresh.set_implicit(true);
            Item::Table(fresh)
        });
        table = part.as_table_mut().ok_or_else(|| no_table(key))?;
    }
    if let Some(there) = table.get(name) {
        let known = toml::from_str::<Value>(&item_text(there)).ok().and_then(|value| value.get("x").cloned());
        if known.as_ref() == Some(&entry.value) {
            return Ok(text.to_owned());
        }
        if !force {
            return Err(entry.conflict(file, known.as_ref()));
        }
    }
    let value = toml_value(&entry.value).ok_or_else(|| unreadable("TOML cannot express null".to_owned()))?;
    let (decor, position) = match table.get(name).and_then(Item::as_table) {
        Some(old) => (Some(old.decor().clone()), old.position()),
        None => (None, None),
    };
    let mut item = Item::Value(value).into_table().map(Item::Table).unwrap_or_else(|item| item);
    if let Some(fresh) = item.as_table_mut() {
        match decor {
            Some(decor) => *fresh.decor_mut() = decor,
            None if !text.is_empty() => fresh.decor_mut().set_prefix("\n"),
            None => {}
        }
        fresh.set_position(position);
    }
    table.insert(name, item);
    Ok(document.to_string())
}

/// Renders an item as the value of `x` in a document of its own.
fn item_text(item: &Item) -> String {
    let mut document = DocumentMut::new();
    let value = item.clone().into_value().map(Item::Value).unwrap_or_else(|item| item);
    document.insert("x", value);
    document.to_string()
}

fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(toml_value).collect::<Option<_>>()?),
        Value::Object(map) => {
            let parts = map.iter().map(|(key, value)| Some((key, toml_value(value)?)));
            toml_edit::Value::InlineTable(parts.collect::<Option<Vec<_>>>()?.into_iter().collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(path: &[&str], value: Value) -> HostConfigEntry {
        HostConfigEntry { path: path.iter().map(|key| (*key).to_owned()).collect(), value }
    }

    fn ours() -> Value {
        json!({"command": "lsp-tools", "args": ["mcp"]})
    }

    #[test]
    fn json_host_file_keeps_comments_and_other_entries() {
        let before = "// mine\n{\n    \"z\": 1, // one\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"},\n    },\n}\n";
        let request = entry(&["mcpServers", "lsp-tools"], ours());
        let after = insert_entry(HostFileFormat::Json, "f", Some(before), &request, false).unwrap();
        for kept in ["// mine\n", "    \"z\": 1, // one\n", "        \"other\": {\"command\": \"x\"},\n"] {
            assert!(after.contains(kept), "{after}");
        }
        assert!(after.contains("        \"lsp-tools\": {\n"), "{after}");
        assert_eq!(insert_entry(HostFileFormat::Json, "f", Some(&after), &request, false).unwrap(), after);
        let new = insert_entry(HostFileFormat::Json, "f", None, &request, false).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&new).unwrap(),
            json!({"mcpServers": {"lsp-tools": ours()}})
        );
    }

    #[test]
    fn existing_host_file_entry_is_replaced_only_with_force() {
        let request = entry(&["mcpServers", "lsp-tools"], ours());
        let before = r#"{"mcpServers": {"lsp-tools": {"command": "mine"}, "b": 1}}"#;
        let error = insert_entry(HostFileFormat::Json, "f", Some(before), &request, false).unwrap_err();
        assert!(
            error.to_string().contains("+  \"command\": \"") && !error.to_string().contains("mine"),
            "{error}"
        );
        let after = insert_entry(HostFileFormat::Json, "f", Some(before), &request, true).unwrap();
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value, json!({"mcpServers": {"lsp-tools": ours(), "b": 1}}));
        for bad in ["[1]", "{", "{\"mcpServers\": []}"] {
            assert!(
                matches!(
                    insert_entry(HostFileFormat::Json, "f", Some(bad), &request, true),
                    Err(InitError::Unreadable { .. })
                ),
                "{bad}"
            );
        }
    }

    #[test]
    fn removed_entry_takes_only_its_own_empty_tables_along() {
        let path = ["mcpServers".to_owned(), "lsp-tools".to_owned()];
        let before = "// mine\n{\n  \"z\": 1, // one\n  \"mcpServers\": {\n    \"b\": 2,\n    \"lsp-tools\": {}\n  }\n}\n";
        let after = remove_entry(HostFileFormat::Json, "f", before, &path).unwrap();
        assert!(
            after.contains("// mine") && after.contains("// one") && after.contains("\"b\": 2"),
            "{after}"
        );
        assert!(!after.contains("lsp-tools"), "{after}");
        assert_eq!(remove_entry(HostFileFormat::Json, "f", &after, &path).unwrap(), after);
        let alone = "{\n  \"z\": 1,\n  \"mcpServers\": {\n    \"lsp-tools\": {}\n  }\n}\n";
        let after = remove_entry(HostFileFormat::Json, "f", alone, &path).unwrap();
        assert_eq!(value_of(&after).unwrap(), json!({"z": 1}), "{after}");
        let path = ["mcp_servers".to_owned(), "lsp-tools".to_owned()];
        let before = "# mine\nmodel = \"x\"\n\n[mcp_servers.lsp-tools]\ncommand = \"y\"\n\n[tail]\na = 1\n";
        let after = remove_entry(HostFileFormat::Toml, "f", before, &path).unwrap();
        assert_eq!(after, "# mine\nmodel = \"x\"\n\n[tail]\na = 1\n");
        assert!(
            !has_entry(HostFileFormat::Toml, &after, &path) && has_entry(HostFileFormat::Toml, before, &path)
        );
    }

    #[test]
    fn toml_host_file_keeps_comments_and_other_entries() {
        let before = "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = 'y'\n\n[tail]\na = 1\n";
        let request = entry(&["mcp_servers", "lsp-tools"], ours());
        let after = insert_entry(HostFileFormat::Toml, "f", Some(before), &request, false).unwrap();
        for kept in
            ["# mine\nmodel = \"x\" # best\n", "[mcp_servers.other]\ncommand = 'y'\n", "[tail]\na = 1\n"]
        {
            assert!(after.contains(kept), "{after}");
        }
        assert!(
            after.contains("[mcp_servers.lsp-tools]\ncommand = \"lsp-tools\"\nargs = [\"mcp\"]\n"),
            "{after}"
        );
        assert_eq!(insert_entry(HostFileFormat::Toml, "f", Some(&after), &request, false).unwrap(), after);
        let other = after.replace("\"lsp-tools\"\nargs", "\"mine\"\nargs");
        assert!(matches!(
            insert_entry(HostFileFormat::Toml, "f", Some(&other), &request, false),
            Err(InitError::Other { .. })
        ));
        assert_eq!(insert_entry(HostFileFormat::Toml, "f", Some(&other), &request, true).unwrap(), after);
        let new = insert_entry(HostFileFormat::Toml, "f", None, &request, false).unwrap();
        assert_eq!(new, "[mcp_servers.lsp-tools]\ncommand = \"lsp-tools\"\nargs = [\"mcp\"]\n");
        assert!(insert_entry(HostFileFormat::Toml, "f", Some("mcp_servers = 1"), &request, true).is_err());
    }
}
