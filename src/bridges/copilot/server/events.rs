//! Events of a Copilot session, for observers.

use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// The call is running.
    Running,
    /// The call succeeded.
    Completed,
    /// The call failed.
    Error,
    /// The call was cancelled or never started.
    Cancelled,
}

impl CallState {
    /// Parses the server's name of a state. Returns `None` for a call that has not started.
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

/// An event of a Copilot session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopilotEvent {
    /// The server is being started.
    Starting,
    /// The server exited, and is restarted after the pause.
    Ended {
        /// The reason.
        detail: String,
        /// The pause in milliseconds.
        pause_ms: u64,
    },
    /// The server runs again with our tools. Earlier conversations are lost.
    Restarted {
        /// The number of our tools.
        tools: usize,
    },
    /// A turn starts.
    Begun {
        /// The turn's name, by which its edits are undone.
        turn: String,
    },
    /// A message of the server to the user.
    Said(String),
    /// More text of the model's reply.
    Reply(String),
    /// A call changed its state.
    Call {
        /// The tool's name.
        name: String,
        /// The new state.
        state: CallState,
        /// The reason of a failure, if given.
        detail: Option<String>,
    },
    /// A step of the turn.
    Step {
        /// The title of the step.
        title: String,
        /// The server's name of the step's state.
        status: String,
    },
}

/// The receiver of events, if any.
#[derive(Debug, Clone, Default)]
pub struct CopilotEventSink(Option<UnboundedSender<CopilotEvent>>);

impl CopilotEventSink {
    /// Creates a sink that sends to `sender`.
    pub fn new(sender: UnboundedSender<CopilotEvent>) -> Self {
        Self(Some(sender))
    }

    /// Sends an event. It is dropped if the receiver is closed.
    pub(crate) fn send(&self, event: CopilotEvent) {
        if let Some(sender) = &self.0 {
            let _ignored = sender.send(event);
        }
    }
}
