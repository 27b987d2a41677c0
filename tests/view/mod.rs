//! The page of `lsp-tools view`: access, content, and its end. `just page` checks its appearance in
//! a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::daemon::house::House;
use crate::support::{Project, wait_until};

const WITHIN: Duration = Duration::from_secs(60);

/// An open page.
struct Page {
    port: u16,
    token: String,
}

/// The response.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    fn open(house: &House) -> Self {
        let said = house.run(&["view", "--format", "json"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let value: Value = serde_json::from_str(&said.out).expect("JSON");
        let url = value["url"].as_str().expect("an address");
        let port = value["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port");
        let token =
            url.strip_prefix(&format!("http://127.0.0.1:{port}/")).and_then(|rest| rest.strip_suffix('/'));
        let token = token.unwrap_or_else(|| panic!("{url}")).to_owned();
        assert!(token.len() >= 43, "256 bits: {token}");
        Self { port, token }
    }

    /// Requests `path` verbatim, with these headers beside Host; a given Host replaces the usual
    /// one.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let host = format!("127.0.0.1:{}", self.port);
        let usual = [("Host", host.as_str())];
        let usual = usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        for (name, value) in usual.chain(headers) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(WITHIN)).expect("a deadline");
        stream.write_all(format!("{text}\r\n").as_bytes()).expect("a request");
        let mut answer = String::new();
        let _reset = stream.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", &format!("/{}/{path}", self.token), &[])
    }

    fn state(&self) -> Value {
        let answer = self.get("api/state");
        assert_eq!(answer.status, 200, "{}", answer.head);
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
    }

    /// Waits until the state satisfies `wanted`, and returns it.
    #[track_caller]
    fn wait_for_state(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        wait_until(what, WITHIN, || {
            last = self.state();
            wanted(&last)
        });
        last
    }

    fn is_gone(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_err()
    }
}

#[test]
fn page_without_its_token_is_401_and_nothing_else() {
    let house = House::new();
    let page = Page::open(&house);
    let wrong = page.token.chars().rev().collect::<String>();
    for path in ["/", "/index.html", "/main.js", "/api/state", "/api/live", "/api/edit/e1", "/favicon.ico"] {
        for (path, headers) in [
            (path.to_owned(), vec![]),
            (format!("/{wrong}{path}"), vec![]),
            (path.to_owned(), vec![("Authorization", format!("Bearer {wrong}"))]),
            (format!("{path}?token={}", page.token), vec![]),
            (path.to_owned(), vec![("Cookie", format!("token={}", page.token))]),
            (path.to_owned(), vec![("Host", "evil.example".to_owned())]),
        ] {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            for method in ["GET", "HEAD", "POST", "OPTIONS"] {
                let answer = page.ask(method, &path, &headers);
                assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{method} {path} {headers:?}");
            }
        }
    }
    assert_eq!(page.get("").status, 200);
    let bearer = format!("Bearer {}", page.token);
    assert_eq!(page.ask("GET", "/api/state", &[("Authorization", &bearer)]).status, 200);
}

