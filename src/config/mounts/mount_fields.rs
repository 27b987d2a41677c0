//! The keys of `[mcp]` and their types: every key that names a server is a launch field.

use crate::config::schema::ConfigFieldType::{Choice, Named, Number, Record, Text, TextTable, Texts};
use crate::config::schema::{ConfigField, launch, plain};

/// The maximum time limit of a mounted server.
pub(super) const MAX_MOUNT_TIMEOUT_MS: u64 = 3_600_000;

/// The keys of `[mcp]`.
pub(crate) const MCP: ConfigField = plain("mcp", Record(TABLE));

const TABLE: &[ConfigField] = &[launch("files", Texts), launch("servers", Named(SERVER))];

const SERVER: &[ConfigField] = &[
    launch("type", Choice(&["local", "stdio", "http", "sse"])),
    launch("command", Text),
    launch("args", Texts),
    launch("env", TextTable),
    launch("cwd", Text),
    launch("tools", Texts),
    launch("timeout", Number(1, MAX_MOUNT_TIMEOUT_MS)),
    launch("url", Text),
    launch("headers", TextTable),
];
