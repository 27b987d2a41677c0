//! Real hosts, set up by `init HOST --hooks --instructions`, with a stand-in for their model. The
//! findings of our hooks must reach the model's next request. Only loopback is used, except by npm,
//! which installs the hosts the first time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::model::{Model, Says};
use super::{commit, pyright};
use crate::daemon::house::House;

/// A host from npm, and the way to run it.
struct Host {
    /// The name for `init`.
    name: &'static str,
    package: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

const CLAUDE_CODE: Host = Host {
    name: "claude-code",
    package: "@anthropic-ai/claude-code@2.1.330",
    program: "claude",
    arguments: &["--permission-mode", "acceptEdits", "--allowedTools", "Edit,Read,Grep,Bash", "-p"],
};
const GEMINI: Host = Host {
    name: "gemini",
    package: "@google/gemini-cli@0.61.0",
    program: "gemini",
    arguments: &["-m", "gemini-2.5-flash", "--approval-mode", "auto_edit", "--skip-trust", "-p"],
};
const CODEX: Host = Host {
    name: "codex",
    package: "@openai/codex@0.169.0",
    program: "codex",
    // A person approves the hooks once, in `/hooks`; here no person can.
    arguments: &["exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
};
const OPENCODE: Host =
    Host { name: "opencode", package: "opencode-ai@1.18.33", program: "opencode", arguments: &["run"] };
const QWEN_CODE: Host = Host {
    name: "qwen-code",
    // It wants a newer Node.js than some machines have.
    package: "@qwen-code/qwen-code@0.24.4 node@24",
    program: "qwen",
    arguments: &["--auth-type", "openai", "--approval-mode", "auto-edit", "-p"],
};
const COPILOT: Host = Host {
    name: "copilot-cli",
    package: "@github/copilot@1.0.102",
    program: "copilot",
    arguments: &["--allow-all-tools", "--no-auto-update", "--no-color", "-p"],
};

/// The hook's own time limit in these runs, in seconds; its speed is not under test.
const PATIENT: &str = "60";
const OLD: &str = "person: Person, *,";
const NEW: &str = "person: Person, greeting: str, *,";

/// A folder shared by the tests of this machine.
fn installed_beside(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_lsp-tools")).ancestors().nth(2).expect("target");
    let folder = target.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The host's program, installed below `target/test-hosts`; `None` if npm cannot install it.
fn installed(host: &Host) -> Option<PathBuf> {
    let folder = installed_beside("test-hosts").join(host.name);
    fs::create_dir_all(&folder).expect("a folder");
    let lock = fs::File::create(folder.join("tests.lock")).expect("a lock");
    lock.lock().expect("the lock");
    let program = folder.join("node_modules/.bin").join(host.program);
    if !program.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-fund", "--no-audit", "--prefix"])
            .arg(&folder)
            .args(host.package.split(' '));
        let ran = npm.stdin(Stdio::null()).output();
        if !program.exists() {
            crate::support::skipped(&format!("npm does not bring {}: {ran:?}", host.package));
            return None;
        }
    }
    Some(program)
}

/// Sets the host up in the project of `house` and runs it with `model`; `settings` are the host's
/// own, by file name in its home.
fn run(
    host: &Host,
    (house, program): &(House, PathBuf),
    model: &Model,
    settings: &[(&str, String)],
    variables: &[(&str, String)],
) {
    let home = house.project.beside("home");
    for (name, text) in settings {
        let path = home.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("settings");
    }
    fs::create_dir_all(&home).expect("a home");
    commit(house);
    let own = program.parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).expect("a path");
    let prepared = |mut command: Command| {
        command.env("PATH", &path);
        command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        for (name, folder) in
            [("XDG_DATA_HOME", "data"), ("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")]
        {
            command.env(name, home.join(folder));
        }
        for name in ["CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "CLAUDECODE", "GEMINI_CLI_HOME"] {
            command.env_remove(name);
        }
        command
    };
    let ours = ["init", host.name, "--hooks", "--instructions", "--scope", "project"];
    let set_up = prepared(house.command(&ours)).output().expect("lsp-tools");
    assert!(set_up.status.success(), "{set_up:?}");
    be_patient(house, host);
    // In the environment of the host's hooks, which has its own daemon.
    let warm = prepared(house.command(&["check", "greet", "--timeout", "60"])).output().expect("lsp-tools");
    assert!(!warm.stdout.is_empty(), "{warm:?}");

    let like = house.command(&[]);
    let mut command = prepared(Command::new(program));
    for (name, value) in like.get_envs() {
        match value {
            Some(value) if name != "HOME" => command.env(name, value),
            _ => command.env_remove(name),
        };
    }
    let mut command = prepared(command);
    command.args(host.arguments).arg("Give compose a greeting.").current_dir(house.project.root());
    command.env("PWD", house.project.root());
    command.envs(variables.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
    let ran = command.output().expect("the host");
    assert!(ran.status.success(), "{}: {ran:?}", host.name);
    let edited = house.project.read("greet/messages.py");
    assert!(edited.contains(NEW), "{}: nothing was edited: {ran:?}", host.name);
    keep(host, model);
}

/// A project for the host, if npm can install it.
fn scene(host: &Host) -> Option<(House, PathBuf)> {
    let program = installed(host)?;
    Some((pyright(), program))
}

/// Gives the hooks a longer timeout than users of the host would accept.
fn be_patient(house: &House, host: &Host) {
    let files = [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".github/hooks/lsp-tools.json",
        ".opencode/plugins/lsp-tools.js",
    ];
    for file in files.iter().filter(|file| house.project.path(file).exists()) {
        let mut text = house.project.read(file);
        for event in ["edit", "search", "turn", "stop"] {
            let command = format!("hook {} {event}", host.name);
            text = text.replace(&command, &format!("{command} --timeout {PATIENT}"));
        }
        // Hosts wait for 10 s, which they write in three ways.
        for (usual, patient) in
            [("\": 10000", "\": 90000"), ("\": 10", "\": 90"), ("10_000", "90_000"), ("\": 30", "\": 90")]
        {
            text = text.replace(usual, patient);
        }
        let plugin = "\"opencode\", event]";
        text = text.replace(plugin, &format!("\"opencode\", event, \"--timeout\", \"{PATIENT}\"]"));
        house.project.write(file, text);
    }
}

/// The model receives the error that its edit caused elsewhere, the definition of the searched
/// symbol, and the names of our tools.
fn assert_reached(host: &Host, model: &Model) {
    let of_edit = model.told("lsp-tools, about this edit").join("\n");
    assert!(
        of_edit.contains("greet/app.py:9:13: error: Argument missing"),
        "{}: {}",
        host.name,
        model.shown()
    );
    let of_search = model.told("lsp-tools: `compose`").join("\n");
    assert!(
        of_search.contains("defined at greet/messages.py:8:5 (function)"),
        "{}: {}",
        host.name,
        model.shown()
    );
    assert!(!model.told("## Questions about code").is_empty(), "{}: no instructions", host.name);
    // opencode has no hook that can block the end of a turn.
    if host.name != OPENCODE.name {
        let of_turn = model.told("lsp-tools, about this turn's edits").join("\n");
        assert!(
            of_turn.contains("greet/app.py:9:13: error: Argument missing"),
            "{}: {}",
            host.name,
            model.shown()
        );
    }
}

/// Writes a transcript for the documentation if `TRANSCRIPTS` names a folder.
fn keep(host: &Host, model: &Model) {
    if let Some(folder) = std::env::var_os("TRANSCRIPTS") {
        let package = host.package.split(' ').next().unwrap_or_default();
        let mut text = format!("{package}, set up by `lsp-tools init {} --hooks`\n", host.name);
        for (done, mark) in [("an edit", "lsp-tools, about this edit"), ("a search", "lsp-tools: `compose`")]
        {
            text.push_str(&format!("\nwhat its model read beside {done}:\n"));
            for told in model.told(mark) {
                // The text that the host appends is not ours.
                let told = told.split("</").next().unwrap_or_default();
                let own = told.lines().take_while(|line| !line.is_empty());
                text.extend(own.map(|line| format!("    {line}\n")));
            }
        }
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("hooks-{}.txt", host.name));
        fs::write(file, text).expect("a transcript");
    }
}

fn patch() -> Value {
    let (old, new) = ("def compose(person: Person, *,", "def compose(person: Person, greeting: str, *,");
    let rest = " shout: bool = False) -> str:";
    json!(format!(
        "*** Begin Patch\n*** Update File: greet/messages.py\n@@\n-{old}{rest}\n+{new}{rest}\n     \"\"\"Compose a greeting in the person's own language.\n*** End Patch\n"
    ))
}

#[test]
#[ignore = "installs Claude Code, some hundred megabytes, and runs it: just hosts"]
fn claude_code_model_reads_what_hooks_found() {
    let Some(scene) = scene(&CLAUDE_CODE) else { return };
    let path = scene.0.project.path("greet/messages.py");
    let model = Model::saying(vec![
        Says::Calls("Read", json!({"file_path": path})),
        Says::Calls("Edit", json!({"file_path": path, "old_string": OLD, "new_string": NEW})),
        Says::Calls("Grep", json!({"pattern": "compose"})),
        Says::Calls("Bash", json!({"command": "grep -rn 'class Person' .", "description": "Search"})),
        Says::Words("Done."),
    ]);
    let variables = [
        ("ANTHROPIC_BASE_URL", model.address().to_owned()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ];
    run(&CLAUDE_CODE, &scene, &model, &[], &variables);
    assert_reached(&CLAUDE_CODE, &model);
    let of_command = model.told("lsp-tools: `Person`").join("\n");
    assert!(of_command.contains("greet/people.py"), "{}", model.shown());
}

#[test]
#[ignore = "installs Gemini CLI, a hundred megabytes, and runs it: just hosts"]
fn gemini_model_reads_what_hooks_found() {
    let Some(scene) = scene(&GEMINI) else { return };
    let path = scene.0.project.path("greet/messages.py");
    let model = Model::saying(vec![
        Says::Calls("read_file", json!({"file_path": path})),
        Says::Calls(
            "replace",
            json!({"file_path": path, "instruction": "x", "old_string": OLD, "new_string": NEW}),
        ),
        Says::Calls("grep_search", json!({"pattern": "compose"})),
        Says::Words("Done."),
    ]);
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": true},
        "privacy": {"usageStatisticsEnabled": false},
    });
    let variables = [
        ("GEMINI_API_KEY", "none".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", model.address().to_owned()),
        // A project's hooks run only if its folder is trusted.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
    ];
    run(&GEMINI, &scene, &model, &[(".gemini/settings.json", settings.to_string())], &variables);
    assert_reached(&GEMINI, &model);
}

#[test]
#[ignore = "installs Qwen Code, a hundred megabytes, and runs it: just hosts"]
fn qwen_code_model_reads_what_hooks_found() {
    let Some(scene) = scene(&QWEN_CODE) else { return };
    let path = scene.0.project.path("greet/messages.py");
    let model = Model::saying(vec![
        Says::Calls("read_file", json!({"file_path": path})),
        Says::Calls("edit", json!({"file_path": path, "old_string": OLD, "new_string": NEW})),
        Says::Calls("grep_search", json!({"pattern": "compose"})),
        Says::Words("Done."),
    ]);
    let settings = json!({
        "security": {"auth": {"selectedType": "openai"}}, "general": {"disableAutoUpdate": true},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
    });
    // A project's hooks run only if its folder is trusted.
    let trusted = json!({scene.0.project.root().to_string_lossy(): "TRUST_FOLDER"});
    let files =
        [(".qwen/settings.json", settings.to_string()), (".qwen/trustedFolders.json", trusted.to_string())];
    let variables = [
        ("OPENAI_API_KEY", "none".to_owned()),
        ("OPENAI_BASE_URL", format!("{}/v1", model.address())),
        ("OPENAI_MODEL", "stand-in".to_owned()),
    ];
    run(&QWEN_CODE, &scene, &model, &files, &variables);
    assert_reached(&QWEN_CODE, &model);
}

#[test]
#[ignore = "installs Codex, some hundred megabytes, and runs it: just hosts"]
fn codex_model_reads_what_hooks_found() {
    let Some(scene) = scene(&CODEX) else { return };
    let model = Model::saying(vec![
        Says::Calls("apply_patch", patch()),
        Says::Calls("exec_command", json!({"cmd": "grep -rn compose ."})),
        Says::Words("Done."),
    ]);
    // The model is one of those that Codex gives `apply_patch`. A project's settings count only if
    // the project is trusted.
    let settings = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"stand-in\"\n\n[model_providers.stand-in]\nname = \"stand-in\"\nbase_url = \"{}/v1\"\n\
         wire_api = \"responses\"\n\n[projects.{:?}]\ntrust_level = \"trusted\"\n",
        model.address(),
        scene.0.project.root(),
    );
    run(&CODEX, &scene, &model, &[(".codex/config.toml", settings)], &[]);
    assert_reached(&CODEX, &model);
}

