//! The daemon's exit reasons and their detection.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::clients::Clients;
use super::folder::DaemonFolder;
use super::identity::DaemonIdentity;
use crate::platform::inode::InodeIdentity;
use crate::runtime::live::LiveRuntime;

/// The interval of the checks for exit reasons, since a replaced program or a removed socket causes
/// no event.
const DAEMON_EXIT_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The reason for a daemon's exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DaemonExitReason {
    /// `daemon stop`.
    Asked,
    /// A signal.
    Signalled,
    /// No client was connected for the idle time of the settings.
    Idle,
    /// The program file was replaced.
    Replaced,
    /// The root of the workspace was removed or replaced.
    RootGone,
    /// The socket was removed, so clients can no longer connect.
    SocketGone,
}

impl fmt::Display for DaemonExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "it was stopped",
            Self::Signalled => "it got a signal",
            Self::Idle => "no client was connected for `idle-stop-s` under [daemon]",
            Self::Replaced => "its program was replaced",
            Self::RootGone => "the workspace is gone",
            Self::SocketGone => "its socket was removed",
        })
    }
}

/// The state that is checked for exit reasons.
pub(super) struct DaemonLifeWatch<'a> {
    pub(crate) identity: &'a DaemonIdentity,
    pub(crate) folder: &'a DaemonFolder,
    pub(crate) socket: Option<InodeIdentity>,
    pub(crate) clients: &'a Clients,
    pub(crate) live: &'a LiveRuntime,
}

impl DaemonLifeWatch<'_> {
    /// Waits for a reason to exit. Meanwhile applies changed settings for connected clients.
    pub(super) async fn wait_for_exit_reason(&self) -> DaemonExitReason {
        let root = directory_identity(self.identity.root());
        let mut broken = None;
        let mut looks = tokio::time::interval(DAEMON_EXIT_CHECK_INTERVAL);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if root.is_none() || directory_identity(self.identity.root()) != root {
                return DaemonExitReason::RootGone;
            }
            if self.identity.binary().is_replaced() {
                return DaemonExitReason::Replaced;
            }
            if self.folder.socket_id(self.identity.key()) != self.socket {
                return DaemonExitReason::SocketGone;
            }
            let settings = self.live.refresh().map(drop).map_err(|error| error.to_string());
            if settings.as_ref().err() != broken.as_ref() {
                if let Err(error) = &settings {
                    tracing::warn!("the new settings are invalid, so the old ones stay in effect: {error}");
                }
                broken = settings.err();
            }
            let idle = self.live.current().settings().daemon.idle_stop();
            if self.clients.idle_time().is_some_and(|alone| alone >= idle) {
                return DaemonExitReason::Idle;
            }
        }
    }
}

fn directory_identity(path: &Path) -> Option<InodeIdentity> {
    InodeIdentity::of_folder(path)
}
