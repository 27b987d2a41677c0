//! Objections of a server to the project's configuration, which a command line would refuse.
//!
//! Objections are messages, findings in a configuration file that is not open, and a configuration
//! file that extends a missing one or itself. The server goes on with defaults, so its answers are
//! partial.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::config::ConfigMarker;
use crate::lsp::session::live_session::Session;
use crate::workspace::{ChangeBatch, ChangeKind, WorkspacePath};

/// The maximum number of configuration files that are followed from one to the next.
const MAX_EXTENDED_FILES: usize = 10;
/// Words that mark entries of a log.
const LOG_LEVELS: [&str; 5] = [" ERROR ", " WARN ", " INFO ", " DEBUG ", " TRACE "];
/// The maximum length of an objection that is shown, in Unicode scalar values.
const MAX_COMPLAINT_CHARS: usize = 400;
/// The time for a server to publish the findings in a configuration file that it has loaded.
const CONFIGURATION_FINDINGS_TIMEOUT: Duration = Duration::from_secs(3);

impl Session {
    /// The reason why answers about `path` are partial: the server does not accept the
    /// configuration of its project.
    pub(crate) fn configuration_complaint(&self, path: &WorkspacePath) -> Option<String> {
        let (complaint, has_failed) = self.state.complaint_about(path);
        let complaint = complaint.map(|complaint| match self.last_logged_error() {
            // "Please refer to the logs for more details."
            Some(error) if complaint.contains("the logs") => error,
            _ => complaint,
        });
        let complaint =
            complaint.or_else(|| self.configuration_finding(path)).or_else(|| self.fault_of_extends(path));
        let Some(complaint) = complaint else {
            let rule = self.state.spec.diagnostics.check_status.as_ref().filter(|_| has_failed);
            return rule.map(|rule| rule.reason.clone()).or_else(|| self.unreported_settings(path));
        };
        let root = self.workspace.root().display().to_string();
        let complaint = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
        let complaint = complaint
            .replace(&format!("{root}/"), "")
            .replace(&format!("file://{root}"), ".")
            .replace(&root, ".");
        let complaint: String = complaint.chars().take(MAX_COMPLAINT_CHARS).collect();
        Some(format!("{} does not accept the project's configuration: {complaint}", self.server()))
    }

    /// The reason why answers about `path` are partial: this version of the server may refuse the
    /// project's settings without a report.
    fn unreported_settings(&self, path: &WorkspacePath) -> Option<String> {
        let judge = self.judge.get().filter(|judge| judge.is_silent)?;
        let rule = self.state.spec.judge.as_ref()?;
        let is_there = |marker: &&ConfigMarker| {
            self.folders_above(path).any(|folder| marker.may_be_in(&self.workspace, &folder))
        };
        let marker = rule.silent_about.iter().find(is_there)?;
        let name = judge.name.as_deref().unwrap_or(self.server());
        Some(format!("{name} does not report whether it accepts the settings in {}", marker.file()))
    }

    /// Determines the limits of answers about `path` before an answer is judged: the server's
    /// findings in the configuration, and whether the file belongs to the project.
    pub(crate) async fn find_limits(&self, path: &WorkspacePath, deadline: Instant) {
        self.await_configuration_findings(path, deadline).await;
        self.find_membership(path, deadline).await;
    }

    /// Waits for the findings in the configuration of `path`, for a server that publishes them
    /// after its first answer.
    async fn await_configuration_findings(&self, path: &WorkspacePath, deadline: Instant) {
        let names = &self.state.spec.configuration_findings;
        if names.is_empty() {
            return;
        }
        let is_known = |file: &WorkspacePath| self.state.push_count(file) > 0;
        let mut files = self.folders_above(path).filter_map(|folder| {
            let mut files = names.iter().filter_map(|name| folder.join(name).ok());
            files.find(|file| is_known(file) || self.workspace.absolute(file).exists())
        });
        let Some(file) = files.next().filter(|file| !is_known(file)) else { return };
        let deadline = deadline.min(Instant::now() + CONFIGURATION_FINDINGS_TIMEOUT);
        if !self.wait_until(deadline, || is_known(&file)).await {
            // A file that belongs to another configuration would wait each time.
            self.state.assume_no_findings(&file);
        }
    }

    /// Clears the state of configuration files that changed: the server publishes its findings
    /// again.
    pub(crate) fn forget_configuration_state(&self, changes: &[(WorkspacePath, ChangeKind)]) {
        self.faults_of_extends.lock().clear();
        self.memberships.forget();
        let names = &self.state.spec.configuration_findings;
        for (path, _) in
            changes.iter().filter(|(path, _)| names.iter().any(|name| *name == path.name_lossy()))
        {
            self.state.forget_pushes(path);
        }
    }

