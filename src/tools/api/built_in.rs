//! The registry of the built-in tools, one line each.

use super::registry::Registry;
use crate::analysis::error::ToolError;
use crate::tools::agent::{
    chat, fetch_web_page, get_library_docs, memory, resolve_library_id, skill, task, todo, tool_finder,
};
use crate::tools::edit::{
    delete, edit_file, edit_symbol, fix, lsp_code_actions, lsp_format, lsp_rename, mkdir, move_file,
    move_symbol, multi_replace, patch, undo, write,
};
use crate::tools::files::{find_test_files, glob, grep, list, read};
use crate::tools::language::{
    explore, lsp_completion, lsp_definition, lsp_diagnostics, lsp_hierarchy, lsp_hover, lsp_navigate,
    lsp_overlay, lsp_servers, lsp_signature, lsp_symbols,
};
use crate::tools::shell::{bash, bash_kill, bash_output, run_tests};
use crate::tools::vcs::{changed_files, lsp_changes, lsp_tests};

/// All built-in tools.
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
    tools.add(edit_file::EditTool)?;
    tools.add(multi_replace::MultiReplaceTool)?;
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
    tools.add(tool_finder::ToolFinder)?;
    chat::add(&mut tools)?;
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::tools::api::tool::Card;

    /// Returns true if a description says when another tool, or none, is the right one.
    fn says_when_not(description: &str, tool: &str, tools: &Registry) -> bool {
        let quoted = description.split('`').skip(1).step_by(2);
        let names_other = quoted.into_iter().any(|word| word != tool && tools.get(word).is_ok());
        names_other
            || ["Not for", "not needed", "by themselves"].iter().any(|words| description.contains(words))
    }

    #[test]
    fn listed_tool_says_when_not_to_use_it_and_an_example_fits_its_schema() {
        let tools = registry().unwrap();
        // The tools of chats follow a document of their own.
        let listed = tools.definitions(|definition| {
            let card = &definition.card;
            (card.core || card.lsp) && !chat::NAMES.contains(&card.name.as_ref())
        });
        for definition in listed {
            let card = &definition.card;
            let (text, example) =
                card.description.split_once(" Example: ").unwrap_or((card.description.as_ref(), ""));
            assert!(says_when_not(text, &card.name, &tools), "{}: {text}", card.name);
            if let Some(example) = example.strip_suffix('.') {
                let example =
                    serde_json::from_str(example).unwrap_or_else(|error| panic!("{}: {error}", card.name));
                definition.input.check(&card.name, &example).unwrap_or_else(|error| panic!("{error:?}"));
            }
        }
    }

    /// The names of the properties that have no description, at any depth.
    fn undescribed(schema: &Value, place: &str, found: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            if property["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
                found.push(place.clone());
            }
            undescribed(property, &place, found);
            undescribed(&property["items"], &place, found);
        }
    }

    #[test]
    fn every_argument_of_every_tool_has_a_description() {
        let mut found = Vec::new();
        for definition in registry().unwrap().definitions(|_| true) {
            undescribed(definition.input.as_value(), &definition.card.name, &mut found);
        }
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn core_and_lsp_profiles_list_the_tools_they_promise() {
        let tools = registry().unwrap();
        let names = |wanted: fn(&Card) -> bool| {
            let listed = tools.definitions(|definition| wanted(&definition.card)).into_iter();
            listed
                .map(|definition| definition.card.name.as_ref())
                .filter(|name| !chat::NAMES.contains(name))
                .collect::<Vec<_>>()
        };
        let (core, lsp) = (names(|card| card.core), names(|card| card.lsp));
        assert!(core.len() <= 20 && lsp.len() <= 12, "{core:?} {lsp:?}");
        let languages = ["lsp_diagnostics", "lsp_definition", "lsp_hover", "explore", "tools"];
        let files = [
            "read",
            "write",
            "list",
            "glob",
            "grep",
            "patch",
            "bash",
            "todoread",
            "todowrite",
            "skill",
            "task",
        ];
        for name in languages.into_iter().chain(files).chain(["edit", "undo", "lsp_references"]) {
            assert!(core.contains(&name), "{name}");
        }
        for name in languages.into_iter().chain(["lsp_changes"]) {
            assert!(lsp.contains(&name), "{name}");
        }
    }
}
