//! Registration of the offer in one batch, and its withdrawal.
//!
//! The server refuses a batch for one invalid tool. If our own checks miss such a tool, the
//! pointers in the server's error (`/tools/3/…`) name it: it is removed and reported, and the rest
//! is sent again. The response lists all tools for a model, ours and the server's own, and is
//! compared with the request by id.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::error::CopilotError;
use super::offer::{CopilotOffer, CopilotOfferEntry, MAX_OFFERED_TOOLS, UnregisteredTool};
use crate::rpc::Peer;

const REGISTER: &str = "conversation/registerTools";
const UNREGISTER: &str = "conversation/unregisterTools";
const INVALID_PARAMS: i64 = -32602;
/// The time limit for the server to check a list.
const TOOL_REGISTRATION_TIMEOUT: Duration = Duration::from_secs(20);
/// The time limit for the withdrawal, shortly before the server ends.
const TOOL_UNREGISTRATION_TIMEOUT: Duration = Duration::from_secs(2);
/// The prefix that the server adds to the names of its clients' tools.
const OURS: &str = "copilot-editor.";

/// The owner of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CopilotToolOwner {
    /// The tool is ours.
    Ours,
    /// The tool is the server's own.
    Server,
    /// The tool belongs to another client or an MCP server.
    Other,
}

/// A tool in the server's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CopilotListedTool {
    /// The server's full id ("copilot-editor.lsp_hover").
    pub(crate) id: String,
    /// The tool's name.
    pub(crate) name: String,
    /// The tool's owner.
    pub(crate) origin: CopilotToolOwner,
    /// True if models currently receive the tool.
    pub(crate) enabled: bool,
    /// True if the tool replaced the server's own tool of that name.
    pub(crate) replaces_servers: bool,
}

/// The result of a registration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CopilotRegistration {
    /// All tools in the server's list.
    pub(crate) tools: Vec<CopilotListedTool>,
    /// Our tools that are not registered, with the reasons.
    pub(crate) left_out: Vec<UnregisteredTool>,
    /// Names of the server's own tools that are now hidden, by our tools or otherwise.
    pub(crate) hidden: Vec<String>,
    /// The server's own tools that write through ours of the same name; ours is not listed then.
    pub(crate) unlocked: Vec<String>,
    /// The aliases that could be offered, with the result for each.
    pub(crate) names: Vec<AliasReport>,
    /// Deviations of the server's response from the request, as sentences.
    pub(crate) oddities: Vec<String>,
    /// The ids of all registered tools.
    #[serde(skip)]
    ids: Vec<String>,
}

/// The result for an alias of the server's own tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AliasReport {
    /// The name.
    pub(crate) name: &'static str,
    /// True if ours was registered.
    pub(crate) registered: bool,
    /// The reason, in one sentence without a full stop.
    pub(crate) why: String,
}

impl CopilotRegistration {
    /// The number of our registered tools.
    pub(crate) fn ours(&self) -> usize {
        self.ids.len()
    }
}

/// The used fields of an entry of the server's list.
#[derive(Debug, Deserialize)]
struct CopilotToolEntry {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    status: String,
}

/// Registers `offer`. Tools that the server refuses are removed from it.
///
/// # Errors
/// The server refuses without naming a tool, responds without a list, or the limit would be
/// exceeded.
pub(crate) async fn register_tools(
    connection: &Peer,
    offer: &mut CopilotOffer,
    mut left_out: Vec<UnregisteredTool>,
) -> Result<CopilotRegistration, CopilotError> {
    let before =
        entries(call(connection, REGISTER, &json!({"tools": []}), TOOL_REGISTRATION_TIMEOUT).await?)?;
    let listed = loop {
        match call(connection, REGISTER, &json!({"tools": offer.definitions()}), TOOL_REGISTRATION_TIMEOUT)
            .await
        {
            Ok(answer) => break entries(answer)?,
            Err(CopilotError::Refused { code: INVALID_PARAMS, message, method }) => {
                let refused = refused_tools(&message, offer);
                if refused.is_empty() {
                    return Err(CopilotError::Refused { code: INVALID_PARAMS, message, method });
                }
                for refusal in refused {
                    tracing::warn!(tool = refusal.name, why = refusal.why, "the server refuses a tool");
                    offer.remove(&refusal.name);
                    left_out.push(refusal);
                }
            }
            Err(error) => return Err(error),
        }
    };
    let registration = compare(offer, &before, &listed, left_out);
    if registration.tools.len() > MAX_OFFERED_TOOLS {
        let ours = registration.tools.iter().filter(|tool| tool.origin == CopilotToolOwner::Ours).count();
        let others = registration.tools.len() - ours;
        unregister(connection, &registration).await;
        return Err(CopilotError::TooManyTools { ours, others, most: MAX_OFFERED_TOOLS });
    }
    Ok(registration)
}

