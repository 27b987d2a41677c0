//! Rules and audit records for actions of users, including installations that a question triggers.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::calls::record::CallRecorder;
use crate::analysis::context::{Context, InstallGate};
use crate::analysis::error::ToolError;
use crate::analysis::install_outcome::InstallItem;
use crate::lsp::servers::install::PackagePlace;
use crate::policy::audit::AuditLog;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::policy::rules::Policy;
use crate::tools::api::tool::Caller;
use crate::tools::language::install;

/// Runs an action of a user at a shell under the policy rules and records it in the audit log.
pub(super) async fn run_recorded<T>(
    policy: &Policy,
    audit: Option<&AuditLog>,
    name: &str,
    effect: Effect,
    arguments: &Value,
    run: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let caller = Caller::at_shell();
    let mut record = CallRecorder::new(audit, &caller, name, arguments);
    let subjects = CallSubjects::default();
    record.record_subjects(effect, &subjects);
    let decision = policy.for_caller(&caller.access, None).decide(&PolicyRequest {
        tool: name,
        effect,
        subjects: &subjects,
    });
    record.record_decision(&decision);
    let outcome = match decision.verdict {
        PolicyVerdict::Deny => Err(decision.denial()),
        PolicyVerdict::Allow | PolicyVerdict::Ask => run.await,
    };
    record.record_action(outcome.as_ref().err());
    outcome
}

/// The rules and the audit log for installations that a question triggers, approved by `--install`
/// at the start of the conversation.
#[derive(Debug)]
pub(super) struct InstallRules {
    policy: Arc<Policy>,
    audit: Option<Arc<AuditLog>>,
}

impl InstallRules {
    pub(super) fn new(policy: &Arc<Policy>, audit: Option<&Arc<AuditLog>>) -> Self {
        Self { policy: Arc::clone(policy), audit: audit.cloned() }
    }
}

impl InstallGate for InstallRules {
    fn install<'a>(
        &'a self,
        context: &'a Context,
        server: &'a str,
    ) -> BoxFuture<'a, Result<InstallItem, ToolError>> {
        Box::pin(async move {
            let arguments = json!({"names": [server]});
            let run = async { Ok(install::install_one(context, server, PackagePlace::Registries).await) };
            run_recorded(&self.policy, self.audit.as_deref(), "install", Effect::Network, &arguments, run)
                .await
        })
    }
}
