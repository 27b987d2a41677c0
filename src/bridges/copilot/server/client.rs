//! The client: one server at a time, started when it is needed, and again after a crash.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::error::CopilotError;
use super::events::CopilotEvent;
use super::link::{CopilotLink, SHORT};
use super::models::{self, Model};
use super::offer::{CopilotOffer, UnregisteredTool};
use super::register::CopilotRegistration;
use super::room::{CopilotContext, CopilotOptions};
use super::status::{CopilotServerStatus, SignInStatus};
use crate::tools::error::ToolError;

/// How often in a row a server may end before it is given up.
const MOST_CRASHES: u32 = 4;
/// The pause before the first restart; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

/// A client of the Copilot language server, which lends it our tools.
#[derive(Debug)]
pub struct CopilotClient {
    pub(super) room: Arc<CopilotContext>,
    left_out: Vec<UnregisteredTool>,
    offer: CopilotOffer,
    slot: Mutex<CopilotLinkSlot>,
    /// Cancelled when the client is ended: a start or a pause before one ends with it.
    ended: CancellationToken,
    /// The conversation that goes on, and which server knows it.
    pub(super) conversation: parking_lot::Mutex<Option<(u32, String)>>,
}

#[derive(Debug, Default)]
struct CopilotLinkSlot {
    link: Option<Arc<CopilotLink>>,
    /// How many servers were started.
    started: u32,
    /// How many ended in a row, none of them after work that was done.
    crashes: u32,
    /// None is started any more, because of this.
    given_up: Option<String>,
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
    /// Where the tools cannot be put into one list.
    pub fn new(options: CopilotOptions) -> Result<Self, CopilotError> {
        let runtime = options.live.current();
        let definitions = runtime.definitions(&options.caller);
        let names = options.names.of(&runtime, &options.caller);
        let (offer, left_out) = CopilotOffer::of(&definitions, &names)?;
        let room = Arc::new(CopilotContext::new(options, offer.clone()));
        Ok(Self {
            room,
            left_out,
            offer,
            slot: Mutex::default(),
            ended: CancellationToken::new(),
            conversation: parking_lot::Mutex::default(),
        })
    }

    /// The server that runs, started if need be, and its number; after a crash with a pause, and not for ever.
    pub(super) async fn link(&self) -> Result<(Arc<CopilotLink>, u32), CopilotError> {
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(CopilotError::Ended { detail: "its client was ended".to_owned() }),
            linked = self.linked() => linked,
        }
    }

    async fn linked(&self) -> Result<(Arc<CopilotLink>, u32), CopilotError> {
        let mut slot = self.slot.lock().await;
        if let Some(link) = slot.link.as_ref().filter(|link| link.is_alive()) {
            return Ok((link.clone(), slot.started));
        }
        if let Some(detail) = &slot.given_up {
            return Err(CopilotError::Ended { detail: detail.clone() });
        }
        let ended = slot.link.take();
        if let Some(link) = &ended {
            let detail = link.last_words().await;
            slot.crashes += 1;
            if slot.crashes > MOST_CRASHES {
                let detail =
                    format!("{detail}; it has ended {} times in a row and is given up", slot.crashes);
                slot.given_up = Some(detail.clone());
                return Err(CopilotError::Ended { detail });
            }
            let pause = PAUSE * 2u32.pow(slot.crashes - 1);
            let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            self.room.events.send(CopilotEvent::Ended { detail, pause_ms });
            tokio::time::sleep(pause).await;
        } else {
            self.room.events.send(CopilotEvent::Starting);
        }
        slot.started += 1;
        let link = CopilotLink::start(&self.room, self.offer.clone(), self.left_out.clone()).await?;
        slot.link = Some(link.clone());
        if let Some(ended) = ended {
            for path in ended.documents.paths().await {
                link.open_document(&self.room, path).await;
            }
            let tools = link.registration.get().map_or(0, CopilotRegistration::ours);
            self.room.events.send(CopilotEvent::Restarted { tools });
        }
        Ok((link, slot.started))
    }

    /// Work was done: what ended before does not count against the server any more.
    pub(super) async fn went_well(&self) {
        self.slot.lock().await.crashes = 0;
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
        let checked = link.request("checkStatus", &json!({}), SHORT).await?;
        match serde_json::from_value::<SignInStatus>(checked) {
            Ok(checked) => self.room.statuses.checked(checked),
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
            status: self.room.statuses.now(),
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
        let path = self.room.runtime().context().path(path)?;
        let (link, _) = self.link().await?;
        link.open_document(&self.room, path).await;
        Ok(())
    }

    /// What the server says of itself; empty before it is started.
    pub(crate) fn status(&self) -> CopilotServerStatus {
        self.room.statuses.now()
    }

    /// Takes our tools back, and ends the server, also one that is being started. None is started any more.
    pub async fn end(&self) {
        self.ended.cancel();
        let link = self.slot.lock().await.link.take();
        if let Some(link) = link {
            link.end().await;
        }
        self.room.runtime().end_session(&self.room.caller.session);
    }
}
