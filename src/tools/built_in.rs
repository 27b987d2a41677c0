//! The tools that are always there: one line each.

use super::error::ToolError;
use super::registry::Registry;
use super::{
    fetch_web_page, glob, grep, list, lsp_completion, lsp_diagnostics, lsp_hierarchy, lsp_hover,
    lsp_navigate, lsp_servers, lsp_signature, lsp_symbols, read,
};

/// All of them.
pub fn registry() -> Result<Registry, ToolError> {
    let mut tools = Registry::default();
    tools.add(read::Read)?;
    tools.add(list::List)?;
    tools.add(glob::Glob)?;
    tools.add(grep::Grep)?;
    tools.add(lsp_diagnostics::LspDiagnostics)?;
    tools.add(lsp_navigate::LspDefinition)?;
    tools.add(lsp_navigate::LspDeclaration)?;
    tools.add(lsp_navigate::LspTypeDefinition)?;
    tools.add(lsp_navigate::LspImplementation)?;
    tools.add(lsp_navigate::LspReferences)?;
    tools.add(lsp_hover::LspHover)?;
    tools.add(lsp_symbols::LspSymbols)?;
    tools.add(lsp_hierarchy::LspCalls)?;
    tools.add(lsp_hierarchy::LspTypes)?;
    tools.add(lsp_signature::LspSignature)?;
    tools.add(lsp_completion::LspCompletion)?;
    tools.add(lsp_servers::LspServers)?;
    tools.add(fetch_web_page::FetchWebPage)?;
    Ok(tools)
}
