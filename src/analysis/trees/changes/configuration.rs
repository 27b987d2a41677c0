//! Differences in files that affect the check of sources: project files, and data that sources
//! import.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use super::compared_texts::ComparedTexts;
use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::ConfigMarker;
use crate::config::spec::ServerSpec;
use crate::workspace::{SearchQuery, WorkspacePath};

/// The timeout of the search for files that import a file.
const IMPORTER_SEARCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The most places examined in that search.
const MAX_IMPORTER_HITS: usize = 20_000;
/// The extensions of data files that sources import by file name.
const IMPORTED_DATA: [&str; 14] = [
    "css", "csv", "graphql", "html", "json", "json5", "jsonc", "less", "proto", "scss", "sql", "svg", "toml",
    "yaml",
];

/// All files of the servers whose project files differ, or derive from a differing one of `users`:
/// project files affect the check of everything.
///
/// # Errors
/// If the files of the workspace cannot all be listed.
pub(super) fn reconfigured_files(
    context: &Context,
    texts: &ComparedTexts,
    users: &[WorkspacePath],
) -> Result<Vec<LanguageFile>, ToolError> {
    let is_looked_at_otherwise =
        |server: &ServerSpec| is_reconfigured(server, texts) || is_derived(context, server, texts, users);
    let languages: BTreeSet<String> = context
        .present_servers()
        .into_iter()
        .filter(|present| present.spec.features.diagnostics && is_looked_at_otherwise(present.spec))
        .flat_map(|present| present.language_keys())
        .collect();
    if languages.is_empty() {
        return Ok(Vec::new());
    }
    let files = context.source_files(&WorkspacePath::root())?.into_iter();
    Ok(files.filter(|file| file.language.as_ref().is_some_and(|key| languages.contains(key))).collect())
}

fn changed_paths(texts: &ComparedTexts) -> impl Iterator<Item = &WorkspacePath> {
    let edited = texts.edits.iter().flat_map(|edit| [Some(&edit.path), edit.renamed_from.as_ref()]);
    edited.flatten().chain(texts.unread.iter().map(|(path, _)| path))
}

/// Returns true if the differences change the server's configuration of its project.
fn is_reconfigured(server: &ServerSpec, texts: &ComparedTexts) -> bool {
    let unread = texts.unread.iter().map(|(path, _)| path.name_lossy());
    let edited = texts.edits.iter().filter(|edit| !is_read_alike(server, edit)).flat_map(|edit| {
        let renamed = edit.renamed_from.as_ref().map(WorkspacePath::name_lossy);
        std::iter::once(edit.path.name_lossy()).chain(renamed)
    });
    unread.chain(edited).any(|name| configures(server, &name))
}

/// Returns true if the server is known to read the same settings from both texts of a file.
fn is_read_alike(server: &ServerSpec, edit: &EditedText) -> bool {
    let (Some(before), Some(after), None) = (&edit.before, &edit.after, &edit.renamed_from) else {
        return false;
    };
    let name = edit.path.name_lossy();
    let mut of_file = server.project_settings.iter().filter(|sign| is_of(sign.file(), &name));
    !server.project_settings.is_empty() && of_file.all(|sign| sign.value_in(before) == sign.value_in(after))
}

/// Returns true if a project file among `users` names a differing file in the settings that the
/// server reads: `"extends": "./strict.json"`.
fn is_derived(
    context: &Context,
    server: &ServerSpec,
    texts: &ComparedTexts,
    users: &[WorkspacePath],
) -> bool {
    let names = changed_paths(texts).map(WorkspacePath::name_lossy);
    let names: Vec<_> = names.filter(|name| !configures(server, name)).collect();
    let mut project_files = users.iter().filter(|user| configures(server, &user.name_lossy()));
    project_files.any(|path| {
        // The settings that the server reads are unknown, so every named file may count.
        if server.project_settings.is_empty() {
            return true;
        }
        let Ok(file) = context.workspace.read_text(path) else { return true };
        let name = path.name_lossy();
        let settings = server.project_settings.iter().filter(|sign| is_of(sign.file(), &name));
        let read: Vec<Cow<'_, str>> = settings.filter_map(|sign| sign.value_in(&file.text)).collect();
        names.iter().any(|name| read.iter().any(|text| text.contains(name.as_ref())))
    })
}

/// Returns true if a file called `name` configures the server's check of a project.
fn configures(server: &ServerSpec, name: &str) -> bool {
    let signs = server.configured_by.iter().chain(&server.restarts_with).chain(&server.root_workspaces);
    let build = server.build_file.iter().flat_map(|build| {
        std::iter::once(&build.name).chain(&build.instead).chain(&build.presets).map(String::as_str)
    });
    let mut files = server
        .root_markers
        .iter()
        .chain(&server.reload.files)
        .map(String::as_str)
        .chain(signs.map(ConfigMarker::file))
        .chain(build);
    files.any(|file| is_of(file, name))
}

