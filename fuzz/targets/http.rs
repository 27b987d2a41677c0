//! Heads and bodies of HTTP requests: nothing is answered without the token, and the next client is
//! always served.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use crate::bridges::mcp::server::http::{HttpOptions, Listener, serve};
use crate::rpc::http_entry::token::BearerToken;
use tokio_util::sync::CancellationToken;

use super::draw::Draw;
use super::mcp::{live, options};
use super::world::tokio;

const TOKEN: &str = "a-token-of-the-fuzzer";

fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        tokio().block_on(async {
            let listener =
                Listener::bind("127.0.0.1:0".parse().expect("an address")).await.expect("a listener");
            let address = listener.address();
            let token = Some(BearerToken::from_text(TOKEN).expect("a token"));
            let options =
                HttpOptions { server: options(&live().1), token, hosts: Vec::new(), allow_unseen: true };
            tokio::spawn(serve(listener, options, CancellationToken::new()));
            address
        })
    })
}

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let head = match draw.byte() % 4 {
        0 => String::new(),
        1 => format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", address()),
        _ => {
            let types = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
            format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n{types}", address())
        }
    };
    let text = draw.swollen(256 << 10);
    let has_token = !head.is_empty() && head.contains(TOKEN);
    let answer = exchange(&[head.as_bytes(), &text].concat());
    let answer = String::from_utf8_lossy(&answer);
    let statuses = || answer.match_indices("HTTP/1.1 ").filter_map(|(at, _)| answer.get(at + 9..at + 12));
    for status in statuses() {
        assert!(status.starts_with(['1', '2', '4']) || status == "503", "{answer}");
        let ok = status.starts_with('2');
        assert!(
            !ok || has_token || text.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes()),
            "{answer}"
        );
    }
    let after = exchange(
        format!("GET /nowhere HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", address()).as_bytes(),
    );
    assert!(after.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&after));
}

/// Sends `bytes` and reads the reply until the server closes the connection or is silent.
fn exchange(bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_millis(30))).expect("a timeout");
    stream.set_write_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    // The server may refuse early, or wait for more than was sent.
    let _early = stream.write_all(bytes);
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    let mut silences = 0;
    while silences < if bytes.ends_with(b"close\r\n\r\n") { 300 } else { 1 } {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => silences += 1,
            Err(_) => break,
        }
    }
    answer
}
