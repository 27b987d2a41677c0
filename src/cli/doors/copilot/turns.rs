//! The commands `copilot agent` and `copilot chat`: turns, with their events on the terminal.
//!
//! The model's reply goes to stdout, everything else to stderr.

use std::io::IsTerminal;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio_util::sync::CancellationToken;

use super::open::OpenCopilotClient;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::copilot::server::{CopilotError, CopilotEvent, TurnOutcome, TurnRequest};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::copilot::{CopilotAgent, CopilotTurns};
use crate::cli::console::Console;
use crate::cli::doors::DoorStartContext;
use crate::cli::exit::{self, CliExitStatus};
use crate::cli::input::PipedInput;
use crate::cli::render::setup::copilot as render;
use crate::cli::render::verdict;
use crate::cli::reply::Reply;
use crate::cli::signals::Signals;

/// `copilot agent`.
pub(super) async fn agent(arguments: CopilotAgent, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let CopilotAgent { prompt, turns } = arguments;
    let prompt = match prompt.as_str() {
        "-" => PipedInput::Stdin.text("the prompt").await?,
        _ => prompt,
    };
    if prompt.trim().is_empty() {
        return Err(ToolError::new(ErrorCode::InvalidArgs, "the prompt is empty"));
    }
    let mut opened =
        OpenCopilotClient::new(&start, turns.profile, &turns.names, turns.result_format.into(), true).await?;
    let mut signals = Signals::listen()?;
    let mut shown = CopilotTurnDisplay::new(&start);
    open_all(&opened, &turns).await?;
    let outcome = shown.turn(&mut opened, &request(prompt, &turns), &mut signals).await;
    opened.close().await;
    let outcome = outcome.map_err(|error| shown.with_undo_hint(error))?;
    let out = match start.global.format {
        CliOutputFormat::Json => {
            let mut out = json!({"ok": outcome.error.is_none() && !outcome.cancelled});
            if let (Some(out), serde_json::Value::Object(more)) = (out.as_object_mut(), json!(outcome)) {
                out.extend(more);
            }
            format!("{out}\n")
        }
        _ => String::new(),
    };
    Ok(Reply { out, lines: shown.end(&outcome), status: status_of(&outcome) })
}

/// `copilot chat`: one conversation, with a turn for each line until the input ends. An interrupt
/// cancels the running turn, or ends the conversation if no turn is running.
pub(super) async fn chat(turns: CopilotTurns, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let mut opened =
        OpenCopilotClient::new(&start, turns.profile, &turns.names, turns.result_format.into(), true).await?;
    let mut signals = Signals::listen()?;
    let mut shown = CopilotTurnDisplay::new(&start);
    open_all(&opened, &turns).await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut last = CliExitStatus::Answered;
    if std::io::stdin().is_terminal() {
        start.console.print_error_lines(&["each line is a turn; Ctrl-D ends".to_owned()]);
    }
    while let Some(prompt) = next_line(&mut lines, &mut signals).await? {
        if prompt.trim().is_empty() {
            continue;
        }
        let request = TurnRequest { goes_on: true, ..request(prompt, &turns) };
        match shown.turn(&mut opened, &request, &mut signals).await {
            Ok(outcome) => {
                if start.global.format == CliOutputFormat::Json {
                    let written = start.console.print(&format!("{}\n", json!(outcome)));
                    written.map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
                }
                start.console.print_error_lines(&shown.end(&outcome));
                last = status_of(&outcome);
            }
            Err(error @ (CopilotError::Ended { .. } | CopilotError::Timeout { .. })) => {
                let error = shown.with_undo_hint(error);
                start.console.print_error_lines(&verdict::error(&error, &start.console.err));
                last = exit::of_error(&error);
            }
            Err(error) => {
                opened.close().await;
                return Err(shown.with_undo_hint(error));
            }
        }
    }
    opened.close().await;
    Ok(Reply { out: String::new(), lines: Vec::new(), status: last })
}

