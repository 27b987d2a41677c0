//! The challenge of a remote server that requires authorization, and its explanation.
//!
//! Only the headers in the settings are sent; an OAuth flow does not exist here. So the explanation
//! names the authorization server that issues tokens (RFC 9728) and the setting for a token.

use std::time::Duration;

use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde::Deserialize;
use url::Url;

use super::http::names_private;
use crate::tools::agent::web::guard::WebHostExceptions;
use crate::tools::agent::web::http::{FetchLimits, get};
use crate::tools::api::hidden::escape_hidden;

/// The limits for fetching a resource's metadata.
const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(5), bytes: 64 << 10 };
/// The length limit of displayed foreign messages, in characters.
const MAX_AUTH_MESSAGE_CHARS: usize = 200;

/// The header `WWW-Authenticate` of a server that refused access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge(String);

/// The used part of a resource's metadata (RFC 9728, section 2).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProtectedResourceMetadata {
    authorization_servers: Vec<String>,
    scopes_supported: Vec<String>,
}

impl Challenge {
    /// Returns the challenge in an error, if it has one.
    pub(super) fn from_error(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let mut causes = std::iter::successors(Some(error), |error| error.source());
        causes.find_map(|cause| match cause.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
            StreamableHttpError::AuthRequired(error) => Some(Self(error.www_authenticate_header.clone())),
            StreamableHttpError::InsufficientScope(error) => {
                Some(Self(error.www_authenticate_header.clone()))
            }
            _ => None,
        })
    }

    /// Returns the value of the parameter `name`, quoted or not (RFC 9110, section 11.6.1).
    fn parameter(&self, name: &str) -> Option<String> {
        let mut rest = self.0.trim_start().split_once(' ')?.1;
        loop {
            let (key, after) = rest.trim_start_matches([' ', ',']).split_once('=')?;
            let value;
            (value, rest) = match after.strip_prefix('"') {
                Some(quoted) => unquote(quoted)?,
                None => {
                    let end = after.find([',', ' ']).unwrap_or(after.len());
                    (after[..end].to_owned(), &after[end..])
                }
            };
            if key.trim().eq_ignore_ascii_case(name) {
                return Some(value);
            }
        }
    }

    /// Returns the address of the resource metadata for the server at `url`: the named one if it
    /// has the same origin, otherwise the well-known one.
    fn metadata_address(&self, url: &Url) -> Option<Url> {
        let named = self.parameter("resource_metadata").and_then(|named| Url::parse(&named).ok());
        // A foreign address could be anything: a server must not choose the target of our requests.
        if let Some(own) = named.filter(|named| named.origin() == url.origin()) {
            return Some(own);
        }
        let path = format!("/.well-known/oauth-protected-resource{}", url.path().trim_end_matches('/'));
        url.join(&path).ok()
    }

    /// Explains the requirement of the server at `url`, named `server` in the settings, and the
    /// next step for the user.
    pub(super) async fn explain(&self, server: &str, url: &Url, allowed: &[String]) -> String {
        let metadata = match self.metadata_address(url) {
            Some(address) => fetch_metadata(&address, url, allowed).await,
            None => ProtectedResourceMetadata::default(),
        };
        let scheme = self.0.split_whitespace().next().unwrap_or("Bearer");
        let mut text = format!("it answers 401 and requires {} authorization", shorten_message(scheme));
        match metadata.authorization_servers.first() {
            Some(issuer) => {
                text.push_str(&format!("; its authorization server is {}", shorten_message(issuer)))
            }
            None => text.push_str("; it does not name its authorization server"),
        }
        let scopes = self.parameter("scope");
        let scopes = scopes
            .or_else(|| (!metadata.scopes_supported.is_empty()).then(|| metadata.scopes_supported.join(" ")));
        if let Some(scopes) = scopes {
            text.push_str(&format!(" (scopes: {})", shorten_message(&scopes)));
        }
        text.push_str(&format!(
            ". lsp-tools has no sign-in: get a token there and put it into the settings literally, headers = {{Authorization = \"Bearer …\"}} under [mcp.servers.{server}]"
        ));
        text
    }
}

/// Returns a quoted text up to its end, and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    loop {
        match characters.next()? {
            (at, '"') => return Some((value, &text[at + 1..])),
            (_, '\\') => value.push(characters.next()?.1),
            (_, character) => value.push(character),
        }
    }
}

/// Fetches the metadata. Returns an empty value if it cannot be read.
async fn fetch_metadata(address: &Url, server: &Url, allowed: &[String]) -> ProtectedResourceMetadata {
    let own = server
        .host_str()
        .filter(|_| names_private(server))
        .map(|host| format!("{host}:{}", server.port_or_known_default().unwrap_or_default()));
    let exceptions = WebHostExceptions::new(allowed.iter().cloned().chain(own));
    match get(address, "application/json", &exceptions, LIMITS).await {
        Ok(answer) => serde_json::from_slice(&answer.body).unwrap_or_default(),
        Err(error) => {
            tracing::info!("{address}: {}", error.error);
            ProtectedResourceMetadata::default()
        }
    }
}

fn shorten_message(text: &str) -> String {
    escape_hidden(text).chars().take(MAX_AUTH_MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(text: &str) -> Challenge {
        Challenge(text.to_owned())
    }

    #[test]
    fn www_authenticate_parameters_are_read_quoted_or_not() {
        let said = challenge(
            "Bearer realm=\"x, scope=\\\"no\", Resource_Metadata=\"https://a/b\", scope=\"r w\", error=invalid",
        );
        let parameter = |name: &str| said.parameter(name);
        assert_eq!(parameter("realm").as_deref(), Some("x, scope=\"no"));
        assert_eq!(parameter("resource_metadata").as_deref(), Some("https://a/b"));
        assert_eq!(parameter("scope").as_deref(), Some("r w"));
        assert_eq!(parameter("error").as_deref(), Some("invalid"));
        for none in ["Bearer", "", "Bearer xscope=a", "Bearer scope=\"open", "Bearer scope"] {
            assert_eq!(challenge(none).parameter("scope"), None, "{none}");
        }
    }

    #[test]
    fn oauth_metadata_address_on_other_origin_is_ignored() {
        let url = Url::parse("https://example.com/v1/mcp").unwrap();
        let asked = |text: &str| challenge(text).metadata_address(&url).unwrap().to_string();
        let usual = "https://example.com/.well-known/oauth-protected-resource/v1/mcp";
        assert_eq!(asked("Bearer resource_metadata=\"https://example.com/m\""), "https://example.com/m");
        for elsewhere in [
            "https://evil.example/m",
            "http://example.com/m",
            "http://169.254.169.254/",
            "file:///etc/passwd",
            "x",
        ] {
            assert_eq!(asked(&format!("Bearer resource_metadata=\"{elsewhere}\"")), usual, "{elsewhere}");
        }
        assert_eq!(asked("Bearer"), usual);
    }
}
