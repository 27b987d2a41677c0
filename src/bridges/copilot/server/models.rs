//! The models of the Copilot server, and the choice for a turn.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::CopilotError;
use super::link::{COPILOT_REQUEST_TIMEOUT, CopilotLink};

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(deserialize = "camelCase"))]
pub(crate) struct Model {
    /// The id for the choice of a model.
    pub(crate) id: String,
    /// The display name.
    #[serde(default, alias = "modelName")]
    pub(crate) name: String,
    /// The places of use: `chat-panel`, `agent-panel`, `inline`, …
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// True if the model is the default.
    #[serde(default)]
    pub(crate) is_chat_default: bool,
    /// True if the model is used when the default is unavailable.
    #[serde(default)]
    pub(crate) is_chat_fallback: bool,
}

/// The mode of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CopilotMode {
    /// With all tools, in several rounds.
    #[default]
    Agent,
    /// With the few tools that the server provides for questions.
    Ask,
}

impl CopilotMode {
    /// The server's name of the mode.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "Agent",
            Self::Ask => "Ask",
        }
    }

    fn scope(self) -> &'static str {
        match self {
            Self::Agent => "agent-panel",
            Self::Ask => "chat-panel",
        }
    }
}

/// Lists all models. Invalid entries are left out.
pub(crate) async fn list(link: &CopilotLink) -> Result<Vec<Model>, CopilotError> {
    match link.request("copilot/models", &json!({}), COPILOT_REQUEST_TIMEOUT).await? {
        Value::Array(items) => {
            Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
        }
        _ => {
            let what = "it is not a list of models".to_owned();
            Err(CopilotError::Malformed { method: "copilot/models".to_owned(), what })
        }
    }
}

/// Chooses the model for a turn: the requested one, by its id or name, else the server's default
/// for this mode.
pub(crate) fn choose(
    models: &[Model],
    wanted: Option<&str>,
    mode: CopilotMode,
) -> Result<String, CopilotError> {
    let fit: Vec<&Model> =
        models.iter().filter(|model| model.scopes.iter().any(|scope| scope == mode.scope())).collect();
    let found = match wanted {
        Some(wanted) => models.iter().find(|model| model.id == wanted || model.name == wanted),
        None => {
            let default = fit.iter().find(|model| model.is_chat_default);
            default.or_else(|| fit.iter().find(|model| model.is_chat_fallback)).or(fit.first()).copied()
        }
    };
    found.map(|model| model.id.clone()).ok_or_else(|| {
        let known: Vec<&str> = fit.iter().map(|model| model.id.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        CopilotError::NoModel { wanted: wanted.map(str::to_owned), known }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_choice_takes_requested_or_default_and_refuses_unknown() {
        let models: Vec<Model> = serde_json::from_value(json!([
            {"id": "auto", "modelName": "Auto", "scopes": ["chat-panel", "agent-panel"]},
            {"id": "a", "modelName": "A", "scopes": ["agent-panel"], "isChatFallback": true},
            {"id": "b", "modelName": "B", "scopes": ["chat-panel"], "isChatDefault": true},
        ]))
        .unwrap();
        assert_eq!(choose(&models, None, CopilotMode::Agent).unwrap(), "a");
        assert_eq!(choose(&models, None, CopilotMode::Ask).unwrap(), "b");
        assert_eq!(choose(&models, Some("Auto"), CopilotMode::Agent).unwrap(), "auto");
        let error = choose(&models, Some("gpt"), CopilotMode::Agent).unwrap_err().to_string();
        assert_eq!(error, "no model is offered for this: `gpt` is not among auto, a");
        assert!(choose(&[], None, CopilotMode::Ask).is_err());
    }
}
