//! Files that the configuration of a project leaves out: answers about them are partial.
//!
//! The project's own tools say nothing about such a file. It is outside if the server says so (the
//! rule `outside` of the catalogue), if the settings exclude it from the server's check, or if it
//! has no compile command.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::check_scope::CheckScope;
use super::compile_commands::{CompileCommands, FileCommands};
use super::known_memberships::{FoundMembership, KnownDatabase};
use crate::config::spec::{BuildFile, MembershipRule};
use crate::lsp::session::ask::readiness_deadline;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::DependencyScope;
use crate::lsp::uri;
use crate::rpc::RequestError;
use crate::workspace::WorkspacePath;

/// The longest wait for the server's answer about a file's membership.
const MEMBERSHIP_TIMEOUT: Duration = Duration::from_secs(2);

impl Session {
    /// The reason why answers about `path` are partial, if it is outside the project and that was
    /// [found](Self::find_membership).
    pub(crate) fn exclusion(&self, path: &WorkspacePath) -> Option<String> {
        self.memberships.files.lock().get(path).filter(|known| !known.lacks_project)?.exclusion.clone()
    }

    /// The reason why diagnostics of `path` are partial: it is [outside](Self::exclusion), or the
    /// server analyses it by other defaults than its command line.
    pub(crate) fn diagnostics_exclusion(&self, path: &WorkspacePath) -> Option<String> {
        self.memberships.files.lock().get(path)?.exclusion.clone()
    }

    /// Finds out whether `path` belongs to the project, for an answer about the present text.
    pub(super) async fn find_membership(&self, path: &WorkspacePath, deadline: Instant) {
        let spec = &self.state.spec;
        let lists_sources = spec.build_file.as_ref().filter(|rule| rule.covers(&path.name_lossy()));
        if spec.outside.is_none() && lists_sources.is_none() && !CheckScope::is_limited_by(spec) {
            return;
        }
        let revision = self.sees_disk().then(|| self.disk_revision());
        let known = self.memberships.files.lock().get(path).and_then(|known| known.revision);
        // Compilation databases are often in folders that are not watched.
        if known.is_some() && known == revision && lists_sources.is_none() {
            return;
        }
        let mut reason = self.settings_exclusion(path);
        if let (None, Some(rule)) = (&reason, lists_sources) {
            reason = self.missing_compile_command(rule, path).await;
        }
        let is_marked = |rule: &MembershipRule| {
            let in_folder =
                |folder: WorkspacePath| rule.of.iter().any(|sign| sign.is_in(&self.workspace, &folder));
            rule.of.is_empty() || self.folders_above(path).any(in_folder)
        };
        let lacks_project = spec.outside.as_ref().is_some_and(|rule| !is_marked(rule));
        let has_other_defaults = |rule: &MembershipRule| {
            path.extension().is_some_and(|own| rule.defaults_differ.iter().any(|differs| differs == own))
        };
        let applies = |rule: &&MembershipRule| !lacks_project || has_other_defaults(rule);
        let mut is_final = true;
        if let (None, Some(rule)) = (&reason, spec.outside.as_ref().filter(applies)) {
            reason = self.stated_exclusion(rule, path, deadline).await.unwrap_or_else(|error| {
                is_final = false;
                Some(format!("it is unknown whether the project includes this file: {error}"))
            });
        }
        let revision = revision.filter(|_| is_final);
        let found = FoundMembership { revision, exclusion: reason, lacks_project };
        self.memberships.files.lock().insert(path.clone(), found);
    }

    /// The reason that the settings of the nearest root give.
    fn settings_exclusion(&self, path: &WorkspacePath) -> Option<String> {
        if !CheckScope::is_limited_by(&self.state.spec) {
            return None;
        }
        let root = self.nearest_root(path)?;
        let within = path.as_path().strip_prefix(root.as_path()).ok()?;
        let read = || Arc::new(CheckScope::read(&self.workspace, &self.state.spec, &root));
        let scope = self.memberships.scopes.lock().entry(root.clone()).or_insert_with(read).clone();
        (!scope.has(within, None))
            .then(|| "the project's settings leave this file out, so its own check says nothing of it".into())
    }

