//! The command `mcp`, the door for MCP hosts.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{DoorStartContext, options, own_session};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges;
use crate::bridges::daemon::preamble::{DoorName, Preamble};
use crate::bridges::mcp::server::http::{self, HttpError, HttpOptions, Listener};
use crate::bridges::mcp::server::{self, ServerOptions};
use crate::cli::args::doors::McpServe;
use crate::cli::console::Console;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::terminal::escape;
use crate::cli::signals::Signals;
use crate::config::Folders;
use crate::platform::stdio;
use crate::policy::caller::CallerAccess;
use crate::rpc::http_entry::token::{BearerToken, TokenError};
use crate::runtime::Client;
use crate::runtime::live::LiveRuntime;
use crate::tools::api::tool::Caller;

/// The time for servers to exit after the client has disconnected. Their supervisors end the
/// remaining ones.
const MCP_SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(800);

/// Returns the preamble for a host on stdin and stdout. Returns `None` for HTTP, which this process
/// serves itself.
pub(crate) fn preamble(serve: &McpServe) -> Option<Preamble> {
    let preamble = Preamble {
        profile: serve.profile.map(Into::into),
        text_answers: serve.text_answers,
        output_schemas: serve.output_schemas,
        ..Preamble::new(DoorName::Mcp)
    };
    serve.http.is_none().then_some(preamble)
}

/// Serves MCP in this process until the host disconnects.
pub(crate) async fn serve(serve: McpServe, start: DoorStartContext<'_>) -> Result<CliExitStatus, ToolError> {
    let mut signals = Signals::listen()?;
    let runtime = bridges::open(options(&start.global, &start.cwd))?;
    if let Some(log) = &start.log {
        log.set_level(runtime.log_level());
    }
    let live = LiveRuntime::new(runtime);
    let options = ServerOptions {
        live: live.clone(),
        caller: caller(&serve)?,
        client: Client {
            cwd: Some(start.cwd.clone()),
            timeout: start.global.timeout,
            install_missing: start.global.install,
            ..Client::default()
        },
        text_answers: serve.text_answers,
        output_schemas: serve.output_schemas,
    };
    let ended = CancellationToken::new();
    let conversation = serve_conversation(&serve, options, ended.clone(), start.console);
    tokio::pin!(conversation);
    // The host waits for its first response, not for the hints.
    let hints = tokio::task::spawn_blocking({
        let runtime = live.current();
        move || runtime.startup_hints()
    });
    let served = tokio::select! {
        served = &mut conversation => served,
        never = print_hints(hints, start.console) => match never {},
        () = signals.next() => {
            ended.cancel();
            conversation.await
        }
    };
    // The supervisors end the remaining servers.
    let _late = tokio::time::timeout(MCP_SHUTDOWN_TIMEOUT, live.shutdown()).await;
    served.map(|()| CliExitStatus::Answered)
}

async fn serve_conversation(
    serve: &McpServe,
    options: ServerOptions,
    ended: CancellationToken,
    console: &Console,
) -> Result<(), ToolError> {
    if let Some(address) = &serve.http {
        return listen(serve, address, options, ended, console).await;
    }
    let internal = |error: &dyn std::error::Error| ToolError::new(ErrorCode::Internal, error.to_string());
    let input = stdio::input().map_err(|error| internal(&error))?;
    let output = stdio::output().map_err(|error| internal(&error))?;
    server::serve(options, input, output, ended).await.map_err(|error| internal(&error))
}

async fn listen(
    serve: &McpServe,
    address: &str,
    options: ServerOptions,
    ended: CancellationToken,
    console: &Console,
) -> Result<(), ToolError> {
    let address = address_of(address, serve.allow_remote)?;
    let internal = |error: HttpError| ToolError::new(ErrorCode::Internal, error.to_string());
    let unusable = |error: TokenError| ToolError::new(ErrorCode::InvalidArgs, error.to_string());
    let listener = Listener::bind(address).await.map_err(internal)?;
    let address = listener.address();
    let url = format!("http://{address}{}", http::ENDPOINT);
    let mut kept = None;
    let (token, file) = match &serve.token_file {
        Some(file) => (BearerToken::from_file(file).map_err(unusable)?, file.clone()),
        None => {
            let folders =
                Folders::find().map_err(|error| ToolError::new(ErrorCode::InvalidArgs, error.to_string()))?;
            let token = BearerToken::random().map_err(unusable)?;
            let file = kept.insert(token.write_file(&folders.state, address.port()).map_err(unusable)?);
            (token, file.path().to_owned())
        }
    };
    let file = file.display().to_string();
    console.print_error_lines(&[
        format!("MCP is served at {url}"),
        format!("clients send the header: Authorization: Bearer $(cat {})", escape::words(&file)),
    ]);
    let options = HttpOptions {
        server: options,
        token: Some(token),
        hosts: serve.allow_host.clone(),
        allow_unseen: serve.allow_unseen,
    };
    let served = http::serve(listener, options, ended).await.map_err(internal);
    drop(kept);
    served
}

/// Parses the address in `text`. One that other machines can reach must be permitted by `remote`.
fn address_of(text: &str, remote: bool) -> Result<SocketAddr, ToolError> {
    let spelled = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let spelled = spelled.as_deref().unwrap_or(text);
    let address: SocketAddr = spelled.parse().map_err(|_| {
        let error = format!("`{}` is not an address to listen on", text.escape_debug());
        ToolError::new(ErrorCode::InvalidArgs, error)
            .with_hint("give ADDR:PORT, like 127.0.0.1:8080 or [::1]:8080")
    })?;
    if !address.ip().is_loopback() && !remote {
        let error = format!("other machines can reach {address}, and the traffic is not encrypted");
        let hint = "listen on 127.0.0.1 behind a proxy that speaks TLS, or add --allow-remote";
        return Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint));
    }
    Ok(address)
}

/// Prints the hints once they are known. Nothing waits for them.
async fn print_hints(hints: tokio::task::JoinHandle<Vec<String>>, console: &Console) -> Infallible {
    if let Ok(hints) = hints.await {
        console.print_startup_hints(&hints);
    }
    std::future::pending().await
}

/// Creates the caller of this door, whose calls do not count as consent.
///
/// # Errors
/// The system provides no random numbers for the session id.
fn caller(serve: &McpServe) -> Result<Caller, ToolError> {
    let access = CallerAccess { profile: serve.profile.map(Into::into), ..CallerAccess::default() };
    Ok(Caller { session: own_session()?, agent: None, access })
}
