//! Lines from an MCP client: each request gets one reply, whatever else is sent.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use crate::bridges::mcp::server::{ServerOptions, serve};
use crate::runtime::live::LiveRuntime;
use crate::{Caller, Client};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

use super::draw::Draw;
use super::world::{World, tokio};

const PATIENCE: Duration = Duration::from_secs(20);

const METHODS: [&str; 16] = [
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "tasks/list",
    "tasks/get",
    "initialize",
    "server/discover",
    "roots/list",
];

const WORDS: [&str; 34] = [
    "name",
    "arguments",
    "read",
    "list",
    "glob",
    "grep",
    "edit",
    "path",
    "a.txt",
    "..",
    "cursor",
    "uri",
    "file:///etc/passwd",
    "lsp-tools://logs",
    "ref",
    "type",
    "ref/prompt",
    "ref/resource",
    "argument",
    "value",
    "level",
    "debug",
    "_meta",
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "2026-07-28",
    "2025-11-25",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "version",
    "old",
    "new",
    "pattern",
];

pub fn live() -> &'static (World, LiveRuntime) {
    static PLACE: OnceLock<(World, LiveRuntime)> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new([("a.txt", "one\ntwo\n")]);
        let settings = "audit.enabled = false\n[permissions]\ndeny = ['effect:execute', 'effect:network', 'effect:edit']\n";
        world.write_beside("config/lsp-tools.toml", settings);
        let live = LiveRuntime::new(world.runtime());
        (world, live)
    })
}

pub fn options(live: &LiveRuntime) -> ServerOptions {
    ServerOptions {
        live: live.clone(),
        caller: Caller::default(),
        client: Client::default(),
        text_answers: false,
        output_schemas: false,
    }
}

/// Lines from the input, or built from words of the protocol.
fn lines(draw: &mut Draw<'_>) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    while !draw.is_empty() && lines.len() < 8 {
        match draw.byte() % 4 {
            0 => lines.extend(draw.part().split(|byte| *byte == b'\n').map(<[u8]>::to_vec)),
            1 => lines.extend(draw.swollen(1 << 20).split(|byte| *byte == b'\n').map(<[u8]>::to_vec)),
            _ => {
                let method = draw.one_of(&METHODS);
                let id = lines.len();
                let params = draw.json(&WORDS, 0);
                let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                lines.push(message.to_string().into_bytes());
            }
        }
    }
    lines
}

/// The id of a request, as written in its answer.
fn id_of(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    // A duplicate key is ambiguous.
    let keys = |key: &str| String::from_utf8_lossy(line).matches(&format!("\"{key}\"")).count() == 1;
    let is_request = message["method"].is_string() && (message["id"].is_string() || message["id"].is_i64());
    (is_request && keys("id") && keys("method")).then(|| message["id"].to_string())
}

pub fn run(bytes: &[u8]) {
    let lines = lines(&mut Draw::new(bytes));
    let text = lines.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>().join("\n");
    // These cancel other requests, or are answered only after the reader has stopped.
    let unsure = ["cancel", "listen", "\\u"].iter().any(|word| text.contains(word));
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for id in lines.iter().filter_map(|line| id_of(line)).filter(|_| !unsure) {
        *expected.entry(id).or_default() += 1;
    }
    expected.insert(json!("the end").to_string(), 1);
    let answered = tokio().block_on(async {
        let (read, mut to) = tokio::io::duplex(1 << 16);
        let (write, from) = tokio::io::duplex(1 << 16);
        let ended = CancellationToken::new();
        let served = tokio::spawn(serve(options(&live().1), read, write, ended.clone()));
        let sent = tokio::spawn(async move {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}});
            let first = json!({"jsonrpc": "2.0", "id": "the beginning", "method": "initialize", "params": params});
            let second = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let last = json!({"jsonrpc": "2.0", "id": "the end", "method": "ping"});
            let mut all = format!("{first}\n{second}\n").into_bytes();
            for line in lines {
                all.extend(line);
                all.push(b'\n');
            }
            all.extend(format!("{last}\n").into_bytes());
            // The server may have closed the connection, which the answers show.
            let _ended = to.write_all(&all).await;
            to
        });
        let answered = tokio::time::timeout(PATIENCE, answers(BufReader::new(from), &expected)).await;
        ended.cancel();
        let _to = sent.await.expect("a writer");
        served.await.expect("a server").expect("a conversation");
        answered
    });
    let Ok(answered) = answered else { panic!("no answer in time to all of {expected:?}: {text}") };
    for (id, count) in &expected {
        assert_eq!(answered.get(id), Some(count), "{id}: {text}");
    }
}

/// The number of answers per id, once all expected ones are there or the output ends.
async fn answers(
    from: BufReader<tokio::io::DuplexStream>,
    expected: &BTreeMap<String, usize>,
) -> BTreeMap<String, usize> {
    let mut answered: BTreeMap<String, usize> = BTreeMap::new();
    let mut lines = from.lines();
    while expected.iter().any(|(id, count)| answered.get(id).is_none_or(|got| got < count)) {
        let Ok(Some(line)) = lines.next_line().await else { break };
        let message: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("result").is_some() || message.get("error").is_some() {
            *answered.entry(message["id"].to_string()).or_default() += 1;
        }
    }
    answered
}
