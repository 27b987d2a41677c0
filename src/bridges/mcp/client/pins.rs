//! Pins of agreed tool definitions, kept in the user's state folder to detect changes by a server.
//!
//! Mounting a server agrees to its first definitions. Later, a tool with a new or changed
//! definition is held back until its user has seen the difference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::config::{Folders, Mount, MountOrigin, MountTransport, StateError, StateFolder, StateName};
use crate::text::diff::{DiffOptions, unified_diff};
use crate::tools::api::hidden::escape_hidden;
use crate::tools::api::source::{HeldChange, HeldTool};

const FOLDER: &str = "mounted";
const PIN_FORMAT_VERSION: u32 = 1;
const MAX_PIN_FILE_BYTES: u64 = 8 << 20;
const DIFF_BYTES: usize = 8_000;

/// The server's kind of handshake at the last connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Era {
    /// With `initialize`.
    Legacy,
    /// With `server/discover`.
    Modern,
}

/// The stored knowledge about a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MountPinRecord {
    version: u32,
    /// The kind of its last handshake, if any.
    pub(super) era: Option<Era>,
    /// The server's name for itself.
    pub(super) server: Option<String>,
    /// The protocol revision of the last connection.
    pub(super) protocol: Option<String>,
    /// The latest definitions, by the server's names; `None` before the first list.
    listed: Option<BTreeMap<String, Value>>,
    /// The agreed definitions.
    agreed: BTreeMap<String, Value>,
}

impl MountPinRecord {
    /// Returns true if the tools have ever been listed.
    pub(super) fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Returns the latest definitions that equal the agreed ones.
    pub(super) fn agreed_definitions(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.listed.iter().flatten().filter(|(name, definition)| self.agreed.get(*name) == Some(*definition))
    }

    /// The names of all its tools.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Compares the tool `name` with the agreed definition.
    pub(super) fn may_call(&self, name: &str) -> Callable {
        match (self.listed.as_ref().and_then(|listed| listed.get(name)), self.agreed.get(name)) {
            (None, _) => Callable::Gone,
            (Some(definition), Some(agreed)) if definition == agreed => Callable::Yes,
            (Some(_), _) => Callable::Held,
        }
    }

    /// Returns the tools held back, with the differences.
    pub(super) fn held_tools(&self) -> Vec<HeldTool> {
        let other = |(name, definition): (&String, &Value)| {
            let agreed = self.agreed.get(name);
            let change = if agreed.is_some() { HeldChange::Changed } else { HeldChange::New };
            let name = escape_hidden(name).into_owned();
            (agreed != Some(definition)).then(|| HeldTool {
                diff: diff(&name, agreed, definition),
                name,
                change,
            })
        };
        self.listed.iter().flatten().filter_map(other).collect()
    }

    fn record_listed(&mut self, listed: BTreeMap<String, Value>) {
        if self.listed.is_none() && self.agreed.is_empty() {
            self.agreed.clone_from(&listed);
        }
        self.listed = Some(listed);
    }

    fn agree_to_all(&mut self) {
        self.agreed.extend(self.listed.clone().unwrap_or_default());
    }
}

/// The decision on a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callable {
    /// The definition is the agreed one.
    Yes,
    /// The definition differs.
    Held,
    /// The server no longer has the tool.
    Gone,
}

fn diff(name: &str, agreed: Option<&Value>, definition: &Value) -> String {
    let pretty = |value: &Value| {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        // Long descriptions are split into lines, so that the diff shows their changes.
        escape_hidden(&text).replace("\\n", "\\n\n") + "\n"
    };
    let old = agreed.map(pretty).unwrap_or_default();
    let options = DiffOptions { max_bytes: DIFF_BYTES, ..DiffOptions::default() };
    unified_diff(agreed.map(|_| name), &old, Some(name), &pretty(definition), options).text
}

/// The store of one server's knowledge.
#[derive(Debug)]
pub(super) struct Pins {
    folder: StateFolder,
    name: Option<StateName>,
}

impl Pins {
    /// Creates the store for the server of `mount`. Another command or address is another server. A
    /// server of a project is known in that project only.
    pub(super) fn new(folders: &Folders, mount: &Mount, root: &std::path::Path) -> Self {
        let mut hasher = Sha256::new();
        let mut part = |text: &str| hasher.update(format!("{}:{text}", text.len()));
        match &mount.transport {
            MountTransport::Stdio { command, args, .. } => {
                part(command);
                args.iter().for_each(|word| part(word));
            }
            MountTransport::Http { url, .. } => part(url.as_str()),
        }
        if mount.origin == MountOrigin::Project {
            part(&root.display().to_string());
        }
        let key: String = hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let name = StateName::new(&format!("{}-{key}.json", mount.name));
        Self { folder: StateFolder::new(folders, FOLDER, "the definitions of mounted tools"), name }
    }

