use super::*;

#[test]
fn resource_content_excludes_waiting_times() {
    let mut answer = json!({
        "count": 1,
        "server_status": {"server": "a", "waited_ms": 5},
        "servers": [{"server": "a", "waited_ms": 5}],
    });
    without_times(&mut answer);
    assert_eq!(answer, json!({"count": 1, "server_status": {"server": "a"}, "servers": [{"server": "a"}]}));
}
