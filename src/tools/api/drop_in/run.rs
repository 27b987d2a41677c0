//! One call of a dropped-in tool: arguments on stdin, the answer on stdout, with limits of time and
//! size.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::folder::DropInForm;
use super::manifest::ToolManifest;
use super::{pin, python};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::FilePin;
use crate::policy::request::CallSubjects;
use crate::process::{Exit, ServerProcess, Spawn};
use crate::tools::api::result::{ResultType, ToolResult};
use crate::tools::api::tool::{AnyTool, Call, JsonTool, PreparedCall, ToolDefinition};

/// The longest id of a session or a call that is passed on, in characters.
const MAX_CALLER_ID_CHARS: usize = 256;

/// A manifest as a tool.
#[derive(Debug)]
pub(super) struct DropIn {
    manifest: ToolManifest,
    /// The trusted text, for a project's tool.
    pin: Option<String>,
}

impl DropIn {
    pub(super) fn new(manifest: ToolManifest, pin: Option<String>) -> Self {
        Self { manifest, pin }
    }

    fn error(&self, code: ErrorCode, what: impl std::fmt::Display) -> ToolError {
        ToolError::new(code, format!("{} {what}", self.manifest.name))
    }

    async fn call(&self, call: Call<'_>, arguments: &Value) -> Result<ToolResult, ToolError> {
        let context = call.context;
        let mut process = self.spawn(&call).await?;
        let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
        let talked = async {
            let (_, output) = futures::join!(
                write_arguments(stdin, arguments),
                read_output(stdout, self.manifest.output_bytes)
            );
            match output {
                Some(output) => Some((output, process.wait().await)),
                None => None,
            }
        };
        let limit = context.timeout.unwrap_or(self.manifest.timeout).min(self.manifest.timeout);
        let talked = timeout(limit, talked).await;
        match talked {
            Ok(Some((output, exit))) => Ok(self.to_result(&output, exit, &process)),
            Ok(None) => {
                process.terminate(Duration::ZERO).await;
                let what = format!("wrote more than {} bytes and was ended", self.manifest.output_bytes);
                Err(self
                    .error(ErrorCode::TooLarge, what)
                    .with_hint("request less, or raise its `output_bytes`"))
            }
            Err(_) => {
                process.terminate(Duration::ZERO).await;
                let what = format!("took longer than {} ms and was ended", limit.as_millis());
                Err(self.error(ErrorCode::Timeout, what))
            }
        }
    }

    /// The program, and the expected content of it and its files.
    fn program(&self, context: &Context) -> Result<(PathBuf, Vec<FilePin>), ToolError> {
        let refused = |code, reason: String| self.error(code, format!("does not run: {reason}"));
        let Some(pin) = &self.pin else {
            let program = pin::resolve_program(&self.manifest, &context.workspace);
            return Ok((program.map_err(|reason| refused(ErrorCode::NotFound, reason))?, Vec::new()));
        };
        // A script may have changed since the tool was found.
        let now = pin::trust_needs(context, &self.manifest);
        let same = now.and_then(|now| match now.text == *pin {
            true => pin::check_trusted(context, &self.manifest.name, &now.text).map(|()| now),
            false => Err("its files were changed; `lsp-tools trust` shows what it would run now".to_owned()),
        });
        let now = same.map_err(|reason| refused(ErrorCode::Denied, reason))?;
        Ok((now.program, now.pins))
    }

    async fn spawn(&self, call: &Call<'_>) -> Result<ServerProcess, ToolError> {
        let context = call.context;
        let (program, pins) = self.program(context)?;
        let spawn = Spawn {
            name: self.manifest.name.clone(),
            program,
            args: self.arguments(),
            env: self.environment(call),
            cwd: context.workspace.root().to_owned(),
            pins,
        };
        let started = context.manager.spawner().spawn(spawn).await;
        started.map_err(|error| {
            tracing::warn!(tool = self.manifest.name, "{error}");
            self.error(ErrorCode::Internal, "could not be started; the reason is in the log")
        })
    }

    /// The arguments of the program. A Python tool is run by this crate's runner, which is not part
    /// of the trusted text.
    fn arguments(&self) -> Vec<OsString> {
        let runner: &[&str] = match self.manifest.form {
            DropInForm::Manifest => &[],
            DropInForm::Python => &["-c", python::RUNNER],
        };
        let own = self.manifest.command.iter().skip(1).map(String::as_str);
        runner.iter().copied().chain(own).map(Into::into).collect()
    }

    /// The environment variables of the manifest and of the call.
    fn environment(&self, call: &Call<'_>) -> BTreeMap<OsString, OsString> {
        // NUL cannot be in a variable, and its size is limited by the system.
        let fitting = |text: &str| {
            text.chars().filter(|char| *char != '\0').take(MAX_CALLER_ID_CHARS).collect::<String>()
        };
        let own = [
            ("LSP_TOOLS_SESSION_ID", fitting(&call.caller.session)),
            ("LSP_TOOLS_TOOL_CALL_ID", fitting(call.id)),
            ("LSP_TOOLS_TOOL_NAME", self.manifest.name.clone()),
        ];
        let set = self.manifest.env.iter().map(|(name, value)| (name.into(), value.into()));
        set.chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
    }

    fn to_result(&self, output: &[u8], exit: Exit, process: &ServerProcess) -> ToolResult {
        let text = String::from_utf8_lossy(output);
        let trimmed = text.trim();
        let tail = process.stderr_tail().join("\n");
        if exit != Exit::Code(0) {
            let mut value = json!({
                "ok": false, "code": "internal", "error": format!("{} ended with {exit}", self.manifest.name),
            });
            if !trimmed.is_empty() {
                value["output"] = serde_json::from_str(trimmed).unwrap_or_else(|_| json!(trimmed));
            }
            let error = if tail.is_empty() { exit.to_string() } else { tail };
            tracing::warn!(tool = self.manifest.name, "ended with {exit}: {error}");
            let failed = ToolResult::from_value(value);
            return ToolResult { kind: ResultType::Failure, error: Some(error), ..failed };
        }
        let value = match trimmed {
            "" => Value::Null,
            trimmed => serde_json::from_str(trimmed).unwrap_or_else(|_| json!(trimmed)),
        };
        let result = ToolResult::from_value(value);
        ToolResult { session_log: result.session_log.or((!tail.is_empty()).then_some(tail)), ..result }
    }
}

/// Writes the arguments. A program may ignore them.
async fn write_arguments(stdin: Option<ChildStdin>, arguments: &Value) {
    if let Some(mut stdin) = stdin {
        let written = stdin.write_all(arguments.to_string().as_bytes()).await;
        let closed = stdin.shutdown().await;
        if let Err(error) = written.and(closed) {
            tracing::debug!("the arguments were not read: {error}");
        }
    }
}

/// All of the output; `None` if it exceeds `most` bytes.
async fn read_output(stdout: Option<ChildStdout>, most: usize) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(stdout) = stdout {
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        if let Err(error) = stdout.take(limit).read_to_end(&mut output).await {
            tracing::debug!("the output broke off: {error}");
        }
    }
    (output.len() <= most).then_some(output)
}

impl AnyTool for DropIn {
    fn definition(&self) -> &ToolDefinition {
        &self.manifest.definition
    }

    fn prepare<'a>(&'a self, _context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError> {
        self.manifest.definition.input.check(&self.manifest.name, arguments)?;
        Ok(PreparedCall::of_json(self, CallSubjects::default(), arguments))
    }
}

impl JsonTool for DropIn {
    fn run_json<'a>(
        &'a self,
        call: Call<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.call(call, &arguments).await })
    }
}
