//! `[fetch]` and `[library-docs]`: requests of tools to other machines.

use serde::Deserialize;

use super::super::schema::ConfigFieldType::{Flag, Text, Texts};
use super::super::schema::{ConfigField, launch};

/// The keys decide the destination of text of this machine, so a project's values need trust.
pub(in super::super) const FETCH: &[ConfigField] = &[launch("allow-hosts", Texts)];
pub(in super::super) const LIBRARY_DOCS: &[ConfigField] = &[launch("api", Text), launch("remote", Flag)];

/// `fetch_web_page`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct FetchSettings {
    /// Hosts (`host` or `host:port`) that may be fetched although their addresses are private; none
    /// by default.
    pub(crate) allow_hosts: Vec<String>,
}

/// `resolve_library_id` and `get_library_docs`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct LibraryDocsSettings {
    /// The service for libraries that are not bundled (`https://context7.com`). Its host may have a
    /// private address.
    pub(crate) api: String,
    /// True to allow requests to that service (the default).
    pub(crate) remote: bool,
}

impl Default for LibraryDocsSettings {
    fn default() -> Self {
        Self { api: "https://context7.com".to_owned(), remote: true }
    }
}
