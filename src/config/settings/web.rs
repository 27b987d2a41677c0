//! `[fetch]` and `[library-docs]`: requests of tools to other machines.
//!
//! The keys decide where text of this machine is sent, so a project's values need trust.

use schemars::JsonSchema;
use serde::Deserialize;

/// `fetch_web_page`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct FetchSettings {
    /// Hosts (`host` or `host:port`) that may be fetched although their addresses are private (none
    /// by default).
    #[schemars(extend("x-launch" = true))]
    pub(crate) allow_hosts: Vec<String>,
}

/// `resolve_library_id` and `get_library_docs`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct LibraryDocsSettings {
    /// The address of the service for libraries that are not bundled (`https://context7.com`). Its
    /// host may have a private address.
    #[schemars(extend("x-launch" = true))]
    pub(crate) api: String,
    /// True to allow requests to the service of `api` (true if absent).
    #[schemars(extend("x-launch" = true))]
    pub(crate) remote: bool,
}

impl Default for LibraryDocsSettings {
    fn default() -> Self {
        Self { api: "https://context7.com".to_owned(), remote: true }
    }
}
