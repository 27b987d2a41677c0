//! What the tool list and typical answers cost a model, in tokens of a real tokenizer (o200k).
//!
//! `cargo bench --bench tokens` prints, per profile, the tokens of the tool list as models get it (name, description and schema of the
//! arguments of each tool), then those of the list that MCP hosts get, with schemas of answers and annotations, then those of some
//! answers. `-- --json` prints the same as JSON. It fails where the default profile is beyond its budget.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};
use lsp_tools::config::{Folders, Profile};
use lsp_tools::policy::approval::NobodyToAsk;
use lsp_tools::policy::caller::CallerAccess;
use lsp_tools::runtime::call::CallRequest;
use lsp_tools::runtime::{Runtime, RuntimeOptions};
use lsp_tools::tools::export::{Format, export};
use lsp_tools::tools::tool::{Caller, Definition};
use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, o200k_base};
use tokio_util::sync::CancellationToken;

/// The tool list of the default profile.
const BUDGET: usize = 4_000;

const PROFILES: [(&str, Option<Profile>); 5] = [
    ("default", None),
    ("lsp", Some(Profile::Lsp)),
    ("read-only", Some(Profile::ReadOnly)),
    ("edit", Some(Profile::Edit)),
    ("all", Some(Profile::All)),
];

/// A file like those that agents look into.
const SOURCE: &str = include_str!("../src/text/position.rs");

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let tokens = o200k_base().context("the tokenizer's vocabulary")?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    fs::create_dir_all(root.join("src"))?;
    fs::write(root.join("src/position.rs"), SOURCE)?;
    let runtime = open(folder.path())?;

    let mut lists = Vec::new();
    for (name, profile) in PROFILES {
        let access = CallerAccess { profile, ..CallerAccess::default() };
        let definitions = runtime.definitions(&Caller { access, ..Caller::default() });
        lists.push(json!({
            "profile": name,
            "tools": definitions.len(),
            "tokens": cost(&tokens, Format::Anthropic, &definitions)?,
            "mcp_tokens": cost(&tokens, Format::Mcp, &definitions)?,
        }));
    }
    let all = runtime.definitions(&Caller::default());
    let mut each = Vec::new();
    for definition in &all {
        let cost = cost(&tokens, Format::Anthropic, std::slice::from_ref(definition))?;
        each.push(json!({"tool": definition.card.name, "tokens": cost}));
    }
    each.sort_by_key(|tool| std::cmp::Reverse(tool["tokens"].as_u64()));
    let answers = answers(&runtime, &tokens).await;
    runtime.shutdown().await;

    let spent = lists[0]["tokens"].as_u64().unwrap_or(u64::MAX);
    let kept = spent <= BUDGET as u64;
    let report = json!({"budget": BUDGET, "kept": kept, "lists": lists, "tools": each, "answers": answers});
    if std::env::args().any(|word| word == "--json") {
        println!("{report:#}");
    } else {
        print(&report);
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(folder: &std::path::Path) -> Result<Runtime> {
    let beside = |name: &str| folder.join(name);
    let folders = Folders {
        config: beside("config"),
        data: beside("data"),
        state: beside("state"),
        cache: beside("cache"),
    };
    let root = beside("project");
    let options = RuntimeOptions { workspace: Some(root.clone()), cwd: root, ..RuntimeOptions::default() };
    Ok(Runtime::open_with(options, folders)?)
}

/// The tokens of a tool list, each tool by itself, as it reaches a model.
fn cost(tokens: &CoreBPE, format: Format, definitions: &[Definition]) -> Result<usize> {
    let exported = export(format, definitions)?;
    Ok(exported.tools.iter().map(|tool| tokens.encode_ordinary(&tool.to_string()).len()).sum())
}

async fn answers(runtime: &Runtime, tokens: &CoreBPE) -> Vec<Value> {
    let calls = [
        ("read", json!({"path": "src/position.rs"})),
        ("list", json!({"path": "src"})),
        ("grep", json!({"pattern": "Encoding"})),
        ("glob", json!({"pattern": "**/*.rs"})),
        ("lsp_symbols", json!({"path": "src/position.rs"})),
        ("lsp_definition", json!({"path": "src/position.rs", "symbol": "Position"})),
        ("lsp_references", json!({"path": "src/position.rs", "symbol": "Position"})),
        ("lsp_servers", json!({})),
        ("get_library_docs", json!({"libraryId": "playwright", "query": "wait for element"})),
        ("read", json!({"path": "no such file"})),
    ];
    let mut costs = Vec::new();
    for (name, arguments) in calls {
        let caller = Caller::at_shell();
        let shown = format!("{name} {arguments}");
        let cancelled = CancellationToken::new();
        let request =
            CallRequest { name, arguments, caller: &caller, approver: &NobodyToAsk, group: None, cancelled };
        let text = runtime.call(request).await.text_for_model();
        costs
            .push(json!({"call": shown, "bytes": text.len(), "tokens": tokens.encode_ordinary(&text).len()}));
    }
    costs
}

fn print(report: &Value) {
    let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    println!("{:<12} {:>6} {:>8} {:>12}", "profile", "tools", "tokens", "as MCP list");
    for list in rows("lists") {
        let profile = list["profile"].as_str().unwrap_or_default();
        let [tools, tokens, mcp] = ["tools", "tokens", "mcp_tokens"].map(|key| list[key].to_string());
        println!("{profile:<12} {tools:>6} {tokens:>8} {mcp:>12}");
    }
    let kept = if report["kept"] == true { "kept" } else { "NOT KEPT" };
    println!("budget of the default profile: {} tokens, {kept}\n", report["budget"]);
    for tool in rows("tools") {
        println!("{:>6}  {}", tool["tokens"].to_string(), tool["tool"].as_str().unwrap_or_default());
    }
    println!("\n{:>6} {:>7}  answer to", "tokens", "bytes");
    for answer in rows("answers") {
        println!(
            "{:>6} {:>7}  {}",
            answer["tokens"].to_string(),
            answer["bytes"].to_string(),
            answer["call"].as_str().unwrap_or_default()
        );
    }
}
