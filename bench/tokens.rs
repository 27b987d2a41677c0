//! The cost of the tool list and of typical answers, in tokens of a real tokenizer (o200k).
//!
//! `cargo bench --bench tokens` prints, per profile, the tokens of the tool list as models get it:
//! name, description and argument schema of each tool. It then prints those of the list for MCP
//! hosts, which adds titles, annotations and answer schemas that hosts mostly do not pass on. Last
//! come typical answers on a small Python project with pyright, which is installed below `target/`
//! if missing. `-- --json` prints JSON, `-- --show` also prints the answers. The exit status is 1
//! if a list exceeds its budget.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};
use lsp_tools::internals::config::Profile;
use lsp_tools::internals::policy::CallerAccess;
use lsp_tools::internals::tools::{ToolDefinition, ToolListFormat, export_tools};
use lsp_tools::{Caller, Folders, Runtime, RuntimeOptions};
use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, o200k_base};

#[path = "support/mcp_host.rs"]
mod mcp_host;
#[path = "support/token_budgets.rs"]
mod token_budgets;

use mcp_host::McpHost;

/// The timeout of an answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(120);

const PROFILES: [(&str, Option<Profile>); 6] = [
    ("none chosen", None),
    ("core", Some(Profile::Core)),
    ("lsp", Some(Profile::Lsp)),
    ("read-only", Some(Profile::ReadOnly)),
    ("edit", Some(Profile::Edit)),
    ("all", Some(Profile::All)),
];

/// The settings that select the server.
const SETTINGS: &str = "prefer.python = [\"pyright\"]\n";
const APP: &str = include_str!("../fixtures/python/greet/app.py");
const BROKEN: &str = include_str!("../fixtures/python/greet/broken.py");
const MESSAGES: &str = include_str!("../fixtures/python/greet/messages.py");
const PEOPLE: &str = include_str!("../fixtures/python/greet/people.py");
/// The approximate number of uses of `compose`, including the fixture's.
const USES: usize = 20;

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let tokens = o200k_base().context("the tokenizer's vocabulary")?;
    let folder = tempfile::tempdir()?;
    lay_out(folder.path())?;
    let runtime = open(folder.path())?;

    let mut lists = Vec::new();
    for (name, profile) in PROFILES {
        let access = CallerAccess { profile, ..CallerAccess::default() };
        let definitions = runtime.definitions(&Caller { access, ..Caller::default() });
        lists.push(json!({
            "profile": name,
            "tools": definitions.len(),
            "tokens": token_budgets::listed(&export_tools(ToolListFormat::Mcp, &definitions)?.tools, |text| {
                tokens.encode_ordinary(text).len()
            }),
            "mcp_tokens": cost_of(&tokens, &plain_mcp(&definitions)?),
            "mcp_whole_tokens": cost(&tokens, ToolListFormat::Mcp, &definitions)?,
        }));
    }
    let access = CallerAccess { profile: Some(Profile::All), ..CallerAccess::default() };
    let all = runtime.definitions(&Caller { access, ..Caller::default() });
    let mut each = Vec::new();
    for definition in &all {
        let cost = cost(&tokens, ToolListFormat::Anthropic, std::slice::from_ref(definition))?;
        each.push(json!({"tool": definition.card.name, "tokens": cost}));
    }
    each.sort_by_key(|tool| std::cmp::Reverse(tool["tokens"].as_u64()));
    runtime.shutdown().await;
    let answers = answers(folder.path(), &tokens)?;

    let spent = |profile: &str| {
        let list = lists.iter().find(|list| list["profile"] == profile);
        list.and_then(|list| list["tokens"].as_u64()).unwrap_or(u64::MAX)
    };
    let kept =
        spent("none chosen") <= token_budgets::CORE as u64 && spent("lsp") <= token_budgets::LSP as u64;
    let budgets = json!({"core": token_budgets::CORE, "lsp": token_budgets::LSP});
    let report = json!({"budgets": budgets, "kept": kept, "lists": lists, "tools": each, "answers": answers});
    if std::env::args().any(|word| word == "--json") {
        println!("{report:#}");
    } else {
        print(&report);
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A Python project with one frequently used name.
fn lay_out(folder: &Path) -> Result<()> {
    let package = folder.join("project/greet");
    fs::create_dir_all(&package)?;
    fs::create_dir_all(folder.join("config"))?;
    fs::write(folder.join("config/lsp-tools.toml"), SETTINGS)?;
    let many: String =
        (0..USES - 3).map(|n| format!("    print(compose(Guest(\"guest {n}\"), shout=True))\n")).collect();
    let many = format!(
        "from greet.messages import compose\nfrom greet.people import Guest\n\n\ndef greet_all() -> None:\n{many}"
    );
    let files = [
        ("app", APP),
        ("broken", BROKEN),
        ("messages", MESSAGES),
        ("people", PEOPLE),
        ("many", &many),
        ("__init__", ""),
    ];
    for (name, text) in files {
        fs::write(package.join(name).with_extension("py"), text)?;
    }
    Ok(())
}

fn open(folder: &Path) -> Result<Runtime> {
    let beside = |name: &str| folder.join(name);
    let folders = Folders {
        config: beside("config"),
        data: servers(),
        state: beside("state"),
        cache: beside("cache"),
        home: None,
    };
    let root = beside("project");
    let options = RuntimeOptions {
        workspace: Some(root.clone()),
        cwd: root,
        supervisor: Some(env!("CARGO_BIN_EXE_lsp-tools").into()),
        ..RuntimeOptions::default()
    };
    Ok(Runtime::open_with(options, folders)?)
}

fn servers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-servers")
}

