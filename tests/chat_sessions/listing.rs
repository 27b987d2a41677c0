//! The tool `chat_sessions`.

use serde_json::json;

use super::store::{MOMENT, Stores};

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_newest_first() {
    let stores = Stores::new();
    stores.session("old", MOMENT - 90_000_000, &["What was it?"]);
    stores.session("new", MOMENT, &["What is it?", "And why?"]);
    stores.session("empty", MOMENT + 90_000_000, &[]);
    let workspace = stores.open();
    let listed = workspace.ok("chat_sessions", json!({"limit": 2})).await;
    assert_eq!(
        listed["sessions"],
        json!([
            {
                "sessionId": "new", "source": "vscode", "firstRequest": "What is it?", "requestsCount": 2,
                "updated": "2026-01-31T08:06:09.120Z", "current": true,
            },
            {
                "sessionId": "old", "source": "vscode", "firstRequest": "What was it?", "requestsCount": 1,
                "updated": "2026-01-30T07:05:09.120Z",
            },
        ])
    );
    assert_eq!((&listed["count"], &listed["has_more"]), (&json!(3), &json!(true)));
    workspace.shutdown().await;
}
