//! The audit log of calls: caller, decision, subjects and outcome. It is one JSON object per line in `audit.jsonl` of the
//! user's state folder, without contents, and without arguments beside paths, commands and hosts.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Serialize;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::request::{Effect, PolicyVerdict};
use crate::text::truncate_chars;
use crate::workspace::private;

const FILE: &str = "audit.jsonl";
const ASIDE: &str = "audit.jsonl.1";
const LOCK: &str = "audit.lock";

/// The longest text of one entry, in characters.
const MAX_AUDIT_TEXT_CHARS: usize = 2_000;

/// What is written of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AuditEntry {
    /// When it came in, in UTC.
    pub(crate) time: String,
    /// The caller's session.
    pub(crate) session: String,
    /// The agent on whose behalf it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The `traceparent` of the trace that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
    /// The tool, as it was called.
    pub(crate) tool: String,
    /// What the tool does to the world; `None` where there is no such tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
    /// What the rules said; `None` where it did not come to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<PolicyVerdict>,
    /// The rule that said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// What whoever was asked said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<AuditedApproval>,
    /// The hook that forbade it or failed, by its program's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hook: Option<String>,
    /// Paths in the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<String>,
    /// Shell commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<String>,
    /// Hosts; what else is in an address may be secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    /// How long it took, with all waiting.
    pub(crate) duration_ms: u64,
    /// The size of the arguments as JSON.
    pub(crate) bytes_in: usize,
    /// The size of what the model reads.
    pub(crate) bytes_out: usize,
    /// `ok`, `failure`, or the code of the failure.
    pub(crate) outcome: String,
}

/// What became of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditedApproval {
    /// Yes, this time.
    Once,
    /// Yes, for the session.
    Session,
    /// There was a yes for the session.
    Before,
    /// No.
    Refused,
    /// Nobody could be asked, or nobody answered in time.
    Nobody,
}

/// The time now, as entries have it.
pub(crate) fn timestamp() -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// At most so much of a text as an entry holds.
pub(crate) fn truncate_text(text: &str) -> String {
    truncate_chars(text, MAX_AUDIT_TEXT_CHARS).into_owned()
}

/// The file that entries are added to. Several processes may add to it at once.
#[derive(Debug)]
pub(crate) struct AuditLog {
    folder: PathBuf,
    max_bytes: u64,
    file: Mutex<Option<File>>,
}

impl AuditLog {
    /// The record in `folder`, which is put aside as `audit.jsonl.1` when it has `max_bytes`. Nothing is made before the first
    /// entry.
    pub(crate) fn new(folder: &Path, max_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), max_bytes, file: Mutex::new(None) }
    }

    /// Adds an entry. What keeps it from being written goes to the log: a call is not failed for it.
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
        // In one piece, so that lines of several processes do not mix.
        (&file).write_all(&line)?;
        *held = Some(file);
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        private::make_folder(&self.folder)?;
        let file = private::open(private::open_options().append(true).create(true), &self.folder.join(FILE))?;
        if file.metadata()?.len() < self.max_bytes { Ok(file) } else { self.rotate(file) }
    }

    /// Puts `full` aside, unless another process has done that already, and opens a new file. Where somebody holds the lock, which may be
    /// for ever, it is written on in the full one.
    fn rotate(&self, full: File) -> io::Result<File> {
        let mut options = private::open_options();
        let lock = private::open(options.write(true).create(true).truncate(false), &self.folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(full),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let path = self.folder.join(FILE);
        let ours = full.metadata()?.ino();
        if fs::metadata(&path).is_ok_and(|metadata| metadata.ino() == ours) {
            fs::rename(&path, self.folder.join(ASIDE))?;
        }
        private::open(private::open_options().append(true).create(true), &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
        std::os::unix::fs::symlink(&victim, temp.path().join(FILE)).unwrap();
        AuditLog::new(temp.path(), 1 << 20).add(&entry("read"));
        assert_eq!(fs::read_to_string(victim).unwrap(), "");
    }

    #[test]
    fn audit_text_over_limit_is_cut_between_characters() {
        assert_eq!(truncate_text(&"ä".repeat(3_000)).chars().count(), MAX_AUDIT_TEXT_CHARS + 1);
        assert_eq!(truncate_text("short"), "short");
    }
}