/// Opens the named files. If one fails, the open ones are closed with the client.
async fn open_all(opened: &OpenCopilotClient, turns: &CopilotTurns) -> Result<(), ToolError> {
    for path in &turns.open {
        opened.copilot.open_document(path).await?;
    }
    Ok(())
}

/// Returns the next typed line, or `None` at the end of the input or after an interrupt.
async fn next_line(
    lines: &mut Lines<BufReader<Stdin>>,
    signals: &mut Signals,
) -> Result<Option<String>, ToolError> {
    tokio::select! {
        line = lines.next_line() => line.map_err(|error| {
            ToolError::new(ErrorCode::InvalidArgs, format!("the input cannot be read: {error}"))
        }),
        () = signals.next() => Ok(None),
    }
}

fn request(prompt: String, turns: &CopilotTurns) -> TurnRequest {
    TurnRequest {
        mode: turns.mode.into(),
        model: turns.model.clone(),
        provider: turns.provider.clone(),
        limit: turns.limit(),
        ..TurnRequest::new(prompt)
    }
}

fn status_of(outcome: &TurnOutcome) -> CliExitStatus {
    match outcome {
        TurnOutcome { cancelled: true, .. } => CliExitStatus::Interrupted,
        TurnOutcome { error: Some(_), .. } => CliExitStatus::Failed,
        _ => CliExitStatus::Answered,
    }
}

/// The terminal display of a running turn.
struct CopilotTurnDisplay<'a> {
    console: &'a Console,
    /// True if the model's reply is shown while it arrives; false if the outcome is printed as
    /// JSON.
    words: bool,
    /// True if the current line of the model's reply is incomplete.
    open_line: bool,
    /// The turn that started last.
    turn: Option<String>,
    /// True if the turn has started calls.
    worked: bool,
}

impl<'a> CopilotTurnDisplay<'a> {
    fn new(start: &DoorStartContext<'a>) -> Self {
        let words = start.global.format != CliOutputFormat::Json;
        Self { console: start.console, words, open_line: false, turn: None, worked: false }
    }

    /// Runs a turn and shows its events. An interrupt cancels it.
    async fn turn(
        &mut self,
        opened: &mut OpenCopilotClient,
        request: &TurnRequest,
        signals: &mut Signals,
    ) -> Result<TurnOutcome, CopilotError> {
        let stop = CancellationToken::new();
        let turn = opened.copilot.run_turn(request, &stop);
        tokio::pin!(turn);
        let outcome = loop {
            tokio::select! {
                biased;
                Some(event) = opened.events.recv() => self.show_event(&event),
                outcome = &mut turn => break outcome,
                () = signals.interrupt(), if !stop.is_cancelled() => stop.cancel(),
            }
        };
        while let Ok(event) = opened.events.try_recv() {
            self.show_event(&event);
        }
        self.end_line();
        outcome
    }

    fn show_event(&mut self, event: &CopilotEvent) {
        match event {
            CopilotEvent::Begun { turn } => {
                self.turn = Some(turn.clone());
                self.worked = false;
            }
            CopilotEvent::Reply(text) => {
                if self.words && self.console.print(&render::words(text)).is_ok() {
                    self.open_line = !text.ends_with('\n');
                }
            }
            other => {
                self.worked |= matches!(other, CopilotEvent::Call { .. });
                if let Some(line) = render::event(other, &self.console.err) {
                    self.end_line();
                    self.console.print_error_lines(&[line]);
                }
            }
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            // The output may be closed; the exit status shows the result.
            let _ignored = self.console.print("\n");
        }
    }

    /// Formats the summary of a finished turn.
    fn end(&self, outcome: &TurnOutcome) -> Vec<String> {
        render::end(outcome, &self.console.err)
    }

    /// Converts an error, with a hint on how to undo the turn's changes.
    fn with_undo_hint(&self, error: CopilotError) -> ToolError {
        let error = ToolError::from(error);
        match self.turn.as_ref().filter(|_| self.worked && error.hint.is_none()) {
            Some(turn) => error.with_hint(format!("to undo its changes: lsp-tools copilot undo {turn}")),
            None => error,
        }
    }
}
