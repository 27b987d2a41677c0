//! Clients that send more than the server can answer, on standard streams and over HTTP.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Server, TOKEN, initialize};
use crate::report::Row;
use crate::support::Project;
use crate::support::mcp::Mcp;

/// The maximum resident memory during a flood, in bytes.
const MEMORY: u64 = 300 << 20;
/// The number of requests per round on standard streams.
const REQUESTS: u64 = 2_000;
/// The number of HTTP connections per round that never complete their request.
const HALVES: usize = 300;
/// The number of wrong tokens per round.
const GUESSES: usize = 200;
/// The maximum time to an answer for a client with the token.
const SOON: Duration = Duration::from_secs(30);

pub fn run(time: Duration) -> Vec<Row> {
    vec![streams(time / 2), http(time / 2)]
}

fn resident(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// Sends valid requests and malformed lines faster than they are answered.
fn streams(time: Duration) -> Row {
    let end = Instant::now() + time;
    let (mut sent, mut unanswered, mut doubled, mut large) = (0, 0, 0, 0);
    let mut peak = 0;
    while Instant::now() < end || sent == 0 {
        let project = Project::new([("a.txt", "x\n")]);
        let mut client = Mcp::legacy(&project, None, json!({}));
        for number in 0..REQUESTS {
            let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": format!("r{number}"), "method": method, "params": params});
            client.send(&match number % 4 {
                0 => request("ping", json!({})),
                1 => request("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}})),
                2 => request("nobody/knows", json!({})),
                _ => request("tools/call", json!({"name": "grep", "arguments": {"pattern": "x"}})),
            });
            match number % 3 {
                0 => client.raw(b"{\"jsonrpc\": \"2.0\", no message\n"),
                1 => client.notify("notifications/cancelled", json!({"requestId": "nobody's"})),
                _ => client.raw(b"\xff\xfe\0\n"),
            }
        }
        peak = peak.max(resident(client.pid()));
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let mine = |message: &Value| message["id"].as_str().is_some_and(|id| id.starts_with('r'));
        while answers.len() < REQUESTS as usize {
            let Some(answer) = client.find_within(SOON, mine) else { break };
            *answers.entry(answer["id"].to_string()).or_default() += 1;
        }
        // A duplicate answer would arrive before this one.
        client.ask("ping", json!({}));
        while let Some(answer) = client.find_within(Duration::ZERO, mine) {
            *answers.entry(answer["id"].to_string()).or_default() += 1;
        }
        peak = peak.max(resident(client.pid()));
        sent += REQUESTS as usize;
        unanswered += REQUESTS as usize - answers.len();
        doubled += answers.values().filter(|count| **count > 1).count();
        large += usize::from(peak > MEMORY);
    }
    let tried = format!("{sent} requests and as many malformed lines, at most {} MB", peak >> 20);
    let faults = [("unanswered", unanswered), ("answered twice", doubled), ("excessive memory", large)];
    Row::new("MCP on standard streams", tried, sent, faults)
}

/// Sends incomplete requests and wrong tokens, while a client with the token must be answered.
fn http(time: Duration) -> Row {
    let project = Project::new([("a.txt", "x\n")]);
    let server = Server::known(&project);
    let end = Instant::now() + time;
    let (mut halves, mut guesses, mut let_in, mut refused) = (0, 0, 0, 0);
    let mut longest = Duration::ZERO;
    while Instant::now() < end || guesses == 0 {
        let open: Vec<TcpStream> = (0..HALVES).filter_map(|number| half(server.port, number)).collect();
        halves += open.len();
        let begun = Instant::now();
        let (status, _) = server.post(&[], &initialize());
        longest = longest.max(begun.elapsed());
        refused += usize::from(status != 200 || begun.elapsed() > SOON);
        drop(open);
        for number in 0..GUESSES {
            let guess = format!("Bearer {}{number}", &TOKEN[..number % TOKEN.len()]);
            let (status, _) = server.post(&[("Authorization", guess.as_str())], &initialize());
            let_in += usize::from(status != 401);
            guesses += 1;
        }
    }
    let tried = format!(
        "{guesses} wrong tokens and {halves} incomplete requests, a client with the token answered after {:.1} s at most",
        longest.as_secs_f64()
    );
    Row::new(
        "MCP over HTTP",
        tried,
        guesses,
        [("accepted", let_in), ("clients with the token not answered", refused)],
    )
}

/// A connection on which half of a request head was sent; it stays open.
fn half(port: u16, number: usize) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = ["POST /mcp HTTP/1.1\r\nHost: 127.0.0.1", "GET / HTTP/1.1\r\n", "P", ""][number % 4];
    stream.write_all(head.as_bytes()).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(1))).ok()?;
    // Connections that the server closed at once occupy no slot.
    let is_open = stream.read(&mut [0; 1]).is_err();
    is_open.then_some(stream)
}
