use std::fs;

use super::*;
use crate::config::{Catalogue, Config, ConfigOverrides, Folders, Settings};
use crate::platform::canonicalize;

fn mounts(origin: LayerOrigin, text: &str) -> Result<(MountConfig, Vec<String>), ConfigError> {
    let layers = [Layer::new(origin, "lsp-tools.toml", text)];
    Settings::load(&layers, Catalogue::built_in()).map(|(settings, left_out)| (settings.mounts, left_out))
}

#[test]
fn mcp_servers_with_stdio_and_http_transport_are_parsed() {
    let text = "[mcp.servers.files]\ntype = 'local'\ncommand = 'npx'\nargs = ['-y', 'x']\nenv = {A = '${B}'}\ncwd = 'sub'\n\
                tools = ['read']\ntimeout = 5\n[mcp.servers.all]\ncommand = 'x'\ntools = ['*']\n\
                [mcp.servers.none]\ncommand = 'x'\ntools = []\n[mcp.servers.web]\nurl = 'https://example.com/mcp'\nheaders = {X-Key = 'k'}\n";
    let (mounts, left_out) = mounts(LayerOrigin::User, text).unwrap();
    assert!(left_out.is_empty());
    let files = &mounts.servers["files"];
    assert_eq!(files.timeout, Duration::from_millis(5));
    assert!(files.tools.has("read") && !files.tools.has("write"));
    let MountTransport::Stdio { command, args, env, cwd } = &files.transport else { panic!("{files:?}") };
    assert_eq!((command.as_str(), args.as_slice()), ("npx", ["-y".to_owned(), "x".to_owned()].as_slice()));
    assert_eq!((env["A"].as_str(), cwd.as_deref()), ("${B}", Some(Path::new("sub"))));
    assert_eq!(mounts.servers["all"].tools, MountedTools::All);
    assert_eq!(mounts.servers["none"].tools, MountedTools::Named(Vec::new()));
    assert!(matches!(&mounts.servers["web"].transport, MountTransport::Http { sse: false, .. }));
    assert_eq!(mounts.servers["web"].tools, MountedTools::All);
}

#[test]
fn invalid_mcp_server_entry_is_reported_with_reason_and_line() {
    for (entry, why) in [
        ("[mcp.servers.x]", "has no `command`"),
        ("[mcp.servers.x]\ntype = 'http'", "has no `url`"),
        ("[mcp.servers.x]\nurl = 'ftp://a/b'", "must begin with http"),
        ("[mcp.servers.x]\nurl = 'http://u:p@a/b'", "a user name or password"),
        ("[mcp.servers.x]\ntype = 'stdio'\nurl = 'http://a/b'", "which is only for"),
        ("[mcp.servers.'a/b']\ncommand = 'x'", "its name must be"),
        ("[mcp.servers.x]\ncommand = 'x'\ntimeout = 0", "from 1 to"),
        ("[mcp.servers.x]\ncommnd = 'x'", "unknown key `commnd`"),
    ] {
        let error = mounts(LayerOrigin::User, entry).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("lsp-tools.toml` line"), "{entry}: {error}");
    }
}

#[test]
fn mcp_server_with_lookalike_name_is_left_out() {
    let text = "[mcp.servers.tool1]\ncommand = 'a'\n[mcp.servers.tooll]\ncommand = 'b'\n";
    let (mounts, left_out) = mounts(LayerOrigin::User, text).unwrap();
    assert_eq!(mounts.servers.len(), 1);
    assert!(left_out[0].contains("`tooll`") && left_out[0].contains("equals or resembles"), "{left_out:?}");
}

#[test]
fn untrusted_project_mounts_no_mcp_servers() {
    let text = "[mcp]\nfiles = ['.mcp.json']\n[mcp.servers.x]\ncommand = 'x'\n";
    let (mounts, left_out) = mounts(LayerOrigin::Project { trusted: false }, text).unwrap();
    assert!(mounts.servers.is_empty());
    assert!(
        left_out.iter().any(|said| said.contains("`mcp.servers` of") && said.contains("lsp-tools trust"))
    );
}

#[test]
fn mcp_server_of_project_does_not_override_user_entry() {
    let layers = [
        Layer::new(LayerOrigin::User, "user", "[mcp.servers.x]\nurl = 'https://a/'\nheaders = {K = 's'}\n"),
        Layer::new(
            LayerOrigin::Project { trusted: true },
            "project",
            "[mcp.servers.x]\nurl = 'https://evil/'\n",
        ),
    ];
    let (settings, left_out) = Settings::load(&layers, Catalogue::built_in()).unwrap();
    let MountTransport::Http { url, .. } = &settings.mounts.servers["x"].transport else { panic!() };
    assert_eq!(url.as_str(), "https://a/");
    assert!(left_out[0].contains("is not mounted"), "{left_out:?}");
}

#[test]
fn project_mcp_file_entries_are_trusted_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let root = canonicalize(dir.path()).unwrap();
    let folder = |name: &str| {
        fs::create_dir(root.join(name)).unwrap();
        root.join(name)
    };
    let folders = Folders {
        config: folder("c"),
        data: folder("d"),
        state: folder("s"),
        cache: folder("k"),
        home: None,
    };
    let project = folder("p");
    fs::write(folders.settings_file(), "[mcp]\nfiles = ['.mcp.json']\n").unwrap();
    let file = project.join(".mcp.json");
    let entry = |arg: &str| {
        format!(r#"{{"mcpServers": {{"a": {{"command": "run", "args": ["{arg}"], "disabled": false}}}}}}"#)
    };
    fs::write(&file, entry("--ok")).unwrap();
    let trust = TrustStore::open(&folders).unwrap();
    let load = || Config::load(&folders, Some(&project), &ConfigOverrides::default(), &trust).unwrap();
    let before = load();
    assert!(before.settings.mounts.servers.is_empty());
    assert!(
        before
            .launch
            .approval_items()
            .iter()
            .any(|(name, said)| name.contains("MCP server a") && said.contains("--ok"))
    );
    trust.grant(&project, &before.launch).unwrap();
    assert_eq!(load().settings.mounts.servers["a"].origin, MountOrigin::Project);
    fs::write(&file, entry("--evil")).unwrap();
    let after = load();
    assert!(after.settings.mounts.servers.is_empty());
    assert!(after.left_out.iter().any(|said| said.contains("was changed")), "{:?}", after.left_out);
    fs::write(&file, "{").unwrap();
    assert!(load().left_out.iter().any(|said| said.contains("is not JSON")));
}

#[test]
fn mcp_command_files_are_found_behind_flags_and_in_cwd() {
    let text = "[mcp.servers.x]\ncommand = 'run'\nargs = ['--file=s.py']\ncwd = 'tools'\n";
    let (mounts, _) = mounts(LayerOrigin::User, text).unwrap();
    let paths = mounts.commands[0].files_named(Path::new("/w")).unwrap();
    for named in ["s.py", "tools/s.py", "run", "tools/run"] {
        assert!(paths.contains(&Path::new("/w").join(named)), "{named}: {paths:?}");
    }
}

#[test]
fn mcp_file_over_size_limit_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mcp.json");
    fs::write(&path, format!("{{\"mcpServers\": {{}}}}{}", " ".repeat(1 << 20))).unwrap();
    let mut left_out = Vec::new();
    assert!(parse_entries(user_text(&path), "mcp.json", &mut left_out).is_empty());
    assert!(left_out[0].contains("more than the 1048576 allowed"), "{left_out:?}");
}
