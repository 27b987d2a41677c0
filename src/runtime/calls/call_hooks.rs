//! Hooks around a call: those of the settings, then those of the repository's hooks files.
//!
//! Hosts can run them around calls of their own tools as well.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use super::approve::{CallStopReason, PlannedCall};
use super::call::ConductedCall;
use super::record::CallRecorder;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::{FilePin, RecordedHooks};
use crate::policy::hooks::{HookInput, HookRunner, Hooks, PostAnswer, PreAnswer, files};
use crate::policy::request::{Effect, PolicyDecision, PolicyVerdict};
use crate::runtime::Runtime;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{Caller, PreparedRun};

/// A call of a host's own tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignToolCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The call's effect on the outside world, as far as known.
    pub effect: Effect,
    /// The call's arguments.
    pub arguments: &'a Value,
    /// The caller.
    pub caller: &'a Caller,
}

impl Runtime {
    /// Runs the hooks before a call.
    ///
    /// If a hook changes the arguments, they are parsed and decided again as if the caller had sent
    /// them, so that no hook can bypass a rule. Returns the run with the changed arguments, if any.
    pub(super) async fn run_before_hooks<'t>(
        &self,
        call: &mut PlannedCall<'t>,
        hooks: &Hooks,
        record: &mut CallRecorder<'_>,
    ) -> Result<Option<Box<dyn PreparedRun + 't>>, CallStopReason> {
        let mut changed = None;
        let name = call.definition().card.name.to_string();
        for hook in hooks.pre.iter().filter(|hook| hook.applies_to(&name)) {
            let pin = |file: &Path| self.file_pin(file);
            let input = self.hook_input(call, "pre", None);
            let answer = hook.run_before(self.hook_runner(&pin), &input).await.map_err(|error| {
                record.record_hook(hook.name(), Some(PolicyVerdict::Deny));
                ToolError::new(ErrorCode::Denied, format!("{name} did not run: {error}"))
            })?;
            let PreAnswer { decision, why, arguments } = answer;
            let why = why.unwrap_or_else(|| "it gave no reason".to_owned());
            if decision == Some(PolicyVerdict::Deny) {
                record.record_hook(hook.name(), Some(PolicyVerdict::Deny));
                let error = format!("the hook `{}` forbids {name}: {why}", hook.name());
                return Err(ToolError::new(ErrorCode::Denied, error).into());
            }
            if let Some(arguments) = arguments.filter(|arguments| *arguments != call.arguments) {
                record.record_hook(hook.name(), None);
                changed = Some(self.replace_arguments(call, arguments, hook.name())?);
                record.record_subjects(call.effect(), &call.subjects);
                self.authorize_planned(call, record).await?;
            }
            if decision == Some(PolicyVerdict::Ask) {
                record.record_hook(hook.name(), Some(PolicyVerdict::Ask));
                let why = format!("the hook `{}` wants approval: {why}", hook.name());
                let decision =
                    PolicyDecision { verdict: PolicyVerdict::Ask, rule: Some(hook.name().to_owned()), why };
                self.request_approval(call, decision, record).await?;
            }
        }
        Ok(changed)
    }

    fn replace_arguments<'t>(
        &self,
        call: &mut PlannedCall<'t>,
        arguments: Value,
        hook: &str,
    ) -> Result<Box<dyn PreparedRun + 't>, ToolError> {
        let prepared = self.prepare(call.tool, &arguments).map_err(|error| {
            let what = format!("the hook `{hook}` returned invalid arguments: {}", error.error);
            ToolError::new(error.code, what)
        })?;
        (call.arguments, call.subjects) = (arguments, prepared.subjects);
        Ok(prepared.run)
    }

    /// Runs the hooks after a call. A failing hook changes nothing but adds a note to the result.
    pub(super) async fn run_after_hooks(
        &self,
        call: &PlannedCall<'_>,
        result: ToolResult,
        hooks: &Hooks,
        record: &mut CallRecorder<'_>,
    ) -> ConductedCall {
        let name = call.definition().card.name.to_string();
        let mut conducted = ConductedCall::new(result);
        for hook in hooks.post.iter().filter(|hook| hook.applies_to(&name)) {
            if !hook.wants_outcome(conducted.result.ok()) {
                continue;
            }
            let pin = |file: &Path| self.file_pin(file);
            let input = self.hook_input(call, "post", Some(&conducted.result.value));
            match hook.run_after(self.hook_runner(&pin), &input).await {
                Ok(answer) => {
                    if let Some(value) = answer.result {
                        record.record_hook(hook.name(), None);
                        conducted.result = with_replaced_value(conducted.result, value);
                        conducted.replaced = true;
                    }
                    if let Some(context) = answer.context {
                        record.record_hook(hook.name(), None);
                        add_note(&mut conducted, "hook_context", &context);
                    }
                }
                Err(error) => {
                    record.record_hook(hook.name(), None);
                    add_note(&mut conducted, "hook_error", &error.to_string());
                }
            }
        }
        conducted
    }

    /// Runs the hooks before a call of a host's own tool. The host applies arguments that they
    /// change.
    ///
    /// # Errors
    /// `denied` if a hook forbids the call or gives no answer.
    pub(crate) async fn hooks_before(&self, call: &ForeignToolCall<'_>) -> Result<PreAnswer, ToolError> {
        let mut sum = PreAnswer::default();
        let mut arguments = call.arguments.clone();
        for hook in self.hooks_now()?.pre.iter().filter(|hook| hook.applies_to(call.tool)) {
            let pin = |file: &Path| self.file_pin(file);
            let input = self.input_of(call, &arguments, "pre", None);
            let answer = hook.run_before(self.hook_runner(&pin), &input).await.map_err(|error| {
                ToolError::new(ErrorCode::Denied, format!("{} did not run: {error}", call.tool))
            })?;
            let reason = answer.why.unwrap_or_else(|| "it gave no reason".to_owned());
            match answer.decision {
                Some(PolicyVerdict::Deny) => {
                    let error = format!("the hook `{}` forbids {}: {reason}", hook.name(), call.tool);
                    return Err(ToolError::new(ErrorCode::Denied, error));
                }
                Some(PolicyVerdict::Ask) => {
                    sum.decision = Some(PolicyVerdict::Ask);
                    sum.why = Some(format!("the hook `{}` wants approval: {reason}", hook.name()));
                }
                Some(PolicyVerdict::Allow) | None => {}
            }
            if let Some(changed) = answer.arguments.filter(|changed| *changed != arguments) {
                arguments = changed;
                sum.arguments = Some(arguments.clone());
            }
        }
        Ok(sum)
    }

    /// Runs the hooks on the result of a host's own tool. Failures of hooks are reported in
    /// `context`.
    pub(crate) async fn hooks_after(&self, call: &ForeignToolCall<'_>, result: &Value) -> PostAnswer {
        let mut sum = PostAnswer::default();
        let hooks = match self.hooks_now() {
            Ok(hooks) => hooks,
            Err(error) => return PostAnswer { context: Some(error.error), ..sum },
        };
        let ok = result.get("ok") != Some(&Value::Bool(false));
        let mut notes = Vec::new();
        for hook in hooks.post.iter().filter(|hook| hook.applies_to(call.tool) && hook.wants_outcome(ok)) {
            let pin = |file: &Path| self.file_pin(file);
            let now = sum.result.as_ref().unwrap_or(result);
            let input = self.input_of(call, call.arguments, "post", Some(now));
            match hook.run_after(self.hook_runner(&pin), &input).await {
                Ok(answer) => {
                    sum.result = answer.result.or(sum.result);
                    notes.extend(answer.context);
                }
                Err(error) => notes.push(error.to_string()),
            }
        }
        sum.context = (!notes.is_empty()).then(|| notes.join("\n"));
        sum
    }

    /// Returns the hooks in force for a call that begins now.
    ///
    /// If a trusted hooks file has changed or disappeared, this is an error: without it, calls that
    /// the hook blocks would run.
    pub(super) fn hooks_now(&self) -> Result<Cow<'_, Hooks>, ToolError> {
        self.check_trust()?;
        let root = self.context.workspace.root();
        let denied = |what: String| ToolError::new(ErrorCode::Denied, what);
        let failed = |error: &dyn std::fmt::Display| {
            denied(format!("the hooks in {} cannot be read: {error}", files::FOLDER))
        };
        let read = files::read(&self.context.workspace);
        let launch = &self.context.config.launch;
        let trusted = self.context.trust.recorded_hooks(root, launch, &format!("{}/", files::FOLDER));
        let (found, RecordedHooks { texts: trusted, lost }) = match (read, trusted) {
            (Ok(found), Ok(trusted)) => (found, trusted),
            // An unreadable file without trusted texts is ignored: untrusted hooks would not run
            // anyway.
            (Err(_), Ok(trusted)) if trusted.texts.is_empty() => return Ok(Cow::Borrowed(&self.hooks)),
            (Err(error), _) => return Err(failed(&error)),
            (_, Err(error)) => return Err(failed(&error)),
        };
        let again = "review it, then run: lsp-tools trust";
        if let Some(gone) = trusted.iter().find(|path| found.iter().all(|file| file.path != **path)) {
            return Err(denied(format!("the trusted hooks file {gone} is missing")).with_hint(again));
        }
        if lost {
            let what = "a program that the project's hooks or settings run has changed since it was trusted";
            return Err(denied(what.to_owned()).with_hint(again));
        }
        let mut hooks = Cow::Borrowed(self.hooks.as_ref());
        for file in found.iter().filter(|file| trusted.contains(&file.path)) {
            let state = self.context.trust.text_state(root, &file.path, file.text.as_bytes());
            if !state.map_err(|error| failed(&error))?.is_trusted() {
                let what = format!("the hooks file {} has changed since it was trusted", file.path);
                return Err(denied(what).with_hint(again));
            }
            let more = file.hooks().map_err(denied)?;
            let all = hooks.to_mut();
            all.pre.extend(more.pre);
            all.post.extend(more.post);
        }
        Ok(hooks)
    }

    fn input_of<'a>(
        &'a self,
        call: &ForeignToolCall<'a>,
        arguments: &'a Value,
        event: &'static str,
        result: Option<&'a Value>,
    ) -> HookInput<'a> {
        HookInput {
            event,
            tool: call.tool,
            effect: call.effect,
            arguments,
            session: &call.caller.session,
            agent: call.caller.agent.as_deref(),
            workspace: self.context.workspace.root(),
            result,
        }
    }

    fn hook_input<'a>(
        &'a self,
        call: &'a PlannedCall<'_>,
        event: &'static str,
        result: Option<&'a Value>,
    ) -> HookInput<'a> {
        let card = &call.definition().card;
        HookInput {
            event,
            tool: &card.name,
            effect: call.effect(),
            arguments: &call.arguments,
            session: &call.caller.session,
            agent: call.caller.agent.as_deref(),
            workspace: self.context.workspace.root(),
            result,
        }
    }

    fn hook_runner<'a>(&'a self, pin: &'a (dyn Fn(&Path) -> Option<FilePin> + Sync)) -> HookRunner<'a> {
        HookRunner {
            spawner: &self.spawner,
            workspace: &self.context.workspace,
            trust: &self.context.trust,
            pin,
        }
    }

    /// Returns the pin that a project file must match when it runs: its content when the owner
    /// trusted the project. Returns `None` if the file may not run.
    fn file_pin(&self, file: &Path) -> Option<FilePin> {
        let trusted = self.context.config.trust.is_trusted();
        trusted.then(|| self.context.trust.pin(self.context.workspace.root(), file))?.ok()?.ok()
    }
}

/// Replaces the answer of a result. Data hidden from the model stays; parts that are not text are
/// dropped.
fn with_replaced_value(result: ToolResult, value: Value) -> ToolResult {
    let new = ToolResult::from_value(value);
    ToolResult {
        error: new.error.or(result.error),
        session_log: new.session_log.or(result.session_log),
        telemetry: result.telemetry.into_iter().chain(new.telemetry).collect(),
        ..new
    }
}

/// Adds a hook's failure or message to the answer.
fn add_note(conducted: &mut ConductedCall, key: &str, what: &str) {
    conducted.hook_notes.push(what.to_owned());
    let result = &mut conducted.result;
    if let Value::Object(answer) = &mut result.value {
        answer.insert(key.to_owned(), json!(what));
    }
    if let Some(text) = &mut result.text {
        text.push_str(&format!("\n[{what}]"));
    }
}
