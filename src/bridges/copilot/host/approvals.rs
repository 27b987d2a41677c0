//! Approvals recorded before a call of the host, so that the call does not ask again.
//!
//! Only an identical request has the same answer: a further approval that a hook demands is another
//! request.

use std::collections::HashMap;

use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::policy::approval::{Approval, ApprovalRequest, Approver};

/// Approved requests of expected calls, by the call's id.
#[derive(Debug, Default)]
pub(super) struct HostApprovals(Mutex<HashMap<String, Vec<ApprovalRequest>>>);

impl HostApprovals {
    fn add(&self, call: &str, request: ApprovalRequest) {
        self.0.lock().entry(call.to_owned()).or_default().push(request);
    }

    fn take(&self, call: &str) -> Vec<ApprovalRequest> {
        self.0.lock().remove(call).unwrap_or_default()
    }
}

/// Asks the approver, and records each approval for the call.
pub(super) struct RecordingApprover<'a> {
    pub(crate) approver: &'a dyn Approver,
    pub(crate) agreed: &'a HostApprovals,
    pub(crate) call: &'a str,
}

impl Approver for RecordingApprover<'_> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async {
            let approval = self.approver.ask(request).await;
            if matches!(approval, Approval::Once | Approval::ForSession) && !self.call.is_empty() {
                self.agreed.add(self.call, request.clone());
            }
            approval
        })
    }
}

/// Asks the approver only for requests that were not approved before.
pub(super) struct ReplayingApprover<'a> {
    approver: &'a dyn Approver,
    approved: Vec<ApprovalRequest>,
}

impl<'a> ReplayingApprover<'a> {
    /// Creates the approver for one call. Each recorded approval is used once.
    pub(super) fn for_call(approver: &'a dyn Approver, agreed: &HostApprovals, call: &str) -> Self {
        Self { approver, approved: agreed.take(call) }
    }
}

impl Approver for ReplayingApprover<'_> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        match self.approved.contains(request) {
            true => Box::pin(std::future::ready(Approval::Once)),
            false => self.approver.ask(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::approval::{LeaveGiven, NobodyToAsk};
    use crate::policy::request::Effect;
    use serde_json::json;

    fn question(why: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: "bash".into(),
            title: "Shell".into(),
            effect: Effect::Execute,
            why: why.into(),
            paths: Vec::new(),
            commands: vec!["ls".into()],
            urls: Vec::new(),
            arguments: json!({}),
        }
    }

    #[tokio::test]
    async fn host_approval_is_replayed_once_for_same_call_and_question() {
        let agreed = HostApprovals::default();
        let noting = RecordingApprover { approver: &LeaveGiven, agreed: &agreed, call: "c1" };
        assert_eq!(noting.ask(&question("a")).await, Approval::Once);
        let other = ReplayingApprover::for_call(&NobodyToAsk, &agreed, "c2");
        assert_eq!(other.ask(&question("a")).await, Approval::Nobody);
        let same = ReplayingApprover::for_call(&NobodyToAsk, &agreed, "c1");
        assert_eq!(same.ask(&question("a")).await, Approval::Once);
        assert_eq!(same.ask(&question("a hook asks")).await, Approval::Nobody);
        let again = ReplayingApprover::for_call(&NobodyToAsk, &agreed, "c1");
        assert_eq!(again.ask(&question("a")).await, Approval::Nobody);
        let refused = RecordingApprover { approver: &NobodyToAsk, agreed: &agreed, call: "c3" };
        refused.ask(&question("a")).await;
        let third = ReplayingApprover::for_call(&NobodyToAsk, &agreed, "c3");
        assert_eq!(third.ask(&question("a")).await, Approval::Nobody);
    }
}
