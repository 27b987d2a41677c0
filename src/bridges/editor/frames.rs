//! The filter of the editor's byte stream (LSP 3.17, *Base Protocol*), which passes on only whole
//! messages.
//!
//! tower-lsp ends a connection at the first message that it cannot parse.

use serde_json::json;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, sink,
};
use tower_lsp::jsonrpc::{Request, Response};

/// The method of the request that replaces an unreadable message. It has no sender and is answered
/// with an error.
pub(super) const UNREADABLE: &str = "$/lsp-tools/unreadable";

/// The size limit of a message, in bytes: the largest file that we open, with every character
/// escaped.
const MAX_EDITOR_MESSAGE_BYTES: u64 = 512 << 20;
/// The length limit of a header line, in bytes.
const MAX_HEADER_LINE_BYTES: u64 = 8 << 10;

/// Passes on messages from `read` until it ends, or until the receiver is closed.
pub(super) async fn filter_frames(read: impl AsyncRead + Unpin, mut write: impl AsyncWrite + Unpin) {
    let mut read = BufReader::new(read);
    while let Some(frame) = next(&mut read).await {
        let body = match frame {
            Ok(body) => body,
            Err(reason) => {
                tracing::warn!("a message of the editor was ignored: {reason}");
                let stand_in =
                    json!({ "jsonrpc": "2.0", "id": null, "method": UNREADABLE, "params": reason });
                stand_in.to_string().into_bytes()
            }
        };
        let head = format!("Content-Length: {}\r\n\r\n", body.len());
        let written = async {
            write.write_all(head.as_bytes()).await?;
            write.write_all(&body).await?;
            write.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

/// Reads the next message, or the reason why it is unreadable. Returns `None` at the end.
async fn next(read: &mut (impl AsyncBufRead + Unpin)) -> Option<Result<Vec<u8>, String>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        (&mut *read).take(MAX_HEADER_LINE_BYTES).read_until(b'\n', &mut line).await.ok()?;
        if line.is_empty() {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse::<u64>());
            }
            // Blank lines between messages are ignored.
            None if line.is_empty() && length.is_none() => {}
            None if line.is_empty() => break,
            _ => {}
        }
    }
    let Some(Ok(length)) = length else { return Some(Err("its `Content-Length` is not a number".into())) };
    if length > MAX_EDITOR_MESSAGE_BYTES {
        let skipped = tokio::io::copy(&mut read.take(length), &mut sink()).await.ok()?;
        return Some(Err(format!("it has {skipped} bytes, more than {MAX_EDITOR_MESSAGE_BYTES}")));
    }
    let mut body = Vec::new();
    // Grows with the received bytes, not with the announced length.
    if (&mut *read).take(length).read_to_end(&mut body).await.ok()? < usize::try_from(length).ok()? {
        return None;
    }
    let is_request = |body: &[u8]| {
        serde_json::from_slice::<Request>(body).is_ok_and(|request| !request.method().is_empty())
    };
    if is_request(&body) || serde_json::from_slice::<Response>(&body).is_ok() {
        return Some(Ok(body));
    }
    let what = serde_json::from_slice::<serde::de::IgnoredAny>(&body).err();
    Some(Err(what.map_or("it is not a JSON-RPC 2.0 message".to_owned(), |error| error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn cleaned(given: &str) -> Vec<String> {
        let mut out = Vec::new();
        filter_frames(given.as_bytes(), &mut out).await;
        let text = String::from_utf8(out).unwrap();
        let frames = text.split("Content-Length: ").skip(1);
        frames.map(|frame| frame.split_once("\r\n\r\n").unwrap().1.to_owned()).collect()
    }

    #[tokio::test]
    async fn malformed_frame_is_replaced_and_following_frames_pass() {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
        let good = format!("Content-Length: {}\r\n\r\n{message}", message.len());
        for garbage in [
            "Content-Length: 2\r\n\r\n[]",
            "content-length: 4\r\n\r\nnull",
            "Content-Length: x\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 9\r\n\r\n{\"broken\"",
            "Content-Length: 2\r\n\r\n\u{e9}",
        ] {
            let frames = cleaned(&format!("{garbage}{good}")).await;
            assert_eq!(frames.len(), 2, "{garbage:?}: {frames:?}");
            assert!(frames[0].contains(UNREADABLE), "{frames:?}");
            assert_eq!(frames[1], message);
        }
        assert_eq!(cleaned(&format!("noise\r\n\r\nmore: noise\r\n{good}{good}")).await, [message, message]);
        assert_eq!(cleaned("Content-Length: 99\r\n\r\n{").await, [""; 0]);
    }
}
