//! Events of a Copilot session, for observers.

use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It runs.
    Running,
    /// It did what it was asked.
    Completed,
    /// It did not.
    Error,
    /// It was ended, or not begun.
    Cancelled,
}

impl CallState {
    /// The state that the server calls `word`; one that has not begun has none.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "running" => Self::Running,
            "completed" => Self::Completed,
            "error" => Self::Error,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopilotEvent {
    /// The server is being started.
    Starting,
    /// The server ended; it is started again after so many milliseconds.
    Ended {
        /// Why, in words.
        detail: String,
        /// The pause.
        pause_ms: u64,
    },
    /// It runs again, with so many tools of ours; conversations from before are gone.
    Restarted {
        /// How many.
        tools: usize,
    },
    /// A turn begins.
    Begun {
        /// Its name, by which its edits are undone.
        turn: String,
    },
    /// The server has something to say to the user.
    Said(String),
    /// The model has said more.
    Reply(String),
    /// A call changed its state.
    Call {
        /// The tool.
        name: String,
        /// Where it stands.
        state: CallState,
        /// Why it failed, where that was said.
        detail: Option<String>,
    },
    /// A step of the turn.
    Step {
        /// What it is.
        title: String,
        /// The server's word for where it stands.
        status: String,
    },
}

/// Who looks on, if anybody does.
#[derive(Debug, Clone, Default)]
pub struct CopilotEventSink(Option<UnboundedSender<CopilotEvent>>);

impl CopilotEventSink {
    /// To this one.
    pub fn new(sender: UnboundedSender<CopilotEvent>) -> Self {
        Self(Some(sender))
    }

    /// Tells; nobody may be there any more.
    pub(crate) fn send(&self, event: CopilotEvent) {
        if let Some(sender) = &self.0 {
            let _gone = sender.send(event);
        }
    }
}
