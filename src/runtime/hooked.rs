//! Hooks around a call.

use std::path::Path;

use serde_json::{Value, json};

use super::Runtime;
use super::approve::{Planned, Stopped};
use super::record::Record;
use crate::policy::hooks::{HookInput, HookRunner, PreAnswer};
use crate::policy::request::Verdict;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::result::ToolResult;

impl Runtime {
    /// Asks the hooks before a call. Arguments that a hook changes are checked and decided on as if they had come that way,
    /// so that no hook opens what rules forbid.
    pub(super) async fn before(
        &self,
        call: &mut Planned<'_>,
        record: &mut Record<'_>,
    ) -> Result<(), Stopped> {
        let name = call.definition().card.name.to_string();
        for hook in self.hooks.pre.iter().filter(|hook| hook.sees(&name)) {
            let may_run = |file: &Path| self.may_run(file);
            let input = self.input(call, "pre", None);
            let answer = hook.before(self.runner(&may_run), &input).await.map_err(|error| {
                record.hook(hook.name(), Some(Verdict::Deny));
                ToolError::new(ErrorCode::Denied, format!("{name} did not run: {error}"))
            })?;
            let PreAnswer { decision, why, arguments } = answer;
            let why = why.unwrap_or_else(|| "it gave no reason".to_owned());
            if decision == Some(Verdict::Deny) {
                record.hook(hook.name(), Some(Verdict::Deny));
                let error = format!("the hook `{}` forbids {name}: {why}", hook.name());
                return Err(ToolError::new(ErrorCode::Denied, error).into());
            }
            if let Some(arguments) = arguments.filter(|arguments| *arguments != call.arguments) {
                record.hook(hook.name(), None);
                self.replace_arguments(call, arguments, hook.name())?;
                record.touches(call.definition().card.effect, &call.subjects);
                self.permit(call, record).await?;
            }
            if decision == Some(Verdict::Ask) {
                record.hook(hook.name(), Some(Verdict::Ask));
                let why = format!("the hook `{}` wants someone to agree: {why}", hook.name());
                self.ask(call, why, record).await?;
            }
        }
        Ok(())
    }

    fn replace_arguments(
        &self,
        call: &mut Planned<'_>,
        arguments: Value,
        hook: &str,
    ) -> Result<(), ToolError> {
        let subjects = self.subjects(call.tool, &arguments).map_err(|error| {
            let what = format!("the hook `{hook}` gave arguments that cannot be used: {}", error.error);
            ToolError::new(error.code, what)
        })?;
        (call.arguments, call.subjects) = (arguments, subjects);
        Ok(())
    }

    /// Asks the hooks after a call. One that fails changes nothing; the result says so.
    pub(super) async fn after(
        &self,
        call: &Planned<'_>,
        mut result: ToolResult,
        record: &mut Record<'_>,
    ) -> ToolResult {
        let name = call.definition().card.name.to_string();
        for hook in self.hooks.post.iter().filter(|hook| hook.sees(&name)) {
            let may_run = |file: &Path| self.may_run(file);
            let input = self.input(call, "post", Some(&result.value));
            match hook.after(self.runner(&may_run), &input).await {
                Ok(answer) => {
                    if let Some(value) = answer.result {
                        record.hook(hook.name(), None);
                        result = replaced(result, value);
                    }
                }
                Err(error) => {
                    record.hook(hook.name(), None);
                    note(&mut result, &error.to_string());
                }
            }
        }
        result
    }

    fn input<'a>(
        &'a self,
        call: &'a Planned<'_>,
        event: &'static str,
        result: Option<&'a Value>,
    ) -> HookInput<'a> {
        let card = &call.definition().card;
        HookInput {
            event,
            tool: &card.name,
            effect: card.effect,
            arguments: &call.arguments,
            session: &call.caller.session,
            agent: call.caller.agent.as_deref(),
            workspace: self.context.workspace.root(),
            result,
        }
    }

    fn runner<'a>(&'a self, may_run: &'a (dyn Fn(&Path) -> bool + Sync)) -> HookRunner<'a> {
        HookRunner { spawner: &self.spawner, workspace: &self.context.workspace, may_run }
    }

    /// Whether a file of the project may be run: its owner trusted the project when the file was this one.
    fn may_run(&self, file: &Path) -> bool {
        let root = self.context.workspace.root();
        self.context.config.trust.is_trusted()
            && self.context.trust.program_state(root, file).is_ok_and(|state| state.is_trusted())
    }
}

/// The result with another answer; what the model may not see stays, parts that are no text go.
fn replaced(result: ToolResult, value: Value) -> ToolResult {
    let new = ToolResult::from_value(value);
    ToolResult {
        error: new.error.or(result.error),
        session_log: new.session_log.or(result.session_log),
        telemetry: result.telemetry.into_iter().chain(new.telemetry).collect(),
        ..new
    }
}

/// Says beside the answer that a hook failed.
fn note(result: &mut ToolResult, what: &str) {
    if let Value::Object(answer) = &mut result.value {
        answer.insert("hook_error".to_owned(), json!(what));
    }
    if let Some(text) = &mut result.text {
        text.push_str(&format!("\n[{what}]"));
    }
}