#[test]
fn page_with_its_token_is_read_only_and_for_its_own_address_alone() {
    let house = House::new();
    let page = Page::open(&house);
    let home = format!("/{}/", page.token);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(page.ask(method, &home, &[]).status, 405, "{method}");
    }
    for header in [
        ("Host", "evil.example"),
        ("Host", "localhost"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
    ] {
        assert_eq!(page.ask("GET", &home, &[header]).status, 403, "{header:?}");
    }
    let answer = page.ask("GET", &home, &[]);
    assert!(answer.body.contains("<main") && answer.head.contains("text/html"), "{}", answer.head);
    for header in [
        "content-security-policy: default-src 'self';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(header), "{header}: {}", answer.head);
    }
    assert!(!answer.head.contains("unsafe") && !answer.head.contains("set-cookie"), "{}", answer.head);
    let head = page.ask("HEAD", &home, &[]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(page.get("style.css").status, 200);
    for none in ["nothing", "../Cargo.toml", "api/edit/e1", "api/edit/x", "api/"] {
        assert_eq!(page.get(none).status, 404, "{none}");
    }
}

/// The files below `folder` that contain `text`.
fn files_with(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            files_with(&entry.path(), text, found);
        } else if kind.is_file()
            && fs::read(entry.path()).is_ok_and(|bytes| contains(&bytes, text.as_bytes()))
        {
            found.push(entry.path().display().to_string());
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn token_of_page_is_in_no_file_and_no_command_line() {
    let mut house = House::new();
    house.program = None;
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "[log]\nlevel = \"trace\"\n")
        .expect("settings");
    let page = Page::open(&house);
    house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(page.get("").status, 200);
    assert_eq!(page.ask("GET", "/no-token/", &[]).status, 401);
    page.state();
    let mut found = Vec::new();
    let all = house.project.root().parent().and_then(Path::parent).expect("the project's folder").to_owned();
    files_with(&all, &page.token, &mut found);
    assert_eq!(found, [""; 0]);
    for file in ["cmdline", "environ"] {
        let bytes = fs::read(format!("/proc/{}/{file}", house.pid())).unwrap_or_default();
        assert!(!contains(&bytes, page.token.as_bytes()), "{file}");
    }
    let log = house.run(&["daemon", "logs"]).out;
    assert!(log.contains("the page is open") && !log.contains(&page.token), "{log}");
}

#[test]
#[ignore = "slow: just slow"]
fn page_asked_for_again_has_a_new_token_and_ends_with_stop_and_with_the_daemon() {
    let house = House::new();
    let nothing = house.run(&["view", "--stop"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(1), ""), "{nothing:?}");
    assert!(house.daemons().is_empty(), "no daemon is started to close a page");
    let first = Page::open(&house);
    let mut live = live(&first);
    let second = Page::open(&house);
    assert_eq!(first.port, second.port, "the same listener");
    assert_ne!(first.token, second.token);
    assert_eq!((first.get("").status, second.get("").status), (401, 200));
    let mut rest = String::new();
    live.read_to_string(&mut rest).expect("the stream of the former token ends");
    assert_eq!(house.run(&["view", "--stop"]).code, Some(0));
    assert!(second.is_gone());
    assert_eq!(house.run(&["view", "--stop"]).code, Some(1));
    let third = Page::open(&house);
    assert_eq!(third.get("").status, 200);
    house.run(&["daemon", "stop"]);
    assert!(third.is_gone());
    let last = Page::open(&house);
    house.kill(house.pid(), Signal::KILL);
    wait_until("the page is gone with the killed daemon", WITHIN, || last.is_gone());
}

/// The events of a page.
fn live(page: &Page) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", page.port)).expect("a connection");
    stream.set_read_timeout(Some(WITHIN)).expect("a deadline");
    let mut reader = BufReader::new(stream);
    let request = format!("GET /{}/api/live HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", page.token, page.port);
    reader.get_mut().write_all(request.as_bytes()).expect("a request");
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status");
    assert!(line.contains("200"), "{line}");
    reader
}

/// The calls of the next event about calls that `wanted` accepts.
#[track_caller]
fn calls(live: &mut BufReader<TcpStream>, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let end = Instant::now() + WITHIN;
    let (mut line, mut of_calls) = (String::new(), false);
    while Instant::now() < end {
        line.clear();
        assert_ne!(live.read_line(&mut line).expect("a line"), 0, "the stream has ended");
        if let Some(name) = line.strip_prefix("event: ") {
            of_calls = name.trim() == "calls";
        }
        if let Some(data) = line.strip_prefix("data: ").filter(|_| of_calls) {
            let part: Value = serde_json::from_str(data).expect("JSON");
            let calls = part["calls"].as_array().expect("calls").clone();
            if wanted(&calls) {
                return calls;
            }
        }
    }
    panic!("no such calls came");
}

#[test]
fn calls_and_edits_appear_on_the_page_as_they_come() {
    let house = House::new();
    house.run(&["hover", "a.scr:1:5"]);
    let page = Page::open(&house);
    let mut live = live(&page);
    let none = calls(&mut live, |_| true);
    assert!(none.is_empty(), "nothing is recorded while no page is open: {none:?}");
    house.run(&["hover", "a.scr:1:5"]);
    let seen = calls(&mut live, |calls| calls.iter().any(|call| call["running"] == false));
    assert_eq!((&seen[0]["tool"], &seen[0]["outcome"]), (&json!("lsp_hover"), &json!("ok")), "{seen:?}");
    assert_eq!(seen[0]["verdict"], "complete", "{seen:?}");
    assert!(seen[0]["bytes_out"].as_u64() > Some(0) && seen[0]["paths"] == json!(["a.scr"]), "{seen:?}");
    house.run(&["edit", "b.scr", "--old", "foo", "--new", "foo WRONG", "--diagnostics"]);
    let seen = calls(&mut live, |calls| calls[0]["tool"] == "edit" && calls[0]["running"] == false);
    let undo = seen[0]["undo"].as_str().expect("an id").to_owned();
    assert_eq!(seen[0]["delta"]["added"], 1, "{seen:?}");
    let state =
        page.wait_for_state("the edit is listed", |state| state["edits"]["edits"][0]["id"] == undo.as_str());
    assert_eq!(state["edits"]["edits"][0]["files"], json!(["modified b.scr"]));
    let edit: Value = serde_json::from_str(&page.get(&format!("api/edit/{undo}")).body).expect("JSON");
    let diff = edit["files"][0]["diff"].as_str().expect("a diff");
    assert!(diff.contains("-foo\n+foo WRONG\n"), "{diff}");
    let state = page.wait_for_state("findings are known", |state| {
        state["files"]["files"].as_array().is_some_and(|files| files.len() > 1)
    });
    assert_eq!(state["files"]["files"][0]["counts"][0], 1, "{state}");
    let server = &state["servers"]["servers"][0];
    assert_eq!((&server["server"], &server["state"]), (&json!("scripted"), &json!("ready")), "{server}");
    assert!(server["memory"][0][1].as_u64() > Some(0), "{server}");
}

