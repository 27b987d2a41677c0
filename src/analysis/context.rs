//! The context of a tool: workspace, edits, manager, configuration and deadlines.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::answer::{ServerState, ServerStatus};
use super::ask::retry_advice::RetryAdvice;
use super::error::{ErrorCode, ToolError};
use super::install_outcome::{InstallItem, InstallState};
use super::names::outline_cache::OutlineCache;
use super::path_limits::PathLimits;
use super::target::{Target, path_of};
use crate::config::{Catalogue, Config, Folders, PresentLanguage, TrustStore, present_languages, spec};
use crate::lsp::documents::view::View;
use crate::lsp::servers::install_advice;
use crate::lsp::servers::manager::{Manager, SessionUnavailable};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::progress::ProgressEvent;
use crate::lsp::session::readiness::UnfinishedWork;
use crate::text::Buffer;
use crate::workspace::edit::TransactionManager;
use crate::workspace::{PathError, ReadError, WalkLimits, Workspace, WorkspacePath};

/// The timeout of the scan for languages.
const LANGUAGE_SCAN_TIMEOUT: Duration = Duration::from_secs(2);

/// The timeout of the scan for the source files of a folder.
const SOURCE_FILES_WALK_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest part of a call's time that is reserved for an answer from the text.
const MAX_TEXT_ANSWER_TIME: Duration = Duration::from_secs(1);

/// The shared environment of the language tools.
#[derive(Debug, Clone)]
pub struct Context {
    /// The workspace.
    pub workspace: Workspace,
    /// The folder that relative paths of the caller start from.
    pub cwd: PathBuf,
    /// The catalogue, settings and trust in force.
    pub(crate) config: Arc<Config>,
    /// All language servers.
    pub(crate) manager: Arc<Manager>,
    /// The only way to change files.
    pub(crate) edits: TransactionManager,
    /// The cache of file outlines, for naming the symbol that encloses a place.
    pub(crate) outlines: Arc<OutlineCache>,
    /// The store of the user's trust decisions.
    pub(crate) trust: TrustStore,
    /// The user's folders.
    pub(crate) folders: Folders,
    /// The rules for paths that a call discovers only while it runs.
    pub(crate) limits: PathLimits,
    /// The caller's timeout, which replaces the deadlines of the settings.
    pub(crate) timeout: Option<Duration>,
    /// True if a missing server is installed before the first request to it.
    pub(crate) install_missing: bool,
    /// Performs every installation that a request triggers.
    pub(crate) installs: Arc<dyn InstallGate>,
    /// The way in which the caller can wait longer.
    pub(crate) patience: RetryAdvice,
    /// The channel for progress events of slow work.
    pub(crate) progress: Option<UnboundedSender<ProgressEvent>>,
    /// The caller's view of the files when it asks about code: the disk, overlaid with its own
    /// unsaved texts. Tools for files and edits work on the disk.
    pub(crate) view: View,
}

/// Installs missing servers if the rules allow that, and records the installation.
pub(crate) trait InstallGate: std::fmt::Debug + Send + Sync {
    /// Installs `server`.
    ///
    /// # Errors
    /// `denied` by a rule. A failed installation is an item, not an error.
    fn install<'a>(
        &'a self,
        context: &'a Context,
        server: &'a str,
    ) -> BoxFuture<'a, Result<InstallItem, ToolError>>;
}

/// A file and its language.
#[derive(Debug, Clone)]
pub(crate) struct LanguageFile {
    /// The file.
    pub path: WorkspacePath,
    /// The language's key in the catalogue, if it is known.
    pub(crate) language: Option<String>,
}

impl From<PresentLanguage> for LanguageFile {
    fn from(present: PresentLanguage) -> Self {
        Self { path: present.example, language: Some(present.language) }
    }
}

/// A server, and the languages of the workspace that it supports.
#[derive(Debug, Clone)]
pub(crate) struct PresentServer<'a> {
    /// The server's key in the catalogue.
    pub(crate) key: &'a str,
    /// The server's entry in the catalogue.
    pub(crate) spec: &'a spec::ServerSpec,
    /// The languages, those with the most files first; at least one.
    pub(crate) languages: Vec<PresentLanguage>,
}

