use std::ffi::OsStr;
use std::fs;

use super::*;
use crate::platform::canonicalize;

struct Room {
    _folder: tempfile::TempDir,
    places: HostDirectories,
}

fn room() -> Room {
    let folder = tempfile::tempdir().unwrap();
    let root = canonicalize(folder.path()).unwrap();
    let made = |name: &str| {
        fs::create_dir(root.join(name)).unwrap();
        root.join(name)
    };
    let (project, home, config) = (made("project"), made("home"), made("config"));
    Room {
        _folder: folder,
        places: HostDirectories { project, home, config, codex: None, copilot: None, claude: None },
    }
}

fn wish(host: McpHost) -> HostSetupRequest {
    HostSetupRequest {
        host,
        scope: None,
        program: "lsp-tools".to_owned(),
        profile: None,
        editor_door: false,
        force: false,
    }
}

fn text(change: &InitFileChange) -> &str {
    change.after.as_deref().unwrap()
}

fn value(change: &InitFileChange) -> Value {
    match change.path.extension().and_then(OsStr::to_str) {
        Some("toml") => toml::from_str(text(change)).unwrap(),
        // Of the shape in which we write it, with values in JSON.
        Some("yaml") => {
            let members = text(change).lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
            let entry = members.map(|(key, value)| (key.to_owned(), serde_json::from_str(value).unwrap()));
            json!({"extensions": {"lsp-tools": Value::Object(entry.collect())}})
        }
        _ => serde_json::from_str(text(change)).unwrap(),
    }
}

#[test]
fn mcp_host_setup_writes_each_hosts_file_and_format() {
    let room = room();
    let expected = [
        (
            McpHost::ClaudeCode,
            "project/.mcp.json",
            "/mcpServers/lsp-tools",
            json!({"type": "stdio", "command": "lsp-tools", "args": ["mcp", "--text-answers"]}),
        ),
        (
            McpHost::CopilotCli,
            "home/.copilot/mcp-config.json",
            "/mcpServers/lsp-tools",
            json!({"type": "local", "command": "lsp-tools", "args": ["mcp", "--text-answers"], "tools": ["*"]}),
        ),
        (
            McpHost::VsCode,
            "project/.vscode/mcp.json",
            "/servers/lsp-tools",
            json!({"type": "stdio", "command": "lsp-tools", "args": ["mcp", "--workspace", "${workspaceFolder}"]}),
        ),
        (
            McpHost::Cursor,
            "project/.cursor/mcp.json",
            "/mcpServers/lsp-tools",
            json!({"type": "stdio", "command": "lsp-tools", "args": ["mcp", "--workspace", "${workspaceFolder}"]}),
        ),
        (
            McpHost::Codex,
            "home/.codex/config.toml",
            "/mcp_servers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp", "--text-answers"]}),
        ),
        (
            McpHost::OpenCode,
            "project/opencode.json",
            "/mcp/lsp-tools",
            json!({"type": "local", "command": ["lsp-tools", "mcp"], "enabled": true}),
        ),
        (
            McpHost::Zed,
            "config/zed/settings.json",
            "/context_servers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp"], "env": {}}),
        ),
        (
            McpHost::Gemini,
            "project/.gemini/settings.json",
            "/mcpServers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp"]}),
        ),
        (
            McpHost::QwenCode,
            "project/.qwen/settings.json",
            "/mcpServers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp", "--text-answers"]}),
        ),
        (
            McpHost::Cline,
            "home/.cline/data/settings/cline_mcp_settings.json",
            "/mcpServers/lsp-tools",
            json!({"transport": {"type": "stdio", "command": "lsp-tools", "args": ["mcp"]}}),
        ),
        (
            McpHost::Crush,
            "project/crush.json",
            "/mcp/lsp-tools",
            json!({"type": "stdio", "command": "lsp-tools", "args": ["mcp"]}),
        ),
        (
            McpHost::Kiro,
            "project/.kiro/settings/mcp.json",
            "/mcpServers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp"]}),
        ),
        (
            McpHost::Windsurf,
            "home/.codeium/windsurf/mcp_config.json",
            "/mcpServers/lsp-tools",
            json!({"command": "lsp-tools", "args": ["mcp"]}),
        ),
        (
            McpHost::Goose,
            "config/goose/config.yaml",
            "/extensions/lsp-tools",
            json!({
                "enabled": true, "type": "stdio", "name": "lsp-tools", "description": "What language servers know of this code",
                "cmd": "lsp-tools", "args": ["mcp"], "timeout": 300
            }),
        ),
    ];
    assert_eq!(expected.len(), McpHost::ALL.len());
    for (host, file, pointer, entry) in expected {
        let change = configure(&wish(host), &room.places, Catalogue::built_in()).unwrap();
        assert!(change.path.ends_with(file), "{}", change.path.display());
        assert_eq!(value(&change).pointer(pointer), Some(&entry), "{}", text(&change));
        let scope = usual_scope(host);
        assert_eq!(entered_in(host, scope, &room.places), None, "{host:?}");
        change.write().unwrap();
        let again = configure(&wish(host), &room.places, Catalogue::built_in()).unwrap();
        assert!(again.is_done(), "{}", again.added_lines());
        assert_eq!(entered_in(host, scope, &room.places), Some(change.path));
        let gone = unconfigure(&wish(host), &room.places, Catalogue::built_in()).unwrap();
        assert_eq!(gone.after, None, "{}", text(&gone));
    }
}

