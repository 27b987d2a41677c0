//! The command `copilot host`.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::open::{OpenWorkspace, approver};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::copilot::host::{self, HostEvent, HostOptions, HostOutcome};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::copilot::CopilotHost;
use crate::cli::console::Console;
use crate::cli::doors::DoorStartContext;
use crate::cli::exit::CliExitStatus;
use crate::cli::input::PipedInput;
use crate::cli::render::setup::session;
use crate::cli::render::terminal::escape;
use crate::cli::reply::Reply;
use crate::cli::signals::Signals;
use crate::policy::caller::CallerAccess;

/// The time for servers to exit after the session. Their supervisors end the remaining ones.
const COPILOT_HOST_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// `copilot host`.
pub(super) async fn run(arguments: CopilotHost, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let prompt = prompt(&arguments).await?;
    let mut signals = Signals::listen()?;
    // The command line runs in the root, independent of the current folder.
    let OpenWorkspace { live, backend, startup_hints } =
        OpenWorkspace::new(&start, "copilot host", Path::to_owned).await?;
    let (sender, mut events) = unbounded_channel();
    let stop = CancellationToken::new();
    let options = HostOptions {
        prompt,
        model: arguments.model.clone(),
        program: arguments.cli.as_ref().map(|program| start.cwd.join(program)),
        mcp_config: arguments.mcp_config.as_ref().map(|file| start.cwd.join(file)),
        resume: arguments.resume.clone(),
        agent: arguments.agent.clone(),
        access: CallerAccess {
            profile: arguments.profile.map(Into::into),
            available: (!arguments.available.is_empty()).then(|| arguments.available.clone()),
            excluded: arguments.excluded.clone(),
            ..CallerAccess::default()
        },
        streaming: !arguments.no_stream,
        limit: arguments.limit,
        install: start.global.install,
        backend,
        approver: approver(),
        events: sender,
        stop: stop.clone(),
    };
    let mut shown = CopilotSessionDisplay {
        format: start.global.format,
        console: start.console,
        session: session::CopilotSessionRenderer::default(),
    };
    let outcome = {
        let session = host::run(&live, options);
        tokio::pin!(session);
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => shown.show(&event)?,
                outcome = &mut session => break Some(outcome),
                () = signals.next() => {
                    // The first signal requests an orderly end, the second one an immediate end.
                    if stop.is_cancelled() {
                        break None;
                    }
                    stop.cancel();
                }
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        shown.show(&event)?;
    }
    // The panic hook has reported a panic there.
    let _told = startup_hints.await;
    // The supervisors end the remaining servers.
    let _late = tokio::time::timeout(COPILOT_HOST_SHUTDOWN_TIMEOUT, live.shutdown()).await;
    match outcome {
        Some(Ok(outcome)) => Ok(shown.reply(&outcome)),
        Some(Err(host::error::HostError::Stopped)) | None => {
            Ok(Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted })
        }
        Some(Err(error)) => Err(error.into()),
    }
}

async fn prompt(arguments: &CopilotHost) -> Result<String, ToolError> {
    let prompt = match arguments.prompt.is_empty() {
        true => PipedInput::Stdin.text("the prompt").await?,
        false => arguments.prompt.join(" "),
    };
    if prompt.trim().is_empty() {
        let error = ToolError::new(ErrorCode::InvalidArgs, "the prompt is missing");
        return Err(error.with_hint("give it as an argument, or pipe it in"));
    }
    Ok(prompt)
}

/// The display of a session.
struct CopilotSessionDisplay<'a> {
    format: CliOutputFormat,
    console: &'a Console,
    session: session::CopilotSessionRenderer,
}

impl CopilotSessionDisplay<'_> {
    fn show(&mut self, told: &HostEvent) -> Result<(), ToolError> {
        let out = match (told, self.format) {
            (HostEvent::Event(event), CliOutputFormat::Json) => format!("{event}\n"),
            (HostEvent::Event(event), _) => {
                self.console.print_error_lines(&self.session.lines(event, &self.console.err));
                session::model_text(event)
            }
            (HostEvent::Note(note), _) => {
                self.console.print_error_lines(&[escape::words(note).to_string()]);
                String::new()
            }
        };
        if out.is_empty() {
            return Ok(());
        }
        self.console.print(&out).map_err(|error| {
            ToolError::new(ErrorCode::Internal, format!("the session cannot be written: {error}"))
        })
    }

    fn reply(&self, outcome: &HostOutcome) -> Reply {
        let HostOutcome { answer, session, calls, stopped } = outcome;
        let status = if *stopped { CliExitStatus::Interrupted } else { CliExitStatus::Answered };
        if self.format == CliOutputFormat::Json {
            let last = json!({
                "ok": !stopped, "session": session, "answer": answer, "calls": calls, "stopped": stopped,
            });
            return Reply { out: format!("{last}\n"), lines: Vec::new(), status };
        }
        let mut lines = Vec::new();
        if *calls > 0 {
            lines.push(format!(
                "edits of this session are undone by: lsp-tools undo --group {}",
                escape::words(session)
            ));
        }
        Reply { out: String::new(), lines, status }
    }
}
