use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::*;

/// Records all notifications; answers `custom/known`, and `custom/slow` after `custom/done`.
struct Recorder(Arc<std::sync::Mutex<Vec<String>>>, Arc<tokio::sync::Notify>);

impl PeerHandler for Recorder {
    fn request(&mut self, method: &str, params: Value) -> PeerResponse {
        match method {
            "custom/known" => Ok(json!({ "echo": params })).into(),
            "custom/slow" => {
                let done = self.1.clone();
                PeerResponse::Later(Box::pin(async move {
                    done.notified().await;
                    Ok(json!("slow"))
                }))
            }
            _ => Err(RequestRefusal::MethodNotFound).into(),
        }
    }
    fn notification(&mut self, method: &str, params: &RawValue) {
        if method == "custom/done" {
            self.1.notify_one();
        }
        if let Ok(mut heard) = self.0.lock() {
            heard.push(format!("{method} {params}"));
        }
    }
}

/// A conversation and the other side's two pipe ends, played by the test.
fn pair() -> (Peer, BufReader<DuplexStream>, DuplexStream, Arc<std::sync::Mutex<Vec<String>>>) {
    pair_with_pipe_of(1 << 20)
}

/// Like `pair`, with an input pipe that holds `bytes` bytes until they are read.
fn pair_with_pipe_of(
    bytes: usize,
) -> (Peer, BufReader<DuplexStream>, DuplexStream, Arc<std::sync::Mutex<Vec<String>>>) {
    let (output, server_out) = tokio::io::duplex(1 << 20);
    let (input, server_in) = tokio::io::duplex(bytes);
    let heard = Arc::default();
    let recorder = Recorder(Arc::clone(&heard), Arc::default());
    let connection = Peer::open("test", output, input, recorder, None);
    (connection, BufReader::new(server_in), server_out, heard)
}

async fn receive(from: &mut BufReader<DuplexStream>) -> Value {
    let mut header = String::new();
    from.read_line(&mut header).await.unwrap();
    let length: usize = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
    from.read_line(&mut String::new()).await.unwrap();
    let mut body = vec![0; length];
    from.read_exact(&mut body).await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[tokio::test]
async fn response_is_delivered_despite_malformed_frames_and_stray_output() {
    let (connection, mut from, mut to, heard) = pair();
    let answer = connection.start("textDocument/hover", &json!({ "x": 1 })).unwrap();
    let sent = receive(&mut from).await;
    assert_eq!(
        sent,
        json!({ "jsonrpc": "2.0", "id": 0, "method": "textDocument/hover", "params": { "x": 1 } })
    );
    let rubbish = [
        "npm WARN something\nstarted on port 1\n".to_owned(),
        frame("{not json"),
        frame(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#),
        frame(r#"{"jsonrpc":"2.0","id":77,"result":"to nobody"}"#),
        "Content-Length: -5\r\n\r\n".to_owned(),
        // Too long a length swallows the next frame; it is found again inside.
        format!(
            "Content-Length: 60\r\n\r\n{{}}{}",
            frame(r#"{"jsonrpc":"2.0","method":"a/b","params":[1]}"#)
        ),
        "content-length:44\n\n{\"jsonrpc\":\"2.0\",\"method\":\"c/d\",\"params\":{}}".to_owned(),
        "Content-Type: x\r\nContent-Length: 32\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"e/f\"}".to_owned(),
    ];
    to.write_all(rubbish.concat().as_bytes()).await.unwrap();
    to.write_all(frame(r#"{"jsonrpc":"2.0","id":0,"result":{"contents":"hi"}}"#).as_bytes()).await.unwrap();
    let got: Value = answer.answer(soon()).await.unwrap();
    assert_eq!(got, json!({ "contents": "hi" }));
    assert_eq!(*heard.lock().unwrap(), ["a/b [1]", "c/d {}", "e/f null"]);
}

#[tokio::test]
async fn server_request_is_answered_with_its_own_id() {
    let (_connection, mut from, mut to, _) = pair();
    for id in ["9007199254740993", "\"ts7\"", "-1"] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"custom/known","params":[{id}]}}"#);
        to.write_all(frame(&request).as_bytes()).await.unwrap();
        let expected: Value = serde_json::from_str(id).unwrap();
        let answer = receive(&mut from).await;
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": expected, "result": { "echo": [expected] } }));
    }
    to.write_all(frame(r#"{"jsonrpc":"2.0","id":4,"method":"custom/unknown"}"#).as_bytes()).await.unwrap();
    let refusal = receive(&mut from).await;
    assert_eq!((refusal["id"].as_i64(), refusal["error"]["code"].as_i64()), (Some(4), Some(-32601)));
}

#[tokio::test]
async fn dropped_request_sends_cancel_request_and_ignores_late_response() {
    let (connection, mut from, mut to, _) = pair();
    drop(connection.start("slow/one", &json!({})).unwrap());
    assert_eq!(receive(&mut from).await["method"], "slow/one");
    let cancel = receive(&mut from).await;
    assert_eq!(cancel, json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 0 } }));
    let second = connection.start("quick/one", &json!({})).unwrap();
    assert_eq!(receive(&mut from).await["id"], 1);
    let late = frame(r#"{"jsonrpc":"2.0","id":0,"result":"late"}"#);
    let right = frame(r#"{"jsonrpc":"2.0","id":1,"result":"right"}"#);
    to.write_all(format!("{late}{right}").as_bytes()).await.unwrap();
    assert_eq!(second.answer::<String>(soon()).await.unwrap(), "right");
}

#[tokio::test]
async fn request_times_out_on_silent_server_and_fails_when_closed() {
    let (connection, mut from, to, _) = pair();
    let deadline = Instant::now() + Duration::from_millis(50);
    let error = connection.request::<Value>("never/answered", &json!({}), deadline).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout { .. }), "{error}");
    receive(&mut from).await;
    assert_eq!(receive(&mut from).await["method"], "$/cancelRequest");
    drop(to);
    let error = connection.request::<Value>("after/the/end", &json!({}), soon()).await.unwrap_err();
    assert!(matches!(error, RequestError::Closed { .. }), "{error}");
}

#[tokio::test]
async fn content_length_over_limit_closes_connection_naming_the_size() {
    let (connection, _from, mut to, _) = pair();
    to.write_all(b"Content-Length: 99999999999\r\n\r\n").await.unwrap();
    let error = connection.request::<Value>("any", &json!({}), soon()).await.unwrap_err();
    assert!(error.to_string().contains("99999999999 bytes"), "{error}");
}

#[tokio::test]
async fn error_response_keeps_code_and_data() {
    let (connection, mut from, mut to, _) = pair();
    let pending = connection.start("x", &json!({})).unwrap();
    receive(&mut from).await;
    let body = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32802,"message":"later","data":{"retriggerRequest":true}}}"#;
    to.write_all(frame(body).as_bytes()).await.unwrap();
    let error = pending.answer::<Value>(soon()).await.unwrap_err();
    assert!(error.is_transient());
    assert!(matches!(error, RequestError::Refused { data, .. } if data["retriggerRequest"] == true));
}

