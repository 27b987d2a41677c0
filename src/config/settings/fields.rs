//! The keys of `lsp-tools.toml` and their types, with a mark on those that decide which programs
//! run.

use super::bash::BASH;
use super::chats::CHATS;
use super::daemon::DAEMON;
use super::editor::EDITOR;
use super::servers::SERVERS;
use super::web::{FETCH, LIBRARY_DOCS};
use crate::config::access::ACCESS;
use crate::config::mounts::mount_fields::MCP;
use crate::config::schema::ConfigFieldType::{self, Choice, Flag, Number, Record, Texts, TextsTable};
use crate::config::schema::{ConfigField, launch, plain};

/// The longest deadline.
const MAX_DEADLINE_MS: u64 = 3_600_000;
const A_DEADLINE: ConfigFieldType = Number(1, MAX_DEADLINE_MS);

/// The keys of `lsp-tools.toml`.
pub(crate) const SETTINGS: &[ConfigField] = &[
    plain("deadlines", Record(DEADLINES)),
    plain("servers", Record(SERVERS)),
    plain("limits", Record(LIMITS)),
    plain("log", Record(LOG)),
    plain("bash", Record(BASH)),
    plain("daemon", Record(DAEMON)),
    plain("fetch", Record(FETCH)),
    plain("library-docs", Record(LIBRARY_DOCS)),
    launch("disabled", Texts),
    launch("prefer", TextsTable),
    launch("audit", Record(AUDIT)),
    plain(ACCESS[0].key, ACCESS[0].shape),
    launch(ACCESS[1].key, ACCESS[1].shape),
    plain(ACCESS[2].key, ACCESS[2].shape),
    launch("skills", Record(SKILLS)),
    MCP,
    launch("editor", Record(EDITOR)),
    plain("chats", Record(CHATS)),
    plain("answer-store", Flag),
    plain("end-of-turn-gate", Flag),
];

pub(super) const SKILLS: &[ConfigField] = &[plain("directories", Texts), plain("disabled", Texts)];

pub(super) const AUDIT: &[ConfigField] =
    &[plain("enabled", Flag), plain("max-bytes", Number(10_000, 1 << 32))];

pub(super) const DEADLINES: &[ConfigField] = &[
    plain("hover", A_DEADLINE),
    plain("definition", A_DEADLINE),
    plain("references", A_DEADLINE),
    plain("hierarchy", A_DEADLINE),
    plain("symbols", A_DEADLINE),
    plain("workspace-symbols", A_DEADLINE),
    plain("completion", A_DEADLINE),
    plain("signature", A_DEADLINE),
    plain("diagnostics", A_DEADLINE),
    plain("edit", A_DEADLINE),
    plain("start", A_DEADLINE),
    plain("stop", A_DEADLINE),
    plain("tool", A_DEADLINE),
    plain("task", A_DEADLINE),
];

pub(super) const LIMITS: &[ConfigField] = &[
    plain("max-file-bytes", Number(1, 1 << 31)),
    plain("answer-bytes", Number(1_000, 1 << 24)),
    plain("answer-items", Number(1, 100_000)),
    plain("walk-files", Number(1, 10_000_000)),
];

pub(super) const LOG: &[ConfigField] =
    &[plain("level", Choice(&["off", "error", "warn", "info", "debug", "trace"]))];