impl PresentServer<'_> {
    /// The languages' keys in the catalogue.
    pub(crate) fn language_keys(&self) -> Vec<String> {
        self.languages.iter().map(|language| language.language.clone()).collect()
    }

    /// The language with the most files.
    pub(crate) fn first_language(&self) -> Option<&str> {
        self.languages.first().map(|language| language.language.as_str())
    }

    /// Returns true if the server supports no primary language of the workspace.
    pub(crate) fn is_secondary(&self) -> bool {
        self.languages.iter().all(|language| language.is_secondary)
    }

    /// The number of files of these languages that the scan of the workspace found.
    pub(crate) fn files(&self) -> usize {
        self.languages.iter().map(|language| language.files).sum()
    }

    /// A file of the language with the most files.
    pub(crate) fn example(&self) -> LanguageFile {
        LanguageFile::from(self.languages[0].clone())
    }
}

impl Context {
    /// The catalogue in force.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.config.catalogue
    }

    /// The context for a call with `limits`: files that they hide are invisible in its workspace
    /// and view.
    pub(crate) fn with_limits(&self, limits: PathLimits) -> Self {
        if !limits.may_hide() {
            return Self { limits, ..self.clone() };
        }
        let seen = limits.clone();
        let workspace = self.workspace.with_path_filter(Arc::new(move |path| seen.is_hidden(path)));
        let view = self.view.filtered(|path, _| !workspace.is_path_hidden(path));
        Self { workspace, limits, view, ..self.clone() }
    }

    /// The workspace with the caller's unsaved texts in place of files, for code that reads files
    /// without a server.
    pub(crate) fn overlaid_workspace(&self) -> Workspace {
        match self.view.is_disk() {
            true => self.workspace.clone(),
            false => self.workspace.with_unsaved_texts(self.view.texts()),
        }
    }

    /// Refuses to edit a file whose unsaved text differs from the disk. The edit would change a
    /// text that the caller does not see, and later answers would still be about the unsaved text.
    pub(crate) fn check_saved<'p>(
        &self,
        paths: impl Iterator<Item = &'p WorkspacePath>,
    ) -> Result<(), ToolError> {
        for path in paths {
            let Some(unsaved) = self.view.unsaved(path) else { continue };
            if self.saved_text(path).ok().is_none_or(|saved| *saved != **unsaved.text()) {
                let error = format!("{} has unsaved text that differs from the disk", path.display());
                return Err(ToolError::new(ErrorCode::Conflict, error)
                    .with_hint("save or discard the unsaved text, then edit the file"));
            }
        }
        Ok(())
    }

    /// Fails if a rule forbids changing one of `paths`, by its name or by the target of its links.
    pub(crate) fn may_change<'p>(
        &self,
        paths: impl Iterator<Item = &'p WorkspacePath>,
    ) -> Result<(), ToolError> {
        if self.limits.is_none() {
            return Ok(());
        }
        let mut all: Vec<WorkspacePath> = paths.cloned().collect();
        all.extend(all.clone().iter().filter_map(|path| self.workspace.resolve_links(path)));
        match self.limits.denial_reason(all) {
            Some(reason) => Err(ToolError::new(ErrorCode::Denied, reason)),
            None => Ok(()),
        }
    }

    /// Sends a progress event to the watchers.
    pub(crate) fn send_progress(&self, event: ProgressEvent) {
        if let Some(progress) = &self.progress {
            // The receiver may have been dropped.
            let _unwatched = progress.send(event);
        }
    }

    /// The languages of the workspace, those with the most files first, according to a short scan.
    pub(crate) fn present_languages(&self) -> Vec<PresentLanguage> {
        self.languages_in(&WorkspacePath::root())
    }

    /// The languages of a folder, like [`Self::present_languages`].
    pub(crate) fn languages_in(&self, folder: &WorkspacePath) -> Vec<PresentLanguage> {
        let limits = WalkLimits {
            max_files: self.config.settings.limits.walk_files,
            deadline: std::time::Instant::now() + self.walk_time(LANGUAGE_SCAN_TIMEOUT),
        };
        let found = self.while_tree_is_unchanged(format!("languages in {}", folder.display()), || {
            let found = present_languages(self.catalogue(), &self.workspace, folder, &limits);
            // Only the whole tree is watched: a folder may be one that is ignored.
            let items = (!found.truncated && folder.is_root()).then_some(found.languages.len());
            Ok::<_, Infallible>((found.languages, items))
        });
        found.unwrap_or_else(|never| match never {})
    }

    /// The readable files in `folder`, with their languages.
    ///
    /// # Errors
    /// `too_large` if the folder has more files than the limit.
    pub(crate) fn source_files(&self, folder: &WorkspacePath) -> Result<Vec<LanguageFile>, ToolError> {
        let limits = WalkLimits {
            max_files: self.config.settings.limits.walk_files,
            deadline: std::time::Instant::now() + self.walk_time(SOURCE_FILES_WALK_TIMEOUT),
        };
        self.while_tree_is_unchanged(format!("source files in {}", folder.display()), || {
            let walk = self.workspace.files(folder, &limits);
            if walk.truncated {
                let error = format!("{} has too many files to check at once", folder.display());
                return Err(ToolError::new(ErrorCode::TooLarge, error)
                    .with_hint("name a folder inside it, or raise limits.walk-files"));
            }
            // An unreadable file is not a source file.
            let files = walk.files.into_iter().filter_map(|path| self.language_file_unchecked(path).ok());
            let files: Vec<LanguageFile> = files.collect();
            let items = folder.is_root().then_some(files.len());
            Ok((files, items))
        })
    }

    /// The servers of the present languages, each once. Servers of the language with the most files
    /// come first, and within a language the server that navigates.
    pub(crate) fn present_servers(&self) -> Vec<PresentServer<'_>> {
        self.servers_of(&self.present_languages())
    }

    /// Like [`present_servers`](Self::present_servers), for known languages.
    pub(crate) fn servers_of(&self, languages: &[PresentLanguage]) -> Vec<PresentServer<'_>> {
        let mut found: Vec<PresentServer<'_>> = Vec::new();
        for language in languages {
            for (key, spec) in self.catalogue().servers_for(&language.language) {
                match found.iter_mut().find(|server| server.key == key) {
                    Some(known) => known.languages.push(language.clone()),
                    None => found.push(PresentServer { key, spec, languages: vec![language.clone()] }),
                }
            }
        }
        found
    }

    /// The time for a walk that is part of the call and takes at most `usual`.
    fn walk_time(&self, usual: Duration) -> Duration {
        self.timeout.map_or(usual, |whole| usual.min(whole / 2))
    }

    /// The deadline of an answer that takes `usual` by default.
    pub(crate) fn deadline(&self, usual: Duration) -> Instant {
        Instant::now() + self.timeout.unwrap_or(usual)
    }

    /// The deadline of requests to servers in a call that falls back to the text. The text search
    /// needs time too, and both must finish within `usual` or the caller's timeout.
    pub(crate) fn server_deadline(&self, usual: Duration) -> Instant {
        let whole = self.timeout.unwrap_or(usual);
        Instant::now() + (whole - (whole / 10).min(MAX_TEXT_ANSWER_TIME))
    }

    /// The workspace path of a path that the caller gave.
    pub fn path(&self, given: &Path) -> Result<WorkspacePath, ToolError> {
        self.workspace.path_from(&self.cwd, given).map_err(from_path_error)
    }

    /// The file at `path` and its language; fails if it cannot be read as text.
    pub(crate) fn language_file(&self, path: WorkspacePath) -> Result<LanguageFile, ToolError> {
        let subject = self.language_file_unchecked(path)?;
        self.must_be_text(&subject.path)?;
        Ok(subject)
    }

    /// Like [`language_file`](Self::language_file), for a request that compares the file with the
    /// disk first. If a server has the file open, only its name is checked here.
    pub(crate) fn question_file(&self, path: WorkspacePath) -> Result<LanguageFile, ToolError> {
        let name = path.name_lossy();
        let is_compared = !self.workspace.is_path_hidden(&path)
            && self.view.unsaved(&path).is_none()
            && !self.catalogue().needs_first_line(&name)
            && self.manager.has_open(&path);
        if !is_compared {
            return self.language_file(path);
        }
        let language = self.catalogue().language_of(&name, None).map(str::to_owned);
        Ok(LanguageFile { path, language })
    }

    /// Rejects a file that is not text before any server is started for it. If a server has the
    /// file open, its documents decide, and nothing is read here.
    pub(crate) fn must_be_text(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        if self.workspace.is_path_hidden(path) {
            return self.workspace.stamp(path).map(drop).map_err(from_read_error);
        }
        if self.view.unsaved(path).is_some() || self.manager.has_open(path) {
            return Ok(());
        }
        let limit = self.config.settings.limits.max_file_bytes;
        self.workspace.read_text_up_to(path, limit).map(drop).map_err(from_read_error)
    }

    /// Like [`language_file`](Self::language_file), for one of many files of a folder. The check
    /// for text follows in [`must_be_text`](Self::must_be_text).
    pub(crate) fn language_file_unchecked(&self, path: WorkspacePath) -> Result<LanguageFile, ToolError> {
        let language = self.language_of(&path)?.map(str::to_owned);
        Ok(LanguageFile { path, language })
    }

    /// The language of a file in the caller's view.
    pub(crate) fn language_of(&self, path: &WorkspacePath) -> Result<Option<&str>, ToolError> {
        let name = path.name_lossy();
        if let Some(unsaved) = self.view.unsaved(path) {
            return Ok(self.catalogue().language_of(&name, unsaved.first_line().as_deref()));
        }
        self.workspace.stamp(path).map_err(from_read_error)?;
        Ok(self.catalogue().language_of_file(&self.workspace, path))
    }

    /// The text of a file in the caller's view: its unsaved text, else the content on disk.
    pub(crate) fn text(&self, path: &WorkspacePath) -> Result<Buffer, ToolError> {
        match self.view.unsaved(path) {
            Some(unsaved) => Ok(unsaved.buffer().clone()),
            None => self.saved_text(path).map(|text| Buffer::new(&text)),
        }
    }

    /// The content of a file on disk.
    pub(crate) fn saved_text(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        let limit = self.config.settings.limits.max_file_bytes;
        Ok(self.workspace.read_text_up_to(path, limit).map_err(from_read_error)?.text)
    }

    /// The servers for `subject`'s language with the features that `wanted` accepts; the primary
    /// server is first.
    pub(crate) fn servers_for<'a>(
        &'a self,
        subject: &LanguageFile,
        wanted: impl Fn(&spec::ServerFeatures) -> bool,
    ) -> Vec<(&'a str, &'a spec::ServerSpec)> {
        let Some(language) = &subject.language else { return Vec::new() };
        let servers = self.catalogue().servers_at(language, &subject.path);
        let is_fixed = self.catalogue().languages.get(language).is_some_and(|language| language.fixed);
        // If the settings fix the server, a server without a root marker reports that itself.
        let is_for_file = |(key, server): &(&str, &spec::ServerSpec)| {
            is_fixed || !server.joins_where_marked() || self.manager.finds_root(key, &subject.path)
        };
        servers.into_iter().filter(|(_, server)| wanted(&server.features)).filter(is_for_file).collect()
    }

    /// Installs the missing servers of `target`, if the caller wants that. It runs before any
    /// deadline is set, because a download may take long.
    pub(crate) async fn install_for_target(&self, target: &Target) -> Result<(), ToolError> {
        if !self.install_missing {
            return Ok(());
        }
        let subjects: Vec<LanguageFile> = match target {
            Target::Name(_) => {
                let needed = self.present_languages().into_iter().filter(|language| !language.is_secondary);
                needed.map(LanguageFile::from).collect()
            }
            _ => vec![self.language_file(self.path(path_of(target)?)?)?],
        };
        self.prepare_for(subjects.iter()).await
    }

    /// Like [`install_for_target`](Self::install_for_target), for the servers of these files.
    pub(crate) async fn prepare_for(
        &self,
        subjects: impl Iterator<Item = &LanguageFile>,
    ) -> Result<(), ToolError> {
        if !self.install_missing {
            return Ok(());
        }
        let mut looked_at = Vec::new();
        for subject in subjects {
            for (server, _) in self.servers_for(subject, |_| true) {
                if looked_at.contains(&server) {
                    continue;
                }
                looked_at.push(server);
                let wanted = match self.manager.locate(server, &subject.path) {
                    Err(SessionUnavailable::Missing { .. }) => Some(server.to_owned()),
                    _ => self.manager.pinned_installation(server, &subject.path),
                };
                let Some(wanted) = wanted else { continue };
                let item = self.installs.install(self, &wanted).await?;
                if matches!(item.state, InstallState::Failed | InstallState::Manual) {
                    let reason = item.detail.unwrap_or_else(|| format!("{server} was not installed"));
                    return Err(ToolError::new(ErrorCode::ServerMissing, reason));
                }
            }
        }
        Ok(())
    }

    /// The session of `server` for `subject`, or a status with the reason that there is no session.
    pub(crate) async fn session(
        &self,
        server: &str,
        subject: &LanguageFile,
        deadline: Instant,
    ) -> Result<Arc<Session>, ServerStatus> {
        let started = Instant::now();
        self.start_linters_beside(server, subject);
        let session = self.manager.session_for(server, &subject.path, &self.view, deadline).await;
        session.map_err(|reason| self.unavailable_status(server, subject, &reason, started))
    }

    fn unavailable_status(
        &self,
        server: &str,
        subject: &LanguageFile,
        reason: &SessionUnavailable,
        started: Instant,
    ) -> ServerStatus {
        let state = match reason {
            SessionUnavailable::Missing { .. } | SessionUnavailable::Unknown { .. } => ServerState::Missing,
            SessionUnavailable::Disabled { .. } => ServerState::Disabled,
            SessionUnavailable::Starting { .. } => ServerState::Starting,
            SessionUnavailable::Failed { .. } | SessionUnavailable::Stopping => ServerState::Crashed,
        };
        let missing = state == ServerState::Missing;
        let mut status = self.status(server, subject, state, started);
        status.detail = Some(match reason {
            SessionUnavailable::Missing { searched, .. } => searched.clone(),
            _ => reason.to_string(),
        });
        status.install = missing.then(|| self.install_command(server)).flatten();
        status.installer =
            missing.then(|| self.installer_command(server, subject.language.as_deref())).flatten();
        status.hint = (state == ServerState::Starting).then(|| self.retry_advice(&status, false));
        status
    }

    /// The caller's options after an answer that came before its server was ready.
    pub(crate) fn retry_advice(&self, status: &ServerStatus, takes_timeout: bool) -> String {
        self.patience.advice(Duration::from_millis(status.waited_ms), takes_timeout)
    }

    /// Notes in `status` that its server was `busy` when it answered or timed out.
    pub(crate) fn note_busy(&self, status: &mut ServerStatus, busy: &UnfinishedWork, takes_timeout: bool) {
        status.state = ServerState::Indexing;
        status.detail = Some(busy.sentence(&status.server));
        status.hint = Some(self.retry_advice(status, takes_timeout));
    }

    /// The command that installs `server`.
    pub(crate) fn install_command(&self, server: &str) -> Option<String> {
        let spec = self.catalogue().servers.get(server)?;
        install_advice::advice(server, spec).install
    }

    /// The `lsp-tools install` command for `server`, with the name of `language` if that is enough.
    pub(crate) fn installer_command(&self, server: &str, language: Option<&str>) -> Option<String> {
        let spec = self.catalogue().servers.get(server)?;
        let name = self.catalogue().install_name(server, language);
        install_advice::advice(server, spec).ours.then(|| install_advice::our_command(name))
    }

    /// A status without further detail.
    pub(crate) fn status(
        &self,
        server: &str,
        subject: &LanguageFile,
        state: ServerState,
        started: Instant,
    ) -> ServerStatus {
        ServerStatus {
            language: subject.language.clone().unwrap_or_else(|| "unknown".to_owned()),
            server: server.to_owned(),
            state,
            detail: None,
            judge: None,
            install: None,
            hint: None,
            installer: None,
            waited_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The status if the catalogue has no server for a file.
    pub(crate) fn no_server(&self, subject: &LanguageFile, started: Instant) -> ServerStatus {
        let mut status = self.status("", subject, ServerState::Missing, started);
        let has_servers = |language: &String| !self.catalogue().servers_supporting(language).is_empty();
        status.detail = Some(match &subject.language {
            Some(language) if has_servers(language) => {
                format!("the settings leave {language} no server for this")
            }
            Some(language) => format!("no server is known for the language {language}"),
            None if subject.path.is_notebook() => {
                status.state = ServerState::Unsupported;
                format!(
                    "{} is a notebook; servers are asked only for its diagnostics",
                    subject.path.display()
                )
            }
            None => format!("the language of {} is unknown", subject.path.display()),
        });
        status
    }
}

/// The tool error for a path outside the workspace or an invalid path.
pub(crate) fn from_path_error(error: PathError) -> ToolError {
    let code = match &error {
        PathError::Outside { .. } | PathError::Nul { .. } => ErrorCode::OutsideWorkspace,
        PathError::Uri { .. }
        | PathError::TooLong { .. }
        | PathError::LongName { .. }
        | PathError::TooDeep { .. }
        | PathError::Reserved { .. } => ErrorCode::InvalidArgs,
    };
    ToolError::new(code, error.to_string())
}

/// The tool error for a file that cannot be read.
pub(crate) fn from_read_error(error: ReadError) -> ToolError {
    let code = match &error {
        ReadError::NotFound { .. } => ErrorCode::NotFound,
        ReadError::Outside { .. } => ErrorCode::OutsideWorkspace,
        ReadError::TooLarge { .. } => ErrorCode::TooLarge,
        ReadError::NotADirectory { .. } | ReadError::TooLong { .. } => ErrorCode::InvalidArgs,
        ReadError::Late { .. } => ErrorCode::Timeout,
        ReadError::Changing { .. } => ErrorCode::Conflict,
        ReadError::Denied { .. } | ReadError::Hidden { .. } => ErrorCode::Denied,
        _ => ErrorCode::NotText,
    };
    let tool_error = ToolError::new(code, error.to_string());
    match &error {
        ReadError::NotFound { path } => tool_error.about_missing_path(path),
        _ => tool_error,
    }
}