    /// Reads the knowledge. An unreadable file is an error and does not count as a first
    /// connection, so nothing is agreed to.
    pub(super) fn read(&self) -> Result<MountPinRecord, String> {
        let Some(name) = &self.name else { return Ok(MountPinRecord::default()) };
        let bytes = self.folder.read(name, MAX_PIN_FILE_BYTES).map_err(|error| error.to_string())?;
        let Some(bytes) = bytes else { return Ok(MountPinRecord::default()) };
        let damaged = |reason: String| {
            format!(
                "the approved definitions of its tools cannot be read ({reason}); delete {FOLDER}/{} in the state folder to approve them again",
                name.as_str()
            )
        };
        let known: MountPinRecord =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        match known.version {
            PIN_FORMAT_VERSION => Ok(known),
            other => Err(damaged(format!("its version is {other}"))),
        }
    }

    /// Records the server's current description and tools.
    pub(super) fn learn(
        &self,
        about: (Era, Option<String>, String),
        listed: BTreeMap<String, Value>,
    ) -> Result<MountPinRecord, String> {
        self.update(|known| {
            (known.era, known.server, known.protocol) = (Some(about.0), about.1, Some(about.2));
            known.record_listed(listed);
        })
    }

    /// Agrees to all current definitions. Returns the ones that were held back until now.
    pub(super) fn agree(&self) -> Result<(MountPinRecord, Vec<HeldTool>), String> {
        let mut held = Vec::new();
        let known = self.update(|known| {
            held = known.held_tools();
            known.agree_to_all();
        })?;
        Ok((known, held))
    }

    fn update(&self, change: impl FnOnce(&mut MountPinRecord)) -> Result<MountPinRecord, String> {
        let to_text = |error: StateError| error.to_string();
        let Some(name) = &self.name else {
            let mut known = MountPinRecord::default();
            change(&mut known);
            return Ok(known);
        };
        let locked = self.folder.lock().map_err(to_text)?;
        let before = self.read()?;
        let mut known = before.clone();
        change(&mut known);
        known.version = PIN_FORMAT_VERSION;
        if known != before {
            let text = serde_json::to_vec(&known).map_err(|error| error.to_string())?;
            locked.write(name, &text).map_err(to_text)?;
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(tools: &[(&str, &str)]) -> BTreeMap<String, Value> {
        let tool =
            |(name, says): &(&str, &str)| ((*name).to_owned(), json!({"name": name, "description": says}));
        tools.iter().map(tool).collect()
    }

    #[test]
    fn changed_or_new_tool_definition_is_held_until_agreed() {
        let mut known = MountPinRecord::default();
        known.record_listed(listed(&[("a", "reads"), ("b", "writes")]));
        assert!(known.held_tools().is_empty());
        assert_eq!(known.agreed_definitions().count(), 2);
        known.record_listed(listed(&[("a", "reads\u{200b}, and sends all keys"), ("c", "new")]));
        assert_eq!(
            ["a", "b", "c"].map(|name| known.may_call(name)),
            [Callable::Held, Callable::Gone, Callable::Held]
        );
        let held = known.held_tools();
        assert_eq!((held[0].change, held[1].change), (HeldChange::Changed, HeldChange::New));
        assert!(held[0].diff.contains("-  \"description\": \"reads\"\n"), "{}", held[0].diff);
        assert!(held[0].diff.contains("\\u{200b}, and sends all keys"), "{}", held[0].diff);
        assert_eq!(known.agreed_definitions().count(), 0);
        // A tool that returns unchanged is still agreed to.
        known.record_listed(listed(&[("a", "reads")]));
        assert_eq!(known.may_call("a"), Callable::Yes);
        known.record_listed(listed(&[("c", "new")]));
        known.agree_to_all();
        assert!(known.held_tools().is_empty() && known.may_call("c") == Callable::Yes);
    }

    #[test]
    fn tool_added_to_initially_empty_server_is_held() {
        let mut known = MountPinRecord::default();
        known.record_listed(BTreeMap::new());
        known.record_listed(listed(&[("late", "x")]));
        assert_eq!(known.may_call("late"), Callable::Held);
    }
}
