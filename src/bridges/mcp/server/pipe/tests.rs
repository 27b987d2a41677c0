use std::time::Duration;

use proptest::prelude::*;
use rmcp::model::{ErrorData, JsonRpcMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::lines::{MAX_PIPE_LINE_BYTES, PipeInputLine, PipeLineReader};
use super::*;

async fn lines(bytes: Vec<u8>) -> Vec<PipeInputLine> {
    let mut lines = PipeLineReader::new(std::io::Cursor::new(bytes));
    let mut found = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        found.push(line);
    }
    found
}

#[tokio::test]
async fn blank_and_unterminated_stdio_lines_are_not_messages() {
    let found = lines(b"\n \r\nfirst\n\nsecond\r\nthird".to_vec()).await;
    assert_eq!(found, [PipeInputLine::Whole(b"first".to_vec()), PipeInputLine::Whole(b"second\r".to_vec())]);
}

#[tokio::test]
async fn oversized_stdio_line_keeps_both_ends_and_next_is_whole() {
    let mut bytes = b"head".to_vec();
    bytes.resize(MAX_PIPE_LINE_BYTES + 70_000, b'x');
    bytes.extend_from_slice(b"tail\nnext\n");
    let found = lines(bytes).await;
    let [PipeInputLine::TooLong { head, tail }, PipeInputLine::Whole(next)] = found.as_slice() else {
        panic!("{}", found.len())
    };
    assert!(head.starts_with(b"head") && tail.ends_with(b"tail") && head.len() + tail.len() < 10_000);
    assert_eq!(next, b"next");
}

#[test]
fn request_id_of_oversized_message_is_found_at_either_end() {
    let id = |head: &str, tail: &str| unreadable::too_long(head.as_bytes(), tail.as_bytes()).id;
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":5,"params":{"a":"xxx"#, "xxx"), Some(RequestId::Number(5)));
    assert_eq!(id(r#"{"params":{"a":"xxx"#, r#"xxx"},"id":"k"}"#), Some(RequestId::String("k".into())));
    assert_eq!(
        id(r#"{"params":{"id":7,"a":"xxx"#, r#"xxx"}}"#),
        None,
        "an id within the parameters is another"
    );
}

#[tokio::test]
async fn pipe_stops_reading_from_client_that_reads_nothing() {
    let (ours, theirs) = duplex(1024);
    let (read, write) = tokio::io::split(ours);
    let mut pipe = Pipe::new(read, write, CancellationToken::new(), CancellationToken::new());
    let (_unread, mut sends) = tokio::io::split(theirs);
    tokio::spawn(async move { while sends.write_all(b"this is no JSON\n").await.is_ok() {} });
    // The answers fill the unread pipe; from then on no input is read.
    let taken = tokio::time::timeout(Duration::from_millis(300), pipe.receive()).await;
    assert!(taken.is_err(), "it waits");
    assert!(!pipe.replies.is_empty() && pipe.queued.is_empty());
}

#[tokio::test]
async fn closing_pipe_cancels_pending_write() {
    let (ours, mut theirs) = duplex(16);
    let (read, write) = tokio::io::split(ours);
    let closed = CancellationToken::new();
    let mut pipe = Pipe::new(read, write, CancellationToken::new(), closed.clone());
    let send = tokio::spawn(
        pipe.send(JsonRpcMessage::error(ErrorData::internal_error("x".repeat(100), None), None)),
    );
    let mut some = [0; 4];
    theirs.read_exact(&mut some).await.unwrap();
    closed.cancel();
    assert!(send.await.unwrap().is_err());
    pipe.close().await.unwrap();
}

proptest! {
    /// Any bytes in a line are a message, are answered, or need no answer; nothing panics.
    #[test]
    fn parse_of_random_json_rpc_line_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _meaning = unreadable::message(&bytes);
        let _refused = unreadable::too_long(&bytes, &bytes);
    }

    /// A request truncated anywhere is refused, with its id if that is complete.
    #[test]
    fn truncated_json_rpc_request_is_refused_with_its_id(cut in 0_usize..60) {
        let whole = br#"{"jsonrpc":"2.0","id":12345,"method":"tools/list","params":{}}"#;
        let cut = cut.min(whole.len() - 1);
        let refused = unreadable::message(&whole[..cut]).unwrap_err();
        prop_assert_eq!(refused.error.code.0, -32700);
        prop_assert_eq!(refused.id, (cut >= 28).then_some(RequestId::Number(12345)));
    }
}
