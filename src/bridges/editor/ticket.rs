//! Tickets that lead follow-up requests back to their server.
//!
//! Such a request (`…/resolve`, calls of a hierarchy, commands) carries its ticket in the `data`
//! that editors return unchanged.

use serde_json::{Value, json};

use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// The key of the ticket in `data`.
const TICKET: &str = "lsp-tools";
/// The command that wraps servers' own commands.
pub(super) const RUN: &str = "lsp-tools.run";

/// The server, and the file that the request was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ticket {
    /// The server's key in the catalogue.
    pub(crate) server: String,
    /// The file's path, as in URIs.
    pub(crate) path: String,
}

impl Ticket {
    /// Creates the ticket for a response of `session` about `path`.
    pub(super) fn for_session(session: &Session, path: &WorkspacePath) -> Self {
        Self { server: session.server().to_owned(), path: path.display() }
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self { server: text("server")?, path: text("path")? })
    }

    fn to_value(&self) -> Value {
        json!({ "server": self.server, "path": self.path })
    }

    /// Stores the ticket in an item's `data`, around the server's own data.
    pub(super) fn attach(&self, item: &mut Value) {
        if let Value::Object(object) = item {
            let inner = object.remove("data");
            let mut data = json!({ TICKET: self.to_value() });
            if let Some(inner) = inner {
                data["data"] = inner;
            }
            object.insert("data".into(), data);
        }
    }

    /// Removes the ticket, so that the item is as the server sent it.
    pub(super) fn detach(item: &mut Value) -> Option<Self> {
        let ticket = Self::read(item.get("data")?.get(TICKET)?)?;
        if let Value::Object(object) = item {
            let inner = object.remove("data").and_then(|mut data| data.get_mut("data").map(Value::take));
            if let Some(inner) = inner {
                object.insert("data".into(), inner);
            }
        }
        Some(ticket)
    }

    /// Wraps a server's own command (LSP 3.17, *Command*) into ours. Commands that the server does
    /// not run stay with the editor.
    pub(super) fn wrap_command(&self, command: &mut Value, session: &Session) {
        let Some(name) = command["command"].as_str().map(str::to_owned) else { return };
        if !session.runs_command(&name) {
            return;
        }
        let arguments = command["arguments"].take();
        command["arguments"] = json!([{ TICKET: self.to_value(), "command": name, "arguments": arguments }]);
        command["command"] = RUN.into();
    }

    /// Unwraps our command's arguments into the server's ticket, its command, and that command's
    /// arguments.
    pub(super) fn unwrap_command(arguments: &Value) -> Option<(Self, String, Value)> {
        let packed = arguments.get(0)?;
        let name = packed["command"].as_str()?.to_owned();
        Some((Self::read(&packed[TICKET])?, name, packed["arguments"].clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_detached_from_item_restores_server_data() {
        let ticket = Ticket { server: "pyright".into(), path: "src/a.py".into() };
        for given in [json!({"label": "x", "data": {"id": 7}}), json!({"label": "x"}), json!({"data": null})]
        {
            let mut item = given.clone();
            ticket.attach(&mut item);
            assert_eq!(Ticket::detach(&mut item).as_ref(), Some(&ticket));
            assert_eq!(item, given);
        }
        assert_eq!(Ticket::detach(&mut json!({"data": {"id": 7}})), None);
        assert_eq!(Ticket::detach(&mut json!("x")), None);
    }
}
