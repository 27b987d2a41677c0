//! A language server that stores nothing; its hover reports the size of the last change.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value, json};

/// The argument that turns this program into the server.
pub const ARGUMENT: &str = "__sink";

/// Answers `initialize`, hover and `shutdown` until `exit`. Hover answers with the number of bytes
/// of the last `didChange`.
pub fn serve() -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let mut changed = 0;
    loop {
        let Some(length) = header(&mut input)? else { return Ok(()) };
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        // Only the head is decoded, not the text of a document.
        let head = String::from_utf8_lossy(&body[..length.min(200)]).into_owned();
        if head.contains("textDocument/didChange") {
            changed = length;
        }
        if length > 1 << 20 {
            continue;
        }
        let message: Value = serde_json::from_slice(&body)?;
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "capabilities": {
                "positionEncoding": "utf-8", "textDocumentSync": { "openClose": true, "change": 2 }, "hoverProvider": true
            }}),
            Some("textDocument/hover") => json!({ "contents": changed.to_string() }),
            Some("exit") => return Ok(()),
            _ => Value::Null,
        };
        if let Some(id) = message.get("id") {
            let reply = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
            write!(output, "Content-Length: {}\r\n\r\n{reply}", reply.len())?;
            output.flush()?;
        }
    }
}

/// The length of the next body; `None` at the end.
fn header(input: &mut impl BufRead) -> anyhow::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => return length.map(Some).ok_or_else(|| anyhow::anyhow!("a header without length")),
            line => {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = Some(value.parse()?);
                }
            }
        }
    }
}
