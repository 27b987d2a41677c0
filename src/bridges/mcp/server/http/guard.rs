//! Checks of a request to MCP before its body is read: host, origin, token, path.

use std::net::SocketAddr;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode, Uri};

use crate::rpc::http_entry::guard::{HttpOriginGuard, HttpOriginRefusal, bearer_token};
use crate::rpc::http_entry::token::BearerToken;

/// The path of the endpoint.
pub(crate) const ENDPOINT: &str = "/mcp";

/// Reasons for refusing a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpHttpRefusal {
    /// The request was sent to another host name.
    Host,
    /// The request comes from a foreign page.
    Origin,
    /// The token is missing or wrong.
    Token,
    /// The path is not the endpoint.
    Path,
}

impl McpHttpRefusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Path => StatusCode::NOT_FOUND,
        }
    }

    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Host => "this Host is not accepted; --allow-host allows it",
            Self::Origin => "this Origin is not accepted; --allow-host allows it",
            Self::Token => "send the token as `Authorization: Bearer TOKEN`",
            Self::Path => "MCP is served at /mcp",
        }
    }
}

impl From<HttpOriginRefusal> for McpHttpRefusal {
    fn from(refusal: HttpOriginRefusal) -> Self {
        match refusal {
            HttpOriginRefusal::Host => Self::Host,
            HttpOriginRefusal::Origin => Self::Origin,
        }
    }
}

/// The access checks.
#[derive(Debug)]
pub(super) struct HttpAccessGuard {
    origins: HttpOriginGuard,
    token: Option<BearerToken>,
}

impl HttpAccessGuard {
    /// Creates the checks. Requests must be sent to `address`, or to one of `hosts` (a name, or a
    /// name with a port).
    pub(super) fn new(address: SocketAddr, hosts: Vec<String>, token: Option<BearerToken>) -> Self {
        Self { origins: HttpOriginGuard::new(address, hosts), token }
    }

    pub(super) fn check_request(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), McpHttpRefusal> {
        self.origins.check_request(uri, headers)?;
        if let Some(token) = &self.token {
            let given =
                headers.get(AUTHORIZATION).and_then(|given| given.to_str().ok()).and_then(bearer_token);
            if !given.is_some_and(|given| token.matches(given)) {
                return Err(McpHttpRefusal::Token);
            }
        }
        if uri.path() == ENDPOINT { Ok(()) } else { Err(McpHttpRefusal::Path) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::HOST;

    use super::*;

    fn checked(host: &str, token: Option<&str>) -> Result<(), McpHttpRefusal> {
        let guard = {
            let token = BearerToken::from_text("0123456789abcdef").unwrap();
            HttpAccessGuard::new("127.0.0.1:8000".parse().unwrap(), Vec::new(), Some(token))
        };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, HeaderValue::from_str(token).unwrap());
        }
        guard.check_request(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn http_request_without_bearer_token_is_refused() {
        assert_eq!(checked("127.0.0.1:8000", Some("bearer 0123456789abcdef")), Ok(()));
        for token in [
            None,
            Some("Bearer"),
            Some("Bearer 0123456789abcdeg"),
            Some("Basic 0123456789abcdef"),
            Some("Bearer 0123456789abcdef0"),
        ] {
            assert_eq!(checked("127.0.0.1:8000", token), Err(McpHttpRefusal::Token), "{token:?}");
        }
    }

    #[test]
    fn http_request_to_foreign_host_is_refused_whatever_its_token() {
        let right = Some("Bearer 0123456789abcdef");
        assert_eq!(checked("localhost:8000", right), Ok(()));
        assert_eq!(checked("evil.example", right), Err(McpHttpRefusal::Host));
    }
}
