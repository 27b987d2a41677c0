//! The service for libraries that are not bundled.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::bundled;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::LibraryDocsSettings;
use crate::tools::agent::web::guard::WebHostExceptions;
use crate::tools::agent::web::http::{FetchLimits, get};

const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(20), bytes: 1 << 20 };

/// A library that the service knows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct RemoteLibrary {
    /// The id for requests (`/facebook/react`).
    pub id: String,
    /// Its title.
    #[serde(alias = "name", default)]
    pub title: String,
    /// A short description.
    #[serde(default)]
    pub description: String,
}

/// The address of the request for libraries with the name `name`.
///
/// # Errors
/// The errors of [`address`].
pub(crate) fn search_address(settings: &LibraryDocsSettings, name: &str) -> Result<Url, ToolError> {
    address(settings, "libs/search", &[("libraryName", name), ("query", name)])
}

/// The address of the request for passages of the library `id` about `query`.
///
/// # Errors
/// The errors of [`address`].
pub(crate) fn context_address(
    settings: &LibraryDocsSettings,
    id: &str,
    query: &str,
) -> Result<Url, ToolError> {
    address(settings, "context", &[("libraryId", id), ("query", query)])
}

/// The libraries that the service returns at `address`, best first.
///
/// # Errors
/// The errors of [`get`], with the bundled libraries in the hint.
pub(crate) async fn search(
    settings: &LibraryDocsSettings,
    address: &Url,
) -> Result<Vec<RemoteLibrary>, ToolError> {
    let text = fetch(settings, address, "application/json").await?;
    let answer: Value = serde_json::from_str(&text).map_err(|error| {
        tracing::debug!("{address}: {error}");
        with_bundled_hint(ToolError::new(ErrorCode::ServerFailed, "the service returned invalid JSON"))
    })?;
    // A list, or an object around it, depending on the service's version. Entries without an id are
    // useless.
    let entries = answer.get("results").unwrap_or(&answer).as_array().cloned().unwrap_or_default();
    Ok(entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect())
}

/// The text that the service returns at `address`.
///
/// # Errors
/// The errors of [`get`], with the bundled libraries in the hint.
pub(crate) async fn context(settings: &LibraryDocsSettings, address: &Url) -> Result<String, ToolError> {
    fetch(settings, address, "text/plain").await
}

async fn fetch(
    settings: &LibraryDocsSettings,
    address: &Url,
    accept: &'static str,
) -> Result<String, ToolError> {
    if !settings.remote {
        let what = "only bundled libraries are available: `remote` under [library-docs] is off";
        return Err(with_bundled_hint(ToolError::new(ErrorCode::NotFound, what)));
    }
    let exceptions = own_host(settings);
    let fetched = get(address, accept, &exceptions, LIMITS).await.map_err(with_bundled_hint)?;
    Ok(String::from_utf8_lossy(&fetched.body).into_owned())
}

/// Permits the host of the service, which the user chose, even if it is not public.
fn own_host(settings: &LibraryDocsSettings) -> WebHostExceptions {
    let default = LibraryDocsSettings::default().api == settings.api;
    let host = Url::parse(&settings.api)
        .ok()
        .filter(|_| !default)
        .and_then(|url| Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?)));
    WebHostExceptions::new(host)
}

fn address(settings: &LibraryDocsSettings, what: &str, query: &[(&str, &str)]) -> Result<Url, ToolError> {
    let whole = format!("{}/api/v2/{what}", settings.api.trim_end_matches('/'));
    Url::parse_with_params(&whole, query).map_err(|error| {
        let what = format!("`api` under [library-docs] is `{}`, an invalid address: {error}", settings.api);
        ToolError::new(ErrorCode::InvalidArgs, what)
    })
}

/// Adds the bundled libraries, which are always available, to the hint.
fn with_bundled_hint(error: ToolError) -> ToolError {
    let hint = format!("always there: {}", bundled::ids());
    let hint = match &error.hint {
        Some(known) => format!("{known}; {hint}"),
        None => hint,
    };
    error.with_hint(hint)
}
