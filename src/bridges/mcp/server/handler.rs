//! The handler of MCP requests, which delegates each to the file of its method.
//!
//! Each request is answered, even if our own code panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ResourceContents,
    ResourceUpdatedNotificationParam, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use super::ask::is_modern;
use super::conversation::McpConversation;
use super::subscriptions::{MAX_WATCHED_RESOURCES, Subscription, SubscriptionChange};
use super::{call, complete, list, prompts, resources, server_info, skills};
use crate::analysis::error::panic_text;

/// The key of the tool list among a legacy client's subscriptions.
const TOOLS: &str = "";

impl McpConversation {
    /// Returns one page of the list of tools.
    fn page(&self, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let mut definitions = self.runtime().definitions(&self.shared.options.caller);
        let mut registered = self.shared.registered.lock();
        for definition in &definitions {
            if registered.insert(definition.card.name.to_string()) {
                tracing::info!("MCP tool registered: {}", definition.card.name);
            }
        }
        if self.shared.options.text_answers || !self.shared.options.output_schemas {
            definitions.iter_mut().for_each(|definition| definition.output = None);
        }
        list::page(definitions, cursor)
    }

    /// Sends notifications of `subscription` to a legacy client until it unsubscribes or
    /// disconnects.
    fn forward_subscription(&self, name: &str, peer: Peer<RoleServer>, mut subscription: Subscription) {
        let task = tokio::spawn(async move {
            loop {
                let sent = match subscription.next().await {
                    SubscriptionChange::Tools => peer.notify_tool_list_changed().await,
                    SubscriptionChange::Resource(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        let mut subscriptions = self.subscriptions.lock();
        subscriptions.insert(name.to_owned(), AbortOnDropHandle::new(task));
    }
}

/// Awaits `work` and converts a panic to an error.
async fn catch_panic<T>(work: impl Future<Output = Result<T, ErrorData>> + Send) -> Result<T, ErrorData> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(panic_error(panic.as_ref())))
}

fn panic_error(panic: &(dyn Any + Send)) -> ErrorData {
    let what = panic_text(panic);
    tracing::error!("answering an MCP client panicked: {what}");
    ErrorData::internal_error("the request failed because of an internal error; details are in the log", None)
}

/// Refuses a cursor for a list with a single page.
fn check_no_cursor(params: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match params.and_then(|params| params.cursor.as_deref()) {
        None => Ok(()),
        Some(cursor) => {
            let what = "this list has one page; ask without a cursor";
            Err(ErrorData::invalid_params(what, Some(json!({"cursor": cursor}))))
        }
    }
}

impl ServerHandler for McpConversation {
    fn get_info(&self) -> ServerConfig {
        server_info::config()
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.start_servers();
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(server_info::SERVER_INFO_TTL_MS))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.start_servers();
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
        catch_panic(Box::pin(call::call(self, params, context))).await
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let cancelled = self.gone().child_token();
        let caller = self.caller(is_modern(&context));
        let read = catch_panic(resources::read(self.runtime(), &caller, &params.uri, cancelled));
        let read = tokio::select! {
            read = read => read,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }?;
        if let Some(ResourceContents::TextResourceContents { text, .. }) = read.contents.first() {
            self.watch().was_read(&params.uri, text);
        }
        Ok(read.into())
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
            let sent = match change {
                SubscriptionChange::Tools => sink.notify_tool_list_changed().await,
                SubscriptionChange::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let refused =
            |what: &str| ErrorData::invalid_params(what.to_owned(), Some(json!({"uri": params.uri})));
        let many = self.subscriptions.lock().len() > MAX_WATCHED_RESOURCES;
        if many {
            return Err(refused("too many subscriptions; unsubscribe from a resource first"));
        }
        // Reports unknown resources differently from known ones without subscriptions.
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
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        catch_panic(async { prompts::get(&params) }).await.map(Into::into)
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(is_modern(&context));
        catch_panic(complete::complete(self.runtime(), &caller, &params)).await
    }

    async fn list_skills(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        catch_panic(skills::list(self.runtime(), self.caller(is_modern(&context)))).await
    }

    async fn get_skill(
        &self,
        params: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        catch_panic(skills::get(self.runtime(), self.caller(is_modern(&context)), &params.uri)).await
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

    /// Handles requests that rmcp could not parse as a known one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let name = method.as_str();
        if KNOWN.contains(&name) || (EARLIER.contains(&name) && !is_modern(&context)) {
            return Err(ErrorData::invalid_params(format!("the parameters of {method} are invalid"), None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("unknown method: {}", method.escape_debug()),
            None,
        ))
    }
}

/// Methods that are supported if their parameters are valid.
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
/// Such methods that exist only up to 2025-11-25.
const EARLIER: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];
