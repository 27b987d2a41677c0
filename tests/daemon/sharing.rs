//! Hosts, editors and the shell on one workspace: one server, and each its own session.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::house::{House, SOON};
use crate::support::wait_until;

/// `lsp-tools mcp` or `lsp-tools lsp`, started as hosts and editors do.
struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    fn start(house: &House, word: &str) -> Self {
        let mut command = house.command(&[word]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        Self { child, stdin, stdout }
    }

    fn write(&mut self, text: &str) {
        self.stdin.as_mut().expect("stdin").write_all(text.as_bytes()).expect("a message");
    }

    /// One line of MCP to it, and the answer with that id.
    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&format!("{message}\n"));
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).expect("a line");
            let answer: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            if answer["id"] == json!(id) {
                return answer;
            }
        }
    }

    fn open_mcp(house: &House) -> Self {
        let mut program = Self::start(house, "mcp");
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let opened = program.ask(0, "initialize", hello);
        assert_eq!(opened["result"]["serverInfo"]["name"], json!("lsp-tools"), "{opened}");
        program.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        program
    }

    fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        let answer = self.ask(id, "tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    }

    /// Closes its input; how long its end took.
    fn close(mut self) -> Duration {
        let begun = Instant::now();
        drop(self.stdin.take());
        wait_until("it ends", SOON, || self.child.try_wait().expect("its status").is_some());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("UTF-8");
        begun.elapsed()
    }
}

#[test]
fn two_hosts_and_a_shell_share_one_server_and_no_list() {
    let house = House::new();
    let (mut one, mut other) = (Program::open_mcp(&house), Program::open_mcp(&house));
    let hover = json!({"path": "a.scr", "line": 0, "character": 4});
    let (first, second) = (one.call(1, "lsp_hover", hover.clone()), other.call(1, "lsp_hover", hover));
    assert_eq!(first["contents"], second["contents"]);
    assert!(first["contents"].as_str().is_some_and(|text| text.starts_with("foo ")), "{first}");
    let shell = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(shell.out.trim_end(), first["contents"].as_str().unwrap());
    assert_eq!((house.project.log().starts(), house.daemons().len()), (1, 1));

    let todo = json!({"todos": [{"id": "1", "content": "mine", "status": "pending", "priority": "low"}]});
    one.call(2, "todowrite", todo);
    assert_eq!(one.call(3, "todoread", json!({}))["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(other.call(3, "todoread", json!({}))["items"].as_array().map(Vec::len), Some(0));
    let status = house.status().expect("a daemon");
    let doors: Vec<&Value> =
        status["clients"].as_array().unwrap().iter().map(|client| &client["door"]).collect();
    assert_eq!(doors, [&json!("mcp"), &json!("mcp")]);
    assert!(one.close() < Duration::from_secs(2));
    wait_until("one is left", SOON, || {
        house.status().unwrap()["clients"].as_array().map(Vec::len) == Some(1)
    });
    assert!(other.call(4, "read", json!({"path": "a.scr"}))["content"].is_string());
    assert!(other.close() < Duration::from_secs(2));
}

#[test]
fn a_host_does_not_notice_that_the_daemon_was_killed() {
    let house = House::new();
    let mut host = Program::open_mcp(&house);
    let todo = json!({"todos": [{"id": "1", "content": "mine", "status": "pending", "priority": "low"}]});
    host.call(1, "todowrite", todo);
    for id in 2..5 {
        house.kill(house.pid(), Signal::KILL);
        // A question is put again, whenever the daemon went; a call that may have been carried out is not.
        let list = host.ask(id + 100, "tools/list", json!({}));
        assert!(list["result"]["tools"].is_array(), "{list}");
        let kept = host.call(id, "todoread", json!({}));
        assert_eq!(kept["items"][0]["content"], json!("mine"), "{kept}");
    }
    assert_eq!(house.daemons().len(), 1);
    host.close();
}

#[test]
fn an_editor_and_a_shell_share_one_server() {
    let house = House::new();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let mut editor = Program::start(&house, "lsp");
    let root = format!("file://{}", house.project.root().display());
    let frame = |message: Value| {
        let body = message.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let params = json!({"processId": null, "rootUri": root, "capabilities": {}});
    editor.write(&frame(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})));
    let mut head = String::new();
    editor.stdout.read_line(&mut head).expect("a head");
    let length: usize = head.trim().trim_start_matches("Content-Length: ").parse().expect("a length");
    editor.stdout.read_line(&mut String::new()).expect("the end of the head");
    let mut body = vec![0; length];
    editor.stdout.read_exact(&mut body).expect("a body");
    let answer: Value = serde_json::from_slice(&body).expect("JSON");
    assert!(answer["result"]["capabilities"].is_object(), "{answer}");
    let status = house.status().expect("a daemon");
    assert_eq!(status["clients"][0]["door"], json!("lsp"), "{status}");
    assert!(editor.close() < Duration::from_secs(3));
    assert_eq!(house.project.log().starts(), 1);
}
