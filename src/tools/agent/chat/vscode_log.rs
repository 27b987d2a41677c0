//! The log form of VS Code's sessions: one JSON object per line, each a change of the object that
//! the older form stores whole.
//!
//! | line | meaning |
//! |---|---|
//! | `{"kind": 0, "v": {…}}` | the whole object, always the first line |
//! | `{"kind": 1, "k": ["requests", 0, "timestamp"], "v": 5}` | the new value at that path |
//! | `{"kind": 2, "k": ["requests"], "v": […], "i": 1}` | keep `i` items (or all), then add |
//! | `{"kind": 3, "k": ["customTitle"]}` | the value at that path is removed |
//!
//! Changes to fields that are not read, above all the answers, are skipped without parsing.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::vscode_data::{SessionFileError, VscodeRequest, VscodeSessionData, message, milliseconds};

#[derive(Deserialize)]
struct VscodeLogLine<'a> {
    kind: u64,
    #[serde(default)]
    k: Vec<LogPathSegment>,
    #[serde(borrow, default)]
    v: Option<&'a RawValue>,
    #[serde(default)]
    i: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum LogPathSegment {
    At(usize),
    Name(String),
}

/// Replays the log and returns the resulting session. An incomplete last line is ignored.
pub(super) fn replay_log(text: &str) -> Result<VscodeSessionData, SessionFileError> {
    let mut data = None;
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let broken = |reason: String| SessionFileError::Broken(format!("line {}: {reason}", at + 1));
        let parsed: VscodeLogLine<'_> = match serde_json::from_str(line) {
            Ok(parsed) => parsed,
            Err(_) if lines.peek().is_none() && !line.ends_with('\n') && data.is_some() => break,
            Err(error) if data.is_none() => {
                return Err(SessionFileError::Foreign(format!("line {}: {error}", at + 1)));
            }
            Err(error) => return Err(broken(error.to_string())),
        };
        match (parsed.kind, &mut data) {
            (0, data) => {
                let whole = parsed.v.map_or("null", |value| value.get());
                *data = Some(VscodeSessionData::read(whole)?);
            }
            (1..=3, None) => return Err(broken("a change without a session to change".to_owned())),
            (kind @ 1..=3, Some(data)) => {
                apply_change(data, kind, &parsed).map_err(|reason| broken(reason.to_owned()))?;
            }
            (kind, _) => return Err(broken(format!("{kind} is not a kind of change"))),
        }
    }
    data.ok_or_else(|| SessionFileError::Foreign("it is empty".to_owned()))
}

fn apply_change(
    data: &mut VscodeSessionData,
    kind: u64,
    line: &VscodeLogLine<'_>,
) -> Result<(), &'static str> {
    let Some((LogPathSegment::Name(first), rest)) = line.k.split_first() else { return Ok(()) };
    match (first.as_str(), rest, kind) {
        ("requests", [], 2) => {
            if let Some(kept) = line.i {
                data.requests.truncate(kept);
            }
            data.requests.extend(parse_requests(line.v)?);
        }
        ("requests", [], _) => data.requests = parse_requests(line.v)?,
        ("requests", [LogPathSegment::At(at), rest @ ..], _) => {
            if rest.is_empty() && *at == data.requests.len() {
                data.requests.push(VscodeRequest::default());
            }
            let item = data.requests.get_mut(*at).ok_or("a change of a missing request")?;
            change_request(item, rest, line.v);
        }
        ("customTitle", [], _) => data.title = decode_value(line.v),
        ("sessionId", [], _) => data.id = decode_value(line.v),
        ("creationDate", [], _) => data.created = decode_value(line.v).map(milliseconds),
        ("lastMessageDate", [], _) => data.last = decode_value(line.v).map(milliseconds),
        _ => {}
    }
    Ok(())
}

fn change_request(item: &mut VscodeRequest, place: &[LogPathSegment], value: Option<&RawValue>) {
    let names: Option<Vec<&str>> = place
        .iter()
        .map(|key| match key {
            LogPathSegment::Name(name) => Some(name.as_str()),
            LogPathSegment::At(_) => None,
        })
        .collect();
    match names.as_deref() {
        Some([]) => *item = value.map(VscodeRequest::read).unwrap_or_default(),
        Some(["message"] | ["message", "text"]) => item.text = value.map(message).unwrap_or_default(),
        Some(["timestamp"]) => item.at = decode_value(value).map(milliseconds),
        Some(["isHidden"]) => item.is_hidden = decode_value(value).unwrap_or(false),
        Some(["shouldBeRemovedOnSend"]) => item.is_removed = value.is_some(),
        _ => {}
    }
}