#[test]
fn mcp_host_setup_with_other_profile_conflicts_without_force() {
    let room = room();
    configure(&wish(McpHost::Gemini), &room.places, Catalogue::built_in()).unwrap().write().unwrap();
    let narrow = HostSetupRequest { profile: Some("read-only".to_owned()), ..wish(McpHost::Gemini) };
    let refused = configure(&narrow, &room.places, Catalogue::built_in()).unwrap_err();
    assert!(
        matches!(&refused, InitError::Other { entry, .. } if entry == "mcpServers.lsp-tools"),
        "{refused}"
    );
    let forced =
        configure(&HostSetupRequest { force: true, ..narrow }, &room.places, Catalogue::built_in()).unwrap();
    assert_eq!(value(&forced)["mcpServers"]["lsp-tools"]["args"], json!(["mcp", "--profile", "read-only"]));
    assert!(forced.added_lines().contains("read-only"));
}

#[test]
fn mcp_host_scope_selects_the_settings_file() {
    let mut room = room();
    room.places.codex = Some(room.places.home.join("cdx"));
    room.places.copilot = Some(room.places.home.join("cop"));
    let path = |host, scope| {
        let request = HostSetupRequest { scope: Some(scope), ..wish(host) };
        configure(&request, &room.places, Catalogue::built_in()).map(|change| change.path)
    };
    for (host, scope, file) in [
        (McpHost::ClaudeCode, HostScope::User, "home/.claude.json"),
        (McpHost::CopilotCli, HostScope::Project, "project/.mcp.json"),
        (McpHost::CopilotCli, HostScope::User, "home/cop/mcp-config.json"),
        (McpHost::Cursor, HostScope::User, "home/.cursor/mcp.json"),
        (McpHost::Codex, HostScope::Project, "project/.codex/config.toml"),
        (McpHost::Codex, HostScope::User, "home/cdx/config.toml"),
        (McpHost::OpenCode, HostScope::User, "config/opencode/opencode.json"),
        (McpHost::Gemini, HostScope::User, "home/.gemini/settings.json"),
    ] {
        assert!(path(host, scope).unwrap().ends_with(file), "{host:?} {scope:?}");
    }
    assert!(matches!(path(McpHost::Zed, HostScope::Project), Err(InitError::Unsupported(_))));
}

#[test]
fn editor_door_setup_is_unsupported_for_hosts_without_lsp() {
    let room = room();
    let door = |host, scope| {
        let request = HostSetupRequest { editor_door: true, scope, ..wish(host) };
        configure(&request, &room.places, Catalogue::built_in())
    };
    let copilot = door(McpHost::CopilotCli, Some(HostScope::Project)).unwrap();
    assert!(copilot.path.ends_with("project/.github/lsp.json"));
    let entry = value(&copilot)["lspServers"]["lsp-tools"].clone();
    assert_eq!(
        (&entry["args"], &entry["fileExtensions"][".tsx"]),
        (&json!(["lsp"]), &json!("typescriptreact"))
    );
    let opencode = door(McpHost::OpenCode, None).unwrap();
    let entry = value(&opencode)["lsp"]["lsp-tools"].clone();
    assert_eq!(entry["command"], json!(["lsp-tools", "lsp"]));
    assert!(entry["extensions"].as_array().unwrap().contains(&json!(".py")));
    for host in
        [McpHost::ClaudeCode, McpHost::VsCode, McpHost::Cursor, McpHost::Zed, McpHost::Codex, McpHost::Gemini]
    {
        assert!(matches!(door(host, None), Err(InitError::Unsupported(_))), "{host:?}");
    }
}

#[test]
fn opencode_jsonc_with_servers_key_keeps_its_form() {
    let room = room();
    let file = room.places.project.join("opencode.jsonc");
    fs::write(&file, "{\n  // mine\n  \"mcp\": {\"servers\": {}},\n}\n").unwrap();
    let change = configure(&wish(McpHost::OpenCode), &room.places, Catalogue::built_in()).unwrap();
    assert_eq!(change.path, file);
    let after = text(&change);
    assert!(after.contains("// mine") && after.contains("\"servers\": {\n"), "{after}");
}
