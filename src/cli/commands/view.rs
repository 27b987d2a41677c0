//! The command `view`, which opens the page about the daemon's activity.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::Reply;
use super::daemon::{connect_error, connector, to_reply, unusable_settings};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::connector::{ConnectError, DaemonConnection};
use crate::bridges::daemon::identity::is_daemon_disabled;
use crate::bridges::daemon::preamble::{DoorName, LONGEST, Preamble, RefusalCode, line, read_line};
use crate::bridges::page::host::{PageReply, PageRequest};
use crate::cli::args::doors::ViewCommandArgs;
use crate::cli::doors::DoorStartContext;
use crate::cli::exit::CliExitStatus;
use crate::process::ancestry;

/// The time limit for the daemon to open or close the page.
const VIEW_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs `view`. The address is written only to standard output.
pub(crate) async fn run(arguments: ViewCommandArgs, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    if !ancestry::is_unsupervised() {
        // Its environment may name another daemon, which would have no page to close.
        return Err(from_connect_error(ConnectError::Inside));
    }
    if start.global.no_daemon || is_daemon_disabled() {
        let error = "the page is served by the daemon, which is disabled here";
        let hint = "omit --no-daemon and LSP_TOOLS_NO_DAEMON";
        return Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint));
    }
    let connector = connector(&start)?;
    let preamble = Preamble::new(DoorName::View);
    let request = match arguments.stop {
        true => PageRequest::Stop,
        false => PageRequest::Open { allow_unseen: arguments.allow_unseen },
    };
    let reached = match arguments.stop {
        // A daemon that is not running has no page.
        true => connector.connect(&preamble).await,
        false => connector.open(&preamble).await.map(Some),
    };
    let connection = match reached {
        Ok(Some(connection)) => connection,
        Ok(None) => return Err(no_page()),
        Err(ConnectError::Settings) => return Err(unusable_settings(&start)),
        Err(error) => return Err(from_connect_error(error)),
    };
    match ask(connection, request).await? {
        PageReply::Open { port, token } => {
            let url = format!("http://127.0.0.1:{port}/{token}/");
            let output = json!({"ok": true, "url": url, "port": port});
            let text = || {
                format!(
                    "{url}\nOpen it in a browser of this machine: it is read-only.\n\
                     It ends with the daemon, or with: lsp-tools view --stop\n"
                )
            };
            to_reply(&start, &output, CliExitStatus::Answered, text)
        }
        PageReply::Stopped => {
            let output = json!({"ok": true, "stopped": true});
            to_reply(&start, &output, CliExitStatus::Answered, || "the page is closed\n".to_owned())
        }
        PageReply::Closed => Err(no_page()),
        PageReply::Failed { error } => Err(ToolError::new(ErrorCode::Internal, error)),
    }
}

async fn ask(connection: DaemonConnection, request: PageRequest) -> Result<PageReply, ToolError> {
    let unclear = |reason: &dyn std::fmt::Display| {
        ToolError::new(ErrorCode::Internal, format!("the daemon did not answer about the page: {reason}"))
    };
    let DaemonConnection { mut reader, mut writer, .. } = connection;
    let bytes = line(&request).map_err(|error| unclear(&error))?;
    let answer = async {
        writer.write_all(&bytes).await.map_err(|error| unclear(&error))?;
        read_line(&mut reader, LONGEST).await.map_err(|error| unclear(&error))
    };
    let answer =
        timeout(VIEW_TIMEOUT, answer).await.map_err(|_| unclear(&"it does not respond in time"))??;
    serde_json::from_str(&answer).map_err(|error| unclear(&error))
}

fn no_page() -> ToolError {
    ToolError::nothing_found("no page is open for this workspace and environment")
        .with_hint("open it with: lsp-tools view")
}

fn from_connect_error(error: ConnectError) -> ToolError {
    match error {
        ConnectError::Inside => ToolError::new(ErrorCode::Denied, error.to_string()),
        ConnectError::Refused(refusal) if refusal.code == RefusalCode::Inside => {
            ToolError::new(ErrorCode::Denied, refusal.error)
        }
        error => connect_error(error),
    }
}
