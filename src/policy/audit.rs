//! The audit log of calls: caller, decision, subjects and outcome. It is one JSON object per line
//! in `audit.jsonl` of the user's state folder, without contents, and without arguments beside
//! paths, commands and hosts.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Serialize;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::request::{Effect, PolicyVerdict};
use crate::platform::inode::InodeIdentity;
use crate::platform::private;
use crate::text::truncate_chars;

const FILE: &str = "audit.jsonl";
const ASIDE: &str = "audit.jsonl.1";
const LOCK: &str = "audit.lock";

/// The longest text of one entry, in characters.
const MAX_AUDIT_TEXT_CHARS: usize = 2_000;

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AuditEntry {
    /// The time the call came in, in UTC.
    pub(crate) time: String,
    /// The caller's session.
    pub(crate) session: String,
    /// The agent on whose behalf the call was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The `traceparent` of the trace that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
    /// The tool, under the name that was called.
    pub(crate) tool: String,
    /// The tool's effect; `None` if the tool does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
    /// The verdict of the rules; `None` if the call failed before they were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<PolicyVerdict>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// The outcome of the approval request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<AuditedApproval>,
    /// The program name of the hook that denied the call or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hook: Option<String>,
    /// Paths in the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<String>,
    /// Shell commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<String>,
    /// Hosts only; the rest of an address may be secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    /// The duration of the call in milliseconds, including all waiting.
    pub(crate) duration_ms: u64,
    /// The size of the arguments as JSON.
    pub(crate) bytes_in: usize,
    /// The size of the text for the model.
    pub(crate) bytes_out: usize,
    /// `ok`, `failure`, or the code of the failure.
    pub(crate) outcome: String,
}

/// The outcome of an approval request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditedApproval {
    /// Approved for this call.
    Once,
    /// Approved for the session.
    Session,
    /// Approved earlier for the session.
    Before,
    /// Refused.
    Refused,
    /// No approver was available, or the answer came too late.
    Nobody,
}

/// The current time in the format of entries.
pub(crate) fn timestamp() -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// Truncates a text to the limit of an entry.
pub(crate) fn truncate_text(text: &str) -> String {
    truncate_chars(text, MAX_AUDIT_TEXT_CHARS).into_owned()
}

/// The file that entries are appended to. Several processes may append to it at once.
#[derive(Debug)]
pub(crate) struct AuditLog {
    folder: PathBuf,
    max_bytes: u64,
    file: Mutex<Option<File>>,
}

impl AuditLog {
    /// The log in `folder`, which is renamed to `audit.jsonl.1` when it reaches `max_bytes`.
    /// Nothing is created before the first entry.
    pub(crate) fn new(folder: &Path, max_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), max_bytes, file: Mutex::new(None) }
    }

    /// Appends an entry. Failures are logged and do not fail the call.
    pub(crate) fn add(&self, entry: &AuditEntry) {
        if let Err(error) = self.try_add(entry) {
            tracing::error!("a call of {} is missing in {FILE}: {error}", entry.tool);
        }
    }

    fn try_add(&self, entry: &AuditEntry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let mut held = self.file.lock();
        let file = match held.take() {
            Some(file) if file.metadata()?.len() < self.max_bytes => file,
            Some(full) => self.rotate(full)?,
            None => self.open()?,
        };
        // A single write, so that lines of several processes do not mix.
        (&file).write_all(&line)?;
        *held = Some(file);
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        private::make_folder(&self.folder)?;
        let file = private::open(private::open_options().append(true).create(true), &self.folder.join(FILE))?;
        if file.metadata()?.len() < self.max_bytes { Ok(file) } else { self.rotate(file) }
    }

    /// Renames `full` to its backup name, unless another process did so already, and opens a new
    /// file. If another process holds the lock, which may last forever, entries continue in the
    /// full file.
    fn rotate(&self, full: File) -> io::Result<File> {
        let mut options = private::open_options();
        let lock = private::open(options.write(true).create(true).truncate(false), &self.folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(full),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let path = self.folder.join(FILE);
        if InodeIdentity::at(&path).is_some_and(|there| Some(there) == InodeIdentity::of(&full)) {
            fs::rename(&path, self.folder.join(ASIDE))?;
        }
        private::open(private::open_options().append(true).create(true), &path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::platform::files::{PermissionsExt, symlink};

    fn entry(tool: &str) -> AuditEntry {
        AuditEntry {
            time: timestamp(),
            session: "s".into(),
            agent: None,
            trace: None,
            tool: tool.into(),
            effect: Some(Effect::Read),
            decision: Some(PolicyVerdict::Allow),
            rule: None,
            approval: None,
            hook: None,
            paths: vec!["a".into()],
            commands: Vec::new(),
            hosts: Vec::new(),
            duration_ms: 1,
            bytes_in: 2,
            bytes_out: 3,
            outcome: "ok".into(),
        }
    }

    #[test]
    fn audit_entry_is_one_json_line_in_a_private_file() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("state");
        let audit = AuditLog::new(&folder, 1 << 20);
        audit.add(&entry("read"));
        audit.add(&entry("a\nb"));
        let text = fs::read_to_string(folder.join(FILE)).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[1]["tool"], &lines[0]["effect"]), (&"a\nb".into(), &"read".into()));
        let time = lines[0]["time"].as_str().unwrap();
        assert!(time.len() > 20 && time.ends_with('Z') && time.contains('T'), "{time}");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));
    }

    #[test]
    fn concurrent_audit_writers_rotate_once_and_lose_no_entry() {
        let temp = tempfile::tempdir().unwrap();
        let size = serde_json::to_vec(&entry("read")).unwrap().len() as u64;
        let (one, two) = (AuditLog::new(temp.path(), size * 4), AuditLog::new(temp.path(), size * 4));
        for _ in 0..3 {
            one.add(&entry("read"));
            two.add(&entry("read"));
        }
        let lines = |name: &str| fs::read_to_string(temp.path().join(name)).unwrap().lines().count();
        assert_eq!((lines(ASIDE), lines(FILE)), (4, 2));
    }

    #[test]
    fn audit_log_with_lock_held_elsewhere_still_appends_without_rotation() {
        let temp = tempfile::tempdir().unwrap();
        let size = serde_json::to_vec(&entry("read")).unwrap().len() as u64;
        let audit = AuditLog::new(temp.path(), size * 2);
        audit.add(&entry("read"));
        let held = File::create(temp.path().join(LOCK)).unwrap();
        held.lock().unwrap();
        (0..5).for_each(|_| audit.add(&entry("read")));
        let lines = |name: &str| fs::read_to_string(temp.path().join(name)).unwrap().lines().count();
        assert_eq!(lines(FILE), 6);
        drop(held);
        audit.add(&entry("read"));
        assert_eq!((lines(ASIDE), lines(FILE)), (6, 1));
    }

    #[test]
    fn audit_log_symlink_is_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        let victim = temp.path().join("victim");
        fs::write(&victim, "").unwrap();
        symlink(&victim, temp.path().join(FILE)).unwrap();
        AuditLog::new(temp.path(), 1 << 20).add(&entry("read"));
        assert_eq!(fs::read_to_string(victim).unwrap(), "");
    }

    #[test]
    fn audit_text_over_limit_is_cut_between_characters() {
        assert_eq!(truncate_text(&"ä".repeat(3_000)).chars().count(), MAX_AUDIT_TEXT_CHARS + 1);
        assert_eq!(truncate_text("short"), "short");
    }
}