/// Returns true if `name` is the file of `sign`, or a base of such files: `tsconfig.base.json` for
/// `tsconfig.json`.
fn is_of(sign: &str, name: &str) -> bool {
    if let Some(ending) = sign.strip_prefix('*') {
        return name.ends_with(ending);
    }
    let derived = sign.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).is_some_and(|(stem, ending)| {
        let between = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(ending));
        between.is_some_and(|between| between.starts_with('.') && between.ends_with('.'))
    });
    name == sign || derived
}

/// The files that name a changed data file: `import rates from "./rates.json"`,
/// `"extends": "./strict.json"`.
///
/// # Errors
/// If not all files could be searched.
pub(super) async fn users_of_data(
    context: &Context,
    texts: &ComparedTexts,
) -> Result<Vec<WorkspacePath>, ToolError> {
    let names: BTreeSet<String> = changed_paths(texts)
        .filter(|path| is_data(path))
        .map(|path| regex::escape(&path.name_lossy()))
        .collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let query = SearchQuery {
        pattern: format!("(?:{})", Vec::from_iter(names).join("|")),
        literal: false,
        whole_word: true,
        case_insensitive: false,
        under: WorkspacePath::root(),
        extensions: None,
        max_hits: MAX_IMPORTER_HITS,
        deadline: std::time::Instant::now() + IMPORTER_SEARCH_TIMEOUT,
    };
    let found = run_in_background(context, move |workspace, _| Ok(workspace.search(&query)?)).await?;
    if found.truncated || found.timed_out {
        let what = "not all files were searched for imports of the changed data";
        return Err(ToolError::new(ErrorCode::Timeout, what));
    }
    let paths: BTreeSet<WorkspacePath> = found.hits.into_iter().map(|hit| hit.path).collect();
    Ok(Vec::from_iter(paths))
}

/// The sources among `users`.
pub(super) fn importers_of_data(context: &Context, users: Vec<WorkspacePath>) -> Vec<LanguageFile> {
    let files = users.into_iter().filter(|path| !is_data(path));
    let files = files.filter_map(|path| context.language_file_unchecked(path).ok());
    files.filter(|file| !context.servers_for(file, |features| features.diagnostics).is_empty()).collect()
}

fn is_data(path: &WorkspacePath) -> bool {
    path.extension().is_some_and(|end| IMPORTED_DATA.contains(&end))
}

#[cfg(test)]
mod tests {
    use super::{is_of, is_read_alike};
    use crate::analysis::breakage::edited_text::EditedText;
    use crate::config::Catalogue;
    use crate::workspace::WorkspacePath;

    fn reads_alike(server: &str, name: &str, before: &str, after: &str) -> bool {
        let catalogue = Catalogue::built_in();
        let edit = EditedText {
            path: WorkspacePath::root().join(name).unwrap(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            renamed_from: None,
        };
        is_read_alike(&catalogue.servers[server], &edit)
    }

    #[test]
    fn what_a_server_does_not_read_of_a_project_file_changes_nothing() {
        let version =
            ("[project]\nname = \"a\"\nversion = \"1\"\n", "[project]\nversion = \"2\"\nname = \"a\"\n");
        assert!(reads_alike("pyright", "pyproject.toml", version.0, version.1));
        assert!(reads_alike("pyright", "setup.cfg", "[mypy]\n", "[mypy]\nstrict = true\n"));
        let scripts =
            (r#"{"type": "module", "scripts": {}}"#, r#"{"type": "module", "devDependencies": {"a": "1"}}"#);
        assert!(reads_alike("typescript-language-server", "package.json", scripts.0, scripts.1));
    }

    #[test]
    fn what_it_reads_or_may_read_does() {
        let strict = "[tool.pyright]\nstrict = [\"a\"]\n";
        assert!(!reads_alike("pyright", "pyproject.toml", "", strict));
        assert!(!reads_alike("pyright", "pyproject.toml", strict, "[tool.pyright\n"));
        assert!(!reads_alike("typescript-language-server", "package.json", "{}", r#"{"type": "module"}"#));
        assert!(!reads_alike("typescript-language-server", "tsconfig.base.json", "{}", "{ }"));
        assert!(
            !reads_alike("pylsp", "setup.cfg", "", "[pycodestyle]\n"),
            "nothing is known of what it reads"
        );
    }

    #[test]
    fn project_files_and_those_they_derive_from_are_known() {
        for (sign, name) in [
            ("tsconfig.json", "tsconfig.json"),
            ("tsconfig.json", "tsconfig.base.json"),
            ("tsconfig.json", "tsconfig.build.prod.json"),
            ("*.sln", "App.sln"),
            ("Cargo.lock", "Cargo.lock"),
        ] {
            assert!(is_of(sign, name), "{sign} {name}");
        }
        for (sign, name) in [
            ("tsconfig.json", "tsconfigure.json"),
            (".git", "git.py"),
            ("go.mod", "go.model.mode"),
            ("a.json", "a.jsonb"),
        ] {
            assert!(!is_of(sign, name), "{sign} {name}");
        }
    }
}
