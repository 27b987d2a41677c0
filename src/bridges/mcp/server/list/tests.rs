use super::*;
use crate::tools::api::built_in;
use crate::tools::api::schema::Schema;

fn definitions() -> Vec<ToolDefinition> {
    built_in::registry().unwrap().definitions(|_| true).into_iter().cloned().collect()
}

/// Returns the definitions plus `count` more.
fn many(count: usize) -> Vec<ToolDefinition> {
    let mut all = definitions();
    let model = all[0].clone();
    all.extend((0..count).map(|number| {
        let mut definition = model.clone();
        definition.card.name = Cow::Owned(format!("mounted_{number:03}"));
        definition
    }));
    all
}

#[test]
fn tools_list_pages_contain_every_tool_once_in_order() {
    let (mut names, mut cursor, mut pages) = (Vec::new(), None::<String>, 0);
    loop {
        let page = page(many(150), cursor.as_deref()).unwrap();
        names.extend(page.tools.iter().map(|tool| tool.name.to_string()));
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((names.len(), pages), (many(150).len(), many(150).len().div_ceil(MAX_TOOLS_PER_PAGE)));
    assert_eq!(names[0], "explore");
    let mut once = names.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), names.len());
}

#[test]
fn tools_list_cursor_stays_valid_after_its_tool_is_removed() {
    let first = page(many(150), None).unwrap();
    let last = first.tools.last().unwrap().name.to_string();
    let rest = page(many(150), first.next_cursor.as_deref()).unwrap();
    let fewer = many(150).into_iter().filter(|definition| definition.card.name != last).collect();
    let after = page(fewer, first.next_cursor.as_deref()).unwrap();
    assert_eq!(after.tools[0].name, rest.tools[0].name);
}

#[test]
fn tools_list_with_invalid_cursor_is_refused() {
    for cursor in
        ["", "x", "MTo", "!!", &URL_SAFE_NO_PAD.encode("1:x:read"), &URL_SAFE_NO_PAD.encode("2:1:read")]
    {
        assert_eq!(page(definitions(), Some(cursor)).unwrap_err().code.0, -32602, "{cursor}");
    }
}

#[test]
fn mcp_tool_name_uses_allowed_characters_and_maps_back() {
    for ours in ["read", "lsp_hover", "files/read_text-file"] {
        let theirs = to_mcp_name(ours);
        assert!(
            theirs.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)),
            "{theirs}"
        );
        assert_eq!((from_mcp_name(&theirs).as_ref(), from_mcp_name(ours).as_ref()), (ours, ours));
    }
}

#[test]
fn output_schemas_are_small_valid_and_without_refs() {
    let tools = page(definitions(), None).unwrap().tools;
    let bytes: usize =
        tools.iter().map(|tool| serde_json::to_string(&tool.output_schema).unwrap().len()).sum();
    assert!(bytes < tools.len() * 700, "{bytes} bytes for {} tools", tools.len());
    for tool in tools {
        let schema = Value::Object(tool.output_schema.unwrap().as_ref().clone());
        assert!(!schema.to_string().contains("$ref"), "{}", tool.name);
        assert_eq!(schema["required"], json!(["ok"]), "{}", tool.name);
        Schema::new(schema).verify().unwrap();
    }
}
