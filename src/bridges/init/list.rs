//! Our elements in a list of a host's JSON: inserting, replacing and removing them without any
//! other change.

use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstObjectProp};
use serde_json::Value;

use super::InitError;
use super::edit::{parse_json, properties_at, remove_with_empty_parents, to_cst_value};
use super::file::with_line_end;

/// A list in a file, and our element of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostListElement {
    /// The keys of the path to the list.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
    /// A text that only our element contains.
    pub(super) mark: String,
}

/// Returns true if an element is ours, which means that a text in it contains `mark`.
fn is_ours(element: &CstNode, mark: &str) -> bool {
    fn contains(value: &Value, mark: &str) -> bool {
        match value {
            Value::String(text) => text.contains(mark),
            Value::Array(items) => items.iter().any(|item| contains(item, mark)),
            Value::Object(map) => map.values().any(|item| contains(item, mark)),
            _ => false,
        }
    }
    element.to_serde_value().is_some_and(|value| contains(&value, mark))
}

/// Returns `text` (`None` if the file does not exist) with each of `elements` exactly once in its
/// list. A different element with the same mark is replaced.
pub(super) fn put_elements(
    file: &str,
    text: Option<&str>,
    elements: &[HostListElement],
) -> Result<String, InitError> {
    let text = text.unwrap_or_default();
    let root = parse_json(file, text)?;
    let whole = root.object_value_or_create().ok_or_else(|| no_object(file, "the whole of it"))?;
    let mut changed = false;
    for element in elements {
        let list = list_at(file, whole.clone(), &element.path)?;
        let ours: Vec<CstNode> =
            list.elements().into_iter().filter(|node| is_ours(node, &element.mark)).collect();
        let value = |node: &CstNode| node.to_serde_value();
        if matches!(ours.as_slice(), [one] if value(one).as_ref() == Some(&element.value)) {
            continue;
        }
        ours.into_iter().for_each(CstNode::remove);
        list.append(to_cst_value(&element.value));
        changed = true;
    }
    Ok(with_line_end(if changed { root.to_string() } else { text.to_owned() }))
}

/// Returns `text` without `elements`, identified by their marks, and without lists that become
/// empty.
pub(super) fn remove_elements(
    file: &str,
    text: &str,
    elements: &[HostListElement],
) -> Result<String, InitError> {
    let root = parse_json(file, text)?;
    let Some(whole) = root.object_value() else { return Ok(text.to_owned()) };
    for HostListElement { path, mark, .. } in elements {
        let Some(way) = properties_at(whole.clone(), path) else { continue };
        let Some(list) = way.last().and_then(CstObjectProp::array_value) else { continue };
        list.elements().into_iter().filter(|element| is_ours(element, mark)).for_each(CstNode::remove);
        if list.elements().is_empty() {
            remove_with_empty_parents(way);
        }
    }
    Ok(root.to_string())
}

fn list_at(file: &str, mut object: CstObject, path: &[String]) -> Result<CstArray, InitError> {
    let (name, around) = path.split_last().ok_or_else(|| no_object(file, "the list"))?;
    for key in around {
        object = object.object_value_or_create(key).ok_or_else(|| no_object(file, &format!("`{key}`")))?;
    }
    object.array_value_or_create(name).ok_or_else(|| InitError::Unreadable {
        file: file.to_owned(),
        format: "JSON",
        reason: format!("`{name}` is not a list"),
    })
}

fn no_object(file: &str, key: &str) -> InitError {
    InitError::Unreadable { file: file.to_owned(), format: "JSON", reason: format!("{key} is not an object") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bridges::init::edit::value_of;

    fn element(command: &str) -> HostListElement {
        HostListElement {
            path: vec!["hooks".to_owned(), "PostToolUse".to_owned()],
            value: json!({"matcher": "Edit", "hooks": [{"type": "command", "command": command}]}),
            mark: "lsp-tools hook".to_owned(),
        }
    }

    #[test]
    fn our_list_element_is_put_beside_others_once_and_taken_out_again() {
        let before = "{\n  // mine\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\"matcher\": \"x\"}\n    ]\n  }\n}\n";
        let put = |text: &str, command: &str| put_elements("f", Some(text), &[element(command)]);
        let after = put(before, "lsp-tools hook claude-code").unwrap();
        assert!(after.contains("// mine") && after.contains("{\"matcher\": \"x\"}"), "{after}");
        assert_eq!(put(&after, "lsp-tools hook claude-code").unwrap(), after);
        let other = put(&after, "/elsewhere/lsp-tools hook claude-code").unwrap();
        assert_eq!(value_of(&other).unwrap()["hooks"]["PostToolUse"].as_array().unwrap().len(), 2, "{other}");
        let gone = remove_elements("f", &other, &[element("")]).unwrap();
        assert_eq!(value_of(&gone).unwrap(), value_of(before).unwrap(), "{gone}");
        let new = put_elements("f", None, &[element("lsp-tools hook x")]).unwrap();
        let gone = remove_elements("f", &new, &[element("")]).unwrap();
        assert_eq!(value_of(&gone).unwrap(), json!({}), "{gone}");
        for bad in ["[1]", "{", "{\"hooks\": []}", "{\"hooks\": {\"PostToolUse\": 1}}"] {
            assert!(matches!(put(bad, "lsp-tools hook x"), Err(InitError::Unreadable { .. })), "{bad}");
        }
    }
}
