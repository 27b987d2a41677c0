//! Messages on a pipe: `Content-Length: N`, an empty line, N bytes of JSON. Lines before a header that are none are passed over,
//! up to a limit: programs write where they should not.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The largest message, in bytes.
const MOST_BODY: usize = 64 << 20;
/// The most bytes before a message: header and stray lines.
const MOST_HEAD: u64 = 64 << 10;

/// The next message; `None` at the end.
///
/// # Errors
/// A sentence that says what came instead.
pub(super) async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Value>, String> {
    let mut length = None;
    let mut left = MOST_HEAD;
    loop {
        let mut line = Vec::new();
        let read = (&mut *reader).take(left).read_until(b'\n', &mut line).await;
        let read = read.map_err(|error| error.to_string())?;
        if read == 0 {
            return match left {
                0 => Err(format!("{MOST_HEAD} bytes without a message")),
                _ => Ok(None),
            };
        }
        left = left.saturating_sub(read as u64);
        let text = String::from_utf8_lossy(&line);
        match (text.trim(), length) {
            ("", Some(_)) => break,
            (text, _) => length = length_in(text)?.or(length),
        }
    }
    let mut body = vec![0; length.unwrap_or_default()];
    if reader.read_exact(&mut body).await.is_err() {
        return Ok(None);
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| error.to_string())
}

fn length_in(line: &str) -> Result<Option<usize>, String> {
    let Some((name, value)) = line.split_once(':') else { return Ok(None) };
    if !name.trim().eq_ignore_ascii_case("content-length") {
        return Ok(None);
    }
    match value.trim().parse() {
        Ok(length) if length <= MOST_BODY => Ok(Some(length)),
        Ok(length) => Err(format!("a message of {length} bytes, and at most {MOST_BODY} are taken")),
        Err(_) => Err(format!("a length of `{}` bytes", value.trim().escape_debug())),
    }
}

/// `message` as it goes over the pipe.
pub(super) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tokio::io::BufReader;

    async fn all(bytes: &[u8]) -> Vec<Result<Value, String>> {
        let mut reader = BufReader::new(bytes);
        let mut found = Vec::new();
        loop {
            match read(&mut reader).await {
                Ok(Some(message)) => found.push(Ok(message)),
                Ok(None) => return found,
                Err(error) => {
                    found.push(Err(error));
                    return found;
                }
            }
        }
    }

    #[tokio::test]
    async fn what_is_written_is_read_also_between_stray_lines() {
        let message = json!({"id": 1, "text": "für\n"});
        let mut bytes = b"warning: stray\n\nmore: of it\r\n".to_vec();
        bytes.extend(frame(&message));
        bytes.extend(frame(&json!([])));
        bytes.extend(b"Content-Length: 10\r\n\r\n{\"cut");
        assert_eq!(all(&bytes).await, [Ok(message), Ok(json!([]))]);
    }

    #[tokio::test]
    async fn what_is_no_message_ends_it() {
        let long = "x".repeat(70_000);
        for (bytes, wanted) in [
            ("Content-Length: 99999999999\r\n\r\n", "at most"),
            ("content-length: many\r\n\r\n", "`many`"),
            ("Content-Length: 3\r\n\r\n{]}", "key must be"),
            (long.as_str(), "without a message"),
        ] {
            let found = all(bytes.as_bytes()).await;
            assert!(matches!(&found[..], [Err(error)] if error.contains(wanted)), "{wanted}: {found:?}");
        }
    }
}