    /// The reason that the compilation database of the file gives.
    async fn missing_compile_command(&self, rule: &BuildFile, path: &WorkspacePath) -> Option<String> {
        let database = self.compilation_database(rule, path)?;
        let name = database.display();
        let Some(commands) = self.compile_commands(&database).await else {
            return Some(format!("{name} cannot be read, so it guesses how the file is compiled"));
        };
        match commands.of(&self.workspace.absolute(path)) {
            Some(FileCommands::One(_)) => None,
            Some(FileCommands::Several) => {
                Some(format!("{name} compiles this file in several ways, and it checks one of them"))
            }
            None => Some(format!(
                "{name} has no command for this file with an absolute `directory`, so it guesses how the file is compiled"
            )),
        }
    }

    /// The database in the folder that the server was given, or in the nearest one above the file;
    /// `None` if there is none, or a file of flags is nearer.
    fn compilation_database(&self, rule: &BuildFile, path: &WorkspacePath) -> Option<WorkspacePath> {
        let build = self.launch_inputs.get().map(|inputs| inputs.lock().build.clone()).unwrap_or_default();
        if build.folder_for_server.is_some() {
            return self.workspace.path(&build.file?).ok();
        }
        let is_there = |file: &WorkspacePath| self.workspace.absolute(file).is_file();
        let in_folder = |folder: WorkspacePath| {
            let mut places = rule.itself.iter().filter_map(|at| folder.join(at).ok()?.join(&rule.name).ok());
            let flags = |name: &String| folder.join(name).is_ok_and(|file| is_there(&file));
            places.find(is_there).map(Some).or_else(|| rule.instead.iter().any(flags).then_some(None))
        };
        self.folders_above(path).find_map(in_folder).flatten()
    }

    /// Reads a compilation database, once for each of its states; `None` if it cannot be read.
    async fn compile_commands(&self, database: &WorkspacePath) -> Option<Arc<CompileCommands>> {
        let (file, stamp) = self.workspace.open_regular(database.as_path()).ok()?;
        if let Some(known) = self.memberships.databases.lock().get(database)
            && known.stamp == stamp
        {
            return known.commands.clone();
        }
        let size = stamp.size;
        let read = tokio::task::spawn_blocking(move || CompileCommands::read(file, size).map(Arc::new));
        let commands = read.await.ok().flatten();
        let known = KnownDatabase { stamp, commands: commands.clone() };
        self.memberships.databases.lock().insert(database.clone(), known);
        commands
    }

    /// The reason of `rule`, if the server answers that it counts the file to no project.
    async fn stated_exclusion(
        &self,
        rule: &MembershipRule,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Option<String>, String> {
        let absolute = self.workspace.absolute(path);
        let uri = uri::from_path(&absolute);
        let params = rule.params_for(uri.as_str(), &absolute.to_string_lossy());
        // A server that loads the project counts no file to it. The load may begin after its answer.
        let busy = self.wait_ready(DependencyScope::File, readiness_deadline(deadline)).await;
        if let Some(busy) = busy.filter(|busy| !busy.files_are_right) {
            return Err(busy.to_string());
        }
        let deadline = deadline.min(Instant::now() + MEMBERSHIP_TIMEOUT);
        let answer: Result<Value, RequestError> =
            self.connection.request(&rule.method, &params, deadline).await;
        let is_outside = shows_outside(rule, &answer).map_err(ToString::to_string)?;
        Ok(is_outside.then(|| rule.reason.clone()))
    }
}

/// Returns true if the server answers `rule`'s request so about a file outside the project.
///
/// # Errors
/// If the server did not answer.
pub(crate) fn shows_outside<'a>(
    rule: &MembershipRule,
    answer: &'a Result<Value, RequestError>,
) -> Result<bool, &'a RequestError> {
    match answer {
        Ok(result) => Ok(rule.is_outside(Ok(result))),
        Err(RequestError::Refused { message, .. }) => Ok(rule.is_outside(Err(message))),
        Err(error) => Err(error),
    }
}
