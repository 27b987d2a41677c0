//! Other clients: garbage, partial messages, huge messages, crowds, and clients that vanish or
//! never read.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::house::{House, SOON};
use crate::support::wait_until;

const WITHIN: Duration = Duration::from_secs(30);

fn connect(house: &House) -> UnixStream {
    let stream = UnixStream::connect(house.socket()).expect("a connection");
    stream.set_read_timeout(Some(WITHIN)).expect("a deadline");
    stream.set_write_timeout(Some(WITHIN)).expect("a deadline");
    stream
}

/// The daemon's whole output for `bytes`, until it closes the connection.
fn answer(house: &House, bytes: &[u8]) -> String {
    let mut stream = connect(house);
    // The daemon may close the connection before everything is sent.
    let _cut = stream.write_all(bytes);
    let mut text = Vec::new();
    let _reset = stream.read_to_end(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

/// An accepted connection to the front end `command`, which announces the bytes in `lengths`.
fn enter(house: &House, lengths: &Value) -> BufReader<UnixStream> {
    let mut stream = BufReader::new(connect(house));
    let preamble = json!({"lsp-tools": 1, "door": "command", "command": lengths});
    stream.get_mut().write_all(format!("{preamble}\n").as_bytes()).expect("a preamble");
    let mut line = String::new();
    stream.read_line(&mut line).expect("a welcome");
    let welcome: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(welcome["ok"], json!(true), "{line}");
    stream
}

/// Connects to a socket from the end of a chain of processes whose ancestors end at that moment,
/// repeatedly for this many seconds, and returns the numbers of attempts and of accepted
/// connections.
const FROM_A_BROKEN_CHAIN: &str = r#"
import os, random, socket, sys, time

path, seconds = sys.argv[1], float(sys.argv[2])

def last(go, told):
    def end_the_others():
        os.close(go)
    def wait_a_little():
        end = time.perf_counter() + random.random() * 0.0006
        while time.perf_counter() < end: pass
    # Who is refused may hear of it by a connection that is cut.
    said = b'0'
    try:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        first = random.random() < 0.5
        if first:
            end_the_others()
            wait_a_little()
        client.connect(path)
        if not first:
            wait_a_little()
            end_the_others()
        client.sendall(b'{"lsp-tools":1,"door":"status"}\n')
        said = b'1' if b'"ok":true' in client.recv(65536) else said
    except OSError:
        pass
    finally:
        os.write(told, said)
        os._exit(0)

def link(left, wait, go, told):
    if left == 0:
        last(go, told)
    if os.fork() == 0:
        link(left - 1, wait, go, told)
    os.close(go)
    os.read(wait, 1)
    os._exit(0)

tries = let_in = 0
begun = time.monotonic()
while time.monotonic() < begun + seconds:
    wait, go = os.pipe()
    answer, told = os.pipe()
    if os.fork() == 0:
        link(24, wait, go, told)
    for end in (wait, go, told): os.close(end)
    said = os.read(answer, 1)
    os.close(answer)
    os.wait()
    tries += 1
    let_in += said == b'1'
print(tries, let_in)
"#;

/// Runs this for as many seconds in a command of `bash`, and returns its result.
fn from_a_broken_chain(seconds: u32) -> (u32, u32) {
    let house = House::new();
    house.run(&["daemon", "start"]);
    house.project.write("chain.py", FROM_A_BROKEN_CHAIN);
    let command = format!("python3 chain.py {} {seconds}", house.socket().display());
    let arguments = json!({"command": command, "timeout_ms": 1_000 * (seconds + 60)}).to_string();
    let said = house.run(&["tools", "call", "bash", &arguments, "--format", "json"]);
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let numbers = answer["stdout"].as_str().and_then(|told| told.trim().split_once(' '));
    let (tries, let_in) = numbers.unwrap_or_else(|| panic!("{answer}"));
    (tries.parse().expect("a number"), let_in.parse().expect("a number"))
}

/// A command chooses when its processes end, so that the daemon may find a gap in a client's chain
/// of ancestors.
#[test]
#[ignore = "slow: just slow"]
fn client_of_broken_parent_chain_is_refused() {
    let (tries, let_in) = from_a_broken_chain(8);
    assert!(tries >= 10, "{tries}");
    assert_eq!(let_in, 0, "of {tries}");
}

#[test]
#[ignore = "the same for two minutes"]
fn client_with_broken_parent_chain_is_refused_in_long_run() {
    let (tries, let_in) = from_a_broken_chain(120);
    assert_eq!(let_in, 0, "of {tries}");
}

fn memory(house: &House) -> u64 {
    house.status().expect("a daemon")["memory_bytes"].as_u64().expect("its memory")
}

#[test]
fn invalid_preamble_is_refused_with_one_error() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    for (bytes, code) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "bad_preamble"),
        (b"\n", "bad_preamble"),
        (b"{}\n", "bad_preamble"),
        (b"[1]\n", "bad_preamble"),
        (b"\xff\xfe\n", "bad_preamble"),
        (b"{\"lsp-tools\":99,\"door\":\"mcp\"}\n", "version"),
        (b"{\"lsp-tools\":1,\"door\":\"window\"}\n", "bad_preamble"),
        (b"{\"lsp-tools\":1,\"door\":\"mcp\",\"session\":\"short\"}\n", "bad_preamble"),
        (b"{\"lsp-tools\":1,\"door\":\"command\"}\n", "bad_preamble"),
        (
            b"{\"lsp-tools\":1,\"door\":\"command\",\"command\":{\"request\":-1,\"input\":null}}\n",
            "bad_preamble",
        ),
    ] {
        let said = answer(&house, bytes);
        let refusal: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        assert_eq!((refusal["ok"].clone(), refusal["code"].clone()), (json!(false), json!(code)), "{said}");
        assert!(refusal["error"].as_str().is_some_and(|error| !error.is_empty()), "{said}");
    }
    let giant = vec![b'{'; 4 << 20];
    assert!(answer(&house, &giant).contains("longer than"), "a giant");
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
}

