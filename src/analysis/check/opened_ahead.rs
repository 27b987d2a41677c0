//! Documents that are opened before the checks of a batch of files.

use std::sync::Arc;

use tokio::time::Instant;

use super::file_check::FileCheckOptions;
use crate::analysis::context::{Context, LanguageFile};
use crate::config::spec::DiagnosticsSource;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// Opens the files of a batch at the running servers that will be asked for their findings. A
/// server may restart its running requests at each opened document (ty does), so none is opened
/// between them.
pub(super) async fn open_ahead(context: &Context, batch: &[LanguageFile], options: &FileCheckOptions) {
    let deadline = options.deadline(context);
    let is_asked_for = |path: &WorkspacePath| !path.is_notebook() && !options.stored.has(path);
    let mut wanted: Vec<(Arc<Session>, Vec<&WorkspacePath>)> = Vec::new();
    for subject in batch.iter().filter(|subject| is_asked_for(&subject.path)) {
        for (server, spec) in options.servers(context, subject) {
            if spec.diagnostics.source != DiagnosticsSource::Pull {
                continue;
            }
            let Some(session) = context.manager.running_session(server, &subject.path) else { continue };
            if options.kept_findings(&session, &subject.path).is_some() {
                continue;
            }
            match wanted.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &session)) {
                Some((_, paths)) => paths.push(&subject.path),
                None => wanted.push((session, vec![&subject.path])),
            }
        }
    }
    let most = wanted.iter().map(|(_, paths)| paths.len()).max().unwrap_or(0);
    context.manager.close_surplus_documents(most).await;
    let opened = wanted.iter().map(|(session, paths)| open_all(session, paths, options, deadline));
    futures::future::join_all(opened).await;
}

/// Opens files at one server. A file that cannot be opened is reported by its check.
async fn open_all(
    session: &Session,
    paths: &[&WorkspacePath],
    options: &FileCheckOptions,
    deadline: Instant,
) {
    let Ok(_guard) = session.enter_view(&options.view, deadline).await else { return };
    for path in paths {
        session.sync_if_readable(path).await;
    }
}
