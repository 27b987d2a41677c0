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
use super::compile_commands::CompileCommands;
use super::known_memberships::{FoundMembership, KnownDatabase};
use super::session::Session;
use super::uri;
use crate::config::spec::{BuildFile, MembershipRule};
use crate::rpc::RequestError;
use crate::workspace::WorkspacePath;

/// The longest wait for the server's answer about a file's membership.
const MEMBERSHIP_TIMEOUT: Duration = Duration::from_secs(2);

impl Session {
    /// The reason why answers about `path` are partial, if it is outside the project and that was
    /// [found](Self::find_membership).
    pub(super) fn exclusion(&self, path: &WorkspacePath) -> Option<String> {
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
        if known.is_some() && known == revision {
            return;
        }
        self.memberships.files.lock().remove(path);
        let mut reason = self.settings_exclusion(path);
        if let (None, Some(rule)) = (&reason, lists_sources) {
            reason = self.missing_compile_command(rule, path).await;
        }
        if let (None, Some(rule)) = (&reason, &spec.outside) {
            // A server that loads the project counts no file to it, and its answers are partial.
            if self.unfinished_work().is_some() {
                return;
            }
            reason = match self.stated_exclusion(rule, path, deadline).await {
                Ok(stated) => stated,
                Err(error) => {
                    tracing::debug!(server = self.server(), "no membership of {}: {error}", path.display());
                    return;
                }
            };
        }
        let found = FoundMembership { revision, exclusion: reason };
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

    /// The reason that the compilation database nearest to the file gives.
    async fn missing_compile_command(&self, rule: &BuildFile, path: &WorkspacePath) -> Option<String> {
        let is_there = |folder: &WorkspacePath, place: &String| {
            let file = folder.join(place).ok()?.join(&rule.name).ok()?;
            self.workspace.absolute(&file).is_file().then_some(file)
        };
        let above = self
            .folders_above(path)
            .find_map(|folder| rule.itself.iter().find_map(|at| is_there(&folder, at)));
        let at_start = || {
            let file = self.launch_inputs.get()?.lock().build.file.clone()?;
            self.workspace.path(&file).ok().filter(|file| file.name_lossy() == rule.name)
        };
        let database = above.or_else(at_start)?;
        let commands = self.compile_commands(&database).await?;
        (!commands.has(&self.workspace.absolute(path))).then(|| {
            format!(
                "{} has no command for this file with an absolute `directory`, so it guesses how the file is compiled",
                database.display()
            )
        })
    }

    /// Reads a compilation database, once for each of its states.
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
    ) -> Result<Option<String>, RequestError> {
        let is_marked =
            |folder: WorkspacePath| rule.of.iter().any(|sign| sign.is_in(&self.workspace, &folder));
        if !rule.of.is_empty() && !self.folders_above(path).any(is_marked) {
            return Ok(None);
        }
        let absolute = self.workspace.absolute(path);
        let uri = uri::from_path(&absolute);
        let params = rule.params_for(uri.as_str(), &absolute.to_string_lossy());
        let deadline = deadline.min(Instant::now() + MEMBERSHIP_TIMEOUT);
        let answer: Result<Value, RequestError> =
            self.connection.request(&rule.method, &params, deadline).await;
        let is_outside = match &answer {
            Ok(result) => rule.is_outside(Ok(result)),
            Err(RequestError::Refused { message, .. }) => rule.is_outside(Err(message)),
            Err(_) => false,
        };
        match answer {
            _ if is_outside => Ok(Some(rule.reason.clone())),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