/// The tokens of a tool list as models get it, counted per tool.
fn cost(tokens: &CoreBPE, format: ToolListFormat, definitions: &[ToolDefinition]) -> Result<usize> {
    Ok(cost_of(tokens, &export_tools(format, definitions)?.tools))
}

fn cost_of(tokens: &CoreBPE, tools: &[Value]) -> usize {
    tools.iter().map(|tool| tokens.encode_ordinary(&tool.to_string()).len()).sum()
}

/// The tools in MCP's form, without answer schemas.
fn plain_mcp(definitions: &[ToolDefinition]) -> Result<Vec<Value>> {
    let mut tools = export_tools(ToolListFormat::Mcp, definitions)?.tools;
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        tool.remove("outputSchema");
    }
    Ok(tools)
}

/// The cost of answers over MCP, as text and in structured form.
fn answers(folder: &Path, tokens: &CoreBPE) -> Result<Vec<Value>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    command.args(["--no-daemon", "--install", "mcp", "--profile", "all"]).current_dir(folder.join("project"));
    command.env("LSP_TOOLS_DATA_DIR", servers());
    for (name, part) in [
        ("LSP_TOOLS_CONFIG_DIR", "config"),
        ("LSP_TOOLS_STATE_DIR", "state"),
        ("LSP_TOOLS_CACHE_DIR", "cache"),
    ] {
        command.env(name, folder.join(part));
    }
    let mut host = McpHost::start(command, LONGEST_ANSWER)?;
    let file = "greet/messages.py";
    let breaking = json!({
        "path": file,
        "edits": [{"old": "shout: bool = False", "new": "loud: bool = False"}, {"old": "if shout", "new": "if loud"}],
        "diagnostics": true,
    });
    let calls = [
        ("read", json!({"path": file})),
        ("list", json!({"path": "greet"})),
        ("glob", json!({"pattern": "**/*.py"})),
        ("explore", json!({"path": file, "symbol": "compose"})),
        ("lsp_hover", json!({"path": file, "symbol": "compose"})),
        ("lsp_definition", json!({"path": "greet/app.py", "line": 8, "symbol": "compose"})),
        ("lsp_references", json!({"path": file, "symbol": "compose"})),
        ("grep", json!({"pattern": "compose"})),
        ("grep", json!({"pattern": "compose", "semantic": false})),
        ("lsp_symbols", json!({"path": "greet/people.py"})),
        ("lsp_diagnostics", json!({"path": "greet/broken.py"})),
        ("lsp_diagnostics", json!({"path": "greet/app.py"})),
        ("edit", breaking),
        ("undo", json!({})),
        ("bash", json!({"command": "ls greet"})),
        ("lsp_servers", json!({})),
        ("get_library_docs", json!({"libraryId": "playwright", "query": "wait for element"})),
        ("read", json!({"path": "no such file"})),
    ];
    let mut costs = Vec::new();
    for (name, arguments) in calls {
        let shown = format!("{name} {arguments}");
        let (text, value) = host.call(name, &arguments)?;
        let value = value.to_string();
        if std::env::args().any(|word| word == "--show") {
            println!("{shown}\n{text}\n{value}\n");
        }
        costs.push(json!({
            "call": shown,
            "bytes": text.len(),
            "tokens": tokens.encode_ordinary(&text).len(),
            "json_bytes": value.len(),
            "json_tokens": tokens.encode_ordinary(&value).len(),
        }));
    }
    Ok(costs)
}

fn print(report: &Value) {
    let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    println!(
        "{:<12} {:>6} {:>8} {:>8} {:>24}",
        "profile", "tools", "tokens", "MCP", "with schemas of answers"
    );
    for list in rows("lists") {
        let profile = list["profile"].as_str().unwrap_or_default();
        let figures = ["tools", "tokens", "mcp_tokens", "mcp_whole_tokens"].map(|key| list[key].to_string());
        let [tools, tokens, mcp, whole] = figures;
        println!("{profile:<12} {tools:>6} {tokens:>8} {mcp:>8} {whole:>24}");
    }
    let kept = if report["kept"] == true { "kept" } else { "NOT KEPT" };
    println!("budgets of lists in tokens: {}, {kept}\n", report["budgets"]);
    for tool in rows("tools") {
        println!("{:>6}  {}", tool["tokens"].to_string(), tool["tool"].as_str().unwrap_or_default());
    }
    println!("\n{:>6} {:>7} {:>12} {:>7}  answer to", "tokens", "bytes", "JSON: tokens", "bytes");
    for answer in rows("answers") {
        let [tokens, bytes, json_tokens, json_bytes] =
            ["tokens", "bytes", "json_tokens", "json_bytes"].map(|key| answer[key].to_string());
        let call = answer["call"].as_str().unwrap_or_default();
        println!("{tokens:>6} {bytes:>7} {json_tokens:>12} {json_bytes:>7}  {call}");
    }
}
