//! `lsp-tools mcp`.

use std::convert::Infallible;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Start;
use crate::bridges::mcp::server::{self, ServerOptions};
use crate::cli::args::doors::McpServe;
use crate::cli::console::Console;
use crate::cli::exit::Status;
use crate::cli::render::escape;
use crate::cli::signals::Signals;
use crate::policy::caller::CallerAccess;
use crate::runtime::live::Live;
use crate::runtime::{Client, Runtime, RuntimeOptions};
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::tool::Caller;

/// Servers that have not ended so long after the client has gone are left to their supervisors, which end them.
const SHUTDOWN: Duration = Duration::from_millis(800);

/// Serves MCP until the host goes away.
pub async fn serve(serve: McpServe, start: Start<'_>) -> Result<Status, ToolError> {
    let mut signals = Signals::listen()?;
    let runtime = Runtime::open(RuntimeOptions {
        workspace: start.global.workspace.clone(),
        cwd: start.cwd.clone(),
        supervisor: None,
        timeout: start.global.timeout,
        install_missing: start.global.install,
        trace: start.global.trace.clone(),
        progress: None,
    })?;
    if let Some(log) = &start.log {
        log.set_level(runtime.log_level());
    }
    let options = ServerOptions {
        live: Live::new(runtime.clone()),
        caller: caller(&serve),
        client: Client {
            cwd: Some(start.cwd.clone()),
            timeout: start.global.timeout,
            install_missing: start.global.install,
            progress: None,
        },
    };
    let ended = CancellationToken::new();
    let conversation = converse(&serve, options, ended.clone());
    tokio::pin!(conversation);
    // The host waits for its first answer, not for our look at the workspace.
    let hints = tokio::task::spawn_blocking({
        let runtime = runtime.clone();
        move || runtime.startup_hints()
    });
    let served = tokio::select! {
        served = &mut conversation => served,
        never = tell(hints, start.console) => match never {},
        () = signals.next() => {
            ended.cancel();
            conversation.await
        }
    };
    // Whatever is left then is ended by the supervisors.
    let _late = tokio::time::timeout(SHUTDOWN, runtime.shutdown()).await;
    served.map(|()| Status::Answered)
}

async fn converse(
    _serve: &McpServe,
    options: ServerOptions,
    ended: CancellationToken,
) -> Result<(), ToolError> {
    let served = server::serve(options, tokio::io::stdin(), tokio::io::stdout(), ended).await;
    served.map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))
}

/// Tells the hints when they are there. Nobody waits for them.
async fn tell(hints: tokio::task::JoinHandle<Vec<String>>, console: &Console) -> Infallible {
    if let Ok(hints) = hints.await {
        let lines: Vec<String> = hints.iter().map(|hint| escape::line(hint).into_owned()).collect();
        console.tell(&lines);
    }
    std::future::pending().await
}

/// Who calls through this door: nobody whose calls count as consent.
fn caller(serve: &McpServe) -> Caller {
    let access = CallerAccess { profile: serve.profile.map(Into::into), ..CallerAccess::default() };
    Caller { session: "mcp".to_owned(), agent: None, access }
}
