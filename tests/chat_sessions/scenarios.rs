//! One test per scenario, by its name.

use serde_json::json;

use super::store::{GET, GET_FIRST, MOMENT, Stores, refusal, tell};

#[tokio::test(flavor = "multi_thread")]
async fn get_request_by_index_from_current_dialog() {
    let stores = Stores::new();
    let long = format!("Second:\n{}", "all of it ".repeat(500));
    stores.session("older", MOMENT - 90_000_000, &["x", "y", "z"]);
    stores.session("abc-123", MOMENT, &["First", &long, "Third"]);
    let runtime = stores.open();
    let (text, _) = tell(&runtime, GET, json!({"index": 2})).await;
    assert_eq!(
        text,
        json!({
            "success": true,
            "sessionId": "abc-123",
            "request": long,
            "index": 2,
            "timestamp": "2026-01-31T08:06:09.120Z",
            "totalRequests": 3,
        })
    );
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_request_by_index_from_specific_session() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT - 90_000_000, &["one", "two", "three"]);
    stores.session("newer", MOMENT, &["x", "y", "z"]);
    let runtime = stores.open();
    let (text, _) = tell(&runtime, GET, json!({"index": 3, "sessionId": "abc-123"})).await;
    assert_eq!(
        (&text["success"], &text["sessionId"], &text["request"]),
        (&json!(true), &json!("abc-123"), &json!("three"))
    );
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn index_less_than_1() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["one"]);
    let runtime = stores.open();
    for index in [0, -1] {
        let text = refusal(&runtime, GET, json!({"index": index})).await;
        assert_eq!(text, json!({"success": false, "error": "Index must be 1 or greater"}));
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn index_exceeds_total_requests() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["1", "2", "3", "4", "5"]);
    let runtime = stores.open();
    let text = refusal(&runtime, GET, json!({"index": 10})).await;
    assert_eq!(text, json!({"success": false, "error": "Index 10 exceeds total requests (5)"}));
    assert!(tell(&runtime, GET, json!({"index": 5})).await.1.ok());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_data_not_available() {
    let stores = Stores::new();
    stores.cli_about("no-events", "Lost");
    stores.vscode("0123abcd", "broken.json", r#"{"sessionId": "broken", "requests": [{"message": "#);
    let runtime = stores.open();
    for session in ["no-events", "broken"] {
        let text = refusal(&runtime, GET, json!({"index": 1, "sessionId": session})).await;
        assert_eq!(text, json!({"success": false, "error": "Chat data not available for session"}));
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_required_index_parameter() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["one"]);
    let runtime = stores.open();
    for arguments in [json!({}), json!({"sessionId": "abc-123"}), json!({"index": null})] {
        let text = refusal(&runtime, GET, arguments).await;
        assert_eq!(text, json!({"success": false, "error": "Index parameter is required"}));
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_first_request_from_current_dialog() {
    let stores = Stores::new();
    let first = format!("Please {}", "look at this file and ".repeat(10));
    stores.session("abc-123", MOMENT, &[&first, "Second"]);
    let runtime = stores.open();
    let (text, _) = tell(&runtime, GET_FIRST, json!({})).await;
    let preview = text["firstRequest"].as_str().expect("a preview").to_owned();
    assert_eq!(
        text,
        json!({
            "success": true,
            "sessionId": "abc-123",
            "firstRequest": preview,
            "timestamp": "2026-01-31T08:05:09.120Z",
            "requestsCount": 2,
        })
    );
    assert_eq!(preview.chars().count(), 80);
    assert!(first.starts_with(preview.trim_end_matches('…')), "{preview}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn get_first_request_from_specific_session() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT - 90_000_000, &["What is a rope?"]);
    stores.session("newer", MOMENT, &["x"]);
    let runtime = stores.open();
    let (text, _) = tell(&runtime, GET_FIRST, json!({"sessionId": "abc-123"})).await;
    assert_eq!((&text["sessionId"], &text["firstRequest"]), (&json!("abc-123"), &json!("What is a rope?")));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_active_dialog() {
    let stores = Stores::new();
    let runtime = stores.open();
    let none = json!({"success": false, "error": "No active dialog found"});
    assert_eq!(refusal(&runtime, GET_FIRST, json!({})).await, none);
    assert_eq!(refusal(&runtime, GET, json!({"index": 1})).await, none);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_not_found() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["x"]);
    let runtime = stores.open();
    let unknown = json!({"success": false, "error": "Session not found: non-existent"});
    assert_eq!(refusal(&runtime, GET_FIRST, json!({"sessionId": "non-existent"})).await, unknown);
    assert_eq!(refusal(&runtime, GET, json!({"index": 1, "sessionId": "non-existent"})).await, unknown);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_request_unavailable() {
    let stores = Stores::new();
    stores.session("empty", MOMENT, &[]);
    stores.session("wordless", MOMENT, &["  \n", "more"]);
    stores.cli_about("no-events", "Lost");
    let runtime = stores.open();
    for session in ["empty", "wordless", "no-events"] {
        let text = refusal(&runtime, GET_FIRST, json!({"sessionId": session})).await;
        assert_eq!(text, json!({"success": false, "error": "First request not available"}), "{session}");
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_validation() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["x"]);
    let runtime = stores.open();
    for arguments in [
        json!({"index": "2"}),
        json!({"index": 1.5}),
        json!({"index": 1, "sessionId": 7}),
        json!({"index": 1, "session": "abc-123"}),
    ] {
        let (text, result) = tell(&runtime, GET, arguments.clone()).await;
        assert_eq!((result.ok(), &text["success"]), (false, &json!(false)), "{arguments}: {text}");
        assert_eq!(result.value["code"], "invalid_args", "{arguments}");
    }
    assert!(tell(&runtime, GET, json!({"index": 1.0})).await.1.ok(), "JSON has one kind of number");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn successful_response_format() {
    let stores = Stores::new();
    stores.session("abc-123", MOMENT, &["x"]);
    let runtime = stores.open();
    let (text, result) = tell(&runtime, GET, json!({"index": 1})).await;
    assert_eq!(text["success"], true);
    assert!(result.text.is_some(), "the model reads the JSON string itself");
    assert_eq!((&result.value["ok"], &result.value["success"]), (&json!(true), &json!(true)));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn error_response_format() {
    let stores = Stores::new();
    let runtime = stores.open();
    let (text, result) = tell(&runtime, GET, json!({"index": 1})).await;
    assert_eq!(text, json!({"success": false, "error": "No active dialog found"}));
    assert_eq!(result.value["code"], "not_found");
    runtime.shutdown().await;
}