#[test]
#[ignore = "installs opencode, some hundred megabytes, and runs it: just hosts"]
fn opencode_model_reads_what_hooks_found() {
    let Some(scene) = scene(&OPENCODE) else { return };
    let path = scene.0.project.path("greet/messages.py");
    let model = Model::saying(vec![
        Says::Calls("read", json!({"filePath": path})),
        Says::Calls("edit", json!({"filePath": path, "oldString": OLD, "newString": NEW})),
        Says::Calls("grep", json!({"pattern": "compose"})),
        Says::Words("Done."),
    ]);
    let provider = json!({
        "options": {"baseURL": format!("{}/v1", model.address()), "apiKey": "none"},
        "models": {"claude-sonnet-4-5": {"name": "stand-in", "tool_call": true, "limit": {"context": 100_000, "output": 4_000}}},
    });
    let name = "anthropic/claude-sonnet-4-5";
    let settings = json!({
        "model": name, "small_model": name, "autoupdate": false, "share": "disabled",
        "provider": {"anthropic": provider}, "permission": {"edit": "allow", "bash": "allow"},
    });
    let variables =
        ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"]
            .map(|name| (name, "1".to_owned()));
    let file = ".config/opencode/opencode.json";
    run(&OPENCODE, &scene, &model, &[(file, settings.to_string())], &variables);
    assert_reached(&OPENCODE, &model);
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn copilot_cli_model_reads_what_hooks_found() {
    let Some(scene) = scene(&COPILOT) else { return };
    let path = scene.0.project.path("greet/messages.py");
    let model = Model::saying(vec![
        Says::Calls("view", json!({"path": path})),
        Says::Calls("edit", json!({"path": path, "old_str": OLD, "new_str": NEW})),
        Says::Calls("grep", json!({"pattern": "compose"})),
        Says::Words("Done."),
    ]);
    let variables = [
        ("COPILOT_OFFLINE", "true".to_owned()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.address())),
        ("COPILOT_MODEL", "stand-in".to_owned()),
        // The host unpacks itself there.
        ("XDG_CACHE_HOME", installed_beside("test-copilot").to_string_lossy().into_owned()),
    ];
    // A project's hooks run only if its folder is trusted.
    let settings =
        json!({"trustedFolders": [scene.0.project.root()], "trusted_folders": [scene.0.project.root()]});
    run(&COPILOT, &scene, &model, &[(".copilot/config.json", settings.to_string())], &variables);
    assert_reached(&COPILOT, &model);
}
