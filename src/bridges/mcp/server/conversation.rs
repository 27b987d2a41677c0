//! One conversation with an MCP client, and what all conversations of one door share.

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
use crate::tools::tool::Caller;

/// What all conversations of one door share.
#[derive(Clone)]
pub(super) struct McpServerState {
    pub(super) options: ServerOptions,
    disconnected: CancellationToken,
    seal: Arc<RequestStateCodec>,
    watch: Arc<SubscriptionHub>,
    tasks: TaskManager,
    /// Names of tools that were told in the log.
    pub(super) registered: Arc<Mutex<BTreeSet<String>>>,
}

impl McpServerState {
    /// Answers until `gone` is cancelled; states of calls that wait for an answer are sealed with `key`.
    pub(super) fn new(mut options: ServerOptions, gone: CancellationToken, key: [u8; 32]) -> Self {
        // Hosts start us anywhere and name the workspace: from a folder elsewhere no relative path would lead into it.
        let runtime = options.live.current();
        let workspace = runtime.workspace();
        options.client.cwd.take_if(|cwd| workspace.workspace_path(cwd).is_none());
        options.client.cwd.get_or_insert_with(|| workspace.root().to_owned());
        Self {
            watch: SubscriptionHub::new(options.clone(), gone.clone()),
            seal: Arc::new(RequestStateCodec::new_unchecked(key)),
            tasks: TaskManager::new(),
            options,
            disconnected: gone,
            registered: Arc::default(),
        }
    }
}

/// One conversation, or one request of a client that has none.
pub struct McpConversation {
    pub(super) shared: McpServerState,
    /// The session's name in the era that has sessions.
    session: String,
    /// Its client is the only one of its door.
    alone: bool,
    /// What a client of that era is told unasked, by the URI it subscribed to.
    pub(super) subscriptions: Mutex<BTreeMap<String, AbortOnDropHandle<()>>>,
    /// Where a client of that era wants its relative paths to begin.
    pub(super) roots: ClientRoots,
}

impl McpConversation {
    /// The only conversation of its pipe.
    pub(super) fn new(options: ServerOptions, gone: CancellationToken, key: [u8; 32]) -> Self {
        let session = options.caller.session.clone();
        let mut conversation = Self::for_session(McpServerState::new(options, gone, key), session);
        conversation.alone = true;
        conversation
    }

    /// One of several conversations.
    pub(super) fn for_session(shared: McpServerState, session: String) -> Self {
        Self { shared, session, alone: false, subscriptions: Mutex::default(), roots: ClientRoots::default() }
    }

    /// The runtime that is open now.
    pub(super) fn runtime(&self) -> Runtime {
        self.live().current()
    }

    /// Has the servers of the project's languages started before the first question to them.
    pub(super) fn start_servers(&self) {
        let runtime = self.runtime();
        // The client does not wait for the look at the workspace.
        drop(tokio::task::spawn_blocking(move || runtime.start_servers()));
    }

    fn live(&self) -> &LiveRuntime {
        &self.shared.options.live
    }

    /// Cancelled when the client has gone.
    pub(super) fn gone(&self) -> &CancellationToken {
        &self.shared.disconnected
    }

    /// What seals the states of calls that wait for an answer.
    pub(super) fn seal(&self) -> &RequestStateCodec {
        &self.shared.seal
    }

    pub(super) fn watch(&self) -> &Arc<SubscriptionHub> {
        &self.shared.watch
    }

    /// The calls that go on without their request.
    pub(super) fn tasks(&self) -> &TaskManager {
        &self.shared.tasks
    }

    /// Folder and deadlines of the client.
    pub(super) fn client(&self) -> Client {
        let client = self.shared.options.client.clone();
        Client { cwd: self.roots.folder().or(client.cwd), ..client }
    }

    /// Who calls. Requests of the era without sessions all come from the door's own caller.
    pub(super) fn caller(&self, modern: bool) -> Caller {
        let mut caller = self.shared.options.caller.clone();
        if !modern {
            caller.session.clone_from(&self.session);
        }
        caller
    }

    /// Whether several clients call by one session: those of the era without sessions, over a door that they share.
    pub(super) fn is_shared(&self, modern: bool) -> bool {
        modern && !self.alone
    }

    /// How this client's answers are put.
    pub(super) fn answer_form(&self) -> AnswerForm {
        let root = self.live().root();
        AnswerForm { root, text_only: self.shared.options.text_answers }
    }
}

impl Drop for McpConversation {
    fn drop(&mut self) {
        // What was agreed to for this conversation ends with it.
        self.runtime().end_session(&self.session);
    }
}
