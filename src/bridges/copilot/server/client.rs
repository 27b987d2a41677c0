//! The Copilot client: one server at a time, started on demand and restarted after a crash.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::context::{CopilotContext, CopilotOptions};
use super::error::CopilotError;
use super::events::CopilotEvent;
use super::link::{COPILOT_REQUEST_TIMEOUT, CopilotLink};
use super::models::{self, Model};
use super::offer::{CopilotOffer, UnregisteredTool};
use super::register::CopilotRegistration;
use super::start;
use super::status::{CopilotServerStatus, SignInStatus};
use crate::analysis::error::ToolError;
use crate::process::restart::{RESTART_WINDOW, RestartBackoff};

/// The reason for a missing server after [`CopilotClient::end`].
const CLIENT_ENDED: &str = "its client was ended";

/// A client of the Copilot language server, which provides our tools to it.
#[derive(Debug)]
pub struct CopilotClient {
    pub(super) context: Arc<CopilotContext>,
    left_out: Vec<UnregisteredTool>,
    offer: CopilotOffer,
    slot: Mutex<CopilotLinkSlot>,
    /// Serializes the starts of servers.
    start_turn: tokio::sync::Mutex<()>,
    /// Cancelled when the client ends, which aborts a start or the pause before it.
    ended: CancellationToken,
    /// The current conversation, and the number of the server that knows it.
    pub(super) conversation: Mutex<Option<(u32, String)>>,
}

#[derive(Debug, Default)]
struct CopilotLinkSlot {
    link: Option<Arc<CopilotLink>>,
    /// The number of servers started so far.
    started: u32,
    /// The server exits since the last successful work.
    backoff: RestartBackoff,
    /// The exit report of the last server.
    last_words: String,
}

/// The report of the command `status`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CopilotStatusReport {
    /// The server's own name and version.
    pub(crate) server: Value,
    /// The server's process id.
    pub(crate) pid: Option<u32>,
    /// The status reported by the server.
    pub(crate) status: CopilotServerStatus,
    /// The models that the server offers; absent without a signed-in user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) models: Option<Vec<Model>>,
    /// The registration of the tools.
    pub(crate) registration: CopilotRegistration,
}

impl CopilotClient {
    /// Creates a client with these options. Starts no server.
    ///
    /// # Errors
    /// The tools cannot be listed, or not be put into one list.
    pub async fn new(options: CopilotOptions) -> Result<Self, CopilotError> {
        let definitions =
            options.backend.definitions(&options.caller, false).await.map_err(CopilotError::Tools)?;
        let runtime = options.live.current();
        let names = options.names.choices(&runtime, &options.caller);
        let (offer, left_out) = CopilotOffer::new(&definitions, &names)?;
        let context = Arc::new(CopilotContext::new(options, offer.clone()));
        Ok(Self {
            context,
            left_out,
            offer,
            slot: Mutex::default(),
            start_turn: tokio::sync::Mutex::default(),
            ended: CancellationToken::new(),
            conversation: Mutex::default(),
        })
    }

