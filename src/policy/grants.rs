//! Approvals that hold for the rest of a session.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::Value;
use url::Url;

use super::request::{CallSubjects, PolicyRequest};
use crate::workspace::WorkspacePath;

/// The maximum number of remembered approvals. Beyond it the approver is asked again.
const MAX_REMEMBERED_GRANTS: usize = 10_000;

/// The approvals given for sessions.
#[derive(Debug, Default)]
pub(crate) struct Grants(Mutex<HashSet<Grant>>);

/// The scope of an approval for the session: the same session, agent and tool, exactly the same
/// paths and commands, and any address of the same hosts. If the tool names no subjects of a call,
/// exactly the same arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Grant {
    session: String,
    agent: Option<String>,
    tool: String,
    paths: Vec<WorkspacePath>,
    commands: Vec<String>,
    hosts: Vec<String>,
    arguments: Option<String>,
}

impl Grant {
    /// The scope that an approval of this call would have.
    pub(crate) fn new(
        session: &str,
        agent: Option<&str>,
        request: &PolicyRequest<'_>,
        arguments: &Value,
    ) -> Self {
        let CallSubjects { paths, commands, urls, .. } = request.subjects;
        let nothing = paths.is_empty() && commands.is_empty() && urls.is_empty();
        Self {
            session: session.to_owned(),
            agent: agent.map(str::to_owned),
            tool: request.tool.to_owned(),
            paths: paths.clone(),
            commands: commands.clone(),
            hosts: urls.iter().map(|url| origin(url)).collect(),
            arguments: nothing.then(|| arguments.to_string()),
        }
    }
}

impl Grants {
    /// Returns true if the scope was approved.
    pub(crate) fn contains(&self, grant: &Grant) -> bool {
        self.0.lock().contains(grant)
    }

    pub(crate) fn add(&self, grant: Grant) {
        let mut grants = self.0.lock();
        if grants.len() < MAX_REMEMBERED_GRANTS {
            grants.insert(grant);
        }
    }

    /// Removes all approvals of a session.
    pub(crate) fn clear_session(&self, session: &str) {
        self.0.lock().retain(|grant| grant.session != session);
    }
}

/// The scheme, host and port of an address; the whole text if it is not a valid address.
pub(crate) fn origin(address: &str) -> String {
    match Url::parse(address) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::request::Effect;
    use serde_json::json;

    fn grant(session: &str, tool: &str, command: &str, url: &str) -> Grant {
        let list = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        let subjects = CallSubjects { commands: list(command), urls: list(url), ..CallSubjects::default() };
        let request = PolicyRequest { tool, effect: Effect::Execute, subjects: &subjects };
        Grant::new(session, None, &request, &json!({"command": command}))
    }

    #[test]
    fn grant_covers_same_session_tool_and_subjects_only() {
        let grants = Grants::default();
        grants.add(grant("one", "bash", "ls", ""));
        grants.add(grant("one", "fetch", "", "https://docs.rs/a"));
        assert!(grants.contains(&grant("one", "bash", "ls", "")));
        assert!(grants.contains(&grant("one", "fetch", "", "https://docs.rs/b")));
        for other in [
            grant("two", "bash", "ls", ""),
            grant("one", "bash", "ls -la", ""),
            grant("one", "task", "ls", ""),
            grant("one", "fetch", "", "http://docs.rs/a"),
            grant("one", "bash", "", ""),
        ] {
            assert!(!grants.contains(&other), "{other:?}");
        }
        grants.clear_session("one");
        assert!(!grants.contains(&grant("one", "bash", "ls", "")));
    }

    #[test]
    fn grant_without_subjects_covers_equal_arguments_only() {
        let subjects = CallSubjects::default();
        let request = PolicyRequest { tool: "task", effect: Effect::Execute, subjects: &subjects };
        let grants = Grants::default();
        grants.add(Grant::new("s", None, &request, &json!({"objective": "a"})));
        assert!(grants.contains(&Grant::new("s", None, &request, &json!({"objective": "a"}))));
        assert!(!grants.contains(&Grant::new("s", None, &request, &json!({"objective": "b"}))));
        assert!(!grants.contains(&Grant::new("s", Some("agent"), &request, &json!({"objective": "a"}))));
    }
}
