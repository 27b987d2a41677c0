//! The status of the Copilot server: busy, failed, signed in or not.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

/// The status last reported by the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CopilotServerStatus {
    /// True while the server is working.
    pub(crate) busy: bool,
    /// `Normal`, `Warning`, `Error` or `Inactive`; empty before the first report.
    pub(crate) kind: String,
    /// The server's message, if any.
    pub(crate) message: Option<String>,
    /// The sign-in state, once reported: `OK`, `NotSignedIn`, `NotAuthorized`, …
    pub(crate) auth: Option<String>,
    /// The user's name, if reported.
    pub(crate) user: Option<String>,
}

impl CopilotServerStatus {
    /// Returns true if chats work.
    pub(crate) fn signed_in(&self) -> bool {
        matches!(self.auth.as_deref(), Some("OK" | "MaybeOK" | "AlreadySignedIn"))
    }
}

/// Watches the status.
#[derive(Debug)]
pub(crate) struct CopilotStatusWatch(watch::Sender<CopilotServerStatus>);

impl Default for CopilotStatusWatch {
    fn default() -> Self {
        Self(watch::Sender::new(CopilotServerStatus::default()))
    }
}

#[derive(Deserialize)]
struct StatusChangeV1 {
    #[serde(default)]
    busy: bool,
    kind: String,
    message: Option<String>,
}

#[derive(Deserialize)]
struct StatusChangeV2 {
    category: String,
    #[serde(default)]
    kind: Option<String>,
    message: Option<String>,
    result: Option<SignInStatus>,
}

/// The response of `checkStatus`, `signIn` and `signInConfirm`, and the user's part of
/// `didChangeStatus/v2`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SignInStatus {
    /// `OK`, `NotSignedIn`, …
    pub(crate) status: String,
    /// The user's name.
    pub(crate) user: Option<String>,
}

impl CopilotStatusWatch {
    /// The current status.
    pub(crate) fn current(&self) -> CopilotServerStatus {
        self.0.borrow().clone()
    }

    /// Handles a notification, and returns true if it is a status notification. Invalid ones change
    /// nothing.
    pub(crate) fn on_notification(&self, method: &str, params: &Value) -> bool {
        match method {
            "didChangeStatus" => {
                if let Ok(change) = StatusChangeV1::deserialize(params) {
                    self.0.send_modify(|status| {
                        status.busy = change.busy;
                        status.kind = change.kind;
                        status.message = change.message.filter(|message| !message.is_empty());
                    });
                }
            }
            "didChangeStatus/v2" => {
                let items = params.get("statuses").and_then(Value::as_array);
                for change in
                    items.into_iter().flatten().filter_map(|item| StatusChangeV2::deserialize(item).ok())
                {
                    self.on_status_v2(change);
                }
            }
            _ => return false,
        }
        true
    }

    fn on_status_v2(&self, change: StatusChangeV2) {
        if change.category != "auth" {
            return;
        }
        if let Some(checked) = change.result {
            self.set_sign_in(checked);
        } else if change.kind.as_deref() == Some("Error") {
            tracing::info!(message = change.message, "the server says of the user");
        }
    }

    /// Stores the sign-in state from a response.
    pub(crate) fn set_sign_in(&self, checked: SignInStatus) {
        self.0.send_modify(|status| {
            status.auth = Some(checked.status);
            status.user = checked.user;
        });
    }

    /// Clears the status for a new server.
    pub(crate) fn reset(&self) {
        self.0.send_replace(CopilotServerStatus::default());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copilot_status_follows_both_notifications_and_ignores_malformed() {
        let statuses = CopilotStatusWatch::default();
        assert!(
            statuses.on_notification(
                "didChangeStatus",
                &json!({"busy": false, "kind": "Error", "message": "no"})
            )
        );
        let auth = |result: Value| json!({"statuses": [{"category": "cls", "kind": "Normal"}, {"category": "auth", "kind": "Error", "result": result}]});
        assert!(statuses.on_notification("didChangeStatus/v2", &auth(json!({"status": "NotSignedIn"}))));
        let status = statuses.current();
        assert_eq!((status.kind.as_str(), status.message.as_deref()), ("Error", Some("no")));
        assert!(status.auth.as_deref() == Some("NotSignedIn") && !status.signed_in());
        for odd in
            [json!(null), json!([1]), json!({"statuses": 5}), json!({"statuses": [7, {"category": 1}]})]
        {
            statuses.on_notification("didChangeStatus", &odd);
            statuses.on_notification("didChangeStatus/v2", &odd);
        }
        assert_eq!(statuses.current(), status);
        statuses.on_notification("didChangeStatus/v2", &auth(json!({"status": "OK", "user": "u"})));
        assert!(statuses.current().signed_in());
        assert!(!statuses.on_notification("copilot/other", &json!({})));
    }
}
