//! MCP over HTTP: access, and hostile requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::{LEGACY, MODERN, PATIENCE};

pub const TOKEN: &str = "a-token-of-the-tests-own";

/// A server, its port, and the token's file.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Starts on a free port; with its own token unless `arguments` name a file.
    fn start(project: &Project, arguments: &[&str]) -> (Self, Vec<String>) {
        Self::start_at("127.0.0.1:0", project, arguments)
    }

    fn start_at(address: &str, project: &Project, arguments: &[&str]) -> (Self, Vec<String>) {
        let mut command = project.command(None);
        command.args(["mcp", "--no-daemon", "--http", address]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server");
        let mut told = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let lines: Vec<String> = told.by_ref().take(2).map(|line| line.expect("a line")).collect();
        std::thread::spawn(move || told.for_each(drop));
        let port = lines[0]
            .rsplit(':')
            .next()
            .and_then(|rest| rest.split('/').next())
            .and_then(|port| port.parse().ok());
        (Self { child, port: port.unwrap_or_else(|| panic!("no port in {lines:?}")) }, lines)
    }

    /// A server with [`TOKEN`].
    pub fn known(project: &Project) -> Self {
        let file = project.beside("config").join("token");
        std::fs::write(&file, TOKEN).expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("its mode");
        Self::start(project, &["--token-file", file.to_str().expect("a path")]).0
    }

    /// Sends raw bytes; returns the status and all output until the server closes or is silent for
    /// a while.
    pub fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // The server may refuse before it has read everything.
        let _early = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _closed = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }

    /// Posts `body` with these headers beside the usual ones; a given header replaces the usual
    /// one.
    pub fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let host = format!("127.0.0.1:{}", self.port);
        let token = format!("Bearer {TOKEN}");
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        let mut text = "POST /mcp HTTP/1.1\r\n".to_owned();
        for (name, value) in
            usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name)).chain(headers)
        {
            if !value.is_empty() {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.raw(text.as_bytes())
    }

    fn modern(&self, method: &str, mut params: Value) -> (u16, Value) {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", name.as_str())];
        let (status, text) = self.post(&headers, &body);
        (status, message(&text))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The last JSON-RPC message in a response, a body or an event stream.
pub fn message(text: &str) -> Value {
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .rfind(Value::is_object)
        .unwrap_or_default()
}

pub fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }})
    .to_string()
}

#[test]
fn legacy_and_modern_clients_share_one_http_endpoint() {
    let project = Project::new([("a.txt", "hello\n")]);
    let server = Server::known(&project);
    let (status, text) = server.post(&[], &initialize());
    assert_eq!((status, &message(&text)["result"]["protocolVersion"]), (200, &json!(LEGACY)), "{text}");
    let session =
        text.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)];
    let (status, _) =
        server.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    assert_eq!(status, 202);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "a.txt"}}});
    let (_, text) = server.post(&headers, &call.to_string());
    assert_eq!(message(&text)["result"]["structuredContent"]["content"], "hello\n", "{text}");
    let (status, answer) =
        server.modern("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}}));
    assert_eq!(
        (status, &answer["result"]["structuredContent"]["content"]),
        (200, &json!("hello\n")),
        "{answer}"
    );
}

