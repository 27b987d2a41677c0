//! The start of a Copilot server: its process, the handshake, and the registration of our tools.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use super::context::CopilotContext;
use super::documents::CopilotDocuments;
use super::error::CopilotError;
use super::handler::CopilotHandler;
use super::handshake::{self, SERVER};
use super::link::{CopilotLink, WeakCopilotLink};
use super::offer::{CopilotOffer, UnregisteredTool};
use super::register;
use crate::analysis::install_outcome::InstallState;
use crate::lsp::servers::manager::SessionUnavailable;
use crate::process::ServerProcess;
use crate::rpc::Peer;

/// The time limit for `initialize` if the catalogue has none.
const COPILOT_INITIALIZE_TIMEOUT: Duration = Duration::from_secs(60);
/// Starts a server and registers `offer` with it. Refused tools are listed in the registration and
/// removed from the offer.
pub(super) async fn start(
    context: &Arc<CopilotContext>,
    mut offer: CopilotOffer,
    left_out: Vec<UnregisteredTool>,
) -> Result<Arc<CopilotLink>, CopilotError> {
    context.statuses.reset();
    let mut process = spawn(context).await?;
    let (Some(stdout), Some(stdin)) = (process.take_stdout(), process.take_stdin()) else {
        return Err(CopilotError::Start { detail: "its pipes are gone".to_owned() });
    };
    let line = Arc::new(WeakCopilotLink::default());
    let handler = CopilotHandler { context: context.clone(), link: line.clone() };
    let trace = context.runtime().context().manager.trace().filter(|_| context.traced);
    let connection = Peer::open(SERVER, stdout, stdin, handler, trace);
    let link = Arc::new(CopilotLink {
        connection,
        documents: CopilotDocuments::default(),
        process,
        info: OnceLock::new(),
        registration: OnceLock::new(),
    });
    line.set(&link);
    if let Err(error) = initialize(&link, context).await {
        let detail = match error {
            CopilotError::Ended { .. } => link.exit_report().await,
            other => other.to_string(),
        };
        return Err(CopilotError::Start { detail });
    }
    let registration = register::register_tools(&link.connection, &mut offer, left_out).await;
    let registration = match registration {
        Ok(registration) => registration,
        Err(error) => {
            let error = link.with_exit_report(error).await;
            link.end().await;
            return Err(error);
        }
    };
    context.set_offer(offer);
    let _first = link.registration.set(registration);
    Ok(link)
}

async fn initialize(link: &CopilotLink, context: &CopilotContext) -> Result<(), CopilotError> {
    let runtime = context.runtime();
    let spec = runtime.catalogue().servers.get(SERVER);
    let limit =
        spec.and_then(|spec| spec.start_timeout).map_or(COPILOT_INITIALIZE_TIMEOUT, Duration::from_secs);
    let answer: Value = link.request("initialize", &handshake::initialize(context), limit).await?;
    let _first = link.info.set(answer.get("serverInfo").cloned().unwrap_or_default());
    link.connection.notify("initialized", &json!({}));
    let settings = json!({"settings": handshake::settings(context)});
    link.connection.notify("workspace/didChangeConfiguration", &settings);
    Ok(())
}

/// Starts the program. If it is missing and installation was requested, installs it first.
async fn spawn(context: &CopilotContext) -> Result<ServerProcess, CopilotError> {
    let runtime = context.runtime();
    let context = runtime.context();
    let started = context.manager.spawn_alone(SERVER).await;
    if !matches!(started, Err(SessionUnavailable::Missing { .. })) || !context.install_missing {
        return Ok(started?);
    }
    let installed = context.installs.install(&context, SERVER).await;
    let item = installed.map_err(|error| CopilotError::Start { detail: error.to_string() })?;
    if matches!(item.state, InstallState::Failed | InstallState::Manual) {
        let detail = item.detail.unwrap_or_else(|| "it was not installed".to_owned());
        return Err(CopilotError::Start { detail });
    }
    Ok(context.manager.spawn_alone(SERVER).await?)
}
