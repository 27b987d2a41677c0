//! Remote servers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::house::{json_of, run, with_settings};
use super::real::PYTHON;
use crate::support::peers::real_mcp;
use crate::support::wait_until;

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn http_mcp_server_is_mounted() {
    let port = free_port();
    let mut command = Command::new(real_mcp().join("venv/bin/python"));
    command.args(["-c", PYTHON, "http", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Ended(command.spawn().unwrap());
    wait_until("it listens", Duration::from_secs(30), || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let project = with_settings(&format!(
        "[mcp.servers.sums]\ntype = \"http\"\nurl = \"http://127.0.0.1:{port}/mcp\"\n"
    ));
    let (sum, _) = json_of(&project, &["mcp", "call", "sums/add", r#"{"one": 40, "other": 2}"#]);
    assert_eq!(sum["structured"]["result"], 42, "{sum}");
    let (shown, _) = json_of(&project, &["mcp", "show", "sums"]);
    assert_eq!(
        (shown["server"]["protocol"].as_str(), shown["server"]["transport"].as_str()),
        (Some("2026-07-28"), Some("http"))
    );
    let doctor = run(&project, &["mcp", "doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", String::from_utf8_lossy(&doctor.stdout));
}

/// Answers every request with `answer`, and records the requests.
fn listener(answer: String) -> (u16, Arc<Mutex<Vec<String>>>) {
    answering(move |_| answer.clone())
}

/// Answers the requests with these answers, in order.
fn answering(answer: impl Fn(&str) -> String + Send + 'static) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut bytes = [0; 8192];
            let read = stream.read(&mut bytes).unwrap_or(0);
            let asked = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let answer = answer(&asked);
            kept.lock().unwrap().push(asked);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heard)
}

/// A redirect is not followed, so that no header goes to an unintended host.
#[test]
fn row_44_http_redirect_is_not_followed_with_headers() {
    let (evil, heard_by_evil) =
        listener("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned());
    let (port, heard) = listener(format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{evil}/mcp\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    ));
    let project = with_settings(&format!(
        "[mcp.servers.r]\nurl = \"http://127.0.0.1:{port}/mcp\"\nheaders = {{X-Secret = \"s3cr\"}}\ntimeout = 5000\n"
    ));
    let doctor = run(&project, &["mcp", "doctor", "r"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(doctor.status.code(), Some(1), "{told}");
    assert!(heard.lock().unwrap().iter().any(|asked| asked.to_lowercase().contains("x-secret: s3cr")));
    assert!(heard_by_evil.lock().unwrap().is_empty(), "{:?}", heard_by_evil.lock().unwrap());
    assert!(!told.contains("s3cr"), "{told}");
}

/// A name that resolves to this machine is refused; an explicit address is allowed.
#[test]
fn host_name_with_private_address_is_refused() {
    let port = free_port();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    // A machine's own name is in its table of hosts almost everywhere.
    if (host.as_str(), port).to_socket_addrs().is_err() {
        crate::support::skipped(&format!("the name {host} leads nowhere"));
        return;
    }
    let project =
        with_settings(&format!("[mcp.servers.r]\nurl = \"http://{host}:{port}/mcp\"\ntimeout = 5000\n"));
    let doctor = run(&project, &["mcp", "doctor", "r"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(told.contains("is private to this machine or network"), "{host}: {told}");
}

/// A server that requires authorization: the issuer of tokens and the setting for one are reported,
/// and no other host is contacted.
#[test]
fn http_401_error_names_authorization_server_and_header() {
    let metadata = r#"{"resource": "x", "authorization_servers": ["https://auth.example"], "scopes_supported": ["mcp:read"]}"#;
    let (port, heard) = answering(move |asked| {
        match asked.starts_with("GET /.well-known/oauth-protected-resource/mcp ") {
        true => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{metadata}",
            metadata.len()
        ),
        false => "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer error=\"invalid_token\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
    }
    });
    let project = with_settings(&format!(
        "[mcp.servers.r]\nurl = \"http://127.0.0.1:{port}/mcp\"\nheaders = {{X-Secret = \"s3cr\"}}\ntimeout = 5000\n"
    ));
    let doctor = run(&project, &["mcp", "doctor", "r"]);
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(doctor.status.code(), Some(1), "{told}");
    let line = told.lines().find(|line| line.starts_with("fault") && line.contains("authorization"));
    for part in ["https://auth.example", "mcp:read", "Authorization = \"Bearer", "[mcp.servers.r]"] {
        assert!(line.is_some_and(|line| line.contains(part)), "{part}: {told}");
    }
    let heard = heard.lock().unwrap();
    let asked = heard.iter().find(|asked| asked.starts_with("GET /.well-known")).expect("a question");
    assert!(!asked.to_lowercase().contains("s3cr"), "{asked}");
    drop(heard);
    let (called, status) = json_of(&project, &["mcp", "call", "r/any"]);
    assert_ne!(status, 0, "{called}");
}
