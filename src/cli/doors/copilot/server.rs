//! The commands `copilot status`, `copilot tools` and `copilot sign-in`.

use serde_json::json;

use super::open::OpenCopilotClient;
use crate::analysis::error::ToolError;
use crate::bridges::copilot::server::{CopilotError, CopilotStatusReport, ResultFormat};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::copilot::CopilotStatus;
use crate::cli::doors::DoorStartContext;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::copilot as render;
use crate::cli::reply::Reply;
use crate::cli::signals::Signals;

/// `copilot status`.
pub(super) async fn status(
    arguments: CopilotStatus,
    start: DoorStartContext<'_>,
) -> Result<Reply, ToolError> {
    let Some(report) = report(arguments, &start).await? else { return Ok(interrupted_reply()) };
    let signed_in = report.status.signed_in();
    let status = if signed_in { CliExitStatus::Answered } else { CliExitStatus::Unpleasant };
    if start.global.format == CliOutputFormat::Json {
        let mut out = json!({"ok": true, "signed_in": signed_in});
        merge(&mut out, &json!(report));
        return Ok(Reply { out: format!("{out}\n"), lines: Vec::new(), status });
    }
    Ok(Reply { out: render::report(&report, &start.console.out), lines: Vec::new(), status })
}

/// `copilot tools`.
pub(super) async fn tools(arguments: CopilotStatus, start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let opened =
        OpenCopilotClient::new(&start, arguments.profile, &arguments.names, ResultFormat::Tuple, true)
            .await?;
    let mut signals = Signals::listen()?;
    let registration = tokio::select! {
        biased;
        () = signals.next() => None,
        registration = opened.copilot.registration() => Some(registration),
    };
    opened.close().await;
    let Some(registration) = registration else { return Ok(interrupted_reply()) };
    let registration = registration.map_err(ToolError::from)?;
    if start.global.format == CliOutputFormat::Json {
        let mut out = json!({"ok": true});
        merge(&mut out, &json!(registration));
        return Ok(Reply { out: format!("{out}\n"), lines: Vec::new(), status: CliExitStatus::Answered });
    }
    Ok(Reply {
        out: render::tools(&registration, &start.console.out),
        lines: render::left_out(&registration),
        status: CliExitStatus::Answered,
    })
}

/// Returns the server's report, or `None` after an interrupt.
async fn report(
    arguments: CopilotStatus,
    start: &DoorStartContext<'_>,
) -> Result<Option<CopilotStatusReport>, ToolError> {
    let opened =
        OpenCopilotClient::new(start, arguments.profile, &arguments.names, ResultFormat::Tuple, true).await?;
    let mut signals = Signals::listen()?;
    let report = tokio::select! {
        biased;
        () = signals.next() => None,
        report = opened.copilot.report() => Some(report),
    };
    opened.close().await;
    Ok(report.transpose()?)
}

/// `copilot sign-in`. Nothing of it is recorded, even with `--trace`.
pub(super) async fn sign_in(start: DoorStartContext<'_>) -> Result<Reply, ToolError> {
    let opened = OpenCopilotClient::new(&start, None, &[], ResultFormat::Tuple, false).await?;
    let mut signals = Signals::listen()?;
    let signing = async {
        let Some(code) = opened.copilot.begin_sign_in().await? else {
            return Ok(opened.copilot.status());
        };
        start.console.print_error_lines(&render::code(&code));
        opened.copilot.finish_sign_in(&code).await
    };
    let signed: Option<Result<_, CopilotError>> = tokio::select! {
        biased;
        () = signals.next() => None,
        signed = signing => Some(signed),
    };
    opened.close().await;
    let Some(signed) = signed else { return Ok(interrupted_reply()) };
    let signed = signed?;
    let status = if signed.signed_in() { CliExitStatus::Answered } else { CliExitStatus::Failed };
    let out = match start.global.format {
        CliOutputFormat::Json => {
            format!("{}\n", json!({"ok": signed.signed_in(), "status": signed.auth, "user": signed.user}))
        }
        _ => render::sign_in_status(&signed),
    };
    Ok(Reply { out, lines: Vec::new(), status })
}

fn merge(into: &mut serde_json::Value, from: &serde_json::Value) {
    if let (Some(into), Some(from)) = (into.as_object_mut(), from.as_object()) {
        into.extend(from.clone());
    }
}

/// Returns the reply after an interrupt.
pub(super) fn interrupted_reply() -> Reply {
    Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted }
}