#[tokio::test]
async fn slow_server_request_does_not_block_other_requests() {
    let (_connection, mut from, mut to, _heard) = pair();
    for (id, method) in [(1, "custom/slow"), (2, "custom/known"), (3, "custom/unknown")] {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string();
        to.write_all(frame(&body).as_bytes()).await.unwrap();
    }
    let (known, unknown) = (receive(&mut from).await, receive(&mut from).await);
    assert_eq!((&known["id"], &known["result"]), (&json!(2), &json!({ "echo": {} })));
    assert_eq!((&unknown["id"], &unknown["error"]["code"]), (&json!(3), &json!(-32601)));
    let done = json!({ "jsonrpc": "2.0", "method": "custom/done", "params": {} }).to_string();
    to.write_all(frame(&done).as_bytes()).await.unwrap();
    let slow = receive(&mut from).await;
    assert_eq!((&slow["id"], &slow["result"]), (&json!(1), &json!("slow")));
}

#[tokio::test]
async fn notifications_sent_before_a_response_arrive_before_it() {
    for _ in 0..200 {
        let (connection, mut from, mut to, _heard) = pair();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "custom/slow", "params": {} }).to_string();
        to.write_all(frame(&body).as_bytes()).await.unwrap();
        for number in 0..3 {
            connection.notify("custom/told", &json!({ "number": number }));
        }
        let done = json!({ "jsonrpc": "2.0", "method": "custom/done", "params": {} }).to_string();
        to.write_all(frame(&done).as_bytes()).await.unwrap();
        for number in 0..3 {
            assert_eq!(receive(&mut from).await["params"]["number"], number);
        }
        assert_eq!(receive(&mut from).await["result"], "slow");
    }
}

#[tokio::test]
async fn messages_over_full_pipe_arrive_whole_and_in_order() {
    let (connection, mut from, _to, _heard) = pair_with_pipe_of(100);
    let long = "x".repeat(10_000);
    for number in 0..50 {
        connection.notify("custom/told", &json!({ "number": number, "long": long }));
    }
    let asked = connection.start("custom/asked", &json!(null)).unwrap();
    for number in 0..50 {
        let message = receive(&mut from).await;
        assert_eq!(
            (&message["params"]["number"], message["params"]["long"].as_str()),
            (&json!(number), Some(&*long))
        );
    }
    assert_eq!(receive(&mut from).await, json!({ "jsonrpc": "2.0", "id": 0, "method": "custom/asked" }));
    drop(asked);
    assert_eq!(receive(&mut from).await["method"], "$/cancelRequest");
}

#[tokio::test]
async fn peer_that_sends_requests_and_reads_no_response_is_closed() {
    let (connection, _from, mut to, _heard) = pair_with_pipe_of(100);
    for id in 0..2_000 {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "custom/known", "params": {} }).to_string();
        if to.write_all(frame(&body).as_bytes()).await.is_err() {
            break;
        }
    }
    let reason = tokio::time::timeout(Duration::from_secs(60), connection.wait_closed()).await.unwrap();
    assert_eq!(reason, "it was ended because it sent 1000 requests and read no answer");
}

#[tokio::test]
async fn request_after_close_fails_with_the_close_reason() {
    let (connection, _from, to, _heard) = pair();
    let waiting = connection.start("custom/asked", &json!({})).unwrap();
    connection.close("it was stopped");
    drop(to);
    for pending in [waiting, connection.start("custom/asked", &json!({})).unwrap()] {
        let error = pending.answer::<Value>(soon()).await.unwrap_err();
        assert!(matches!(&error, RequestError::Closed { reason } if reason == "it was stopped"), "{error}");
    }
}
