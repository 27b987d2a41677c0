//! The MCP client: foreign servers whose tools are mounted among ours as `server/tool`. MCP's own
//! lists have `server.tool`.
//!
//! - [`MountRegistry`]: all mounted servers as one source of tools
//! - [`server`], [`connection_state`], [`context`]: one server with its starts, pauses and end
//! - [`connect`], [`chain`], [`http`]: its connection, a process or an address
//! - [`handler`], [`elicitation`]: its requests to us and to users
//! - [`definitions`], [`pins`]: its tools' definitions, and the agreed ones
//! - [`tool`], [`result`]: a call and its result
//! - [`doctor`], [`unauthorized`]: diagnoses of failures
//!
//! May use: `runtime` and below.
//!
//! Data flow: settings become [`AnyTool`]s. The list of tools is the last known one: no server is
//! started for it, except in the background if nothing is known yet. A call starts its server if
//! necessary.
//!
//! A server's output is material, not instructions. Descriptions are truncated and their hidden
//! characters shown. Annotations do not reduce approvals. A definition that differs from the agreed
//! one is held back until the user has seen the difference.

mod chain;
mod connect;
mod connection_state;
mod context;
mod definitions;
mod doctor;
mod elicitation;
mod handler;
mod http;
mod line_limit;
mod pins;
mod result;
mod server;
#[cfg(test)]
mod source_tests;
mod tool;
mod unauthorized;

use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use tokio::sync::watch;

use self::context::MountContext;
use self::server::MountedMcpServer;
use self::tool::MountedAs;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::runtime::Runtime;
use crate::text::suggestion;
use crate::tools::api::source::{HeldTool, MountedServer, OmittedTool, ToolSource, ToolSourceFinding};
use crate::tools::api::tool::AnyTool;

/// Mounts the servers that the settings of `runtime` name.
pub(crate) fn mount(runtime: &mut Runtime) {
    runtime.add_source(|context| Arc::new(MountRegistry::new(context)));
}

/// All mounted servers.
#[derive(Debug)]
pub(crate) struct MountRegistry {
    servers: Vec<Arc<MountedMcpServer>>,
    generation: Arc<watch::Sender<u64>>,
}

impl MountRegistry {
    /// Creates the mounted servers of the settings in `context`. Starts none.
    pub(crate) fn new(context: &Context) -> Self {
        let generation = Arc::new(watch::Sender::new(0));
        let mount_context = Arc::new(MountContext::new(context, Arc::clone(&generation)));
        let mounts = context.config.settings.mounts.servers.values();
        let servers =
            mounts.map(|mount| Arc::new(MountedMcpServer::new(mount.clone(), Arc::clone(&mount_context))));
        Self { servers: servers.collect(), generation }
    }

    fn find_server(&self, name: &str) -> Result<&Arc<MountedMcpServer>, ToolError> {
        self.servers.iter().find(|server| server.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.servers.iter().map(|server| server.name()).collect();
            let name = name.escape_debug();
            let what = match names.is_empty() {
                true => format!("no MCP server is mounted, so none is called `{name}`"),
                false => format!(
                    "no mounted MCP server is called `{name}`{}",
                    suggestion(&name.to_string(), &names)
                ),
            };
            ToolError::new(ErrorCode::NotFound, what)
                .with_hint("[mcp.servers.NAME] in lsp-tools.toml mounts one; `lsp-tools mcp list` shows them")
        })
    }
}

impl ToolSource for MountRegistry {
    fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        let tools_of = |server: &Arc<MountedMcpServer>| {
            let tool =
                |offered| -> Arc<dyn AnyTool> { Arc::new(MountedAs::new(Arc::clone(server), offered)) };
            server.offered_tools().into_iter().map(tool).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(tools_of).collect()
    }

    fn left_out(&self) -> Vec<OmittedTool> {
        self.servers.iter().flat_map(|server| server.left_out()).collect()
    }

    fn wait_until_known<'a>(&'a self, name: Option<&'a str>) -> BoxFuture<'a, ()> {
        let meant = move |server: &&Arc<MountedMcpServer>| {
            name.is_none_or(|name| name.split_once('/').is_some_and(|(first, _)| first == server.name()))
        };
        let settled = self.servers.iter().filter(meant).map(|server| server.wait_until_known());
        Box::pin(async move {
            join_all(settled).await;
        })
    }

    fn mounted(&self) -> Vec<MountedServer> {
        self.servers.iter().map(|server| server.report()).collect()
    }

    fn refresh<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<MountedServer, ToolError>> {
        Box::pin(async move {
            let server = self.find_server(name)?;
            server.refresh().await?;
            Ok(server.report())
        })
    }

    fn approve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<HeldTool>, ToolError>> {
        Box::pin(async move { self.find_server(name)?.approve() })
    }

    fn examine<'a>(
        &'a self,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<ToolSourceFinding>, ToolError>> {
        Box::pin(async move {
            let servers = match name {
                Some(name) => vec![self.find_server(name)?],
                None => self.servers.iter().collect(),
            };
            let found = join_all(servers.into_iter().map(doctor::examine)).await;
            Ok(found.into_iter().flatten().collect())
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            join_all(self.servers.iter().map(|server| server.shutdown())).await;
        })
    }
}
