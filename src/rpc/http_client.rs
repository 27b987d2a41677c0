//! The common settings of HTTP clients.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect::Policy};

/// Starts a client that follows no redirect, so that tokens are sent only to their own address, and
/// that waits for a connection at most 10 s.
pub(crate) fn http_client() -> ClientBuilder {
    // An already installed provider stays.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let agent = concat!("lsp-tools/", env!("CARGO_PKG_VERSION"));
    Client::builder().redirect(Policy::none()).connect_timeout(Duration::from_secs(10)).user_agent(agent)
}
