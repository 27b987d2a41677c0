//! The product's handler behind the fixtures: other requests are passed on unchanged.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use lsp_tools::Folders;
use lsp_tools::internals::bridges::McpConversation;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::watch;

use crate::fixtures;

/// The fixtures' state, shared by all conversations.
#[derive(Clone)]
pub struct Fixtures {
    /// Seals the states of calls that wait for input.
    pub seal: Arc<RequestStateCodec>,
    /// Counts changes of the list of prompts.
    pub prompts: watch::Sender<u64>,
    /// The folder of the user's drop-in tools, whose changes change the list of tools.
    drop_ins: PathBuf,
}

impl Fixtures {
    /// # Errors
    /// If the system provides no random bytes or no settings folder.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        let drop_ins = Folders::find()?.config.join("tools");
        let seal = Arc::new(RequestStateCodec::new_unchecked(key));
        Ok(Self { seal, prompts: watch::Sender::new(0), drop_ins })
    }

    /// Changes the list of tools as a user does, by adding a drop-in tool.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add_tool(&self) -> Result<(), ErrorData> {
        let failed = |error: std::io::Error| ErrorData::internal_error(error.to_string(), None);
        fs::create_dir_all(&self.drop_ins).map_err(failed)?;
        let count = fs::read_dir(&self.drop_ins).map_err(failed)?.count();
        let name = format!("added_{count}");
        let manifest = json!({
            "name": name, "description": "Says its name.", "effect": "read",
            "schema": {"type": "object", "properties": {}}, "command": ["echo", name],
        });
        fs::write(self.drop_ins.join(format!("{name}.json")), manifest.to_string()).map_err(failed)
    }
}

/// One conversation, or one request of a client without a handshake.
pub struct FixtureServer {
    inner: McpConversation,
    fixtures: Fixtures,
    /// Receives every change of the list of prompts since its creation, which is before any
    /// subscription is acknowledged.
    prompts: watch::Receiver<u64>,
}

impl FixtureServer {
    pub fn new(inner: McpConversation, fixtures: Fixtures) -> Self {
        Self { inner, prompts: fixtures.prompts.subscribe(), fixtures }
    }
}

type ListParams = Option<PaginatedRequestParams>;
type Request = RequestContext<RoleServer>;

impl ServerHandler for FixtureServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        info.capabilities.logging = Some(serde_json::Map::new());
        info.capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        info
    }

    async fn discover(&self, context: Request) -> Result<DiscoverResult, ErrorData> {
        let mut found = self.inner.discover(context).await?;
        found.capabilities = self.get_info().capabilities;
        Ok(found)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_roots_list_changed(context).await;
    }

    /// The fixtures come first: the suite calls the first tool of the list.
    async fn list_tools(&self, params: ListParams, context: Request) -> Result<ListToolsResult, ErrorData> {
        let is_first = params.as_ref().is_none_or(|params| params.cursor.is_none());
        let mut page = self.inner.list_tools(params, context).await?;
        if is_first {
            page.tools.splice(0..0, fixtures::list());
        }
        Ok(page)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        match fixtures::call(&self.fixtures, &params, &context).await {
            Some(answer) => answer,
            None => self.inner.call_tool(params, context).await,
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        fixtures::get_tool(name)
    }

    async fn set_level(&self, _params: SetLevelRequestParams, _context: Request) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_resources(
        &self,
        params: ListParams,
        context: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.inner.list_resources(params, context).await?;
        list.resources.extend(fixtures::resources());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        params: ListParams,
        context: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.inner.list_resource_templates(params, context).await?;
        list.resource_templates.extend(fixtures::templates());
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match fixtures::read(&params.uri) {
            Some(read) => Ok(read.into()),
            None => self.inner.read_resource(params, context).await,
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.inner.accepted_subscription_filter(requested)?;
        accepted.prompts_list_changed = requested.prompts_list_changed.filter(|wanted| *wanted);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let wants_prompts = context.requested().prompts_list_changed == Some(true);
        let (sink, mut prompts) = (context.sink().clone(), self.prompts.clone());
        let tell = async {
            while wants_prompts && prompts.changed().await.is_ok() {
                if sink.notify_prompt_list_changed().await.is_err() {
                    return;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            ended = self.inner.listen(context) => ended,
            () = tell => Ok(()),
        }
    }

    async fn subscribe(&self, params: SubscribeRequestParams, context: Request) -> Result<(), ErrorData> {
        match fixtures::watches(&params.uri) {
            true => Ok(()),
            false => self.inner.subscribe(params, context).await,
        }
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, context: Request) -> Result<(), ErrorData> {
        self.inner.unsubscribe(params, context).await
    }

    async fn list_prompts(
        &self,
        params: ListParams,
        context: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.inner.list_prompts(params, context).await?;
        list.prompts.extend(fixtures::prompts());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: Request,
    ) -> Result<GetPromptResponse, ErrorData> {
        match fixtures::prompt(&params) {
            Some(prompt) => prompt,
            None => self.inner.get_prompt(params, context).await,
        }
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: Request,
    ) -> Result<CompleteResult, ErrorData> {
        match fixtures::complete(&params) {
            Some(info) => Ok(CompleteResult::new(info)),
            None => self.inner.complete(params, context).await,
        }
    }

    async fn list_skills(&self, params: ListParams, context: Request) -> Result<ListSkillsResult, ErrorData> {
        self.inner.list_skills(params, context).await
    }

    async fn get_skill(
        &self,
        params: GetSkillRequestParams,
        context: Request,
    ) -> Result<GetSkillResult, ErrorData> {
        self.inner.get_skill(params, context).await
    }

    async fn get_task(&self, params: GetTaskParams, context: Request) -> Result<GetTaskResult, ErrorData> {
        self.inner.get_task(params, context).await
    }

    async fn update_task(&self, params: UpdateTaskParams, context: Request) -> Result<(), ErrorData> {
        self.inner.update_task(params, context).await
    }

    async fn cancel_task(&self, params: CancelTaskParams, context: Request) -> Result<(), ErrorData> {
        self.inner.cancel_task(params, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Request,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }
}
