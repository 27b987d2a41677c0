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
use crate::process::restart::{RESTART_WINDOW, RestartBackoff};
use crate::tools::error::ToolError;

/// Why there is no server after [`CopilotClient::end`].
const CLIENT_ENDED: &str = "its client was ended";

/// A client of the Copilot language server, which lends it our tools.
#[derive(Debug)]
pub struct CopilotClient {
    pub(super) context: Arc<CopilotContext>,
    left_out: Vec<UnregisteredTool>,
    offer: CopilotOffer,
    slot: Mutex<CopilotLinkSlot>,
    /// Held by whoever starts a server: one start at a time.
    start_turn: tokio::sync::Mutex<()>,
    /// Cancelled when the client is ended: a start or a pause before one ends with it.
    ended: CancellationToken,
    /// The conversation that goes on, and which server knows it.
    pub(super) conversation: Mutex<Option<(u32, String)>>,
}

#[derive(Debug, Default)]
struct CopilotLinkSlot {
    link: Option<Arc<CopilotLink>>,
    /// How many servers were started.
    started: u32,
    /// The ends of servers since work was done.
    backoff: RestartBackoff,
    /// How the last one ended.
    last_words: String,
}

/// What `status` tells.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CopilotStatusReport {
    /// The server's own name and version.
    pub(crate) server: Value,
    /// Its process.
    pub(crate) pid: Option<u32>,
    /// What it says of itself.
    pub(crate) status: CopilotServerStatus,
    /// The models it offers; absent where nobody is signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) models: Option<Vec<Model>>,
    /// The tools.
    pub(crate) registration: CopilotRegistration,
}

impl CopilotClient {
    /// A client for these; no server is started yet.
    ///
    /// # Errors
    /// Where the tools cannot be listed, or not be put into one list.
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

    /// The server that runs, started if need be, and its number; after a crash with a pause, and not for ever.
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

    /// Waits until a server may be started in the place of `ended`, and tells what is going on.
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
                "{detail}; it has ended {ends} times within {} s and is left alone for {} s more",
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

    /// Makes `link` the one that is used, unless the client was ended meanwhile: then the server ends. Its number is given.
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

    /// Work was done: what ended before does not count against the server any more.
    pub(super) fn reset_backoff(&self) {
        self.slot.lock().backoff.reset();
    }

    /// What came of the registration.
    ///
    /// # Errors
    /// Where the server cannot be had, or does not take the list.
    pub async fn registration(&self) -> Result<CopilotRegistration, CopilotError> {
        let (link, _) = self.link().await?;
        Ok(link.registration.get().cloned().unwrap_or_default())
    }

    /// How things are: asks the server whether the user is signed in.
    ///
    /// # Errors
    /// Where the server cannot be had, or does not answer.
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

    /// Opens a file of the workspace in the server, which is told of its changes from then on. A file that rules keep from
    /// being read stays closed.
    ///
    /// # Errors
    /// Where the path is not in the workspace, or the server cannot be had.
    pub async fn open_document(&self, path: &Path) -> Result<(), ToolError> {
        let path = self.context.runtime().context().path(path)?;
        let (link, _) = self.link().await?;
        link.open_document(&self.context, path).await;
        Ok(())
    }

    /// What the server says of itself; empty before it is started.
    pub(crate) fn status(&self) -> CopilotServerStatus {
        self.context.statuses.current()
    }

    /// Takes our tools back, and ends the server, also one that is being started. None is started any more.
    pub async fn end(&self) {
        self.ended.cancel();
        let link = self.slot.lock().link.take();
        if let Some(link) = link {
            link.end().await;
        }
        self.context.runtime().end_session(&self.context.caller.session);
    }
}