#[test]
#[ignore = "slow: just slow"]
fn incomplete_preamble_is_refused_after_10_seconds() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let begun = Instant::now();
    assert!(answer(&house, b"{\"lsp-tools\":1,").contains("no first line came within 10 s"));
    assert!(begun.elapsed() >= Duration::from_secs(9));
}

#[test]
fn request_with_false_lengths_is_dropped_without_answer() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    for (request, input, bytes) in [
        (json!(99_999_999_999_u64), Value::Null, &b"{}"[..]),
        (json!(10), json!(999_999_999_999_u64), b"{}"),
        (json!(2), Value::Null, b"{}"),
        (json!(19), Value::Null, b"nothing of the kind"),
    ] {
        let mut stream = enter(&house, &json!({"request": request, "input": input}));
        // The connection may be closed already.
        let _broken = stream.get_mut().write_all(bytes);
        let mut rest = String::new();
        let _reset = stream.read_to_string(&mut rest);
        assert_eq!(rest, "", "{:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
}

/// Actions reserved for the user are refused to other clients of the socket.
#[test]
fn user_only_commands_sent_to_socket_are_refused() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let look = json!({"terminal": false, "color": false, "width": 80});
    for words in [&["trust", "--yes"][..], &["install", "pylsp"], &["daemon", "run"], &["mcp"]] {
        let words: Vec<Value> = std::iter::once("lsp-tools")
            .chain(words.iter().copied())
            .map(|word| json!({"Unix": word.as_bytes()}))
            .collect();
        let request = json!({
            "words": words, "cwd": {"Unix": house.project.root().to_string_lossy().as_bytes()},
            "console": {"out": look, "err": look}, "progress": false, "speech": "english",
        })
        .to_string();
        let mut stream = enter(&house, &json!({"request": request.len(), "input": null}));
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        let reply = loop {
            let mut line = String::new();
            stream.read_line(&mut line).expect("an event");
            if !line.contains("alive") {
                break serde_json::from_str::<Value>(&line).expect("JSON");
            }
        };
        assert_eq!(reply["reply"]["status"], json!("usage"), "{reply}");
        assert!(reply["reply"]["lines"][0].as_str().unwrap().contains("the daemon does not run"), "{reply}");
    }
}

