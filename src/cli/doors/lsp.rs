//! The command `lsp`, the door for editors.

use tokio_util::sync::CancellationToken;

use super::{DoorStartContext, options};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges;
use crate::bridges::daemon::preamble::{DoorName, Preamble};
use crate::bridges::editor::{self, EditorOptions};
use crate::cli::args::doors::LspCommandArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::signals::Signals;
use crate::platform::stdio;
use crate::runtime::live::LiveRuntime;

/// The preamble for an editor.
pub(crate) fn preamble() -> Preamble {
    Preamble::new(DoorName::Lsp)
}

/// Serves an editor in this process until it disconnects.
pub(crate) async fn serve(
    _lsp: LspCommandArgs,
    start: DoorStartContext<'_>,
) -> Result<CliExitStatus, ToolError> {
    let DoorStartContext { global, cwd, log, console } = start;
    let mut signals = Signals::listen()?;
    let runtime = bridges::open(options(&global, &cwd))?;
    if let Some(log) = log {
        log.set_level(runtime.log_level());
    }
    console.print_startup_hints(&runtime.startup_hints());
    let live = LiveRuntime::new(runtime);
    let broken = |error: std::io::Error| {
        ToolError::new(ErrorCode::Internal, format!("stdin or stdout cannot be used: {error}"))
    };
    let options = EditorOptions {
        cwd: Some(cwd),
        timeout: global.timeout,
        install_missing: global.install,
        ..EditorOptions::default()
    };
    let ended = CancellationToken::new();
    let (input, output) = (stdio::input().map_err(broken)?, stdio::output().map_err(broken)?);
    let serving = editor::serve(live.clone(), options, input, output, ended.clone());
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = signals.next() => {
            ended.cancel();
            serving.await;
        }
    }
    live.shutdown().await;
    Ok(CliExitStatus::Answered)
}