    /// Returns the running server and its number, and starts one if necessary. After crashes,
    /// starts are delayed and limited in number.
    pub(super) async fn link(&self) -> Result<(Arc<CopilotLink>, u32), CopilotError> {
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(CopilotError::Ended { detail: CLIENT_ENDED.to_owned() }),
            linked = self.ensure_link() => linked,
        }
    }

    async fn ensure_link(&self) -> Result<(Arc<CopilotLink>, u32), CopilotError> {
        if let Some(running) = self.running_link() {
            return Ok(running);
        }
        let _turn = self.start_turn.lock().await;
        if let Some(running) = self.running_link() {
            return Ok(running);
        }
        let ended = self.slot.lock().link.take();
        self.wait_for_start(ended.as_deref()).await?;
        let link = start::start(&self.context, self.offer.clone(), self.left_out.clone()).await?;
        if let Some(ended) = &ended {
            for path in ended.documents.paths().await {
                link.open_document(&self.context, path).await;
            }
        }
        let started = self.adopt_link(&link).await?;
        if ended.is_some() {
            let tools = link.registration.get().map_or(0, CopilotRegistration::ours);
            self.context.events.send(CopilotEvent::Restarted { tools });
        }
        Ok((link, started))
    }

    fn running_link(&self) -> Option<(Arc<CopilotLink>, u32)> {
        let slot = self.slot.lock();
        slot.link.as_ref().filter(|link| link.is_alive()).map(|link| (link.clone(), slot.started))
    }

    /// Waits until a server may replace `ended`, and sends events about the wait.
    async fn wait_for_start(&self, ended: Option<&CopilotLink>) -> Result<(), CopilotError> {
        let last_words = match ended {
            Some(link) => Some(link.exit_report().await),
            None => None,
        };
        let (ends, next_start, detail) = {
            let mut slot = self.slot.lock();
            if let Some(last_words) = last_words {
                slot.backoff.record_end();
                slot.last_words = last_words;
            }
            let next_start = slot.backoff.next_start();
            (slot.backoff.recent_exits(), next_start, slot.last_words.clone())
        };
        let pause = |until: Instant| until.saturating_duration_since(Instant::now());
        let moment = next_start.map_err(|until| CopilotError::Ended {
            detail: format!(
                "{detail}; it ended {ends} times within {} s; next attempt in {} s",
                RESTART_WINDOW.as_secs(),
                pause(until).as_secs() + 1
            ),
        })?;
        self.context.events.send(match ended {
            Some(_) => CopilotEvent::Ended {
                detail,
                pause_ms: pause(moment).as_millis().try_into().unwrap_or(u64::MAX),
            },
            None => CopilotEvent::Starting,
        });
        sleep_until(moment).await;
        Ok(())
    }

    /// Makes `link` the current server and returns its number. If the client has ended meanwhile,
    /// the server is ended instead.
    async fn adopt_link(&self, link: &Arc<CopilotLink>) -> Result<u32, CopilotError> {
        {
            let mut slot = self.slot.lock();
            slot.started += 1;
            if !self.ended.is_cancelled() {
                slot.link = Some(link.clone());
                return Ok(slot.started);
            }
        }
        link.end().await;
        Err(CopilotError::Ended { detail: CLIENT_ENDED.to_owned() })
    }

    /// Resets the backoff after successful work, so that earlier exits no longer count.
    pub(super) fn reset_backoff(&self) {
        self.slot.lock().backoff.reset();
    }

    /// Returns the registration of the tools.
    ///
    /// # Errors
    /// No server is available, or it refuses the list.
    pub async fn registration(&self) -> Result<CopilotRegistration, CopilotError> {
        let (link, _) = self.link().await?;
        Ok(link.registration.get().cloned().unwrap_or_default())
    }

    /// Reports the status, and asks the server whether the user is signed in.
    ///
    /// # Errors
    /// No server is available, or it does not respond.
    pub(crate) async fn report(&self) -> Result<CopilotStatusReport, CopilotError> {
        let (link, _) = self.link().await?;
        let checked = link.request("checkStatus", &json!({}), COPILOT_REQUEST_TIMEOUT).await?;
        match serde_json::from_value::<SignInStatus>(checked) {
            Ok(checked) => self.context.statuses.set_sign_in(checked),
            Err(error) => {
                let what = error.to_string();
                return Err(CopilotError::Malformed { method: "checkStatus".to_owned(), what });
            }
        }
        let models = match models::list(&link).await {
            Ok(models) => Some(models),
            Err(CopilotError::NotSignedIn { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(CopilotStatusReport {
            server: link.info.get().cloned().unwrap_or_default(),
            pid: link.pid(),
            status: self.context.statuses.current(),
            models,
            registration: link.registration.get().cloned().unwrap_or_default(),
        })
    }

    /// Opens a file of the workspace in the server, which receives its changes from then on. A file
    /// that the rules hide stays closed.
    ///
    /// # Errors
    /// The path is not in the workspace, or no server is available.
    pub async fn open_document(&self, path: &Path) -> Result<(), ToolError> {
        let path = self.context.runtime().context().path(path)?;
        let (link, _) = self.link().await?;
        link.open_document(&self.context, path).await;
        Ok(())
    }

    /// The status reported by the server; empty before its start.
    pub(crate) fn status(&self) -> CopilotServerStatus {
        self.context.statuses.current()
    }

    /// Unregisters our tools, and ends the server, even one that is being started. No further
    /// server is started.
    pub async fn end(&self) {
        self.ended.cancel();
        let link = self.slot.lock().link.take();
        if let Some(link) = link {
            link.end().await;
        }
        self.context.runtime().end_session(&self.context.caller.session);
    }
}
