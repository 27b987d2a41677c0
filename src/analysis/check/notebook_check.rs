//! Notebooks in a check: the kernel's language, and the servers that do not read notebooks.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::file_report::FileReport;
use crate::analysis::answer::{ServerState, ServerStatus, Verdict};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::items::named_places::abbreviate_list;
use crate::lsp::session::live_session::Session;
use crate::text::notebook_code::NotebookCode;
use crate::workspace::WorkspacePath;

/// The file; with the language of its kernel if it is a notebook and the language is known.
pub(crate) fn with_kernel_language(context: &Context, file: LanguageFile) -> LanguageFile {
    match file.language.is_none() && file.path.is_notebook() {
        true => LanguageFile { language: kernel_language(context, &file.path).ok(), ..file },
        false => file,
    }
}

/// The report on a notebook whose code cannot be read, so that no server checks it.
pub(crate) fn unreadable_notebook(context: &Context, file: &LanguageFile) -> FileReport {
    let mut status = context.status("", file, ServerState::Unsupported, Instant::now());
    status.detail = kernel_language(context, &file.path).err();
    FileReport {
        verdict: Verdict::Partial,
        detail: status.detail.clone(),
        statuses: vec![status],
        unchecked: true,
        ..FileReport::new(file.path.clone())
    }
}

/// The status of a server that does not read notebooks; `None` if it does or the file is not one.
pub(crate) fn unread_status(
    context: &Context,
    session: &Session,
    file: &LanguageFile,
) -> Option<ServerStatus> {
    let language = file.language.as_deref()?;
    if !file.path.is_notebook() || session.checks_notebooks(language) {
        return None;
    }
    let mut status = context.status(session.server(), file, ServerState::Unsupported, Instant::now());
    status.detail = Some(format!("{} does not check notebooks", session.server()));
    Some(status)
}

/// A note for each server that does not check some of the files, since they are notebooks, or the
/// project's settings exclude them.
pub(crate) fn unread_notes(reports: &[FileReport]) -> impl Iterator<Item = String> {
    let mut unread: BTreeMap<&str, Vec<&WorkspacePath>> = BTreeMap::new();
    for report in reports {
        let is_unread =
            |status: &&ServerStatus| status.state == ServerState::Unsupported && !status.server.is_empty();
        let reasons = report.statuses.iter().filter(is_unread).filter_map(|status| status.detail.as_deref());
        reasons.for_each(|reason| unread.entry(reason).or_default().push(&report.path));
    }
    unread.into_iter().map(|(reason, paths)| {
        let named = abbreviate_list(paths.iter().map(|path| path.display()), paths.len(), 1);
        format!("{reason}: {named}")
    })
}

/// A sentence about the changed notebooks, since their findings before the change are unknown.
pub(crate) fn uncompared_notebooks<'p>(paths: impl Iterator<Item = &'p WorkspacePath>) -> Option<String> {
    let notebooks: Vec<String> =
        paths.filter(|path| path.is_notebook()).map(WorkspacePath::display).collect();
    let named = abbreviate_list(notebooks.iter().cloned(), notebooks.len(), 1);
    (!notebooks.is_empty()).then(|| format!("changes of notebooks are not compared: {named}"))
}

/// The key of the language of a notebook's kernel, or the reason why it is not known.
fn kernel_language(context: &Context, path: &WorkspacePath) -> Result<String, String> {
    let text = context.text(path).map_err(|error| error.error)?.to_string();
    let shown = path.display();
    let code = NotebookCode::parse(&text).map_err(|error| format!("{shown} was not checked: {error}"))?;
    let mut languages = context.catalogue().languages.iter();
    let is_meant = |name: &str| name.eq_ignore_ascii_case(&code.language);
    let known = languages.find(|(key, language)| is_meant(key) || is_meant(&language.name));
    known.map(|(key, _)| key.clone()).ok_or_else(|| {
        format!("{shown} was not checked: the language of its kernel, `{}`, is unknown", code.language)
    })
}
