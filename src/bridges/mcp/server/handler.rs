//! The handler of MCP requests, which delegates each to the file of its method. Each request is answered, also when our own
//! code panics.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec,
    ResourceUpdatedNotificationParam, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::answer_form::AnswerForm;
use super::ask::is_modern;
#[cfg(feature = "conformance")]
use super::conformance;
use super::roots::ClientRoots;
use super::subscriptions::{MAX_WATCHED_RESOURCES, Subscription, SubscriptionChange, SubscriptionHub};
use super::{ServerOptions, call, complete, list, prompts, resources, server_info, skills};
use crate::runtime::live::LiveRuntime;
use crate::runtime::{Client, Runtime};
use crate::tools::error::panic_text;
use crate::tools::tool::Caller;

/// What is told to a legacy client under this name is the list of tools.
const TOOLS: &str = "";

/// What all conversations of one door share.
#[derive(Clone)]
pub(super) struct McpServerState {
    options: ServerOptions,
    disconnected: CancellationToken,
    seal: Arc<RequestStateCodec>,
    watch: Arc<SubscriptionHub>,
    tasks: TaskManager,
    /// Names of tools that were told in the log.
    registered: Arc<Mutex<BTreeSet<String>>>,
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
pub(super) struct McpServerHandler {
    shared: McpServerState,
    /// The session's name in the era that has sessions.
    session: String,
    /// Its client is the only one of its door.
    alone: bool,
    /// What a client of that era is told unasked, by the URI it subscribed to.
    subscriptions: Mutex<BTreeMap<String, AbortOnDropHandle<()>>>,
    /// Where a client of that era wants its relative paths to begin.
    roots: ClientRoots,
}

impl McpServerHandler {
    /// The only conversation of its pipe.
    pub(super) fn new(options: ServerOptions, gone: CancellationToken, key: [u8; 32]) -> Self {
        let session = options.caller.session.clone();
        let mut handler = Self::for_session(McpServerState::new(options, gone, key), session);
        handler.alone = true;
        handler
    }

    /// One of several conversations.
    pub(super) fn for_session(shared: McpServerState, session: String) -> Self {
        Self { shared, session, alone: false, subscriptions: Mutex::default(), roots: ClientRoots::default() }
    }

    /// The runtime that is open now.
    pub(super) fn runtime(&self) -> Runtime {
        self.live().current()
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

    fn page(&self, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        #[cfg(feature = "conformance")]
        if cursor.is_none() {
            let mut page = list::page(self.runtime().definitions(&self.shared.options.caller), None)?;
            page.tools.splice(0..0, conformance::list());
            return Ok(page);
        }
        let definitions = self.runtime().definitions(&self.shared.options.caller);
        let mut registered = self.shared.registered.lock();
        for definition in &definitions {
            if registered.insert(definition.card.name.to_string()) {
                tracing::info!("MCP tool registered: {}", definition.card.name);
            }
        }
        let mut page = list::page(definitions, cursor)?;
        if self.shared.options.text_answers {
            page.tools.iter_mut().for_each(|tool| tool.output_schema = None);
        }
        Ok(page)
    }

    /// Tells a legacy client what `subscription` hears, until it unsubscribes or goes.
    fn forward_subscription(&self, name: &str, peer: Peer<RoleServer>, mut subscription: Subscription) {
        let task = tokio::spawn(async move {
            loop {
                let told = match subscription.next().await {
                    SubscriptionChange::Tools => peer.notify_tool_list_changed().await,
                    SubscriptionChange::Prompts => peer.notify_prompt_list_changed().await,
                    SubscriptionChange::Resource(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                };
                if told.is_err() {
                    return;
                }
            }
        });
        let mut told = self.subscriptions.lock();
        told.insert(name.to_owned(), AbortOnDropHandle::new(task));
    }
}

impl Drop for McpServerHandler {
    fn drop(&mut self) {
        // What was agreed to for this conversation ends with it.
        self.runtime().end_session(&self.session);
    }
}

/// The answer of `work`, also where it panics.
async fn catch_panic<T>(work: impl Future<Output = Result<T, ErrorData>> + Send) -> Result<T, ErrorData> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(panic_error(panic.as_ref())))
}

fn panic_error(panic: &(dyn Any + Send)) -> ErrorData {
    let what = panic_text(panic);
    tracing::error!("answering an MCP client panicked: {what}");
    ErrorData::internal_error("this failed by a fault of the server's own; it is in its log", None)
}

/// A list that fits on one page has no second one.
fn check_no_cursor(params: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match params.and_then(|params| params.cursor.as_deref()) {
        None => Ok(()),
        Some(cursor) => {
            let what = "this list has one page; ask without a cursor";
            Err(ErrorData::invalid_params(what, Some(json!({"cursor": cursor}))))
        }
    }
}

impl ServerHandler for McpServerHandler {
    fn get_info(&self) -> ServerConfig {
        server_info::config()
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(server_info::SERVER_INFO_TTL_MS))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let subscription = Subscription { tools: Some(self.watch().tools()), ..Subscription::default() };
        self.roots.ask(self.runtime(), context.peer.clone());
        self.forward_subscription(TOOLS, context.peer, subscription);
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.roots.ask(self.runtime(), context.peer);
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        catch_panic(async { self.page(params.as_ref().and_then(|params| params.cursor.as_deref())) }).await
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance::call(self, &params, &context).await {
            return answer;
        }
        catch_panic(Box::pin(call::call(self, params, context))).await
    }