#[test]
fn row_14_foreign_origin_or_host_is_refused_before_body_is_read() {
    let project = Project::new([]);
    let server = Server::known(&project);
    for headers in [
        [("Origin", "http://evil.example")],
        [("Origin", "null")],
        [("Host", "evil.example")],
        [("Host", "127.0.0.1")],
    ] {
        let (status, text) = server.post(&headers, &initialize());
        assert_eq!(status, 403, "{headers:?}: {text}");
        assert!(!text.to_lowercase().contains("access-control-allow"), "{text}");
        // The server does not wait for a body that never comes.
        let (name, value) = headers[0];
        let begun = Instant::now();
        let host = if name == "Host" {
            value.to_owned()
        } else {
            format!("127.0.0.1:{}\r\n{name}: {value}", server.port)
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
        );
        assert_eq!(server.raw(head.as_bytes()).0, 403);
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    let (status, text) = server.raw(b"GET /mcp HTTP/1.0\r\n\r\n");
    assert_eq!(status, 403, "{text}");
}

#[test]
fn row_15_http_without_token_is_401_and_token_file_is_private() {
    let project = Project::new([]);
    let server = Server::known(&project);
    for token in ["", "Bearer", "Bearer wrong", "Basic YTpi", "Bearer a-token-of-the-tests-owm"] {
        let (status, text) = server.post(&[("Authorization", token)], &initialize());
        assert_eq!(status, 401, "{token}: {text}");
        assert!(text.to_lowercase().contains("www-authenticate: bearer"), "{text}");
    }
    let (own, told) = Server::start(&project, &[]);
    let path = told[1].split("$(cat ").nth(1).and_then(|rest| rest.strip_suffix(')')).expect("a path");
    assert_eq!(std::fs::metadata(path).expect("the file").permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(path).expect("a token");
    assert!(token.trim().len() >= 40, "{token}");
    assert!(!told.join("\n").contains(token.trim()), "the token is not printed: it would be in logs");
    let (status, _) = own.post(&[("Authorization", &format!("Bearer {}", token.trim()))], &initialize());
    assert_eq!(status, 200);
    assert_eq!(own.post(&[], &initialize()).0, 401, "each server has its own");
}

#[test]
fn row_15_remote_bind_without_allow_remote_is_refused() {
    let project = Project::new([]);
    let run = |arguments: &[&str]| {
        let mut command: Command = project.command(None);
        let output = command
            .args(["mcp", "--no-daemon"])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("a run");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = run(&["--http", "0.0.0.0:0"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--allow-remote"), "{said}");
    let (status, said) = run(&["--http", "nonsense"]);
    assert_eq!(status, Some(2), "{said}");
    let open = project.beside("config").join("open-token");
    std::fs::write(&open, TOKEN).expect("a file");
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o644)).expect("its mode");
    let (status, said) = run(&["--http", "127.0.0.1:0", "--token-file", open.to_str().expect("a path")]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("chmod 600"), "{said}");
    let (status, said) = run(&["--allow-remote"]);
    assert_eq!(status, Some(2), "it needs --http: {said}");
}

/// Requests the list of tools with a token from a file, in one of these ways, and prints the status
/// of each response.
const FROM_A_COMMAND: &str = r#"
import http.client, os, socket, sys, threading

way, host, port, file = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
head = {'Host': f'127.0.0.1:{port}', 'Authorization': 'Bearer ' + open(file).read().strip(), 'Content-Type': 'application/json',
        'Accept': 'application/json, text/event-stream', 'Connection': 'close', 'Content-Length': str(len(body))}
request = ('POST /mcp HTTP/1.1\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in head.items()) + '\r\n').encode() + body

def own_address():
    # Nothing is sent: the system only picks the address that it would send from.
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(('192.0.2.1', 9))
        return probe.getsockname()[0]
    except OSError:
        return '127.0.0.2'

def status(client):
    client.settimeout(20)
    said = b''
    while some := client.recv(4096):
        said += some
    if said.startswith(b'HTTP/1.1 403') and (b'started by a tool' in said or b'is not visible' in said): return 'refused'
    return said.split(b' ')[1].decode() if b' ' in said else 'cut'

def connected(port=port):
    return socket.create_connection((own_address() if host == 'own' else host, port), 20)

def plain():
    client = connected()
    client.sendall(request)
    return status(client)

# The socket is in a process only while it sends it to the other one.
def moving():
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    answer, told = os.pipe()
    hops = 2000
    for mine, others, first in ((left, right, True), (right, left, False)):
        if os.fork() == 0:
            others.close()
            if first:
                client = connected()
                client.sendall(request)
                socket.send_fds(mine, [b'0'], [client.fileno()])
                client.close()
            while True:
                count, files, _, _ = socket.recv_fds(mine, 16, 1)
                if not files: os._exit(0)
                if int(count) >= hops:
                    os.write(told, status(socket.socket(fileno=files[0])).encode())
                    os._exit(0)
                socket.send_fds(mine, [str(int(count) + 1).encode()], files)
                os.close(files[0])
    for end in (left, right): end.close()
    os.close(told)
    said = os.read(answer, 10).decode()
    os.close(answer)
    return said

# A process of its own passes everything on, and its parent has ended.
def relayed():
    listener = socket.create_server(('127.0.0.1', 0))
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        inside, _ = listener.accept()
        outside = connected()
        def pass_on(source, target):
            while (some := source.recv(65536)): target.sendall(some)
        threading.Thread(target=pass_on, args=(inside, outside), daemon=True).start()
        pass_on(outside, inside)
        os._exit(0)
    os.wait()
    client = socket.create_connection(('127.0.0.1', listener.getsockname()[1]), 20)
    client.sendall(request)
    return status(client)

print(*[globals()[way]() for _ in range(int(sys.argv[5]))])
"#;

/// The responses to a command that has read the token, in each of these ways; other processes are
/// accepted.
#[test]
#[ignore = "slow: just slow"]
fn sandboxed_command_with_the_token_is_refused() {
    let project = Project::new([("attack.py", FROM_A_COMMAND)]);
    let file = project.beside("config").join("token");
    std::fs::write(&file, TOKEN).expect("a file");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("its mode");
    let file = file.to_str().expect("a path");
    let (server, _) = Server::start_at(
        "0.0.0.0:0",
        &project,
        &["--token-file", file, "--allow-remote", "--allow-unseen", "--allow-host", "127.0.0.1"],
    );
    let strict = Server::start(&project, &["--token-file", file]).0;
    for (way, host, tries, port) in [
        ("plain", "127.0.0.1", 3, server.port),
        ("plain", "own", 3, server.port),
        ("relayed", "127.0.0.1", 3, server.port),
        ("relayed", "own", 1, server.port),
        ("plain", "127.0.0.1", 1, strict.port),
        ("moving", "127.0.0.1", 10, strict.port),
    ] {
        let attack = format!("python3 attack.py {way} {host} {port} {file} {tries}");
        // The same from a process that no tool has started. The owner of a constantly changing
        // socket is unknown.
        if way != "moving" {
            let outside =
                Command::new("sh").args(["-c", &attack]).current_dir(project.root()).output().expect("a run");
            let outside = String::from_utf8_lossy(&outside.stdout).into_owned();
            assert_eq!(outside.split_whitespace().collect::<Vec<_>>(), vec!["200"; tries], "{attack}");
        }
        let mut command = project.command(None);
        let arguments = json!({"command": attack}).to_string();
        command.args(["tools", "call", "bash", &arguments, "--format", "json"]);
        let output = command.output().expect("a run");
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let said = answer["stdout"].as_str().unwrap_or_default();
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), vec!["refused"; tries], "{attack}: {answer}");
    }
    let (status, said) = server.post(&[], &initialize());
    assert_eq!(status, 200, "{said}");
}

#[test]
fn malformed_http_requests_are_refused_and_next_is_served() {
    let project = Project::new([("a.txt", "hello\n")]);
    let server = Server::known(&project);
    let refused = |status: u16| (400..500).contains(&status);
    let (status, text) = server.post(&[], "this is no JSON");
    assert!(refused(status), "{text}");
    let (status, text) = server.post(&[("Content-Type", "text/plain")], &initialize());
    assert_eq!(status, 415, "{text}");
    let (status, text) = server.post(&[], &format!("\"{}\"", "x".repeat(5 << 20)));
    assert_eq!(status, 413, "{text}");
    let (status, text) = server.post(
        &[("Mcp-Session-Id", "no-such-session"), ("MCP-Protocol-Version", LEGACY)],
        &json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {},
        })
        .to_string(),
    );
    assert_eq!(status, 404, "{text}");
    let (status, text) = server.raw(format!("POST /other HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", server.port).as_bytes());
    assert_eq!(status, 404, "{text}");
    let (status, _) = server.raw(b"\x16\x03\x01 this is no HTTP\r\n\r\n");
    assert_eq!(status, 400);
    let (status, answer) =
        server.modern("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}}));
    assert_eq!((status, &answer["result"]["structuredContent"]["ok"]), (200, &json!(true)), "{answer}");
    let (status, answer) = server.modern("no/such/method", json!({}));
    assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)), "{answer}");
}

#[test]
fn http_server_stopped_removes_its_token_file() {
    let project = Project::new([]);
    let (mut server, told) = Server::start(&project, &[]);
    let path =
        told[1].split("$(cat ").nth(1).and_then(|rest| rest.strip_suffix(')')).expect("a path").to_owned();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a process");
    let begun = Instant::now();
    while server.child.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!std::path::Path::new(&path).exists());
}

/// Requests without a session may come from any client.
#[test]
fn todo_list_over_http_requires_session_id() {
    let project = Project::new([]);
    let server = Server::known(&project);
    let call = |name: &str, arguments: Value| {
        let (_, answer) = server.modern("tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    let todos = json!([{"id": "1", "content": "c", "status": "pending", "priority": "low"}]);
    let refused = call("todowrite", json!({"todos": todos}));
    assert_eq!(refused["code"], "invalid_args", "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("`session_id`")), "{refused}");
    assert_eq!(call("todoread", json!({}))["code"], "invalid_args");
    assert_eq!(call("todowrite", json!({"todos": todos, "session_id": "mine"}))["count"], 1);
    assert_eq!(call("todoread", json!({"session_id": "mine"}))["items"], todos);
    assert_eq!(call("todoread", json!({"session_id": "yours"}))["count"], 0);
}