/// Unregisters the tools. If the server does not respond, they stay until it ends.
pub(crate) async fn unregister(connection: &Peer, registration: &CopilotRegistration) {
    if registration.ids.is_empty() {
        return;
    }
    let params = json!({"toolIds": registration.ids});
    if let Err(error) = call(connection, UNREGISTER, &params, TOOL_UNREGISTRATION_TIMEOUT).await {
        tracing::warn!("the tools were not unregistered: {error}");
    }
}

async fn call(
    connection: &Peer,
    method: &str,
    params: &Value,
    limit: Duration,
) -> Result<Value, CopilotError> {
    connection.request(method, params, Instant::now() + limit).await.map_err(CopilotError::from_request_error)
}

/// Parses the server's list. Invalid entries are left out.
///
/// # Errors
/// The response is not a list.
fn entries(answer: Value) -> Result<Vec<CopilotToolEntry>, CopilotError> {
    let Value::Array(items) = answer else {
        let what = "it is not a list of tools".to_owned();
        return Err(CopilotError::Malformed { method: REGISTER.to_owned(), what });
    };
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

/// Returns the tools named in the server's error with its messages, in the order of the list.
fn refused_tools(message: &str, offer: &CopilotOffer) -> Vec<UnregisteredTool> {
    let names: Vec<&str> = offer.names().collect();
    let mut found: Vec<UnregisteredTool> = Vec::new();
    for line in message.lines() {
        let Some((_, after)) = line.split_once("/tools/") else { continue };
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let name = after[..digits].parse::<usize>().ok().and_then(|at| names.get(at).copied());
        let Some(name) = name else { continue };
        let reason = after[digits..].trim_start_matches('/').trim();
        match found.iter_mut().find(|known| known.name == name) {
            Some(known) => known.why.push_str(&format!("; {reason}")),
            None => found.push(UnregisteredTool {
                name: name.to_owned(),
                why: format!("the server rejects it: {reason}"),
            }),
        }
    }
    found
}

fn compare(
    offer: &CopilotOffer,
    before: &[CopilotToolEntry],
    listed: &[CopilotToolEntry],
    mut left_out: Vec<UnregisteredTool>,
) -> CopilotRegistration {
    let own = |entry: &&CopilotToolEntry| entry.kind == "shared";
    let servers: BTreeSet<&str> = before.iter().filter(own).map(|entry| entry.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut registration = CopilotRegistration::default();
    for entry in listed {
        if !seen.insert(entry.id.as_str()) {
            registration.oddities.push(format!("the server lists `{}` twice", entry.id));
            continue;
        }
        let ours = entry.id.strip_prefix(OURS).is_some_and(|name| offer.get(name).is_some());
        let origin = match entry.kind.as_str() {
            "client" if ours => CopilotToolOwner::Ours,
            "shared" => CopilotToolOwner::Server,
            _ => CopilotToolOwner::Other,
        };
        registration.tools.push(CopilotListedTool {
            id: entry.id.clone(),
            name: entry.name.clone(),
            origin,
            enabled: entry.status == "enabled",
            replaces_servers: origin == CopilotToolOwner::Ours && servers.contains(entry.name.as_str()),
        });
    }
    let now: BTreeSet<&str> = listed.iter().filter(own).map(|entry| entry.name.as_str()).collect();
    for name in offer.names() {
        let id = format!("{OURS}{name}");
        if seen.contains(id.as_str()) {
            registration.ids.push(id);
        } else if now.contains(name) && offer.get(name).is_some_and(CopilotOfferEntry::unlocks_server_tools) {
            registration.unlocked.push(name.to_owned());
            registration.ids.push(id);
        } else {
            let why = match now.contains(name) {
                true => "the server lists its own tool of that name instead",
                false => "the server accepted it but does not list it",
            };
            left_out.push(UnregisteredTool { name: name.to_owned(), why: why.to_owned() });
        }
    }
    let named = offer.choice().iter().map(|choice| {
        let name = choice.name.name();
        let offered = offer.get(name).is_some_and(|offered| offered.name.is_some());
        let registered = offered && registration.ids.iter().any(|id| id.strip_prefix(OURS) == Some(name));
        let why = match (choice.registered, offered, registered) {
            (true, false, _) => "a tool of lsp-tools has that name".to_owned(),
            (true, true, false) => "the server does not list it".to_owned(),
            _ => choice.why.clone(),
        };
        AliasReport { name, registered, why }
    });
    let named = named.collect();
    registration.names = named;
    registration.hidden = servers.difference(&now).map(|name| (*name).to_owned()).collect();
    registration.left_out = left_out;
    registration
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::api::schema::Schema;
    use crate::tools::api::tool::{Card, ToolDefinition};

    fn offer(names: &[&'static str]) -> CopilotOffer {
        let definition = |name: &&'static str| ToolDefinition {
            card: Card::reading(name, "T", "d"),
            input: Schema::new(json!({"type": "object", "properties": {}, "required": []})),
            output: None,
        };
        CopilotOffer::new(&names.iter().map(definition).collect::<Vec<_>>(), &[]).unwrap().0
    }

    #[test]
    fn schema_validation_error_identifies_the_offending_tools() {
        let offer = offer(&["a", "b", "c"]);
        let message = "Schema validation failed with the following errors:\n\
                       - /tools/1/inputSchema/properties/x/type: Expected string\n\
                       - /tools/1/inputSchema/properties/x/description: Expected string\n\
                       - /tools/2/name: Expected string\n- /tools/9/name: no such tool\n- /other: no";
        let found = refused_tools(message, &offer);
        assert_eq!(found.iter().map(|refusal| refusal.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(
            found[0].why,
            "the server rejects it: inputSchema/properties/x/type: Expected string; \
             inputSchema/properties/x/description: Expected string"
        );
        assert_eq!(refused_tools("no", &offer), []);
    }

    #[test]
    fn registered_tools_are_compared_by_id() {
        let entry = |id: &str, kind: &str, status: &str| {
            let name = id.rsplit('.').next().unwrap();
            CopilotToolEntry { id: id.into(), name: name.into(), kind: kind.into(), status: status.into() }
        };
        let before =
            [entry("copilot.read_file", "shared", "enabled"), entry("copilot.b", "shared", "enabled")];
        let listed = [
            entry("copilot-editor.a", "client", "enabled"),
            entry("copilot-editor.a", "client", "enabled"),
            entry("copilot-editor.b", "client", "disabled"),
            entry("copilot-editor.stranger", "client", "enabled"),
            entry("copilot.read_file", "shared", "enabled"),
        ];
        let registration = compare(&offer(&["a", "b", "c"]), &before, &listed, Vec::new());
        let shown: Vec<_> = registration
            .tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.origin, tool.enabled, tool.replaces_servers))
            .collect();
        assert_eq!(
            shown,
            [
                ("a", CopilotToolOwner::Ours, true, false),
                ("b", CopilotToolOwner::Ours, false, true),
                ("stranger", CopilotToolOwner::Other, true, false),
                ("read_file", CopilotToolOwner::Server, true, false),
            ]
        );
        assert_eq!(
            (registration.hidden, registration.left_out[0].name.as_str()),
            (vec!["b".to_owned()], "c")
        );
        assert_eq!(registration.oddities, ["the server lists `copilot-editor.a` twice"]);
    }
}
