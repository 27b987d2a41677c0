//! Approval of a call: the rules' decision, and a question to the approver where it is `ask`.

use std::time::Duration;

use serde_json::Value;

use super::Runtime;
use super::record::CallRecorder;
use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::policy::audit::AuditedApproval;
use crate::policy::caller::Consent;
use crate::policy::grants::Grant;
use crate::policy::request::{CallSubjects, Effect, PolicyDecision, PolicyRequest, PolicyVerdict};
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::result::{ResultType, ToolResult};
use crate::tools::tool::{AnyTool, Caller, ToolDefinition};

/// How long whoever is asked may take to answer.
const APPROVAL_ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// The tool whose rules hold for every line of a shell.
const SHELL_TOOL: &str = "bash";

/// Why a call does not go on.
pub(super) enum CallStopReason {
    /// Rules, or nobody there to ask.
    Error(ToolError),
    /// Someone said no.
    Refused(ToolResult),
}

impl From<ToolError> for CallStopReason {
    fn from(error: ToolError) -> Self {
        Self::Error(error)
    }
}

/// A call whose arguments fit, on its way to run.
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

    /// What it does to the world.
    pub(super) fn effect(&self) -> Effect {
        self.subjects.effect(self.definition().card.effect)
    }

    pub(super) fn request(&self) -> PolicyRequest<'_> {
        let card = &self.definition().card;
        PolicyRequest { tool: &card.name, effect: self.effect(), subjects: &self.subjects }
    }

    fn approval_request(&self, why: String) -> ApprovalRequest {
        approval_request(self.definition(), &self.subjects, &self.arguments, why)
    }
}

impl Runtime {
    /// What the rules say of a call. Rules about `bash` hold for the lines that another tool gives to a shell: what they forbid or want
    /// asked stays so, and what they allow needs no rule of its own; who excludes `bash` excludes these lines as well.
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

    /// What the rules say of a shell command given to `bash`.
    pub fn check_command(&self, caller: &Caller, command: &str) -> PolicyDecision {
        let subjects = CallSubjects { commands: vec![command.to_owned()], ..CallSubjects::default() };
        self.decide(caller, &PolicyRequest { tool: SHELL_TOOL, effect: Effect::Execute, subjects: &subjects })
    }

    /// Goes on where the rules allow the call, or someone agrees to it.
    pub(super) async fn authorize_planned(
        &self,
        call: &PlannedCall<'_>,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), CallStopReason> {
        let decision = self.decide(call.caller, &call.request());
        record.record_decision(&decision);
        match decision.verdict {
            PolicyVerdict::Allow => Ok(()),
            PolicyVerdict::Deny => Err(ToolError::denied(&decision).into()),
            PolicyVerdict::Ask => self.request_approval(call, decision, record).await,
        }
    }

    /// Goes on where someone agreed to the call, now or before, or does.
    pub(super) async fn request_approval(
        &self,
        call: &PlannedCall<'_>,
        decision: PolicyDecision,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), CallStopReason> {
        let caller = call.caller;
        let grant = Grant::new(&caller.session, caller.agent.as_deref(), &call.request(), &call.arguments);
        let is_default = decision.rule.is_none();
        let asked = call.approval_request(decision.why);
        self.check_approval(caller, call.approver, grant, asked, is_default, record).await
    }

    /// Goes on where the caller's calls are consent, someone agreed to the same before, or does now. Only where the default rule asks
    /// (`is_default`), a rule of `allow` goes before it.
    pub(super) async fn check_approval(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        grant: Grant,
        asked: ApprovalRequest,
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
            if is_default { error.with_hint(asked.allow_hint()) } else { error }
        };
        match tokio::time::timeout(APPROVAL_ANSWER_TIMEOUT, approver.ask(&asked)).await {
            Ok(Approval::Once) => record.record_approval(AuditedApproval::Once),
            Ok(Approval::ForSession) => {
                record.record_approval(AuditedApproval::Session);
                self.grants.add(grant);
            }
            Ok(Approval::Refused { why }) => {
                record.record_approval(AuditedApproval::Refused);
                let answer = why.unwrap_or_else(|| "the request for approval was declined".to_owned());
                let error = denied(format!("{} was refused: {answer}; {}", asked.tool, asked.why));
                let result = ToolResult { kind: ResultType::Rejected, ..ToolResult::from_error(&error) };
                return Err(CallStopReason::Refused(result));
            }
            Ok(Approval::Nobody) => {
                record.record_approval(AuditedApproval::Nobody);
                return Err(denied(format!("{}; nobody can be asked for approval here", asked.why)).into());
            }
            Err(_) => {
                record.record_approval(AuditedApproval::Nobody);
                let error = format!(
                    "{}; the request for approval was not answered within {} s",
                    asked.why,
                    APPROVAL_ANSWER_TIMEOUT.as_secs()
                );
                return Err(denied(error).into());
            }
        }
        Ok(())
    }

    /// Forgets what was agreed to for a caller's session; for when that ends.
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
