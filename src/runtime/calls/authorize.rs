//! Permission for calls of a host's own tools, decided by the same rules.
//!
//! The rules, the earlier approvals and the approver are those of [`Runtime::call`]; this module
//! runs nothing.

use std::path::Path;

use serde_json::Value;

use super::approve::CallStopReason;
use super::call::{CallOptions, CallRequest, own_arguments};
use super::record::CallRecorder;
use super::typed::to_tool_error;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::{ApprovalRequest, Approver};
use crate::policy::grants::Grant;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::runtime::Runtime;
use crate::tools::api::tool::Caller;

/// An action that another program is about to take.
#[derive(Debug, Clone)]
pub(crate) struct IntendedAction {
    /// The name for the rules: that of our corresponding tool, or of the action itself.
    pub tool: String,
    /// The title shown to the approver.
    pub title: String,
    /// The action's effect on the outside world.
    pub effect: Effect,
    /// The paths, commands and addresses that the action touches.
    pub subjects: CallSubjects,
    /// The action's arguments, shown to the approver.
    pub arguments: Value,
}

impl Runtime {
    /// Checks that `caller` may take the intended action. The rules decide; if they say `ask`,
    /// `approver` decides.
    ///
    /// # Errors
    /// `denied`, with the reason and a next step, in words that may be shown to a model.
    pub(crate) async fn authorize(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        intent: &IntendedAction,
    ) -> Result<(), ToolError> {
        let mut record = CallRecorder::new(self.audit.as_deref(), caller, &intent.tool, &intent.arguments)
            .shown_in(&self.feed, &intent.arguments);
        let outcome = self.authorize_recorded(caller, approver, intent, &mut record).await;
        record.record_authorization(outcome.is_ok());
        outcome
    }

    async fn authorize_recorded(
        &self,
        caller: &Caller,
        approver: &dyn Approver,
        intent: &IntendedAction,
        record: &mut CallRecorder<'_>,
    ) -> Result<(), ToolError> {
        let IntendedAction { tool, title, effect, subjects, arguments } = intent;
        record.record_subjects(*effect, subjects);
        let request = PolicyRequest { tool, effect: *effect, subjects };
        let decision = self.decide(caller, &request);
        let is_default = decision.rule.is_none();
        record.record_decision(&decision);
        match decision.verdict {
            PolicyVerdict::Allow => return Ok(()),
            PolicyVerdict::Deny => return Err(decision.denial()),
            PolicyVerdict::Ask => {}
        }
        let approval = ApprovalRequest {
            tool: tool.clone(),
            title: title.clone(),
            effect: *effect,
            why: decision.why,
            paths: subjects.paths.iter().map(|path| path.display()).collect(),
            commands: subjects.commands.clone(),
            urls: subjects.urls.clone(),
            arguments: arguments.clone(),
        };
        let grant = Grant::new(&caller.session, caller.agent.as_deref(), &request, arguments);
        match self.check_approval(caller, approver, grant, approval, is_default, record).await {
            Ok(()) => Ok(()),
            Err(CallStopReason::Error(error)) => Err(error),
            Err(CallStopReason::Refused(result)) => Err(to_tool_error(result)),
        }
    }

    /// Checks that a call of one of our tools would be allowed to run. If it would, its hooks run
    /// too.
    ///
    /// # Errors
    /// `unknown_tool`, `invalid_args`, or `denied`.
    pub(crate) async fn authorize_tool_call(&self, request: &CallRequest<'_>) -> Result<(), ToolError> {
        let CallOptions { caller, approver, .. } = &request.options;
        let (name, arguments) = self.named_call(caller, request.name, request.arguments.clone());
        let tool = self.find_offered_tool(caller, &name).await?;
        let arguments = own_arguments(&name, arguments, tool.definition());
        let subjects = self.prepare(tool.as_ref(), &arguments)?.subjects;
        let card = &tool.definition().card;
        let intent = IntendedAction {
            tool: card.name.to_string(),
            title: card.title.to_string(),
            effect: subjects.effect(card.effect),
            subjects,
            arguments,
        };
        // The call itself is recorded when it is made.
        let mut record = CallRecorder::new(None, caller, &intent.tool, &intent.arguments);
        self.authorize_recorded(caller, *approver, &intent, &mut record).await
    }

    /// Returns the call subjects for one file: its path in the workspace, and the path that its
    /// links resolve to.
    ///
    /// # Errors
    /// `outside_workspace`.
    pub(crate) fn subjects_of_path(&self, path: &Path) -> Result<CallSubjects, ToolError> {
        let outside = || {
            let what = format!("`{}` is outside of the workspace", path.display().to_string().escape_debug());
            ToolError::new(ErrorCode::OutsideWorkspace, what)
        };
        let workspace = &self.context.workspace;
        let inside = workspace.path(path).map_err(|_| outside())?;
        // A link that leads out of the workspace.
        if !workspace.exists(&inside) && workspace.absolute(&inside).exists() {
            return Err(outside());
        }
        let path = inside;
        Ok(self.with_governing(self.with_real(CallSubjects { paths: vec![path], ..CallSubjects::default() })))
    }
}
