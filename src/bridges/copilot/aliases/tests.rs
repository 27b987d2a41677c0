//! Tests of the list of aliases, and of their schemas against the server's limits.

use super::*;

#[test]
fn copilot_alias_list_has_all_eighteen_names() {
    let names: Vec<&str> = all().iter().map(AliasName::name).collect();
    for name in [
        "insert_edit_into_file",
        "replace_string_in_file",
        "multi_replace_string",
        "create_file",
        "create_directory",
        "apply_patch",
        "read_file",
        "list_dir",
        "file_search",
        "grep_search",
        "find_test_files",
        "run_in_terminal",
        "run_tests",
        "fetch_web_page",
        "get_errors",
        "get_terminal_output",
        "fetch_webpage",
        "get_changed_files",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    assert_eq!(names.len(), 18);
}

#[test]
fn copilot_alias_registrations_have_valid_input_schemas() {
    for name in all() {
        let entry = name.registration();
        assert_eq!(entry["name"], name.name());
        assert!(entry["description"].as_str().is_some_and(|text| text.len() > 20), "{entry}");
        let schema = &entry["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert!(schema["required"].is_array(), "{entry}");
        for (property, part) in schema["properties"].as_object().expect("properties") {
            assert!(part["type"].is_string(), "{}.{property}: {part}", name.name());
            assert!(
                part["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{}.{property}",
                name.name()
            );
            assert!(
                part.get("anyOf").is_none() && part.get("$ref").is_none(),
                "{}.{property}: {part}",
                name.name()
            );
        }
    }
}

#[test]
fn default_copilot_aliases_replace_no_server_tool() {
    for name in all() {
        assert!(!(name.by_default() && name.class() == AliasClass::Replaces), "{}", name.name());
        assert!(!name.why().is_empty() && !name.why().ends_with('.'), "{}", name.name());
    }
    let on: Vec<&str> = all().iter().filter(|name| name.by_default()).map(AliasName::name).collect();
    assert!(
        on.contains(&"insert_edit_into_file") && on.contains(&"create_file"),
        "both unlock the server's edits"
    );
}

#[test]
fn run_in_terminal_description_names_the_shell() {
    let terminal = find("run_in_terminal").expect("the name").registration();
    assert!(terminal["description"].as_str().is_some_and(|text| text.contains("Shell: sh")));
}

#[test]
fn copilot_aliases_use_registered_built_in_tools() {
    let tools = crate::tools::api::built_in::registry().expect("a registry");
    for name in all() {
        assert!(!name.uses().is_empty());
        for tool in name.uses() {
            assert!(tools.get(tool).is_ok(), "{} uses {tool}", name.name());
        }
    }
}

#[test]
fn every_argument_of_every_name_has_a_description() {
    fn undescribed(schema: &Value, place: &str, found: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            if property["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
                found.push(place.clone());
            }
            undescribed(&property["items"], &place, found);
        }
    }
    let mut found = Vec::new();
    all().iter().for_each(|name| undescribed(name.definition().input.as_value(), name.name(), &mut found));
    assert_eq!(found, Vec::<String>::new());
}
