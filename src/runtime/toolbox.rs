//! The tools of a runtime: built-in, the embedder's, drop-in, and those of sources.

use std::sync::Arc;

use super::{Runtime, SourceMaker};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::policy::rules::Policy;
use crate::tools::api::drop_in::ToolInventory;
use crate::tools::api::registry::Registry;
use crate::tools::api::source::{OmittedTool, ToolSource};
use crate::tools::api::tool::{AnyTool, Tool, TypedTool};

impl Runtime {
    /// Returns all current tools: built-in, the embedder's, and drop-in ones.
    pub(crate) fn tools(&self) -> Registry {
        self.offer().tools.clone()
    }

    /// Lists the manifests of drop-in tools that were ignored, with the reasons.
    pub fn left_out_tools(&self) -> Vec<OmittedTool> {
        self.offer().left_out.clone()
    }

    /// Returns all tools by the current state of the drop-in folders.
    pub(super) fn offer(&self) -> Arc<ToolInventory> {
        self.drop_ins.inventory(&self.context, &self.tools, &self.sources)
    }

    /// Adds a tool of the embedder. The same rules apply to it as to all others.
    pub fn add_tool<T: Tool>(&mut self, tool: T) -> Result<(), ToolError> {
        self.add_any_tool(Arc::new(TypedTool::new(tool)))
    }

    /// Like [`add_tool`](Self::add_tool), for a tool whose type is known only at run time.
    pub(crate) fn add_any_tool(&mut self, tool: Arc<dyn AnyTool>) -> Result<(), ToolError> {
        let mut tools = self.tools.clone();
        Arc::make_mut(&mut tools).add_any(tool)?;
        self.take_over_tools(&tools);
        self.drop_ins.clear_cache();
        Ok(())
    }

    /// Takes over the built-in and the embedder's tools from `tools`.
    pub(super) fn take_over_tools(&mut self, tools: &Arc<Registry>) {
        place_in_profiles(Arc::make_mut(&mut self.policy), tools);
        self.tools = tools.clone();
    }

    /// Adds a source of tools, created from the context that all tools share. Names of built-in and
    /// drop-in tools take precedence.
    pub(crate) fn add_source(
        &mut self,
        make: impl Fn(&Context) -> Arc<dyn ToolSource> + Send + Sync + 'static,
    ) {
        self.add_from_maker(SourceMaker(Arc::new(make)));
    }

    pub(super) fn add_from_maker(&mut self, maker: SourceMaker) {
        let source = (maker.0)(&self.context);
        Arc::make_mut(&mut self.sources).push(source);
        Arc::make_mut(&mut self.makers).push(maker);
        self.drop_ins.clear_cache();
    }

    /// The sources of tools, in the order of their addition.
    pub(crate) fn sources(&self) -> &[Arc<dyn ToolSource>] {
        &self.sources
    }
}

/// Assigns the tools to profiles by their cards. Drop-in and mounted tools do not choose their
/// profiles.
pub(super) fn place_in_profiles(policy: &mut Policy, tools: &Registry) {
    for definition in tools.definitions(|_| true) {
        let card = &definition.card;
        policy.place_in_profiles(&card.name, card.core, card.lsp);
    }
}