    #[cfg(feature = "conformance")]
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        conformance::get_tool(name)
    }

    #[cfg(feature = "conformance")]
    #[expect(deprecated, reason = "the suite asks for logging, which 2026-07-28 deprecates")]
    async fn set_level(
        &self,
        _params: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        let list = resources::list();
        #[cfg(feature = "conformance")]
        let list = {
            let mut list = list;
            list.resources.extend(conformance::resources());
            list
        };
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        let list = resources::templates();
        #[cfg(feature = "conformance")]
        let list = {
            let mut list = list;
            list.resource_templates.extend(conformance::templates());
            list
        };
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(read) = conformance::read(&params.uri) {
            return Ok(read.into());
        }
        let cancelled = self.gone().child_token();
        let caller = self.caller(is_modern(&context));
        let read = catch_panic(resources::read(self, &caller, &params.uri, cancelled));
        let read = tokio::select! {
            read = read => read,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        };
        Ok(read?.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.watch().accept(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut subscription = self.watch().begin(context.requested());
        let sink = context.sink().clone();
        loop {
            let change = tokio::select! {
                change = subscription.next() => change,
                () = context.cancelled() => return Ok(()),
                () = self.gone().cancelled() => return Ok(()),
            };
            let told = match change {
                SubscriptionChange::Tools => sink.notify_tool_list_changed().await,
                SubscriptionChange::Prompts => sink.notify_prompt_list_changed().await,
                SubscriptionChange::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if told.is_err() {
                return Ok(());
            }
        }
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        #[cfg(feature = "conformance")]
        if conformance::watches(&params.uri) {
            return Ok(());
        }
        let refused =
            |what: &str| ErrorData::invalid_params(what.to_owned(), Some(json!({"uri": params.uri})));
        let many = self.subscriptions.lock().len() > MAX_WATCHED_RESOURCES;
        if many {
            return Err(refused("too many resources are subscribed to; unsubscribe from one first"));
        }
        // Known ones are told apart from those that only do not change.
        resources::parse_target(&self.runtime(), &params.uri)?;
        let receiver = self.watch().watch_resource(&params.uri).ok_or_else(|| {
            refused("only diagnostics can be subscribed to: lsp-tools://diagnostics/{+path}")
        })?;
        let resources = vec![(params.uri.clone(), receiver)];
        self.forward_subscription(
            &params.uri,
            context.peer,
            Subscription { resources, ..Subscription::default() },
        );
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.lock().remove(&params.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        let list = prompts::list();
        #[cfg(feature = "conformance")]
        let list = {
            let mut list = list;
            list.prompts.extend(conformance::prompts());
            list
        };
        Ok(list)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(prompt) = conformance::prompt(&params) {
            return prompt;
        }
        catch_panic(async { prompts::get(&params) }).await.map(Into::into)
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(info) = conformance::complete(&params) {
            return Ok(CompleteResult::new(info));
        }
        let caller = self.caller(is_modern(&context));
        catch_panic(complete::complete(self, &caller, &params)).await
    }

    async fn list_skills(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        catch_panic(skills::list(self, self.caller(is_modern(&context)))).await
    }

    async fn get_skill(
        &self,
        params: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        catch_panic(skills::get(self, self.caller(is_modern(&context)), &params.uri)).await
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks().get_task(&params.task_id)?))
    }

    async fn update_task(
        &self,
        params: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks().update_task(&params.task_id, params.input_responses)
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks().cancel_task(&params.task_id)
    }

    /// What rmcp could not read as a request that it knows ends here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let name = method.as_str();
        if KNOWN.contains(&name) || (EARLIER.contains(&name) && !is_modern(&context)) {
            return Err(ErrorData::invalid_params(
                format!("the parameters of {method} cannot be read"),
                None,
            ));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("unknown method: {}", method.escape_debug()),
            None,
        ))
    }
}

/// Methods that we answer if their parameters can be read.
const KNOWN: [&str; 11] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "skills/get",
    "skills/list",
];
/// The same, up to 2025-11-25 only.
const EARLIER: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];
