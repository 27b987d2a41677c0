//! Approval of a call: the decision of the rules, and a request to the approver if it is `ask`.

use std::time::Duration;

use serde_json::Value;

use super::record::CallRecorder;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::policy::audit::AuditedApproval;
use crate::policy::caller::Consent;
use crate::policy::grants::Grant;
use crate::policy::request::{CallSubjects, Effect, PolicyDecision, PolicyRequest, PolicyVerdict};
use crate::runtime::Runtime;
use crate::tools::api::result::{ResultType, ToolResult};
use crate::tools::api::tool::{AnyTool, Caller, ToolDefinition};

/// The time limit for an answer to an approval request.
const APPROVAL_ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// The tool whose rules apply to every shell command line.
const SHELL_TOOL: &str = "bash";

/// Reasons why a call stops before it runs.
pub(super) enum CallStopReason {
    /// Denied by a rule, or no approver is available.
    Error(ToolError),
    /// The approver refused the call.
    Refused(ToolResult),
}

impl From<ToolError> for CallStopReason {
    fn from(error: ToolError) -> Self {
        Self::Error(error)
    }
}

/// A call with valid arguments, ready to run.
pub(super) struct PlannedCall<'a> {
    pub(super) tool: &'a dyn AnyTool,
    pub(super) caller: &'a Caller,
    pub(super) approver: &'a dyn Approver,
    pub(super) arguments: Value,
    pub(super) subjects: CallSubjects,
}

impl<'a> PlannedCall<'a> {
    pub(super) fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Returns the call's effect on the outside world.
    pub(super) fn effect(&self) -> Effect {
        self.subjects.effect(self.definition().card.effect)
    }

    pub(super) fn request(&self) -> PolicyRequest<'_> {
        let card = &self.definition().card;
        PolicyRequest { tool: &card.name, effect: self.effect(), subjects: &self.subjects }
    }

    fn approval_request(&self, reason: String) -> ApprovalRequest {
        approval_request(self.definition(), &self.subjects, &self.arguments, reason)
    }
}

impl Runtime {
    /// Decides a call by the policy rules.
    ///
    /// If the call of another tool hands command lines to a shell (`in_shell`), the rules on `bash`
    /// apply to those lines as well. A denial or an approval requirement for `bash` stands; an
    /// allowance does not need a rule of its own. If `bash` is excluded, so are these lines.
    pub(super) fn decide(&self, caller: &Caller, request: &PolicyRequest<'_>) -> PolicyDecision {
        let policy = self.policy_of(caller);
        let own = policy.decide(request);
        if !request.subjects.in_shell || own.verdict == PolicyVerdict::Deny {
            return own;
        }
        if let Some(excluded) = policy.excluded(SHELL_TOOL) {
            return excluded;
        }
        let subjects =
            CallSubjects { commands: request.subjects.commands.clone(), ..CallSubjects::default() };
        let of_shell = policy.decide(&PolicyRequest { tool: SHELL_TOOL, subjects: &subjects, ..*request });
        let is_decisive = own.rule.is_none() || of_shell.verdict > own.verdict;
        if of_shell.rule.is_some() && is_decisive { of_shell } else { own }
    }

    /// Decides a shell command given to `bash` by the policy rules.
    pub fn check_command(&self, caller: &Caller, command: &str) -> PolicyDecision {
        let subjects = CallSubjects { commands: vec![command.to_owned()], ..CallSubjects::default() };
        self.decide(caller, &PolicyRequest { tool: SHELL_TOOL, effect: Effect::Execute, subjects: &subjects })
    }

    /// Returns `Ok` if the rules allow the call, or if it is approved.
    pub(super) async fn authorize_planned(
        &self,
        call: &PlannedCall<'_>,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), CallStopReason> {
        let decision = self.decide(call.caller, &call.request());
        record.record_decision(&decision);
        match decision.verdict {
            PolicyVerdict::Allow => Ok(()),
            PolicyVerdict::Deny => Err(decision.denial().into()),
            PolicyVerdict::Ask => self.request_approval(call, decision, record).await,
        }
    }

    /// Returns `Ok` if the call has been approved earlier, or is approved now.
    pub(super) async fn request_approval(
        &self,
        call: &PlannedCall<'_>,
        decision: PolicyDecision,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), CallStopReason> {
        let caller = call.caller;
        let grant = Grant::new(&caller.session, caller.agent.as_deref(), &call.request(), &call.arguments);
        let is_default = decision.rule.is_none();
        let request = call.approval_request(decision.why);
        self.check_approval(caller, call.approver, grant, request, is_default, record).await
    }

    /// Returns `Ok` if the caller's calls count as consent, if the same call was approved earlier,
    /// or if it is approved now. If only the default rule asks (`is_default`), the hint of a denial
    /// suggests an `allow` rule.
    pub(super) async fn check_approval(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        grant: Grant,
        request: ApprovalRequest,
        is_default: bool,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), CallStopReason> {
        if caller.access.consent == Consent::Typed {
            return Ok(());
        }
        if self.grants.contains(&grant) {
            record.record_approval(AuditedApproval::Before);
            return Ok(());
        }
        let denied = |error: String| {
            let error = ToolError::new(ErrorCode::Denied, error);
            if is_default { error.with_hint(request.allow_hint()) } else { error }
        };
        match tokio::time::timeout(APPROVAL_ANSWER_TIMEOUT, approver.ask(&request)).await {
            Ok(Approval::Once) => record.record_approval(AuditedApproval::Once),
            Ok(Approval::ForSession) => {
                record.record_approval(AuditedApproval::Session);
                self.grants.add(grant);
            }
            Ok(Approval::Refused { why }) => {
                record.record_approval(AuditedApproval::Refused);
                let answer = why.unwrap_or_else(|| "the request for approval was declined".to_owned());
                let error = denied(format!("{} was refused: {answer}; {}", request.tool, request.why));
                let result = ToolResult { kind: ResultType::Rejected, ..ToolResult::from_error(&error) };
                return Err(CallStopReason::Refused(result));
            }
            Ok(Approval::Nobody) => {
                record.record_approval(AuditedApproval::Nobody);
                return Err(
                    denied(format!("{}; this client cannot ask a user for approval", request.why)).into()
                );
            }
            Err(_) => {
                record.record_approval(AuditedApproval::Nobody);
                let error = format!(
                    "{}; the request for approval was not answered within {} s",
                    request.why,
                    APPROVAL_ANSWER_TIMEOUT.as_secs()
                );
                return Err(denied(error).into());
            }
        }
        Ok(())
    }

    /// Drops the grants of a caller's session when the session ends.
    pub fn end_session(&self, session: &str) {
        self.grants.clear_session(session);
    }
}

pub(super) fn approval_request(
    definition: &ToolDefinition,
    subjects: &CallSubjects,
    arguments: &Value,
    why: String,
) -> ApprovalRequest {
    ApprovalRequest {
        tool: definition.card.name.to_string(),
        title: definition.card.title.to_string(),
        effect: subjects.effect(definition.card.effect),
        why,
        paths: subjects.paths.iter().map(|path| path.display()).collect(),
        commands: subjects.commands.clone(),
        urls: subjects.urls.clone(),
        arguments: arguments.clone(),
    }
}
