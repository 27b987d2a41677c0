//! The registry of the built-in tools, one line each.

use super::error::ToolError;
use super::registry::Registry;
use super::{
    bash, bash_kill, bash_output, changed_files, chat, delete, edit, edit_symbol, explore, fetch_web_page,
    find_test_files, fix, get_library_docs, glob, grep, list, lsp_changes, lsp_code_actions, lsp_completion,
    lsp_definition, lsp_diagnostics, lsp_format, lsp_hierarchy, lsp_hover, lsp_navigate, lsp_overlay,
    lsp_rename, lsp_servers, lsp_signature, lsp_symbols, lsp_tests, memory, mkdir, move_file, move_symbol,
    patch, read, resolve_library_id, run_tests, skill, task, todo, undo, write,
};

/// All of them.
pub(crate) fn registry() -> Result<Registry, ToolError> {
    let mut tools = Registry::default();
    tools.add(read::ReadTool)?;
    tools.add(list::ListTool)?;
    tools.add(glob::GlobTool)?;
    tools.add(grep::GrepTool)?;
    tools.add(explore::Explore)?;
    tools.add(lsp_diagnostics::LspDiagnostics)?;
    tools.add(lsp_changes::LspChanges)?;
    tools.add(lsp_definition::LspDefinition)?;
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
    tools.add(lsp_overlay::LspOverlay)?;
    tools.add(fetch_web_page::WebPageTool)?;
    tools.add(resolve_library_id::ResolveLibraryId)?;
    tools.add(get_library_docs::GetLibraryDocs)?;
    tools.add(lsp_tests::LspTests)?;
    tools.add(find_test_files::FindTestFilesTool)?;
    tools.add(run_tests::RunTestsTool)?;
    tools.add(lsp_rename::LspRename)?;
    tools.add(lsp_code_actions::LspCodeActions)?;
    tools.add(lsp_format::LspFormat)?;
    tools.add(fix::Fix)?;
    tools.add(write::WriteTool)?;
    tools.add(edit::EditTool)?;
    tools.add(edit_symbol::EditSymbol)?;
    tools.add(move_symbol::MoveSymbol)?;
    tools.add(patch::PatchTool)?;
    tools.add(move_file::MoveTool)?;
    tools.add(delete::DeleteTool)?;
    tools.add(mkdir::Mkdir)?;
    tools.add(undo::UndoTool)?;
    tools.add(bash::Bash)?;
    tools.add(bash_output::BashOutputTool)?;
    tools.add(bash_kill::BashKill)?;
    tools.add(todo::TodoRead)?;
    tools.add(todo::TodoWrite)?;
    tools.add(memory::Memory)?;
    tools.add(changed_files::ChangedFiles)?;
    tools.add(skill::SkillTool)?;
    tools.add(task::TaskTool::from_environment())?;
    chat::add(&mut tools)?;
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a description says of when another tool, or none, is the right one.
    fn says_when_not(description: &str, tool: &str, tools: &Registry) -> bool {
        let quoted = description.split('`').skip(1).step_by(2);
        let names_other = quoted.into_iter().any(|word| word != tool && tools.get(word).is_ok());
        names_other
            || ["Not for", "not needed", "by themselves"].iter().any(|words| description.contains(words))
    }

    #[test]
    fn listed_tool_says_when_not_to_use_it_and_ends_in_an_example_that_fits_its_schema() {
        let tools = registry().unwrap();
        // Those of chats have the words of a document of their own.
        let listed = tools.definitions(|definition| {
            let card = &definition.card;
            (card.core || card.lsp) && !chat::NAMES.contains(&card.name.as_ref())
        });
        assert!(listed.len() > 30, "{}", listed.len());
        for definition in listed {
            let card = &definition.card;
            let example = card.description.strip_suffix('.').and_then(|text| text.split_once(" Example: "));
            let Some((text, example)) = example else { panic!("{}: no example", card.name) };
            let example =
                serde_json::from_str(example).unwrap_or_else(|error| panic!("{}: {error}", card.name));
            definition.input.check(&card.name, &example).unwrap_or_else(|error| panic!("{error:?}"));
            assert!(says_when_not(text, &card.name, &tools), "{}: {text}", card.name);
        }
    }
}
