//! The model provider, from the command line's environment variables, which its headless mode
//! leaves to the host.
//!
//! Keys are neither read nor passed on. If a key is set together with a provider of the user's own,
//! the result is an error, since a request without the key would fail.

use serde_json::{Map, Value, json};

use super::error::HostError;

/// Variables with secrets that only the command line itself may read.
const SECRETS: [&str; 4] = [
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_API_KEY_COMMAND",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_HEADERS",
];

/// The provider and the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Provider {
    /// The session's `model`.
    pub(crate) model: Option<String>,
    /// The session's `provider`; if absent, the account that the command line is signed in with.
    pub(crate) provider: Option<Value>,
}

/// Reads the provider through `variable`. `model` takes precedence over the model in the variables.
pub(super) fn from_environment(
    variable: impl Fn(&str) -> Option<String>,
    model: Option<&str>,
) -> Result<Provider, HostError> {
    let setting = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let model = model.map(str::to_owned).or_else(|| setting("COPILOT_MODEL"));
    let Some(base) = setting("COPILOT_PROVIDER_BASE_URL") else {
        if setting("COPILOT_OFFLINE").is_some_and(|value| value == "true") {
            let what =
                "COPILOT_OFFLINE is set, and COPILOT_PROVIDER_BASE_URL names no provider on this machine";
            return Err(HostError::Provider(what.to_owned()));
        }
        return Ok(Provider { model, provider: None });
    };
    if let Some(secret) = SECRETS.into_iter().find(|name| setting(name).is_some()) {
        return Err(HostError::Provider(format!(
            "{secret} is set: in headless mode the command line takes keys only from its host, and lsp-tools passes none; use a provider that needs none, or unset COPILOT_PROVIDER_BASE_URL and use the signed-in account"
        )));
    }
    let mut provider = Map::new();
    provider
        .insert("type".to_owned(), json!(setting("COPILOT_PROVIDER_TYPE").unwrap_or("openai".to_owned())));
    provider.insert("baseUrl".to_owned(), json!(base));
    for (name, key) in [
        ("COPILOT_PROVIDER_WIRE_API", "wireApi"),
        ("COPILOT_PROVIDER_TRANSPORT", "transport"),
        ("COPILOT_PROVIDER_MODEL_ID", "modelId"),
        ("COPILOT_PROVIDER_WIRE_MODEL", "wireModel"),
    ] {
        if let Some(value) = setting(name) {
            provider.insert(key.to_owned(), json!(value));
        }
    }
    for (name, key) in [
        ("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "maxPromptTokens"),
        ("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", "maxOutputTokens"),
    ] {
        if let Some(value) = setting(name) {
            let number: u64 = value.trim().parse().map_err(|_| {
                HostError::Provider(format!("{name} is `{}`, which is not a number", value.escape_debug()))
            })?;
            provider.insert(key.to_owned(), json!(number));
        }
    }
    if let Some(version) = setting("COPILOT_PROVIDER_AZURE_API_VERSION") {
        provider.insert("azure".to_owned(), json!({"apiVersion": version}));
    }
    let model = model.or_else(|| setting("COPILOT_PROVIDER_MODEL_ID"));
    if model.is_none() {
        let what = "COPILOT_PROVIDER_BASE_URL is set without a model; set COPILOT_MODEL or give --model";
        return Err(HostError::Provider(what.to_owned()));
    }
    Ok(Provider { model, provider: Some(Value::Object(provider)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)], model: Option<&str>) -> Result<Provider, String> {
        let find =
            |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        from_environment(find, model).map_err(|error| error.to_string())
    }

    #[test]
    fn model_provider_is_read_from_environment() {
        assert_eq!(from(&[], None).unwrap(), Provider::default());
        assert_eq!(from(&[("COPILOT_MODEL", "m")], Some("n")).unwrap().model.as_deref(), Some("n"));
        let url = ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1/v1");
        let found = from(
            &[
                url,
                ("COPILOT_MODEL", "m"),
                ("COPILOT_PROVIDER_WIRE_API", "responses"),
                ("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", "9"),
            ],
            None,
        );
        let wanted =
            json!({"type": "openai", "baseUrl": url.1, "wireApi": "responses", "maxOutputTokens": 9});
        assert_eq!(found.unwrap(), Provider { model: Some("m".into()), provider: Some(wanted) });
    }

    #[test]
    fn invalid_provider_environment_is_refused_without_showing_api_key() {
        let url = ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1/v1");
        for (pairs, wanted) in [
            (vec![url], "set without a model"),
            (vec![("COPILOT_OFFLINE", "true")], "COPILOT_OFFLINE is set"),
            (vec![url, ("COPILOT_MODEL", "m"), ("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "x")], "not a number"),
            (vec![url, ("COPILOT_MODEL", "m"), ("COPILOT_PROVIDER_API_KEY", "placeholder")], "passes none"),
        ] {
            let error = from(&pairs, None).unwrap_err();
            assert!(error.contains(wanted) && !error.contains("placeholder"), "{error}");
        }
        // Without a provider of the user's own, the key is not used.
        assert!(from(&[("COPILOT_PROVIDER_API_KEY", "placeholder")], None).is_ok());
    }
}