fn parse_requests(value: Option<&RawValue>) -> Result<Vec<VscodeRequest>, &'static str> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let raw: Vec<&RawValue> = serde_json::from_str(value.get()).map_err(|_| "the requests are not a list")?;
    Ok(raw.into_iter().map(VscodeRequest::read).collect())
}

fn decode_value<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"kind":0,"v":{"version":3,"sessionId":"s","creationDate":1,"requests":[]}}"#;

    fn replay(lines: &[&str]) -> Result<VscodeSessionData, SessionFileError> {
        replay_log(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    fn texts(data: &VscodeSessionData) -> Vec<&str> {
        data.requests.iter().map(|item| item.text.as_str()).collect()
    }

    #[test]
    fn vscode_session_log_replays_changes_in_order() {
        let data = replay(&[
            FIRST,
            r#"{"kind":2,"k":["requests"],"v":[{"message":{"text":"one"},"timestamp":5},{"message":"two"}]}"#,
            r#"{"kind":1,"k":["customTitle"],"v":"Title"}"#,
            r#"{"kind":1,"k":["requests",1,"timestamp"],"v":6}"#,
            r#"{"kind":2,"k":["requests",1,"response"],"v":[{"value":"long answer"}]}"#,
            r#"{"kind":1,"k":["requests",0,"message","text"],"v":"one, again"}"#,
            r#"{"kind":2,"k":["requests"],"v":[{"message":{"text":"three"}}],"i":1}"#,
            r#"{"kind":1,"k":["requests",1,"shouldBeRemovedOnSend"],"v":{"afterUndoStop":"x"}}"#,
            r#"{"kind":3,"k":["requests",1,"shouldBeRemovedOnSend"]}"#,
            r#"{"kind":3,"k":["customTitle"]}"#,
            r#"{"kind":1,"k":["inputState","inputText"],"v":"draft"}"#,
        ])
        .unwrap();
        assert_eq!(texts(&data), ["one, again", "three"]);
        assert_eq!(
            (data.title.clone(), data.requests[0].at, data.requests[1].is_removed),
            (None, Some(5), false)
        );
        let emptied = replay(&[
            FIRST,
            r#"{"kind":2,"k":["requests"],"v":[{"message":"a"}]}"#,
            r#"{"kind":2,"k":["requests"],"i":0}"#,
        ]);
        assert!(emptied.unwrap().requests.is_empty());
    }

    #[test]
    fn vscode_session_log_restarts_at_a_new_initial_record() {
        let data = replay(&[FIRST, r#"{"kind":2,"k":["requests"],"v":[{"message":"a"}]}"#, FIRST]).unwrap();
        assert!(data.requests.is_empty());
    }

    #[test]
    fn vscode_session_log_with_truncated_last_line_is_replayed() {
        let whole = format!(
            "{FIRST}\n{}\n{{\"kind\":1,\"k\":[\"requ",
            r#"{"kind":2,"k":["requests"],"v":[{"message":"a"}]}"#
        );
        assert_eq!(texts(&replay_log(&whole).unwrap()), ["a"]);
    }

    #[test]
    fn broken_vscode_session_log_is_refused_with_line() {
        let orphan = replay(&[r#"{"kind":1,"k":["hasPendingEdits"],"v":true}"#]);
        assert_eq!(
            orphan,
            Err(SessionFileError::Broken("line 1: a change without a session to change".into()))
        );
        let half = replay(&[FIRST, "{\"kind\":1,", FIRST]);
        assert!(matches!(half, Err(SessionFileError::Broken(why)) if why.starts_with("line 2: ")));
        assert!(matches!(
            replay(&[FIRST, r#"{"kind":1,"k":["requests",3,"timestamp"],"v":1}"#]),
            Err(SessionFileError::Broken(_))
        ));
        assert!(matches!(replay(&[FIRST, r#"{"kind":9,"k":[]}"#]), Err(SessionFileError::Broken(_))));
        for foreign in ["", "\n\n", "hello\n", "{\"type\":\"user.message\"}\n"] {
            assert!(matches!(replay_log(foreign), Err(SessionFileError::Foreign(_))), "{foreign}");
        }
    }
}
