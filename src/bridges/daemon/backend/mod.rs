//! The door `tools`: the daemon carries out the calls of another door of ours, which runs in a
//! process of its own.
//!
//! - [`serve`]: the daemon's side, a [`LocalBackend`](crate::runtime::tool_backend::LocalBackend)
//!   behind a connection
//! - [`client`]: the other door's side, a
//!   [`ToolBackend`](crate::runtime::tool_backend::ToolBackend) over the connection
//!
//! Data flow: both sides speak JSON-RPC in frames ([`Peer`](crate::rpc::Peer)). The door requests
//! lists, decisions and calls. The approver is at the door, so the daemon sends approval requests
//! to it, with the number of the call. A call ends with its response, by [`CANCEL`], or with the
//! connection. The end of the connection ends the sessions that called through it: their approvals
//! are dropped and their background commands end.

pub(crate) mod client;
pub(crate) mod serve;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::policy::approval::Approver;
use crate::runtime::calls::call::{CallOptions, CallRequest};
use crate::tools::api::tool::Caller;

/// Checks that the daemon responds.
const PING: &str = "ping";
/// The definitions of tools: [`ListParams`].
const LIST: &str = "tools/list";
/// The approval that a call needs: [`ApprovalParams`].
const APPROVAL: &str = "tools/approval";
/// The check that a call would be allowed: [`RemoteToolCall`].
const AUTHORIZE: &str = "tools/authorize";
/// A call: [`RemoteToolCall`].
const CALL: &str = "tools/call";
/// A notification that cancels a call: [`CancelParams`].
const CANCEL: &str = "tools/cancel";
/// From the daemon: approval of a call, [`ApproverQuestion`].
const ASK: &str = "approver/ask";
/// From the daemon: a form for a call, [`ApproverQuestion`].
const FILL_FORM: &str = "approver/fill_form";

/// The time limit for answers that depend on a tool or a user. The caller has a deadline of its
/// own.
const LONGEST_ANSWER: Duration = Duration::from_secs(24 * 3_600);

#[derive(Serialize, Deserialize)]
struct ListParams {
    caller: Caller,
    with_agents: bool,
}

#[derive(Serialize, Deserialize)]
struct ApprovalParams {
    caller: Caller,
    name: String,
    arguments: Value,
}

/// A call, with a number unique within the connection.
#[derive(Serialize, Deserialize)]
struct RemoteToolCall {
    number: u64,
    caller: Caller,
    name: String,
    arguments: Value,
    group: Option<String>,
    id: Option<String>,
    limit: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
struct CancelParams {
    number: u64,
}

/// A question to the approver at the door for the call with this number.
#[derive(Serialize, Deserialize)]
struct ApproverQuestion<Q> {
    call: u64,
    question: Q,
}

impl RemoteToolCall {
    fn new(number: u64, request: &CallRequest<'_>) -> Self {
        let CallOptions { caller, group, id, limit, .. } = &request.options;
        Self {
            number,
            caller: (*caller).clone(),
            name: request.name.to_owned(),
            arguments: request.arguments.clone(),
            group: group.map(str::to_owned),
            id: id.map(str::to_owned),
            limit: *limit,
        }
    }

    fn request<'a>(&'a self, approver: &'a dyn Approver, cancelled: CancellationToken) -> CallRequest<'a> {
        let options = CallOptions {
            caller: &self.caller,
            approver,
            group: self.group.as_deref(),
            id: self.id.as_deref(),
            cancelled,
            limit: self.limit,
        };
        CallRequest { name: &self.name, arguments: self.arguments.clone(), options }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::error::{ErrorCode, ToolError};
    use crate::policy::caller::{CallerAccess, Consent};

    #[test]
    fn call_to_daemon_keeps_group_id_and_access_but_not_the_consent_of_who_typed() {
        let access = CallerAccess { excluded: vec!["bash".to_owned()], ..CallerAccess::typed() };
        let caller = Caller { session: "s".to_owned(), agent: Some("reader".to_owned()), access };
        let request =
            CallRequest::new("read", json!({"path": "a"}), &caller).in_group(Some("g")).known_as(Some("7"));
        let sent = serde_json::to_value(RemoteToolCall::new(3, &request)).unwrap();
        let call: RemoteToolCall = serde_json::from_value(sent).unwrap();
        let asked = CallerAccess { consent: Consent::Asked, ..caller.access.clone() };
        assert_eq!(call.caller, Caller { access: asked, ..caller.clone() });
        assert_eq!((call.name.as_str(), &call.arguments, call.number), ("read", &json!({"path": "a"}), 3));
        assert_eq!((call.group.as_deref(), call.id.as_deref(), call.limit), (Some("g"), Some("7"), None));
    }

    #[test]
    fn error_from_daemon_has_its_code_hint_and_details() {
        let error = ToolError::new(ErrorCode::Denied, "no")
            .with_hint("ask")
            .with_details(&json!({"ok": true, "paths": ["a"]}));
        let sent = serde_json::to_string(&error).unwrap();
        let read: ToolError = serde_json::from_str(&sent).unwrap();
        assert_eq!(
            (read.code, read.error.as_str(), read.hint.as_deref()),
            (ErrorCode::Denied, "no", Some("ask"))
        );
        assert_eq!(serde_json::to_string(&read).unwrap(), sent);
    }
}
