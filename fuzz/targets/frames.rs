//! Frames from a language server: the same messages are decoded however the bytes are split.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::rpc::{Peer, PeerHandler, PeerResponse, RequestRefusal};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::draw::Draw;
use super::peak_of;
use super::world::tokio;

const MEMORY: usize = 8 << 20;
const MEMORY_PER_BYTE: usize = 64;

/// Records the received messages in order.
struct Ears(Arc<Mutex<Vec<String>>>);

impl Ears {
    fn hear(&self, what: String) {
        self.0.lock().expect("a lock").push(what);
    }
}

impl PeerHandler for Ears {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        self.hear(format!("{method}? {params}"));
        PeerResponse::Ready(Err(RequestRefusal::MethodNotFound))
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        self.hear(format!("{method}! {params}"));
    }
}

/// Decodes `bytes`, sent in pieces of these lengths in turn. Returns the messages and the answers
/// to the first requests.
async fn understood(bytes: &[u8], pieces: &[usize]) -> (Vec<String>, Vec<Option<Value>>) {
    let heard = Arc::default();
    let (output, mut server) = tokio::io::duplex(1 << 16);
    let (input, mut to_server) = tokio::io::duplex(1 << 16);
    let ears = Ears(Arc::clone(&heard));
    let connection = Peer::open("fuzz", output, input, ears, None);
    let asked: Vec<_> =
        (0..3).map(|_| connection.start("custom/ask", &Value::Null).expect("a request")).collect();
    // The server answers only after it has received the requests.
    let mut questions = Vec::new();
    while String::from_utf8_lossy(&questions).matches("custom/ask").count() < asked.len() {
        to_server.read_buf(&mut questions).await.expect("a question");
    }
    let reading = tokio::spawn(async move { tokio::io::copy(&mut to_server, &mut tokio::io::sink()).await });
    let mut rest = bytes;
    for length in pieces.iter().cycle() {
        let (piece, behind) = rest.split_at((*length).min(rest.len()));
        // The reader may have closed the connection.
        if piece.is_empty() || server.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
        rest = behind;
    }
    drop(server);
    tokio::time::timeout(Duration::from_secs(10), connection.wait_closed()).await.expect("an end");
    let mut answers = Vec::new();
    for asked in asked {
        answers.push(asked.answer(Instant::now() + Duration::from_secs(5)).await.ok());
    }
    drop(connection);
    // The copy ends with the connection.
    reading.await.expect("a reader").expect("what we say");
    let heard = std::mem::take(&mut *heard.lock().expect("a lock"));
    (heard, answers)
}

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let pieces: Vec<usize> = (0..3).map(|_| usize::from(draw.byte()) + 1).collect();
    let bytes = draw.swollen(1 << 20);
    // A single piece still takes many reads.
    let (whole, peak) = peak_of(|| tokio().block_on(understood(&bytes, &[usize::MAX])));
    assert!(peak < MEMORY + MEMORY_PER_BYTE * bytes.len(), "{} bytes took {peak} bytes", bytes.len());
    let parts = tokio().block_on(understood(&bytes, &pieces));
    assert_eq!(whole, parts, "in pieces of {pieces:?}");
}