#[test]
#[ignore = "slow: just slow"]
fn thousand_idle_connections_cost_bounded_memory() {
    let house = House::new();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let before = memory(&house);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: limit.maximum, ..limit },
    )
    .unwrap();
    let crowd: Vec<_> = (0..1_000).map(|_| enter(&house, &json!({"request": 100, "input": null}))).collect();
    let status = house.status().expect("a daemon");
    assert_eq!(status["clients"].as_array().map(Vec::len), Some(1_000));
    let during = status["memory_bytes"].as_u64().unwrap();
    assert!(during < before + (64 << 20), "{before} {during}");
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0), "there is room for more");
    drop(crowd);
    wait_until("all are forgotten", SOON, || house.status().unwrap()["clients"] == json!([]));
}

#[test]
#[ignore = "slow: just slow"]
fn clients_that_never_read_cost_bounded_memory() {
    let house = House::new();
    let text = "a line that is found\n".repeat(100_000);
    for number in 0..10 {
        house.project.write(&format!("large/{number}.txt"), &text);
    }
    house.run(&["daemon", "start"]);
    let look = json!({"terminal": false, "color": false, "width": 80});
    let words: Vec<Value> =
        ["lsp-tools", "tools", "call", "bash", r#"{"command": "yes | head -c 300000000"}"#]
            .iter()
            .map(|word| json!({"Unix": word.as_bytes()}))
            .collect();
    let request = json!({
        "words": words, "cwd": {"Unix": house.project.root().to_string_lossy().as_bytes()},
        "console": {"out": look, "err": look}, "progress": true, "speech": "english",
    })
    .to_string();
    let deaf: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = enter(&house, &json!({"request": request.len(), "input": null}));
            stream.get_mut().write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    wait_until("all have run", SOON, || house.status().unwrap()["running"] == json!(0));
    assert!(memory(&house) < 200 << 20, "{}", memory(&house));
    drop(deaf);
    wait_until("all are forgotten", SOON, || house.status().unwrap()["clients"] == json!([]));
}

#[test]
fn daemon_log_contains_no_secrets() {
    let house = House::new();
    let mut command = house.command(&["write", "secret.txt", "--content", "correct horse battery staple"]);
    command.env("MY_TOKEN", "hunter2-hunter2");
    assert_eq!(super::house::said(command, "", "write").code, Some(0));
    house.run(&["daemon", "stop"]);
    let logs = house.project.beside("state").join("log");
    for file in fs::read_dir(logs).unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("correct horse"), "{}", file.path().display());
    }
}

/// Listens in place of the daemon, and answers like it.
const IMPOSTER: &str = r#"
import os, socket, sys
path = sys.argv[1]
if os.path.exists(path):
    os.unlink(path)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
open(sys.argv[2], 'w').close()
while True:
    client, _ = server.accept()
    print(client.recv(1 << 16), flush=True)
    client.sendall(b'{"ok":true}\n')
"#;

#[test]
#[ignore = "slow: just slow"]
fn imposter_socket_of_sandboxed_command_is_not_believed() {
    let house = House::new();
    house.run(&["daemon", "start"]);
    let socket = house.socket();
    house.run(&["daemon", "stop"]);
    house.project.write("imposter.py", IMPOSTER);
    let ready = house.project.path("ready");
    let command = format!("python3 imposter.py '{}' '{}'", socket.display(), ready.display());
    let arguments = json!({"command": command}).to_string();
    // Runs without the daemon, which would notice the exchanged socket.
    let mut bash =
        house.command(&["--no-daemon", "tools", "call", "bash", &arguments]).spawn().expect("lsp-tools");
    wait_until("the command listens", SOON, || ready.exists());
    let asked = house.run(&["daemon", "status"]);
    let told = asked.out.clone() + &asked.err;
    assert!(told.contains("so it is not trusted"), "{told}");
    let read = house.run(&["read", "a.scr"]);
    assert!(read.out.contains("def foo") || read.err.contains("not trusted"), "{read:?}");
    bash.kill().expect("a kill");
    bash.wait().expect("its end");
}
