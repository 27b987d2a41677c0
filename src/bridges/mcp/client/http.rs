//! Streamable HTTP to a remote MCP server, without redirects, so that headers are sent only to
//! their own address.
//!
//! Private addresses are refused unless the settings name them.

use std::collections::{BTreeMap, HashMap};

use http::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use url::Url;

use crate::tools::agent::web::guard::{WebAddressError, WebHostExceptions, check_url};
use crate::tools::agent::web::http::client;

/// The size limit of one message, in bytes.
const MAX_SSE_EVENT_BYTES: usize = 8 << 20;

/// Creates a transport to `url`. The error describes the invalid setting.
pub(super) fn transport(
    url: &Url,
    headers: &BTreeMap<String, String>,
    allowed: &[String],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let excepted = names_private(url) || WebHostExceptions::new(allowed).has(url);
    if !excepted {
        check_url(url, &WebHostExceptions::default()).map_err(|error| error.to_string())?;
    }
    let client = client(excepted).map_err(|error| error.error)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(read(headers)?)
        .max_sse_event_size(MAX_SSE_EVENT_BYTES)
        // A new session would lack the state of the old one, and a call might run twice.
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Returns true if the URL itself names this machine or network, so that its user has chosen it. A
/// host name that resolves to one does not count.
pub(super) fn names_private(url: &Url) -> bool {
    let is_address =
        matches!(check_url(url, &WebHostExceptions::default()), Err(WebAddressError::Private(_)));
    is_address || url.host_str().is_some_and(|name| name.eq_ignore_ascii_case("localhost"))
}

fn read(headers: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let header = |(name, value): (&String, &String)| {
        let named = HeaderName::from_bytes(name.as_bytes());
        let named = named.map_err(|_| format!("`{}` is not a valid header name", name.escape_debug()))?;
        // The value may be a secret.
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("the value of the header `{named}` is invalid"))?;
        value.set_sensitive(true);
        Ok((named, value))
    };
    headers.iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_names_private_address_only_by_literal_or_localhost() {
        let private = |url: &str| names_private(&Url::parse(url).unwrap());
        assert!(private("http://127.0.0.1:1/") && private("http://localhost/") && private("http://[::1]/"));
        assert!(private("http://10.0.0.1/mcp"));
        assert!(
            !private("http://intranet/") && !private("https://example.com/") && !private("http://1.1.1.1/")
        );
    }

    #[test]
    fn invalid_http_header_is_reported_without_its_value() {
        let headers = |name: &str, value: &str| read(&BTreeMap::from([(name.to_owned(), value.to_owned())]));
        assert!(headers("A b", "x").unwrap_err().contains("`A b`"));
        let error = headers("Authorization", "Bearer sec\nret").unwrap_err();
        assert!(error.contains("authorization") && !error.contains("sec"), "{error}");
    }
}