    /// Returns true if a changed file may have removed the reason of a message, which the server
    /// does not withdraw.
    pub(crate) fn may_have_settled_complaint(&self, changes: &ChangeBatch) -> bool {
        let is_configuration =
            |path: &WorkspacePath| self.state.spec.is_configuration_file(&path.name_lossy());
        self.state.complaint().is_some()
            && (changes.overflowed || changes.changes.iter().any(|(path, _)| is_configuration(path)))
    }

    /// Returns the last error that the server wrote to its log.
    fn last_logged_error(&self) -> Option<String> {
        let lines = self.stderr_tail();
        let begins = lines.iter().rposition(|line| line.contains("ERROR") || line.contains("error:"))?;
        // An error may go on over several lines, up to the next entry of the log.
        let is_entry = |line: &&String| LOG_LEVELS.iter().any(|level| line.contains(level));
        let rest = lines[begins + 1..].iter().take_while(|line| !is_entry(line));
        let text =
            std::iter::once(&lines[begins]).chain(rest).map(String::as_str).collect::<Vec<_>>().join(" ");
        let (_, error) = text.split_once("ERROR").or_else(|| text.split_once("error:"))?;
        Some(error.to_owned())
    }

    /// Returns the first error that it has published for a configuration file above `path` which is
    /// not open.
    fn configuration_finding(&self, path: &WorkspacePath) -> Option<String> {
        let errors = self.state.configuration_errors();
        if errors.is_empty() {
            return None;
        }
        self.folders_above(path).find_map(|folder| {
            let mut own = errors.iter().filter(|(file, _)| file.parent().as_ref() == Some(&folder));
            let (file, error) = own.find(|(file, _)| !self.has_open(file))?;
            Some(format!("{}: {error}", file.display()))
        })
    }

    /// Returns the fault of the files that the configuration of `path` extends; searched once for
    /// each folder, until files change.
    fn fault_of_extends(&self, path: &WorkspacePath) -> Option<String> {
        if self.state.spec.extends.is_empty() {
            return None;
        }
        let folder = self.folders_above(path).next()?;
        let mut known = self.faults_of_extends.lock();
        known.entry(folder).or_insert_with(|| self.find_fault_of_extends(path)).clone()
    }

    fn find_fault_of_extends(&self, path: &WorkspacePath) -> Option<String> {
        self.state.spec.extends.iter().find_map(|marker| {
            let exists = |folder: &WorkspacePath| {
                let file = folder.join(marker.file()).ok()?;
                self.workspace.absolute(&file).exists().then_some(file)
            };
            let file = self.folders_above(path).find_map(|folder| exists(&folder))?;
            self.extends_fault(marker, &mut vec![file], &mut HashSet::new())
        })
    }

    /// Returns the fault of the last file of `chain`, each of which extends the next: it, or one
    /// that it extends, extends a file that is missing or in the chain. Files that are `sound` are
    /// examined once, although many may extend them.
    fn extends_fault(
        &self,
        marker: &ConfigMarker,
        chain: &mut Vec<WorkspacePath>,
        sound: &mut HashSet<WorkspacePath>,
    ) -> Option<String> {
        let file = chain.last()?.clone();
        let folder = self.workspace.absolute(&file.parent()?);
        let there = |name: &str| {
            let path = self.workspace.path(&folder.join(Path::new(name))).ok()?;
            self.workspace.absolute(&path).is_file().then_some(path)
        };
        // Any other value is a package, whose place only its manager knows.
        let named =
            marker.texts_of(&self.workspace, &file).into_iter().filter(|named| named.starts_with('.'));
        for named in named {
            let Some(next) = there(&named).or_else(|| there(&format!("{named}.json"))) else {
                return Some(format!("{} extends `{named}`, which does not exist", file.display()));
            };
            if chain.contains(&next) {
                return Some(format!("{} extends `{named}`, which extends it in turn", file.display()));
            }
            if chain.len() < MAX_EXTENDED_FILES && !sound.contains(&next) {
                chain.push(next);
                let fault = self.extends_fault(marker, chain, sound);
                sound.extend(chain.pop());
                if fault.is_some() {
                    return fault;
                }
            }
        }
        None
    }

    /// The folders from that of `path` up to the root.
    pub(super) fn folders_above(
        &self,
        path: &WorkspacePath,
    ) -> impl Iterator<Item = WorkspacePath> + use<'_> {
        let start = if *path == self.root { Some(path.clone()) } else { path.parent() };
        let below_root = |folder: &WorkspacePath| folder.as_path().starts_with(self.root.as_path());
        std::iter::successors(start, WorkspacePath::parent).take_while(below_root)
    }
}
