use super::*;

#[test]
fn percent_encoded_bytes_are_read() {
    assert_eq!(decoded("a%20b%C3%BC"), Some("a bü".to_owned()));
    for broken in ["%", "%4", "%zz", "%FF", "%+1"] {
        assert_eq!(decoded(broken), None, "{broken}");
    }
}

#[test]
fn waiting_times_are_no_part_of_what_is_found() {
    let mut answer = json!({
        "count": 1,
        "server_status": {"server": "a", "waited_ms": 5},
        "servers": [{"server": "a", "waited_ms": 5}],
    });
    without_times(&mut answer);
    assert_eq!(answer, json!({"count": 1, "server_status": {"server": "a"}, "servers": [{"server": "a"}]}));
}