#[test]
fn what_rules_hide_is_not_on_the_page() {
    let project = Project::scripted(
        &json!({"hover_version": false}),
        "",
        [("secret.scr", "def hush\nhush WRONG\n"), ("open.scr", "def foo\nfoo WRONG\n")],
    );
    fs::write(
        project.beside("config").join("lsp-tools.toml"),
        "[permissions]\nask = ['read(secret.scr)']\n[editor]\nshare-overlays = true\n",
    )
    .expect("settings");
    let house = House::of(project);
    let page = Page::open(&house);
    let _awake = page.state();
    // A typed command counts as approval, so servers read the file; the page has no such approval.
    let told = house.run(&["check"]);
    assert!(told.out.contains("secret.scr") && told.out.contains("open.scr"), "{told:?}");
    for name in ["secret.scr", "open.scr"] {
        house.run(&["edit", name, "--old", "WRONG", "--new", "WRONG WRONG", "--diagnostics"]);
    }
    house.run(&["check"]);
    let state = page.wait_for_state("the visible items are there", |state| {
        let edits = state["edits"]["edits"].as_array().map_or(0, Vec::len);
        let calls = state["calls"]["calls"].as_array().map_or(0, Vec::len);
        edits == 1 && calls >= 4 && state["files"]["files"].as_array().is_some_and(|files| files.len() == 1)
    });
    assert_eq!(state["files"]["files"][0]["path"], "open.scr");
    let shown = state.to_string();
    assert!(!shown.contains("secret.scr") && !shown.contains("hush"), "{shown}");
    assert!(shown.contains("[hidden by a rule]"), "{shown}");
    assert_eq!((page.get("api/edit/e1").status, page.get("api/edit/e2").status), (404, 200));
}

#[test]
#[ignore = "slow: just slow"]
fn commands_of_bash_get_no_page() {
    let house = House::new();
    let page = Page::open(&house);
    let program = env!("CARGO_BIN_EXE_lsp-tools");
    let folders: String = ["CONFIG", "DATA", "STATE", "CACHE"]
        .iter()
        .map(|name| format!("LSP_TOOLS_{name}_DIR={} ", house.project.beside(&name.to_lowercase()).display()))
        .collect();
    let folders = format!("{folders} XDG_RUNTIME_DIR={}", house.runtime().display());
    let bash = |command: &str| {
        let arguments = json!({"command": command, "timeout_ms": 60_000}).to_string();
        let said = house.run(&["tools", "call", "bash", &arguments, "--format", "json"]);
        let answer: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        (answer["exit_code"].clone(), format!("{}{}", answer["stdout"], answer["stderr"]))
    };
    for words in ["view", "view --stop"] {
        let (code, said) = bash(&format!("{folders} {program} {words} 2>&1"));
        assert!(!said.contains("http://"), "{words}: {said}");
        assert_eq!(code, json!(5), "{words}: {said}");
        assert!(said.contains("started by a tool or server"), "{words}: {said}");
    }
    // Even with the token: the process at the other end decides.
    let script = "import http.client, sys\nc = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=30)\n\
                  c.request('GET', '/' + sys.argv[2] + '/api/state')\nr = c.getresponse()\nprint('status', r.status, len(r.read()))\n";
    house.project.write("ask.py", script);
    let (_, said) = bash(&format!("python3 ask.py {} {}", page.port, page.token));
    assert!(said.contains("status 403 0"), "{said}");
    assert_eq!(page.get("").status, 200, "the page is still there for its user");
}

#[test]
fn page_without_a_daemon_is_refused_with_the_reason() {
    let house = House::new();
    let said = house.run_alone(&["view"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("the page is served by the daemon"), "{said:?}");
    assert!(house.daemons().is_empty());
}
