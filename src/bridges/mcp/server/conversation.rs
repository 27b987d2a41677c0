//! One session with an MCP client, and the state shared by all sessions of one door.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::RequestStateCodec;
use rmcp::task_manager::TaskManager;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::answer_form::AnswerForm;
use super::options::ServerOptions;
use super::roots::ClientRoots;
use super::subscriptions::SubscriptionHub;
use crate::runtime::live::LiveRuntime;
use crate::runtime::{Client, Runtime};
use crate::tools::api::tool::Caller;

/// The state shared by all sessions of one door.
#[derive(Clone)]
pub(super) struct McpServerState {
    pub(super) options: ServerOptions,
    disconnected: CancellationToken,
    seal: Arc<RequestStateCodec>,
    watch: Arc<SubscriptionHub>,
    tasks: TaskManager,
    /// Names of tools that were logged.
    pub(super) registered: Arc<Mutex<BTreeSet<String>>>,
}

impl McpServerState {
    /// Creates the state. Serves until `gone` is cancelled; the states of calls that wait for an
    /// answer are sealed with `key`.
    pub(super) fn new(mut options: ServerOptions, disconnected: CancellationToken, key: [u8; 32]) -> Self {
        // Hosts start us in any folder and name the workspace. A folder outside of it could not be
        // the base of relative paths.
        let runtime = options.live.current();
        let workspace = runtime.workspace();
        options.client.cwd.take_if(|cwd| workspace.workspace_path(cwd).is_none());
        options.client.cwd.get_or_insert_with(|| workspace.root().to_owned());
        Self {
            watch: SubscriptionHub::new(options.clone(), disconnected.clone()),
            seal: Arc::new(RequestStateCodec::new_unchecked(key)),
            tasks: TaskManager::new(),
            options,
            disconnected,
            registered: Arc::default(),
        }
    }
}

/// One session, or one request of a client without a session.
pub struct McpConversation {
    pub(super) shared: McpServerState,
    /// The session's id in the protocol era with sessions.
    session: String,
    /// True if its client is the only one of its door.
    alone: bool,
    /// The active subscriptions of a client of that era, by URI.
    pub(super) subscriptions: Mutex<BTreeMap<String, AbortOnDropHandle<()>>>,
    /// The folder for relative paths of a client of that era.
    pub(super) roots: ClientRoots,
}

impl McpConversation {
    /// Creates the only session of a pipe.
    pub(super) fn new(options: ServerOptions, disconnected: CancellationToken, key: [u8; 32]) -> Self {
        let session = options.caller.session.clone();
        let mut conversation = Self::for_session(McpServerState::new(options, disconnected, key), session);
        conversation.alone = true;
        conversation
    }

    /// Creates one of several sessions.
    pub(super) fn for_session(shared: McpServerState, session: String) -> Self {
        Self { shared, session, alone: false, subscriptions: Mutex::default(), roots: ClientRoots::default() }
    }

    /// Returns the current runtime.
    pub(super) fn runtime(&self) -> Runtime {
        self.live().current()
    }

    /// Starts the servers of the project's languages before the first question to them.
    pub(super) fn start_servers(&self) {
        let runtime = self.runtime();
        // The client does not wait for the detection of languages.
        drop(tokio::task::spawn_blocking(move || runtime.start_servers()));
    }

    fn live(&self) -> &LiveRuntime {
        &self.shared.options.live
    }

    /// Cancelled when the client disconnects.
    pub(super) fn gone(&self) -> &CancellationToken {
        &self.shared.disconnected
    }

    /// The codec that seals the states of calls that wait for an answer.
    pub(super) fn seal(&self) -> &RequestStateCodec {
        &self.shared.seal
    }

    pub(super) fn watch(&self) -> &Arc<SubscriptionHub> {
        &self.shared.watch
    }

    /// The calls that continue without their request.
    pub(super) fn tasks(&self) -> &TaskManager {
        &self.shared.tasks
    }

    /// The client's folder and deadlines.
    pub(super) fn client(&self) -> Client {
        let client = self.shared.options.client.clone();
        Client { cwd: self.roots.folder().or(client.cwd), ..client }
    }

    /// Returns the caller. Requests of the era without sessions all have the door's own caller.
    pub(super) fn caller(&self, modern: bool) -> Caller {
        let mut caller = self.shared.options.caller.clone();
        if !modern {
            caller.session.clone_from(&self.session);
        }
        caller
    }

    /// Returns true if several clients use one session, which is the case for clients of the era
    /// without sessions on a shared door.
    pub(super) fn is_shared(&self, modern: bool) -> bool {
        modern && !self.alone
    }

    /// Returns the form of this client's answers.
    pub(super) fn answer_form(&self) -> AnswerForm {
        let root = self.live().root();
        AnswerForm { root, text_only: self.shared.options.text_answers }
    }
}

impl Drop for McpConversation {
    fn drop(&mut self) {
        // The approvals of this session end with it.
        self.runtime().end_session(&self.session);
    }
}
